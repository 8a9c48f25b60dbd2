//! What a scene of lanes shows in one frame: methods side by side, on the same input over the same network.

use super::bodies::Bodies;
use super::crowd::CrowdPicture;
use super::cube::ShownCube;
use super::duel::{DuelPicture, ShotCard};
use serde::Serialize;

/// All lanes of one frame.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Lanes {
    /// One for each method, left to right and top to bottom; the same in every frame of a run, until a control changes.
    pub lanes: Vec<Lane>,
    /// What happened in this frame, a sentence each, with the number of the lane where it did.
    pub steps: Vec<(usize, String)>,
    /// The keys of a second person, while one plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<u8>,
    /// Which player holds the cube, 0 is the person; `None` where it does not change hands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<u8>,
    /// The shots that the server has judged in this frame.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shots: Vec<ShotCard>,
}

/// One method.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Lane {
    /// A word or two.
    pub name: &'static str,
    /// What it is, and the number in SOURCES.md, in a sentence.
    pub explain: &'static str,
    /// What is drawn in its picture.
    pub cubes: Vec<ShownCube>,
    /// What is measured of it, each with its unit.
    pub figures: Vec<Figure>,
    /// The newest point of its curve in each chart, in the order of the scene's charts, or of each of its curves where a chart has
    /// several; `None` where there is none.
    pub chart: Vec<Option<f64>>,
    /// What is drawn of rigid bodies; `None` where the cubes are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bodies: Option<Bodies>,
    /// What is drawn of a crowd; `None` likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crowd: Option<CrowdPicture>,
    /// What is drawn of a duel besides the cubes; `None` likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duel: Option<DuelPicture>,
}

/// A number under the picture of a lane.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figure {
    pub label: &'static str,
    pub value: f64,
    pub unit: &'static str,
    /// Behind the point.
    pub digits: u8,
}

/// A question that one strip chart answers, with a curve for each lane.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Question {
    pub question: &'static str,
    pub unit: &'static str,
    pub digits: u8,
}
