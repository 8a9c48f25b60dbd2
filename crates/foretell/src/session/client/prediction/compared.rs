//! What a comparison of a prediction with the authority's state has found.

use crate::math::f64::sqrt;
use crate::motion::vector::squared_distance;
use crate::session::client::causes::Causes;
use crate::world::{ComponentSchema, Meaning};

/// What a comparison has found.
#[derive(Default)]
pub(crate) struct Compared {
    pub agreed: u64,
    pub different: u64,
    /// Entities that exist on this side only.
    pub surplus: u64,
    /// The authority's samples of what was handed over, and so was not predicted.
    pub handed: u64,
    pub misprediction_m: f64,
    /// What explains the differences that stay: within the tolerance.
    pub stayed: Causes,
}

/// The distance between the positions in two rows, in metres; 0 where there are not two.
pub(crate) fn distance_m(kind: &ComponentSchema, ours: Option<&[u32]>, theirs: Option<&[u32]>) -> f64 {
    let position = |row| kind.field(Meaning::Position, row).map(|(column, words)| column.lanes::<3>(words));
    match (ours.and_then(position), theirs.and_then(position)) {
        (Some(ours), Some(theirs)) => sqrt(squared_distance(ours, theirs)),
        _ => 0.0,
    }
}
