//! The client's clock: leads the server's so that inputs arrive just in time (DESIGN: clock and pacing).
//!
//! The server reports the smallest margin of the last inputs, with the tick of that input. The client remembers how far
//! its clock had been shifted when it sent that input, so that no correction is made twice.

use crate::time::{Instant, Tick, TickClock, TickRate, TickTime};

/// The margin that is aimed at, in ticks: the worst input of the last second is to come this early.
const TARGET_TICKS: f64 = 1.0;
/// Errors below this are left alone, in ticks.
const DEAD_ZONE_TICKS: f64 = 0.25;
/// Beyond this the clock jumps forward, or waits, in ticks.
const JUMP_TICKS: f64 = 10.0;
/// Speed per tick of error.
const GAIN: f64 = 0.1;
const SHIFTS_KEPT: usize = 1024;

#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    clock: TickClock,
    /// What the clock would show had it never been steered.
    unsteered: TickClock,
    /// By tick: how far the clock had been shifted when the tick ran.
    shifts: Vec<TickTime>,
}

impl Pacing {
    pub(crate) fn new(rate: TickRate, at: TickTime, now: Instant) -> Pacing {
        let clock = TickClock::new(rate, at, now);
        Pacing { unsteered: clock.clone(), clock, shifts: vec![TickTime::default(); SHIFTS_KEPT] }
    }

    pub(crate) fn advance(&mut self, now: Instant) {
        self.clock.advance(now);
        self.unsteered.advance(now);
    }

    pub(crate) fn at(&self) -> TickTime {
        self.clock.at()
    }

    pub(crate) fn at_instant(&self, now: Instant) -> TickTime {
        self.clock.at_instant(now)
    }

    pub(crate) fn speed(&self) -> f64 {
        self.clock.speed()
    }

    /// Remembers that `tick` ran with the clock as it stands.
    pub(crate) fn note_tick(&mut self, tick: Tick) {
        self.shifts[tick.get() as usize % SHIFTS_KEPT] = self.shift();
    }

    /// The clock is to stand at `at`, without its ticks in between being run.
    pub(crate) fn jump(&mut self, at: TickTime) {
        self.clock.jump(at);
    }

    /// Steers by a reported margin: `room_ticks` is how much further ahead the clock may be brought.
    pub(crate) fn steer(&mut self, margin: TickTime, of: Tick, room_ticks: f64) {
        let since = self.shift() - self.shifts[of.get() as usize % SHIFTS_KEPT];
        let error = (margin + since).as_ticks() - TARGET_TICKS;
        let error = error.max(-room_ticks.max(0.0));
        if error < -JUMP_TICKS {
            self.clock.jump(self.clock.at() + TickTime::ticks(-error));
            self.clock.set_speed(1.0);
        } else if error > JUMP_TICKS {
            // Its ticks never run backwards: it waits.
            self.clock.set_speed(0.0);
        } else if error.abs() < DEAD_ZONE_TICKS {
            self.clock.set_speed(1.0);
        } else {
            self.clock.set_speed((1.0 - GAIN * error).clamp(0.9, 1.1));
        }
    }

    pub(crate) fn rate(&self) -> TickRate {
        self.clock.rate()
    }

    /// Without a report there is nothing to steer by.
    pub(crate) fn coast(&mut self) {
        self.clock.set_speed(1.0);
    }

    fn shift(&self) -> TickTime {
        self.clock.at() - self.unsteered.at()
    }
}
