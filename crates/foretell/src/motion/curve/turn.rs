//! The same curves for rotations: unit quaternions `[R; 4]`, and angular velocities `[R; 3]` in radians per second around
//! the axes of the fixed frame, as physics engines give them.
//!
//! A straight line is [`rotation::slerp`](crate::motion::rotation::slerp). The cubic is the cumulative Bézier form of Kim, Kim and Shin ("A
//! general construction scheme for unit quaternion curves", SIGGRAPH 1995): three turns after each other, each by its
//! share. Invariants: the ends and the angular velocities there are met; `q` and `-q` give the same rotations (E16); a
//! constant spin of less than half a turn between two samples is exact.

use super::super::Real;
use super::super::rotation::{from_vector, inverse, multiply, normalise, to_vector};
use super::super::vector::{add, scale};

/// Turned on with the angular velocity for `lag` seconds (P5).
pub fn dead_reckon<R: Real>(q: [R; 4], angular_velocity: [R; 3], lag: R) -> [R; 4] {
    normalise(multiply(from_vector(scale(angular_velocity, lag)), q))
}

/// The mean angular velocity that turns `previous` into `current` in `dt` seconds the shorter way; zero where no time has
/// passed (D20).
pub fn owner_velocity<R: Real>(previous: [R; 4], current: [R; 4], dt: R) -> [R; 3] {
    if dt == R::ZERO {
        return [R::ZERO; 3];
    }
    to_vector(multiply(current, inverse(previous))).map(|turn| turn / dt)
}

/// The angular velocity at the middle one of three rotations, by finite differences; as
/// [`tangent`](super::tangent).
pub fn tangent<R: Real>([q0, q1, q2]: [[R; 4]; 3], [before, after]: [R; 2]) -> [R; 3] {
    let (first, second) = (owner_velocity(q0, q1, before), owner_velocity(q1, q2, after));
    match (before > R::ZERO, after > R::ZERO) {
        (true, true) => {
            let both = before + after;
            add(scale(first, after / both), scale(second, before / both))
        }
        (true, false) => first,
        (false, true) => second,
        (false, false) => [R::ZERO; 3],
    }
}

/// The rotation at `t` of the cubic from `q1` (0) to `q2` (1) with the angular velocities `w1` and `w2` there, which are
/// per period: times the time from `q1` to `q2` (P8). `t` is clamped to `[0, 1]`.
pub fn hermite<R: Real>(q1: [R; 4], q2: [R; 4], w1: [R; 3], w2: [R; 3], t: R) -> [R; 4] {
    let t = super::super::vector::clamp01(t);
    let (third, three) = (R::from_f64(1.0 / 3.0), R::from_f64(3.0));
    let (first, last) = (scale(w1, third), scale(w2, third));
    let whole = multiply(q2, inverse(q1));
    // What is left of the whole turn when the first has come before it and the last is to come after it.
    let middle = to_vector(multiply(multiply(from_vector(last.map(R::neg)), whole), from_vector(first.map(R::neg))));
    let left = R::ONE - t;
    let shares = [R::ONE - left * left * left, t * t * (three - t - t), t * t * t];
    let turned = multiply(from_vector(scale(first, shares[0])), q1);
    let turned = multiply(from_vector(scale(middle, shares[1])), turned);
    normalise(multiply(from_vector(scale(last, shares[2])), turned))
}
