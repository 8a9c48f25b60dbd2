//! How much a client may be sent: a number of bytes per second, and no more under way than the link takes without a queue.
//!
//! What may be under way, the window, is found by how long datagrams take. It begins small and grows fast, until they have
//! waited in a queue, or more are lost than a bad link alone loses; then it falls to what comes through in the time of the
//! fastest, so that the queue is worked off, and grows slowly. While nothing comes through there is nothing to learn.

use super::packet::DATAGRAM_MAX;
use crate::session::recent_extreme::RecentExtreme;
use crate::time::Instant;
use core::time::Duration;

/// The size of the window at first, in bytes,
const WINDOW_FIRST: f64 = 2048.0;
/// and the least that it may fall to.
const WINDOW_LEAST: f64 = 256.0;
/// With no more than this no queue builds up.
const NEXT_TO_NOTHING: f64 = 300.0;
/// What is sent is spread: in a round trip no more than this factor of the window.
const PACE: f64 = 1.5;
/// So much of what may be sent may tell exactly what is others',
const OF_OTHERS: f64 = 0.75;
/// and so much of the pace: half a window in a round trip, so that the rest has room whatever is under way.
const OF_OTHERS_PACE: f64 = 0.5 / PACE;
/// What of that was not sent is saved for so long: much may begin to move at once.
const OF_OTHERS_SAVED: Duration = Duration::from_millis(250);
/// So much of what may be sent may be messages, whatever else there is to tell;
const OF_MESSAGES: f64 = 0.25;
/// and of that no more is saved than fits into a datagram, or than there is for one state.
const OF_MESSAGES_SAVED: f64 = 1150.0;
/// What was not sent is saved, but at most this many bytes.
const SAVED_MAX: i64 = 256;
/// The window grows by so much of it per round trip at first,
const GROWS_FIRST: f64 = 1.0;
/// and by so much since there was too much; by so much more with each round trip in which it was used and nothing waited.
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
/// Whatever else there is to tell, one row is shown in so long.
const TRICKLE: Duration = Duration::from_millis(60);
/// So many bytes are worth a datagram of their own.
const DATAGRAM_LEAST: i64 = 200;
/// More than was allowed is owed up to so many bytes.
const OWED_MAX: i64 = 4600;

/// How many bytes per second somebody may be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// However much waits or is lost.
    pub least: u32,
    /// However much the link takes.
    pub most: u32,
}

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

/// Lives as long as somebody has the place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// How many bytes may tell exactly what is others'.
    of_others: f64,
    /// How many bytes may be messages, whatever else there is; less than none after a large one.
    of_messages: f64,
    /// How many bytes it may be sent still; less than none where more was sent than was allowed.
    bytes: i64,
    /// And how many until the window is full.
    room: i64,
    /// How many bytes may be under way.
    window: f64,
    /// Whether there was never too much.
    is_first: bool,
    /// Of how many round trips in a row nothing has waited.
    calm: u32,
    /// When the last state was sent.
    added: Option<Instant>,
    /// And how long that was after the one before.
    interval: Duration,
    /// When a row was shown last whatever was allowed.
    trickled: Option<Instant>,
    round: Round,
    /// When it was last known that something has come.
    heard: Instant,
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

impl Allowance {
    pub(crate) fn new() -> Allowance {
        Allowance {
            of_others: 0.0,
            of_messages: 0.0,
            bytes: 0,
            room: 0,
            window: WINDOW_FIRST,
            is_first: true,
            calm: 0,
            added: None,
            interval: Duration::ZERO,
            trickled: None,
            round: Round::default(),
            heard: Instant::ZERO,
            come: 0,
            lost: 0,
            fastest: RecentExtreme::new(OF_LATE / 2, Duration::min),
            least_lost: RecentExtreme::new(OF_LATE / 2, f64::min),
        }
    }

    /// A state is sent, while `under_way` bytes are under way.
    pub(crate) fn add(&mut self, budget: Budget, under_way: u64, now: Instant) {
        let passed = self.added.replace(now).map_or(TRICKLE / 4, |added| now.since(added)).min(Duration::from_secs(1));
        self.interval = passed;
        let pace = self.rtt().map_or(f64::INFINITY, |rtt| PACE * self.window / rtt.as_secs_f64().max(0.001));
        let of_others = (OF_OTHERS * f64::from(budget.most)).min(OF_OTHERS_PACE * pace);
        let saved_max = of_others * OF_OTHERS_SAVED.max(passed).as_secs_f64();
        self.of_others = (self.of_others + of_others * passed.as_secs_f64()).min(saved_max);
        let [most, least] = [f64::from(budget.most).min(pace), f64::from(budget.least.min(budget.most))];
        let of_messages = OF_MESSAGES * most.max(least);
        let saved_max = OF_MESSAGES_SAVED.max(of_messages * passed.as_secs_f64());
        self.of_messages = (self.of_messages + of_messages * passed.as_secs_f64()).min(saved_max);
        #[expect(clippy::cast_possible_truncation, reason = "a share of it is not more")]
        let [bytes, least] = [most, least].map(|rate| (rate * passed.as_secs_f64()) as i64);
        let bytes = bytes.max(least);
        let most = bytes.saturating_add(SAVED_MAX);
        self.bytes = self.bytes.saturating_add(bytes).min(most);
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a few bytes more or less")]
        let room = (self.window - under_way as f64) as i64;
        self.room = room.max(least);
    }

    /// How many bits may tell exactly what is others'.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    pub(crate) fn bits_of_others(&self) -> u64 {
        (self.of_others * 8.0) as u64
    }

    /// At most this many do.
    #[expect(clippy::cast_precision_loss, reason = "a few bits more or less")]
    pub(crate) fn spend_on_others(&mut self, bits: u64) {
        self.of_others -= bits as f64 / 8.0;
    }

    /// Whether a datagram of messages may be sent: there is room, and either something is left of their share, or nothing else is to
    /// be sent that takes the room.
    pub(crate) fn takes_messages(&self, before_a_state: bool) -> bool {
        self.room > 0 && (self.of_messages > 0.0 || !before_a_state && self.is_left())
    }

    /// So many bytes of messages were sent.
    #[expect(clippy::cast_precision_loss, reason = "a few bytes more or less")]
    pub(crate) fn spend_on_messages(&mut self, bytes: usize) {
        self.of_messages = (self.of_messages - bytes as f64).max(-OF_MESSAGES_SAVED);
        self.spend(bytes);
    }

    /// How long a round trip takes now.
    fn rtt(&self) -> Option<Duration> {
        self.round.least.or(self.fastest.get())
    }

    /// So many were sent.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(signed(bytes)).max(-OWED_MAX);
        self.room = self.room.saturating_sub(signed(bytes));
        #[expect(clippy::cast_precision_loss, reason = "a few bytes more or less")]
        let is_half_full = self.room as f64 <= self.window / 2.0;
        self.round.is_used |= is_half_full;
    }

    fn left(&self) -> i64 {
        self.bytes.min(self.room)
    }

    /// How long a datagram may become, in bits, in which so many are written already that had to be.
    pub(crate) fn bits_max(&self, written: usize) -> usize {
        let left = self.left().saturating_sub(signed(written.div_ceil(8)));
        written.saturating_add(usize::try_from(left).unwrap_or(0).saturating_mul(8)).min(DATAGRAM_MAX * 8)
    }

    /// Whether a row is to be shown now, though there is no room for it; counts it.
    pub(crate) fn trickles(&mut self, now: Instant) -> bool {
        let is_due = self.trickled.is_none_or(|trickled| now.since(trickled) >= TRICKLE);
        if is_due {
            self.trickled = Some(now);
        }
        is_due
    }

    /// Whether another datagram is worth its head.
    pub(crate) fn is_left(&self) -> bool {
        self.left() >= DATAGRAM_LEAST
    }

    /// Whether so many bits may be.
    pub(crate) fn has_room_for(&self, bits: u64) -> bool {
        i64::try_from(bits.div_ceil(8)).is_ok_and(|bytes| bytes <= self.left())
    }

    /// How many things of this many bits each may be sent.
    pub(crate) fn count_max(&self, bits: usize) -> usize {
        usize::try_from(self.left()).unwrap_or(0).saturating_mul(8) / bits
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
        if sent < self.round.began {
            return;
        }
        let round = &mut self.round;
        round.least = Some(round.least.map_or(took, |least| least.min(took)));
        (round.sum, round.count) = (round.sum + took, round.count + 1);
        if now.since(round.began) >= ROUND_MIN && round.count >= ROUND_OF_MIN {
            self.end_round(now);
        }
    }

    fn end_round(&mut self, now: Instant) {
        let round = core::mem::replace(&mut self.round, Round { began: now, ..Round::default() });
        let (Some(least), Some(fastest)) = (round.least, self.fastest.get()) else { return };
        // What differs from datagram to datagram is no queue.
        let differs = (round.sum / round.count.max(1)).saturating_sub(least);
        let queue = least.saturating_sub(fastest).saturating_sub(differs / 2).as_secs_f64() / QUEUED.as_secs_f64();
        let (is_queued, loses) = (queue > 1.0, self.loses_more(now));
        if queue > CALM && self.window <= NEXT_TO_NOTHING {
            // It takes as long, though there is nothing that it could wait behind: that is the way.
            self.fastest.set(least, now);
        }
        if !is_queued && !loses {
            let is_calm = round.is_used && queue < CALM;
            self.calm = if is_calm { self.calm + 1 } else { self.calm.min(1) };
            let grows =
                if self.is_first { GROWS_FIRST } else { (GROWS * f64::from(self.calm.max(1))).min(GROWS_FIRST) };
            if round.is_used {
                self.window *= 1.0 + grows * (1.0 - queue);
            }
            return;
        }
        let was_first = core::mem::take(&mut self.is_first);
        self.calm = 0;
        // A window lasts from state to state, too.
        let fits = (fastest + self.interval).as_secs_f64() / (least + self.interval).as_secs_f64().max(0.001);
        let fits = if is_queued { fits } else { 1.0 };
        let most = if was_first { FALLS_FIRST } else { FALLS_MOST };
        self.window = (self.window * (FALLS * fits).max(most)).max(WINDOW_LEAST);
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

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
