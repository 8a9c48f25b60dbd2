//! The visual correction offset: what hides a correction from the eye.
//!
//! The simulation is corrected at once. What is *shown* is the simulated pose plus an offset, which starts as what was
//! shown before minus what is simulated after, so that nothing jumps, and then decays to nothing (R23, R24, D15). It is
//! never simulation state.
//!
//! Invariants, for offsets `o`, times `a`, `b` and a constant velocity:
//! - `capture(before, after).shown(after) = before`, unless it snapped or was too small to see;
//! - `o.decayed(a + b) = o.decayed(a).decayed(b)` to 1e-12: no frame rate shows (E17);
//! - `o.decayed(a)` is never larger than `o` and never turns its direction by 90 degrees: it can't overshoot.

use core::time::Duration;

use super::decay::Decay;
use super::pose::Pose;
use super::{rotation, vector};

/// How corrections are hidden: how fast offsets decay, and which are too large or too small to be one.
///
/// The default is D15's; [`Correction::article`] is the article's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Correction {
    /// How fast offsets decay.
    pub decay: Decay,
    /// The distance from which a correction snaps, in metres, >= 0; infinite for never. Default 2 (R23): a slide over
    /// more than that is a worse lie than a jump.
    pub snap_m: f64,
    /// Raises that distance for fast bodies: it is at least the way made in this time. Default 600 ms: at 30 m/s, 18 m are
    /// as much of the picture as 2 m on foot.
    pub snap_time: Duration,
    /// The angle from which a correction snaps, in degrees; above 180 for never. Default 90: beyond it the sense of the
    /// rotation is a guess.
    pub snap_degrees: f64,
    /// Offsets below this distance are zero, in metres, >= 0. Default 0.001: nobody sees a millimetre, and an offset
    /// that ends costs nothing more.
    pub smallest_m: f64,
    /// Rotations below this angle are none, in degrees, >= 0. Default 0.1: 1 mm at 57 cm from the axis.
    pub smallest_degrees: f64,
}

impl Default for Correction {
    fn default() -> Correction {
        Correction {
            decay: Decay::default(),
            snap_m: 2.0,
            snap_time: Duration::from_millis(600),
            snap_degrees: 90.0,
            smallest_m: 0.001,
            smallest_degrees: 0.1,
        }
    }
}

impl Correction {
    /// The article's smoothing, without its dependence on the frame rate (R23, R24, E17): a constant rate that keeps
    /// 0.9 per frame at 60 frames per second, a snap from a squared distance of 4 (2 m) at every speed, none by angle,
    /// and no smallest offset.
    pub fn article() -> Correction {
        Correction {
            decay: Decay::keep(0.9, 60.0),
            snap_m: 2.0,
            snap_time: Duration::ZERO,
            snap_degrees: f64::INFINITY,
            smallest_m: 0.0,
            smallest_degrees: 0.0,
        }
    }

    /// The least way between two states that may be a teleport, in metres: that from which a correction snaps, but no less than by default,
    /// as who walks does not teleport where every correction snaps.
    pub(crate) fn teleport_m(&self) -> f64 {
        self.snap_m.max(Correction::default().snap_m)
    }

    /// The distance from which something snaps that moves at `speed` (m/s), in metres.
    pub(crate) fn snaps_from(&self, speed: f64) -> f64 {
        self.snap_m.max(self.snap_time.as_secs_f64() * speed)
    }

    /// Not a number, in a position or a rotation, snaps as well: it would never decay.
    fn snaps(&self, squared_distance: f64, degrees: f64, speed: f64) -> bool {
        let limit = self.snaps_from(speed);
        let near = squared_distance < limit * limit;
        let turned_little = degrees < self.snap_degrees;
        !(near && turned_little)
    }
}

/// What is added to a simulated pose so that what is shown doesn't jump. Decays to [`VisualOffset::NONE`].
///
/// One per shown entity; replaced by each [`VisualOffset::capture`], which takes over what is left of the last one
/// because it starts from what is shown. The decay has no clock that could be restarted.
///
/// ```
/// use core::time::Duration;
/// use foretell::motion::{Correction, Pose, VisualOffset};
///
/// let config = Correction::default();
/// let (shown, simulated) = (Pose::at([0.3, 0.0, 0.0]), Pose::at([0.0; 3]));
/// let (offset, snapped) = VisualOffset::capture(shown, simulated, 5.0, &config);
/// assert!(!snapped);
/// assert_eq!(offset.shown(simulated), shown);
///
/// let later = offset.decayed(Duration::from_millis(16), [0.0; 3], &config);
/// assert!(later.distance() < offset.distance());
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VisualOffset {
    position: [f64; 3],
    rotation: [f64; 4],
    /// The size that sets the pace of the decay, in metres: the distance as it would be had nothing been eaten along
    /// the motion. `distance <= pace_m` to rounding. It makes the decay of a moving body solvable: the pace decays on
    /// its own by the plain law, and everything else follows from the fraction of it that is left.
    pace_m: f64,
}

impl VisualOffset {
    /// No offset: what is shown is what is simulated.
    pub const NONE: VisualOffset = VisualOffset { position: [0.0; 3], rotation: Pose::IDENTITY.rotation, pace_m: 0.0 };

    /// The offset that a correction leaves, and whether it snapped (then the offset is none, and the body jumps).
    ///
    /// `shown_before` is what was shown just before the correction, with what was left of the last offset; capture it
    /// before the rewind (R23). `simulated_after` is the corrected simulation at the same instant, `speed` its speed in
    /// m/s. The position's offset is `before - after`, the rotation's `inverse(after) * before`. Numbers that are
    /// not finite snap.
    pub fn capture(shown_before: Pose, simulated_after: Pose, speed: f64, config: &Correction) -> (VisualOffset, bool) {
        let position = vector::sub(shown_before.position, simulated_after.position);
        let turn = rotation::error_rotation(shown_before.rotation, simulated_after.rotation);
        let turn = rotation::shortest(rotation::normalise(turn));
        let (squared, degrees) = (vector::dot(position, position), degrees(turn));
        if config.snaps(squared, degrees, speed) {
            return (VisualOffset::NONE, true);
        }
        let offset = VisualOffset { position, rotation: turn, pace_m: 0.0 }.without_invisible(degrees, config);
        let pace_m = offset.distance();
        (VisualOffset { pace_m, ..offset }, false)
    }

    /// What is left after the time `by`, in which the body moved with `velocity` (m/s; zero for a body at rest).
    ///
    /// With `f` the fraction that the [`Decay`] leaves of the offset's size:
    /// - across the velocity the offset is multiplied by `f`;
    /// - along it by `f^m`, where `m` grows from 1 at rest to [`along_motion`](super::BySize::along_motion): faster, by
    ///   a factor in the rate, where it only looks like a change of speed;
    /// - the rotation's angle is multiplied by `f` around the same axis, which is a slerp to none by `1 - f` (R24).
    ///
    /// Position and rotation end, each by itself, below the smallest that can be seen.
    #[must_use]
    pub fn decayed(self, by: Duration, velocity: [f64; 3], config: &Correction) -> VisualOffset {
        if self.is_none() {
            return VisualOffset::NONE;
        }
        let left = config.decay.fraction_left(self.pace_m, by);
        let speed = vector::length(velocity);
        let mut position = vector::scale(self.position, left);
        let moves = speed > 0.0 && speed.is_finite();
        if moves {
            let direction = vector::scale(velocity, 1.0 / speed);
            let more = crate::math::f64::pow(left, config.decay.along_motion(speed) - 1.0);
            let eaten = vector::dot(position, direction) * (1.0 - more);
            position = vector::sub(position, vector::scale(direction, eaten));
        }
        let turn = vector::scale(rotation::to_vector(self.rotation), left);
        let rotation = if turn == [0.0; 3] { VisualOffset::NONE.rotation } else { rotation::from_vector(turn) };
        let left = VisualOffset { position, rotation, pace_m: self.pace_m * left };
        left.without_invisible(vector::length(turn).to_degrees(), config)
    }

    /// The pose to show: the position plus the offset, the rotation times it (R23).
    pub fn shown(&self, simulated: Pose) -> Pose {
        Pose {
            position: vector::add(simulated.position, self.position),
            rotation: rotation::multiply(simulated.rotation, self.rotation),
        }
    }

    /// What is added to the position, in metres.
    pub fn position(&self) -> [f64; 3] {
        self.position
    }

    /// What the rotation is multiplied with from the right: a unit quaternion with `w >= 0`.
    pub fn rotation(&self) -> [f64; 4] {
        self.rotation
    }

    /// How far the body is shown from where it is, in metres.
    pub fn distance(&self) -> f64 {
        vector::length(self.position)
    }

    /// How far it is shown turned, in degrees, from 0 to 180.
    pub fn degrees(&self) -> f64 {
        degrees(self.rotation)
    }

    /// Whether nothing is left, in position and rotation.
    pub fn is_none(&self) -> bool {
        self.position == VisualOffset::NONE.position && self.rotation == VisualOffset::NONE.rotation
    }

    /// The pace stays while either is left, so that an ended position doesn't change how the rotation goes on.
    fn without_invisible(mut self, degrees: f64, config: &Correction) -> VisualOffset {
        if self.distance() < config.smallest_m {
            self.position = VisualOffset::NONE.position;
        }
        if degrees < config.smallest_degrees {
            self.rotation = VisualOffset::NONE.rotation;
        }
        if self.is_none() { VisualOffset::NONE } else { self }
    }
}

impl Default for VisualOffset {
    fn default() -> VisualOffset {
        VisualOffset::NONE
    }
}

fn degrees(turn: [f64; 4]) -> f64 {
    vector::length(rotation::to_vector(turn)).to_degrees()
}
