//! Refusals that are to be sent, and the nonces that have had their place.

use crate::session::greeting::{Refusal, Refused};
use crate::session::packet::Message;
use crate::session::{Outbox, PeerId};
use crate::wire::BitWriter;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How many nonces that have had their place are remembered, the newest: late copies of their hellos mean nothing.
const GONE_KEPT: usize = 64;
/// How many refusals one update sends.
const REFUSALS_MAX: usize = 64;

/// A refusal that is to be sent.
#[derive(Debug)]
struct Pending {
    to: PeerId,
    refused: Refused,
}

/// Who is not, or not any more, let in.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// Nonces whose players have left or were removed, oldest first; at most 64.
    gone: VecDeque<u64>,
    /// To be sent with the next update, at most 64.
    pending: Vec<Pending>,
}

impl Refusals {
    /// Tells who is at `to` why they are refused.
    pub(super) fn refuse(&mut self, to: PeerId, nonce: u64, why: Refusal) {
        self.push(to, Refused { nonce, why, part: 0 });
    }

    /// The same, where a part of the rules differs.
    pub(super) fn refuse_rules(&mut self, to: PeerId, nonce: u64, part: u8) {
        self.push(to, Refused { nonce, why: Refusal::Rules, part });
    }

    fn push(&mut self, to: PeerId, refused: Refused) {
        if self.pending.len() < REFUSALS_MAX {
            self.pending.push(Pending { to, refused });
        }
    }

    /// Whoever has this nonce has had their place.
    pub(super) fn note_gone(&mut self, nonce: u64) {
        self.gone.push_back(nonce);
        let surplus = self.gone.len().saturating_sub(GONE_KEPT);
        self.gone.drain(..surplus);
    }

    pub(super) fn is_gone(&self, nonce: u64) -> bool {
        self.gone.contains(&nonce)
    }

    /// Sends all that wait.
    pub(super) fn send(&mut self, outbox: &mut Outbox) {
        for Pending { to, mut refused } in self.pending.drain(..) {
            outbox.push(to, |bytes| {
                let mut writer = BitWriter::new(bytes);
                Message::Refused.write(&mut writer);
                refused.stream(&mut writer).expect("writing never fails");
            });
        }
    }

    /// How much it keeps of what has come.
    pub(super) fn kept(&self) -> usize {
        self.gone.len() + self.pending.len()
    }
}
