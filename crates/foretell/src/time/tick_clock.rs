//! A clock that turns a caller's instants into a position on the tick axis, at an adjustable speed.

use super::{Instant, Tick, TickRate};
use core::ops::{Add, Sub};
use serde::{Deserialize, Serialize};

/// A point on the tick axis, in millionths of a tick: an integer, so that adding many small steps loses nothing (E3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct TickTime(i64);

const PER_TICK: i64 = 1_000_000;

impl TickTime {
    /// The instant at which `tick` begins.
    pub const fn start_of(tick: Tick) -> TickTime {
        TickTime(tick.get() as i64 * PER_TICK)
    }

    /// A point from millionths of a tick.
    pub const fn from_millionths(millionths: i64) -> TickTime {
        TickTime(millionths)
    }

    /// Millionths of a tick since tick 0.
    pub const fn millionths(self) -> i64 {
        self.0
    }

    /// A distance of `ticks` ticks; used with `+` and `-`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "distances in a session are far below 2^43 ticks; a million is exact"
    )]
    pub fn ticks(ticks: f64) -> TickTime {
        TickTime((ticks * PER_TICK as f64) as i64)
    }

    /// This point as a number of ticks.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 millionths: 4 years at 64 Hz")]
    pub fn as_ticks(self) -> f64 {
        self.0 as f64 / PER_TICK as f64
    }

    /// The tick that is running at this point; tick 0 before it.
    pub fn tick(self) -> Tick {
        Tick::new(u32::try_from(self.0.div_euclid(PER_TICK).max(0)).unwrap_or(u32::MAX))
    }

    /// How much of that tick has passed, in `[0, 1)`.
    #[expect(clippy::cast_precision_loss, reason = "the remainder is below one million")]
    pub fn fraction(self) -> f64 {
        self.0.rem_euclid(PER_TICK) as f64 / PER_TICK as f64
    }
}

impl Add for TickTime {
    type Output = TickTime;
    fn add(self, other: TickTime) -> TickTime {
        TickTime(self.0.saturating_add(other.0))
    }
}

impl Sub for TickTime {
    type Output = TickTime;
    fn sub(self, other: TickTime) -> TickTime {
        TickTime(self.0.saturating_sub(other.0))
    }
}

/// A fixed-step accumulator (R5): follows a caller's clock and says which tick is running.
///
/// Integer arithmetic throughout: at speed 1 it never drifts, whatever the frame rate.
#[derive(Clone, Debug)]
pub struct TickClock {
    rate: TickRate,
    at: TickTime,
    remainder: i64,
    last: Instant,
    speed_ppm: i64,
}

const NORMAL_SPEED_PPM: i64 = 1_000_000;
const LONGEST_STEP_MICROS: u64 = 3_600_000_000;

impl TickClock {
    /// A clock that stands at `at` when the caller's clock shows `now`.
    pub fn new(rate: TickRate, at: TickTime, now: Instant) -> TickClock {
        TickClock { rate, at, remainder: 0, last: now, speed_ppm: NORMAL_SPEED_PPM }
    }

    /// Follows the caller's clock to `now`; an earlier `now` changes nothing. One call covers at most an hour.
    pub fn advance(&mut self, now: Instant) {
        let micros = now.micros().saturating_sub(self.last.micros()).min(LONGEST_STEP_MICROS);
        self.last = self.last.max(now);
        let units = micros.cast_signed() * i64::from(self.rate.get()) * self.speed_ppm + self.remainder;
        self.at.0 += units / NORMAL_SPEED_PPM;
        self.remainder = units % NORMAL_SPEED_PPM;
    }

    /// Where it stands.
    pub fn at(&self) -> TickTime {
        self.at
    }

    /// What the caller's clock showed when it was last advanced.
    pub fn last(&self) -> Instant {
        self.last
    }

    /// Where it will stand at `now` if the speed stays as it is; reads only.
    pub fn at_instant(&self, now: Instant) -> TickTime {
        let mut ahead = self.clone();
        ahead.advance(now);
        ahead.at
    }

    /// When it will have come to `to` if the speed stays as it is: the first instant at which [`at_instant`](TickClock::at_instant)
    /// is not before it. `None` where it stands still, or where that is more than an hour away; now, where it is there already.
    pub fn instant_of(&self, to: TickTime) -> Option<Instant> {
        let units = (to.0 - self.at.0).saturating_mul(NORMAL_SPEED_PPM) - self.remainder;
        let per_micro = i64::from(self.rate.get()) * self.speed_ppm;
        if units <= 0 || per_micro == 0 {
            return (units <= 0).then_some(self.last);
        }
        let micros = units.unsigned_abs().div_ceil(per_micro.unsigned_abs());
        (micros <= LONGEST_STEP_MICROS).then(|| Instant::from_micros(self.last.micros().saturating_add(micros)))
    }

    /// Sets the speed, where 1 is the caller's own clock. Clamped to 0 to 2.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "clamped to at most two million")]
    pub fn set_speed(&mut self, speed: f64) {
        self.speed_ppm = (speed.clamp(0.0, 2.0) * NORMAL_SPEED_PPM as f64) as i64;
    }

    /// Its speed.
    #[expect(clippy::cast_precision_loss, reason = "below two million")]
    pub fn speed(&self) -> f64 {
        self.speed_ppm as f64 / NORMAL_SPEED_PPM as f64
    }

    /// Moves it to another point at once.
    pub fn jump(&mut self, to: TickTime) {
        self.at = to;
        self.remainder = 0;
    }

    /// The rate of its ticks.
    pub fn rate(&self) -> TickRate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn a_second_is_exactly_the_rate_whatever_the_frame_rate() {
        for hz in [1, 30, 60, 64, 128, 1000] {
            for frame_micros in [1, 4_166, 16_667, 33_333, 200_000, 1_000_000] {
                let mut clock = TickClock::new(TickRate::hz(hz), TickTime::default(), Instant::ZERO);
                let mut now = Instant::ZERO;
                while now < Instant::from_micros(3_000_000) {
                    now = (now + Duration::from_micros(frame_micros)).min(Instant::from_micros(3_000_000));
                    clock.advance(now);
                }
                assert_eq!(clock.at(), TickTime::start_of(Tick::new(3 * u32::from(hz))));
            }
        }
    }

    #[test]
    fn a_clock_at_a_tenth_more_gains_a_tenth() {
        let mut clock = TickClock::new(TickRate::hz(64), TickTime::default(), Instant::ZERO);
        clock.set_speed(1.1);
        for frame in 1..=640_u64 {
            clock.advance(Instant::from_micros(frame * 15_625));
        }
        assert_eq!(clock.at(), TickTime::start_of(Tick::new(704)));
    }

    #[test]
    fn an_earlier_instant_changes_nothing() {
        let mut clock = TickClock::new(TickRate::hz(64), TickTime::default(), Instant::from_micros(1_000_000));
        clock.advance(Instant::from_micros(2_000_000));
        let before = clock.at();
        clock.advance(Instant::from_micros(1_500_000));
        assert_eq!(clock.at(), before);
    }

    #[test]
    fn the_instant_of_a_point_is_the_first_at_which_the_clock_has_come_to_it() {
        for (hz, speed) in [(64, 1.0), (60, 1.0), (30, 0.9), (128, 1.1), (7, 1.0)] {
            let mut clock = TickClock::new(TickRate::hz(hz), TickTime::default(), Instant::from_micros(1_000));
            clock.set_speed(speed);
            clock.advance(Instant::from_micros(12_345));
            for tick in 1..200 {
                let point = TickTime::start_of(Tick::new(tick));
                let at = clock.instant_of(point).expect("within the hour");
                assert!(clock.at_instant(at) >= point, "{hz} Hz, tick {tick}");
                let before = Instant::from_micros(at.micros() - 1);
                assert!(at == clock.last() || clock.at_instant(before) < point, "{hz} Hz, tick {tick}");
            }
            clock.set_speed(0.0);
            assert_eq!(clock.instant_of(clock.at()), Some(clock.last()));
            assert_eq!(clock.instant_of(TickTime::start_of(Tick::new(300))), None);
        }
    }
}
