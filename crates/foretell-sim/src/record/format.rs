//! The bytes of a recording: a header, and records of bits, each in a frame that says what it holds and how long it is.

use super::RecordingError;
use alloc::vec::Vec;
use core::time::Duration;
use foretell::session::server::To;
use foretell::time::Instant;
use foretell::wire::{BitReader, Malformed, Stream};
use foretell::world::{Entity, PlayerId, RowKey};

/// The first bytes of every recording.
pub(super) const MAGIC: [u8; 4] = *b"FTFR";
/// Raised when the format changes.
pub(super) const VERSION: u8 = 8;
/// As long as the frame of [`Content::Limit`], and of [`Content::End`].
pub(super) const LIMIT_BYTES: u64 = 2;

/// What a record holds, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// How the endpoint was made.
    Start,
    /// What the endpoint decides by itself, at the start and after each change.
    Config,
    /// A datagram that it received.
    Datagram,
    /// An update, with the inputs that it was given.
    Update,
    /// The transport or the game has added or removed a peer.
    Peer,
    /// The game has changed the server's world outside of a step.
    Outside,
    /// What there was after the last update.
    Digest,
    /// The limit was reached: nothing follows.
    Limit,
    /// The endpoint is no more: nothing follows.
    End,
    /// The game has called something of a client about an entity.
    Entity,
    /// The game has sent a message.
    Message,
}

const CONTENTS: [Content; 11] = [
    Content::Start,
    Content::Config,
    Content::Datagram,
    Content::Update,
    Content::Peer,
    Content::Outside,
    Content::Digest,
    Content::Limit,
    Content::End,
    Content::Entity,
    Content::Message,
];

/// Appends a record.
pub(super) fn put_frame(content: Content, body: &[u8], into: &mut Vec<u8>) {
    let number = CONTENTS.iter().position(|known| *known == content).expect("all contents are listed");
    into.extend(u8::try_from(number));
    let mut left = body.len();
    while left >= 128 {
        into.extend(u8::try_from(left % 128 + 128));
        left /= 128;
    }
    into.extend(u8::try_from(left));
    into.extend_from_slice(body);
}

/// A record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    /// Where it begins, in bytes from the start of the recording.
    pub at: usize,
    pub content: Content,
    pub body: &'a [u8],
}

impl Frame<'_> {
    pub(super) fn damaged(&self, what: Malformed) -> RecordingError {
        RecordingError::Damaged { at: self.at, what }
    }
}

/// The records of a recording, up to the first that can't be read.
#[derive(Clone, Debug)]
pub(super) struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Frames<'a> {
    /// Checks the header.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Frames<'a>, RecordingError> {
        let Some(version) = bytes.strip_prefix(&MAGIC) else { return Err(RecordingError::NotARecording) };
        match version.first() {
            Some(&VERSION) => Ok(Frames { bytes, at: MAGIC.len() + 1 }),
            Some(other) => Err(RecordingError::OtherVersion(*other)),
            None => Err(RecordingError::BreaksOff { at: bytes.len() }),
        }
    }

    /// Where the next record begins, in bytes from the start of the recording.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn take(&mut self) -> Result<Frame<'a>, RecordingError> {
        let at = self.at;
        let breaks_off = RecordingError::BreaksOff { at };
        let damaged = |what| RecordingError::Damaged { at, what: Malformed::OutOfRange(what) };
        let mut rest = self.bytes[at..].iter();
        let number = usize::from(*rest.next().ok_or(breaks_off)?);
        let content = *CONTENTS.get(number).ok_or(damaged("content"))?;
        let mut length = 0_usize;
        for place in 0.. {
            let byte = *rest.next().ok_or(breaks_off)?;
            if place == 4 {
                return Err(damaged("length"));
            }
            length |= usize::from(byte & 127) << (7 * place);
            if byte < 128 {
                break;
            }
        }
        let body = rest.as_slice().get(..length).ok_or(breaks_off)?;
        self.at = self.bytes.len() - rest.len() + length;
        Ok(Frame { at, content, body })
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let frame = self.take();
        if frame.is_err() {
            self.at = self.bytes.len();
        }
        Some(frame)
    }
}

/// What lies behind the bits that a reader has taken, from the next whole byte on.
pub(super) fn rest<'a>(body: &'a [u8], reader: &BitReader<'_>) -> &'a [u8] {
    &body[body.len() - reader.left() / 8..]
}

/// A number of up to 64 bits that is mostly small: groups of seven bits, each followed by a bit that says whether there are
/// more.
pub(super) fn stream_long(stream: &mut impl Stream, value: &mut u64) -> Result<(), Malformed> {
    let (mut left, mut read) = (*value, 0);
    for group in 0..10 {
        let mut bits = left & 127;
        stream.bits(&mut bits, 7)?;
        read |= bits.checked_shl(7 * group).unwrap_or_default();
        left >>= 7;
        let mut more = left != 0;
        stream.bool(&mut more)?;
        if !more {
            *value = read;
            return Ok(());
        }
    }
    Err(Malformed::OutOfRange("number"))
}

/// An instant, as the distance from the one before: either way, as callers' clocks may go back.
pub(super) fn stream_instant(stream: &mut impl Stream, last: &mut Instant, now: &mut Instant) -> Result<(), Malformed> {
    let by = now.micros().wrapping_sub(last.micros()).cast_signed();
    // The sign in the lowest bit.
    let mut folded = ((by << 1) ^ (by >> 63)).cast_unsigned();
    stream_long(stream, &mut folded)?;
    let by = (folded >> 1) ^ (folded & 1).wrapping_neg();
    *now = Instant::from_micros(last.micros().wrapping_add(by));
    *last = *now;
    Ok(())
}

/// A duration in whole microseconds; what does not fit into 64 bits is as long as does.
pub(super) fn stream_duration(stream: &mut impl Stream, value: &mut Duration) -> Result<(), Malformed> {
    let mut micros = u64::try_from(value.as_micros()).unwrap_or(u64::MAX);
    stream_long(stream, &mut micros)?;
    *value = Duration::from_micros(micros);
    Ok(())
}

/// Which row.
pub(super) fn stream_key(stream: &mut impl Stream, key: &mut RowKey) -> Result<(), Malformed> {
    let mut bits = key.entity.bits();
    stream.u8(&mut key.component.0)?;
    stream.bits(&mut bits, 64)?;
    key.entity = Entity::from_bits(bits);
    Ok(())
}

/// Whose something is.
pub(super) fn stream_owner(stream: &mut impl Stream, owner: &mut PlayerId) -> Result<(), Malformed> {
    let mut number = owner.get();
    stream.u16(&mut number)?;
    *owner = PlayerId::new(number);
    Ok(())
}

/// For whom a message is, in whole bytes; `None` for the server's, from who plays at this end.
pub(super) fn stream_to(stream: &mut impl Stream, to: &mut Option<To>) -> Result<(), Malformed> {
    let (mut how, mut player) = match *to {
        Some(To::All) => (0, PlayerId::SERVER),
        Some(To::AllBut(player)) => (1, player),
        Some(To::Player(player)) => (2, player),
        None => (3, PlayerId::SERVER),
    };
    stream.u8(&mut how)?;
    stream_owner(stream, &mut player)?;
    *to = match how {
        0 => Some(To::All),
        1 => Some(To::AllBut(player)),
        2 => Some(To::Player(player)),
        3 => None,
        _ => return Err(Malformed::OutOfRange("receiver of a message")),
    };
    Ok(())
}

/// The bits of a floating-point number.
pub(super) fn stream_float(stream: &mut impl Stream, value: &mut f64) -> Result<(), Malformed> {
    let mut bits = value.to_bits();
    stream.bits(&mut bits, 64)?;
    *value = f64::from_bits(bits);
    Ok(())
}

/// One of several alternatives, by its number.
pub(super) fn stream_choice(stream: &mut impl Stream, mut choice: u64, of: u64) -> Result<u64, Malformed> {
    stream.bits(&mut choice, 3)?;
    if choice < of { Ok(choice) } else { Err(Malformed::OutOfRange("alternative")) }
}

/// One of the alternatives that are listed.
pub(super) fn stream_one_of<T: Copy + PartialEq>(
    stream: &mut impl Stream,
    value: &mut T,
    of: &[T],
) -> Result<(), Malformed> {
    let at = of.iter().position(|known| known == value).expect("all alternatives are listed");
    let at = stream_choice(stream, at as u64, of.len() as u64)?;
    *value = usize::try_from(at).ok().and_then(|at| of.get(at).copied()).unwrap_or(*value);
    Ok(())
}

/// More is said of a player than a client could say.
pub(super) const SAID_TOO_LONG: Malformed = Malformed::OutOfRange("size of what is said");

/// What is said of a player with their join: its length in bytes, and these. It may be longer than anybody may say.
pub(super) fn stream_join_data(stream: &mut impl Stream, data: &mut Vec<u8>) -> Result<(), Malformed> {
    let mut size = data.len() as u64;
    stream.bits(&mut size, 10)?;
    data.resize(usize::try_from(size).unwrap_or_default(), 0);
    data.iter_mut().try_for_each(|byte| stream.u8(byte))
}
