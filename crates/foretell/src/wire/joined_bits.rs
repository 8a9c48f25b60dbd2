//! Small values on their way to a writer: as many at once as fit.

use super::BitWriter;

/// They are not all written before [`finish`](JoinedBits::finish).
pub(crate) struct JoinedBits<'a, 'b> {
    writer: &'a mut BitWriter<'b>,
    joined: u64,
    bits: u32,
}

impl<'a, 'b> JoinedBits<'a, 'b> {
    pub(crate) fn new(writer: &'a mut BitWriter<'b>) -> JoinedBits<'a, 'b> {
        JoinedBits { writer, joined: 0, bits: 0 }
    }

    /// Writes the low `width` bits of `value`, 0 to 32.
    pub(crate) fn put(&mut self, value: u32, width: u32) {
        if width == 0 {
            return;
        }
        if self.bits + width > u64::BITS {
            self.writer.put(self.joined, self.bits);
            (self.joined, self.bits) = (0, 0);
        }
        self.joined |= (u64::from(value) & ((1 << width) - 1)) << self.bits;
        self.bits += width;
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
        fn values_of_any_widths_are_read_as_they_were_put(values in prop::collection::vec((any::<u32>(), 0_u32..=32), 0..40)) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            let mut joined = JoinedBits::new(&mut writer);
            values.iter().for_each(|(value, width)| joined.put(*value, *width));
            // As much as goes in at once, and nothing after it.
            [(1, 32), (2, 32), (0, 0), (3, 2)].iter().for_each(|(value, width)| joined.put(*value, *width));
            joined.finish();
            let mut reader = BitReader::new(&bytes);
            for (value, width) in &values {
                prop_assert_eq!(reader.take(*width), Ok(u64::from(*value) & ((1 << width) - 1)));
            }
            prop_assert_eq!([32, 32, 2].map(|width| reader.take(width)), [Ok(1), Ok(2), Ok(3)]);
        }
    }
}
