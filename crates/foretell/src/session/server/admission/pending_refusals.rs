//! Refusals that are to be sent, and the nonces that are not let in.

use crate::session::datagram::DatagramKind;
use crate::session::refusal_message::Refused;
use crate::session::{Departure, Outbox, PeerId, Refusal};
use crate::wire::BitWriter;
use crate::world::Reason;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

/// How many nonces are remembered, the newest, of those that are not let in, and of those that were told so: late copies of
/// their hellos mean nothing, and a hello that is repeated is no other refusal.
const NONCES_KEPT: usize = 64;
/// How many refusals one update sends.
const REFUSALS_MAX: usize = 64;
/// Who did not come into play is refused for so long, as a client that has not heard of it asks on: three times as long as it
/// does by default. After that whoever has the nonce may try again.
const UNPLAYED_KEPT: Duration = Duration::from_secs(30);

/// Who has not asked for so long, and is refused again, asks anew: a client that waits for an answer asks every quarter of a
/// second, and one that hears nothing gives up by then.
const ASKS_APART: Duration = Duration::from_secs(10);

/// A refusal that is to be sent.
#[derive(Debug)]
struct Pending {
    to: PeerId,
    refused: Refused,
}

/// A nonce that is not let in.
#[derive(Clone, Copy, Debug)]
struct Barred {
    nonce: u64,
    why: Refusal,
    /// When it may try again, by the time that the server was awake; `None` for never.
    until: Option<Duration>,
    /// Over which connection they were removed.
    removed_at: Option<PeerId>,
}

/// A refusal that was reported.
#[derive(Clone, Copy, Debug)]
struct ToldRefusal {
    nonce: u64,
    why: Refusal,
    /// When it was said last.
    last: Duration,
}

/// Who is not, or not any more, let in.
#[derive(Debug)]
pub(super) struct PendingRefusals {
    /// Oldest first; at most 64.
    barred: VecDeque<Barred>,
    /// Who was told why, oldest first; at most 64.
    told: VecDeque<ToldRefusal>,
    /// To be sent with the next update, at most 64.
    pending: Vec<Pending>,
}

impl Default for PendingRefusals {
    /// Nobody, with room for what one update sends: no datagram makes it grow.
    fn default() -> PendingRefusals {
        let pending = Vec::with_capacity(REFUSALS_MAX);
        PendingRefusals { barred: VecDeque::new(), told: VecDeque::new(), pending }
    }
}

impl PendingRefusals {
    /// Tells who is at `to` why they are refused. Whether that is another refusal than those before.
    pub(super) fn refuse(&mut self, to: PeerId, refused: Refused, awake: Duration) -> bool {
        if self.pending.len() < REFUSALS_MAX {
            self.pending.push(Pending { to, refused });
        }
        let Refused { nonce, why, .. } = refused;
        if self.bars(nonce, awake).is_some_and(|why| why != Refusal::Gone) {
            // That was reported when the place was given up.
            return false;
        }
        let known = self.told.iter_mut().find(|told| (told.nonce, told.why) == (nonce, why));
        if let Some(known) = known {
            return awake - core::mem::replace(&mut known.last, awake) >= ASKS_APART;
        }
        push(&mut self.told, ToldRefusal { nonce, why, last: awake });
        true
    }

    /// The player with this nonce has left. One who said good-bye, or was replaced by another, is refused from now on.
    pub(super) fn note_left(&mut self, nonce: Option<u64>, why: Departure) {
        if let (Some(nonce), Departure::GoodBye(_) | Departure::Replaced) = (nonce, why) {
            push(&mut self.barred, Barred { nonce, why: Refusal::Gone, until: None, removed_at: None });
        }
    }

    /// The client with this nonce has not come into play. Where there was no place for them, one may be free the next moment.
    pub(super) fn note_unplayed(&mut self, nonce: u64, why: Refusal, awake: Duration) {
        if why != Refusal::Full {
            push(&mut self.barred, Barred { nonce, why, until: Some(awake + UNPLAYED_KEPT), removed_at: None });
        }
    }

    /// Whoever has this nonce and has played from `address` was removed, and is told so.
    pub(super) fn note_removed(&mut self, nonce: Option<u64>, address: PeerId, reason: Reason, awake: Duration) {
        let Some(nonce) = nonce else { return };
        let (why, removed_at) = (Refusal::Removed(reason), Some(address));
        self.refuse(address, Refused::new(nonce, why), awake);
        push(&mut self.barred, Barred { nonce, why, until: None, removed_at });
    }

    /// What to tell who still plays over a connection over which somebody was removed.
    pub(super) fn removed_from(&self, address: PeerId) -> Option<Refused> {
        let last = self.barred.iter().rev().find(|barred| barred.removed_at == Some(address));
        last.map(|Barred { nonce, why, .. }| Refused::new(*nonce, *why))
    }

    /// Why a nonce is not let in, if so.
    pub(super) fn bars(&self, nonce: u64, awake: Duration) -> Option<Refusal> {
        let is_in_force = |barred: &&Barred| barred.until.is_none_or(|until| awake < until);
        let of_nonce = self.barred.iter().rev().filter(|barred| barred.nonce == nonce);
        of_nonce.filter(is_in_force).map(|barred| barred.why).next()
    }

    /// Sends all that wait.
    pub(super) fn send(&mut self, outbox: &mut Outbox) {
        for Pending { to, mut refused } in self.pending.drain(..) {
            outbox.push(to, |bytes| {
                let mut writer = BitWriter::new(bytes);
                DatagramKind::Refused.write(&mut writer);
                refused.stream(&mut writer).expect("writing never fails");
            });
        }
    }

    /// How much it keeps of what has come.
    pub(super) fn kept(&self) -> usize {
        self.barred.len() + self.told.len() + self.pending.len()
    }
}

/// Appends to a list of the newest.
fn push<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() == NONCES_KEPT {
        list.pop_front();
    }
    list.push_back(item);
}
