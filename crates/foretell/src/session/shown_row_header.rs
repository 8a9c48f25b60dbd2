//! What stands before a shown row in a datagram: which row it is, and what it is told against.
//!
//! Rows have numbers. One is named by its number, mostly by how much higher that is than the one before it; its name and owner
//! stand there until it is known that the client has them.

use super::exact_row_codec::{ExactRowCodec, read_player};
use crate::wire::{BitBatch, BitReader, Malformed, Stream, small_bits, small_code};
use crate::world::{PlayerId, RowKey};

/// More rows than this are not shown, and have no numbers.
pub(crate) const SLOTS_MAX: u32 = 1 << 16;
/// How many bits the number of a row and how it is told mostly take at most.
const SLOT_BITS_USUAL: usize = 16;
/// How much higher a number is than the one before it, by a code of two bits; the last one is followed by the number itself.
const GAP_BITS: [u32; 3] = [3, 6, 10];
const ANYWHERE: u32 = 3;
const AGE_BITS: u32 = 6;

/// How a row is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RecordKind {
    /// Against the same row as it was `age_ticks` ticks before, 1 to 63; 0: as it was told last, if it has rested since then.
    Against { age_ticks: u32 },
    /// By itself.
    Whole,
    /// By itself, with its name and whose it is.
    Named { key: RowKey, owner: PlayerId },
}

/// What stands before a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecordHeader {
    pub slot: u32,
    pub kind: RecordKind,
}

impl RecordHeader {
    /// How many bits it mostly takes at most, with the one that says that there is one.
    pub(crate) fn bits_usual(&self, codec: &ExactRowCodec) -> usize {
        let named = self.name_bits(codec);
        match self.kind {
            RecordKind::Against { .. } => SLOT_BITS_USUAL + AGE_BITS as usize,
            RecordKind::Whole | RecordKind::Named { .. } => SLOT_BITS_USUAL + named,
        }
    }

    /// How many bits it takes with these first ones.
    #[inline]
    pub(crate) fn bits(&self, first: FirstBits, codec: &ExactRowCodec) -> usize {
        first.width as usize + self.name_bits(codec)
    }

    /// How many bits its name takes, and whose it is, where that stands there.
    #[inline]
    fn name_bits(&self, codec: &ExactRowCodec) -> usize {
        let RecordKind::Named { key, owner } = self.kind else { return 0 };
        let given = if owner == key.entity.spawned_for() { 0 } else { small_bits(u32::from(owner.get())) as usize };
        codec.key_bits(key) + 1 + given
    }
}

/// The first bits of a record: that there is one, which number it has, and how it is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FirstBits {
    bits: u64,
    /// At most 53.
    width: u32,
}

impl FirstBits {
    /// There is one.
    const RECORD: FirstBits = FirstBits { bits: 1, width: 1 };

    pub(crate) fn write(self, to: &mut BitBatch<'_, '_>) {
        to.put(self.bits, self.width);
    }

    /// One whose number does not follow the one before it; it is so much higher than that number, where it is not lower.
    fn of_gap(slot: u32, gap: Option<u32>) -> FirstBits {
        let coded = |code: u32| FirstBits::RECORD.and(u64::from(code) << 1, 3);
        // What one code does not reach begins the next.
        let mut first = 1;
        for (code, bits) in (0..).zip(GAP_BITS) {
            if let Some(gap) = gap.filter(|gap| gap - first < 1 << bits) {
                return coded(code).and(u64::from(gap - first), bits);
            }
            first += 1 << bits;
        }
        coded(ANYWHERE).and(small_code(slot), small_bits(slot))
    }

    /// The same with these behind.
    fn and(self, bits: u64, width: u32) -> FirstBits {
        FirstBits { bits: self.bits | bits << self.width, width: self.width + width }
    }
}

/// What the next record in a datagram is told by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecordsBefore {
    /// The lowest number that the next one has, if numbers go on ascending.
    next: u32,
    /// 0 where it is not known.
    age_ticks: u32,
}

impl RecordsBefore {
    /// At the start of a datagram.
    pub(crate) const NONE: RecordsBefore = RecordsBefore { next: 0, age_ticks: 1 };
    /// Wherever that is in a datagram.
    pub(crate) const UNKNOWN: RecordsBefore = RecordsBefore { next: 0, age_ticks: 0 };

    /// Behind others that were put together without it being known what stands before them.
    pub(crate) fn followed_by(self, others: RecordsBefore) -> RecordsBefore {
        let age_ticks = if others.age_ticks > 0 { others.age_ticks } else { self.age_ticks };
        RecordsBefore { age_ticks, ..others }
    }

    /// How the next record begins.
    #[inline]
    pub(crate) fn first_bits(&self, header: &RecordHeader) -> FirstBits {
        let slot = match header.slot.checked_sub(self.next) {
            Some(0) => FirstBits::RECORD.and(1, 1),
            gap => FirstBits::of_gap(header.slot, gap),
        };
        match header.kind {
            RecordKind::Against { age_ticks: 0 } => slot.and(0b10, 2),
            RecordKind::Against { age_ticks } if age_ticks == self.age_ticks => slot.and(0b11, 2),
            RecordKind::Against { age_ticks } => slot.and(0b01 | u64::from(age_ticks) << 2, 2 + AGE_BITS),
            RecordKind::Whole => slot.and(0b000, 3),
            RecordKind::Named { .. } => slot.and(0b100, 3),
        }
    }

    /// Writes all of a record that stands before its row, which begins so.
    #[inline]
    pub(crate) fn write(
        &mut self,
        header: &RecordHeader,
        first: FirstBits,
        to: &mut BitBatch<'_, '_>,
        codec: &ExactRowCodec,
    ) {
        first.write(to);
        self.note(header);
        if let RecordKind::Named { key, owner } = header.kind {
            let is_given = owner != key.entity.spawned_for();
            to.write_with(|writer| {
                codec.write_key(writer, key);
                writer.put(u64::from(is_given), 1);
                if is_given {
                    writer.small(&mut u32::from(owner.get())).expect("writing never fails");
                }
            });
        }
    }

    /// This one stands before the next.
    #[inline]
    pub(crate) fn note(&mut self, header: &RecordHeader) {
        self.next = header.slot + 1;
        if let RecordKind::Against { age_ticks: age_ticks @ 1.. } = header.kind {
            self.age_ticks = age_ticks;
        }
    }

    /// The inverse of [`write`](RecordsBefore::write).
    #[expect(clippy::cast_possible_truncation, reason = "few bits")]
    pub(crate) fn read(
        &mut self,
        reader: &mut BitReader<'_>,
        codec: &ExactRowCodec,
    ) -> Result<RecordHeader, Malformed> {
        let slot = self.read_slot(reader)?;
        let kind = match reader.take(2)? {
            0b11 => RecordKind::Against { age_ticks: self.age_ticks },
            0b01 => {
                self.age_ticks = reader.take(AGE_BITS)? as u32;
                if self.age_ticks == 0 {
                    return Err(Malformed::OutOfRange("age of a base"));
                }
                RecordKind::Against { age_ticks: self.age_ticks }
            }
            0b10 => RecordKind::Against { age_ticks: 0 },
            _ if reader.take(1)? == 0 => RecordKind::Whole,
            _ => {
                let key = codec.read_key(reader)?;
                let owner = if reader.take(1)? == 1 { read_player(reader)? } else { key.entity.spawned_for() };
                RecordKind::Named { key, owner }
            }
        };
        Ok(RecordHeader { slot, kind })
    }

    #[expect(clippy::cast_possible_truncation, reason = "few bits")]
    fn read_slot(&mut self, reader: &mut BitReader<'_>) -> Result<u32, Malformed> {
        let mut slot = self.next;
        if reader.take(1)? == 0 {
            let code = reader.take(2)? as u32;
            if code == ANYWHERE {
                reader.small(&mut slot)?;
            } else {
                let first: u32 = 1 + GAP_BITS[..code as usize].iter().map(|bits| 1 << bits).sum::<u32>();
                slot += first + reader.take(GAP_BITS[code as usize])? as u32;
            }
        }
        if slot >= SLOTS_MAX {
            return Err(Malformed::OutOfRange("number of a row"));
        }
        self.next = slot + 1;
        Ok(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, SHIP};
    use crate::time::Tick;
    use crate::wire::BitWriter;
    use crate::world::Entity;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn header() -> impl Strategy<Value = RecordHeader> {
        let slot = prop_oneof![0..5_u32, 0..200_u32, 0..2_000_u32, 0..SLOTS_MAX];
        let entity = (any::<u16>(), any::<u32>(), any::<u16>());
        let named = (entity, any::<u16>()).prop_map(|((player, tick, counter), owner)| {
            let entity = Entity::new(PlayerId::new(player), Tick::new(tick), counter);
            RecordKind::Named { key: test_states::key(SHIP, entity), owner: PlayerId::new(owner) }
        });
        let against = (0..64_u32).prop_map(|age_ticks| RecordKind::Against { age_ticks });
        (slot, prop_oneof![against, Just(RecordKind::Whole), named])
            .prop_map(|(slot, kind)| RecordHeader { slot, kind })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_in_any_order_and_neighbours_take_four_bits(
            headers in prop::collection::vec(header(), 0..50),
        ) {
            let codec = ExactRowCodec::new(&test_states::schema());
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            let (mut joined, mut before) = (BitBatch::new(&mut writer), RecordsBefore::NONE);
            for header in &headers {
                let (len, previous) = (joined.bit_len(), before);
                let first = before.first_bits(header);
                before.write(header, first, &mut joined, &codec);
                let bits = joined.bit_len() - len;
                prop_assert_eq!(header.bits(first, &codec), bits);
                if header.slot == previous.next && header.kind == (RecordKind::Against { age_ticks: previous.age_ticks }) {
                    prop_assert_eq!(bits, 4);
                }
            }
            joined.finish();
            let (mut reader, mut before) = (BitReader::new(&bytes), RecordsBefore::NONE);
            for header in &headers {
                prop_assert_eq!(reader.take(1), Ok(1));
                prop_assert_eq!(before.read(&mut reader, &codec), Ok(*header));
            }
            reader.finish().expect("nothing is left");
        }
    }
}
