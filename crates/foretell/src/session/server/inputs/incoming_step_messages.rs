//! The messages of one player that are part of steps: from when they come to the step that has them.

use crate::session::datagram::NAMED_TICKS_BACK;
use crate::session::messages::{StepList, StepMessage};
use crate::session::snapshot_header::{LATE_MESSAGES_MAX, LateMessage};
use crate::time::Tick;
use crate::world::{Messages, PlayerId, ReceivedMessage};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How many may wait for their ticks; more are dropped.
const WAITING_MAX: usize = 64;
/// None waits for a tick that is further ahead: 16 s at 64 Hz, more than a client goes on while its server stands still.
const TICKS_AHEAD_MAX: u32 = 1024;

/// As which of its messages, and in which step, a client has it.
#[derive(Clone, Copy)]
struct Meant {
    number: u32,
    tick: Tick,
}

/// A message that waits for its tick.
struct Waiting {
    tick: Tick,
    /// None where no client waits to hear of it.
    meant: Option<Meant>,
    message: ReceivedMessage,
}

/// A message that was in a later step than its client has it.
struct PutOff {
    number: u32,
    tick: Tick,
}

/// Lives as long as the place.
#[derive(Default)]
pub(crate) struct IncomingStepMessages {
    /// The tick in which the client's session began.
    opening: Option<u32>,
    /// The number of the next that is new.
    next: u32,
    waiting: VecDeque<Waiting>,
    put_off: VecDeque<PutOff>,
}

impl IncomingStepMessages {
    /// Takes what is new of those of a datagram, at the server's tick `next`. How many were none of their kind, or too many.
    pub(crate) fn take(&mut self, from: PlayerId, list: &StepList, kinds: &Messages, next: Tick) -> u64 {
        if list.messages.is_empty() || self.opening.is_some_and(|opening| opening > list.opening) {
            return 0;
        }
        if self.opening.replace(list.opening) != Some(list.opening) {
            self.next = 0;
            self.forget_client();
        }
        let mut refused = 0;
        for (StepMessage { tick, kind, bytes }, number) in list.messages.iter().zip(list.first..) {
            if number < self.next {
                continue;
            }
            self.next = number.saturating_add(1);
            let kind = &kinds.kinds()[*kind];
            match kind.decode(bytes).filter(|_| self.waiting.len() < WAITING_MAX) {
                Some(content) => {
                    let meant = Some(Meant { number, tick: *tick });
                    let tick = (*tick).min(next + TICKS_AHEAD_MAX);
                    let tick = self.waiting.back().map_or(tick, |last| last.tick.max(tick));
                    let message = ReceivedMessage::new(from, kind, content);
                    self.waiting.push_back(Waiting { tick, meant, message });
                }
                None => refused += 1,
            }
        }
        refused
    }

    /// Takes one of a player who sits at the server, for its next step. Whether there was room.
    pub(crate) fn take_here(&mut self, message: ReceivedMessage, next: Tick) -> bool {
        let has_room = self.waiting.len() < WAITING_MAX;
        if has_room {
            self.waiting.push_back(Waiting { tick: next, meant: None, message });
        }
        has_room
    }

    /// Gives the step of `tick` those that belong to it, and those that have come too late for theirs.
    pub(crate) fn give(&mut self, tick: Tick, into: &mut Vec<ReceivedMessage>) {
        while let Some(waiting) = self.waiting.pop_front_if(|waiting| waiting.tick <= tick) {
            if let Some(meant) = waiting.meant.filter(|meant| meant.tick < tick) {
                self.put_off.push_back(PutOff { number: meant.number, tick });
            }
            into.push(waiting.message);
        }
        while self.put_off.front().is_some_and(|oldest| tick.since(oldest.tick) >= NAMED_TICKS_BACK) {
            self.put_off.pop_front();
        }
    }

    /// Which were put off, as far as the client may not know of it, before the state `tick`.
    pub(crate) fn tell(&self, tick: Tick, into: &mut Vec<LateMessage>) {
        into.clear();
        let told = self.put_off.iter().filter(|late| late.tick < tick).take(LATE_MESSAGES_MAX);
        into.extend(told.map(|late| LateMessage { number: late.number, back: tick.since(late.tick) }));
    }

    /// The client knows of everything before `tick`.
    pub(crate) fn acknowledge(&mut self, tick: Tick) {
        while self.put_off.front().is_some_and(|oldest| oldest.tick < tick) {
            self.put_off.pop_front();
        }
    }

    /// Another client has the place: it has sent none of them.
    pub(crate) fn forget_client(&mut self) {
        self.put_off.clear();
        self.waiting.iter_mut().for_each(|waiting| waiting.meant = None);
    }

    /// How much it keeps.
    pub(crate) fn kept(&self) -> usize {
        self.waiting.len() + self.put_off.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Delivery, Message};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Buy(u8);

    impl Message for Buy {
        const NAME: &'static str = "Buy";
        const DELIVERY: Delivery = Delivery::InStep;
        const BYTES_MAX: u32 = 8;
    }

    fn list(opening: u32, first: u32, ticks: &[u32]) -> StepList {
        let message = |tick: &u32| StepMessage { tick: Tick::new(*tick), kind: 0, bytes: Messages::encode(&Buy(1)) };
        StepList { opening, first, messages: ticks.iter().map(message).collect() }
    }

    fn told(messages: &IncomingStepMessages, tick: u32) -> Vec<(u32, u32)> {
        let mut told = Vec::new();
        messages.tell(Tick::new(tick), &mut told);
        told.iter().map(|late| (late.number, late.back)).collect()
    }

    #[test]
    fn numbers_up_to_the_last_are_taken() {
        let (kinds, mut messages) = (Messages::new().with::<Buy>(), IncomingStepMessages::default());
        let list = list(0, u32::MAX - 16, &[5; 16]);
        assert_eq!(messages.take(PlayerId::new(1), &list, &kinds, Tick::new(5)), 0);
        assert_eq!(messages.kept(), 16);
    }

    #[test]
    fn what_was_said_while_the_server_stood_still_waits_for_its_tick() {
        let (kinds, mut messages, mut given) =
            (Messages::new().with::<Buy>(), IncomingStepMessages::default(), Vec::new());
        messages.take(PlayerId::new(1), &list(0, 0, &[205, 5000]), &kinds, Tick::new(100));
        let hears = |messages: &mut IncomingStepMessages, tick: u32, given: &mut Vec<ReceivedMessage>| {
            messages.give(Tick::new(tick), given);
            given.len()
        };
        let heard = [204, 205, 1123, 1124].map(|tick| hears(&mut messages, tick, &mut given));
        assert_eq!(heard, [0, 1, 1, 2], "what no honest client is ahead by waits for no longer");
    }

    #[test]
    fn a_client_is_told_of_what_was_later_than_it_has_it_and_not_of_what_another_has_sent() {
        let (kinds, mut messages, mut given) =
            (Messages::new().with::<Buy>(), IncomingStepMessages::default(), Vec::new());
        messages.take(PlayerId::new(1), &list(0, 0, &[3, 9]), &kinds, Tick::new(5));
        messages.give(Tick::new(5), &mut given);
        assert_eq!((given.len(), told(&messages, 5), told(&messages, 6)), (1, vec![], vec![(0, 1)]));
        // The player comes again while one waits.
        messages.take(PlayerId::new(1), &list(8, 0, &[7]), &kinds, Tick::new(8));
        (8..10).for_each(|tick| messages.give(Tick::new(tick), &mut given));
        assert_eq!((given.len(), told(&messages, 10)), (3, vec![(0, 1)]));
        messages.forget_client();
        assert_eq!(told(&messages, 10), vec![]);
    }
}
