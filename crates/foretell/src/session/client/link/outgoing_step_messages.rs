//! The own messages that are part of steps, until it is known that the server has them.

use crate::session::SendError;
use crate::session::messages::{STEP_MESSAGE_BYTES_MAX, STEP_MESSAGES_MAX, StepList, StepMessage};
use crate::time::Tick;
use crate::wire::BitWriter;
use crate::world::Messages;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Of how many datagrams it is remembered what stood in them.
const SENT_MAX: usize = 256;

/// A datagram, and the number of the first message that did not stand in it.
struct Sent {
    sequence: u16,
    until: u32,
}

/// Lives as long as a session.
pub(crate) struct OutgoingStepMessages {
    list: StepList,
    sent: VecDeque<Sent>,
}

impl OutgoingStepMessages {
    /// Of a session that begins in this tick.
    pub(crate) fn new(begins: Tick) -> OutgoingStepMessages {
        let list = StepList { opening: begins.get(), first: 0, messages: Vec::new() };
        OutgoingStepMessages { list, sent: VecDeque::new() }
    }

    /// Takes a message that is part of the step of `tick`, or of that of the newest one before it, if that is later. Returns its number.
    pub(crate) fn push(&mut self, tick: Tick, kind: usize, bytes: Arc<[u8]>) -> Result<(u32, Tick), SendError> {
        let StepList { first, messages, .. } = &mut self.list;
        let waiting: usize = messages.iter().map(|message| message.bytes.len()).sum();
        if messages.len() >= STEP_MESSAGES_MAX || waiting + bytes.len() > STEP_MESSAGE_BYTES_MAX {
            return Err(SendError::Full);
        }
        let tick = messages.last().map_or(tick, |last| last.tick.max(tick));
        let number = u32::try_from(messages.len()).unwrap_or(u32::MAX).wrapping_add(*first);
        messages.push(StepMessage { tick, kind, bytes });
        Ok((number, tick))
    }

    /// Writes those up to the tick `newest`. How many those are.
    pub(crate) fn write(&self, writer: &mut BitWriter<'_>, newest: Tick, kinds: &Messages) -> usize {
        self.list.write(writer, newest, kinds)
    }

    /// Notes that the datagram with this number is sent with the first `count` of them.
    pub(crate) fn note_sent(&mut self, sequence: u16, count: usize) {
        if count == 0 {
            return;
        }
        if self.sent.len() == SENT_MAX {
            self.sent.pop_front();
        }
        let until = self.list.first + u32::try_from(count).unwrap_or(u32::MAX);
        self.sent.push_back(Sent { sequence, until });
    }

    /// The server has the datagram of this number.
    pub(crate) fn note_heard(&mut self, sequence: u16) {
        let Some(at) = self.sent.iter().position(|sent| sent.sequence == sequence) else { return };
        let until = self.sent[at].until;
        self.sent.drain(..=at);
        let StepList { first, messages, .. } = &mut self.list;
        let come = until.saturating_sub(*first) as usize;
        messages.drain(..come.min(messages.len()));
        *first = until.max(*first);
    }
}
