//! What a datagram is about, for who looks on from outside: a lab, a test, a tool, a transport that knows who may say hello.
//!
//! Reads headers alone; neither end of a session needs it.

use super::datagram::{DatagramKind, InputHeader, ShownHeader};
use super::handshake_messages::Hello;
use super::refusal_message::Refused;
use super::snapshot_header::SnapshotHeader;
use crate::time::Tick;
use crate::wire::{BitReader, Malformed};
use crate::world::Refusal;

/// What a datagram is about: mostly ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inspected {
    /// Inputs of the ticks from `first` to `newest`.
    Inputs {
        /// The oldest.
        first: Tick,
        /// The newest.
        newest: Tick,
    },
    /// A snapshot, or a part of one, or rows of a state that are shown.
    Snapshot {
        /// The tick of its state.
        tick: Tick,
    },
    /// None: a client asks to join, or to go on.
    Hello {
        /// Who it says it is: [`Client::new`](crate::Client::new).
        nonce: u64,
    },
    /// None: a server does not admit a client, or does not go on with it.
    Refused {
        /// Why.
        why: Refusal,
    },
    /// None: it belongs to the rest of a handshake or a farewell, or holds messages.
    Other,
}

/// Looks into a datagram of a session whose ticks are near `anchor`: within 2^15 of it.
///
/// # Errors
/// [`Malformed`] when its header is not one of this protocol. What follows the header is not read.
pub fn inspect(datagram: &[u8], anchor: Tick) -> Result<Inspected, Malformed> {
    let mut reader = BitReader::new(datagram);
    let widen = |low: u16| Tick::widen(u32::from(low), 16, anchor);
    Ok(match DatagramKind::read(&mut reader)? {
        DatagramKind::Inputs => {
            let mut header = InputHeader::default();
            header.stream(&mut reader)?;
            let newest = widen(header.newest);
            Inspected::Inputs { first: newest.next().back(header.count).unwrap_or_default(), newest }
        }
        DatagramKind::Snapshot => {
            let mut header = SnapshotHeader::default();
            header.stream(&mut reader)?;
            Inspected::Snapshot { tick: widen(header.timing.tick) }
        }
        DatagramKind::Shown => {
            let mut header = ShownHeader::default();
            header.stream(&mut reader)?;
            Inspected::Snapshot { tick: widen(header.tick) }
        }
        DatagramKind::Hello => {
            let mut hello = Hello::default();
            hello.stream_start(&mut reader)?;
            Inspected::Hello { nonce: hello.nonce }
        }
        DatagramKind::Refused => {
            let mut refused = Refused::default();
            refused.stream(&mut reader)?;
            Inspected::Refused { why: refused.why }
        }
        _ => Inspected::Other,
    })
}
