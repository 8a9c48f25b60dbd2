//! A crowd as the page gets it: of each entity where it is shown, how old that is, and where it is by now.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

/// Units of a metre, and of a radian.
const PER_M: f64 = 100.0;
const PER_RAD: f64 = 10_000.0;

/// How an entity is that the client is not told of.
const UNTOLD: i16 = -1;

/// The crowd on a screen in one frame.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CrowdPicture {
    /// Base64 of rows of six 16-bit numbers, little-endian: where it is shown, x and z in cm; where it is by now, the same; to where
    /// it looks there, from x to z in 1/10,000 radian; how old what is shown is, in ms. What the client is not told of is shown where
    /// it is, and is [`UNTOLD`] ms old.
    pub rows: String,
    /// The same of the own entity alone, which is predicted; empty before it is there.
    pub own: String,
    /// Within which distance of it entities are in interest, in metres; `None` where that is no distance.
    pub radius_m: Option<f32>,
}

/// An entity of a crowd.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Walker {
    /// Where it is shown, x and z in metres.
    pub shown: [f64; 2],
    /// Where the server has it.
    pub truth: [f64; 2],
    /// To where it looks, in radians from x to z.
    pub heading: f64,
    /// How far beyond the newest state that the client was told it is shown, in ms; `None` where it was told none.
    pub age_ms: Option<f64>,
}

impl Walker {
    fn row(&self) -> [i16; 6] {
        let Walker { shown, truth, heading, age_ms } = *self;
        let [[x, z], [true_x, true_z]] = [shown, truth].map(|place| place.map(|lane| rounded(lane * PER_M)));
        [x, z, true_x, true_z, rounded(heading * PER_RAD), age_ms.map_or(UNTOLD, rounded)]
    }
}

/// Walkers as text.
pub fn text(walkers: &[Walker]) -> String {
    let numbers = walkers.iter().flat_map(Walker::row);
    STANDARD.encode(numbers.flat_map(i16::to_le_bytes).collect::<Vec<_>>())
}

#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn rounded(value: f64) -> i16 {
    value.round() as i16
}
