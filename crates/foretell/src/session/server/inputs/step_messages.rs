//! The messages of one player that are part of steps: from when they come to the step that has them.

use crate::session::messages::{StepList, StepMessage};
use crate::session::packet::{LATE_MESSAGES_MAX, LateMessage, NAMED_TICKS_BACK};
use crate::time::Tick;
use crate::world::{Messages, PlayerId, ReceivedMessage};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How many may wait for their ticks; more are dropped.
const WAITING_MAX: usize = 64;
/// None waits for a tick that is further ahead.
const TICKS_AHEAD_MAX: u32 = 64;

/// A message that waits for its tick.
struct Waiting {
    tick: Tick,
    number: u32,
    message: ReceivedMessage,
}

/// A message that was in a later step than its client has it.
struct PutOff {
    number: u32,
    tick: Tick,
}

/// Lives as long as the place.
#[derive(Default)]
pub(crate) struct StepMessages {
    /// The tick in which the client's session began.
    opening: Option<u32>,
    /// The number of the next that is new.
    next: u32,
    waiting: VecDeque<Waiting>,
    put_off: VecDeque<PutOff>,
}

impl StepMessages {
    /// Takes what is new of those of a datagram, at the server's tick `next`. How many were none of their kind, or too many.
    pub(crate) fn take(&mut self, from: PlayerId, list: &StepList, kinds: &Messages, next: Tick) -> u64 {
        if list.messages.is_empty() || self.opening.is_some_and(|opening| opening > list.opening) {
            return 0;
        }
        if self.opening.replace(list.opening) != Some(list.opening) {
            self.next = 0;
            self.put_off.clear();
        }
        let mut refused = 0;
        for (number, StepMessage { tick, kind, bytes }) in (list.first..).zip(&list.messages) {
            if number < self.next {
                continue;
            }
            self.next = number + 1;
            let kind = &kinds.kinds()[*kind];
            match kind.decode(bytes).filter(|_| self.waiting.len() < WAITING_MAX) {
                Some(content) => {
                    let tick = (*tick).min(next + TICKS_AHEAD_MAX);
                    let tick = self.waiting.back().map_or(tick, |last| last.tick.max(tick));
                    let message = ReceivedMessage::new(from, kind, content);
                    self.waiting.push_back(Waiting { tick, number, message });
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
            self.waiting.push_back(Waiting { tick: next, number: 0, message });
        }
        has_room
    }

    /// Gives the step of `tick` those that belong to it, and those that have come too late for theirs.
    pub(crate) fn give(&mut self, tick: Tick, into: &mut Vec<ReceivedMessage>) {
        while let Some(waiting) = self.waiting.pop_front_if(|waiting| waiting.tick <= tick) {
            if waiting.tick < tick {
                self.put_off.push_back(PutOff { number: waiting.number, tick });
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
        let told = self.put_off.iter().take(LATE_MESSAGES_MAX);
        into.extend(told.map(|late| LateMessage { number: late.number, back: tick.since(late.tick) }));
    }

    /// The client knows of everything before `tick`.
    pub(crate) fn acknowledge(&mut self, tick: Tick) {
        while self.put_off.front().is_some_and(|oldest| oldest.tick < tick) {
            self.put_off.pop_front();
        }
    }

    /// How much it keeps.
    pub(crate) fn kept(&self) -> usize {
        self.waiting.len() + self.put_off.len()
    }
}
