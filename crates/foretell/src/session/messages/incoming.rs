//! All messages that come, by their kinds.

use super::fragment::{Fragment, read_fragment};
use super::incoming_channel::IncomingChannel;
use crate::wire::{BitReader, Malformed};
use crate::world::Messages;
use alloc::vec::Vec;

/// How far a message has come that takes more than one datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageProgress {
    /// What its kind is called.
    pub name: &'static str,
    /// How many of its bytes are there.
    pub come_bytes: usize,
    /// How many it has.
    pub bytes: usize,
}

/// Lives as long as the exchange.
pub(super) struct Incoming {
    channels: Vec<IncomingChannel>,
    /// Those of the datagram that is being read.
    fragments: Vec<Fragment>,
}

impl Incoming {
    pub(super) fn new(messages: &Messages) -> Incoming {
        let channels = messages.kinds().iter().map(|kind| IncomingChannel::new(kind.delivery())).collect();
        Incoming { channels, fragments: Vec::new() }
    }

    /// Reads the fragments of a datagram. None of them counts before all are [taken](Incoming::take).
    pub(super) fn read(&mut self, mut reader: BitReader<'_>, messages: &Messages) -> Result<(), Malformed> {
        self.fragments.clear();
        while reader.take(1)? == 1 {
            let fragment = read_fragment(&mut reader, messages)?;
            self.channels[fragment.name.kind].check(&fragment)?;
            self.fragments.push(fragment);
        }
        reader.finish()
    }

    /// How many messages wait.
    pub(super) fn kept(&self) -> usize {
        self.channels.iter().map(IncomingChannel::kept).sum()
    }

    /// How many bytes those have.
    pub(super) fn kept_bytes(&self) -> usize {
        self.channels.iter().map(IncomingChannel::kept_bytes).sum()
    }

    /// Takes what was read. Calls `tell` with the kind and the bytes of each message that is to be told now.
    pub(super) fn take(&mut self, mut tell: impl FnMut(usize, &[u8])) {
        for fragment in self.fragments.drain(..) {
            let kind = fragment.name.kind;
            self.channels[kind].take(fragment, |bytes| tell(kind, bytes));
        }
    }

    /// The messages that have come in part.
    pub(super) fn progress<'a>(&'a self, messages: &'a Messages) -> impl Iterator<Item = MessageProgress> + 'a {
        let channels = self.channels.iter().zip(messages.kinds());
        channels.filter_map(|(channel, kind)| {
            let (come_bytes, bytes) = channel.progress()?;
            Some(MessageProgress { name: kind.name(), come_bytes, bytes })
        })
    }
}
