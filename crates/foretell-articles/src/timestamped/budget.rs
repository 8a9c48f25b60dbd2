//! How much of a player's own time the server simulates: no more than has passed on its own clock (D3, E4).
//!
//! Invariants: over a whole session `spent <= passed * (1 + drift) + ahead`, and the same since the last restart; at once,
//! however long nothing was spent, `spent <= saved + ahead`.

use core::time::Duration;
use foretell::time::Instant;

/// How far a client's time may be ahead of the server's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeBudget {
    /// Ahead of what has passed on the server's clock. Default 100 ms: datagrams that come sooner than the first one did.
    pub ahead: Duration,
    /// How much faster than the server's the client's clock may run, in millionths. Default 500: honest clocks are off by
    /// up to 100, and without any they run out of the budget after some minutes.
    pub drift_ppm: u32,
    /// How much time may be saved up by who is silent, to be spent at once. Default 1 s: three datagrams in a row lost at
    /// 5 Hz, eighteen at 20 Hz, or a second of delay. It has to be longer than the client's send interval.
    pub saved: Duration,
}

impl Default for TimeBudget {
    fn default() -> TimeBudget {
        TimeBudget { ahead: Duration::from_millis(100), drift_ppm: 500, saved: Duration::from_secs(1) }
    }
}

impl TimeBudget {
    fn earned(&self, passed: Duration) -> Duration {
        let drift = passed.as_nanos() * u128::from(self.drift_ppm) / 1_000_000;
        passed + Duration::from_nanos(u64::try_from(drift).unwrap_or(u64::MAX))
    }
}

/// What one player has spent. Lives as long as the player does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeSpent {
    budget: TimeBudget,
    /// How much was left at `at`.
    left: Duration,
    at: Instant,
    spent: Duration,
}

impl TimeSpent {
    /// Nothing yet, of a player who begins at `now`.
    pub fn new(now: Instant, budget: TimeBudget) -> TimeSpent {
        TimeSpent { budget, left: budget.ahead, at: now, spent: Duration::ZERO }
    }

    /// From `at` on time counts anew: what was left until then is not used up later. None is given either.
    pub fn restart(&mut self, at: Instant) {
        (self.left, self.at) = (self.left(at).min(self.budget.ahead), self.at.max(at));
    }

    /// How much may be spent at `now`.
    pub fn left(&self, now: Instant) -> Duration {
        let earned = self.left + self.budget.earned(now.since(self.at));
        earned.min(self.budget.saved + self.budget.ahead)
    }

    /// Spends so much at `now`, whether it was left or not.
    pub fn spend(&mut self, now: Instant, time: Duration) {
        (self.left, self.at) = (self.left(now).saturating_sub(time), self.at.max(now));
        self.spent = self.spent.saturating_add(time);
    }

    /// How much was spent altogether.
    pub fn spent(&self) -> Duration {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact() -> TimeBudget {
        TimeBudget { drift_ppm: 0, ..TimeBudget::default() }
    }

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    #[test]
    fn restarts_bring_no_time() {
        let mut spent = TimeSpent::new(Instant::ZERO, exact());
        for ms in 1..=1000 {
            spent.restart(at(ms));
            spent.spend(at(ms), spent.left(at(ms)));
        }
        // All that has passed and what may be ahead, but for the millisecond that was left at the first.
        assert_eq!(spent.spent(), Duration::from_millis(1099));
    }

    #[test]
    fn what_was_not_spent_before_a_restart_is_gone() {
        let mut spent = TimeSpent::new(Instant::ZERO, exact());
        assert_eq!(spent.left(at(800)), Duration::from_millis(900));
        spent.restart(at(800));
        assert_eq!(spent.left(at(800)), Duration::from_millis(100));
    }

    #[test]
    fn however_long_nothing_was_spent_a_second_is_saved_and_no_more_comes_after_it() {
        let mut spent = TimeSpent::new(Instant::ZERO, exact());
        assert_eq!(spent.left(at(60_000)), Duration::from_millis(1100));
        spent.spend(at(60_000), Duration::from_millis(1100));
        assert_eq!(spent.left(at(60_000)), Duration::ZERO);
        assert_eq!(spent.left(at(60_050)), Duration::from_millis(50));
    }

    #[test]
    fn a_clock_that_is_a_little_fast_never_runs_out() {
        let mut spent = TimeSpent::new(Instant::ZERO, TimeBudget::default());
        for second in 1..=86_400_u64 {
            spent.spend(at(second * 1000), Duration::from_micros(1_000_100));
            assert!(spent.left(at(second * 1000)) > Duration::ZERO);
        }
    }
}
