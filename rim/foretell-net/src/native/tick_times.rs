//! How long ticks take: a histogram that only grows, so that who looks at it twice knows of the time in between.

use std::time::Duration;

/// Bins, each a fourth of an octave wide: the upper edge of the first is 16 us, that of the last but one about 0.7 s.
const BINS: usize = 64;
const FIRST_US: f64 = 16.0;
const PER_OCTAVE: f64 = 4.0;

/// How many ticks took how long, since the start. Quantiles are at most a fifth too high.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TickTimes {
    /// The last one holds all that took longer than the one before.
    counts: [u64; BINS],
    total: Duration,
}

impl Default for TickTimes {
    fn default() -> TickTimes {
        TickTimes { counts: [0; BINS], total: Duration::ZERO }
    }
}

impl TickTimes {
    /// A tick that took so long.
    pub fn add(&mut self, time: Duration) {
        let bin = (time.as_secs_f64() * 1e6 / FIRST_US).log2() * PER_OCTAVE;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to the bins")]
        let bin = bin.ceil().clamp(0.0, (BINS - 1) as f64) as usize;
        self.counts[bin] += 1;
        self.total += time;
    }

    /// How many ticks there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How long they took together.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// The upper edges of the bins, in seconds and ascending, and how many ticks fell into each. The last edge is infinite.
    pub fn bins(&self) -> impl Iterator<Item = (f64, u64)> {
        self.counts.iter().enumerate().map(|(bin, count)| (edge_s(bin), *count))
    }

    /// What so great a share of the ticks took at most, 0 to 1; zero without ticks.
    pub fn quantile(&self, share: f64) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "ticks of a thousand years")]
        let mut missing = self.count() as f64 * share;
        let reached = self.bins().filter(|(_, count)| *count > 0).find(|(_, count)| {
            #[expect(clippy::cast_precision_loss, reason = "as above")]
            let count = *count as f64;
            missing -= count;
            missing <= 0.0
        });
        reached.map_or(Duration::ZERO, |(edge, _)| Duration::try_from_secs_f64(edge).unwrap_or(Duration::MAX))
    }

    /// Those since an `earlier` look at the same server.
    #[must_use]
    pub fn since(&self, earlier: &TickTimes) -> TickTimes {
        let mut counts = self.counts;
        counts.iter_mut().zip(earlier.counts).for_each(|(count, before)| *count = count.saturating_sub(before));
        TickTimes { counts, total: self.total.saturating_sub(earlier.total) }
    }
}

fn edge_s(bin: usize) -> f64 {
    if bin == BINS - 1 {
        return f64::INFINITY;
    }
    #[expect(clippy::cast_precision_loss, reason = "below 64")]
    let octaves = bin as f64 / PER_OCTAVE;
    FIRST_US * 1e-6 * octaves.exp2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_quantile_is_what_it_says_and_at_most_a_fifth_higher(mut micros in prop::collection::vec(20_u64..700_000, 1..200), share in 0.01..1.0_f64) {
            let mut times = TickTimes::default();
            micros.iter().for_each(|micros| times.add(Duration::from_micros(*micros)));
            micros.sort_unstable();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small")]
            let exact = micros[(micros.len() as f64 * share).ceil() as usize - 1] as f64;
            let told = times.quantile(share).as_secs_f64() * 1e6;
            prop_assert!(told >= exact - 0.01 && told <= exact * 1.19, "{told} for {exact}");
        }
    }

    #[test]
    fn what_was_before_is_not_in_what_came_since() {
        let mut times = TickTimes::default();
        assert_eq!(times.quantile(0.99), Duration::ZERO);
        times.add(Duration::from_secs(5));
        let earlier = times;
        times.add(Duration::ZERO);
        assert_eq!((times.quantile(1.0), times.count()), (Duration::MAX, 2));
        let since = times.since(&earlier);
        assert_eq!((since.count(), since.quantile(1.0), since.total()), (1, Duration::from_micros(16), Duration::ZERO));
    }
}
