//! A caller's clock that is set back goes on from where it was.

use super::{Instant, Offset};

/// Instants of two threads may be this far out of order; beyond it the clock was set back.
const OUT_OF_ORDER_MICROS: i64 = 100_000;

/// The caller's clock without the steps back that it makes. On a server updates alone say whether it was set back: what comes bears stamps of its
/// own, and those of several connections are in no order. Lives as long as the endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MonotonicClock {
    /// The newest that the caller's clock has shown in an update.
    last: Instant,
    /// The newest that it has shown at all since it was set back.
    newest: Instant,
    /// How far it was set back altogether.
    back: Offset,
}

impl MonotonicClock {
    pub(crate) fn new(now: Instant) -> MonotonicClock {
        MonotonicClock { last: now, newest: now, back: Offset::default() }
    }

    /// The instant on the steady clock of an update, when the caller's shows `now`.
    pub(crate) fn note(&mut self, now: Instant) -> Instant {
        self.back = self.back_at(now);
        let is_set_back = self.is_set_back(now);
        let newest = |so_far: Instant| if is_set_back { now } else { so_far.max(now) };
        (self.last, self.newest) = (newest(self.last), newest(self.newest));
        now + self.back
    }

    /// The same of an instant at which something has come.
    pub(crate) fn note_arrival(&mut self, now: Instant) -> Instant {
        let steady = self.at(now);
        if !self.is_set_back(now) {
            self.newest = self.newest.max(now);
        }
        steady
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
        let step = if self.is_set_back(now) { (self.newest - now).micros() } else { 0 };
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

    #[test]
    fn what_comes_between_two_updates_in_any_order_moves_it_no_further_and_a_step_back_loses_no_time_since_it_came() {
        let at = |ms: u64| Instant::from_micros(ms * 1000);
        let mut steady = MonotonicClock::new(at(1000));
        for ms in [1195, 1008, 1190, 1020] {
            assert_eq!(steady.note_arrival(at(ms)), at(ms));
        }
        assert_eq!(steady.note(at(1200)), at(1200));
        assert_eq!(steady.note_arrival(at(1210)), at(1210));
        // Set back by a second.
        assert_eq!(steady.note_arrival(at(215)), at(1210));
        assert_eq!((steady.note(at(217)), steady.note_arrival(at(220))), (at(1210), at(1213)));
    }
}
