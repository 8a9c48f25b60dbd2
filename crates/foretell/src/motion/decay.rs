//! How fast a visual offset vanishes: the decay laws, solved exactly.
//!
//! A law is a differential equation `de/dt = -r(e) e` for the size `e` of an offset. It is solved in closed form and
//! never stepped, so that it knows no frame rate (E17): with `keep(e, t)` the fraction left after `t`,
//! `keep(e, a + b) = keep(e, a) * keep(e * keep(e, a), b)` and `0 <= keep <= 1`. Both hold to rounding (1e-12).

use core::time::Duration;

use crate::math;

/// How fast an offset decays. Rates are per second: an offset with the rate `r` is multiplied by `exp(-r)` in a second,
/// and halves in `0.693 / r` seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Decay {
    /// Slow while small, fast while large; the default.
    BySize(BySize),
    /// The same rate (per second, >= 0) at every size and in every direction: the article's law made independent of the
    /// frame rate (R24, E17). [`Decay::keep`] makes it from the article's own number.
    Constant(f64),
}

/// A decay whose rate grows with the size of the offset: `slow_per_s` up to `near_m`, `fast_per_s` from `far_m` on,
/// linear in between.
///
/// A small offset is invisible and should vanish unnoticed; a large one is visible wherever it is, and should end soon.
/// Fiedler and Fusion arrived at nearly the same numbers independently (D15).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BySize {
    /// The rate at `near_m` and below, per second, >= 0. Default 3.3: 25 cm are below 1 cm after a second.
    pub slow_per_s: f64,
    /// The size up to which an offset is small, in metres, >= 0. Default 0.25.
    pub near_m: f64,
    /// The rate at `far_m` and above, per second, >= `slow_per_s`. Default 10: 2 m are down to 1 m after 70 ms.
    pub fast_per_s: f64,
    /// The size from which an offset is large, in metres, >= `near_m`; equal to it the rate is a step. Default 1.
    pub far_m: f64,
    /// How many times faster the part of the offset along the velocity decays while the body moves, >= 1; 1 is off.
    /// Default 1.25.
    ///
    /// That part only looks like a change of speed, which the eye forgives far sooner than a slide to the side: at 1.25,
    /// a body running at 5 m/s that is shown 25 cm off is at first a fifth faster or slower than it should be. More
    /// would show: at 2, an offset of 1 m is eaten by 28 cm in the first frame of 60 a second. (Unreal eats a fraction
    /// of the distance travelled along the motion.)
    pub along_motion: f64,
    /// The speed from which `along_motion` holds in full, in m/s, >= 0. Default 1. Below, it fades to 1 in proportion
    /// to the speed: nothing hides the correction of a body at rest, and the direction of a slow one is noise.
    pub moving_mps: f64,
}

impl Default for BySize {
    fn default() -> BySize {
        BySize { slow_per_s: 3.3, near_m: 0.25, fast_per_s: 10.0, far_m: 1.0, along_motion: 1.25, moving_mps: 1.0 }
    }
}

impl Default for Decay {
    fn default() -> Decay {
        Decay::BySize(BySize::default())
    }
}

impl Decay {
    /// The constant rate that keeps the fraction `keep` over each of `per_second` frames: `-ln(keep) * per_second`.
    /// The article's 0.9 per frame (R24) is 6.3216/s at 60 frames and 6.7431/s at 64 ticks per second (D15).
    ///
    /// # Panics
    /// When `keep` is not in `(0, 1]` or `per_second` is negative or not finite.
    pub fn keep(keep: f64, per_second: f64) -> Decay {
        assert!(keep > 0.0 && keep <= 1.0, "the fraction kept per frame must be in (0, 1], is {keep}");
        assert!(
            per_second >= 0.0 && per_second.is_finite(),
            "the frames per second must be finite and not negative, are {per_second}"
        );
        Decay::Constant(-math::f64::ln(keep) * per_second)
    }

    /// The fraction, in `[0, 1]`, that is left after `time` of an offset of the size `size_m` (metres, >= 0). It
    /// splits at every instant: what is left after `a + b` is what is left after `b` of what was left after `a` (E17).
    pub fn fraction_left(&self, size_m: f64, time: Duration) -> f64 {
        let seconds = time.as_secs_f64();
        match self {
            Decay::BySize(law) => law.fraction_left(size_m, seconds),
            Decay::Constant(rate) => math::f64::exp(-rate * seconds),
        }
    }

    /// How many times faster the part along the motion decays at this speed (m/s); 1 for a constant rate.
    pub(super) fn along_motion(&self, speed: f64) -> f64 {
        match self {
            Decay::BySize(law) => 1.0 + (law.along_motion - 1.0) * (speed / law.moving_mps).min(1.0),
            Decay::Constant(_) => 1.0,
        }
    }
}

impl BySize {
    /// The phases follow each other as the offset shrinks: large, between, small. Each ends where the size meets its
    /// lower bound; the fraction that it leaves is then known without rounding in time.
    fn fraction_left(&self, size: f64, seconds: f64) -> f64 {
        let (mut left, mut size, mut seconds) = (1.0, size, seconds);
        if size > self.far_m {
            let crossing = math::f64::ln(size / self.far_m) / self.fast_per_s;
            if seconds < crossing {
                return math::f64::exp(-self.fast_per_s * seconds);
            }
            (left, size, seconds) = (self.far_m / size, self.far_m, seconds - crossing);
        }
        if size > self.near_m {
            let between = Between::new(self);
            let crossing = between.time_to_near(size);
            if seconds < crossing {
                return left * between.fraction_left(size, seconds);
            }
            (left, seconds) = (left * (self.near_m / size), seconds - crossing);
        }
        left * math::f64::exp(-self.slow_per_s * seconds)
    }
}

/// The phase between near and far, where the rate is `r(e) = c + k e` and `de/dt = -(c + k e) e` is a logistic
/// equation. The reciprocal `u = 1 / e` makes it linear, `du/dt = c u + k`, with the solution
/// `u(t) = u exp(c t) + k (exp(c t) - 1) / c`.
struct Between {
    near: f64,
    /// The rate at the size 0 if the line went on to it, per second; negative when the line is steep.
    c: f64,
    /// The slope of the rate, per second and metre.
    k: f64,
}

impl Between {
    /// Asked for only where `near < far`.
    fn new(law: &BySize) -> Between {
        let k = (law.fast_per_s - law.slow_per_s) / (law.far_m - law.near_m);
        Between { near: law.near_m, c: law.slow_per_s - k * law.near_m, k }
    }

    /// `e(t) / e(0) = u(0) / u(t)`.
    fn fraction_left(&self, size: f64, seconds: f64) -> f64 {
        let growth = math::f64::exp(self.c * seconds);
        let integral = if self.c == 0.0 { seconds } else { libm::expm1(self.c * seconds) / self.c };
        1.0 / (growth + self.k * size * integral)
    }

    /// The time from `size` down to near: the `t` with `u(t) = 1 / near`. Infinite when near is 0.
    fn time_to_near(&self, size: f64) -> f64 {
        let u = 1.0 / size;
        let climb = 1.0 / self.near - u;
        let speed = self.c * u + self.k;
        if self.c == 0.0 {
            return climb / speed;
        }
        // Not below -1 but by rounding, where the slow rate is 0 and near is never met.
        libm::log1p((climb * self.c / speed).max(-1.0)) / self.c
    }
}
