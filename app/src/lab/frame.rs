//! What the page is told of one frame: the protocol's frame object.

use super::lanes::{Lanes, Question};
use super::packets::Involved;
use serde::Serialize;

/// One frame of 1/60 s.
#[derive(Clone, Debug, Serialize)]
pub struct Frame {
    /// Its number, from 0.
    pub frame: u32,
    /// Its instant on virtual time, in seconds.
    pub time_s: f64,
    /// The next tick of the client.
    pub tick: u32,
    /// How the client fares.
    pub state: &'static str,
    /// The scene that is selected.
    pub scene: &'static str,
    /// The keys that count, the bot's too.
    pub keys: u8,
    /// Whether they are the bot's.
    pub bot: bool,
    /// Whether they are a recording's.
    pub replaying: bool,
    pub cubes: Vec<Shown>,
    pub now: Now,
    pub chart: Chart,
    pub corrections: Vec<Correction>,
    /// What else happened, a sentence each.
    pub notes: Vec<String>,
    /// What was done to the run in this frame, as captions for the time axis.
    pub marks: Vec<Mark>,
    /// What a script does next, or a fault.
    pub upcoming: Option<Next>,
    /// What the charts of a scene of lanes ask; none in the others.
    pub questions: &'static [Question],
    /// Of a scene of lanes.
    pub lanes: Option<Lanes>,
}

/// Something on the time axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// `script`, `event` or `set`.
    pub kind: &'static str,
    pub caption: String,
}

/// What comes next.
#[derive(Clone, Debug, Serialize)]
pub struct Next {
    pub caption: String,
    pub in_s: f64,
}

/// A cube to be drawn.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// `local`, `client`, `server`, `ghost` or `other`.
    pub role: &'static str,
    /// The number of the player.
    pub id: String,
    /// In metres.
    pub position: [f64; 3],
    /// `predicted`, `interpolated`, `extrapolated`, `held` or `confirmed`.
    pub source: &'static str,
    /// How far beyond the newest snapshot it is shown, in ms.
    pub beyond_ms: f64,
}

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

/// The newest point of each curve. A new curve is a field here, and a line in the page's `strip.js`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Chart {
    pub misprediction_m: f64,
    pub correction_m: f64,
    pub rtt_ms: f64,
    pub margin_ticks: f64,
    pub up_bytes_per_s: u64,
    pub down_bytes_per_s: u64,
    pub resimulated_ticks: u32,
    pub spare_lead_ms: f64,
    /// How early an input comes that nothing delays, and how early losses and jitter ask it to be.
    pub slack_ticks: f64,
    pub slack_asked_ticks: f64,
    pub speed: f64,
    pub input_miss_rate: f64,
    pub playout_delay_ms: f64,
    /// `None` before there is anything to show.
    pub playout_speed: Option<f64>,
    /// How far beyond the newest snapshot any other is shown.
    pub beyond_ms: f64,
    /// The largest way of any other in this frame, as shown and in truth.
    pub shown_step_m: f64,
    pub true_step_m: f64,
}

/// A correction and its reason.
#[derive(Clone, Debug, Serialize)]
pub struct Correction {
    pub entity: String,
    /// Whether it is the person's.
    pub own: bool,
    /// The state that differed.
    pub tick: u32,
    /// The state up to which was simulated again.
    pub until: u32,
    /// The first field that differed.
    pub field: String,
    pub predicted: Vec<f64>,
    pub confirmed: Vec<f64>,
    /// The difference in that field's unit.
    pub size: f64,
    pub misprediction_m: f64,
    pub shown_m: f64,
    pub teleport: bool,
    pub causes: Vec<&'static str>,
    pub sentence: String,
    pub packets: Involved,
}
