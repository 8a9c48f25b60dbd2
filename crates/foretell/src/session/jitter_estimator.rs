//! How late things come on one way, and how much of it is worth waiting for (FIELD: closed-loop pacing).
//!
//! One estimator, used for either direction: inputs on their way to the server, snapshots on theirs back. A value is the
//! earliest setting of a clock at which a thing would have been in time, in microseconds on an axis whose origin means
//! nothing; so a loss (it comes with the next datagram), jitter and a slow frame are one measurement.

use super::lateness_histogram::{BIN_MICROS, LatenessHistogram};
use crate::time::Instant;
use alloc::vec::Vec;
use core::time::Duration;

/// Raises quickly.
const FAST_HALF_LIFE_S: f64 = 2.0;
/// Alone may lower.
const SLOW_HALF_LIFE_S: f64 = 20.0;
/// What the fast histogram can tell: of rarer things than three values it knows only that they happened.
const FAST_VALUES: f64 = 3.0;
/// As long as it holds few values, it believes the worst of them.
const FAST_SHARE_MAX: f64 = 0.05;
/// For how many seconds the worst lateness is remembered: longer than the calm between disturbances that come every 20 s.
const PEAKS_KEPT: usize = 24;
/// How many arrivals the fastest is taken of: a second at 64 Hz.
const ARRIVALS_COUNTED: usize = 64;
/// How many are kept, to tell one route from another.
const ARRIVALS_KEPT: usize = 2 * ARRIVALS_COUNTED;
/// So many arrivals in a row, or those of a quarter of a second, tell that the route has changed.
const ROUTE_ARRIVALS: (usize, usize) = (4, 16);
const ROUTE_TIME: Duration = Duration::from_millis(250);
/// What is later than the longest wait by this factor was not late, but away.
const OUTAGE: i64 = 4;
/// What differs by less is no other route, however short the longest wait is, in microseconds.
const JITTER_MIN: i64 = 50_000;
/// So many values are needed to know the worst of an ordinary second.
const TRUSTED_AFTER: u32 = 64;

/// How late things come on one way. Lives as long as the session.
#[derive(Clone, Debug)]
pub(crate) struct JitterEstimator {
    fast: LatenessHistogram,
    slow: LatenessHistogram,
    /// The newest values of arrivals and when they came, newest first.
    recent: Vec<(Instant, i64)>,
    /// The largest value of each of the last seconds, by number of the second.
    peaks: [(u64, i64); PEAKS_KEPT],
    /// The second of the newest arrival.
    second: u64,
    values: u32,
}

impl JitterEstimator {
    pub(crate) fn new() -> JitterEstimator {
        JitterEstimator {
            fast: LatenessHistogram::new(FAST_HALF_LIFE_S),
            slow: LatenessHistogram::new(SLOW_HALF_LIFE_S),
            recent: Vec::with_capacity(ARRIVALS_KEPT + 1),
            peaks: [(0, i64::MIN); PEAKS_KEPT],
            second: 0,
            values: 0,
        }
    }

    /// Forgets everything: another route, or another clock.
    pub(crate) fn clear(&mut self) {
        self.fast.clear();
        self.slow.clear();
        self.recent.clear();
        self.peaks.fill((0, i64::MIN));
        self.values = 0;
    }

    /// Takes in an arrival of `count` things (at least one), of which all but the newest had been lost before; `value`
    /// gives the value of the newest for 0, and of older ones from there on. When the oldest comes later than the fastest
    /// by four times `most` microseconds, it was an outage, and nothing to wait for. Returns whether the route has changed: the
    /// newest arrivals all differ from those before by more than `most`, which are forgotten then.
    pub(crate) fn note(&mut self, now: Instant, count: u32, value: impl Fn(u32) -> i64, most: i64) -> bool {
        let most = most.max(JITTER_MIN);
        let newest = value(0);
        self.second = self.second.max(now.micros() / 1_000_000);
        self.recent.insert(0, (now, newest));
        self.recent.truncate(ARRIVALS_KEPT);
        if self.route_has_changed(now, most) {
            let newest = self.newest(now);
            let kept: Vec<_> = self.recent.drain(..newest).collect();
            self.clear();
            for (came, value) in kept.into_iter().rev() {
                self.recent.insert(0, (came, value));
                self.add(came, value);
            }
            return true;
        }
        let hopeless = self.fastest().unwrap_or(newest).saturating_add(OUTAGE * most);
        let is_outage = value(count.saturating_sub(1)) > hopeless;
        let values = (0..if is_outage { 1 } else { count.max(1) }).map(value);
        values.filter(|value| *value <= hopeless).for_each(|value| self.add(now, value));
        false
    }

    fn add(&mut self, now: Instant, value: i64) {
        self.fast.add(now, value);
        self.slow.add(now, value);
        self.values = self.values.saturating_add(1);
        let second = now.micros() / 1_000_000;
        let peak = &mut self.peaks[(second % PEAKS_KEPT as u64) as usize];
        *peak = if peak.0 == second { (second, peak.1.max(value)) } else { (second, value) };
    }

    /// How many of the recent arrivals tell of a new route.
    fn newest(&self, now: Instant) -> usize {
        let (least, most) = ROUTE_ARRIVALS;
        let of_late = self.recent.iter().take_while(|(came, _)| now.since(*came) < ROUTE_TIME).count();
        of_late.clamp(least, most).min(self.recent.len())
    }

    fn route_has_changed(&self, now: Instant, most: i64) -> bool {
        let (new, before) = self.recent.split_at(self.newest(now));
        // While a route changes, arrivals by either come in turns: they are neither.
        let old = &before[(self.recent.len() / 2).saturating_sub(new.len()).min(before.len())..];
        let fastest = |of: &[(Instant, i64)]| of.iter().map(|(_, value)| *value).min();
        let slowest = new.iter().map(|(_, value)| *value).max();
        // What had waited in an outage comes at once, or each faster than the one before it by more than the time between them.
        let took = new.last().map_or(0, |(came, _)| now.micros().saturating_sub(came.micros()).cast_signed());
        match (fastest(new), slowest, fastest(old)) {
            (Some(fastest), Some(slowest), Some(before)) => {
                fastest - before > most && slowest - fastest < took || before - slowest > most
            }
            _ => false,
        }
    }

    /// The smallest value of late; `None` before the first.
    pub(crate) fn fastest(&self) -> Option<i64> {
        self.recent.iter().take(ARRIVALS_COUNTED).map(|(_, value)| *value).min()
    }

    /// Whether enough is known to come closer to the deadline.
    pub(crate) fn is_trusted(&self) -> bool {
        self.values >= TRUSTED_AFTER
    }

    /// The value that a clock has to be set to, so that at most `late` of what comes is late. `None` before the first.
    pub(crate) fn wanted(&mut self, late: f64) -> Option<i64> {
        let of_late = |second: u64| self.second.saturating_sub(second) < PEAKS_KEPT as u64;
        let peak = self.peaks.iter().filter(|(second, _)| of_late(*second)).map(|(_, value)| *value).max();
        let told = (FAST_VALUES * self.fast.share_of_one()).min(FAST_SHARE_MAX);
        let fast = self.fast.quantile(late.max(told))?;
        let slow = self.slow.quantile(late)?.min(peak.unwrap_or(i64::MAX).saturating_add(BIN_MICROS));
        Some(fast.max(slow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of arrivals 15,625 µs apart, from the start of second 1 on.
    fn fed(values: impl IntoIterator<Item = i64>) -> JitterEstimator {
        let mut jitter = JitterEstimator::new();
        feed(&mut jitter, 0, values);
        jitter
    }

    fn feed(jitter: &mut JitterEstimator, from: u64, values: impl IntoIterator<Item = i64>) -> u64 {
        let mut nth = from;
        for value in values {
            let now = Instant::from_micros(1_000_000 + nth * 15_625);
            jitter.note(now, 1, |_| value, 100_000);
            nth += 1;
        }
        nth
    }

    fn jittered(seed: i64, base: i64) -> impl Iterator<Item = i64> {
        // Every residue once in 20,000, in an order that looks like none.
        (0..).map(move |nth: i64| base + (nth * 7_919 + seed * 1_234_567) % 20_000)
    }

    #[test]
    fn a_stated_share_comes_later_than_what_is_wanted() {
        for (late, least, most) in [(0.01, 19_000, 22_000), (0.1, 17_500, 22_000)] {
            let wanted = fed(jittered(1, -7_000_000).take(3_000)).wanted(late).expect("fed") + 7_000_000;
            assert!((least..=most).contains(&wanted), "{late}: {wanted}");
        }
    }

    #[test]
    fn it_rises_within_a_quarter_of_a_second_and_falls_after_twenty_four_or_at_once_with_the_route() {
        let mut jitter = fed(jittered(2, 0).take(2_000));
        // 60 ms more is not another route.
        let mut at = feed(&mut jitter, 2_000, jittered(3, 60_000).take(16));
        assert!(jitter.wanted(0.01).expect("fed") >= 76_000);
        at = feed(&mut jitter, at, jittered(3, 60_000).take(48));
        assert!(jitter.wanted(0.01).expect("fed") >= 76_000);
        at = feed(&mut jitter, at, jittered(4, 0).take(64 * 23));
        assert!(jitter.wanted(0.01).expect("fed") >= 62_000);
        at = feed(&mut jitter, at, jittered(5, 0).take(64 * 2));
        assert!(jitter.wanted(0.01).expect("fed") <= 22_000);
        // 300 ms more is.
        at = feed(&mut jitter, at, jittered(6, 300_000).take(16));
        assert!((315_000..323_000).contains(&jitter.wanted(0.01).expect("fed")));
        feed(&mut jitter, at, jittered(7, 0).take(16));
        assert!(jitter.wanted(0.01).expect("fed") <= 22_000);
    }

    #[test]
    fn losses_count_as_late_and_an_outage_does_not() {
        let mut jitter = fed([0; 640]);
        let now = Instant::from_micros(12_000_000);
        let lost = |back: u32| i64::from(back) * 15_625;
        jitter.note(now, 128, lost, 100_000);
        assert_eq!(jitter.wanted(0.01), Some(2_000));
        for _ in 0..8 {
            jitter.note(now, 3, lost, 100_000);
        }
        assert_eq!(jitter.wanted(0.01), Some(32_000));
    }

    #[test]
    fn what_had_waited_in_an_outage_is_no_new_route_whether_it_comes_at_once_or_one_by_one() {
        for spacing in [0, 5_000] {
            let mut jitter = fed([0; 640]);
            let waited = (0..20).map(|nth: i64| 1_000_000 - nth * 15_625);
            for (nth, value) in (0..).zip(waited) {
                let now = Instant::from_micros(12_000_000 + nth * spacing);
                assert!(!jitter.note(now, 1, |_| value, 100_000), "{spacing} us: {nth}");
            }
        }
    }

    #[test]
    fn values_may_drift_for_ever_in_either_direction() {
        for drift in [-300, 300] {
            let last = 40_000 * drift;
            let mut jitter = fed((0..=40_000).map(|nth| nth * drift));
            let wanted = jitter.wanted(0.01).expect("fed") - last;
            // Twenty-four seconds' worth of drift behind, at most.
            assert!((0..=500_000).contains(&wanted), "{wanted}");
        }
    }
}
