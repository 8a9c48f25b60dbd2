//! Requests per second.

use alloc::vec::Vec;
use core::time::Duration;
use foretell::time::Instant;

/// Answers at most so many requests in any second.
#[derive(Clone, Debug)]
pub struct RateLimit {
    /// When the last ones were answered; the oldest at `next`.
    answered: Vec<Option<Instant>>,
    next: usize,
}

impl RateLimit {
    /// A limit of `per_second` requests.
    pub fn new(per_second: usize) -> RateLimit {
        RateLimit { answered: vec![None; per_second], next: 0 }
    }

    /// Whether a request that comes at `now` is to be answered; then it counts.
    pub fn allows(&mut self, now: Instant) -> bool {
        let Some(oldest) = self.answered.get_mut(self.next) else { return false };
        if oldest.is_some_and(|oldest| now.since(oldest) < Duration::from_secs(1)) {
            return false;
        }
        *oldest = Some(now);
        self.next = (self.next + 1) % self.answered.len();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_so_many_are_answered_in_any_second() {
        let mut limit = RateLimit::new(4);
        let answered: Vec<u64> =
            (0..4000).step_by(50).filter(|ms| limit.allows(Instant::from_micros(ms * 1000))).collect();
        assert_eq!(answered.len(), 16);
        assert!(answered.windows(5).all(|five| five[4] - five[0] >= 1000));
        assert!(!RateLimit::new(0).allows(Instant::ZERO));
    }
}
