//! How much a client may be sent: a number of bytes per second, and no more under way than the link takes without a queue.

use super::congestion_window::{CongestionWindow, Fates};
use super::datagram::DATAGRAM_MAX;
use crate::time::Instant;
use core::time::Duration;

/// So much of what may be sent may tell exactly what is others',
const OF_OTHERS: f64 = 0.75;
/// and in a round trip so much of the window, so that the rest has room whatever is under way.
const OF_OTHERS_WINDOW: f64 = 0.5;
/// What of that was not sent is saved for so long: much may begin to move at once.
const OF_OTHERS_SAVED: Duration = Duration::from_millis(250);
/// So much of what may be sent may be messages, whatever else there is to tell;
const OF_MESSAGES: f64 = 0.25;
/// and of that no more is saved than fits into a datagram, or than there is for one state.
const OF_MESSAGES_SAVED: f64 = 1150.0;
/// What was not sent is saved, but at most this many bytes.
const SAVED_MAX: i64 = 256;
/// Whatever else there is to tell, one row is shown in so long.
const TRICKLE: Duration = Duration::from_millis(60);
/// So many bytes are worth a datagram of their own.
const DATAGRAM_LEAST: i64 = 200;
/// More than was allowed is owed up to so many bytes.
const OWED_MAX: i64 = 4600;

/// How many bytes per second somebody may be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// However much waits or is lost, unless it waits for long or nothing comes: then it would only wait behind the others.
    pub least: u32,
    /// However much the link takes.
    pub most: u32,
}

/// Lives as long as somebody has the place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendAllowance {
    /// How many bytes may tell exactly what is others'.
    of_others: f64,
    /// How many bytes may be messages, whatever else there is; less than none after a large one.
    of_messages: f64,
    /// How many bytes it may be sent still; less than none where more was sent than was allowed.
    bytes: i64,
    /// And how many until the window is full.
    room: i64,
    /// Whether the pace of the link bounds that, and not the budget.
    is_paced: bool,
    window: CongestionWindow,
    /// When the last state was sent.
    added: Option<Instant>,
    /// When a row was shown last whatever was allowed.
    trickled: Option<Instant>,
}

impl SendAllowance {
    pub(crate) fn new() -> SendAllowance {
        SendAllowance {
            of_others: 0.0,
            of_messages: 0.0,
            bytes: 0,
            room: 0,
            is_paced: false,
            window: CongestionWindow::new(),
            added: None,
            trickled: None,
        }
    }

    /// A state is sent, while `under_way` bytes are under way. Those that are sent at one instant share what is allowed for the time
    /// before it.
    pub(crate) fn add(&mut self, budget: Budget, under_way: u64, now: Instant) {
        if self.added == Some(now) {
            return;
        }
        let passed = self.added.replace(now).map_or(TRICKLE / 4, |added| now.since(added)).min(Duration::from_secs(1));
        self.window.note_sending(passed, now);
        let pace = self.window.pace();
        self.is_paced = pace < f64::from(budget.most);
        let least = if self.window.is_jammed(now) { 0 } else { budget.least.min(budget.most) };
        let of_others = (OF_OTHERS * f64::from(budget.most)).min(OF_OTHERS_WINDOW * self.window.rate());
        let saved_max = of_others * OF_OTHERS_SAVED.max(passed).as_secs_f64();
        self.of_others = (self.of_others + of_others * passed.as_secs_f64()).min(saved_max);
        let [most, least] = [f64::from(budget.most).min(pace), f64::from(least)];
        let of_messages = OF_MESSAGES * most.max(least);
        let saved_max = OF_MESSAGES_SAVED.max(of_messages * passed.as_secs_f64());
        self.of_messages = (self.of_messages + of_messages * passed.as_secs_f64()).min(saved_max);
        #[expect(clippy::cast_possible_truncation, reason = "a share of it is not more")]
        let [bytes, least] = [most, least].map(|rate| (rate * passed.as_secs_f64()) as i64);
        let bytes = bytes.max(least);
        let most = bytes.saturating_add(SAVED_MAX);
        self.bytes = self.bytes.saturating_add(bytes).min(most);
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a few bytes more or less")]
        let room = (self.window.bytes() - under_way as f64) as i64;
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

    /// So many were sent.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(signed(bytes)).max(-OWED_MAX);
        self.room = self.room.saturating_sub(signed(bytes));
        self.window.note_room(self.room);
        if self.is_paced && self.bytes < DATAGRAM_LEAST {
            self.window.note_paced();
        }
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

    /// Whether another datagram is worth its header.
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
        self.window.note(fates, now);
    }
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
