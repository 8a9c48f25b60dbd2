//! Rows as they are told to everybody who shows them: encoded once for each state and each older state that they are told
//! against, and copied for each client.

use crate::session::shown_codec::{Base, ShownCodec};
use crate::session::told_ring::{BASE_AGE_MAX, ToldRing};
use crate::time::{Tick, TickRate};
use crate::wire::{BitWriter, append_bits};
use crate::world::{Row, Schema};
use alloc::vec::Vec;

/// A row told against one older state, or by itself.
#[derive(Clone, Copy, Debug)]
struct Encoded {
    base: Option<Tick>,
    /// With which byte it begins.
    start: usize,
    bits: usize,
    /// Where the same row stands, told against another.
    next: Option<usize>,
}

/// The row of a state that is to be told.
#[derive(Clone, Copy)]
pub(super) struct RowToTell<'a> {
    pub slot: u32,
    pub row: Row<'a>,
    /// Whether it was the same in the state that was sent before.
    pub rests: bool,
}

/// Which bits of a row to copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodedRow {
    /// How many ticks older the state is that it is told against; `None` where it is told by itself.
    pub age_ticks: Option<u32>,
    pub bits: usize,
    start: usize,
}

/// The rows of one state, as far as anybody was told. Its memory is used again.
pub(super) struct EncodedRows {
    codec: ShownCodec,
    of: Tick,
    bytes: Vec<u8>,
    encoded: Vec<Encoded>,
    /// By the number of the row: where it is for the first time.
    first: Vec<Option<usize>>,
    told: ToldRing,
    /// Of those that are told against an older state.
    against: Lengths,
    /// How many bits one of them took on average in the state before.
    usual_bits: Option<u64>,
}

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
            encoded: Vec::new(),
            first: Vec::new(),
            told: ToldRing::new(),
            against: Lengths::default(),
            usual_bits: None,
        }
    }

    /// From now on those of this state, in which row numbers are below `slots`.
    pub(super) fn begin(&mut self, state: Tick, slots: usize) {
        if core::mem::replace(&mut self.of, state) != state {
            self.bytes.clear();
            self.encoded.clear();
            self.first.fill(None);
            let Lengths { count, bits } = core::mem::take(&mut self.against);
            self.usual_bits = bits.checked_div(count).or(self.usual_bits);
        }
        if self.first.len() < slots {
            self.first.resize(slots, None);
        }
    }

    /// How many bits a row of any component takes at most.
    pub(super) fn bits_max(&self) -> u64 {
        1 + self.codec.bits_max()
    }

    /// How many bits a row takes, mostly less: by itself, or told to one who has it.
    pub(super) fn bits_mostly(&self, is_there: bool) -> u64 {
        let usual_bits = self.usual_bits.filter(|_| is_there);
        usual_bits.map_or(self.bits_max(), |bits| (2 * bits).min(self.bits_max()))
    }

    /// Encodes a row, unless that was done for another client that also has it as it was in the state `has`.
    pub(super) fn encode(&mut self, of: RowToTell<'_>, has: Option<Tick>) -> EncodedRow {
        let is_near = |base: &Tick| self.of > *base && self.of.since(*base) <= BASE_AGE_MAX;
        let mut base = has.filter(is_near);
        let mut found = self.find(of.slot, base);
        if found.is_err() {
            let words = self.codec.form(of.row.component).words();
            let is_kept = base.is_some_and(|base| self.told.get(base, of.slot, words).is_some());
            if base.is_some() && !is_kept {
                base = None;
                found = self.find(of.slot, base);
            }
        }
        let nth = found.unwrap_or_else(|last| self.add(of, base, last));
        let Encoded { start, bits, .. } = self.encoded[nth];
        EncodedRow { age_ticks: base.map(|base| self.of.since(base)), start, bits }
    }

    /// Where a row stands as it is told against a base; or where the last of those stands, as which it is told otherwise.
    fn find(&self, slot: u32, base: Option<Tick>) -> Result<usize, Option<usize>> {
        let (mut at, mut last) = (self.first[slot as usize], None);
        while let Some(nth) = at {
            let Encoded { base: known, next, .. } = self.encoded[nth];
            if known == base {
                return Ok(nth);
            }
            (at, last) = (next, Some(nth));
        }
        Err(last)
    }

    fn add(&mut self, RowToTell { slot, row, rests }: RowToTell<'_>, base: Option<Tick>, last: Option<usize>) -> usize {
        let nth = self.encoded.len();
        let EncodedRows { codec, of, bytes, encoded, first, told, .. } = self;
        let form = codec.form(row.component);
        match last {
            Some(last) => encoded[last].next = Some(nth),
            None => {
                first[slot as usize] = Some(nth);
                told.set(*of, slot, form.words(), |rounded| form.round(row.words, rounded));
            }
        }
        let rounded = told.get(*of, slot, form.words()).expect("it was just kept");
        let against = base.and_then(|base| Some((base, told.get(base, slot, form.words())?)));
        let against = against.map_or(Base::NONE, |(base, rounded)| Base { rounded, age_ticks: of.since(base) });
        let start = bytes.len();
        let mut writer = BitWriter::new(bytes);
        writer.put(u64::from(rests), 1);
        codec.write(&mut writer, row.component, rounded, against);
        let bits = writer.bit_len();
        if base.is_some() {
            self.against.count += 1;
            self.against.bits += bits as u64;
        }
        encoded.push(Encoded { base, start, bits, next: None });
        nth
    }

    /// Appends the bits of a row that is encoded.
    pub(super) fn append(&self, of: EncodedRow, writer: &mut BitWriter<'_>) {
        // With the bytes of those that follow, as many together are read fast.
        append_bits(writer, &self.bytes[of.start..], of.bits);
    }
}
