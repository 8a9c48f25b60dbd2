//! The figures of a row: what each means, in which unit, and how it is told against a threshold.
//!
//! A figure counts only with what it was bought with, so that delay, lead and bytes stand in the same row. All are per
//! player where they are rates, and over all players where they are percentiles or maxima. The first [`JOIN_S`] seconds
//! after a player has joined are measured by none of them. Figures are rounded to a millionth.

use crate::plan::{Bound, Threshold};
use serde::Serialize;

/// How long after joining a player is not measured yet, in seconds: the clock is still being steered.
pub const JOIN_S: u64 = 2;

/// The description of a figure.
pub struct Figure {
    /// Its name, as in JSON and in thresholds.
    pub name: &'static str,
    /// Its unit; empty for a share or a count.
    pub unit: &'static str,
    /// What it is.
    pub explain: &'static str,
    /// Its value.
    pub of: fn(&Figures) -> f64,
}

macro_rules! figures {
    ($($name:ident, $unit:literal, $explain:literal;)*) => {
        /// What was measured in one row.
        #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
        pub struct Figures {
            $(#[doc = $explain] pub $name: f64,)*
        }

        /// Every figure, in the order of the JSON.
        pub const ALL: &[Figure] = &[
            $(Figure { name: stringify!($name), unit: $unit, explain: $explain, of: |figures| figures.$name },)*
        ];

        impl Figures {
            /// The same, each rounded to a millionth.
            #[must_use]
            pub fn rounded(self) -> Figures {
                Figures { $($name: (self.$name * 1e6).round() / 1e6,)* }
            }
        }
    };
}

figures! {
    measured_s, "s", "How long all players together were measured.";
    join_ms_max, "ms", "The longest time from the first hello to the first tick.";
    corrections_per_min, "1/min", "Corrections of the own entity, per player.";
    unexplained, "", "Corrections of which no cause is known, or the cause is the client's own clock or a step that is not deterministic.";
    caused_by_own_input, "", "Corrections because the server did not have an own input in time.";
    caused_by_server_event, "", "Corrections because the server changed the entity outside of a step.";
    teleports, "", "Corrections that were too large to hide.";
    correction_m_p50, "m", "Per correction: from the pose shown before to the pose simulated after, before smoothing.";
    correction_m_p95, "m", "The same, 95th percentile.";
    correction_m_p99, "m", "The same, 99th percentile.";
    correction_m_max, "m", "The same, the largest.";
    shown_step_excess_m_p99, "m", "Per frame: how far the step of the shown pose is from that of the simulated one.";
    shown_step_excess_m_max, "m", "The same, the largest: what the player sees of the worst correction in one frame.";
    misprediction_m_p99, "m", "Per compared sample: from the stored prediction to the authority's state of its tick.";
    misprediction_m_max, "m", "The same, the largest.";
    rollback_ticks_max, "ticks", "The deepest rollback.";
    resimulated_ticks_per_s, "1/s", "Ticks that were simulated again.";
    resyncs, "", "Starts from a full state after the first.";
    not_playing_share, "", "Frames in which a client was starved, behind, resyncing or lost.";
    frozen_ms_max, "ms", "The longest that another moving entity was shown standing still while in truth it moved.";
    others_jump_m_max, "m", "The largest step of another entity in one frame beyond what its true speed allows.";
    extrapolated_share, "", "Frames of other entities that were shown beyond the newest snapshot.";
    snapshot_age_ms_p50, "ms", "How old the newest state is that a client has, from the server's step to the frame: what no queue hides.";
    snapshot_age_ms_p95, "ms", "The same, 95th percentile.";
    playout_delay_ms_p95, "ms", "How far behind the newest possible information others are shown.";
    input_miss_rate, "", "Ticks for which the server had no input in time.";
    lead_ms_p1, "ms", "How far a client's ticks lead the server's, in truth: inputs are late below the one-way latency.";
    lead_ms_p50, "ms", "The same, median.";
    lead_ms_p95, "ms", "The same, 95th percentile.";
    spare_lead_ms_p95, "ms", "The same, less the one-way latency: what the lead costs beyond the necessary.";
    speed_change_p95, "", "How far the speed of the client's ticks is from nominal; 0.1 is the most.";
    bytes_up_per_s, "B/s", "What a client sends, without headers of IP and UDP.";
    bytes_down_per_s, "B/s", "What the server sends to a client, without headers of IP and UDP.";
    datagrams_up_per_s, "1/s", "How many datagrams that is; each costs 28 bytes of headers more.";
    datagrams_down_per_s, "1/s", "The same from the server.";
}

/// The figure of this name.
pub fn named(name: &str) -> Option<&'static Figure> {
    ALL.iter().find(|figure| figure.name == name)
}

impl Threshold {
    /// The value that does not meet this threshold.
    pub fn missed_by(&self, figures: &Figures) -> Option<f64> {
        let value = (named(self.figure).expect("thresholds name figures that there are").of)(figures);
        let met = match self.bound {
            Bound::AtMost => value <= self.value,
            Bound::AtLeast => value >= self.value,
        };
        (!met).then_some(value)
    }
}

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
    use foretell::netsim::SplitMix64;

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

    #[test]
    fn a_threshold_is_met_by_its_own_value() {
        let figures = Figures { resyncs: 2.0, ..Figures::default() };
        let threshold = |bound, value| Threshold { figure: "resyncs", bound, value };
        assert_eq!(threshold(Bound::AtMost, 2.0).missed_by(&figures), None);
        assert_eq!(threshold(Bound::AtMost, 1.0).missed_by(&figures), Some(2.0));
        assert_eq!(threshold(Bound::AtLeast, 2.0).missed_by(&figures), None);
        assert_eq!(threshold(Bound::AtLeast, 3.0).missed_by(&figures), Some(2.0));
    }
}
