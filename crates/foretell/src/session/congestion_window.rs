//! How many bytes may be under way to somebody: no more than the link takes without a queue.
//!
//! That is found by how long datagrams take. It begins small and grows fast, until they have waited in a queue, or more are
//! lost than a bad link alone loses; then it falls to what comes through in the time of the fastest, so that the queue is
//! worked off, and grows slowly. Where they wait for long at once, the link has become slower, as mobile ones do: that is not
//! waited out, and for a while it grows more slowly still. While nothing comes through there is nothing to learn.
//!
//! What comes through when there is too much is what the link takes; from then on it is sent little faster than that, so that a
//! window does not go out at once and wait for itself.

use super::link_delay::{Came, LinkDelay};
use super::windowed_extreme::WindowedExtreme;
use crate::time::Instant;
use core::time::Duration;

/// The size of the window at first, in bytes,
const WINDOW_FIRST: f64 = 2048.0;
/// and the least that it may fall to.
const WINDOW_LEAST: f64 = 256.0;
/// In a round trip no more is sent than this factor of the window,
const PACE: f64 = 1.5;
/// and, once there was too much, per second no more than this factor of the most that came through recently: or all of a window goes
/// out at once, and waits for itself. The least window is not bound by that, as it may be that nothing was to be sent.
const PACE_OF_COME: f64 = 1.2;
/// With no more than this no queue builds up.
const NEXT_TO_NOTHING: f64 = 300.0;
/// The window grows by so much of it per round trip at first,
const GROWS_FIRST: f64 = 1.0;
/// and by so much since there was too much; by so much more with each round trip in which it was used and nothing waited. But where
/// that is more than [`WINDOW_LEAST`] and than [`GROWS_WARY`], by no more than would wait for [`QUEUED`] on a link that is full already,
/// as that is seen only a round trip later: without this, one of 1,900 slow links has a queue of 146 ms, with it 135 are the most.
const GROWS: f64 = 0.1;
/// Nothing has waited where it was less than this share of what is too long.
const CALM: f64 = 0.2;
/// It falls to so much of what comes through in the time of the fastest,
const FALLS: f64 = 0.9;
/// but at once to no less than so much of it.
const FALLS_MOST: f64 = 0.3;
/// Where all datagrams of a round trip come so much later than the fastest, they have waited in a queue. With this, of 1,900 slow links
/// none has a queue of more than 135 ms, and each is used by 73 % at least; with 34 ms one of 600 is used by 67 %.
const QUEUED: Duration = Duration::from_millis(40);
/// Where two datagrams, one after the other, are late, the link has become slower: the window falls before the round trip is over, and
/// may fall again soon: for so long it grows by so much. Of a hundred synthetic EV-DO links 95 % of the datagrams wait at most 310 ms
/// instead of 410 then, in the median, of UMTS 160 instead of 190, and 6 to 11 % less is sent.
const WARY: Duration = Duration::from_secs(10);
const GROWS_WARY: f64 = 0.05;
/// A link may lose the smallest share that it has lost recently; where it loses this much more, there is too much under way.
const LOST_MORE: f64 = 0.2;
/// Of fewer datagrams the losses say nothing.
const LOSSES_OF_MIN: u32 = 64;
/// The least that is lost, and the most that comes through, count for so long.
const RECENT: Duration = Duration::from_secs(10);
/// A round trip counts as one if it takes so long.
const ROUND_MIN: Duration = Duration::from_millis(100);
/// and so much was heard of what was sent in it.
const ROUND_OF_MIN: u32 = 4;
/// What comes in a round trip was sent in the one before, and that may have begun while there was nothing to send. Only after three
/// in a row in which more would have been sent is it known that less comes through than before. Without this, who stood still for ten
/// seconds and moves again is shown at a twentieth of the pace at first.
const BOUND_FOR: u32 = 3;

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
pub(crate) struct CongestionWindow {
    /// How many bytes may be under way.
    bytes: f64,
    /// Whether there was never too much on this way.
    is_first: bool,
    /// Of how many round trips in a row nothing has waited.
    calm: u32,
    round: Round,
    /// In how many round trips in a row more would have been sent than might be.
    bound: u32,
    /// Whether all of the last round trip has waited.
    has_waited: bool,
    delay: LinkDelay,
    /// The first queue is worked off entirely, as nobody knows how long the link takes without it: until a round takes no less time than
    /// the one before, which is this; at first without an end, as what the first round is of still waits behind all the rest.
    drains: Option<Duration>,
    /// When the link became slower at once.
    slowed: Option<Instant>,
    /// How many have come and were lost since that was last looked at.
    come: u32,
    lost: u32,
    least_lost: WindowedExtreme<f64>,
    /// Bytes per second.
    most_come: WindowedExtreme<f64>,
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
    /// Whether it would have been, had it been sent faster.
    is_paced: bool,
}

impl CongestionWindow {
    pub(crate) fn new() -> CongestionWindow {
        CongestionWindow {
            bytes: WINDOW_FIRST,
            is_first: true,
            calm: 0,
            round: Round::default(),
            bound: 0,
            has_waited: false,
            delay: LinkDelay::new(),
            drains: None,
            slowed: None,
            come: 0,
            lost: 0,
            least_lost: WindowedExtreme::new(RECENT / 2, f64::min),
            most_come: WindowedExtreme::new(RECENT / 2, f64::max),
        }
    }

    /// How many bytes may be under way.
    pub(crate) fn bytes(&self) -> f64 {
        if self.drains.is_some() { WINDOW_LEAST } else { self.bytes }
    }

    /// What a window in each round trip is, in bytes per second; without a bound until something has come.
    pub(crate) fn rate(&self) -> f64 {
        self.in_each_round_trip(self.bytes())
    }

    /// How many bytes per second may be sent.
    pub(crate) fn pace(&self) -> f64 {
        let least = self.in_each_round_trip(WINDOW_LEAST);
        let come = self.most_come.get().filter(|_| !self.is_first);
        come.map_or(f64::INFINITY, |come| least.max(PACE_OF_COME * come)).min(PACE * self.rate())
    }

    fn in_each_round_trip(&self, bytes: f64) -> f64 {
        let rtt = self.round.least.or(self.delay.fastest());
        rtt.map_or(f64::INFINITY, |rtt| bytes / rtt.as_secs_f64().max(0.001))
    }

    /// Whether what is sent now waits for long: nothing comes, or what comes has waited and the window is full.
    pub(crate) fn is_jammed(&self, now: Instant) -> bool {
        self.delay.is_silent(now) || self.round.is_used && self.delay.is_slow()
    }

    /// A state is sent, so long after the one before.
    pub(crate) fn note_sending(&mut self, interval: Duration, now: Instant) {
        self.delay.note_sending(interval, now);
    }

    /// More would have been sent at a faster pace.
    pub(crate) fn note_paced(&mut self) {
        self.round.is_paced = true;
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
        let Some(Came { took, slower }) = self.delay.note(sent, now) else {
            (self.round, self.come, self.lost) = (Round { began: now, ..Round::default() }, 0, 0);
            return;
        };
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

    fn end_round(&mut self, now: Instant) {
        let round = core::mem::replace(&mut self.round, Round { began: now, ..Round::default() });
        let (Some(least), Some(fastest)) = (round.least, self.delay.fastest()) else { return };
        // What differs from datagram to datagram is no queue.
        let differs = (round.sum / round.count.max(1)).saturating_sub(least);
        if let Some(before) = self.drains {
            self.drains = Some(least).filter(|least| *least + QUEUED.mul_f64(CALM) < before);
            if self.drains.is_none() {
                let come = self.most_come.get().unwrap_or_default();
                let fits = FALLS * come * (fastest + differs + self.delay.interval()).as_secs_f64();
                self.bytes = fits.min(self.bytes).max(WINDOW_LEAST);
            }
            return;
        }
        let queue = least.saturating_sub(fastest).saturating_sub(differs / 2).as_secs_f64() / QUEUED.as_secs_f64();
        let is_bound = round.is_used || round.is_paced;
        self.bound = if is_bound { self.bound.saturating_add(1) } else { 0 };
        // Behind next to nothing nothing waits: by chance a few take long together, as jitter has it, but not twice.
        let had_waited = core::mem::replace(&mut self.has_waited, queue > 1.0);
        let is_queued = queue > 1.0 && (is_bound || had_waited);
        let is_too_much = self.loses_more(now) || is_queued;
        #[expect(clippy::cast_precision_loss, reason = "a few bytes more or less")]
        let come = round.bytes as f64 / now.since(round.began).as_secs_f64().max(0.001);
        if is_bound && (self.bound >= BOUND_FOR || self.most_come.get().is_none_or(|most| come > most)) {
            self.most_come.note(come, now);
        }
        if queue > CALM && self.bytes <= NEXT_TO_NOTHING {
            // It takes as long, though there is nothing that it could wait behind: that is another way, of which nothing is known.
            self.delay.begin_anew(least, now);
            (self.slowed, self.is_first, self.calm) = (None, true, 0);
        } else if is_too_much {
            self.calm = 0;
            let was_first = core::mem::take(&mut self.is_first);
            if was_first && round.is_used && queue > 1.0 {
                self.drains = Some(Duration::MAX);
            } else {
                self.fall(least, fastest, is_queued);
            }
        } else {
            self.grow(round, least, queue, now);
        }
    }

    /// There was too much in a round.
    fn fall(&mut self, least: Duration, fastest: Duration, is_queued: bool) {
        // A window lasts from state to state, too.
        let interval = self.delay.interval();
        let fits = (fastest + interval).as_secs_f64() / (least + interval).as_secs_f64().max(0.001);
        let fits = if is_queued { fits } else { 1.0 };
        self.bytes = (self.bytes * (FALLS * fits).max(FALLS_MOST)).max(WINDOW_LEAST);
    }

    /// There was not too much in a round, in which all waited for `queue` of what is too long.
    fn grow(&mut self, round: Round, least: Duration, queue: f64, now: Instant) {
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
mod tests;
