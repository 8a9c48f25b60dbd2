//! What is sorted by how near or how urgent it is.

/// What is nearer than 2 m is told as often as it can be, in square metres.
const NEAR_SQR_M: f32 = 4.0;

/// A value and a number as one integer, which is compared fast: by the value, and of what is equal by the number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct RankingKey(u64);

impl RankingKey {
    /// Of a value that is not below zero: there the bits are in the order of the values.
    pub(super) fn new(value: f32, number: u32) -> RankingKey {
        RankingKey(u64::from(value.to_bits()) << 32 | u64::from(number))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(super) fn number(self) -> u32 {
        self.0 as u32
    }

    pub(super) fn value(self) -> f32 {
        f32::from_bits((self.0 >> 32) as u32)
    }
}

/// In single precision, to compare by; what is not a number, or too large for it, is infinite.
#[expect(clippy::cast_possible_truncation, reason = "to compare by")]
pub(super) fn single(value: f64) -> f32 {
    if value < f64::from(f32::MAX) { value as f32 } else { f32::INFINITY }
}

/// How much an entity matters by how far it is from the nearest eye, squared; where that is not a number, or infinite, as what is near.
#[inline]
pub(super) fn importance(squared: f32) -> f32 {
    let known = if squared < f32::INFINITY { squared } else { NEAR_SQR_M };
    1.0 / if known > NEAR_SQR_M { known } else { NEAR_SQR_M }
}
