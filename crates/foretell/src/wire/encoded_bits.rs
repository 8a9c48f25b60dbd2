//! Bits that are written once, and appended to one message or several.

use super::{BitReader, BitWriter};
use alloc::vec::Vec;

/// Bits that stand by themselves. Their memory is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct EncodedBits {
    bytes: Vec<u8>,
    len: usize,
}

impl EncodedBits {
    /// Becomes what `write` writes.
    pub(crate) fn fill<T>(&mut self, write: impl FnOnce(&mut BitWriter<'_>) -> T) -> T {
        self.bytes.clear();
        let mut writer = BitWriter::new(&mut self.bytes);
        let result = write(&mut writer);
        self.len = writer.bit_len();
        result
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn bit_len(&self) -> usize {
        self.len
    }

    /// From their start; the last byte is filled up with zeros.
    #[cfg(test)]
    pub(crate) fn reader(&self) -> BitReader<'_> {
        BitReader::new(&self.bytes)
    }

    /// Appends them to a message.
    pub(crate) fn append_to(&self, writer: &mut BitWriter<'_>) {
        let (mut reader, mut left) = (BitReader::new(&self.bytes), self.len);
        while left > 0 {
            let width = left.min(64);
            #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
            let bits = width as u32;
            writer.put(reader.take(bits).expect("they were written"), bits);
            left -= width;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn appended_bits_are_those_that_would_have_been_written(
            before in 0_u32..64,
            values in proptest::collection::vec((any::<u64>(), 0_u32..=64), 0..8),
        ) {
            let write = |writer: &mut BitWriter<'_>| values.iter().for_each(|(value, width)| writer.put(*value, *width));
            let (mut direct, mut appended) = (Vec::new(), Vec::new());
            let mut writer = BitWriter::new(&mut direct);
            writer.put(u64::MAX, before);
            write(&mut writer);
            let mut encoded = EncodedBits::default();
            encoded.fill(|writer| writer.put(7, 3));
            encoded.fill(write);
            let mut writer = BitWriter::new(&mut appended);
            writer.put(u64::MAX, before);
            encoded.append_to(&mut writer);
            prop_assert_eq!(appended, direct);
        }
    }
}
