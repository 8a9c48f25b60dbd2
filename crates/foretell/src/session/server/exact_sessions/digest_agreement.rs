//! Whether one client of an exact session has what the server has, and what it is owed where it may not.

use crate::time::{Tick, TickRate};
use crate::world::Seat;
use core::time::Duration;

/// Canonical ticks are so far apart at least: each costs both ends the time to make derived state anew.
pub(super) const CANONICAL_APART: Duration = Duration::from_millis(500);
/// Whom a canonical tick has not helped waits twice as long for the next, so often.
const WAITS_MAX: u32 = 2;
/// Whole states go to one client so far apart at least.
const WHOLE_APART: Duration = Duration::from_millis(125);

/// What one client of an exact session agrees on. Lives as long as the place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreement {
    /// As what its player is there.
    seat: Seat,
    /// From which state on it may be wrong, and is owed a canonical one.
    owed: Option<Tick>,
    /// When it was last sent a whole state.
    whole_sent: Option<Tick>,
    /// How many canonical ticks in a row have not helped it.
    canonical_waits: u32,
    /// From which state on it last did not agree; none once it has agreed for so long that it waits no longer for that.
    disagreed: Option<Tick>,
}

impl Agreement {
    /// Of a client that begins before the step of `next`.
    pub(super) fn new(next: Tick) -> Agreement {
        let seat = Seat::Player;
        Agreement { seat, owed: Some(next.next()), whole_sent: None, canonical_waits: 0, disagreed: None }
    }

    /// The same of somebody who is there as this.
    pub(super) fn seated(self, seat: Seat) -> Agreement {
        Agreement { seat, ..self }
    }

    /// Whether there are inputs of its player.
    pub(super) fn has_inputs(&self) -> bool {
        self.seat == Seat::Player
    }

    /// Another client has the place from before the step of `next` on.
    pub(super) fn take_over(&mut self, next: Tick) {
        (self.owed, self.whole_sent) = (Some(next), None);
    }

    /// It may have nothing of what was sent.
    pub(super) fn note_hello(&mut self, next: Tick) {
        self.owed.get_or_insert(next);
    }

    /// What this client has cannot be right from the state `since` on: it is owed a canonical one. The last was of `image`.
    pub(super) fn owe(&mut self, since: Tick, image: Option<Tick>) {
        if self.owed.is_none_or(|before| image >= Some(before)) {
            self.owed = Some(since);
        }
    }

    /// The client has told that it has the state `known`, and from which on it does not agree.
    pub(super) fn note(&mut self, known: Option<Tick>, disagrees: Option<Tick>, image: Option<Tick>, rate: TickRate) {
        if self.owed.is_some_and(|since| image >= Some(since) && known >= image) {
            self.owed = None;
        }
        match disagrees.filter(|tick| Some(*tick) > known) {
            Some(tick) => {
                self.disagreed = Some(tick);
                // One that is on its way may help: it comes until it is acknowledged.
                if known >= image || self.owed.is_none() {
                    self.owe(tick, image);
                }
            }
            // One that never agrees has what it was sent of a canonical state, and asks no more until the next one.
            None => {
                let apart = rate.ticks_in(CANONICAL_APART * (1 << WAITS_MAX));
                self.disagreed = self.disagreed.filter(|since| known < Some(*since + apart));
                if self.disagreed.is_none() && self.owed.is_none() {
                    self.canonical_waits = 0;
                }
            }
        }
    }

    /// Whether it waits for a canonical tick, this many ticks after the last one; `apart` is the least distance.
    pub(super) fn waits(&self, image: Option<Tick>, since_last: u32, apart: u32) -> bool {
        self.owed.is_some_and(|since| image < Some(since)) && since_last >= apart << self.canonical_waits
    }

    /// A canonical tick is announced for it. Whom the last ones have not helped waits longer and longer, so that one client
    /// that never agrees costs the others little.
    pub(super) fn note_announced(&mut self) {
        self.canonical_waits = (self.canonical_waits + 1).min(WAITS_MAX);
    }

    /// Whether it is owed the canonical state `image`.
    pub(super) fn is_owed(&self, image: Tick) -> bool {
        self.owed.is_some_and(|since| since <= image)
    }

    /// Whether it is owed any.
    pub(super) fn is_wrong(&self) -> bool {
        self.owed.is_some()
    }

    /// Whether so long has passed since it was last sent a whole state that it may be sent the one of `tick`.
    pub(super) fn is_due(&self, tick: Tick, rate: TickRate) -> bool {
        self.whole_sent.is_none_or(|sent| tick.since(sent) >= rate.ticks_in(WHOLE_APART))
    }

    /// It is sent a whole state, with or as that of `tick`.
    pub(super) fn note_whole(&mut self, tick: Tick) {
        self.whole_sent = Some(tick);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const RATE: TickRate = TickRate::hz(64);

    #[test]
    fn a_client_is_owed_a_canonical_state_until_it_has_one_that_is_late_enough() {
        let mut agreement = Agreement::new(Tick::new(9));
        assert!(agreement.waits(None, u32::MAX, 32) && !agreement.is_owed(Tick::new(9)));
        let image = Some(Tick::new(20));
        assert!(!agreement.waits(image, u32::MAX, 32) && agreement.is_owed(Tick::new(20)));
        agreement.note(Some(Tick::new(19)), None, image, RATE);
        assert!(agreement.is_wrong(), "it does not have it yet");
        agreement.note(image, None, image, RATE);
        assert!(!agreement.is_wrong());
        agreement.note(image, Some(Tick::new(30)), image, RATE);
        assert!(agreement.is_wrong() && agreement.waits(image, u32::MAX, 32));
    }

    #[test]
    fn who_never_agrees_waits_longer_and_longer_for_canonical_ticks() {
        let mut agreement = Agreement::new(Tick::ZERO);
        let mut waits = Vec::new();
        for _ in 0..4 {
            waits.push((0..200).find(|since_last| agreement.waits(None, *since_last, 32)));
            agreement.note_announced();
        }
        assert_eq!(waits, [Some(32), Some(64), Some(128), Some(128)]);
    }
}
