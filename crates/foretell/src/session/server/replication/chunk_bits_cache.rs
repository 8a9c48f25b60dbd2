//! Rows of a chunk that several clients are told alike: put together once, so that for each of these clients they are copied as one.

use super::optional_tick::OptionalTick;
use super::slot_set::{CHUNK, ChunkSlots};
use crate::session::shown_row_header::{RecordHeader, RecordsBefore};
use crate::wire::{BitBatch, BitWriter};
use alloc::vec::Vec;

/// How many choices of a chunk's rows are kept: each of other rows, or told against other states. Where clients have less in common, to put
/// their rows together costs more than it saves.
const SHARED_MAX: usize = 16;

/// Which bits of some rows of a chunk to copy: all but what stands before the first one.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedBits {
    /// What stands before the first one.
    pub header: RecordHeader,
    /// By what is told that comes behind them.
    pub after: RecordsBefore,
    pub bits: usize,
    start: usize,
}

/// A row that is to be put together with others.
#[derive(Clone, Copy)]
pub(super) struct RowToShare<'a> {
    pub header: RecordHeader,
    /// It begins with these, of which there are as many as whole eights take.
    pub bytes: &'a [u8],
    pub bits: usize,
}

/// Some rows of a chunk that were asked for.
#[derive(Clone, Copy, Debug)]
struct Kept {
    slots: u64,
    /// Where the states begin that they are told against.
    bases: usize,
    /// `None` where not all are told against one.
    shared: Option<SharedBits>,
}

/// What is known of some rows of a chunk.
pub(super) enum Found {
    /// They are together, or told one by one: as not all are told against a state, or as very many others were asked for.
    Known(Option<SharedBits>),
    /// Nobody has asked for them.
    Unknown,
}

/// Its memory is used again.
#[derive(Debug)]
pub(super) struct ChunkBitsCache {
    /// By the number of the chunk: how many of them there are.
    counts: Vec<usize>,
    /// Room for the most that a chunk may have.
    kept: Vec<Kept>,
    bases: Vec<OptionalTick>,
    bytes: Vec<u8>,
}

impl ChunkBitsCache {
    pub(super) fn new() -> ChunkBitsCache {
        ChunkBitsCache { counts: Vec::new(), kept: Vec::new(), bases: Vec::new(), bytes: Vec::new() }
    }

    /// There are none any more; numbers of rows are below `slots`, or below what was said before.
    pub(super) fn clear(&mut self, slots: usize) {
        self.counts.fill(0);
        self.bases.clear();
        self.bytes.clear();
        self.reserve(slots);
    }

    /// Numbers of rows are below `slots`, or below what was said before.
    pub(super) fn reserve(&mut self, slots: usize) {
        let chunks = slots.div_ceil(CHUNK as usize);
        if self.counts.len() < chunks {
            self.counts.resize(chunks, 0);
            self.kept.resize(chunks * SHARED_MAX, Kept { slots: 0, bases: 0, shared: None });
        }
    }

    /// For one who has each as it was in a state.
    #[inline]
    pub(super) fn find(&self, those: ChunkSlots, has: &[OptionalTick; CHUNK as usize]) -> Found {
        let (chunk, bases) = ((those.first / CHUNK) as usize, &self.bases);
        let kept = &self.kept[chunk * SHARED_MAX..][..self.counts[chunk]];
        let are_these = |kept: &&Kept| kept.slots == those.slots && are_told_against(those, &bases[kept.bases..], has);
        match kept.iter().find(are_these) {
            Some(known) => Found::Known(known.shared),
            None if kept.len() < SHARED_MAX => Found::Unknown,
            None => Found::Known(None),
        }
    }

    /// Puts rows together: of the first one and of the others what stands before each, its bytes, and how many bits of these it takes.
    pub(super) fn put_together<'a>(
        &mut self,
        first: RowToShare<'a>,
        others: impl Iterator<Item = RowToShare<'a>>,
    ) -> SharedBits {
        let start = self.bytes.len();
        let mut writer = BitWriter::new(&mut self.bytes);
        let (mut batch, mut after) = (BitBatch::new(&mut writer), RecordsBefore::UNKNOWN);
        batch.put_bytes(first.bytes, first.bits);
        after.note(&first.header);
        for row in others {
            after.first_bits(&row.header).write(&mut batch);
            batch.put_bytes(row.bytes, row.bits);
            after.note(&row.header);
        }
        let bits = batch.bit_len();
        batch.finish();
        fill_up(&mut self.bytes);
        SharedBits { header: first.header, after, bits, start }
    }

    /// Those that [nothing is known](Found::Unknown) of are these from now on, or told one by one.
    pub(super) fn keep(&mut self, those: ChunkSlots, has: &[OptionalTick; CHUNK as usize], shared: Option<SharedBits>) {
        let nth = (those.first / CHUNK) as usize;
        let place = nth * SHARED_MAX + self.counts[nth];
        self.kept[place] = Kept { slots: those.slots, bases: self.bases.len(), shared };
        self.counts[nth] += 1;
        self.bases.extend(those.iter().map(|slot| has[(slot % CHUNK) as usize]));
    }

    #[inline]
    pub(super) fn append(&self, of: SharedBits, to: &mut BitBatch<'_, '_>) {
        to.put_bytes(&self.bytes[of.start..], of.bits);
    }
}

/// Makes whole eights of them: so they are copied fast.
pub(super) fn fill_up(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

/// Whether somebody has those as they were in these states, and in no others.
#[inline]
fn are_told_against(those: ChunkSlots, bases: &[OptionalTick], has: &[OptionalTick; CHUNK as usize]) -> bool {
    if those.is_whole() {
        let both = bases.iter().zip(has);
        return both.fold(0, |differing, (base, has)| differing | base.0 ^ has.0) == 0;
    }
    those.iter().zip(bases).all(|(slot, base)| has[(slot % CHUNK) as usize] == *base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::shown_row_header::RecordKind;
    use crate::time::Tick;

    const THOSE: ChunkSlots = ChunkSlots { first: CHUNK, slots: 0b1_0110 };

    fn in_states(ticks: [u32; 3]) -> [OptionalTick; CHUNK as usize] {
        let mut has = [OptionalTick::some(Tick::new(99)); CHUNK as usize];
        THOSE
            .iter()
            .zip(ticks)
            .for_each(|(slot, tick)| has[(slot % CHUNK) as usize] = OptionalTick::some(Tick::new(tick)));
        has
    }

    fn add(rows: &mut ChunkBitsCache, ticks: [u32; 3]) -> usize {
        let header = |slot| RecordHeader { slot, kind: RecordKind::Against { age_ticks: 2 } };
        let mut all = THOSE.iter().map(|slot| RowToShare { header: header(slot), bytes: &[0xa5; 8], bits: 12 });
        let first = all.next().expect("there are some");
        let chunk = rows.put_together(first, all);
        rows.keep(THOSE, &in_states(ticks), Some(chunk));
        chunk.bits
    }

    #[test]
    fn what_was_put_together_is_found_by_who_is_told_the_same_against_the_same_states() {
        let mut rows = ChunkBitsCache::new();
        rows.clear(2 * CHUNK as usize);
        assert!(matches!(rows.find(THOSE, &in_states([5, 6, 7])), Found::Unknown));
        let bits = add(&mut rows, [5, 6, 7]);
        assert!(matches!(rows.find(THOSE, &in_states([5, 6, 7])), Found::Known(Some(chunk)) if chunk.bits == bits));
        for (those, ticks) in [
            (THOSE, [5, 6, 8]),
            (ChunkSlots { slots: 0b1_0010, ..THOSE }, [5, 6, 7]),
            (ChunkSlots { first: 0, ..THOSE }, [5, 6, 7]),
        ] {
            assert!(matches!(rows.find(those, &in_states(ticks)), Found::Unknown), "{those:?} {ticks:?}");
        }
        rows.keep(THOSE, &in_states([5, 6, 8]), None);
        assert!(matches!(rows.find(THOSE, &in_states([5, 6, 8])), Found::Known(None)));
    }

    #[test]
    fn of_very_many_different_choices_only_the_first_are_put_together() {
        let mut rows = ChunkBitsCache::new();
        rows.clear(2 * CHUNK as usize);
        for state in 0..16 {
            add(&mut rows, [state, 6, 7]);
        }
        assert!(matches!(rows.find(THOSE, &in_states([16, 6, 7])), Found::Known(None)));
        assert!(matches!(rows.find(THOSE, &in_states([7, 6, 7])), Found::Known(Some(_))));
        rows.clear(2 * CHUNK as usize);
        assert!(matches!(rows.find(THOSE, &in_states([7, 6, 7])), Found::Unknown));
    }
}
