//! Our own rate limit: the congestion window is fixed, and this is what limits it.
//!
//! With nothing acknowledged for a second nothing is sent but the keep-alives of the protocol below, and by a client four
//! datagrams a second that ask whether it is heard; while more than a fifth of all packets is lost the rate halves each
//! second, and grows again by an eighth of the full one when it is not.

use crate::transport::PathFacts;
use foretell::Instant;
use foretell::session::DATAGRAM_MAX;
use std::time::Duration;

/// With nothing acknowledged for so long, what is sent is thrown after a path that is gone.
const SILENCE: Duration = Duration::from_secs(1);
/// A client that is silent asks so often whether it is heard.
const ASKING: Duration = Duration::from_millis(250);
/// How often the losses are looked at.
const WINDOW: Duration = Duration::from_secs(1);
/// Fewer packets say nothing of the path.
const PACKETS_MIN: u64 = 20;

/// What may be sent to one other end. Time is an argument.
#[derive(Clone, Debug)]
pub struct RateLimit {
    /// Bytes per second when nothing is wrong.
    full: u64,
    /// Bytes per second now: `full / 64 <= rate <= full`.
    rate: u64,
    /// What may be sent at once, in millionths of a byte: `budget <= burst`.
    budget: u64,
    filled: Instant,
    /// How many acknowledgements have come.
    acks: u64,
    /// When something was first sent since the last of them.
    waiting_since: Option<Instant>,
    /// When a client has last asked in silence whether it is heard.
    asked: Option<Instant>,
    /// When the losses were last looked at, and how many were sent and lost by then.
    looked: (Instant, u64, u64),
}

impl RateLimit {
    /// One that lets `bytes_per_second` pass at most, and eight datagrams of the largest size at once.
    pub fn new(bytes_per_second: u64, now: Instant) -> RateLimit {
        let full = bytes_per_second.max(1);
        let mut rate_limit = RateLimit {
            full,
            rate: full,
            budget: 0,
            filled: now,
            acks: 0,
            waiting_since: None,
            asked: None,
            looked: (now, 0, 0),
        };
        rate_limit.budget = rate_limit.burst();
        rate_limit
    }

    /// Takes in what is known of the path at `now`. Call it once per tick.
    pub fn note(&mut self, now: Instant, path: &PathFacts) {
        if path.acks > self.acks {
            (self.acks, self.waiting_since) = (path.acks, None);
        }
        let (looked, sent, lost) = self.looked;
        let (sent, lost) = (path.sent.saturating_sub(sent), path.lost.saturating_sub(lost));
        if now.since(looked) < WINDOW || sent < PACKETS_MIN {
            return;
        }
        self.looked = (now, path.sent, path.lost);
        self.rate = if lost * 5 > sent {
            (self.rate / 2).max(self.full / 64).max(1)
        } else {
            (self.rate + self.full / 8).min(self.full)
        };
    }

    /// Whether a datagram of `bytes` may be sent at `now`; if so it counts as sent.
    pub fn allows(&mut self, now: Instant, bytes: usize) -> bool {
        let passed = u64::try_from(now.since(self.filled).as_micros()).unwrap_or(u64::MAX);
        self.budget = self.budget.saturating_add(passed.saturating_mul(self.rate)).min(self.burst());
        self.filled = self.filled.max(now);
        let cost = bytes as u64 * 1_000_000;
        if self.is_silent(now) || cost > self.budget {
            return false;
        }
        self.budget -= cost;
        self.waiting_since.get_or_insert(now);
        true
    }

    /// Whether what was sent a second ago is not acknowledged, nor anything since.
    pub fn is_silent(&self, now: Instant) -> bool {
        self.waiting_since.is_some_and(|since| now.since(since) >= SILENCE)
    }

    /// The same of a client, which asks whether it is heard now and then while all is silent: where only datagrams that arrive
    /// acknowledge anything, one whose server does nothing but answer would be silent for ever.
    pub(crate) fn allows_client(&mut self, now: Instant, bytes: usize) -> bool {
        self.allows(now, bytes) || self.may_ask(now)
    }

    /// Whether a client may ask at `now`; if so it counts as asked.
    fn may_ask(&mut self, now: Instant) -> bool {
        let may = self.is_silent(now) && self.asked.is_none_or(|asked| now.since(asked) >= ASKING);
        if may {
            self.asked = Some(now);
        }
        may
    }

    /// Bytes per second that pass now.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Whatever the rate, one snapshot in its eight parts may leave at once.
    fn burst(&self) -> u64 {
        8 * DATAGRAM_MAX as u64 * 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: u64 = 800_000;

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1000)
    }

    /// Sends all that is allowed, every 10 ms over `seconds` from `from` on; the bytes that passed.
    fn pour(rate_limit: &mut RateLimit, from: u64, seconds: u64, path: &mut PathFacts, lost_per_hundred: u64) -> u64 {
        let mut passed = 0;
        for step in 0..seconds * 100 {
            let now = at(from + step * 10);
            path.acks += 1;
            path.sent += 1;
            path.lost += u64::from(step % 100 < lost_per_hundred);
            rate_limit.note(now, path);
            while rate_limit.allows(now, 1000) {
                passed += 1000;
            }
        }
        passed
    }

    #[test]
    fn over_ten_seconds_no_more_passes_than_the_rate_and_one_burst() {
        let mut rate_limit = RateLimit::new(FULL, at(0));
        let passed = pour(&mut rate_limit, 0, 10, &mut PathFacts::default(), 0);
        assert!((10 * FULL - 9200..=10 * FULL + 9200).contains(&passed), "{passed}");
    }

    #[test]
    fn while_a_quarter_is_lost_the_rate_halves_each_second_and_comes_back_after_it() {
        let (mut rate_limit, mut path) = (RateLimit::new(FULL, at(0)), PathFacts::default());
        pour(&mut rate_limit, 0, 5, &mut path, 25);
        assert_eq!(rate_limit.rate(), FULL / 16);
        pour(&mut rate_limit, 5_000, 20, &mut path, 25);
        assert_eq!(rate_limit.rate(), FULL / 64, "a floor, so that the end of the losses is seen");
        pour(&mut rate_limit, 25_000, 10, &mut path, 15);
        assert_eq!(rate_limit.rate(), FULL);
    }

    #[test]
    fn a_client_asks_four_times_a_second_whether_it_is_heard_while_nothing_else_passes() {
        let (mut rate_limit, mut path) = (RateLimit::new(FULL, at(0)), PathFacts::default());
        let sent = |rate_limit: &mut RateLimit, from: u64| {
            let moments = (from..from + 1000).step_by(10);
            moments.filter(|millis| rate_limit.allows_client(at(*millis), 100)).count()
        };
        assert_eq!(sent(&mut rate_limit, 0), 100);
        assert_eq!(sent(&mut rate_limit, 1000), 4);
        path.acks += 1;
        rate_limit.note(at(2000), &path);
        assert_eq!(sent(&mut rate_limit, 2000), 100);
    }

    #[test]
    fn with_nothing_acknowledged_for_a_second_nothing_passes_until_something_is() {
        let (mut rate_limit, mut path) = (RateLimit::new(FULL, at(0)), PathFacts::default());
        // An idle connection is not a silent one.
        assert!(!rate_limit.is_silent(at(60_000)) && rate_limit.allows(at(60_000), 100));
        assert!(rate_limit.allows(at(60_999), 100));
        assert!(!rate_limit.allows(at(61_000), 100));
        path.acks += 1;
        rate_limit.note(at(70_000), &path);
        assert!(rate_limit.allows(at(70_000), 100));
    }
}
