//! How samples spread.

use serde::{Deserialize, Serialize};

/// The mean of some samples, and percentiles by nearest rank; 0 where there are none.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Spread {
    /// How many.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of these.
    pub fn of(mut samples: Vec<f64>) -> Spread {
        samples.sort_unstable_by(f64::total_cmp);
        let percentile = |percent: usize| {
            let rank = (samples.len() * percent).div_ceil(100);
            samples.get(rank.max(1) - 1).copied().unwrap_or(0.0)
        };
        let mean = samples.iter().fold(0.0, |sum, sample| sum + sample) / samples.len().max(1) as f64;
        let [p50, p95, p99, max] = [50, 95, 99, 100].map(percentile);
        Spread { count: samples.len(), mean, p50, p95, p99, max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_samples_and_nothing_is_zero() {
        let spread = Spread::of((1..=200).rev().map(f64::from).collect());
        assert_eq!([spread.p50, spread.p95, spread.p99, spread.max, spread.mean], [100.0, 190.0, 198.0, 200.0, 100.5]);
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
