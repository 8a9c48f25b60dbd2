//! Beyond the last sample: dead reckoning (P5), and for how long it goes on (P4, P6, D18, D29).

use super::super::Real;
use super::super::vector::{add, scale, sub};
use crate::math;
use core::time::Duration;

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
    /// At full speed for so long.
    pub full: Duration,
    /// What then happens.
    pub stop: Stop,
}

/// How extrapolated motion ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stop {
    /// Evenly slower, and standing after this time: half of it worth of way. Zero is at once.
    Within(Duration),
    /// Slower by a constant rate, 63 % of the speed in each such time: never more than all of it worth of way. Zero is at
    /// once.
    Fading(Duration),
}

impl Default for Extrapolation {
    /// What a session shows: at full speed for 100 ms, and standing after 250 ms (D29). At 5 m/s that is 0.9 m beyond
    /// what is known.
    fn default() -> Extrapolation {
        Extrapolation { full: Duration::from_millis(100), stop: Stop::Within(Duration::from_millis(150)) }
    }
}

impl Extrapolation {
    /// At full speed for 250 ms, and then fading out by 100 ms (D18): for rare updates of motion with inertia.
    pub const FAR: Extrapolation =
        Extrapolation { full: Duration::from_millis(250), stop: Stop::Fading(Duration::from_millis(100)) };

    /// How many seconds' worth of way is made in this many seconds; none where they are negative.
    pub fn way(&self, seconds: f64) -> f64 {
        let (seconds, full) = (seconds.max(0.0), self.full.as_secs_f64());
        let beyond = seconds - full;
        if beyond <= 0.0 {
            return seconds;
        }
        match self.stop {
            Stop::Within(Duration::ZERO) | Stop::Fading(Duration::ZERO) => full,
            Stop::Within(time) => {
                let time = time.as_secs_f64();
                let slowing = beyond.min(time);
                full + slowing - slowing * slowing / (2.0 * time)
            }
            Stop::Fading(time) => {
                let time = time.as_secs_f64();
                full + time * (1.0 - math::f64::exp(-beyond / time))
            }
        }
    }

    /// The share of the speed that is left after this many seconds, from 1 to 0.
    pub fn speed(&self, seconds: f64) -> f64 {
        let beyond = (seconds - self.full.as_secs_f64()).max(0.0);
        match self.stop {
            // At its end it still has all of it.
            _ if beyond == 0.0 => 1.0,
            Stop::Within(time) => 1.0 - (beyond / time.as_secs_f64()).min(1.0),
            Stop::Fading(time) => math::f64::exp(-beyond / time.as_secs_f64()),
        }
    }
}
