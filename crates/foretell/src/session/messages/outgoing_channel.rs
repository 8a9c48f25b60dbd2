//! The messages of one kind that are to be sent, and what of each is under way or has come.

use super::fragment::{FragmentName, WINDOW, fragments_of};
use crate::world::Delivery;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// How many unreliable messages wait for their turn; of more the newest do.
const UNRELIABLE_MAX: usize = 64;

/// What has become of a fragment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Waiting,
    UnderWay,
    Come,
}

/// A message that has not come yet, as far as is known.
struct Unsent {
    number: u16,
    bytes: Arc<[u8]>,
    fragments: Vec<Fate>,
    /// Whether a fragment of it was ever sent.
    is_begun: bool,
    /// No fragment before this one is waiting.
    waiting_from: usize,
    /// How many have not come.
    left: usize,
}

impl Unsent {
    fn next_waiting(&mut self) -> Option<u32> {
        let waiting = self.fragments[self.waiting_from..].iter().position(|fate| *fate == Fate::Waiting);
        self.waiting_from = waiting.map_or(self.fragments.len(), |waiting| self.waiting_from + waiting);
        waiting.and_then(|_| u32::try_from(self.waiting_from).ok())
    }

    fn is_large(&self) -> bool {
        self.fragments.len() > 1
    }
}

/// Lives as long as the exchange.
pub(super) struct OutgoingChannel {
    delivery: Delivery,
    next: u16,
    queue: VecDeque<Unsent>,
    /// Whether of the newest ones that take several fragments one was given up when a part of it was sent, and none has come since.
    has_given_up: bool,
}

impl OutgoingChannel {
    pub(super) fn new(delivery: Delivery) -> OutgoingChannel {
        OutgoingChannel { delivery, next: 0, queue: VecDeque::new(), has_given_up: false }
    }

    /// One more is to be sent. Returns how many bytes of others are not, because of it.
    pub(super) fn push(&mut self, bytes: Arc<[u8]>) -> usize {
        let mut dropped = 0;
        let is_begun = self.queue.front().is_some_and(|first| first.is_begun && first.is_large());
        // Of the newest one goes on where the one before it did not. Where there is more than fits, each would else take the place of
        // one of which a part is there, and none ever come; and the last would else wait for an old one that takes long.
        let goes_on = is_begun && (self.has_given_up || self.delivery != Delivery::Newest);
        self.has_given_up |= is_begun && !goes_on;
        let kept_max = match self.delivery {
            Delivery::Newest => usize::from(goes_on),
            Delivery::Unreliable => UNRELIABLE_MAX - 1,
            _ => usize::MAX,
        };
        while self.queue.len() > kept_max {
            dropped += self.drop_at(usize::from(goes_on));
        }
        let count = fragments_of(bytes.len());
        let fragments = alloc::vec![Fate::Waiting; count];
        self.queue.push_back(Unsent {
            number: self.next,
            bytes,
            fragments,
            is_begun: false,
            waiting_from: 0,
            left: count,
        });
        self.next = self.next.wrapping_add(1);
        dropped
    }

    /// How many messages wait or are under way.
    pub(super) fn kept(&self) -> usize {
        self.queue.len()
    }

    /// Whether one more never takes the place of others.
    pub(super) fn keeps_all(&self) -> bool {
        !matches!(self.delivery, Delivery::Newest | Delivery::Unreliable)
    }

    /// Returns how many bytes it has. Where none of it was sent the later ones take its number: to the other end those that are sent
    /// follow each other, however many are not.
    fn drop_at(&mut self, at: usize) -> usize {
        let Some(dropped) = self.queue.remove(at) else { return 0 };
        if !dropped.is_begun {
            let later = self.queue.iter_mut().skip(at);
            later.for_each(|unsent| unsent.number = unsent.number.wrapping_sub(1));
            self.next = self.next.wrapping_sub(1);
        }
        dropped.bytes.len()
    }

    /// What need not come and waits would be old by the time that it is sent. Returns how many bytes it has.
    pub(super) fn drop_unreliable(&mut self) -> usize {
        let mut dropped = 0;
        while self.delivery == Delivery::Unreliable && !self.queue.is_empty() {
            dropped += self.drop_at(0);
        }
        dropped
    }

    /// The fragment that is to be sent next, of this kind, and its message. Of those that take more than one fragment no second is begun
    /// before the first has come, and of ordered ones none before all earlier ones have: so who receives them needs room for one.
    pub(super) fn next_fragment(&mut self, kind: usize) -> Option<(FragmentName, Arc<[u8]>)> {
        let first = self.queue.front()?.number;
        let mut is_large_begun = false;
        for unsent in &mut self.queue {
            let is_within = unsent.number.wrapping_sub(first) < WINDOW;
            if !is_within {
                return None;
            }
            let is_early = self.delivery == Delivery::Ordered && unsent.number != first;
            if unsent.is_large() && (is_early || core::mem::replace(&mut is_large_begun, true)) {
                continue;
            }
            if let Some(index) = unsent.next_waiting() {
                let name = FragmentName { kind, number: unsent.number, index };
                return Some((name, unsent.bytes.clone()));
            }
        }
        None
    }

    /// A fragment is under way. Returns how many bytes are not kept any more.
    pub(super) fn note_sent(&mut self, name: FragmentName) -> usize {
        self.set(name, Fate::UnderWay);
        let is_over = |unsent: &mut Unsent| unsent.next_waiting().is_none();
        let is_unreliable = self.delivery == Delivery::Unreliable;
        let done = self.queue.pop_front_if(|unsent| is_unreliable && unsent.number == name.number && is_over(unsent));
        done.map_or(0, |done| done.bytes.len())
    }

    /// It is known whether a fragment has come. Returns how many bytes are not kept any more.
    pub(super) fn settle(&mut self, name: FragmentName, has_come: bool) -> usize {
        // What is unreliable is not sent again.
        let lost = if self.delivery == Delivery::Unreliable { Fate::UnderWay } else { Fate::Waiting };
        self.set(name, if has_come { Fate::Come } else { lost });
        let Some(at) = self.position(name.number).filter(|at| self.queue[*at].left == 0) else { return 0 };
        self.has_given_up &= !self.queue[at].is_large();
        self.queue.remove(at).map_or(0, |done| done.bytes.len())
    }

    fn set(&mut self, name: FragmentName, fate: Fate) {
        let Some(at) = self.position(name.number) else { return };
        let unsent = &mut self.queue[at];
        let index = name.index as usize;
        let Some(known) = unsent.fragments.get_mut(index).filter(|known| **known != Fate::Come) else { return };
        *known = fate;
        unsent.is_begun = true;
        unsent.left -= usize::from(fate == Fate::Come);
        if fate == Fate::Waiting {
            unsent.waiting_from = unsent.waiting_from.min(index);
        }
    }

    fn position(&self, number: u16) -> Option<usize> {
        let first = self.queue.front()?.number;
        let offset = number.wrapping_sub(first);
        self.queue.binary_search_by_key(&offset, |unsent| unsent.number.wrapping_sub(first)).ok()
    }
}
