//! The order of entities by how far they are.

/// Compares by distance, and of what is equally far by place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct DistanceRank(u64);

impl DistanceRank {
    /// Of the square of a distance, not below zero, and a place among all rows.
    pub(super) fn new(squared: f32, place: u32) -> DistanceRank {
        DistanceRank(u64::from(squared.to_bits()) << 32 | u64::from(place))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(super) fn place(self) -> u32 {
        self.0 as u32
    }

    /// The square of the distance.
    pub(super) fn squared(self) -> f32 {
        f32::from_bits((self.0 >> 32) as u32)
    }
}

/// In single precision, to compare by; what is not a number is far away.
#[expect(clippy::cast_possible_truncation, reason = "to compare by")]
pub(super) fn single(distance: f64) -> f32 {
    if distance < f64::from(f32::MAX) { distance as f32 } else { f32::INFINITY }
}
