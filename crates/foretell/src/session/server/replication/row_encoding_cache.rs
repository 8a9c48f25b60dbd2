//! Rows as they are told to everybody who shows them: encoded once for each state and each older state that they are told
//! against, and copied for each client: one by one, or those of a chunk together.

use super::chunk_bits_cache::{ChunkBitsCache, Found, RowToShare, SharedBits, fill_up};
use super::encodings_by_base::EncodingsByBase;
use super::optional_tick::OptionalTick;
use super::slot_set::{CHUNK, ChunkSlots};
use crate::session::shown_bases::{BASE_AGE_MAX, ShownBases};
use crate::session::shown_row_codec::{Base, ShownRowCodec};
use crate::session::shown_row_header::{RecordHeader, RecordKind};
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
    /// How many ticks older the state is that it is told against, 0 where it has rested since; `None` where it is told by itself.
    pub age_ticks: Option<u32>,
    pub bits: u32,
    /// With which byte it begins.
    start: u32,
}

/// The rows of one state, as far as anybody was told. Its memory is used again.
pub(super) struct RowEncodingCache {
    codec: ShownRowCodec,
    of: Tick,
    bytes: Vec<u8>,
    /// By the number of the row.
    rows: EncodingsByBase<EncodedRow>,
    shared: ChunkBitsCache,
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

impl RowEncodingCache {
    pub(super) fn new(schema: &Schema, rate: TickRate) -> RowEncodingCache {
        RowEncodingCache {
            codec: ShownRowCodec::new(schema, rate),
            of: Tick::ZERO,
            bytes: Vec::new(),
            rows: EncodingsByBase::new(),
            shared: ChunkBitsCache::new(),
            told: ShownBases::new(),
            against: Lengths::default(),
            usual_bits: None,
        }
    }

    /// From now on those of this state, in which row numbers are below `slots`.
    pub(super) fn begin(&mut self, state: Tick, slots: usize) {
        if core::mem::replace(&mut self.of, state) == state {
            self.rows.reserve(slots);
            self.shared.reserve(slots);
            return;
        }
        self.bytes.clear();
        self.rows.clear(slots);
        self.shared.clear(slots);
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

    /// The bits of the row with this number for one who is told it against `base`: the state `has`, in which they have it, or that it
    /// has rested since then. It is encoded, unless that was done for another client that has the same.
    #[inline]
    pub(super) fn encode<'a>(
        &mut self,
        slot: u32,
        base: OptionalTick,
        has: OptionalTick,
        row: impl FnOnce() -> RowToTell<'a>,
    ) -> EncodedRow {
        let is_near = has.get().is_some_and(|has| self.age_ticks(has).is_some());
        let base = if is_near { base } else { OptionalTick::NONE };
        self.rows.get(slot, base).unwrap_or_else(|| self.encode_another(slot, base, has, row()))
    }

    /// These rows will be asked for, for one who has each as it was in one state. They are told against many states, which mostly are
    /// far away in memory: what is read here in a row is fetched all at the same time.
    pub(super) fn read_ahead(&self, rows: impl Iterator<Item = (u32, Option<Tick>)>) {
        let words = rows.filter_map(|(slot, has)| Some(self.told.touch(has?, slot)));
        core::hint::black_box(words.fold(0, |all, word| all ^ word));
    }

    /// The same where nobody has asked for it, or the base is not known any more.
    #[inline(never)]
    fn encode_another(&mut self, slot: u32, base: OptionalTick, has: OptionalTick, row: RowToTell<'_>) -> EncodedRow {
        let words = self.codec.form(row.row.component).words();
        let state = has.get().filter(|_| base != OptionalTick::NONE);
        let state = state.filter(|state| self.told.get(*state, slot, words).is_some());
        let known = if state.is_some() { base } else { OptionalTick::NONE };
        if let Some(encoded) = self.rows.get(slot, known).filter(|_| known != base) {
            return encoded;
        }
        let age_ticks = state.map(|state| if base == OptionalTick::RESTED { 0 } else { self.of.since(state) });
        let encoded = self.add(slot, state.zip(age_ticks), row);
        self.rows.insert(slot, known, encoded);
        encoded
    }

    /// Told against the row of a state, as that many ticks older.
    fn add(&mut self, slot: u32, base: Option<(Tick, u32)>, RowToTell { row, rests }: RowToTell<'_>) -> EncodedRow {
        let RowEncodingCache { codec, of, bytes, told, .. } = self;
        let form = codec.form(row.component);
        told.set(*of, slot, form.words(), |rounded| form.round(row.words, rounded));
        let rounded = told.get(*of, slot, form.words()).expect("it was just kept");
        let against = base.and_then(|(state, age_ticks)| Some((told.get(state, slot, form.words())?, age_ticks)));
        let against = against.map_or(Base::NONE, |(rounded, age_ticks)| Base { rounded, age_ticks });
        let start = u32::try_from(bytes.len()).expect("a state is shorter");
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
        EncodedRow { age_ticks: base.map(|(_, age_ticks)| age_ticks), bits, start }
    }

    /// Some rows of a chunk together, for one who [is told](RowEncodingCache::encode) each against one of `bases`. They are put together once.
    /// `None` where they are told one by one: as not all are told against a state, or very many others of the chunk are put together.
    #[inline]
    pub(super) fn shared<'a>(
        &mut self,
        those: ChunkSlots,
        bases: &[OptionalTick; CHUNK as usize],
        has: &[OptionalTick; CHUNK as usize],
        row: impl Fn(u32) -> RowToTell<'a>,
    ) -> Option<SharedBits> {
        match self.shared.find(those, bases) {
            Found::Known(shared) => shared,
            Found::Unknown => {
                let shared = self.put_together(those, bases, has, row);
                self.shared.keep(those, bases, shared);
                shared
            }
        }
    }

    /// The same where nobody has asked for them.
    #[inline(never)]
    fn put_together<'a>(
        &mut self,
        those: ChunkSlots,
        bases: &[OptionalTick; CHUNK as usize],
        has: &[OptionalTick; CHUNK as usize],
        row: impl Fn(u32) -> RowToTell<'a>,
    ) -> Option<SharedBits> {
        let mut encoded = [None; CHUNK as usize];
        for (encoded, slot) in encoded.iter_mut().zip(those.iter()) {
            let nth = (slot % CHUNK) as usize;
            let row = self.encode(slot, bases[nth], has[nth], || row(slot));
            let kind = RecordKind::Against { age_ticks: row.age_ticks? };
            *encoded = Some((RecordHeader { slot, kind }, row));
        }
        let rows = encoded.into_iter().map_while(|encoded| encoded);
        let mut rows = rows.map(|(header, EncodedRow { start, bits, .. })| RowToShare {
            header,
            bytes: &self.bytes[start as usize..],
            bits: bits as usize,
        });
        let first = rows.next()?;
        Some(self.shared.put_together(first, rows))
    }

    /// Appends the bits of a row that is encoded.
    #[inline]
    pub(super) fn append(&self, of: EncodedRow, to: &mut BitBatch<'_, '_>) {
        to.put_bytes(&self.bytes[of.start as usize..], of.bits as usize);
    }

    #[inline]
    pub(super) fn append_shared(&self, of: SharedBits, to: &mut BitBatch<'_, '_>) {
        self.shared.append(of, to);
    }
}

#[cfg(test)]
impl RowEncodingCache {
    /// Whether those were put together for one who is told each against one of `bases`.
    pub(super) fn has_shared(&self, those: ChunkSlots, bases: &[OptionalTick; CHUNK as usize]) -> bool {
        matches!(self.shared.find(those, bases), Found::Known(Some(_)))
    }
}
