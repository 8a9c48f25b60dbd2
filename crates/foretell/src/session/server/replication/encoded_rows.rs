//! Rows as they are told to everybody who shows them: encoded once for each state and each older state that they are told
//! against, and copied for each client: one by one, or a block of them at a time.

use super::encodings_by_base::EncodingsByBase;
use super::slot_set::{BLOCK, SlotRun};
use crate::session::shown_bases::{BASE_AGE_MAX, ShownBases};
use crate::session::shown_codec::{Base, ShownCodec};
use crate::session::shown_row_head::FirstBits;
use crate::time::{Tick, TickRate};
use crate::wire::{BitBatch, BitWriter};
use crate::world::{Row, Schema};
use alloc::vec::Vec;

/// The row of a state that is to be told.
#[derive(Clone, Copy)]
pub(super) struct RowToTell<'a> {
    pub row: Row<'a>,
    /// Whether it was the same in the state that was sent before.
    pub rests: bool,
}

/// Which bits of a row to copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodedRow {
    /// How many ticks older the state is that it is told against; `None` where it is told by itself.
    pub age_ticks: Option<u32>,
    pub bits: u32,
    /// Whether it is told to rest.
    pub rests: bool,
    /// With which byte it begins.
    start: usize,
}

/// Which bits of a block of rows to copy, which are all told against the same state: all but what stands before the first row.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodedBlock {
    pub age_ticks: u32,
    pub bits: usize,
    start: usize,
}

/// The rows of one state, as far as anybody was told. Its memory is used again.
pub(super) struct EncodedRows {
    codec: ShownCodec,
    of: Tick,
    bytes: Vec<u8>,
    /// By the number of the row.
    rows: EncodingsByBase<EncodedRow>,
    /// By the number of the block; `None` where not all of its rows are told against the same state.
    blocks: EncodingsByBase<Option<EncodedBlock>>,
    block_bytes: Vec<u8>,
    told: ShownBases,
    /// Of those that are told against an older state.
    against: Lengths,
    /// How many bits one of them took on average in the state before.
    usual_bits: Option<u64>,
}

/// Before it is known how long rows are, they may be as short as this.
const BITS_MIN: usize = 16;

/// How many, and how long they are together.
#[derive(Clone, Copy, Default, Debug)]
struct Lengths {
    count: u64,
    bits: u64,
}

impl EncodedRows {
    pub(super) fn new(schema: &Schema, rate: TickRate) -> EncodedRows {
        EncodedRows {
            codec: ShownCodec::new(schema, rate),
            of: Tick::ZERO,
            bytes: Vec::new(),
            rows: EncodingsByBase::new(),
            blocks: EncodingsByBase::new(),
            block_bytes: Vec::new(),
            told: ShownBases::new(),
            against: Lengths::default(),
            usual_bits: None,
        }
    }

    /// From now on those of this state, in which row numbers are below `slots`.
    pub(super) fn begin(&mut self, state: Tick, slots: usize) {
        let blocks = slots.div_ceil(BLOCK as usize);
        if core::mem::replace(&mut self.of, state) == state {
            self.rows.reserve(slots);
            self.blocks.reserve(blocks);
            return;
        }
        self.bytes.clear();
        self.block_bytes.clear();
        self.rows.clear(slots);
        self.blocks.clear(blocks);
        let Lengths { count, bits } = core::mem::take(&mut self.against);
        self.usual_bits = bits.checked_div(count).or(self.usual_bits);
    }

    /// How many bits a row of any component takes at most.
    pub(super) fn bits_max(&self) -> u64 {
        1 + self.codec.bits_max()
    }

    /// How many bits a row takes, mostly less: by itself, or told to one who has it.
    pub(super) fn bits_mostly(&self, is_there: bool) -> u64 {
        let usual_bits = self.usual_bits.filter(|_| is_there);
        usual_bits.map_or(self.bits_max(), |bits| (bits * 5 / 4).min(self.bits_max()))
    }

    /// How many ticks older a state is than the one that is told, if that is not too many to tell rows against it.
    fn age_ticks(&self, base: Tick) -> Option<u32> {
        (self.of > base).then(|| self.of.since(base)).filter(|age_ticks| *age_ticks <= BASE_AGE_MAX)
    }

    /// How many bits a row mostly takes at least.
    pub(super) fn bits_at_least(&self) -> usize {
        let usual = self.usual_bits.and_then(|bits| usize::try_from(bits * 3 / 4).ok());
        usual.unwrap_or(0).max(BITS_MIN)
    }

    /// The bits of the row with this number for one who has it as it was in the state `has`. It is encoded, unless that was done
    /// for another client that has the same.
    #[inline]
    pub(super) fn encode<'a>(
        &mut self,
        slot: u32,
        has: Option<Tick>,
        row: impl FnOnce() -> RowToTell<'a>,
    ) -> EncodedRow {
        let base = has.filter(|base| self.age_ticks(*base).is_some());
        self.rows.get(slot, base).unwrap_or_else(|| self.encode_another(slot, base, row()))
    }

    /// These rows will be asked for, for one who has each as it was in one state. They are told against many states, which mostly are
    /// far away in memory: what is read here in a row is fetched all at the same time.
    pub(super) fn read_ahead(&self, rows: impl Iterator<Item = (u32, Option<Tick>)>) {
        let words = rows.filter_map(|(slot, has)| Some(self.told.touch(has?, slot)));
        core::hint::black_box(words.fold(0, |all, word| all ^ word));
    }

    /// The same where nobody has asked for it, or the base is not known any more.
    #[inline(never)]
    fn encode_another(&mut self, slot: u32, base: Option<Tick>, row: RowToTell<'_>) -> EncodedRow {
        let words = self.codec.form(row.row.component).words();
        let known = base.filter(|base| self.told.get(*base, slot, words).is_some());
        if let Some(encoded) = self.rows.get(slot, known).filter(|_| known != base) {
            return encoded;
        }
        let encoded = self.add(slot, known, row);
        self.rows.insert(slot, known, encoded);
        encoded
    }

    fn add(&mut self, slot: u32, base: Option<Tick>, RowToTell { row, rests }: RowToTell<'_>) -> EncodedRow {
        let EncodedRows { codec, of, bytes, told, .. } = self;
        let form = codec.form(row.component);
        told.set(*of, slot, form.words(), |rounded| form.round(row.words, rounded));
        let rounded = told.get(*of, slot, form.words()).expect("it was just kept");
        let against = base.and_then(|base| Some((base, told.get(base, slot, form.words())?)));
        let against = against.map_or(Base::NONE, |(base, rounded)| Base { rounded, age_ticks: of.since(base) });
        let start = bytes.len();
        let mut writer = BitWriter::new(bytes);
        writer.put(u64::from(rests), 1);
        codec.write(&mut writer, row.component, rounded, against);
        let bits = writer.bit_len();
        fill_up(bytes);
        if base.is_some() {
            self.against.count += 1;
            self.against.bits += bits as u64;
        }
        let bits = u32::try_from(bits).expect("a row is short");
        EncodedRow { age_ticks: base.map(|base| of.since(base)), bits, rests, start }
    }

    /// The bits of the block of rows that begins with this number, for one who has all of them as they were in the state `base`;
    /// `None` where not all can be told against that. They are put together once.
    #[inline]
    pub(super) fn block<'a>(
        &mut self,
        first: u32,
        base: Tick,
        row: impl Fn(u32) -> RowToTell<'a>,
    ) -> Option<EncodedBlock> {
        let age_ticks = self.age_ticks(base)?;
        let known = self.blocks.get(first / BLOCK, Some(base));
        known.unwrap_or_else(|| {
            let block = self.join(SlotRun { first, count: BLOCK }, base, row);
            let block = block.map(|(start, bits)| EncodedBlock { age_ticks, bits, start });
            self.blocks.insert(first / BLOCK, Some(base), block);
            block
        })
    }

    /// Puts the rows of a block together. Returns where they begin, and how many bits they take.
    #[inline(never)]
    fn join<'a>(&mut self, run: SlotRun, base: Tick, row: impl Fn(u32) -> RowToTell<'a>) -> Option<(usize, usize)> {
        let mut rows = [None; BLOCK as usize];
        for (encoded, slot) in rows.iter_mut().zip(run.slots()) {
            *encoded = Some(self.encode(slot, Some(base), || row(slot))).filter(|encoded| encoded.age_ticks.is_some());
            (*encoded)?;
        }
        let start = self.block_bytes.len();
        let mut writer = BitWriter::new(&mut self.block_bytes);
        let mut joined = BitBatch::new(&mut writer);
        for (nth, row) in rows.into_iter().flatten().enumerate() {
            if nth > 0 {
                FirstBits::NEXT_ALIKE.write(&mut joined);
            }
            joined.put_bytes(&self.bytes[row.start..], row.bits as usize);
        }
        let bits = joined.bit_len();
        joined.finish();
        fill_up(&mut self.block_bytes);
        Some((start, bits))
    }

    /// Appends the bits of a row that is encoded.
    #[inline]
    pub(super) fn append(&self, of: EncodedRow, to: &mut BitBatch<'_, '_>) {
        to.put_bytes(&self.bytes[of.start..], of.bits as usize);
    }

    /// And those of a block.
    #[inline]
    pub(super) fn append_block(&self, of: EncodedBlock, to: &mut BitBatch<'_, '_>) {
        to.put_bytes(&self.block_bytes[of.start..], of.bits);
    }
}

/// Makes whole eights of them: so they are copied fast.
fn fill_up(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}
