//! Sets of numbers of rows, and those of them that are treated together.

use alloc::vec::Vec;
use core::iter;
use core::ops::Range;

/// How many consecutive numbers are a block; the first one is a multiple of this.
pub(super) const BLOCK: u32 = 16;

/// What there is of the numbers of a block, where there is something for each number of whole blocks.
#[inline]
pub(super) fn block<T>(all: &[T], first: u32) -> &[T; BLOCK as usize] {
    all[first as usize..].first_chunk().expect("there are whole blocks")
}

/// How many consecutive numbers are a chunk; the first one is a multiple of this.
pub(super) const CHUNK: u32 = u64::BITS;

/// Some numbers of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChunkSlots {
    /// The first number of the chunk.
    pub first: u32,
    /// Which of them; the lowest bit is the first.
    pub slots: u64,
}

impl ChunkSlots {
    /// One number.
    #[inline]
    pub fn one(slot: u32) -> ChunkSlots {
        ChunkSlots { first: slot - slot % CHUNK, slots: bit(slot) }
    }

    /// Whether they are all of the chunk: what is done with them is done faster then.
    #[inline]
    pub fn is_whole(self) -> bool {
        self.slots == !0
    }

    pub fn is_empty(self) -> bool {
        self.slots == 0
    }

    /// How many.
    #[inline]
    pub fn count(self) -> u32 {
        self.slots.count_ones()
    }

    /// All of them, ascending.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = u32> {
        let ChunkSlots { first, slots: mut left } = self;
        iter::from_fn(move || {
            let slot = (left != 0).then(|| first + left.trailing_zeros())?;
            left &= left - 1;
            Some(slot)
        })
    }

    /// The lowest `count` of them; all where there are fewer.
    pub fn lowest(self, count: u32) -> ChunkSlots {
        if count >= self.count() {
            return self;
        }
        let others = (0..count).fold(self.slots, |left, _| left & left.wrapping_sub(1));
        ChunkSlots { slots: self.slots & !others, ..self }
    }

    /// Those below a number of the chunk.
    #[inline]
    pub fn below(self, slot: u32) -> ChunkSlots {
        ChunkSlots { slots: self.slots & (bit(slot) - 1), ..self }
    }

    /// Those and others of the chunk.
    #[inline]
    pub fn with(self, others: ChunkSlots) -> ChunkSlots {
        ChunkSlots { slots: self.slots | others.slots, ..self }
    }

    /// Those that are not among some others of the chunk.
    pub fn without(self, others: ChunkSlots) -> ChunkSlots {
        ChunkSlots { slots: self.slots & !others.slots, ..self }
    }

    /// Where the chunk stands, to index with.
    #[inline]
    pub fn indices(self) -> Range<usize> {
        self.first as usize..(self.first + CHUNK) as usize
    }
}

/// Chunks that follow each other, of each of which the same are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChunkRun {
    /// Those of the first.
    those: ChunkSlots,
    chunks: u32,
}

impl ChunkRun {
    /// Of one chunk.
    #[inline]
    pub fn of(those: ChunkSlots) -> ChunkRun {
        ChunkRun { those, chunks: 1 }
    }

    /// Those are meant too, where a run can say so: of its only chunk, or as many of the next one. Whether it can.
    #[inline]
    pub fn extend(&mut self, more: ChunkSlots) -> bool {
        let ChunkRun { those, chunks } = self;
        if more.first == those.first && *chunks == 1 {
            *those = those.with(more);
            return true;
        }
        let follows = more.slots == those.slots && more.first == those.first + *chunks * CHUNK;
        *chunks += u32::from(follows);
        follows
    }

    /// Those of each.
    pub fn chunks(self) -> impl Iterator<Item = ChunkSlots> {
        let ChunkRun { those: ChunkSlots { first, slots }, chunks } = self;
        (0..chunks).map(move |nth| ChunkSlots { first: first + nth * CHUNK, slots })
    }
}

/// A bit for each number, as far as there are any.
#[derive(Default, Debug)]
pub(super) struct SlotSet {
    words: Vec<u64>,
}

impl Clone for SlotSet {
    fn clone(&self) -> SlotSet {
        SlotSet { words: self.words.clone() }
    }

    /// Into the memory that there is.
    fn clone_from(&mut self, other: &SlotSet) {
        self.words.clone_from(&other.words);
    }
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
        // Without a branch for each word it is done for several at a time.
        self.words.iter().fold(0, |all, word| all | word) == 0
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
        self.add_both_but(one, other, &SlotSet::default());
    }

    /// Adds what is in both, and not in the third.
    pub fn add_both_but(&mut self, one: &SlotSet, other: &SlotSet, but: &SlotSet) {
        let count = one.words.len().min(other.words.len());
        if self.words.len() < count {
            self.words.resize(count, 0);
        }
        let but = but.words.iter().copied().chain(iter::repeat(0));
        let added = one.words.iter().zip(&other.words).zip(but).map(|((one, other), but)| one & other & !but);
        self.words.iter_mut().zip(added).for_each(|(word, added)| *word |= added);
    }

    /// Adds all of another.
    pub fn add_all(&mut self, other: &SlotSet) {
        self.add_both(other, other);
    }

    /// Takes away what is in another.
    pub fn remove_all(&mut self, other: &SlotSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
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

    /// Those of each chunk of which it has any, ascending.
    pub fn chunks(&self) -> impl Iterator<Item = ChunkSlots> {
        let chunks = (0..).step_by(CHUNK as usize).zip(&self.words);
        chunks.filter(|(_, word)| **word != 0).map(|(first, word)| ChunkSlots { first, slots: *word })
    }

    /// Which of a chunk it has.
    #[inline]
    pub fn chunk(&self, first: u32) -> ChunkSlots {
        ChunkSlots { first, slots: self.word(first) }
    }

    /// Of those it has the ones that are in `others` too from now on.
    #[inline]
    pub fn set_chunk(&mut self, those: ChunkSlots, others: u64) {
        let word = self.word_mut(those.first);
        *word = *word & !those.slots | those.slots & others;
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
        fn runs_have_each_number_that_was_added(all in prop::collection::vec((0..6_u32, 0..4_usize), 1..40)) {
            let patterns = [1, 3, 8, u64::MAX];
            let (mut runs, mut expected): (Vec<ChunkRun>, _) = (Vec::new(), BTreeSet::new());
            for (chunk, pattern) in all {
                let those = ChunkSlots { first: chunk * CHUNK, slots: patterns[pattern] };
                expected.extend(those.iter());
                if !runs.last_mut().is_some_and(|last| last.extend(those)) {
                    runs.push(ChunkRun::of(those));
                }
            }
            let found: BTreeSet<_> = runs.iter().flat_map(|run| run.chunks()).flat_map(ChunkSlots::iter).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn it_has_what_a_sorted_set_has(
            changes in prop::collection::vec((0..300_u32, any::<bool>()), 0..200),
            others in prop::collection::btree_set(0..400_u32, 0..100),
            from in 0..400_u32,
            block in 0..20_u32,
            slots: u64,
            are_in: u64,
        ) {
            let (mut set, mut other, mut expected) = (SlotSet::default(), SlotSet::default(), BTreeSet::new());
            others.iter().for_each(|slot| other.insert(*slot));
            for (slot, is_in) in changes {
                set.set(slot, is_in);
                if is_in { expected.insert(slot) } else { expected.remove(&slot) };
            }
            let first = block * BLOCK;
            prop_assert!((0..BLOCK).all(|nth| set.block(first) & 1 << nth == u16::from(expected.contains(&(first + nth))) << nth));
            let those = ChunkSlots { first: first - first % CHUNK, slots };
            set.set_chunk(those, are_in);
            for nth in 0..CHUNK {
                let slot = those.first + nth;
                let is_meant = slots & 1 << nth > 0;
                prop_assert_eq!(those.iter().any(|meant| meant == slot), is_meant);
                prop_assert_eq!(ChunkSlots::one(slot), ChunkSlots { slots: 1 << nth, ..those });
                prop_assert!(those.below(slot).iter().eq(those.iter().take_while(|other| *other < slot)));
                if is_meant && are_in & 1 << nth > 0 {
                    expected.insert(slot);
                } else if is_meant {
                    expected.remove(&slot);
                }
            }
            let low = those.lowest(those.count() / 2);
            prop_assert_eq!(low.count(), those.count() / 2);
            prop_assert!(low.iter().chain(those.without(low).iter()).eq(those.iter()));
            prop_assert!(set.chunk(those.first).iter().eq(expected.range(those.first..those.first + CHUNK).copied()));
            prop_assert!(set.iter().eq(expected.iter().copied()));
            prop_assert!(set.chunks().all(|those| !those.is_empty()));
            prop_assert!(set.chunks().flat_map(ChunkSlots::iter).eq(expected.iter().copied()));
            prop_assert_eq!((set.len(), set.is_empty()), (expected.len(), expected.is_empty()));
            prop_assert!((0..420).all(|slot| set.contains(slot) == expected.contains(&slot)));
            prop_assert_eq!(set.next_from(from), expected.range(from..).next().copied());
            prop_assert_eq!(set.next_not_in(&other, from), expected.range(from..).find(|slot| !others.contains(slot)).copied());
            prop_assert_eq!(set.count_both(&other), expected.intersection(&others).count());
            let mut without = set.clone();
            without.remove_all(&other);
            prop_assert!(without.iter().eq(expected.iter().copied().filter(|slot| !others.contains(slot))));
            without.add_all(&other);
            prop_assert!(without.iter().eq(expected.union(&others).copied()));
            let mut both = SlotSet::default();
            both.insert(7);
            let mut none = SlotSet::default();
            none.add_both_but(&set, &other, &other);
            prop_assert!(none.is_empty());
            both.add_both(&set, &other);
            prop_assert!(both.iter().all(|slot| slot == 7 || expected.contains(&slot) && others.contains(&slot)));
            prop_assert_eq!(both.len(), expected.intersection(&others).filter(|slot| **slot != 7).count() + 1);
            set.clear();
            prop_assert!(set.is_empty());
        }
    }
}
