//! The messages of one kind that come: put together of their fragments, told once, and in order where that is asked for.

use super::fragment::{Fragment, WINDOW, fragments_of};
use crate::wire::Malformed;
use crate::world::Delivery;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// A message that takes more than one fragment, as far as it has come.
struct Partial {
    number: u16,
    total: usize,
    /// Those that have come: whoever claims a large message has to send one before anything takes room.
    fragments: BTreeMap<u32, Vec<u8>>,
}

/// Lives as long as the exchange.
pub(super) struct IncomingChannel {
    delivery: Delivery,
    /// The number of the first message that has not been told. Of the newest, and of unreliable ones, the first that is newer than
    /// all that were told.
    next: u16,
    /// Later ones that were told before it; by how much they are later is below [`WINDOW`].
    told: BTreeSet<u16>,
    /// Complete ones that wait for it.
    early: BTreeMap<u16, Vec<u8>>,
    partial: Option<Partial>,
}

impl IncomingChannel {
    pub(super) fn new(delivery: Delivery) -> IncomingChannel {
        IncomingChannel { delivery, next: 0, told: BTreeSet::new(), early: BTreeMap::new(), partial: None }
    }

    /// How many bytes of the message have come that is being put together, and how many it has.
    pub(super) fn progress(&self) -> Option<(usize, usize)> {
        let partial = self.partial.as_ref()?;
        Some((partial.fragments.values().map(Vec::len).sum(), partial.total))
    }

    /// How many messages wait for fragments of theirs or for earlier ones, or are remembered because they came before those.
    pub(super) fn kept(&self) -> usize {
        self.told.len() + self.early.len() + usize::from(self.partial.is_some())
    }

    /// How many bytes of messages wait.
    pub(super) fn kept_bytes(&self) -> usize {
        let early: usize = self.early.values().map(Vec::len).sum();
        early + self.progress().map_or(0, |(come, _)| come)
    }

    /// Whether a fragment may be taken: it is of a message that an honest end may send now.
    pub(super) fn check(&self, fragment: &Fragment) -> Result<(), Malformed> {
        if self.delivery == Delivery::InStep {
            return Err(Malformed::OutOfRange("kind of message"));
        }
        let is_reliable = matches!(self.delivery, Delivery::Ordered | Delivery::Unordered);
        if !is_reliable || self.is_past(fragment.name.number) {
            return Ok(());
        }
        if fragment.name.number.wrapping_sub(self.next) >= WINDOW {
            return Err(Malformed::OutOfRange("number of a message"));
        }
        let is_large = fragments_of(fragment.total) > 1;
        if is_large && self.delivery == Delivery::Ordered && fragment.name.number != self.next {
            return Err(Malformed::OutOfRange("number of a large message"));
        }
        let other = self.partial.as_ref().filter(|_| is_large);
        let differs = |partial: &Partial| (partial.number, partial.total) != (fragment.name.number, fragment.total);
        if other.is_some_and(differs) {
            return Err(Malformed::OutOfRange("message beside one that has not come"));
        }
        Ok(())
    }

    /// Takes a fragment that was [checked](IncomingChannel::check), and calls `tell` with the bytes of each message that is to be told
    /// now.
    pub(super) fn take(&mut self, fragment: Fragment, mut tell: impl FnMut(&[u8])) {
        let number = fragment.name.number;
        if self.is_past(number) || self.early.contains_key(&number) {
            return;
        }
        let Some(bytes) = self.complete(fragment) else { return };
        match self.delivery {
            Delivery::Ordered | Delivery::InStep => {
                self.early.insert(number, bytes);
                while let Some(bytes) = self.early.remove(&self.next) {
                    self.next = self.next.wrapping_add(1);
                    tell(&bytes);
                }
            }
            Delivery::Unordered => {
                self.told.insert(number);
                while self.told.remove(&self.next) {
                    self.next = self.next.wrapping_add(1);
                }
                tell(&bytes);
            }
            Delivery::Newest | Delivery::Unreliable => {
                if !self.is_behind(number) {
                    self.next = number.wrapping_add(1);
                }
                self.forget_stale();
                tell(&bytes);
            }
        }
    }

    /// Whether a message is not to be told any more, if it comes.
    fn is_past(&self, number: u16) -> bool {
        match self.delivery {
            Delivery::Ordered | Delivery::Unordered | Delivery::InStep => {
                self.is_behind(number) || self.told.contains(&number)
            }
            Delivery::Newest => self.is_behind(number),
            // The same datagram never counts twice.
            Delivery::Unreliable => false,
        }
    }

    /// Of what need not come one that is in part is not waited for any more, where much later ones have come.
    fn forget_stale(&mut self) {
        let behind_max = if self.delivery == Delivery::Newest { 0 } else { WINDOW };
        let next = self.next;
        self.partial.take_if(|partial| next.wrapping_sub(partial.number).cast_signed() > behind_max.cast_signed());
    }

    fn is_behind(&self, number: u16) -> bool {
        number.wrapping_sub(self.next).cast_signed() < 0
    }

    /// The message, if all of it is there.
    fn complete(&mut self, fragment: Fragment) -> Option<Vec<u8>> {
        let Fragment { name, total, bytes } = fragment;
        if fragments_of(total) == 1 {
            return Some(bytes);
        }
        let is_same = |partial: &Partial| (partial.number, partial.total) == (name.number, total);
        if !self.partial.as_ref().is_some_and(is_same) {
            let is_newer = |partial: &Partial| name.number.wrapping_sub(partial.number).cast_signed() > 0;
            if !self.partial.as_ref().is_none_or(is_newer) {
                return None;
            }
            self.partial = Some(Partial { number: name.number, total, fragments: BTreeMap::new() });
        }
        let partial = self.partial.as_mut()?;
        partial.fragments.entry(name.index).or_insert(bytes);
        if partial.fragments.len() < fragments_of(total) {
            return None;
        }
        let partial = self.partial.take()?;
        Some(partial.fragments.into_values().flatten().collect())
    }
}
