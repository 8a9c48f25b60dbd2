//! How much of a player's own time the server simulates: no more than has passed on its own clock (D3, E4).
//!
//! Invariant: over a whole session `spent <= passed * (1 + drift) + ahead`, and the same since the last restart.

use crate::time::Instant;
use core::time::Duration;

/// How far a client's time may be ahead of the server's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeBudget {
    /// Ahead of what has passed on the server's clock. Default 100 ms: datagrams that come sooner than the first one did.
    pub ahead: Duration,
    /// How much faster than the server's the client's clock may run, in millionths. Default 500: honest clocks are off by
    /// up to 100, and without any they run out of the budget after some minutes.
    pub drift_ppm: u32,
}

impl Default for TimeBudget {
    fn default() -> TimeBudget {
        TimeBudget { ahead: Duration::from_millis(100), drift_ppm: 500 }
    }
}

impl TimeBudget {
    fn earned(&self, passed: Duration) -> Duration {
        let drift = passed.as_nanos() * u128::from(self.drift_ppm) / 1_000_000;
        passed + self.ahead + Duration::from_nanos(u64::try_from(drift).unwrap_or(u64::MAX))
    }
}

/// What one player has spent. Lives as long as the player does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeSpent {
    since: Instant,
    spent: Duration,
    restarted: Instant,
    spent_since: Duration,
}

impl TimeSpent {
    /// Nothing yet, of a player who begins at `now`.
    pub fn new(now: Instant) -> TimeSpent {
        TimeSpent { since: now, spent: Duration::ZERO, restarted: now, spent_since: Duration::ZERO }
    }

    /// From `at` on time counts anew: what was left until then is not used up later. The whole session's budget stays.
    pub fn restart(&mut self, at: Instant) {
        (self.restarted, self.spent_since) = (at, Duration::ZERO);
    }

    /// How much may be spent at `now`.
    pub fn left(&self, now: Instant, budget: &TimeBudget) -> Duration {
        let whole = budget.earned(now.since(self.since)).saturating_sub(self.spent);
        whole.min(budget.earned(now.since(self.restarted)).saturating_sub(self.spent_since))
    }

    /// Spends so much, whether it was left or not.
    pub fn spend(&mut self, time: Duration) {
        self.spent = self.spent.saturating_add(time);
        self.spent_since = self.spent_since.saturating_add(time);
    }

    /// How much was spent altogether.
    pub fn spent(&self) -> Duration {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_bring_no_time() {
        let budget = TimeBudget { drift_ppm: 0, ..TimeBudget::default() };
        let mut spent = TimeSpent::new(Instant::ZERO);
        for nth in 1..=1000 {
            let now = Instant::from_micros(nth * 1000);
            spent.restart(now);
            spent.spend(spent.left(now, &budget));
        }
        assert_eq!(spent.spent(), Duration::from_millis(1100));
    }

    #[test]
    fn what_was_not_spent_before_a_restart_is_gone() {
        let budget = TimeBudget { drift_ppm: 0, ..TimeBudget::default() };
        let mut spent = TimeSpent::new(Instant::ZERO);
        let later = Instant::from_micros(10_000_000);
        assert_eq!(spent.left(later, &budget), Duration::from_millis(10_100));
        spent.restart(later);
        assert_eq!(spent.left(later, &budget), Duration::from_millis(100));
    }

    #[test]
    fn a_clock_that_is_a_little_fast_never_runs_out() {
        let mut spent = TimeSpent::new(Instant::ZERO);
        for second in 1..=86_400_u64 {
            spent.spend(Duration::from_micros(1_000_100));
            assert!(spent.left(Instant::from_micros(second * 1_000_000), &TimeBudget::default()) > Duration::ZERO);
        }
    }
}
