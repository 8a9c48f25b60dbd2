//! Motion: vectors, rotations and basic curves.
//!
//! Pure functions of their arguments over plain arrays; nothing here knows a network or a tick. Everything gives the
//! same bits on every platform (see [`Real`] and [`crate::math`]).
//!
//! - [`vector`]: `[R; N]`; `lerp(a, b, t) = a + (b - a) clamp(t, 0, 1)` (P2).
//! - [`rotation`]: unit quaternions; `error(q, p) = error(-q, p) = 1 - |q . p|` (E16), the shortest slerp (D16).

mod real;
pub mod rotation;
pub mod vector;

pub use real::Real;
