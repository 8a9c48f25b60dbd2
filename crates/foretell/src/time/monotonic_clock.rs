//! A caller's clock that is set back goes on from where it was.

use super::{Instant, Offset};

/// Instants of two threads may be this far out of order; beyond it the clock was set back.
const OUT_OF_ORDER_MICROS: i64 = 100_000;

/// The caller's clock without the steps back that it makes. Updates alone move it: what comes bears stamps of its own, and those of
/// several connections are in no order. Lives as long as the endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MonotonicClock {
    /// The newest that the caller's clock has shown in an update.
    last: Instant,
    /// How far it was set back altogether.
    back: Offset,
}

impl MonotonicClock {
    pub(crate) fn new(now: Instant) -> MonotonicClock {
        MonotonicClock { last: now, back: Offset::default() }
    }

    /// The instant on the steady clock, when the caller's shows `now`.
    pub(crate) fn note(&mut self, now: Instant) -> Instant {
        self.back = self.back_at(now);
        self.last = if self.is_set_back(now) { now } else { self.last.max(now) };
        now + self.back
    }

    /// The same, read only.
    pub(crate) fn at(&self, now: Instant) -> Instant {
        now + self.back_at(now)
    }

    /// What the caller's clock shows at an instant of the steady one, if it is not set back until then.
    pub(crate) fn on_callers(&self, steady: Instant) -> Instant {
        steady + Offset::from_micros(-self.back.micros())
    }

    fn is_set_back(&self, now: Instant) -> bool {
        (self.last - now).micros() > OUT_OF_ORDER_MICROS
    }

    fn back_at(&self, now: Instant) -> Offset {
        let step = if self.is_set_back(now) { (self.last - now).micros() } else { 0 };
        Offset::from_micros(self.back.micros().saturating_add(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn it_never_goes_back_but_for_instants_that_came_out_of_order() {
        let mut steady = MonotonicClock::new(Instant::from_micros(5_000_000));
        let seen: Vec<u64> = [5_000_000, 6_000_000, 5_950_000, 6_010_000, 1_000_000, 1_020_000, 0, 7_000_000]
            .map(|micros| {
                let now = Instant::from_micros(micros);
                let read = steady.at(now);
                assert_eq!(steady.note(now), read);
                read.micros()
            })
            .to_vec();
        let expected = [5_000_000, 6_000_000, 5_950_000, 6_010_000, 6_010_000, 6_030_000, 6_030_000, 13_030_000];
        assert_eq!(seen, expected);
    }
}
