//! The messages of the handshake: a hello, and the answers to it.

use crate::wire::{Malformed, Stream};
use crate::world::{JOIN_DATA_MAX, PlayerId, Seat};
use alloc::vec::Vec;

/// How many parts of the rules a hello may hold: those that all games have, and eight fingerprints.
pub(crate) const PARTS_OF_RULES_MAX: usize = 13;
/// How many bytes a hello has at least behind its fixed fields: hashes of the rules, what it says of the player, and zeros where those
/// are fewer. No answer is longer, whatever words a refusal has.
const HELLO_BODY_MIN: usize = 120;

/// Client to server, again and again until three answers and a snapshot have come: "may I join, or go on?"
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Hello {
    pub version: u8,
    /// Who asks: a server that knows it gives the same place again, and admits nobody twice.
    pub nonce: u64,
    /// A hash of each part of the rules, in the order of [`Rules::parts_with`](super::Rules::parts_with).
    pub parts: Vec<u64>,
    /// The client's clock when it was sent, in microseconds; comes back in the answer.
    pub sent: u64,
    /// The newest ticket that it was told.
    pub ticket: Option<u8>,
    /// As what it asks.
    pub seat: Seat,
    /// Whether it says of its player what there is to say: it does when it is answered, and then it joins by that. Who is not
    /// answered costs nobody more than they have to.
    pub joins: bool,
    /// What it says, at most [`JOIN_DATA_MAX`] bytes; not sent before it joins.
    pub data: Vec<u8>,
}

impl Hello {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        self.stream_start(stream)?;
        let mut count = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        stream.small(&mut count)?;
        if count as usize > PARTS_OF_RULES_MAX {
            return Err(Malformed::OutOfRange("count of parts of the rules"));
        }
        self.parts.resize(count as usize, 0);
        self.parts.iter_mut().try_for_each(|part| stream.bits(part, 64))?;
        stream.bits(&mut self.sent, 64)?;
        // Always with room for the ticket, so that no answer is longer.
        let mut ticket = u64::from(self.ticket.unwrap_or_default());
        let mut present = self.ticket.is_some();
        stream.bool(&mut present)?;
        stream.bits(&mut ticket, 8)?;
        self.ticket = u8::try_from(ticket).ok().filter(|_| present);
        self.stream_player(stream)
    }

    /// Who wants to join as what.
    fn stream_player(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        let mut is_spectator = self.seat == Seat::Spectator;
        stream.bool(&mut is_spectator)?;
        self.seat = if is_spectator { Seat::Spectator } else { Seat::Player };
        stream.bool(&mut self.joins)?;
        let mut size = 0;
        if self.joins {
            size = self.data.len();
            stream_bytes(stream, &mut self.data, &mut size)?;
        }
        for _ in self.parts.len() * 8 + size..HELLO_BODY_MIN {
            let mut zero = 0;
            stream.u8(&mut zero)?;
            if zero != 0 {
                return Err(Malformed::OutOfRange("filling of a hello"));
            }
        }
        Ok(())
    }

    /// What is the same in every version.
    pub(crate) fn stream_start(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u8(&mut self.version)?;
        stream.bits(&mut self.nonce, 64)
    }
}

/// At most [`JOIN_DATA_MAX`] bytes, which come one by one: none is waited for that is not there.
fn stream_bytes(stream: &mut impl Stream, bytes: &mut Vec<u8>, size: &mut usize) -> Result<(), Malformed> {
    let mut told = *size as u64;
    stream.bits(&mut told, 10)?;
    *size = usize::try_from(told).unwrap_or(usize::MAX);
    if *size > JOIN_DATA_MAX {
        return Err(Malformed::OutOfRange("size of what a hello says"));
    }
    for at in 0..*size {
        let mut byte = bytes.get(at).copied().unwrap_or_default();
        stream.u8(&mut byte)?;
        match bytes.get_mut(at) {
            Some(known) => *known = byte,
            None => bytes.push(byte),
        }
    }
    Ok(())
}

/// Which part of the rules is not the same on both ends; the first.
pub(crate) fn differing(one: &[u64], other: &[u64]) -> Option<u8> {
    let at = (0..one.len().max(other.len())).find(|at| one.get(*at) != other.get(*at))?;
    u8::try_from(at).ok()
}

/// Server to client: the answer to a hello. Not longer than the hello.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Welcome {
    pub nonce: u64,
    pub sent: u64,
    /// Of the server: tells it from an earlier one.
    pub epoch: u8,
    /// Stands in all datagrams of this place from now on, or once a hello has shown it.
    pub ticket: u8,
    pub player: u16,
    /// The server's tick when it was sent.
    pub tick: u32,
    /// How much of that tick had passed, in 1/256.
    pub fraction: u8,
}

impl Welcome {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.bits(&mut self.nonce, 64)?;
        stream.bits(&mut self.sent, 64)?;
        stream.u8(&mut self.epoch)?;
        stream.u8(&mut self.ticket)?;
        stream.u16(&mut self.player)?;
        stream.u32(&mut self.tick)?;
        stream.u8(&mut self.fraction)
    }

    pub(crate) fn player(&self) -> PlayerId {
        PlayerId::new(self.player)
    }
}
