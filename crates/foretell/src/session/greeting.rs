//! The messages of the handshake: a hello, and the answers to it.

use crate::wire::{Malformed, Stream};
use crate::world::PlayerId;
use alloc::vec::Vec;
use core::fmt;

/// How many parts of the rules a hello may hold: those that all games have, and eight fingerprints.
pub(crate) const PARTS_OF_RULES_MAX: usize = 13;

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
        Ok(())
    }

    /// What is the same in every version.
    pub(crate) fn stream_start(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u8(&mut self.version)?;
        stream.bits(&mut self.nonce, 64)
    }
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

/// Why a client does not get into a session, or not on with it. In words for a player by `Display`.
///
/// A server says it to the client, as often as that asks, and reports it once
/// ([`ServerEvent::Refused`](super::server::ServerEvent::Refused)); a client reports it once
/// ([`ClientEvent::Refused`](super::client::ClientEvent::Refused)) and ends with it. All come within the server's
/// [`timeout`](crate::ServerConfig::timeout) and the client's [`join_timeout`](crate::ClientConfig::join_timeout).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Refusal {
    /// It speaks another version of the protocol.
    #[default]
    Version,
    /// Its rules differ: another tick rate, schema or input, or something else that both ends have to share.
    /// [`Client::differing`](crate::Client::differing) names it.
    Rules,
    /// All places are taken.
    Full,
    /// The nonce has had its place: its player has said good-bye or was removed, or plays over another connection now.
    Gone,
    /// What the client has to be told altogether, its own state or all of an [exact](super::Rules::exact) session's, does not
    /// fit into the eight datagrams of a snapshot, which are 9,200 bytes or about 150 rigid bodies. Who joins is refused at
    /// once, who plays when nothing could be told for the server's [`timeout`](crate::ServerConfig::timeout).
    TooLarge,
    /// The server takes nobody new any more: [`ServerConfig::draining`](crate::ServerConfig::draining).
    Draining,
    /// The two ends have heard of each other, and the join has not come to an end in time: the client has not got its first
    /// state, or no input of it has come. Either end may say so.
    TimedOut,
    /// Nothing has come from the server, so that the client has given up. Never sent.
    Unanswered,
}

impl Refusal {
    /// All of them, in the order of their numbers on the wire.
    pub const ALL: [Refusal; 8] = [
        Refusal::Version,
        Refusal::Rules,
        Refusal::Full,
        Refusal::Gone,
        Refusal::TooLarge,
        Refusal::Draining,
        Refusal::TimedOut,
        Refusal::Unanswered,
    ];
}

impl fmt::Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Refusal::Version => "the two ends speak different versions of the protocol",
            Refusal::Rules => "the two ends play different games, or different builds of one",
            Refusal::Full => "the server is full",
            Refusal::Gone => "the place is taken over, or given up",
            Refusal::TooLarge => "there is more to be told to this player than fits into a snapshot",
            Refusal::Draining => "the server takes no new players any more",
            Refusal::TimedOut => "joining took too long",
            Refusal::Unanswered => "the server does not answer",
        })
    }
}

/// Server to client: "you may not".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Refused {
    pub nonce: u64,
    pub why: Refusal,
    /// Which part of the rules differs, where they do; else 0.
    pub part: u8,
}

impl Refused {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.bits(&mut self.nonce, 64)?;
        let mut why = self.why as u64;
        stream.bits(&mut why, 3)?;
        let known = usize::try_from(why).ok().and_then(|why| Refusal::ALL.get(why));
        let sent = known.filter(|why| **why != Refusal::Unanswered);
        self.why = *sent.ok_or(Malformed::OutOfRange("reason of a refusal"))?;
        let mut part = u64::from(self.part);
        stream.bits(&mut part, 4)?;
        self.part = u8::try_from(part).unwrap_or_default();
        Ok(())
    }
}
