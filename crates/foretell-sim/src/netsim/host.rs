//! A simulated host's own clock, which is not the simulation's: it started elsewhere, runs fast or slow, and the host
//! behind it stops now and then.
//!
//! Invariants: `read(0) = offset`; `read(a) <= read(b)` for `a <= b`, unless the clock is stepped back; the reading is
//! computed from the virtual time of the last change in one step, in integers, so that it is exact to the microsecond
//! after any time and in any steps.

use alloc::vec::Vec;
use core::time::Duration;

use foretell::time::{Instant, Offset};

const MILLION: i128 = 1_000_000;

/// The largest skew, in parts per million: half or one and a half times the true speed.
pub const SKEW_PPM_MAX: i32 = 500_000;

/// A host's clock and when the host runs at all, as a function of virtual time. Default: virtual time itself, no stall.
///
/// ```
/// use core::time::Duration;
/// use foretell::Instant;
/// use foretell_sim::netsim::HostClock;
///
/// let mut host = HostClock::new(Duration::from_secs(5), 10_000);
/// assert_eq!(host.read(Instant::from_micros(2_000_000)), Instant::from_micros(7_020_000));
///
/// let start = Instant::from_micros(1_000_000);
/// host.stall(start, Duration::from_secs(2));
/// assert!(host.is_stalled(start));
/// assert_eq!(host.stalled_until(start), Some(Instant::from_micros(3_000_000)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct HostClock {
    /// The last change: the virtual time, and what the clock showed then.
    since: Instant,
    shown: Instant,
    skew_ppm: i32,
    /// In no order; no two overlap or touch.
    stalls: Vec<Stall>,
}

/// The host stands still in `[from, until)`, in virtual time.
#[derive(Clone, Copy, Debug)]
struct Stall {
    from: Instant,
    until: Instant,
}

impl HostClock {
    /// A clock that shows `offset` at virtual time 0 and gains `skew_ppm` microseconds per second.
    ///
    /// `offset` is 0 or more: endpoints never compare their instants, and two hosts can differ in either direction.
    /// `skew_ppm` is within [`SKEW_PPM_MAX`]: real quartz is within 100, a clock that is being slewed within 500;
    /// 10,000 (1%) is a test that shows every place which takes two clocks for one.
    ///
    /// # Panics
    /// When the skew is beyond [`SKEW_PPM_MAX`] either way.
    pub fn new(offset: Duration, skew_ppm: i32) -> HostClock {
        let mut clock = HostClock { shown: Instant::ZERO + offset, ..HostClock::default() };
        clock.set_skew(Instant::ZERO, skew_ppm);
        clock
    }

    /// Gains so many microseconds per second from the virtual time `now` on.
    ///
    /// # Panics
    /// When the skew is beyond [`SKEW_PPM_MAX`] either way.
    pub fn set_skew(&mut self, now: Instant, skew_ppm: i32) {
        assert!(
            skew_ppm.unsigned_abs() <= SKEW_PPM_MAX.unsigned_abs(),
            "a skew is within {SKEW_PPM_MAX} ppm, is {skew_ppm}"
        );
        (self.shown, self.since, self.skew_ppm) = (self.read(now), now, skew_ppm);
    }

    /// Steps at the virtual time `now`, forward or back, but not before 0: as a clock does that is set, or that has not
    /// counted while its machine was suspended.
    pub fn step(&mut self, now: Instant, by: Offset) {
        let shown = self.read(now).micros().saturating_add_signed(by.micros());
        (self.shown, self.since) = (Instant::from_micros(shown), now);
    }

    /// What the host's clock shows at the virtual time `now`, rounded down to its microsecond. It goes on during a
    /// stall, as a real one does: the host sees one long frame afterwards.
    pub fn read(&self, now: Instant) -> Instant {
        let passed = i128::from(now.micros()) - i128::from(self.since.micros());
        let elapsed = (passed * (MILLION + i128::from(self.skew_ppm))).div_euclid(MILLION);
        let reading = (i128::from(self.shown.micros()) + elapsed).max(0);
        Instant::from_micros(u64::try_from(reading).unwrap_or(u64::MAX))
    }

    /// Stops the host for `length` from the virtual time `from` on, in the past, now or later. Stalls that overlap or
    /// touch become one; each other one costs 16 bytes for good.
    pub fn stall(&mut self, from: Instant, length: Duration) {
        let mut union = Stall { from, until: from + length };
        // One pass is enough: what only touches the grown union would have touched a stall that was there before.
        self.stalls.retain(|stall| {
            let apart = stall.until < union.from || union.until < stall.from;
            if !apart {
                union = Stall { from: stall.from.min(union.from), until: stall.until.max(union.until) };
            }
            apart
        });
        self.stalls.push(union);
    }

    /// Whether the host stands still at the virtual time `now`. Then it receives, computes and sends nothing; datagrams
    /// wait for it.
    pub fn is_stalled(&self, now: Instant) -> bool {
        self.stalled_until(now).is_some()
    }

    /// When the host that stands still at the virtual time `now` goes on, in virtual time; `None` if it runs.
    pub fn stalled_until(&self, now: Instant) -> Option<Instant> {
        let stall = self.stalls.iter().find(|stall| stall.from <= now && now < stall.until)?;
        Some(stall.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn a_clock_gains_its_skew_exactly_even_over_a_year() {
        let year = 365 * 86_400 * 1_000_000;
        for (skew_ppm, reading) in [(0, year), (10_000, year / 100 * 101), (-10_000, year / 100 * 99)] {
            assert_eq!(HostClock::new(Duration::ZERO, skew_ppm).read(at(year)), at(reading));
        }
    }

    #[test]
    fn two_clocks_drift_apart_by_the_difference_of_their_skews() {
        let fast = HostClock::new(SECOND, 100);
        let slow = HostClock::new(3 * SECOND, -50);
        let apart = |now: Instant| (slow.read(now) - fast.read(now)).micros();
        assert_eq!((apart(at(0)), apart(at(60_000_000))), (2_000_000, 2_000_000 - 60 * 150));
    }

    #[test]
    fn a_clock_never_runs_backwards() {
        for skew_ppm in [-SKEW_PPM_MAX, -333, 333, SKEW_PPM_MAX] {
            let clock = HostClock::new(SECOND, skew_ppm);
            let readings = (0..10_000).map(|micros| clock.read(at(micros)));
            assert!(readings.is_sorted());
        }
    }

    #[test]
    fn a_changed_skew_counts_from_then_on_and_a_step_is_seen_at_once() {
        let mut clock = HostClock::new(SECOND, 10_000);
        clock.set_skew(at(1_000_000), -10_000);
        assert_eq!((clock.read(at(1_000_000)), clock.read(at(2_000_000))), (at(2_010_000), at(3_000_000)));
        clock.step(at(2_000_000), Offset::from_micros(-500_000));
        assert_eq!((clock.read(at(2_000_000)), clock.read(at(3_000_000))), (at(2_500_000), at(3_490_000)));
        clock.step(at(3_000_000), Offset::from_micros(-9_000_000));
        assert_eq!((clock.read(at(2_999_999)), clock.read(at(3_000_000))), (at(0), at(0)), "there is nothing before 0");
    }

    #[test]
    fn the_end_of_time_overflows_nothing() {
        assert_eq!(HostClock::new(SECOND, SKEW_PPM_MAX).read(at(u64::MAX)), at(u64::MAX));
    }

    #[test]
    fn a_stall_stops_the_host_but_not_its_clock() {
        let mut host = HostClock::new(Duration::ZERO, 0);
        host.stall(at(1_000_000), 2 * SECOND);
        let stalled = [999_999, 1_000_000, 2_999_999, 3_000_000].map(|micros| host.is_stalled(at(micros)));
        assert_eq!(stalled, [false, true, true, false]);
        assert_eq!(host.read(at(2_000_000)), at(2_000_000));
        assert_eq!(host.stalled_until(at(2_000_000)), Some(at(3_000_000)));
    }

    #[test]
    fn stalls_that_meet_become_one() {
        let mut host = HostClock::default();
        for from in [5_000_000, 1_000_000, 3_000_000, 9_000_000] {
            host.stall(at(from), SECOND);
        }
        assert_eq!(host.stalled_until(at(1_500_000)), Some(at(2_000_000)));
        // From the middle of the first to the start of the third: three become one, the fourth stays apart.
        host.stall(at(1_500_000), Duration::from_micros(3_500_000));
        assert_eq!(host.stalled_until(at(1_500_000)), Some(at(6_000_000)));
        assert_eq!(host.stalled_until(at(9_500_000)), Some(at(10_000_000)));
        assert!(!host.is_stalled(at(7_000_000)));
    }

    #[test]
    #[should_panic(expected = "a skew is within 500000 ppm, is -500001")]
    fn a_skew_beyond_all_clocks_is_refused() {
        HostClock::new(Duration::ZERO, -SKEW_PPM_MAX - 1);
    }
}
