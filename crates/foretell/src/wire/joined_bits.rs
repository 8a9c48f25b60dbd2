//! Small values on their way to a writer: as many at once as fit.

use super::BitWriter;
use super::bits::mask;

/// They are not all written before [`finish`](JoinedBits::finish).
pub(crate) struct JoinedBits<'a, 'b> {
    writer: &'a mut BitWriter<'b>,
    joined: u64,
    /// Below 64.
    bits: u32,
}

impl<'a, 'b> JoinedBits<'a, 'b> {
    pub(crate) fn new(writer: &'a mut BitWriter<'b>) -> JoinedBits<'a, 'b> {
        JoinedBits { writer, joined: 0, bits: 0 }
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
        self.writer.put(self.joined, u64::BITS);
        self.joined = value.checked_shr(u64::BITS - self.bits).unwrap_or(0);
        self.bits = bits - u64::BITS;
    }

    /// Writes what is joined so far. What is written to it comes next.
    pub(crate) fn writer(&mut self) -> &mut BitWriter<'b> {
        self.writer.put(self.joined, self.bits);
        (self.joined, self.bits) = (0, 0);
        self.writer
    }

    pub(crate) fn finish(mut self) {
        self.writer();
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
            let mut joined = JoinedBits::new(&mut writer);
            values.iter().for_each(|(value, width)| joined.put(*value, *width));
            // As much as goes in at once, and nothing after it.
            [(1_u32, 32), (2, 32), (0, 0)].iter().for_each(|(value, width)| joined.put(*value, *width));
            joined.writer().put(3, 2);
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
