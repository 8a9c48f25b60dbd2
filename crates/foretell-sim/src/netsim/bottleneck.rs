//! The bottleneck of a link: how long a datagram waits for its turn, and when it no longer fits.
//!
//! Invariant: `0 <= backlog <= queue_bytes` after every datagram that was admitted. The backlog is kept in bytes, not
//! as the time of the last departure, so that a link made faster is fast at once.

use core::time::Duration;

use super::RateLimit;
use foretell::time::Instant;

/// Millionths of a byte: what a rate of one byte per second moves in a microsecond, so that nothing is rounded.
const PER_BYTE: u64 = 1_000_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Bottleneck {
    /// What had not left at `at`, in millionths of a byte.
    backlog: u64,
    at: Instant,
}

impl Bottleneck {
    /// Takes a datagram of `bytes` in, and says how long from `now` until its last byte has left, rounded up to a
    /// microsecond; `None` if it does not fit and is dropped. Without a limit everything leaves at once.
    pub(super) fn admit(&mut self, now: Instant, bytes: usize, limit: Option<RateLimit>) -> Option<Duration> {
        let Some(limit) = limit else {
            self.backlog = 0;
            return Some(Duration::ZERO);
        };
        self.drain(now, limit);
        let backlog = u64::try_from(bytes).ok()?.checked_mul(PER_BYTE)?.checked_add(self.backlog)?;
        if backlog > u64::from(limit.queue_bytes) * PER_BYTE {
            return None;
        }
        self.backlog = backlog;
        Some(Duration::from_micros(backlog.div_ceil(u64::from(limit.bytes_per_s))))
    }

    fn drain(&mut self, now: Instant, limit: RateLimit) {
        let micros = now.micros().saturating_sub(self.at.micros());
        self.backlog = self.backlog.saturating_sub(micros.saturating_mul(u64::from(limit.bytes_per_s)));
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: RateLimit = RateLimit { bytes_per_s: 1_000_000, queue_bytes: 3_000 };

    #[test]
    fn an_empty_queue_costs_the_time_of_the_bytes_alone() {
        let wait = Bottleneck::default().admit(Instant::ZERO, 700, Some(LIMIT));
        assert_eq!(wait, Some(Duration::from_micros(700)));
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_takes_no_room() {
        let mut bottleneck = Bottleneck::default();
        assert!(bottleneck.admit(Instant::ZERO, 2_000, Some(LIMIT)).is_some());
        assert_eq!(bottleneck.admit(Instant::ZERO, 1_001, Some(LIMIT)), None);
        assert_eq!(bottleneck.admit(Instant::ZERO, 1_000, Some(LIMIT)), Some(Duration::from_micros(3_000)));
    }

    #[test]
    fn a_rate_that_divides_no_second_loses_nothing_to_rounding() {
        let limit = RateLimit { bytes_per_s: 7_777, queue_bytes: 3_000 };
        let mut bottleneck = Bottleneck::default();
        bottleneck.admit(Instant::ZERO, 3_000, Some(limit));
        for micros in 1..=100_000 {
            bottleneck.drain(Instant::from_micros(micros), limit);
        }
        assert_eq!(bottleneck.backlog, 3_000 * PER_BYTE - 777_700_000);
    }

    #[test]
    fn a_link_made_faster_is_fast_at_once() {
        let mut bottleneck = Bottleneck::default();
        bottleneck.admit(Instant::ZERO, 2_000, Some(RateLimit { bytes_per_s: 1_000, queue_bytes: 3_000 }));
        assert_eq!(bottleneck.admit(Instant::ZERO, 1_000, Some(LIMIT)), Some(Duration::from_micros(3_000)));
        assert_eq!(bottleneck.admit(Instant::ZERO, 9_000, None), Some(Duration::ZERO));
    }
}
