//! Samples of one quantity, and their exact percentiles.

/// Samples of one quantity, for exact percentiles.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Adds one.
    pub fn push(&mut self, sample: f64) {
        self.0.push(sample);
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Samples) {
        self.0.extend_from_slice(&other.0);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Sorts them.
    pub fn sorted(mut self) -> Sorted {
        self.0.sort_unstable_by(f64::total_cmp);
        Sorted(self.0)
    }
}

/// Sorted samples.
#[derive(Clone, Debug)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// The percentile by nearest rank: the smallest sample that at least `percent` percent of all are not above; with n
    /// samples the one of rank ceil(n percent / 100), and at least the first. 0 where there are none. Always a sample,
    /// never something between two.
    pub fn percentile(&self, percent: u8) -> f64 {
        let rank = (self.0.len() * usize::from(percent)).div_ceil(100);
        self.0.get(rank.max(1) - 1).copied().unwrap_or(0.0)
    }

    /// The largest; 0 where there are none.
    pub fn max(&self) -> f64 {
        self.percentile(100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_sim::netsim::SplitMix64;

    fn sorted(samples: impl IntoIterator<Item = f64>) -> Sorted {
        Samples(samples.into_iter().collect()).sorted()
    }

    #[test]
    fn percentiles_are_those_of_the_textbook() {
        let five = sorted([50.0, 15.0, 40.0, 20.0, 35.0]);
        let found = [5, 30, 40, 50, 100].map(|percent| five.percentile(percent));
        assert_eq!(found, [15.0, 20.0, 20.0, 35.0, 50.0]);
        assert_eq!((sorted([]).percentile(50), sorted([7.0]).percentile(0)), (0.0, 7.0));
    }

    #[test]
    fn a_percentile_is_a_sample_that_so_many_are_not_above_and_no_smaller_one_is() {
        let mut random = SplitMix64::new(1);
        for len in 1..=130_u32 {
            let samples: Vec<_> = (0..len).map(|_| (random.next_f64() * 20.0).floor()).collect();
            let sorted = sorted(samples.iter().copied());
            let mut last = f64::NEG_INFINITY;
            for percent in 1..=100_u8 {
                let value = sorted.percentile(percent);
                let share = |limit: &dyn Fn(f64) -> bool| samples.iter().filter(|sample| limit(**sample)).count() * 100;
                let asked = samples.len() * usize::from(percent);
                assert!(samples.contains(&value) && value >= last);
                assert!(share(&|sample| sample <= value) >= asked);
                assert!(share(&|sample| sample < value) < asked);
                last = value;
            }
            assert_eq!(last, sorted.max());
        }
    }

    #[test]
    fn the_order_of_merging_does_not_show() {
        let parts = [vec![3.0, 1.0], vec![2.0], vec![5.0, 4.0, 0.0]].map(Samples);
        let merged = |order: [usize; 3]| {
            let mut all = Samples::default();
            order.into_iter().for_each(|part| all.merge(&parts[part]));
            (0..=100).map(|percent| all.clone().sorted().percentile(percent)).collect::<Vec<_>>()
        };
        assert_eq!(merged([0, 1, 2]), merged([2, 0, 1]));
    }
}
