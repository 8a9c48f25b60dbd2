//! The client's clock: leads the server's so that inputs arrive just in time (DESIGN: clock and pacing).
//!
//! The server reports the smallest margin of the last inputs, with the tick of that input. The client remembers how far
//! its clock had been shifted when it sent that input, so that no correction is made twice; and a report sets how far
//! the clock is to be shifted, not for how long, so that rare reports don't make it overshoot.

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
    /// How far it is to be shifted.
    goal: TickTime,
}

impl Pacing {
    pub(crate) fn new(rate: TickRate, at: TickTime, now: Instant) -> Pacing {
        let clock = TickClock::new(rate, at, now);
        let (shifts, goal) = (vec![TickTime::default(); SHIFTS_KEPT], TickTime::default());
        Pacing { unsteered: clock.clone(), clock, shifts, goal }
    }

    pub(crate) fn advance(&mut self, now: Instant) {
        self.clock.advance(now);
        self.unsteered.advance(now);
        let ahead_by = (self.goal - self.shift()).as_ticks();
        self.clock.set_speed(if ahead_by < -JUMP_TICKS {
            // Too far ahead. Its ticks never run backwards: it waits.
            0.0
        } else {
            (1.0 + GAIN * ahead_by).clamp(0.9, 1.1)
        });
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

    /// Whether it is too far ahead and waits for the server.
    pub(crate) fn is_waiting(&self) -> bool {
        self.clock.speed() <= 0.0
    }

    pub(crate) fn rate(&self) -> TickRate {
        self.clock.rate()
    }

    /// Remembers that `tick` ran with the clock as it stands.
    pub(crate) fn note_tick(&mut self, tick: Tick) {
        self.shifts[tick.get() as usize % SHIFTS_KEPT] = self.shift();
    }

    /// The clock is to stand at `at` from now on. The ticks up to there are due at once: the next update runs them, or
    /// resyncs when they are too many.
    pub(crate) fn jump(&mut self, at: TickTime) {
        self.clock.jump(at);
        self.goal = self.shift();
    }

    /// Steers by the smallest margin of the last inputs, with the tick of that input, and the largest: no input is to
    /// come more than `most_ticks` early, and what would need more is left to the gap policy. Both are measured by the
    /// server, so that what is wrong with the way down has no part in it.
    pub(crate) fn steer(&mut self, (smallest, of): (TickTime, Tick), largest: TickTime, most_ticks: f64) {
        if self.clock.at().tick().since(of) as usize >= SHIFTS_KEPT {
            // Nothing is known of then.
            return;
        }
        let since = self.shift() - self.shifts[of.get() as usize % SHIFTS_KEPT];
        let error = (smallest + since).as_ticks() - TARGET_TICKS;
        let room = most_ticks - (largest + since.max(TickTime::default())).as_ticks();
        let error = error.max(-room.max(0.0));
        if error < -JUMP_TICKS {
            self.jump(self.clock.at() + TickTime::ticks(-error));
        } else if error.abs() >= DEAD_ZONE_TICKS {
            self.goal = self.shift() - TickTime::ticks(error);
        }
    }

    /// Without reports there is nothing to steer by.
    pub(crate) fn coast(&mut self) {
        self.goal = self.shift();
    }

    fn shift(&self) -> TickTime {
        self.clock.at() - self.unsteered.at()
    }
}
