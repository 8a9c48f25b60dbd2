//! Which ticks are due, by the caller's clock.

use crate::time::{Instant, MonotonicClock, Offset, Tick, TickClock, TickRate, TickTime};

/// A server that has fallen behind by more ticks than this in one update skips the oldest of them instead of catching up:
/// their numbers pass without a step.
pub const CATCH_UP_TICKS_MAX: u32 = 8;

/// The server's clock, and how far its steps have come by it. Tick 0 begins when it is made.
pub(super) struct TickSchedule {
    monotonic: MonotonicClock,
    clock: TickClock,
    next: Tick,
}

impl TickSchedule {
    pub fn new(rate: TickRate, now: Instant) -> TickSchedule {
        let clock = TickClock::new(rate, TickTime::default(), now);
        TickSchedule { monotonic: MonotonicClock::new(now), clock, next: Tick::ZERO }
    }

    /// The caller's clock without its steps back.
    pub fn note(&mut self, now: Instant) -> Instant {
        self.monotonic.note(now)
    }

    /// The same of an instant at which something has come.
    pub fn note_arrival(&mut self, now: Instant) -> Instant {
        self.monotonic.note_arrival(now)
    }

    /// Goes on to `now`.
    pub fn advance(&mut self, now: Instant) {
        self.clock.advance(now);
    }

    /// The next tick to step.
    pub fn next(&self) -> Tick {
        self.next
    }

    /// The next tick, if it has begun. The last one that has a number never is.
    pub fn due(&self) -> Option<Tick> {
        (self.next <= self.clock.at().tick() && self.next < self.next.next()).then_some(self.next)
    }

    /// The next tick was stepped.
    pub fn finish_tick(&mut self) {
        self.next = self.next.next();
    }

    /// Leaves out the ticks that it is too far behind to step. Returns how many.
    pub fn skip_behind(&mut self) -> u32 {
        let first = first_kept(self.clock.at());
        let skipped = first.since(self.next);
        self.next = self.next.max(first);
        skipped
    }

    /// The first tick that an update at `now` would step.
    pub fn first_kept(&self, now: Instant) -> Tick {
        first_kept(self.at(now)).max(self.next)
    }

    /// Where the clock stands at `now`.
    pub fn at(&self, now: Instant) -> TickTime {
        self.clock.at_instant(now)
    }

    /// The same of an instant on the caller's clock, which is only looked at.
    pub fn on_callers(&self, now: Instant) -> TickTime {
        self.at(self.monotonic.at(now))
    }

    /// How long after the start of `tick` something has come at `now`.
    pub fn lateness(&self, tick: Tick, now: Instant) -> Offset {
        let late = self.at(now) - TickTime::start_of(tick);
        Offset::from_micros(late.millionths() / i64::from(self.clock.rate().get()))
    }

    /// How much of the tick before the state `state` has passed by now, in 1/256 (saturating).
    pub fn fraction_since(&self, state: Tick) -> u8 {
        let began = TickTime::start_of(state.back(1).unwrap_or(Tick::ZERO));
        let passed = (self.clock.at() - began).millionths().max(0);
        u8::try_from(passed * 256 / 1_000_000).unwrap_or(u8::MAX)
    }

    /// When the next tick begins, on the caller's clock.
    pub fn next_update(&self) -> Instant {
        let next = self.clock.instant_of(TickTime::start_of(self.next));
        self.monotonic.on_callers(next.unwrap_or(self.clock.last()))
    }

    /// To when it has gone on.
    pub fn last(&self) -> Instant {
        self.clock.last()
    }
}

fn first_kept(at: TickTime) -> Tick {
    at.tick().next().back(CATCH_UP_TICKS_MAX).unwrap_or(Tick::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_that_have_begun_are_due_and_of_too_many_the_oldest_are_skipped() {
        let mut schedule = TickSchedule::new(TickRate::hz(100), Instant::ZERO);
        assert_eq!(schedule.due(), Some(Tick::ZERO), "tick 0 begins at once");
        schedule.finish_tick();
        assert_eq!(schedule.due(), None);
        schedule.advance(Instant::from_micros(25_000));
        assert_eq!((schedule.skip_behind(), schedule.due()), (0, Some(Tick::new(1))));
        let later = Instant::from_micros(200_000);
        assert_eq!(schedule.first_kept(later), Tick::new(13));
        schedule.advance(later);
        assert_eq!((schedule.skip_behind(), schedule.next()), (12, Tick::new(13)));
        assert_eq!(schedule.lateness(Tick::new(13), later), Offset::from_micros(70_000));
        assert_eq!(schedule.next_update(), later);
    }

    #[test]
    fn at_the_last_tick_that_has_a_number_nothing_is_due_any_more() {
        let last = Tick::new(u32::MAX);
        let clock = TickClock::new(TickRate::hz(100), TickTime::start_of(last), Instant::ZERO);
        let next = Tick::new(u32::MAX - 1);
        let mut schedule = TickSchedule { monotonic: MonotonicClock::new(Instant::ZERO), clock, next };
        assert_eq!(schedule.due(), Some(next));
        schedule.finish_tick();
        assert_eq!((schedule.next(), schedule.due()), (last, None));
    }
}
