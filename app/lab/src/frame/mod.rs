//! What the page is told of one frame: the protocol's frame object.

pub mod bodies;
pub mod correction;
pub mod crowd;
pub mod cube;
pub mod duel;
pub mod lane;
pub mod numbers;

use correction::Correction;
use cube::ShownCube;
use lane::{Lanes, Question};
use numbers::{Chart, Now};
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
    /// What was pressed in it.
    #[serde(flatten)]
    pub pressed: Pressed,
    pub cubes: Vec<ShownCube>,
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

/// The keys of a frame.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Pressed {
    /// The keys that count, the bot's too.
    pub keys: u8,
    /// Whether they are the bot's.
    pub bot: bool,
    /// Whether they are a recording's.
    pub replaying: bool,
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
