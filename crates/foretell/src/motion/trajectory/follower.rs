//! What follows an owner from update to update without a jump in position or velocity: the article's combined script
//! corrected (P10, E22, D18), and velocity blending.
//!
//! Invariants: position and velocity are continuous in time, whenever updates come, but where it warps; steady motion is
//! shown as it is; beyond the last update no more way is made than [`Extrapolation::way`] says; an update that is older
//! than the last changes nothing.

use super::super::Real;
use super::super::vector::{add, length, scale, sub};
use super::{Extrapolation, dead_reckon, hermite, hermite_derivative};

/// The period before two updates have come, in seconds: the article's.
const FIRST_PERIOD_S: f64 = 0.1;
/// The shortest and the longest period, in seconds: within a frame there is no way that looks like one, and after half a
/// second nobody remembers what was told.
const PERIODS_S: (f64, f64) = (0.05, 0.5);
/// By how much of the difference the mean distance of updates and its deviation follow a new one, as a round trip's do.
const GAINS: (f64, f64) = (0.125, 0.25);

/// How a follower gets from where it is to where the owner is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Following {
    /// On a cubic to where the owner was when the update came, within a period: the article's combined script (P10),
    /// which so is a period late. It starts with the velocity that is shown and ends with the one that was told, and goes
    /// on with it (D18).
    Combined,
    /// Between two straight paths: the one that it is on, whose velocity becomes the told one within a period, and the
    /// one that was told; the weight goes over smoothly. Not late at all, and a cubic's loops don't occur. (Murphy,
    /// "Believable dead reckoning for networked games", 2011, with a weight whose slope is zero at both ends: with his
    /// straight one the velocity jumps by the error per period.)
    VelocityBlending,
}

/// When an update is not interpolated to but shown at once (P3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Thresholds<R> {
    /// Nearer than this: nobody would see a line. In metres, >= 0.
    pub near_m: R,
    /// Farther than this: a slide over so much is a worse lie than a warp. In metres, >= 0.
    pub far_m: R,
}

impl<R: Real> Default for Thresholds<R> {
    /// 1 mm and 2 m (D21): the article says that there are two, and not which.
    fn default() -> Thresholds<R> {
        Thresholds { near_m: R::from_f64(0.001), far_m: R::from_f64(2.0) }
    }
}

/// Follows an owner. Call [`receive`](Follower::receive) for each update that comes and [`update`](Follower::update) once
/// in each frame; or ask with [`after`](Follower::after) for any instant after the last update.
///
/// Always in f64, as all that is shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Follower<const N: usize> {
    following: Following,
    /// How far it goes on when no update comes. Default [`Extrapolation::FAR`].
    pub extrapolation: Extrapolation,
    /// When it does not follow but is there at once: measured from where it would be if all had come as foreseen (P3).
    pub thresholds: Thresholds<f64>,
    /// What was shown when the last update came: position, and velocity per second.
    from: ([f64; N], [f64; N]),
    /// What it said.
    to: ([f64; N], [f64; N]),
    /// How old it was then, in seconds.
    lag_s: f64,
    /// How long ago it came, in seconds.
    elapsed_s: f64,
    /// In how many seconds it comes to what was told.
    period_s: f64,
    mean_s: f64,
    deviation_s: f64,
    /// The number of the last update.
    sent: Option<u32>,
}

impl<const N: usize> Follower<N> {
    /// One that stands at `start`. With its first update it is where that says.
    pub fn new(following: Following, start: [f64; N]) -> Follower<N> {
        let at_rest = (start, [0.0; N]);
        Follower {
            following,
            extrapolation: Extrapolation::FAR,
            thresholds: Thresholds::default(),
            from: at_rest,
            to: at_rest,
            lag_s: 0.0,
            elapsed_s: 0.0,
            period_s: FIRST_PERIOD_S,
            mean_s: FIRST_PERIOD_S,
            deviation_s: 0.0,
            sent: None,
        }
    }

    /// An update has come: where the owner was `lag_s` seconds ago, and its velocity per second. `sent` grows from each to
    /// the next and may wrap: a clock in milliseconds, a tick or a sequence number. Returns whether it was new; one that is
    /// older than the last, or as old, changes nothing (E22).
    pub fn receive(&mut self, sent: u32, position: [f64; N], velocity: [f64; N], lag_s: f64) -> bool {
        if self.sent.is_some_and(|last| sent.wrapping_sub(last).cast_signed() <= 0) {
            return false;
        }
        let shown = self.after(0.0);
        let is_first = self.sent.replace(sent).is_none();
        if !is_first {
            self.measure(self.elapsed_s);
        }
        (self.to, self.lag_s, self.elapsed_s) = ((position, velocity), lag_s.max(0.0), 0.0);
        let foreseen = self.foreseen();
        let off = length(sub(shown.0, foreseen.0));
        // Not a number is no way to slide along.
        let slides = off <= self.thresholds.far_m;
        self.from = if is_first || !slides {
            foreseen
        } else if off < self.thresholds.near_m {
            (foreseen.0, shown.1)
        } else {
            shown
        };
        true
    }

    /// Goes on by `dt_s` seconds. Returns where it is shown.
    pub fn update(&mut self, dt_s: f64) -> [f64; N] {
        self.elapsed_s += dt_s;
        self.after(0.0).0
    }

    /// Where it is shown in `dt_s` seconds, and how fast it moves, per second.
    pub fn after(&self, dt_s: f64) -> ([f64; N], [f64; N]) {
        let elapsed = self.elapsed_s + dt_s;
        match self.following {
            Following::Combined => self.combined(elapsed),
            Following::VelocityBlending => self.blended(elapsed),
        }
    }

    /// How it follows.
    pub fn following(&self) -> Following {
        self.following
    }

    /// In how many seconds it comes to what an update says: the mean distance of updates and their mean deviation (D17),
    /// from 50 to 500 ms.
    pub fn period_s(&self) -> f64 {
        self.period_s
    }

    fn measure(&mut self, distance_s: f64) {
        let off = distance_s - self.mean_s;
        self.mean_s += GAINS.0 * off;
        self.deviation_s += GAINS.1 * (off.abs() - self.deviation_s);
        self.period_s = (self.mean_s + self.deviation_s).clamp(PERIODS_S.0, PERIODS_S.1);
    }

    /// Where it would be now if everything before had been as the last update says.
    fn foreseen(&self) -> ([f64; N], [f64; N]) {
        let (position, velocity) = self.reckoned(0.0);
        match self.following {
            Following::Combined => (dead_reckon(position, velocity, -self.period_s), velocity),
            Following::VelocityBlending => (position, velocity),
        }
    }

    /// The owner, this many seconds after the last update came, as far as it is extrapolated.
    fn reckoned(&self, elapsed: f64) -> ([f64; N], [f64; N]) {
        let ((position, velocity), age) = (self.to, self.lag_s + elapsed);
        let speed = self.extrapolation.speed(age);
        (dead_reckon(position, velocity, self.extrapolation.way(age)), scale(velocity, speed))
    }

    fn combined(&self, elapsed: f64) -> ([f64; N], [f64; N]) {
        let period = self.period_s;
        if elapsed >= period {
            return self.reckoned(elapsed - period);
        }
        let ((p1, v1), (p2, v2)) = (self.from, self.reckoned(0.0));
        let (v1, v2, t) = (scale(v1, period), scale(v2, period), elapsed / period);
        (hermite(p1, p2, v1, v2, t), scale(hermite_derivative(p1, p2, v1, v2, t), 1.0 / period))
    }

    fn blended(&self, elapsed: f64) -> ([f64; N], [f64; N]) {
        let (to, period) = (self.reckoned(elapsed), self.period_s);
        if elapsed >= period {
            return to;
        }
        let t = elapsed / period;
        let turned = sub(self.reckoned(0.0).1, self.from.1);
        let own = (
            add(dead_reckon(self.from.0, self.from.1, elapsed), scale(turned, t * elapsed)),
            add(self.from.1, scale(turned, 2.0 * t)),
        );
        let (weight, slope) = (t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t) / period);
        let apart = sub(to.0, own.0);
        let velocity = add(own.1, add(scale(sub(to.1, own.1), weight), scale(apart, slope)));
        (add(own.0, scale(apart, weight)), velocity)
    }
}
