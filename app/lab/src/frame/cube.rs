//! A cube to be drawn.

use serde::Serialize;

/// A cube to be drawn.
#[derive(Clone, Debug, Serialize)]
pub struct ShownCube {
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

impl ShownCube {
    /// Shown there, at or before the newest snapshot.
    pub fn at(role: &'static str, id: u16, position: [f64; 3], source: &'static str) -> ShownCube {
        ShownCube { role, id: id.to_string(), position, source, beyond_ms: 0.0 }
    }
}
