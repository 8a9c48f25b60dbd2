//! Cubic curves between two samples: with velocities (P8), or with a neighbour on each side (P9).
//!
//! Both are the same cubic: [`catmull_rom`] is [`hermite`] with the tangents `(p2 - p0) / 2` and `(p3 - p1) / 2`.

use super::super::Real;
use super::super::vector::{add, scale, sub};

/// The point at `t` of the cubic from `p1` (0) to `p2` (1) with the tangents `v1` and `v2` there, in Horner's form as in
/// the article (P8). Tangents are per period: a velocity times the time from `p1` to `p2`. `t` is not clamped.
///
/// Exactly `p1` at 0, `p2` to rounding at 1. It leaves the box of its samples by at most 4/27 of each tangent.
pub fn hermite<R: Real, const N: usize>(p1: [R; N], p2: [R; N], v1: [R; N], v2: [R; N], t: R) -> [R; N] {
    let (a, b) = coefficients(p1, p2, v1, v2);
    add(scale(add(scale(add(scale(a, t), b), t), v1), t), p1)
}

/// The tangent of [`hermite`] at `t`, per period: divided by the time from `p1` to `p2` it is the velocity.
pub fn hermite_derivative<R: Real, const N: usize>(p1: [R; N], p2: [R; N], v1: [R; N], v2: [R; N], t: R) -> [R; N] {
    let (a, b) = coefficients(p1, p2, v1, v2);
    let (two, three) = (R::from_f64(2.0), R::from_f64(3.0));
    add(scale(add(scale(scale(a, three), t), scale(b, two)), t), v1)
}

/// The factors of the third and the second power.
fn coefficients<R: Real, const N: usize>(p1: [R; N], p2: [R; N], v1: [R; N], v2: [R; N]) -> ([R; N], [R; N]) {
    let (two, three) = (R::from_f64(2.0), R::from_f64(3.0));
    let a = add(add(sub(scale(p1, two), scale(p2, two)), v1), v2);
    let b = sub(sub(add(scale(p1, -three), scale(p2, three)), scale(v1, two)), v2);
    (a, b)
}

/// The point at `t` of the curve from `p1` (0) to `p2` (1) with a sample before and one after, all equally far apart in
/// time, as in the article (P9). `t` is not clamped.
///
/// It needs a sample that lies in the future of what is shown: an interval of delay more than [`hermite`].
pub fn catmull_rom<R: Real, const N: usize>([p0, p1, p2, p3]: [[R; N]; 4], t: R) -> [R; N] {
    let times = |p: [R; N], factor: f64| scale(p, R::from_f64(factor));
    let a = add(sub(add(times(p0, -1.0), times(p1, 3.0)), times(p2, 3.0)), p3);
    let b = sub(add(sub(times(p0, 2.0), times(p1, 5.0)), times(p2, 4.0)), p3);
    let c = add(times(p0, -1.0), p2);
    times(add(scale(add(scale(add(scale(a, t), b), t), c), t), times(p1, 2.0)), 0.5)
}

/// The same with samples that are not equally far apart: `gaps` are the times from each to the next, in any unit (D19).
/// At equal gaps it is [`catmull_rom`], and on a parabola it is exact whatever they are.
pub fn catmull_rom_spaced<R: Real, const N: usize>([p0, p1, p2, p3]: [[R; N]; 4], gaps: [R; 3], t: R) -> [R; N] {
    let [before, gap, after] = gaps;
    let v1 = tangent([p0, p1, p2], [before, gap]);
    let v2 = tangent([p1, p2, p3], [gap, after]);
    hermite(p1, p2, scale(v1, gap), scale(v2, gap), t)
}

/// The velocity at the middle one of three samples, by finite differences: that of the parabola through them. `gaps` are
/// the times between them; a side whose gap is not above 0 says nothing, and without both it is zero.
pub fn tangent<R: Real, const N: usize>([p0, p1, p2]: [[R; N]; 3], gaps: [R; 2]) -> [R; N] {
    mean_slope([sub(p1, p0), sub(p2, p1)], gaps)
}

/// The velocity between two ways, which take the times `before` and `after`: that of a parabola.
pub(super) fn mean_slope<R: Real, const N: usize>([first, second]: [[R; N]; 2], [before, after]: [R; 2]) -> [R; N] {
    let slope = |way, gap| scale(way, R::ONE / gap);
    match (before > R::ZERO, after > R::ZERO) {
        (true, true) => {
            let both = before + after;
            add(scale(slope(first, before), after / both), scale(slope(second, after), before / both))
        }
        (true, false) => slope(first, before),
        (false, true) => slope(second, after),
        (false, false) => [R::ZERO; N],
    }
}
