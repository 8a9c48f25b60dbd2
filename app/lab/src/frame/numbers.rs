//! The numbers of a frame: those under the picture, and the newest points of curves.

use serde::Serialize;

/// The numbers under the picture.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Now {
    pub misprediction_m: f64,
    pub correction_m: f64,
    pub lead_ticks: f64,
    /// How long after a key the own cube answers to it: nothing where it is predicted.
    pub answer_ms: f64,
    pub rtt_ms: f64,
    pub input_miss_rate: f64,
    pub up_bytes_per_s: u64,
    pub down_bytes_per_s: u64,
    pub speed: f64,
    pub margin_ticks: f64,
    pub playout_delay_ms: f64,
    /// The lead less half a round trip.
    pub spare_lead_ms: f64,
    /// Of the last seconds, as are the next two.
    pub extrapolated_share: f64,
    pub frozen_ms: f64,
    pub jump_m: f64,
}

/// The newest points of the curves that show more than [`Now`] does. A new curve is a field here, and a line in the page's
/// `strip.js`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Chart {
    pub resimulated_ticks: u32,
    /// How early an input comes that nothing delays, and how early losses and jitter ask it to be.
    pub slack_ticks: f64,
    pub slack_asked_ticks: f64,
    /// `None` before there is anything to show.
    pub playout_speed: Option<f64>,
    /// How far beyond the newest snapshot any other is shown.
    pub beyond_ms: f64,
    /// The largest way of any other in this frame, as shown and in truth.
    pub shown_step_m: f64,
    pub true_step_m: f64,
}
