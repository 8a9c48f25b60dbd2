//! Single bits in a row of bytes, least significant first.

use alloc::vec::Vec;
use core::fmt;

/// What is wrong with a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Malformed {
    /// It ends before everything that it announces.
    TooShort,
    /// A field has a value outside of what the protocol allows; the field's name follows.
    OutOfRange(&'static str),
    /// More follows than its message needs.
    TooLong,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::TooShort => f.write_str("the datagram ends before what it announces"),
            Malformed::OutOfRange(field) => write!(f, "the datagram's {field} is outside of what the protocol allows"),
            Malformed::TooLong => f.write_str("the datagram goes on after its message"),
        }
    }
}

impl core::error::Error for Malformed {}

/// A direction: the same function that writes a message reads it, so that the two can't drift apart.
pub trait Stream {
    /// Writes the low `width` bits of `value`, or replaces it by what is read. `width` is 0 to 64.
    ///
    /// # Errors
    /// [`Malformed::TooShort`] when reading beyond the end.
    fn bits(&mut self, value: &mut u64, width: u32) -> Result<(), Malformed>;

    /// One bit.
    ///
    /// # Errors
    /// As [`bits`](Stream::bits).
    fn bool(&mut self, value: &mut bool) -> Result<(), Malformed> {
        let mut bits = u64::from(*value);
        self.bits(&mut bits, 1)?;
        *value = bits != 0;
        Ok(())
    }

    /// An 8-bit number.
    ///
    /// # Errors
    /// As [`bits`](Stream::bits).
    #[expect(clippy::cast_possible_truncation, reason = "eight bits were read")]
    fn u8(&mut self, value: &mut u8) -> Result<(), Malformed> {
        let mut bits = u64::from(*value);
        self.bits(&mut bits, 8)?;
        *value = bits as u8;
        Ok(())
    }

    /// A 16-bit number.
    ///
    /// # Errors
    /// As [`bits`](Stream::bits).
    #[expect(clippy::cast_possible_truncation, reason = "sixteen bits were read")]
    fn u16(&mut self, value: &mut u16) -> Result<(), Malformed> {
        let mut bits = u64::from(*value);
        self.bits(&mut bits, 16)?;
        *value = bits as u16;
        Ok(())
    }

    /// A 32-bit number.
    ///
    /// # Errors
    /// As [`bits`](Stream::bits).
    #[expect(clippy::cast_possible_truncation, reason = "thirty-two bits were read")]
    fn u32(&mut self, value: &mut u32) -> Result<(), Malformed> {
        let mut bits = u64::from(*value);
        self.bits(&mut bits, 32)?;
        *value = bits as u32;
        Ok(())
    }

    /// A number that is mostly small: groups of four bits, each after a bit that says whether it follows, lowest
    /// first; at most 32 bits.
    ///
    /// # Errors
    /// As [`bits`](Stream::bits), and [`Malformed::OutOfRange`] for more than 32 bits.
    #[expect(clippy::cast_possible_truncation, reason = "eight groups of four bits")]
    fn small(&mut self, value: &mut u32) -> Result<(), Malformed> {
        let mut rest = *value;
        let mut read = 0_u64;
        for group in 0..9 {
            let mut more = rest != 0;
            self.bool(&mut more)?;
            if !more {
                *value = read as u32;
                return Ok(());
            }
            if group == 8 {
                break;
            }
            let mut nibble = u64::from(rest & 15);
            self.bits(&mut nibble, 4)?;
            read |= nibble << (4 * group);
            rest >>= 4;
        }
        Err(Malformed::OutOfRange("number"))
    }

    /// A value that may be absent: one bit, then the value.
    ///
    /// # Errors
    /// As `each`.
    fn optional<T: Default>(
        &mut self,
        value: &mut Option<T>,
        each: impl FnOnce(&mut Self, &mut T) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let mut present = value.is_some();
        self.bool(&mut present)?;
        if present {
            each(self, value.get_or_insert_default())
        } else {
            *value = None;
            Ok(())
        }
    }
}

/// Appends bits to a caller's bytes. The last byte is filled up with zeros.
#[derive(Debug)]
pub struct BitWriter<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    len: usize,
}

impl<'a> BitWriter<'a> {
    /// A writer that appends to `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> BitWriter<'a> {
        BitWriter { start: bytes.len(), bytes, len: 0 }
    }

    /// How many bits it has written.
    pub fn bit_len(&self) -> usize {
        self.len
    }

    /// Takes back everything after the first `bit_len` bits.
    pub fn truncate(&mut self, bit_len: usize) {
        if bit_len < self.len {
            self.len = bit_len;
            self.bytes.truncate(self.start + bit_len.div_ceil(8));
            if !bit_len.is_multiple_of(8) {
                let last = self.bytes.len() - 1;
                self.bytes[last] &= (1 << (bit_len % 8)) - 1;
            }
        }
    }

    /// Writes the low `width` bits of `value`, 0 to 64; never fails.
    #[inline]
    pub fn put(&mut self, value: u64, width: u32) {
        let (width, value) = (width as usize, value & mask(width));
        let used = self.len % 8;
        let begun = if used > 0 { self.bytes.pop().unwrap_or(0) } else { 0 };
        let joined = u128::from(begun) | u128::from(value) << used;
        self.len += width;
        // All sixteen, as a fixed number of bytes is appended fast.
        self.bytes.extend_from_slice(&joined.to_le_bytes());
        self.bytes.truncate(self.start + self.len.div_ceil(8));
    }

    /// Takes back the bits of the last byte, if they don't fill it. Returns them, as the low bits of a number, and how many there are.
    #[expect(clippy::cast_possible_truncation, reason = "below 8")]
    pub(super) fn take_rest(&mut self) -> (u64, u32) {
        let used = self.len % 8;
        if used == 0 {
            return (0, 0);
        }
        self.len -= used;
        (u64::from(self.bytes.pop().unwrap_or(0)), used as u32)
    }

    /// Appends 64 bits where the last byte is full.
    #[inline]
    pub(super) fn put_word(&mut self, word: u64) {
        debug_assert!(self.len.is_multiple_of(8));
        self.bytes.extend_from_slice(&word.to_le_bytes());
        self.len += 64;
    }
}

/// The lowest `width` bits, 0 to 64.
#[inline]
pub(super) fn mask(width: u32) -> u64 {
    if width == 0 { 0 } else { u64::MAX >> (64 - width) }
}

impl Stream for BitWriter<'_> {
    fn bits(&mut self, value: &mut u64, width: u32) -> Result<(), Malformed> {
        self.put(*value, width);
        Ok(())
    }

    /// All groups at once.
    fn small(&mut self, value: &mut u32) -> Result<(), Malformed> {
        self.put(small_code(*value), small_bits(*value));
        Ok(())
    }
}

/// How many bits `small` takes for this value.
pub(crate) fn small_bits(value: u32) -> u32 {
    5 * (u32::BITS - value.leading_zeros()).div_ceil(4) + 1
}

/// These bits.
pub(crate) fn small_code(value: u32) -> u64 {
    spread(value) << 1 | FOLLOWS & mask(small_bits(value) - 1)
}

/// A bit before each of eight groups of four.
const FOLLOWS: u64 = 0b00001_00001_00001_00001_00001_00001_00001_00001;

/// Groups of four bits with a bit of room between them: first halves apart, then quarters, then eighths.
fn spread(value: u32) -> u64 {
    let value = u64::from(value);
    let value = value & 0xffff | (value & 0xffff_0000) << 4;
    let value = value & 0x0ff0_00ff | (value & 0x000f_f000_ff00) << 2;
    value & 0x0003_c0f0_3c0f | (value & 0x003c_0f03_c0f0) << 1
}

/// Reads bits from bytes that anybody may have sent.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    /// So many bits are among eight bytes, wherever they begin.
    const FAST_WIDTH: u32 = 56;

    /// A reader of `bytes` from their start.
    pub fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// How many bits are left.
    pub fn left(&self) -> usize {
        self.bytes.len() * 8 - self.at
    }

    /// Takes the next `width` bits, 0 to 64.
    ///
    /// # Errors
    /// [`Malformed::TooShort`] when there are fewer.
    #[inline]
    pub fn take(&mut self, width: u32) -> Result<u64, Malformed> {
        match self.bytes[self.at / 8..].first_chunk() {
            Some(eight) if width <= BitReader::FAST_WIDTH => {
                let bits = u64::from_le_bytes(*eight) >> (self.at % 8) & mask(width);
                self.at += width as usize;
                Ok(bits)
            }
            _ => self.take_near_end(width),
        }
    }

    /// The same where they may not be among eight bytes.
    #[expect(clippy::cast_possible_truncation, reason = "the low 64 of up to 71 bits")]
    fn take_near_end(&mut self, width: u32) -> Result<u64, Malformed> {
        if self.left() < width as usize {
            return Err(Malformed::TooShort);
        }
        let (rest, used) = (&self.bytes[self.at / 8..], self.at % 8);
        let joined = rest.iter().take(9).rev().fold(0, |joined, byte| joined << 8 | u128::from(*byte));
        self.at += width as usize;
        Ok((joined >> used) as u64 & mask(width))
    }

    /// Checks that nothing but the padding of the last byte is left, and that it is zero.
    ///
    /// # Errors
    /// [`Malformed::TooLong`] when there is more.
    pub fn finish(mut self) -> Result<(), Malformed> {
        #[expect(clippy::cast_possible_truncation, reason = "below eight")]
        let left = self.left() as u32;
        if left < 8 && self.take(left) == Ok(0) { Ok(()) } else { Err(Malformed::TooLong) }
    }
}

impl Stream for BitReader<'_> {
    fn bits(&mut self, value: &mut u64, width: u32) -> Result<(), Malformed> {
        *value = self.take(width)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(values in proptest::collection::vec((any::<u64>(), 0_u32..=64), 0..40)) {
            let mut bytes = vec![0xff];
            let mut writer = BitWriter::new(&mut bytes);
            for (value, width) in &values {
                writer.put(*value, *width);
            }
            let mut reader = BitReader::new(&bytes[1..]);
            for (value, width) in &values {
                let mask = if *width == 64 { u64::MAX } else { (1 << width) - 1 };
                prop_assert_eq!(reader.take(*width), Ok(value & mask));
            }
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn small_numbers_come_back(number: u32) {
            let mut bytes = Vec::new();
            let mut written = number;
            BitWriter::new(&mut bytes).small(&mut written).expect("writing never fails");
            let mut read = 0;
            prop_assert_eq!(BitReader::new(&bytes).small(&mut read), Ok(()));
            prop_assert_eq!(read, number);
        }

        #[test]
        fn bits_that_are_taken_back_leave_no_trace(first: u16, second: u64, width in 0_u32..=16) {
            let (mut once, mut twice) = (Vec::new(), Vec::new());
            let mut writer = BitWriter::new(&mut once);
            writer.put(u64::from(first), width);
            writer.put(7, 3);
            let mut writer = BitWriter::new(&mut twice);
            writer.put(u64::from(first), width);
            let mark = writer.bit_len();
            writer.put(second, 64);
            writer.truncate(mark);
            writer.put(7, 3);
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn reading_beyond_the_end_is_an_error_that_says_so() {
        let mut reader = BitReader::new(&[0xff]);
        assert_eq!(reader.take(9), Err(Malformed::TooShort));
        assert_eq!(reader.take(8), Ok(0xff));
        let mut number = 0;
        assert_eq!(BitReader::new(&[0xff; 9]).small(&mut number), Err(Malformed::OutOfRange("number")));
    }
}
