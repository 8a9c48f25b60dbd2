//! The numbers that motion is computed in: `f32` and `f64`, and no others.

use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Neg, Sub};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A binary floating-point number: `f32` or `f64`. Sealed, so that it may grow without breaking anybody.
///
/// Every operation gives the same bits on every platform: `+ - * /` and the square root are exactly rounded by
/// IEEE 754, nothing is contracted to a fused multiply-add, and the rest is [`crate::math`].
pub trait Real:
    sealed::Sealed
    + Copy
    + Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The number nearest to `value`.
    fn from_f64(value: f64) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The square root; NaN below 0.
    fn sqrt(self) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos(self) -> Self;
    /// The angle in `[0, pi]` with this cosine, in radians; NaN outside of `[-1, 1]`.
    fn acos(self) -> Self;
    /// The angle in `[-pi, pi]` of the point (`x`, `self`), in radians; 0 for the origin.
    fn atan2(self, x: Self) -> Self;
}

macro_rules! real {
    ($number:ident, $nearest:path) => {
        impl Real for $number {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            fn from_f64(value: f64) -> Self {
                $nearest(value)
            }
            fn abs(self) -> Self {
                $number::abs(self)
            }
            fn sqrt(self) -> Self {
                crate::math::$number::sqrt(self)
            }
            fn sin(self) -> Self {
                crate::math::$number::sin(self)
            }
            fn cos(self) -> Self {
                crate::math::$number::cos(self)
            }
            fn acos(self) -> Self {
                crate::math::$number::acos(self)
            }
            fn atan2(self, x: Self) -> Self {
                crate::math::$number::atan2(self, x)
            }
        }
    };
}

real!(f32, nearest_f32);
real!(f64, core::convert::identity);

#[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is asked for")]
fn nearest_f32(value: f64) -> f32 {
    value as f32
}
