//! Which of the server's datagrams of states have come to a client: what the client tells, and what the server makes of it.

use crate::wire::{Malformed, Stream};

/// One whose number is so much smaller was sent before; one that differs by more says that the numbers have gone round.
const LATE_MAX: u16 = 1024;
/// One whose number is further behind than this was sent later.
const AGE_MAX: u16 = 0x7fff;
/// How many datagrams before the newest are remembered as come or not, in words of 32.
const WORDS_MAX: usize = LATE_MAX as usize / 32;
/// That one has come is told so often.
const TOLD_TIMES: usize = 4;

/// Which of the server's datagrams have come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AckBits {
    /// The number of the newest.
    newest: u16,
    /// Bit *n* of all the words is set if the one that is *n* + 1 older has come.
    before: [u32; WORDS_MAX],
    /// How far back the oldest is of those that came since this was told last, the time before, and so on.
    fresh: [u16; TOLD_TIMES],
}

impl AckBits {
    /// The first has come.
    pub(crate) fn first(number: u16) -> AckBits {
        AckBits { newest: number, ..AckBits::default() }
    }

    /// How many words are told: all that hold something that is not told often enough, one at least.
    fn words(&self) -> usize {
        let oldest = self.fresh.iter().max().map_or(0, |oldest| usize::from(*oldest));
        oldest.div_ceil(32).clamp(1, WORDS_MAX)
    }

    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u16(&mut self.newest)?;
        let mut words = self.words();
        // Mostly one word does, and all of it has come. A word that would be told so otherwise says that there are more.
        let mut more = u32::MAX;
        let first = if words == 1 { &mut self.before[0] } else { &mut more };
        let mut have_all = words == 1 && *first == u32::MAX;
        stream.bool(&mut have_all)?;
        if have_all {
            *first = u32::MAX;
            return Ok(());
        }
        stream.u32(first)?;
        if *first != u32::MAX {
            return Ok(());
        }
        let mut last = words as u64 - 1;
        stream.bits(&mut last, 5)?;
        words = usize::try_from(last).unwrap_or(0) + 1;
        // As it was told: who reads it tells it in as many words.
        self.fresh[0] = self.fresh[0].max(u16::try_from(words * 32).unwrap_or(LATE_MAX));
        self.before[..words].iter_mut().try_for_each(|word| {
            let mut have_all = *word == u32::MAX;
            stream.bool(&mut have_all)?;
            if have_all {
                *word = u32::MAX;
                return Ok(());
            }
            stream.u32(word)
        })
    }

    /// It was told.
    pub(crate) fn note_told(&mut self) {
        self.fresh.rotate_right(1);
        self.fresh[0] = 0;
    }

    /// One more has come.
    pub(crate) fn with(mut self, number: u16) -> AckBits {
        match number.wrapping_sub(self.newest) {
            0 => {}
            ahead @ 1..=LATE_MAX => {
                self.shift(usize::from(ahead));
                self.set(ahead);
                self.newest = number;
                self.fresh.iter_mut().for_each(|back| *back = back.saturating_add(ahead).min(LATE_MAX));
            }
            behind if behind.wrapping_neg() <= LATE_MAX => {
                self.set(behind.wrapping_neg());
                self.fresh[0] = self.fresh[0].max(behind.wrapping_neg());
            }
            // Nothing had come for so long that it can't be told whether it is older.
            _ => self = AckBits::first(number),
        }
        self
    }

    /// The newest is newer by so much.
    fn shift(&mut self, ahead: usize) {
        let (words, bits) = (ahead / 32, ahead % 32);
        for nth in (0..WORDS_MAX).rev() {
            let word = |nth: Option<usize>| nth.map_or(0, |nth| u64::from(self.before[nth]));
            let (high, low) = (word(nth.checked_sub(words)), word(nth.checked_sub(words + 1)));
            self.before[nth] = ((high << 32 | low) << bits >> 32) as u32;
        }
    }

    /// The one that is so much older has come.
    fn set(&mut self, age: u16) {
        let bit = usize::from(age - 1);
        self.before[bit / 32] |= 1 << (bit % 32);
    }

    /// Whether this one has come, as far as it is told.
    pub(crate) fn has(&self, number: u16) -> bool {
        match usize::from(self.newest.wrapping_sub(number)) {
            0 => true,
            age => self.before.get((age - 1) / 32).is_some_and(|word| word >> ((age - 1) % 32) & 1 == 1),
        }
    }

    /// Whether one has come that was sent after this one.
    pub(crate) fn is_newer_than(&self, number: u16) -> bool {
        (1..=AGE_MAX).contains(&self.newest.wrapping_sub(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{BitReader, BitWriter};
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn of(numbers: impl IntoIterator<Item = u16>) -> Option<AckBits> {
        numbers.into_iter().fold(None, |received: Option<AckBits>, number| {
            Some(received.map_or(AckBits::first(number), |received| received.with(number)))
        })
    }

    /// As it is read by the other end, and how many bits it takes.
    fn told(mut received: AckBits) -> (AckBits, usize) {
        let (mut bytes, mut read) = (Vec::new(), AckBits::default());
        let mut writer = BitWriter::new(&mut bytes);
        received.stream(&mut writer).expect("writing never fails");
        let bits = writer.bit_len();
        read.stream(&mut BitReader::new(&bytes)).expect("well-formed");
        (read, bits)
    }

    proptest! {
        #[test]
        fn in_whatever_order_they_come_it_tells_which_of_those_that_came_just_now_and_of_32_at_least(
            start: u16, backs in prop::collection::vec(0_u16..1000, 1..60), later in 0_u16..4,
        ) {
            let came: BTreeSet<u16> = backs.iter().copied().collect();
            let newest = *came.first().expect("one at least");
            let mut received = of(backs.iter().map(|back| start.wrapping_sub(*back))).expect("one at least");
            (0..later).for_each(|_| received.note_told());
            let (read, _) = told(received);
            prop_assert_eq!(read.newest, start.wrapping_sub(newest));
            for age in 0..1100_u16 {
                let number = received.newest.wrapping_sub(age);
                let has_come = came.contains(&(newest + age));
                prop_assert_eq!(received.has(number), has_come, "age {}", age);
                prop_assert_eq!(read.has(number), has_come, "age {}", age);
            }
        }

        #[test]
        fn whatever_is_read_is_told_again_in_the_same_way(bytes in prop::collection::vec(any::<u8>(), 200)) {
            let mut read = AckBits::default();
            read.stream(&mut BitReader::new(&bytes)).expect("there are bits enough");
            let (again, _) = told(read);
            prop_assert_eq!((again.newest, again.before), (read.newest, read.before));
        }

        #[test]
        fn what_was_sent_after_the_newest_may_still_come(newest: u16, before: [u32; WORDS_MAX], ahead in 1_u16..=0x8000) {
            let (received, number) = (AckBits { newest, before, ..AckBits::default() }, newest.wrapping_add(ahead));
            prop_assert!(!received.has(number) && !received.is_newer_than(number));
        }
    }

    #[test]
    fn what_came_long_ago_takes_a_bit_and_a_loss_a_word() {
        let mut received = of(0..500).expect("some");
        assert!(told(received).1 > 16 + 33);
        (0..TOLD_TIMES).for_each(|_| received.note_told());
        assert_eq!(told(received).1, 16 + 1);
        assert_eq!(told(received.with(501)).1, 16 + 33);
    }

    #[test]
    fn a_number_half_a_round_away_is_neither_lost_nor_a_fault() {
        let received = AckBits::first(0);
        assert_eq!([0x8000, 0x8001, 0x7fff].map(|number| received.is_newer_than(number)), [false, true, false]);
        let far =
            [1024, 0_u16.wrapping_sub(1024), 1025, 0_u16.wrapping_sub(1025)].map(|number| received.with(number).newest);
        assert_eq!(far, [1024, 0, 1025, 0_u16.wrapping_sub(1025)], "what is far behind has gone round");
    }
}
