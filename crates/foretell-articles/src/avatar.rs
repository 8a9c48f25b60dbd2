//! The article's remote avatar as it is (P1 to P5, P10): for the lab, to be looked at beside what does better.
//!
//! Reproduced in every bit, with what is wrong in it (E22, E24): the period is fixed whatever the distance of the updates,
//! nothing looks whether an update is older than the last, extrapolation never ends, and the velocity jumps at the end of
//! the combined curve and when an update comes in mid-curve. [`Follower`](foretell::motion::trajectory::Follower) is the corrected form.

use foretell::motion::Real;
use foretell::motion::trajectory::{Thresholds, dead_reckon, hermite};
use foretell::motion::vector::{lerp, lerp_unclamped, move_towards, scale, squared_distance};

/// Which of the article's scripts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Style {
    /// The received position, at once (P1).
    Minimal,
    /// On a straight line from where it is shown to what was received, within a period (P2).
    Lerp,
    /// The same line, and beyond its end (P4).
    Extrapolate,
    /// The same line to where it is by now, by its velocity and the age of the update (P5).
    DeadReckoning,
    /// A cubic to there that ends with the told velocity, and then a straight line on (P10).
    Combined,
    /// Steps towards where it is by now, by the distance at arrival per period: the other way that the article names (P2),
    /// and the one of Photon's transform view.
    MoveTowards,
}

/// The article's remote avatar. Call [`receive`](Avatar::receive) for each update that comes and
/// [`update`](Avatar::update) once in each frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Avatar<R, const N: usize> {
    style: Style,
    /// In how many seconds it comes to where an update says; > 0. The article's: 0.1.
    period: R,
    /// When not to interpolate; `None` as in the article's listings, which only speak of it.
    pub thresholds: Option<Thresholds<R>>,
    p1: [R; N],
    p2: [R; N],
    /// Per period.
    v1: [R; N],
    v2: [R; N],
    elapsed: R,
    /// Metres per period, for the steps.
    pace: R,
    position: [R; N],
}

impl<R: Real, const N: usize> Avatar<R, N> {
    /// One that stands at `start`, and needs `period` seconds to wherever an update says.
    pub fn new(style: Style, period: R, start: [R; N]) -> Avatar<R, N> {
        let zero = [R::ZERO; N];
        Avatar {
            style,
            period,
            thresholds: None,
            p1: start,
            p2: start,
            v1: zero,
            v2: zero,
            elapsed: R::ZERO,
            pace: R::ZERO,
            position: start,
        }
    }

    /// An update has come: where the owner was `lag` seconds ago, and its velocity per second. What a style does not use
    /// is ignored.
    pub fn receive(&mut self, position: [R; N], velocity: [R; N], lag: R) {
        self.p2 = match self.style {
            Style::Minimal | Style::Lerp | Style::Extrapolate => position,
            Style::DeadReckoning | Style::Combined | Style::MoveTowards => dead_reckon(position, velocity, lag),
        };
        let squared = squared_distance(self.position, self.p2);
        if self.thresholds.is_some_and(|at| squared < at.near_m * at.near_m || squared > at.far_m * at.far_m) {
            self.position = self.p2;
        }
        self.p1 = self.position;
        self.v1 = self.v2;
        self.v2 = scale(velocity, self.period);
        self.elapsed = R::ZERO;
        self.pace = squared_distance(self.p1, self.p2).sqrt();
    }

    /// A frame of `dt` seconds has passed. Returns where it is shown.
    pub fn update(&mut self, dt: R) -> [R; N] {
        self.elapsed = self.elapsed + dt;
        let t = self.elapsed / self.period;
        self.position = match self.style {
            Style::Minimal => self.p2,
            Style::Lerp => lerp(self.p1, self.p2, t),
            Style::Combined if self.elapsed < self.period => hermite(self.p1, self.p2, self.v1, self.v2, t),
            Style::Extrapolate | Style::DeadReckoning | Style::Combined => lerp_unclamped(self.p1, self.p2, t),
            Style::MoveTowards => move_towards(self.position, self.p2, self.pace * dt / self.period),
        };
        self.position
    }

    /// Where it is shown.
    pub fn position(&self) -> [R; N] {
        self.position
    }
}

/// The age of what was sent at `sent_ms` when it is `now_ms`, in seconds: clocks in milliseconds that wrap. Never
/// negative, and what is 2^31 ms or more ahead counts as not yet sent (P5, D20).
pub fn lag_seconds<R: Real>(now_ms: u32, sent_ms: u32) -> R {
    let lag_ms = now_ms.wrapping_sub(sent_ms).cast_signed().max(0);
    R::from_f64(f64::from(lag_ms)) / R::from_f64(1000.0)
}
