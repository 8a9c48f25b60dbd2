//! A histogram of the latest values, and its quantiles.
//!
//! The sums behind a quantile are kept from one question to the next. A new value makes those above it no different, and
//! most values come below the quantiles that are asked for: these are mostly where they were.

use crate::math::f64::exp;
use crate::time::Instant;
use alloc::vec::Vec;
use core::f64::consts::LN_2;

/// The width of a bin, in microseconds.
pub(super) const BIN_MICROS: i64 = 2_000;
/// How many bins there are: a second.
const BINS: usize = 512;
/// What comes below the lowest bin moves it to here.
const LOW_BIN: i64 = 64;

/// A histogram whose weights halve with time.
#[derive(Clone, Debug)]
pub(super) struct LatenessHistogram {
    half_life_s: f64,
    /// The lower edge of the lowest bin, in bins.
    origin: i64,
    weights: Vec<f64>,
    /// At each bin that is not below `summed`: the weights of it and of all above, added up from the highest down; 0
    /// beyond the last one. `len == BINS + 1`.
    sums: Vec<f64>,
    /// The bin of the last quantile, or above it. `summed <= BINS`.
    summed: usize,
    total: f64,
    /// The weight of a value that comes at `since`; what is older weighs the same as then, and so less in comparison.
    weight: f64,
    since: Instant,
}

impl LatenessHistogram {
    pub(super) fn new(half_life_s: f64) -> LatenessHistogram {
        LatenessHistogram {
            half_life_s,
            origin: 0,
            weights: vec![0.0; BINS],
            sums: vec![0.0; BINS + 1],
            summed: BINS,
            total: 0.0,
            weight: 1.0,
            since: Instant::ZERO,
        }
    }

    pub(super) fn clear(&mut self) {
        self.weights.fill(0.0);
        (self.total, self.weight, self.summed) = (0.0, 1.0, BINS);
    }

    /// The share of all that a value of now would have; infinite while it is empty.
    pub(super) fn share_of_one(&self) -> f64 {
        self.weight / self.total
    }

    pub(super) fn add(&mut self, now: Instant, value: i64) {
        let passed_s = now.since(self.since).as_secs_f64();
        self.since = self.since.max(now);
        self.weight *= exp((LN_2 * passed_s / self.half_life_s).min(60.0));
        if self.weight > 1e12 {
            self.weights.iter_mut().for_each(|weight| *weight /= self.weight);
            (self.total, self.weight) = (self.total / self.weight, 1.0);
            self.summed = BINS;
        }
        let bin = self.make_room(value.div_euclid(BIN_MICROS));
        self.weights[bin] += self.weight;
        self.summed = self.summed.max(bin + 1);
        self.total += self.weight;
    }

    /// The index of a bin, after moving the range of all so that it has one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "in range")]
    fn make_room(&mut self, bin: i64) -> usize {
        let index = bin.saturating_sub(self.origin);
        if self.total <= 0.0 {
            self.origin = bin - LOW_BIN;
        } else if index < 0 {
            let up = ((LOW_BIN - index) as u64).min(BINS as u64) as usize;
            let over: f64 = self.weights[BINS - up..].iter().sum();
            self.weights.copy_within(..BINS - up, up);
            self.weights[..up].fill(0.0);
            self.weights[BINS - 1] += over;
            (self.origin, self.summed) = (bin - LOW_BIN, BINS);
        } else if index >= BINS as i64 {
            let down = ((index - BINS as i64 + 1 + LOW_BIN) as u64).min(BINS as u64) as usize;
            let under: f64 = self.weights[..down].iter().sum();
            self.weights.copy_within(down.., 0);
            self.weights[BINS - down..].fill(0.0);
            self.weights[0] += under;
            (self.origin, self.summed) = (bin - (BINS as i64 - 1 - LOW_BIN), BINS);
        }
        (bin - self.origin) as usize
    }

    /// The smallest edge of a bin above which at most `share` of the weight lies; `None` while it is empty.
    #[expect(clippy::cast_possible_wrap, reason = "an index is small")]
    pub(super) fn quantile(&mut self, share: f64) -> Option<i64> {
        let most = share * self.total;
        while self.summed > 0 && self.sums[self.summed] <= most {
            self.summed -= 1;
            self.sums[self.summed] = self.sums[self.summed + 1] + self.weights[self.summed];
        }
        while self.summed < BINS && self.sums[self.summed + 1] > most {
            self.summed += 1;
        }
        (self.sums[self.summed] > most).then(|| (self.origin + self.summed as i64 + 1) * BIN_MICROS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same from the weights alone, one by one.
    #[expect(clippy::cast_possible_wrap, reason = "an index is small")]
    fn scanned(histogram: &LatenessHistogram, share: f64) -> Option<i64> {
        let mut above = 0.0;
        let most = share * histogram.total;
        let top = histogram.weights.iter().rposition(|weight| {
            above += weight;
            *weight > 0.0 && above > most
        })?;
        Some((histogram.origin + top as i64 + 1) * BIN_MICROS)
    }

    /// What is done to a histogram.
    #[derive(Clone, Copy, Debug)]
    enum Act {
        /// How many microseconds after the one before a value comes.
        Add(u64, i64),
        Ask(f64),
        Clear,
    }

    fn act() -> impl Strategy<Value = Act> {
        let soon = 0..50_000u64;
        prop_oneof![
            20 => (soon.clone(), 0..60_000i64).prop_map(|(after, value)| Act::Add(after, value)),
            5 => (soon, -900_000..900_000i64).prop_map(|(after, value)| Act::Add(after, value)),
            // Long enough for the weights to be made small again.
            1 => (10_000_000..200_000_000u64, 0..60_000i64).prop_map(|(after, value)| Act::Add(after, value)),
            1 => (0..1u64, -9_000_000_000..9_000_000_000i64).prop_map(|(after, value)| Act::Add(after, value)),
            15 => prop_oneof![Just(0.0), Just(0.003), Just(1.0), 0.0..0.1, 0.0..1.0].prop_map(Act::Ask),
            1 => Just(Act::Clear),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn a_quantile_from_kept_sums_is_the_one_from_all_weights(acts in proptest::collection::vec(act(), 0..400)) {
            let (mut histogram, mut now) = (LatenessHistogram::new(2.0), 0);
            for act in acts {
                match act {
                    Act::Add(after, value) => {
                        now += after;
                        histogram.add(Instant::from_micros(now), value);
                    }
                    Act::Ask(share) => prop_assert_eq!(histogram.quantile(share), scanned(&histogram, share)),
                    Act::Clear => histogram.clear(),
                }
            }
        }
    }
}
