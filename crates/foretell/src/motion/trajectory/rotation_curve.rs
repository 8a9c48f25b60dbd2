//! The same curves for rotations: unit quaternions `[R; 4]`, and angular velocities `[R; 3]` in radians per second around
//! the axes of the fixed frame, as physics engines give them.
//!
//! A straight line is [`rotation::slerp`](crate::motion::rotation::slerp). The cubic is one in the vectors of the turn from the first
//! rotation, as in Park and Ravani ("Smooth invariant interpolation of rotations", ACM Transactions on Graphics 16(3), 1997).
//! Invariants: the ends and the angular velocities there are met; `q` and `-q` give the same rotations (E16); a constant spin of less
//! than half a turn between two samples is exact.

use super::super::Real;
use super::super::rotation::{from_vector, inverse, multiply, normalise, to_vector};
use super::super::vector::{self, add, clamp01, scale};
use super::spline::{self, mean_slope};

/// Turned on with the angular velocity for `lag` seconds (P5).
pub fn dead_reckon<R: Real>(q: [R; 4], angular_velocity: [R; 3], lag: R) -> [R; 4] {
    normalise(multiply(from_vector(scale(angular_velocity, lag)), q))
}

/// The shorter turn from one rotation to another: its axis in the fixed frame times its angle, in radians.
pub(crate) fn between<R: Real>(from: [R; 4], to: [R; 4]) -> [R; 3] {
    to_vector(multiply(to, inverse(from)))
}

/// The mean angular velocity that turns `previous` into `current` in `dt` seconds the shorter way; zero where no time has
/// passed (D20).
pub fn owner_velocity<R: Real>(previous: [R; 4], current: [R; 4], dt: R) -> [R; 3] {
    if dt == R::ZERO {
        return [R::ZERO; 3];
    }
    between(previous, current).map(|turn| turn / dt)
}

/// The angular velocity at the middle one of three rotations, by finite differences; as
/// [`tangent`](super::tangent).
pub fn tangent<R: Real>([q0, q1, q2]: [[R; 4]; 3], gaps: [R; 2]) -> [R; 3] {
    mean_slope([between(q0, q1), between(q1, q2)], gaps)
}

/// The rotation at `t` of the cubic from `q1` (0) to `q2` (1) with the angular velocities `w1` and `w2` there, which are
/// per period: times the time from `q1` to `q2` (P8). `t` is clamped to `[0, 1]`.
pub fn hermite<R: Real>(q1: [R; 4], q2: [R; 4], w1: [R; 3], w2: [R; 3], t: R) -> [R; 4] {
    hermite_along(q1, between(q1, q2), w1, w2, t)
}

/// The same where the turn between both is known.
pub(crate) fn hermite_along<R: Real>(q1: [R; 4], whole: [R; 3], w1: [R; 3], w2: [R; 3], t: R) -> [R; 4] {
    let turned = spline::hermite([R::ZERO; 3], whole, w1, rate_of_turn(whole, w2), clamp01(t));
    normalise(multiply(from_vector(turned), q1))
}

/// How fast the vector of a turn changes that is `turn` by now, where it turns with an angular velocity: the same where both have one
/// axis.
fn rate_of_turn<R: Real>(turn: [R; 3], angular_velocity: [R; 3]) -> [R; 3] {
    let across = vector::cross(turn, angular_velocity);
    let twice = scale(vector::cross(turn, across), second_order(vector::dot(turn, turn)));
    add(add(angular_velocity, scale(across, R::from_f64(-0.5))), twice)
}

/// `(1 - a / 2 / tan(a / 2)) / (a * a)` of an angle, by the square of that: between 1/12 and, at half a turn, 0.101.
fn second_order<R: Real>(square: R) -> R {
    if square < R::from_f64(0.25) {
        let series = [1.0 / 30_240.0, 1.0 / 720.0, 1.0 / 12.0];
        return series.iter().fold(R::from_f64(1.0 / 1_209_600.0), |sum, next| sum * square + R::from_f64(*next));
    }
    let half = square.sqrt() * R::from_f64(0.5);
    (R::ONE - half * half.cos() / half.sin()) / square
}
