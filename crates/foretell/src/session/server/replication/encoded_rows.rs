//! Rows as they are told to everybody who shows them: encoded once for each state and each older state that they are told
//! against, and copied for each client.

use crate::session::shown_codec::{Base, ShownCodec};
use crate::session::told_ring::{BASE_AGE_MAX, ToldRing};
use crate::time::{Tick, TickRate};
use crate::wire::{BitReader, BitWriter, JoinedBits};
use crate::world::{Row, Schema};
use alloc::vec::Vec;

/// A row told against one older state, or by itself.
#[derive(Clone, Copy, Debug)]
struct Encoded {
    base: Option<Tick>,
    /// With which byte it begins.
    start: usize,
    bits: u32,
    rests: bool,
    /// Where the same row stands, told against another.
    next: Option<u32>,
}

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
    start: usize,
}

/// The rows of one state, as far as anybody was told. Its memory is used again.
pub(super) struct EncodedRows {
    codec: ShownCodec,
    of: Tick,
    bytes: Vec<u8>,
    /// By the number of the row: as it was told first.
    first: Vec<Option<Encoded>>,
    /// As it was told then.
    more: Vec<Encoded>,
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
            first: Vec::new(),
            more: Vec::new(),
            told: ToldRing::new(),
            against: Lengths::default(),
            usual_bits: None,
        }
    }

    /// From now on those of this state, in which row numbers are below `slots`.
    pub(super) fn begin(&mut self, state: Tick, slots: usize) {
        if core::mem::replace(&mut self.of, state) != state {
            self.bytes.clear();
            self.more.clear();
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

    /// The bits of the row with this number for one who has it as it was in the state `has`. It is encoded, unless that was done
    /// for another client that has the same.
    #[inline]
    pub(super) fn encode<'a>(
        &mut self,
        slot: u32,
        has: Option<Tick>,
        row: impl FnOnce() -> RowToTell<'a>,
    ) -> EncodedRow {
        let base = has.filter(|base| self.of > *base && self.of.since(*base) <= BASE_AGE_MAX);
        let encoded = match self.first[slot as usize] {
            Some(first) if first.base == base => first,
            first => self.encode_another(slot, base, first, row()),
        };
        let Encoded { base, start, bits, rests, .. } = encoded;
        EncodedRow { age_ticks: base.map(|base| self.of.since(base)), start, bits, rests }
    }

    /// The same where it is not how the row was told first.
    #[inline(never)]
    fn encode_another(&mut self, slot: u32, base: Option<Tick>, first: Option<Encoded>, row: RowToTell<'_>) -> Encoded {
        let words = self.codec.form(row.row.component).words();
        let base = base.filter(|base| self.told.get(*base, slot, words).is_some());
        let (mut known, mut last) = (first, None);
        while let Some(Encoded { base: of, next, .. }) = known {
            if of == base {
                return known.expect("it is there");
            }
            last = next.or(last);
            known = next.map(|next| self.more[next as usize]);
        }
        let encoded = self.add(slot, base, row);
        let Some(first) = &mut self.first[slot as usize] else {
            self.first[slot as usize] = Some(encoded);
            return encoded;
        };
        let nth = u32::try_from(self.more.len()).ok();
        match last {
            Some(last) => self.more[last as usize].next = nth,
            None => first.next = nth,
        }
        self.more.push(encoded);
        encoded
    }

    fn add(&mut self, slot: u32, base: Option<Tick>, RowToTell { row, rests }: RowToTell<'_>) -> Encoded {
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
        if base.is_some() {
            self.against.count += 1;
            self.against.bits += bits as u64;
        }
        let bits = u32::try_from(bits).expect("a row is short");
        Encoded { base, start, bits, rests, next: None }
    }

    /// Appends the bits of a row that is encoded.
    #[inline]
    pub(super) fn append(&self, of: EncodedRow, to: &mut JoinedBits<'_, '_>) {
        // So many at once, with the bytes of those that follow, are read fast.
        let mut reader = BitReader::new(&self.bytes[of.start..]);
        let mut left = of.bits;
        while left > 0 {
            let width = left.min(BitReader::FAST_WIDTH);
            to.put(reader.take(width).expect("they were written"), width);
            left -= width;
        }
    }
}
