//! The one clock of a process: from the system's instants to ours.

use foretell::Instant;

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
}
