//! Sets of numbers of rows, and runs of numbers.

use alloc::vec::Vec;
use core::iter;
use core::ops::Range;

/// How many consecutive numbers are a block; the first one is a multiple of this.
pub(super) const BLOCK: u32 = 16;

/// Numbers that follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SlotRun {
    pub first: u32,
    pub count: u32,
}

impl SlotRun {
    /// All of them, ascending.
    pub fn slots(self) -> Range<u32> {
        self.first..self.first + self.count
    }

    /// The same, to index with.
    pub fn indices(self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// A bit for each number, as far as there are any.
#[derive(Clone, Default, Debug)]
pub(super) struct SlotSet {
    words: Vec<u64>,
}

impl SlotSet {
    pub fn contains(&self, slot: u32) -> bool {
        self.word(slot) & bit(slot) != 0
    }

    #[inline]
    pub fn insert(&mut self, slot: u32) {
        *self.word_mut(slot) |= bit(slot);
    }

    #[inline]
    pub fn remove(&mut self, slot: u32) {
        if let Some(word) = self.words.get_mut(place(slot)) {
            *word &= !bit(slot);
        }
    }

    pub fn set(&mut self, slot: u32, is_in: bool) {
        if is_in { self.insert(slot) } else { self.remove(slot) }
    }

    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        iter::successors(self.next_from(0), |slot| self.next_from(slot + 1))
    }

    /// The lowest that is not below `slot`.
    #[inline]
    pub fn next_from(&self, slot: u32) -> Option<u32> {
        self.next(slot, |_, word| word)
    }

    /// The lowest that is not below `slot`, and not in the other.
    #[inline]
    pub fn next_not_in(&self, other: &SlotSet, slot: u32) -> Option<u32> {
        self.next(slot, |nth, word| word & !other.words.get(nth).unwrap_or(&0))
    }

    fn next(&self, from: u32, of: impl Fn(usize, u64) -> u64) -> Option<u32> {
        let first = place(from);
        let mut not_below = !0 << (from % u64::BITS);
        let words = self.words.iter().enumerate().skip(first);
        words.zip((u64::BITS * (from / u64::BITS)..).step_by(64)).find_map(|((nth, word), start)| {
            let word = of(nth, *word) & core::mem::replace(&mut not_below, !0);
            (word != 0).then(|| start + word.trailing_zeros())
        })
    }

    /// Adds what is in both.
    pub fn add_both(&mut self, one: &SlotSet, other: &SlotSet) {
        let count = one.words.len().min(other.words.len());
        if self.words.len() < count {
            self.words.resize(count, 0);
        }
        let both = one.words.iter().zip(&other.words).map(|(one, other)| one & other);
        self.words.iter_mut().zip(both).for_each(|(word, both)| *word |= both);
    }

    /// How many are in both.
    pub fn count_both(&self, other: &SlotSet) -> usize {
        self.words.iter().zip(&other.words).map(|(one, other)| (one & other).count_ones() as usize).sum()
    }

    /// Which of a block it has; the lowest bit is the first.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a block has 16 bits")]
    pub fn block(&self, first: u32) -> u16 {
        (self.word(first) >> (first % u64::BITS)) as u16
    }

    /// The first number of each block of which it has any, ascending, and [which](SlotSet::block).
    pub fn blocks(&self) -> impl Iterator<Item = (u32, u16)> {
        let firsts = (0..).step_by(BLOCK as usize).take(self.words.len() * (u64::BITS / BLOCK) as usize);
        firsts.map(|first| (first, self.block(first))).filter(|(_, slots)| *slots != 0)
    }

    /// Has these of a block from now on.
    #[inline]
    pub fn set_block(&mut self, first: u32, slots: u16) {
        let shift = first % u64::BITS;
        let word = self.word_mut(first);
        *word = *word & !(u64::from(u16::MAX) << shift) | u64::from(slots) << shift;
    }

    fn word(&self, slot: u32) -> u64 {
        self.words.get(place(slot)).copied().unwrap_or(0)
    }

    fn word_mut(&mut self, slot: u32) -> &mut u64 {
        let place = place(slot);
        if self.words.len() <= place {
            self.words.resize(place + 1, 0);
        }
        &mut self.words[place]
    }
}

const fn place(slot: u32) -> usize {
    (slot / u64::BITS) as usize
}

const fn bit(slot: u32) -> u64 {
    1 << (slot % u64::BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_has_what_a_sorted_set_has(
            changes in prop::collection::vec((0..300_u32, any::<bool>()), 0..200),
            others in prop::collection::btree_set(0..400_u32, 0..100),
            from in 0..400_u32,
            block in 0..20_u32,
            slots: u16,
        ) {
            let (mut set, mut other, mut expected) = (SlotSet::default(), SlotSet::default(), BTreeSet::new());
            others.iter().for_each(|slot| other.insert(*slot));
            for (slot, is_in) in changes {
                set.set(slot, is_in);
                if is_in { expected.insert(slot) } else { expected.remove(&slot) };
            }
            let first = block * BLOCK;
            prop_assert!((0..BLOCK).all(|nth| set.block(first) & 1 << nth == u16::from(expected.contains(&(first + nth))) << nth));
            set.set_block(first, slots);
            for nth in 0..BLOCK {
                if slots & 1 << nth > 0 { expected.insert(first + nth) } else { expected.remove(&(first + nth)) };
            }
            prop_assert!(set.iter().eq(expected.iter().copied()));
            prop_assert_eq!((set.len(), set.is_empty()), (expected.len(), expected.is_empty()));
            prop_assert!((0..420).all(|slot| set.contains(slot) == expected.contains(&slot)));
            prop_assert_eq!(set.next_from(from), expected.range(from..).next().copied());
            prop_assert_eq!(set.next_not_in(&other, from), expected.range(from..).find(|slot| !others.contains(slot)).copied());
            prop_assert_eq!(set.count_both(&other), expected.intersection(&others).count());
            let mut both = SlotSet::default();
            both.insert(7);
            both.add_both(&set, &other);
            prop_assert!(both.iter().all(|slot| slot == 7 || expected.contains(&slot) && others.contains(&slot)));
            prop_assert_eq!(both.len(), expected.intersection(&others).filter(|slot| **slot != 7).count() + 1);
            set.clear();
            prop_assert!(set.is_empty());
        }
    }
}
