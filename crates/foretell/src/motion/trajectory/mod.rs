//! The motion of others as curves: through what is known of it, and beyond (P1 to P11).
//!
//! Two families. *Between samples*, pure functions: [`hold`], the straight lines of [`vector`](super::vector)
//! (`lerp`, `lerp_unclamped`, `move_towards`), [`hermite`] with velocities, [`catmull_rom`] with neighbours; with
//! [`rotation_curve`] for rotations. *From arrival to arrival*, [`Follower`]: a small state machine that is fed by what comes and
//! asked in each frame. Beyond the last sample [`dead_reckon`] goes on, and [`Extrapolation`] says for how long.
//!
//! Everything is generic over the number of components: a length is `[x]`, a colour `[r, g, b, a]`; position is only the
//! most common of the data that may be interpolated inside and predicted outside (P11). What can't be blended is held.
//!
//! Invariants: curves meet their samples, `curve(0) = p1` and `curve(1) = p2` to rounding, and are the same in every
//! affine frame. Splines are for looks at low rates, not for accuracy (P7): what they cost and bring is measured in
//! `docs/CURVES.md`.

mod extrapolation;
mod follower;
pub mod rotation_curve;
mod spline;

pub use extrapolation::{Extrapolation, Stop, dead_reckon, owner_velocity};
pub use follower::{Follower, Following, Thresholds};
pub use spline::{catmull_rom, catmull_rom_spaced, hermite, hermite_derivative, tangent};

use super::Real;

/// The first sample up to the second, and from there on the second: no curve at all, choppy wherever samples are rarer
/// than frames (P1). For what can't be blended.
pub fn hold<R: Real, T>(p1: T, p2: T, t: R) -> T {
    if t < R::ONE { p1 } else { p2 }
}
