//! Small numbers in few bytes: seven bits each, the least significant first, the high bit says that more follow.

/// The largest whole number that JavaScript's numbers hold exactly: seeds are no larger.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;

/// Appends a number.
pub fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are what is meant")]
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 128")]
    bytes.push(number as u8);
}

/// Takes the next number off `bytes`; `None` when it is cut off, too large, or written longer than it need be.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits || (*byte == 0 && shift > 0) {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// The next number, where at most `max` makes sense.
pub fn take_at_most(bytes: &mut &[u8], max: u64) -> Option<u64> {
    take(bytes).filter(|number| *number <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back() {
        let numbers = (0..64).flat_map(|bits| [1_u64 << bits, (1 << bits) - 1]).chain([u64::MAX]);
        for number in numbers {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            let mut rest = &bytes[..];
            assert_eq!((take(&mut rest), rest), (Some(number), &[][..]));
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn what_is_too_large_or_too_long_is_refused() {
        assert_eq!(take(&mut &[0xff; 10][..]), None);
        assert_eq!(take(&mut &[0x80, 0x00][..]), None);
        assert_eq!(take_at_most(&mut &[5][..], 4), None);
    }
}
