//! Beyond the last sample: dead reckoning (P5), and for how long it goes on (P4, P6, D18, D29).

use super::super::Real;
use super::super::vector::{add, scale, sub};
use crate::math;

/// Where something is that was at `position` a time of `lag` seconds ago and has kept its velocity (P5).
pub fn dead_reckon<R: Real, const N: usize>(position: [R; N], velocity: [R; N], lag: R) -> [R; N] {
    add(position, scale(velocity, lag))
}

/// The velocity that an owner tells of itself who only knows where it was a frame ago (P5). Zero where no time has passed
/// (D20): a paused game divides by it (E23).
pub fn owner_velocity<R: Real, const N: usize>(previous: [R; N], current: [R; N], dt: R) -> [R; N] {
    if dt == R::ZERO {
        return [R::ZERO; N];
    }
    sub(current, previous).map(|way| way / dt)
}

/// How far beyond the last sample something goes on: at full speed for a while, and then to a stop.
///
/// How much of it is good depends on the game: much with inertia, little with abrupt turns (P6). With `s` the seconds
/// beyond the sample, [`way`](Extrapolation::way)`(s)` is how many seconds' worth of way is made in them and
/// [`speed`](Extrapolation::speed)`(s)` its derivative, from 1 down to 0 without a jump.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Extrapolation {
    /// At full speed for so long, in seconds, >= 0.
    pub full_s: f64,
    /// What then happens.
    pub stop: Stop,
}

/// How extrapolated motion ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stop {
    /// Not at all, as in the articles (P4): whoever has left the game leaves the room.
    Never,
    /// Evenly slower, and standing after so many seconds, > 0: half of them worth of way.
    Within(f64),
    /// Slower by a constant rate, 63 % of the speed in each so many seconds, > 0: never more than all of them worth of way.
    Fading(f64),
}

impl Default for Extrapolation {
    /// What a session shows: at full speed for 100 ms, and standing after 250 ms (D29). At 5 m/s that is 0.9 m beyond
    /// what is known.
    fn default() -> Extrapolation {
        Extrapolation { full_s: 0.1, stop: Stop::Within(0.15) }
    }
}

impl Extrapolation {
    /// For ever, as in the articles.
    pub const UNBOUNDED: Extrapolation = Extrapolation { full_s: 0.0, stop: Stop::Never };

    /// At full speed for 250 ms, and then fading out by 100 ms (D18): for rare updates of motion with inertia.
    pub const FAR: Extrapolation = Extrapolation { full_s: 0.25, stop: Stop::Fading(0.1) };

    /// How many seconds' worth of way is made in so many seconds; none in less than none.
    pub fn way(&self, seconds: f64) -> f64 {
        let seconds = seconds.max(0.0);
        let beyond = (seconds - self.full_s).max(0.0);
        let full = seconds.min(self.full_s);
        match self.stop {
            Stop::Never => seconds,
            Stop::Within(stop_s) => {
                let slowing = beyond.min(stop_s);
                full + slowing - slowing * slowing / (2.0 * stop_s)
            }
            Stop::Fading(by_s) => full + by_s * (1.0 - math::f64::exp(-beyond / by_s)),
        }
    }

    /// The share of the speed that is left after so many seconds, from 1 to 0.
    pub fn speed(&self, seconds: f64) -> f64 {
        let beyond = (seconds - self.full_s).max(0.0);
        match self.stop {
            Stop::Never => 1.0,
            Stop::Within(stop_s) => 1.0 - (beyond / stop_s).min(1.0),
            Stop::Fading(by_s) => math::f64::exp(-beyond / by_s),
        }
    }
}
