//! How many bytes may be under way to somebody: no more than the link takes without a queue.
//!
//! That is found by how long datagrams take. It begins small and grows fast, until they have waited in a queue, or more are
//! lost than a bad link alone loses; then it falls to what comes through in the time of the fastest, so that the queue is
//! worked off, and grows slowly. Where they wait for long at once, the link has become slower, as mobile ones do: that is not
//! waited out, and for a while it grows more slowly still. While nothing comes through there is nothing to learn.

use super::recent_extreme::RecentExtreme;
use crate::time::Instant;
use core::time::Duration;

/// The size of the window at first, in bytes,
const WINDOW_FIRST: f64 = 2048.0;
/// and the least that it may fall to.
const WINDOW_LEAST: f64 = 256.0;
/// With no more than this no queue builds up.
const NEXT_TO_NOTHING: f64 = 300.0;
/// The window grows by so much of it per round trip at first,
const GROWS_FIRST: f64 = 1.0;
/// and by so much since there was too much; by so much more with each round trip in which it was used and nothing waited. But where
/// that is more than [`WINDOW_LEAST`] and than [`GROWS_WARY`], by no more than would wait for [`QUEUED`] on a link that is full already,
/// as that is seen only a round trip later: without this, four of six hundred slow links have a queue of more than 150 ms, with it none.
const GROWS: f64 = 0.1;
/// Nothing has waited where it was less than this share of what is too long.
const CALM: f64 = 0.2;
/// It falls to so much of what comes through in the time of the fastest,
const FALLS: f64 = 0.9;
/// but at once to no less than so much of it, and at first, when nothing is known, to no less than this.
const FALLS_MOST: f64 = 0.3;
const FALLS_FIRST: f64 = 0.1;
/// Where all datagrams of a round trip come so much later than the fastest, they have waited in a queue. With 40 ms one of eighty slow
/// links has a queue of more than 150 ms at times, with 28 ms one of 240 is used by less than 70 %; mobile ones wait less with less.
const QUEUED: Duration = Duration::from_millis(34);
/// Where two datagrams, one after the other, come later than the fastest by this and thrice the jitter, the link has become slower: the
/// window falls before the round trip is over,
const LATE: Duration = Duration::from_millis(68);
const LATE_JITTERS: f64 = 3.0;
/// and may fall again soon: for so long it grows by so much. Of a hundred synthetic EV-DO links 95 % of the datagrams wait at most 310 ms
/// instead of 410 then, in the median, of UMTS 160 instead of 190, and 6 to 11 % less is sent.
const WARY: Duration = Duration::from_secs(10);
const GROWS_WARY: f64 = 0.05;
/// The jitter is the mean of how much later or sooner each comes than the one before, over about the last sixteen (RFC 3550, 6.4.1).
const JITTER_OF: f64 = 16.0;
/// A link may lose the smallest share that it has lost recently; where it loses this much more, there is too much under way.
const LOST_MORE: f64 = 0.2;
/// Of fewer datagrams the losses say nothing.
const LOSSES_OF_MIN: u32 = 64;
/// The fastest way, and the least that is lost, count for so long.
const OF_LATE: Duration = Duration::from_secs(10);
/// A round trip counts as one if it takes so long.
const ROUND_MIN: Duration = Duration::from_millis(100);
/// and so much was heard of what was sent in it.
const ROUND_OF_MIN: u32 = 4;
/// When nothing has come for so long, or for two round trips and two states, the link was out: that says nothing about how
/// much it takes.
const OUT: Duration = Duration::from_millis(300);

/// What has become of datagrams of which it was not known before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fates {
    pub come: u32,
    pub lost: u32,
    /// How many bytes have come.
    pub bytes: u64,
    /// When the newest was sent of those that have come.
    pub newest_sent: Option<Instant>,
}

/// Lives as long as the allowance that it bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendWindow {
    /// How many bytes may be under way.
    bytes: f64,
    /// Whether there was never too much on this way.
    is_first: bool,
    /// Of how many round trips in a row nothing has waited.
    calm: u32,
    /// How long the last state was sent after the one before.
    interval: Duration,
    round: Round,
    /// When it was last known that something has come.
    heard: Instant,
    /// How long the newest took, and how much that differs from one to the next, in seconds.
    took: Option<Duration>,
    jitter_s: f64,
    /// When the link became slower at once.
    slowed: Option<Instant>,
    /// How many have come and were lost since that was last looked at.
    come: u32,
    lost: u32,
    fastest: RecentExtreme<Duration>,
    least_lost: RecentExtreme<f64>,
}

/// A round trip: from when it began until something has come that was sent since.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    began: Instant,
    /// How many bytes have come.
    bytes: u64,
    /// How long what was sent since took: at least, in all, and of how many.
    least: Option<Duration>,
    sum: Duration,
    count: u32,
    /// Whether as much was under way that more would have been seen to be too much.
    is_used: bool,
}

impl SendWindow {
    pub(crate) fn new() -> SendWindow {
        SendWindow {
            bytes: WINDOW_FIRST,
            is_first: true,
            calm: 0,
            interval: Duration::ZERO,
            round: Round::default(),
            heard: Instant::ZERO,
            took: None,
            jitter_s: 0.0,
            slowed: None,
            come: 0,
            lost: 0,
            fastest: RecentExtreme::new(OF_LATE / 2, Duration::min),
            least_lost: RecentExtreme::new(OF_LATE / 2, f64::min),
        }
    }

    /// How many bytes may be under way.
    pub(crate) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// How long a round trip takes now; `None` until something has come.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.round.least.or(self.fastest.get())
    }

    /// A state is sent, so long after the one before.
    pub(crate) fn note_state(&mut self, interval: Duration) {
        self.interval = interval;
    }

    /// How many bytes more may be under way now.
    #[expect(clippy::cast_precision_loss, reason = "a few bytes more or less")]
    pub(crate) fn note_room(&mut self, room: i64) {
        self.round.is_used |= room as f64 <= self.bytes / 2.0;
    }

    /// It is known of datagrams how they fared.
    pub(crate) fn note(&mut self, fates: Fates, now: Instant) {
        let Fates { come, lost, bytes, newest_sent } = fates;
        self.round.bytes += bytes;
        self.come += come;
        self.lost += lost;
        let Some(sent) = newest_sent else { return };
        let took = now.since(sent);
        self.fastest.note(took, now);
        let silence = now.since(core::mem::replace(&mut self.heard, now));
        if silence > OUT.max(2 * (self.fastest.get().unwrap_or_default() + self.interval)) {
            (self.round, self.come, self.lost) = (Round { began: now, ..Round::default() }, 0, 0);
            return;
        }
        // What comes at the instant of the one before was held up with it, and says nothing of its own.
        let slower = self.seems_slower(took).filter(|_| !silence.is_zero());
        if sent < self.round.began {
            return;
        }
        let round = &mut self.round;
        round.least = Some(round.least.map_or(took, |least| least.min(took)));
        (round.sum, round.count) = (round.sum + took, round.count + 1);
        let slower = slower.filter(|_| round.count > 1);
        if let Some(least) = slower {
            self.slowed = Some(now);
            (round.least, round.sum) = (slower, least * round.count);
        }
        if slower.is_some() || now.since(round.began) >= ROUND_MIN && round.count >= ROUND_OF_MIN {
            self.end_round(now);
        }
    }

    /// How long a datagram and the one before it took at least, where both were late by more than jitter makes.
    fn seems_slower(&mut self, took: Duration) -> Option<Duration> {
        let (before, fastest) = (self.took.replace(took)?, self.fastest.get()?);
        self.jitter_s += (took.abs_diff(before).as_secs_f64() - self.jitter_s) / JITTER_OF;
        let least = took.min(before);
        let late_s = least.saturating_sub(fastest).as_secs_f64();
        (late_s > LATE.as_secs_f64() + LATE_JITTERS * self.jitter_s).then_some(least)
    }

    fn end_round(&mut self, now: Instant) {
        let round = core::mem::replace(&mut self.round, Round { began: now, ..Round::default() });
        let (Some(least), Some(fastest)) = (round.least, self.fastest.get()) else { return };
        // What differs from datagram to datagram is no queue.
        let differs = (round.sum / round.count.max(1)).saturating_sub(least);
        let queue = least.saturating_sub(fastest).saturating_sub(differs / 2).as_secs_f64() / QUEUED.as_secs_f64();
        let (is_queued, loses) = (queue > 1.0, self.loses_more(now));
        if queue > CALM && self.bytes <= NEXT_TO_NOTHING {
            // It takes as long, though there is nothing that it could wait behind: that is another way, of which nothing is known.
            self.fastest.set(least, now);
            (self.slowed, self.is_first, self.calm) = (None, true, 0);
            return;
        }
        if !is_queued && !loses {
            let is_calm = round.is_used && queue < CALM;
            let is_wary = self.slowed.is_some_and(|slowed| now.since(slowed) < WARY);
            self.calm = if is_calm { self.calm + 1 } else { self.calm.min(1) };
            let each = if is_wary { GROWS_WARY } else { GROWS };
            let unseen = (QUEUED.as_secs_f64() / least.as_secs_f64().max(0.001)).max(WINDOW_LEAST / self.bytes);
            let most = unseen.clamp(GROWS_WARY, GROWS_FIRST);
            let grows = if self.is_first { GROWS_FIRST } else { (each * f64::from(self.calm.max(1))).min(most) };
            if round.is_used {
                self.bytes *= 1.0 + grows * (1.0 - queue);
            }
            return;
        }
        let was_first = core::mem::take(&mut self.is_first);
        self.calm = 0;
        // A window lasts from state to state, too.
        let fits = (fastest + self.interval).as_secs_f64() / (least + self.interval).as_secs_f64().max(0.001);
        let fits = if is_queued { fits } else { 1.0 };
        let most = if was_first { FALLS_FIRST } else { FALLS_MOST };
        self.bytes = (self.bytes * (FALLS * fits).max(most)).max(WINDOW_LEAST);
    }

    /// Whether more is lost than the link loses by itself.
    fn loses_more(&mut self, now: Instant) -> bool {
        let all = self.come + self.lost;
        if all < LOSSES_OF_MIN {
            return false;
        }
        let share = f64::from(self.lost) / f64::from(all);
        (self.come, self.lost) = (0, 0);
        self.least_lost.note(share, now);
        self.least_lost.get().is_some_and(|least| share > least + LOST_MORE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    /// The window after `seconds` of a link on which each datagram takes `took_ms`, and `lost_of_100` are lost, where it
    /// was good for a second. 2,048 bytes are under way.
    #[expect(clippy::cast_possible_truncation, reason = "a few bytes more or less")]
    fn window(seconds: u64, took_ms: u64, lost_of_100: u32) -> f64 {
        let mut window = SendWindow::new();
        for nth in 0..100 + seconds * 100 {
            window.note_state(Duration::from_millis(10));
            window.note_room(window.bytes() as i64 - 2048);
            let (took_ms, lost) = if nth < 100 { (60, 0) } else { (took_ms, lost_of_100) };
            let newest_sent = Some(at(1000 + nth * 10 - took_ms));
            window.note(Fates { come: 100 - lost, lost, bytes: 1000, newest_sent }, at(1000 + nth * 10));
        }
        window.bytes()
    }

    #[test]
    fn a_link_that_loses_a_tenth_more_is_believed_and_one_that_loses_half_or_lets_wait_is_sent_less() {
        let all = window(4, 60, 0);
        assert!(all > 3000.0 && window(4, 60, 10) == all && window(4, 90, 0) > all / 2.0);
        assert!(window(4, 60, 50) < all / 2.0 && window(2, 250, 0) < all / 2.0);
    }

    #[test]
    fn a_way_that_takes_as_long_though_next_to_nothing_is_sent_is_longer_and_no_queue() {
        // From there it grows as at first.
        let [fell, grew] = [1, 3].map(|seconds| window(seconds, 250, 0));
        assert!(fell < 400.0 && grew > 4000.0, "{fell} {grew}");
    }

    /// The window after eight datagrams more on a link on which each has taken 60 ms, and up to `jitter_ms` more.
    fn after_delay(jitter_ms: u64, took_ms: u64) -> f64 {
        let mut window = SendWindow::new();
        for nth in 0..408 {
            window.note_state(Duration::from_millis(10));
            window.note_room(0);
            let took_ms = if nth < 400 { 60 + nth * 37 % (jitter_ms + 1) } else { took_ms };
            let newest_sent = Some(at(1000 + nth * 10 - took_ms));
            window.note(Fates { come: 1, lost: 0, bytes: 100, newest_sent }, at(1000 + nth * 10));
            window.bytes = if nth < 400 { 10_000.0 } else { window.bytes };
        }
        window.bytes()
    }

    #[test]
    fn a_link_that_becomes_slower_at_once_is_sent_less_before_a_round_trip_is_over_and_jitter_is_no_slower_link() {
        assert!(after_delay(0, 60) >= 10_000.0 && after_delay(0, 120) >= 10_000.0);
        assert!(after_delay(0, 150) < 10_000.0);
        assert!(after_delay(100, 160) >= 10_000.0);
    }

    #[test]
    fn what_was_held_up_and_comes_all_at_once_is_no_slower_link() {
        let mut window = SendWindow::new();
        for nth in 0..114_u64 {
            window.note_state(Duration::from_millis(16));
            window.note_room(0);
            // The last fourteen come together.
            let (sent, comes) = (1000 + nth * 16, 1060 + if nth < 100 { nth } else { 113 } * 16);
            window.note(Fates { come: 1, lost: 0, bytes: 100, newest_sent: Some(at(sent)) }, at(comes));
        }
        assert!(window.slowed.is_none());
    }

    #[test]
    fn what_was_lost_in_an_outage_says_nothing_of_what_the_link_takes() {
        let mut window = SendWindow { heard: at(1000), ..SendWindow::new() };
        window.fastest.note(Duration::from_millis(60), at(1000));
        window.note(Fates { come: 1, lost: 500, bytes: 100, newest_sent: Some(at(2940)) }, at(3000));
        assert!(window.bytes == WINDOW_FIRST && window.lost == 0);
    }
}
