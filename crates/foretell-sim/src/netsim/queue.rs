//! The queue of a bottleneck: how long a datagram waits for its turn, and when it no longer fits.
//!
//! Invariants, after every datagram that was admitted: `backlog <= queue.bytes`, `waiting.len() <= queue.datagrams`, and
//! `backlog` is the sum of `waiting`. What waits is kept in bytes, not as the time of the last departure, so that a
//! link made faster is fast at once.

use alloc::collections::VecDeque;
use core::time::Duration;

use super::Bottleneck;
use super::bottleneck::PER_BYTE;
use foretell::time::Instant;

#[derive(Clone, Debug, Default)]
pub(super) struct DropTailQueue {
    /// What of each datagram had not left at `at`, in millionths of a byte; in the order of sending.
    waiting: VecDeque<u64>,
    /// All of it.
    backlog: u64,
    at: Instant,
}

impl DropTailQueue {
    /// Takes a datagram of `bytes` in, and says how long from `now` until its last byte has left, rounded up to a
    /// microsecond; `None` if it does not fit and is dropped. Without a bottleneck everything leaves at once.
    pub(super) fn admit(&mut self, now: Instant, bytes: usize, bottleneck: Option<&Bottleneck>) -> Option<Duration> {
        let Some(Bottleneck { capacity, queue }) = bottleneck else {
            self.waiting.clear();
            self.backlog = 0;
            return Some(Duration::ZERO);
        };
        self.leave(capacity.between(self.at, now));
        self.at = self.at.max(now);
        let own = u64::try_from(bytes).ok()?.checked_mul(PER_BYTE)?;
        let backlog = self.backlog.checked_add(own)?;
        if backlog > u64::from(queue.bytes) * PER_BYTE || self.waiting.len() >= queue.datagrams as usize {
            return None;
        }
        self.waiting.push_back(own);
        self.backlog = backlog;
        Some(capacity.time_for(backlog, now))
    }

    /// Lets so much leave, in millionths of a byte, or all that waits.
    fn leave(&mut self, capacity: u64) {
        let mut left = capacity.min(self.backlog);
        self.backlog -= left;
        while let Some(first) = self.waiting.front_mut() {
            if *first > left {
                *first -= left;
                return;
            }
            left -= *first;
            self.waiting.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netsim::{Capacity, QueueLimit, Trace};
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    fn rate(bytes_per_s: u32) -> Bottleneck {
        Bottleneck { capacity: Capacity::Rate { bytes_per_s }, queue: QueueLimit::of_bytes(3_000) }
    }

    fn trace(lines: &str, queue: QueueLimit) -> Bottleneck {
        let trace = Arc::new(Trace::parse(lines.as_bytes()).expect("well-formed"));
        Bottleneck { capacity: Capacity::Trace { trace, start: Duration::ZERO }, queue }
    }

    fn ms(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    /// When each of these datagrams, sent at this moment in ms and so long in bytes, has left, in ms.
    fn departures(bottleneck: &Bottleneck, sent: &[(u64, usize)]) -> Vec<Option<u64>> {
        let mut queue = DropTailQueue::default();
        let mut wait = |(at, bytes): &(u64, usize)| queue.admit(ms(*at), *bytes, Some(bottleneck));
        sent.iter().map(|one| wait(one).map(|wait| (ms(one.0) + wait).micros() / 1000)).collect()
    }

    #[test]
    fn an_empty_queue_costs_the_time_of_the_bytes_alone() {
        let wait = DropTailQueue::default().admit(Instant::ZERO, 700, Some(&rate(1_000_000)));
        assert_eq!(wait, Some(Duration::from_micros(700)));
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_takes_no_room() {
        let (limit, mut queue) = (rate(1_000_000), DropTailQueue::default());
        assert!(queue.admit(Instant::ZERO, 2_000, Some(&limit)).is_some());
        assert_eq!(queue.admit(Instant::ZERO, 1_001, Some(&limit)), None);
        assert_eq!(queue.admit(Instant::ZERO, 1_000, Some(&limit)), Some(Duration::from_micros(3_000)));
    }

    #[test]
    fn a_rate_that_divides_no_second_loses_nothing_to_rounding() {
        let limit = rate(7_777);
        let mut queue = DropTailQueue::default();
        queue.admit(Instant::ZERO, 2_000, Some(&limit));
        for micros in 1..=100_000 {
            queue.admit(Instant::from_micros(micros), 0, Some(&limit));
        }
        assert_eq!(queue.backlog, 2_000 * PER_BYTE - 777_700_000);
    }

    #[test]
    fn a_link_made_faster_is_fast_at_once() {
        let mut queue = DropTailQueue::default();
        queue.admit(Instant::ZERO, 2_000, Some(&rate(1_000)));
        assert_eq!(queue.admit(Instant::ZERO, 1_000, Some(&rate(1_000_000))), Some(Duration::from_micros(3_000)));
        let recorded = trace("7", QueueLimit::default());
        assert_eq!(queue.admit(Instant::ZERO, 1, Some(&recorded)), Some(Duration::from_millis(21)));
        assert_eq!(queue.admit(Instant::ZERO, 9_000, None), Some(Duration::ZERO));
    }

    #[test]
    fn a_queue_counts_datagrams_too_with_the_one_that_is_just_leaving() {
        let limit = trace("10", QueueLimit { datagrams: 2, ..QueueLimit::default() });
        let sent = [(0, 1_600), (0, 10), (0, 10), (10, 10), (20, 10)];
        // At 10 ms most of the first has left and it still counts; at 20 ms all three are gone.
        assert_eq!(departures(&limit, &sent), [Some(20), Some(20), None, None, Some(30)]);
    }

    #[test]
    fn datagrams_leave_when_the_trace_says_as_reckoned_by_hand() {
        // Opportunities at 2, 2, 5 and 9 ms, and again at 11, 11, 14 and 18, and so on.
        let limit = trace("2\n2\n5\n9\n", QueueLimit::of_bytes(6_000));
        let sent = [
            (0, 1_000),  // leaves at 2, with 500 bytes of the next one
            (0, 1_000),  // its other 500 bytes at 2 as well, by the second opportunity
            (1, 2_000),  // 1,000 bytes of it at 2, the rest at 5
            (2, 500),    // what is sent at 2 is too late for that moment; with the rest of the one before at 5
            (2, 1),      // the opportunity at 5 is full; 9
            (9, 1_500),  // at 9 everything else has left; 11
            (10, 1_500), // the second opportunity at 11
            (12, 6_000), // 14, 18, 20 and 20
            (12, 1),     // no room
        ];
        let left = [2, 2, 5, 5, 9, 11, 11, 20].map(Some);
        assert_eq!(departures(&limit, &sent), [&left[..], &[None]].concat());
    }

    #[test]
    fn a_trace_can_begin_at_any_of_its_moments() {
        let trace = Arc::new(Trace::parse(b"2\n5\n9").expect("well-formed"));
        for start_ms in 0..=9 {
            let start = Duration::from_millis(start_ms);
            let queue = QueueLimit::default();
            let later = Bottleneck { capacity: Capacity::Trace { trace: trace.clone(), start }, queue };
            let whole = Bottleneck { capacity: Capacity::Trace { trace: trace.clone(), start: Duration::ZERO }, queue };
            for at in 0..30 {
                let of_whole = departures(&whole, &[(at + start_ms, 1_501)])[0].map(|left| left - start_ms);
                assert_eq!(departures(&later, &[(at, 1_501)])[0], of_whole);
            }
        }
    }
}
