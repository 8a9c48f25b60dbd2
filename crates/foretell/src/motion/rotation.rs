//! Rotations as unit quaternions `[R; 4]` in the order x, y, z, w.
//!
//! A rotation is two quaternions, `q` and `-q`. Invariants: [`angle`] and [`rotation_error`] are the same for both
//! (E16), and so is the rotation that [`slerp`] gives; `slerp(a, b, 0) = a` and `slerp(a, b, 1) = b` as rotations;
//! `to_vector(from_vector(v)) = v` up to half a turn.
//!
//! Arguments are unit quaternions except where stated; results then are as well.

use super::Real;
use super::vector::{self, clamp01};

/// Above this cosine between two quaternions (half angles below 1.8 degrees) the arc of a slerp is taken as a line:
/// there the division by the sine would lose digits, and the line is off by less than a millionth (D16).
pub(crate) const NEARLY_PARALLEL: f64 = 0.9995;

/// No rotation: (0, 0, 0, 1).
pub const fn identity<R: Real>() -> [R; 4] {
    [R::ZERO, R::ZERO, R::ZERO, R::ONE]
}

/// The product `a * b`: first `b`, then `a` in the fixed frame; or first `a`, then `b` in the turned one.
pub fn multiply<R: Real>(a: [R; 4], b: [R; 4]) -> [R; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// A vector, turned.
pub fn rotate<R: Real>([x, y, z, w]: [R; 4], vector: [R; 3]) -> [R; 3] {
    let axis = [x, y, z];
    let once = super::vector::cross(axis, vector);
    let doubled = super::vector::add(super::vector::scale(once, w), super::vector::cross(axis, once));
    super::vector::add(vector, super::vector::add(doubled, doubled))
}

/// The rotation back: the conjugate, which is the inverse of a unit quaternion.
pub fn inverse<R: Real>([x, y, z, w]: [R; 4]) -> [R; 4] {
    [-x, -y, -z, w]
}

/// The quaternion of length 1 in the direction of `q`, which may have any length; zero stays zero.
pub fn normalise<R: Real>(q: [R; 4]) -> [R; 4] {
    let length = vector::length(q);
    if length == R::ZERO {
        return q;
    }
    q.map(|component| component / length)
}

/// Of `q` and `-q` the one with `w >= 0`, whose angle is at most half a turn. At exactly half a turn both are as short,
/// and `q` stays.
pub fn shortest<R: Real>(q: [R; 4]) -> [R; 4] {
    if q[3] < R::ZERO { q.map(R::neg) } else { q }
}

/// How different two rotations are: `1 - |dot|`, from 0 (the same) to 1 (half a turn). No unit: about an eighth of the
/// square of the angle in radians, so that the article's limit of 1e-5 (R15) is half a degree.
///
/// The article's own `1 - dot` takes `q` and `-q`, the same rotation, for the greatest difference, 2 (E16).
pub fn rotation_error<R: Real>(a: [R; 4], b: [R; 4]) -> R {
    R::ONE - vector::dot(a, b).abs()
}

/// What turns `after` into `before`: `inverse(after) * before`, so that `after * error_rotation = before` (R23).
pub fn error_rotation<R: Real>(before: [R; 4], after: [R; 4]) -> [R; 4] {
    multiply(inverse(after), before)
}

/// The angle between two rotations, in radians, from 0 to pi. Exact for small angles too, where an arc cosine would
/// lose half of the digits.
pub fn angle<R: Real>(a: [R; 4], b: [R; 4]) -> R {
    vector::length(to_vector(error_rotation(b, a)))
}

/// The rotation at `t` on the shortest arc from `a` (0) to `b` (1) at constant angular speed, `t` clamped to `[0, 1]`
/// (D16). Its sign is that of `a`. At exactly half a turn between them, where both arcs are as short, the sign of `b`
/// decides.
pub fn slerp<R: Real>(a: [R; 4], b: [R; 4], t: R) -> [R; 4] {
    let t = clamp01(t);
    let dot = vector::dot(a, b);
    let (b, dot) = if dot < R::ZERO { (b.map(R::neg), -dot) } else { (b, dot) };
    if dot > R::from_f64(NEARLY_PARALLEL) {
        return normalise(vector::lerp_unclamped(a, b, t));
    }
    let whole = dot.acos();
    let sine = whole.sin();
    let from = ((R::ONE - t) * whole).sin() / sine;
    let to = (t * whole).sin() / sine;
    normalise(vector::add(vector::scale(a, from), vector::scale(b, to)))
}

/// The rotation by the length of `vector`, in radians, around its direction. Zero is none.
pub fn from_vector<R: Real>(vector: [R; 3]) -> [R; 4] {
    let square = vector::dot(vector, vector) * R::from_f64(0.25);
    if square < R::from_f64(SMALL) {
        let [x, y, z] = vector::scale(vector, series(square, &SINE) * R::from_f64(0.5));
        return [x, y, z, series(square, &COSINE)];
    }
    let angle = vector::length(vector);
    let half = angle * R::from_f64(0.5);
    let [x, y, z] = vector::scale(vector, half.sin() / angle);
    [x, y, z, half.cos()]
}

/// The inverse of [`from_vector`] for angles up to half a turn: the axis of the shorter arc times its angle, in radians.
pub fn to_vector<R: Real>(q: [R; 4]) -> [R; 3] {
    let [x, y, z, w] = shortest(q);
    let square = vector::dot([x, y, z], [x, y, z]);
    if square < R::from_f64(SMALL) {
        let twice = series(square, &ARC_SINE);
        return vector::scale([x, y, z], twice + twice);
    }
    let sine = square.sqrt();
    let half = sine.atan2(w);
    vector::scale([x, y, z], (half + half) / sine)
}

/// Below this square of a half angle or of its sine (angles up to 16 degrees, as most are from one state to the next) the first terms
/// of a power series are exact to rounding, and take a tenth of the time.
const SMALL: f64 = 0.02;

/// Of `sin(a) / a` in powers of `-a * a`: each term divided by the one before it.
const SINE: [f64; 6] = [-1.0 / 6.0, -1.0 / 20.0, -1.0 / 42.0, -1.0 / 72.0, -1.0 / 110.0, -1.0 / 156.0];
/// Of `cos(a)`.
const COSINE: [f64; 7] = [-1.0 / 2.0, -1.0 / 12.0, -1.0 / 30.0, -1.0 / 56.0, -1.0 / 90.0, -1.0 / 132.0, -1.0 / 182.0];
/// Of `asin(s) / s` in powers of `s * s`.
const ARC_SINE: [f64; 9] = [
    1.0 / 6.0,
    9.0 / 20.0,
    25.0 / 42.0,
    49.0 / 72.0,
    81.0 / 110.0,
    121.0 / 156.0,
    169.0 / 210.0,
    225.0 / 272.0,
    289.0 / 342.0,
];

/// `1 + r0 x + r0 r1 x^2 + ...`, where each ratio is that of a term to the one before it.
fn series<R: Real>(x: R, ratios: &[f64]) -> R {
    ratios.iter().rev().fold(R::ONE, |rest, ratio| R::ONE + R::from_f64(*ratio) * x * rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same without a power series.
    fn from_vector_exactly(vector: [f64; 3]) -> [f64; 4] {
        let half = vector::length(vector) / 2.0;
        let [x, y, z] = vector::scale(vector, crate::math::f64::sin(half) / half / 2.0);
        [x, y, z, crate::math::f64::cos(half)]
    }

    #[test]
    fn small_turns_by_their_power_series_are_those_by_sine_and_arc_tangent_to_rounding() {
        for thousandths in 1..500 {
            let angle = f64::from(thousandths) / 1000.0;
            let turn = vector::scale([2.0, -3.0, 6.0], angle / 7.0);
            let (series, exact) = (from_vector(turn), from_vector_exactly(turn));
            let differ = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(differ(&series, &exact) < 3e-16, "{angle}: {series:?} {exact:?}");
            assert!(differ(&to_vector(exact), &turn) < 3e-16, "{angle}: {:?} {turn:?}", to_vector(exact));
        }
        assert_eq!((from_vector([0.0; 3]), to_vector(identity::<f64>())), (identity(), [0.0; 3]));
    }
}
