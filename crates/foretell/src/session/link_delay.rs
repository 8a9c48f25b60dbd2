//! How long datagrams take on a link: the fastest recently, how much it differs from one to the next, and whether the link is silent.

use super::windowed_extreme::WindowedExtreme;
use crate::time::Instant;
use core::time::Duration;

/// Where datagrams come later than the fastest by this and thrice the jitter, they wait for others that were sent before.
const LATE: Duration = Duration::from_millis(68);
const LATE_JITTERS: f64 = 3.0;
/// The jitter is the mean of how much later or sooner each comes than the one before, over about the last sixteen (RFC 3550, 6.4.1).
const JITTER_OF: f64 = 16.0;
/// The fastest way counts for so long.
const FASTEST_OF: Duration = Duration::from_secs(10);
/// When nothing has come for so long, or for two round trips and two states, the link was out: that says nothing about how
/// much it takes.
const OUT: Duration = Duration::from_millis(300);

/// What is known by a datagram that has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    /// How long it took, there and to be heard of.
    pub took: Duration,
    /// Where it and the one before were both late, though nothing held them up together: how long they took at least.
    pub slower: Option<Duration>,
}

/// Lives as long as the window that goes by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkDelay {
    fastest: WindowedExtreme<Duration>,
    /// How long the newest took, and how much that differs from one to the next, in seconds.
    took: Option<Duration>,
    jitter_s: f64,
    /// How long after the one before states are sent.
    interval: Duration,
    /// When it was last known that something has come.
    heard: Instant,
    /// When something was sent last,
    sent: Instant,
    /// and since when it could be known that something has come that was sent.
    awaited: Option<Instant>,
}

impl LinkDelay {
    pub(crate) fn new() -> LinkDelay {
        LinkDelay {
            fastest: WindowedExtreme::new(FASTEST_OF / 2, Duration::min),
            took: None,
            jitter_s: 0.0,
            interval: Duration::ZERO,
            heard: Instant::ZERO,
            sent: Instant::ZERO,
            awaited: None,
        }
    }

    /// How long the fastest took recently; `None` until something has come.
    pub(crate) fn fastest(&self) -> Option<Duration> {
        self.fastest.get()
    }

    /// How long after the one before states are sent.
    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }

    /// A state is sent, so long after the one before.
    pub(crate) fn note_sending(&mut self, interval: Duration, now: Instant) {
        (self.interval, self.sent) = (interval, now);
        if let Some(fastest) = self.fastest() {
            self.awaited.get_or_insert(now + fastest);
        }
    }

    /// This is another way, on which nothing is faster.
    pub(crate) fn begin_anew(&mut self, fastest: Duration, now: Instant) {
        self.fastest.set(fastest, now);
    }

    /// It is known that what was sent then has come; `None` where the link was out until now.
    pub(crate) fn note(&mut self, sent: Instant, now: Instant) -> Option<Came> {
        let took = now.since(sent);
        self.awaited = (sent < self.sent).then_some(now);
        self.fastest.note(took, now);
        let fastest = self.fastest.get().unwrap_or(took);
        let silence = now.since(core::mem::replace(&mut self.heard, now));
        if silence > OUT.max(2 * (fastest + self.interval)) {
            return None;
        }
        let Some(before) = self.took.replace(took) else { return Some(Came { took, slower: None }) };
        self.jitter_s += (took.abs_diff(before).as_secs_f64() - self.jitter_s) / JITTER_OF;
        // What comes at the instant of the one before was held up with it, and says nothing of its own.
        let slower = Some(took.min(before)).filter(|least| !silence.is_zero() && self.is_long(*least));
        Some(Came { took, slower })
    }

    /// Whether what came last has waited for others, or is on a longer way.
    pub(crate) fn is_slow(&self) -> bool {
        self.took.is_some_and(|took| self.is_long(took))
    }

    /// Whether nothing has come for so long that what is sent now would wait behind others.
    pub(crate) fn is_silent(&self, now: Instant) -> bool {
        let silence = self.awaited.map_or(Duration::ZERO, |awaited| now.since(awaited));
        self.is_long(self.fastest().unwrap_or_default() + silence.saturating_sub(self.interval))
    }

    /// Whether so long is more than what jitter makes of the fastest.
    fn is_long(&self, took: Duration) -> bool {
        let late = took.saturating_sub(self.fastest.get().unwrap_or(took));
        late.as_secs_f64() > LATE.as_secs_f64() + LATE_JITTERS * self.jitter_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    /// After a hundred datagrams, one each 16 ms, that took 60 ms and up to `jitter_ms` more; the last came at 2,000 ms or later.
    fn delay(jitter_ms: u64) -> LinkDelay {
        let mut delay = LinkDelay::new();
        let interval = Duration::from_millis(16);
        for nth in 1..=100 {
            delay.note_sending(interval, at(400 + nth * 16));
            delay.note(at(340 + nth * 16), at(400 + nth * 16 + nth * 37 % (jitter_ms + 1)));
        }
        delay
    }

    #[test]
    fn a_link_is_silent_when_nothing_comes_for_longer_than_jitter_makes_though_something_was_sent() {
        let silent_at = |delay: &LinkDelay| (2000..3000).find(|ms| delay.is_silent(at(*ms)));
        assert_eq!(silent_at(&delay(0)), Some(2000 + 16 + 69));
        assert!(silent_at(&delay(100)) > Some(2150));
        // All that takes longer from now on is another way, and no silence.
        let mut longer = delay(0);
        longer.note(at(1956), at(2200));
        assert!(longer.is_slow() && !longer.is_silent(at(2260)));
        // All has come that was sent, and then nothing was.
        let mut all = delay(0);
        all.note(at(2000), at(2060));
        assert_eq!(silent_at(&all), None);
        all.note_sending(Duration::from_millis(16), at(2500));
        assert_eq!(silent_at(&all), Some(2500 + 60 + 16 + 69));
    }

    #[test]
    fn after_an_outage_a_datagram_says_nothing_of_how_long_others_take() {
        let mut delay = delay(0);
        assert!(delay.note(at(2301), at(2301)).is_none() && delay.note(at(2310), at(2370)).is_some());
    }
}
