//! A message, or a fragment of one that does not fit into a datagram, as it is written and read.

use crate::wire::{BitReader, BitWriter, Malformed, Stream};
use crate::world::Messages;
use alloc::vec::Vec;

/// How many bytes of a message one fragment has: with all that may stand before it, it fits into a datagram.
pub(super) const FRAGMENT_BYTES: usize = 960;
/// How many consecutive numbers the messages of a kind may have that are under way at once.
pub(super) const WINDOW: u16 = 256;

/// Which fragment of which message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct FragmentName {
    /// The number of its kind.
    pub kind: usize,
    /// Of the message among those of its kind.
    pub number: u16,
    /// Of the fragment in the message.
    pub index: u32,
}

/// A fragment that has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fragment {
    pub name: FragmentName,
    /// How many bytes the message has.
    pub total: usize,
    pub bytes: Vec<u8>,
}

/// How many fragments a message of `total` bytes has.
pub(super) fn fragments_of(total: usize) -> usize {
    total.div_ceil(FRAGMENT_BYTES).max(1)
}

/// The bytes of a message that one of its fragments has.
pub(super) fn fragment_range(total: usize, index: u32) -> core::ops::Range<usize> {
    let start = (index as usize).saturating_mul(FRAGMENT_BYTES);
    start..(start + FRAGMENT_BYTES).min(total)
}

/// Streams what stands before the bytes. Reading, it is checked that there may be such a fragment.
fn stream_header(
    stream: &mut impl Stream,
    name: &mut FragmentName,
    total: &mut usize,
    messages: &Messages,
) -> Result<(), Malformed> {
    let mut kind = name.kind as u64;
    stream.bits(&mut kind, messages.number_bits())?;
    name.kind = usize::try_from(kind).unwrap_or(usize::MAX);
    let Some(kind) = messages.kinds().get(name.kind) else { return Err(Malformed::OutOfRange("kind of message")) };
    stream.u16(&mut name.number)?;
    let mut length = u32::try_from(*total).unwrap_or(u32::MAX);
    stream.small(&mut length)?;
    if length > kind.bytes_max() {
        return Err(Malformed::OutOfRange("length of a message"));
    }
    *total = length as usize;
    if fragments_of(*total) > 1 {
        stream.small(&mut name.index)?;
    } else {
        name.index = 0;
    }
    if name.index as usize >= fragments_of(*total) {
        return Err(Malformed::OutOfRange("fragment of a message"));
    }
    Ok(())
}

/// How many bytes a fragment takes in a datagram, at most.
pub(super) fn fragment_bytes_max(total: usize, index: u32) -> usize {
    // Kind, number, length and index, and the bit before it.
    const HEADER_BYTES_MAX: usize = 14;
    fragment_range(total, index).len() + HEADER_BYTES_MAX
}

/// Writes a fragment of a message.
pub(super) fn write_fragment(writer: &mut BitWriter<'_>, name: FragmentName, message: &[u8], messages: &Messages) {
    let (mut name, mut total) = (name, message.len());
    stream_header(writer, &mut name, &mut total, messages).expect("what is sent is within the bounds");
    write_bytes(writer, &message[fragment_range(total, name.index)]);
}

/// Writes bytes whose number is known.
pub(crate) fn write_bytes(writer: &mut BitWriter<'_>, bytes: &[u8]) {
    let mut words = bytes.chunks_exact(8);
    words.by_ref().for_each(|word| writer.put(u64::from_le_bytes(word.try_into().expect("eight bytes")), 64));
    words.remainder().iter().for_each(|byte| writer.put(u64::from(*byte), 8));
}

/// Reads `length` bytes.
pub(crate) fn read_bytes(reader: &mut BitReader<'_>, length: usize) -> Result<Vec<u8>, Malformed> {
    if reader.left() / 8 < length {
        return Err(Malformed::TooShort);
    }
    let mut bytes = Vec::with_capacity(length);
    for _ in 0..length / 8 {
        bytes.extend_from_slice(&reader.take(64)?.to_le_bytes());
    }
    for _ in 0..length % 8 {
        let mut byte = 0;
        reader.u8(&mut byte)?;
        bytes.push(byte);
    }
    Ok(bytes)
}

/// Reads what [`write_fragment`] has written.
pub(super) fn read_fragment(reader: &mut BitReader<'_>, messages: &Messages) -> Result<Fragment, Malformed> {
    let (mut name, mut total) = (FragmentName::default(), 0);
    stream_header(reader, &mut name, &mut total, messages)?;
    let bytes = read_bytes(reader, fragment_range(total, name.index).len())?;
    Ok(Fragment { name, total, bytes })
}
