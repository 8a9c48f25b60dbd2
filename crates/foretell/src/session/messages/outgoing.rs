//! All messages that are to be sent, in turns of their kinds, within a bound of what waits.

use super::fragment::{FragmentName, fragment_bytes_max};
use super::outgoing_channel::OutgoingChannel;
use crate::world::{MessageKind, Messages};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// Why a message is not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SendError {
    /// There is no session, or nobody of this number in it; or it is part of a step, in which a spectator has none.
    NotPlaying,
    /// It takes more bytes than its kind may.
    TooLarge {
        /// How many it takes.
        bytes: usize,
        /// How many it may.
        max: usize,
    },
    /// So much waits to be sent already that this has no room; nothing of it is lost. Try again later. Never said of newest and
    /// unreliable ones, which take the place of older ones of their kind.
    Full,
    /// Only a client sends messages of this kind: they are part of a step.
    OfClients,
    /// The bytes are no message of their kind.
    Senseless,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::NotPlaying => f.write_str("nobody is there to send the message to"),
            SendError::TooLarge { bytes, max } => {
                write!(f, "the message takes {bytes} bytes, and one of its kind {max} at most")
            }
            SendError::Full => f.write_str("too much waits to be sent already"),
            SendError::Senseless => f.write_str("the bytes are no message of their kind"),
            SendError::OfClients => f.write_str("a message that is part of a step is sent by clients alone"),
        }
    }
}

impl core::error::Error for SendError {}

/// Whether these bytes have room in a message of this kind.
pub(crate) fn check_size(kind: &MessageKind, bytes: &[u8]) -> Result<(), SendError> {
    let max = kind.bytes_max() as usize;
    if bytes.len() > max { Err(SendError::TooLarge { bytes: bytes.len(), max }) } else { Ok(()) }
}

/// Lives as long as the exchange.
pub(super) struct Outgoing {
    channels: Vec<OutgoingChannel>,
    /// The kind whose turn is next.
    turn: usize,
    /// How many bytes wait or are under way.
    waiting_bytes: usize,
}

impl Outgoing {
    pub(super) fn new(messages: &Messages) -> Outgoing {
        let channels = messages.kinds().iter().map(|kind| OutgoingChannel::new(kind.delivery())).collect();
        Outgoing { channels, turn: 0, waiting_bytes: 0 }
    }

    pub(super) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// How many messages wait or are under way.
    pub(super) fn kept(&self) -> usize {
        self.channels.iter().map(OutgoingChannel::kept).sum()
    }

    /// Takes a message, where no more than `waiting_max` bytes wait then, or where nothing waits. What of a kind need not come
    /// always has room: it takes the place of older ones of its kind.
    pub(super) fn push(&mut self, kind: usize, bytes: Arc<[u8]>, waiting_max: usize) -> Result<(), SendError> {
        let takes_room = self.channels[kind].keeps_all();
        let would_wait = self.waiting_bytes.saturating_add(bytes.len());
        if takes_room && self.waiting_bytes > 0 && would_wait > waiting_max {
            return Err(SendError::Full);
        }
        self.waiting_bytes += bytes.len();
        self.waiting_bytes -= self.channels[kind].push(bytes);
        Ok(())
    }

    /// Nothing is sent for a while: what need not come is not sent any more.
    pub(super) fn drop_unreliable(&mut self) {
        self.waiting_bytes -= self.channels.iter_mut().map(OutgoingChannel::drop_unreliable).sum::<usize>();
    }

    /// Whether anything is to be sent now.
    pub(super) fn has_next(&mut self) -> bool {
        self.channels.iter_mut().enumerate().any(|(kind, channel)| channel.next_fragment(kind).is_some())
    }

    /// Calls `write` with fragments that fit into `room` bytes altogether, as many as do; each datagram begins with another kind.
    pub(super) fn fill(&mut self, room: usize, mut write: impl FnMut(FragmentName, &[u8])) -> Vec<FragmentName> {
        let (mut room, mut names) = (room, Vec::new());
        let count = self.channels.len();
        for kind in (self.turn..count).chain(0..self.turn) {
            let channel = &mut self.channels[kind];
            while let Some((name, message)) = channel.next_fragment(kind) {
                let Some(left) = room.checked_sub(fragment_bytes_max(message.len(), name.index)) else { break };
                room = left;
                write(name, &message);
                self.waiting_bytes -= channel.note_sent(name);
                names.push(name);
            }
        }
        self.turn = (names.first().map_or(self.turn, |name| name.kind) + 1) % count.max(1);
        names
    }

    /// It is known whether a fragment has come.
    pub(super) fn settle(&mut self, name: FragmentName, has_come: bool) {
        self.waiting_bytes -= self.channels[name.kind].settle(name, has_come);
    }
}
