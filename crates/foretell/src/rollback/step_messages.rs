//! The own messages that are part of steps, by tick.

use crate::time::Tick;
use crate::world::ReceivedMessage;
use alloc::vec::Vec;

/// Of which tick a message is, and which one of the session's it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Place {
    tick: Tick,
    number: u32,
}

/// Lives as long as the timeline. Ascending by tick, and in one tick as they were sent.
#[derive(Default)]
pub(super) struct StepMessages {
    places: Vec<Place>,
    messages: Vec<ReceivedMessage>,
}

impl StepMessages {
    /// The message of this number is part of the step of `tick`. What is part of steps before `oldest` is forgotten.
    pub(super) fn give(&mut self, tick: Tick, number: u32, message: ReceivedMessage, oldest: Tick) {
        let old = self.places.partition_point(|place| place.tick < oldest);
        self.places.drain(..old);
        self.messages.drain(..old);
        self.insert(Place { tick, number }, message);
    }

    /// The authority has the message of this number in the step of `tick`.
    pub(super) fn put_off(&mut self, number: u32, tick: Tick) {
        if let Some(at) = self.places.iter().position(|place| place.number == number && place.tick != tick) {
            self.places.remove(at);
            let message = self.messages.remove(at);
            self.insert(Place { tick, number }, message);
        }
    }

    /// Those of the step of `tick`.
    pub(super) fn of(&self, tick: Tick) -> &[ReceivedMessage] {
        let first = self.places.partition_point(|place| place.tick < tick);
        let count = self.places[first..].partition_point(|place| place.tick == tick);
        &self.messages[first..first + count]
    }

    fn insert(&mut self, place: Place, message: ReceivedMessage) {
        let at = self.places.partition_point(|other| *other < place);
        self.places.insert(at, place);
        self.messages.insert(at, message);
    }
}
