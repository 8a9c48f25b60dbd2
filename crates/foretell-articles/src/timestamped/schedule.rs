//! When to send, and when to send again.

use core::time::Duration;
use foretell::time::Instant;

/// Something that is due once per interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    next: Instant,
}

impl Schedule {
    pub(super) fn new(now: Instant) -> Schedule {
        Schedule { next: now }
    }

    /// Whether it is due at `now`; then the next one is an interval later. What was missed is not made up for.
    pub(super) fn is_due(&mut self, now: Instant, interval: Duration) -> bool {
        if now < self.next {
            return false;
        }
        let regular = self.next + interval;
        self.next = if regular <= now { now + interval } else { regular };
        true
    }
}

/// A message that is sent again until it is answered: twice the round trip later (D5).
#[derive(Clone, Copy, Debug)]
pub(super) struct Retry {
    round_trip: Duration,
}

/// Before the first answer.
const ROUND_TRIP_FIRST: Duration = Duration::from_millis(300);
/// What takes longer was a sleep, and no way.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(2);
/// Not more often than the other end allows to be asked.
const AGAIN_MIN: Duration = Duration::from_millis(300);

impl Retry {
    pub(super) fn new() -> Retry {
        Retry { round_trip: ROUND_TRIP_FIRST }
    }

    /// An answer came after so long.
    pub(super) fn measured(&mut self, round_trip: Duration) {
        self.round_trip = (self.round_trip * 7 + round_trip.min(ROUND_TRIP_MAX)) / 8;
    }

    pub(super) fn round_trip(&self) -> Duration {
        self.round_trip
    }

    /// Whether what was sent at `sent` (`None`: not yet) is to be sent at `now`.
    pub(super) fn is_due(&self, sent: Option<Instant>, now: Instant) -> bool {
        sent.is_none_or(|sent| now.since(sent) >= (self.round_trip * 2).max(AGAIN_MIN))
    }
}
