//! The recording that a run plays before it is the person's.

use crate::recording::{Change, Recording};

/// A recording that is played; one without frames is just a beginning.
pub struct Playback {
    /// What is left of it.
    rest: Recording,
    /// The whole of it.
    origin: Recording,
    /// The keys that it holds.
    keys: u8,
}

impl Playback {
    /// From its beginning.
    pub fn new(origin: Recording) -> Playback {
        Playback { rest: origin.clone(), keys: origin.start.keys, origin }
    }

    /// Whether `frame` is one of its frames.
    pub fn is_playing(&self, frame: u32) -> bool {
        frame < self.rest.frames
    }

    /// The whole of it.
    pub fn origin(&self) -> &Recording {
        &self.origin
    }

    /// What is done before `frame` besides keys.
    pub fn take_due(&mut self, frame: u32) -> Vec<Change> {
        let mut due = Vec::new();
        while let Some(change) = self.rest.take_due(frame) {
            match change {
                Change::Keys(keys) => self.keys = keys,
                change => due.push(change),
            }
        }
        due
    }

    /// The keys that it holds in the frame that was asked for last.
    pub fn keys(&self) -> u8 {
        self.keys
    }
}
