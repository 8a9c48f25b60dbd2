//! What stands before the messages of a datagram.

use crate::session::ack_bits::AckBits;
use crate::wire::{BitReader, Malformed, Stream};

/// Both ways: the header of a datagram of messages. Then come the fragments, each after a bit 1, and a bit 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MessagesHeader {
    pub ticket: u8,
    /// The tick in which the client's session began: what was sent to an earlier one of the same player, or by it, is none of this
    /// one's.
    pub opening: u32,
    /// Which of the other end's datagrams of messages have come.
    pub received: Option<AckBits>,
    /// Counts this end's datagrams of messages; `None` for one that only tells what has come.
    pub number: Option<u16>,
}

/// A datagram of messages whose header has been read.
#[derive(Clone, Debug)]
pub(crate) struct MessagesDatagram<'a> {
    pub header: MessagesHeader,
    /// How many bytes all of it has.
    pub bytes: usize,
    pub fragments: BitReader<'a>,
}

impl<'a> MessagesDatagram<'a> {
    /// Reads the header, after the kind of the datagram.
    pub(crate) fn read(mut fragments: BitReader<'a>) -> Result<MessagesDatagram<'a>, Malformed> {
        let (bytes, mut header) = (fragments.left().div_ceil(8), MessagesHeader::default());
        header.stream(&mut fragments)?;
        Ok(MessagesDatagram { header, bytes, fragments })
    }
}

impl MessagesHeader {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u8(&mut self.ticket)?;
        stream.u32(&mut self.opening)?;
        stream.optional(&mut self.received, |stream, received| received.stream(stream))?;
        stream.optional(&mut self.number, |stream, number| stream.u16(number))
    }
}
