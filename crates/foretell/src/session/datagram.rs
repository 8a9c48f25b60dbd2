//! The datagrams of a session. One function per kind runs over a [`Stream`] in both directions.
//!
//! Every datagram begins with 3 bits that say which message it is. PROTOCOL.md describes them all.

use super::ack_bits::AckBits;
use crate::time::{Tick, TickTime};
use crate::wire::{Malformed, Stream};

/// The largest datagram that is sent, in bytes: what passes every path that QUIC passes, and browsers too.
pub const DATAGRAM_MAX: usize = 1150;

/// Raised when the format changes.
pub(crate) const PROTOCOL_VERSION: u8 = 13;

/// How many datagrams one snapshot may take.
pub(crate) const PARTS_MAX: u8 = 8;

/// How many ticks back substituted inputs are named: longer than any client goes without a snapshot and still
/// compares.
pub(crate) const NAMED_TICKS_BACK: u32 = 1000;

/// Which message a datagram holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DatagramKind {
    Hello,
    Welcome,
    Refused,
    Inputs,
    Snapshot,
    Leave,
    Shown,
    Messages,
}

const DATAGRAM_KINDS: [DatagramKind; 8] = [
    DatagramKind::Hello,
    DatagramKind::Welcome,
    DatagramKind::Refused,
    DatagramKind::Inputs,
    DatagramKind::Snapshot,
    DatagramKind::Leave,
    DatagramKind::Shown,
    DatagramKind::Messages,
];

impl DatagramKind {
    pub(crate) fn write(self, stream: &mut impl Stream) {
        let at = DATAGRAM_KINDS.iter().position(|message| *message == self).expect("all messages are listed");
        stream.bits(&mut (at as u64), 3).expect("writing never fails");
    }

    pub(crate) fn read(stream: &mut impl Stream) -> Result<DatagramKind, Malformed> {
        let mut at = 0;
        stream.bits(&mut at, 3)?;
        usize::try_from(at).ok().and_then(|at| DATAGRAM_KINDS.get(at).copied()).ok_or(Malformed::OutOfRange("message"))
    }
}

/// Client to server: the header of a datagram of inputs. The inputs follow, oldest first, change-coded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct InputHeader {
    pub ticket: u8,
    /// Counts the client's datagrams.
    pub sequence: u16,
    /// The tick of the newest complete snapshot it has.
    pub snapshot: Option<u16>,
    /// Which of the server's datagrams it has.
    pub received: Option<AckBits>,
    /// How far around its own entities it predicts those of others, in metres, and so needs them exactly and of one state; 0
    /// wherever they are, `None` where it does not.
    pub exact_within_m: Option<u32>,
    /// The tick of the newest input.
    pub newest: u16,
    /// How many inputs follow: `newest - count + 1 ..= newest`.
    pub count: u32,
    /// In exact sessions: the newest state whose digest was not the one of the client's own.
    pub asks: Option<u16>,
}

impl InputHeader {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u8(&mut self.ticket)?;
        stream.u16(&mut self.sequence)?;
        stream.optional(&mut self.snapshot, |stream, tick| stream.u16(tick))?;
        stream.optional(&mut self.received, |stream, received| received.stream(stream))?;
        stream.optional(&mut self.exact_within_m, |stream, metres| stream.small(metres))?;
        stream.u16(&mut self.newest)?;
        stream.small(&mut self.count)?;
        stream.optional(&mut self.asks, |stream, tick| stream.u16(tick))?;
        if self.count > crate::rollback::INPUTS_KEPT { Err(Malformed::OutOfRange("count of inputs")) } else { Ok(()) }
    }
}

/// What a player looked at when an input was sampled: a point on the server's tick axis in 1/256 tick, its low 24 bits
/// (16 of the tick, 8 of the fraction). The next one is mostly one tick later, and then takes one bit.
pub(crate) fn stream_presented(
    stream: &mut impl Stream,
    presented: &mut Option<u32>,
    before: Option<u32>,
) -> Result<(), Malformed> {
    stream.optional(presented, |stream, at| {
        let expected = before.map(|before| before.wrapping_add(256) & 0xff_ffff);
        let mut same = expected == Some(*at);
        if expected.is_some() {
            stream.bool(&mut same)?;
        }
        if let (true, Some(expected)) = (same, expected) {
            *at = expected;
            return Ok(());
        }
        let mut bits = u64::from(*at);
        stream.bits(&mut bits, 24)?;
        #[expect(clippy::cast_possible_truncation, reason = "24 bits were read")]
        let read = bits as u32;
        *at = read;
        Ok(())
    })
}

/// A point on the tick axis as the low 24 bits of its 1/256 ticks.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the low bits are what is asked for")]
pub(crate) fn presented_bits(at: TickTime) -> u32 {
    (at.millionths().max(0) * 256 / 1_000_000) as u32 & 0xff_ffff
}

/// The inverse of [`presented_bits`], for a point near `anchor`.
pub(crate) fn presented_time(bits: u32, anchor: Tick) -> TickTime {
    let tick = Tick::widen(bits >> 8, 16, anchor);
    TickTime::start_of(tick) + TickTime::from_millionths(i64::from(bits & 0xff) * 1_000_000 / 256)
}

/// Server to client: the header of a datagram that tells nothing but rows to be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ShownHeader {
    pub ticket: u8,
    /// Counts the datagrams of states to this client.
    pub number: u16,
    /// The tick of the state.
    pub tick: u16,
}

impl ShownHeader {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u8(&mut self.ticket)?;
        stream.u16(&mut self.number)?;
        stream.u16(&mut self.tick)
    }
}
