//! The client's clock: leads the server's so that inputs arrive just in time (DESIGN: the clock).
//!
//! The server reports how long before its deadline each datagram of inputs came. The client remembers when it ran each
//! tick on an axis that is never steered and keeps to the speed of the server's clock ([`ClockDrift`]), and so knows how far the
//! steered one has to be shifted for an input to come just in time, whatever it has done since: no error is corrected twice. What the latenesses ask for sets how far the clock is
//! to be shifted, not for how long, so that rare reports don't make it overshoot.

use super::clock_drift::ClockDrift;
use crate::math::f64::ceil;
use crate::session::client::config::Limits;
use crate::session::jitter_estimator::JitterEstimator;
use crate::time::TickRing;
use crate::time::{Instant, Tick, TickClock, TickRate, TickTime};

/// Beyond what the latenesses ask for, in ticks: as much as the dead zone leaves.
const SPARE_TICKS: f64 = 0.25;
/// Errors below this are left alone, in ticks.
const DEAD_ZONE_TICKS: f64 = 0.25;
/// Beyond this the clock jumps forward, or waits, in ticks.
const JUMP_TICKS: f64 = 10.0;
/// On a new route every input is late until the clock is ahead again: it jumps forward by more than this, in ticks.
const NEW_ROUTE_JUMP_TICKS: f64 = 2.0;
/// Speed per tick of error.
const GAIN: f64 = 0.1;
const TICKS_KEPT: usize = 1024;

/// A datagram of inputs that the server has told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// The tick of its newest input.
    pub newest: Tick,
    /// How many ticks that had not come before.
    pub count: u32,
    /// How long before its deadline it came.
    pub margin: TickTime,
}

#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    clock: TickClock,
    /// Where the axis of the server's rate stood at the last update: it is never steered.
    unsteered: TickTime,
    /// Where it stood at the update before.
    before: TickTime,
    /// By tick: where it stood when the tick might have begun, had the clock been shifted otherwise: at a point
    /// between two updates, spread evenly from tick to tick. It then waits for the second.
    began: TickRing<TickTime>,
    /// How far it is to be shifted.
    goal: TickTime,
    /// So much before its tick begins an input is asked for.
    asked_before: TickTime,
    /// Of inputs, by the shift at which they would have come just in time.
    jitter: JitterEstimator,
    /// Whether it has jumped forward since that was last asked.
    leapt: bool,
    /// How far beyond the fastest way the latenesses ask the clock to be, in ticks, and whether that is allowed.
    asked: (f64, bool),
}

impl Pacing {
    pub(crate) fn new(rate: TickRate, at: TickTime, now: Instant) -> Pacing {
        Pacing {
            clock: TickClock::new(rate, at, now),
            unsteered: at,
            before: at,
            began: TickRing::new(TICKS_KEPT),
            goal: TickTime::default(),
            asked_before: TickTime::default(),
            jitter: JitterEstimator::new(),
            leapt: false,
            asked: (0.0, true),
        }
    }

    /// Follows the caller's clock to `now`, at the speed of the server's and as much faster or slower as it is to be shifted.
    pub(crate) fn advance(&mut self, now: Instant, server: &ClockDrift) {
        self.before = core::mem::replace(&mut self.unsteered, server.at(now));
        self.clock.advance(now);
        let ahead_by = (self.goal - self.shift()).as_ticks();
        self.clock.set_speed(if ahead_by < -JUMP_TICKS {
            // Too far ahead. Its ticks never run backwards: it waits.
            0.0
        } else {
            server.speed() * (1.0 + GAIN * ahead_by).clamp(0.9, 1.1)
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

    /// Remembers that `tick` runs in this update.
    pub(crate) fn note_tick(&mut self, tick: Tick) {
        // The golden ratio's multiples fill an interval evenly.
        let part = i64::from(tick.get().wrapping_mul(0x9e37_79b1) >> 16);
        let waited = (self.unsteered - self.before).millionths();
        let began = self.before + TickTime::from_millionths(waited / 65_536 * part);
        self.began.set(tick, began);
    }

    /// The clock is to stand at `at` from now on. The ticks up to there are due at once: the next update runs them, or
    /// resyncs when they are too many.
    pub(crate) fn jump(&mut self, at: TickTime) {
        self.clock.jump(at);
        self.goal = self.shift();
    }

    /// The same where the two clocks have not gone on alike: what is known of ticks and latenesses is forgotten.
    pub(crate) fn restart(&mut self, at: TickTime) {
        self.jump(at);
        self.jitter.clear();
        self.began.clear();
    }

    /// Whether it has jumped forward since the last call, so that many ticks are due at once.
    pub(crate) fn take_leap(&mut self) -> bool {
        core::mem::take(&mut self.leapt)
    }

    /// Takes in that a datagram of inputs has come. Returns whether it tells of a new route.
    pub(crate) fn note(&mut self, now: Instant, arrived: Arrived, limits: Limits) -> bool {
        let is_new_route = self.note_arrival_time(now, arrived, limits.most);
        if let (Some(wanted), Some(fastest)) = (self.jitter.wanted(limits.late), self.jitter.fastest()) {
            self.asked = (self.ticks(wanted - fastest).as_ticks() + SPARE_TICKS, wanted - fastest <= limits.most);
        }
        is_new_route
    }

    /// Steers by what has come recently. Since that was sent the two clocks may have gone apart by `unknown` microseconds beyond the
    /// drift that is known: the clock leads by these too.
    pub(crate) fn steer(&mut self, limits: Limits, is_new_route: bool, unknown: i64) {
        let (Some(wanted), Some(fastest)) = (self.jitter.wanted(limits.late), self.jitter.fastest()) else {
            return;
        };
        let ahead = self.ticks(wanted.min(fastest + limits.most) + unknown) + TickTime::ticks(SPARE_TICKS);
        let goal = ahead - self.asked_before;
        let error = (goal - self.shift()).as_ticks();
        if error > JUMP_TICKS || is_new_route && error > NEW_ROUTE_JUMP_TICKS {
            self.jump(self.clock.at() + TickTime::ticks(error));
            self.leapt = true;
        } else if error.abs() < DEAD_ZONE_TICKS {
            self.goal = self.shift();
        } else if error > 0.0 || self.jitter.is_trusted() || error < -JUMP_TICKS {
            self.goal = goal;
        }
    }

    /// Remembers how late the inputs of a datagram were. Whether the route has changed.
    fn note_arrival_time(&mut self, now: Instant, arrived: Arrived, most: i64) -> bool {
        let rate = i64::from(self.rate().get());
        let Arrived { newest, count, margin } = arrived;
        let came = TickTime::start_of(newest) - margin;
        let Pacing { began, jitter, .. } = self;
        let value = |back: u32| Some((came - *began.get(newest.back(back)?)?).millionths() / rate);
        let known = (0..count).take_while(|back| value(*back).is_some()).count();
        match u32::try_from(known) {
            Ok(0) | Err(_) => false,
            Ok(known) => jitter.note(now, known, |back| value(back).unwrap_or(0), most),
        }
    }

    fn ticks(&self, micros: i64) -> TickTime {
        TickTime::from_millionths(micros.saturating_mul(i64::from(self.rate().get())))
    }

    /// How far the clock is beyond the shift at which the fastest input would come just in time, in ticks. Not by the newest
    /// snapshot and half a round trip: a queue on the way down would look like a lead.
    pub(crate) fn slack_ticks(&self) -> Option<f64> {
        Some((self.shift() + self.asked_before - self.ticks(self.jitter.fastest()?)).as_ticks())
    }

    /// How much slack the latenesses ask for, in ticks, and whether that is within what is allowed.
    pub(crate) fn asked(&self) -> (f64, bool) {
        self.asked
    }

    /// Inputs are to be asked for this many ticks before their tick: the clock needs to lead by that much less. Returns how many
    /// ticks the clock has still to gain for that, rounded up.
    pub(crate) fn delay_inputs(&mut self, ticks: u32) -> u32 {
        let before = core::mem::replace(&mut self.asked_before, TickTime::start_of(Tick::new(ticks)));
        self.goal = self.goal + (before - self.asked_before);
        let missing = (self.goal - self.shift()).as_ticks() - DEAD_ZONE_TICKS;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
        let missing = ceil(missing).clamp(0.0, 1000.0) as u32;
        missing
    }

    /// Steers without reports of inputs: `ticks` is how far the clock has to be shifted.
    pub(crate) fn shift_by(&mut self, ticks: f64) {
        self.goal = self.shift() + TickTime::ticks(ticks);
    }

    /// Without reports there is nothing to steer by.
    pub(crate) fn coast(&mut self) {
        self.goal = self.shift();
    }

    fn shift(&self) -> TickTime {
        self.clock.at() - self.unsteered
    }
}
