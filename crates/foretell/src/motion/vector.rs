//! Vectors as plain arrays `[R; N]`: arithmetic, straight lines, and steps towards a goal.
//!
//! Plain arrays, because the vector libraries' versions clash between the engines; every library converts to and
//! from them. All lengths are in the caller's unit (metres by convention).
//!
//! Invariants: sums run from the first component to the last, `(x*x + y*y) + z*z`, and no operation is fused, so that
//! the same inputs give the same bits everywhere; `lerp(a, b, 0) = a`; a step of [`move_towards`] never passes its
//! goal.

use core::array::from_fn;

use super::Real;

/// `a + b`, component by component.
pub fn add<R: Real, const N: usize>(a: [R; N], b: [R; N]) -> [R; N] {
    from_fn(|i| a[i] + b[i])
}

/// `a - b`, component by component.
pub fn sub<R: Real, const N: usize>(a: [R; N], b: [R; N]) -> [R; N] {
    from_fn(|i| a[i] - b[i])
}

/// `a * factor`, component by component. With the factor 0.9 it is the article's decay of a frame (R24); time-based is
/// [`VisualOffset::decayed`](super::VisualOffset::decayed).
pub fn scale<R: Real, const N: usize>(a: [R; N], factor: R) -> [R; N] {
    from_fn(|i| a[i] * factor)
}

/// The vector product: across both, as long as the area between them.
pub(crate) fn cross<R: Real>([ax, ay, az]: [R; 3], [bx, by, bz]: [R; 3]) -> [R; 3] {
    [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
}

/// The dot product, summed from the first component to the last; 0 for `N = 0`.
pub fn dot<R: Real, const N: usize>(a: [R; N], b: [R; N]) -> R {
    let products: [R; N] = from_fn(|i| a[i] * b[i]);
    products.into_iter().reduce(|sum, product| sum + product).unwrap_or(R::ZERO)
}

/// The Euclidean length: never negative, infinite when the squares overflow.
pub fn length<R: Real, const N: usize>(a: [R; N]) -> R {
    dot(a, a).sqrt()
}

/// The squared distance between `a` and `b`, for comparison with a squared limit without a root (R14, R23).
pub fn squared_distance<R: Real, const N: usize>(a: [R; N], b: [R; N]) -> R {
    let path = sub(b, a);
    dot(path, path)
}

/// The point at `t` on the straight line from `a` (0) to `b` (1), `t` clamped to `[0, 1]` (P2).
pub fn lerp<R: Real, const N: usize>(a: [R; N], b: [R; N], t: R) -> [R; N] {
    lerp_unclamped(a, b, clamp01(t))
}

/// `a + (b - a) * t` for every `t`: before `a` below 0, beyond `b` above 1 (P2).
///
/// At `t = 1` it meets `b` to rounding, not always in the last bit.
pub fn lerp_unclamped<R: Real, const N: usize>(a: [R; N], b: [R; N], t: R) -> [R; N] {
    from_fn(|i| a[i] + (b[i] - a[i]) * t)
}

/// A step from `a` towards `b` of at most `max_delta`: exactly `b` when it is within reach (P2). A negative
/// `max_delta` pushes away from `b`, and does nothing where `a` is `b` because there is no direction.
pub fn move_towards<R: Real, const N: usize>(a: [R; N], b: [R; N], max_delta: R) -> [R; N] {
    let path = sub(b, a);
    let squared = dot(path, path);
    let in_reach = max_delta >= R::ZERO && squared <= max_delta * max_delta;
    if squared == R::ZERO || in_reach {
        return b;
    }
    add(a, scale(path, max_delta / squared.sqrt()))
}

/// `t` clamped to `[0, 1]`; NaN stays NaN.
pub(super) fn clamp01<R: Real>(t: R) -> R {
    if t < R::ZERO {
        R::ZERO
    } else if t > R::ONE {
        R::ONE
    } else {
        t
    }
}
