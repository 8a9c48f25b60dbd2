//! What is due once per interval.

use core::time::Duration;
use foretell::Instant;

/// Something that is due once per interval; what was missed is not made up for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timer {
    next: Instant,
}

impl Timer {
    pub fn is_due(&mut self, now: Instant, interval: Duration) -> bool {
        if now < self.next {
            return false;
        }
        let regular = self.next + interval;
        self.next = if regular <= now { now + interval } else { regular };
        true
    }
}
