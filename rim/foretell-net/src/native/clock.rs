//! The one clock of a process: from the system's instants to ours.

use crate::account::UnixTime;
use foretell::Instant;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment as a server has it: on its own clock, by which it counts what passes, and on that of the world, which others
/// write into tokens, and which may be set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    pub steady: Instant,
    pub date: UnixTime,
}

/// A monotone clock whose origin is its making.
#[derive(Clone, Copy, Debug)]
pub struct Clock(std::time::Instant);

impl Clock {
    /// A clock that shows zero now.
    pub fn start() -> Clock {
        Clock(std::time::Instant::now())
    }

    /// What it shows.
    pub fn now(&self) -> Instant {
        Instant::from_micros(u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// The moment that it is.
    pub(crate) fn moment(&self) -> Moment {
        // In this order: what comes in between makes what has passed since another moment no shorter than it was.
        let date = UnixTime::now();
        Moment { steady: self.now(), date }
    }
}

/// What this machine's clock shows, in milliseconds since 1970.
pub(crate) fn unix_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
