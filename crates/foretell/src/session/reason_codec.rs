//! The words of a refusal, a removal and a good-bye, as they travel.

use crate::wire::{Malformed, Stream};
use crate::world::Reason;

/// A reason in words: its length in bytes, and its UTF-8.
pub(crate) fn stream_reason(stream: &mut impl Stream, reason: &mut Reason) -> Result<(), Malformed> {
    const OUT_OF_RANGE: Malformed = Malformed::OutOfRange("words of a reason");
    let mut bytes = [0; 120];
    let mut size = reason.len() as u64;
    bytes[..reason.len()].copy_from_slice(reason.as_bytes());
    stream.bits(&mut size, 7)?;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let bytes = bytes.get_mut(..size).ok_or(OUT_OF_RANGE)?;
    bytes.iter_mut().try_for_each(|byte| stream.u8(byte))?;
    let text = core::str::from_utf8(bytes).map_err(|_| OUT_OF_RANGE)?;
    *reason = Reason::new(text);
    if reason.len() == size { Ok(()) } else { Err(OUT_OF_RANGE) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{BitReader, BitWriter};
    use alloc::vec::Vec;

    fn read(bytes: &[u8]) -> Result<Reason, Malformed> {
        let mut reason = Reason::EMPTY;
        stream_reason(&mut BitReader::new(bytes), &mut reason).map(|()| reason)
    }

    #[test]
    fn a_reason_travels_as_it_is_and_what_is_no_text_or_too_long_is_malformed() {
        for text in ["", "the map is full", &"ä".repeat(60)] {
            let mut bytes = Vec::new();
            stream_reason(&mut BitWriter::new(&mut bytes), &mut Reason::new(text)).expect("writing never fails");
            assert_eq!(read(&bytes).as_deref(), Ok(text));
        }
        let write = |size: u64, bytes: &[u8]| {
            let mut written = Vec::new();
            let mut writer = BitWriter::new(&mut written);
            writer.put(size, 7);
            bytes.iter().for_each(|byte| writer.put(u64::from(*byte), 8));
            written
        };
        for (size, bytes) in [(2, &b"a"[..]), (1, &[0xff]), (2, b"a\0"), (121, &[b'a'; 121])] {
            assert!(read(&write(size, bytes)).is_err(), "{size} {bytes:?}");
        }
    }
}
