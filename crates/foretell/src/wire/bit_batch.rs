//! Small values on their way to a writer: as many at once as fit.

use super::BitWriter;
use super::bit_stream::mask;

/// They are not all written before [`finish`](BitBatch::finish).
pub(crate) struct BitBatch<'a, 'b> {
    /// Ends with a whole byte.
    writer: &'a mut BitWriter<'b>,
    joined: u64,
    /// Below 64.
    bits: u32,
}

impl<'a, 'b> BitBatch<'a, 'b> {
    pub(crate) fn new(writer: &'a mut BitWriter<'b>) -> BitBatch<'a, 'b> {
        let (joined, bits) = writer.take_rest();
        BitBatch { writer, joined, bits }
    }

    /// How many bits there are, written or not.
    pub(crate) fn bit_len(&self) -> usize {
        self.writer.bit_len() + self.bits as usize
    }

    /// Writes the low `width` bits of `value`, 0 to 64.
    #[inline]
    pub(crate) fn put(&mut self, value: impl Into<u64>, width: u32) {
        let value = value.into() & mask(width);
        self.joined |= value << self.bits;
        let bits = self.bits + width;
        if bits < u64::BITS {
            self.bits = bits;
            return;
        }
        self.writer.put_word(self.joined);
        self.joined = value.checked_shr(u64::BITS - self.bits).unwrap_or(0);
        self.bits = bits - u64::BITS;
    }

    /// Writes the first `bits` bits of these bytes, of which there are as many as whole eights take.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below 64")]
    pub(crate) fn put_bytes(&mut self, bytes: &[u8], bits: usize) {
        let (eights, _) = bytes.as_chunks();
        let (whole, rest) = (bits / 64, bits % 64);
        eights[..whole].iter().for_each(|eight| self.put(u64::from_le_bytes(*eight), u64::BITS));
        if rest > 0 {
            self.put(u64::from_le_bytes(eights[whole]), rest as u32);
        }
    }

    /// Writes what is joined so far, and what is written here.
    pub(crate) fn write_with(&mut self, write: impl FnOnce(&mut BitWriter<'b>)) {
        self.writer.put(self.joined, self.bits);
        write(self.writer);
        (self.joined, self.bits) = self.writer.take_rest();
    }

    pub(crate) fn finish(self) {
        self.writer.put(self.joined, self.bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::BitReader;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_of_any_widths_are_read_as_they_were_put(values in prop::collection::vec((any::<u64>(), 0_u32..=64), 0..40)) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            let mut joined = BitBatch::new(&mut writer);
            values.iter().for_each(|(value, width)| joined.put(*value, *width));
            // As much as goes in at once, and nothing after it.
            [(1_u32, 32), (2, 32), (0, 0)].iter().for_each(|(value, width)| joined.put(*value, *width));
            joined.write_with(|writer| writer.put(3, 2));
            let len = joined.bit_len();
            joined.finish();
            prop_assert_eq!(writer.bit_len(), len);
            let mut reader = BitReader::new(&bytes);
            for (value, width) in &values {
                prop_assert_eq!(reader.take(*width), Ok(*value & mask(*width)));
            }
            prop_assert_eq!([32, 32, 2].map(|width| reader.take(width)), [Ok(1), Ok(2), Ok(3)]);
        }
    }
}
