//! Motion: vectors, rotations, curves for the motion of others, and the offset that hides a correction.
//!
//! Pure functions of their arguments over plain arrays; nothing here knows a network. Everything gives the
//! same bits on every platform (see [`Real`] and [`crate::math`]).
//!
//! - [`vector`]: `[R; N]`; `lerp(a, b, t) = a + (b - a) clamp(t, 0, 1)` (P2).
//! - [`rotation`]: unit quaternions; `error(q, p) = error(-q, p) = 1 - |q . p|` (E16), the shortest slerp (D16).
//! - [`trajectory`]: through samples and beyond them (P1 to P11); `curve(0) = p1`, `curve(1) = p2`.
//! - [`Correction`], [`VisualOffset`] (R23, R24, D15): `shown = simulated + offset`,
//!   `offset(0) = shown before - simulated after`, `decayed(a + b) = decayed(a).decayed(b)`.
//! - [`FrameMover`]: moved by frame, captured by tick (F5 to F8).
//! - [`Decay`]: the law of that decay, `de/dt = -r(e) e`, solved exactly (E17).

mod decay;
mod frame_mover;
mod pose;
mod real;
pub mod rotation;
pub mod trajectory;
pub mod vector;
mod visual_offset;

pub use decay::{BySize, Decay};
pub use frame_mover::{AntiAliasing, FrameMover};
pub use pose::Pose;
pub use real::Real;
pub use visual_offset::{Correction, VisualOffset};
