//! The figures of a row: what each means, in which unit, and how it is told against a threshold.
//!
//! A figure counts only with what it was bought with, so that delay, lead and bytes stand in the same row. All are per
//! player where they are rates, and over all players where they are percentiles or maxima. The first [`JOIN_S`] seconds
//! after a player has joined are measured by none of them. Figures are rounded to a millionth.

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

/// A bound on a figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Threshold {
    /// The figure's name.
    pub figure: &'static str,
    /// Which side is accepted.
    pub bound: Bound,
    /// The last accepted value.
    pub value: f64,
}

/// Which side of a threshold is accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Up to and with the threshold.
    AtMost,
    /// From the threshold up.
    AtLeast,
}

impl Threshold {
    /// The value that does not meet this threshold.
    ///
    /// # Panics
    /// When there is no figure of this name; [`read`](crate::read()) lets none through.
    pub fn missed_by(&self, figures: &Figures) -> Option<f64> {
        let value = (named(self.figure).expect("thresholds name figures that there are").of)(figures);
        let met = match self.bound {
            Bound::AtMost => value <= self.value,
            Bound::AtLeast => value >= self.value,
        };
        (!met).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
