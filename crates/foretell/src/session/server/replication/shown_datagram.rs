//! A datagram of shown rows while it is written: as many as have room.

use super::chosen_records::{ChosenRecords, RecordToTell};
use super::chunk_bits_cache::SharedBits;
use super::row_encoding_cache::RowEncodingCache;
use super::slot_set::ChunkSlots;
use crate::session::datagram::DATAGRAM_MAX;
use crate::session::exact_row_codec::ExactRowCodec;
use crate::session::shown_row_header::RecordsBefore;
use crate::session::stopped_rows_codec::STOPPED_BITS;
use crate::wire::{BitBatch, BitWriter};
use crate::world::RowKey;

/// How long a datagram may become.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    bits_max: usize,
    /// Whether one row may make it longer than that.
    may_exceed: bool,
}

impl Room {
    /// Up to `bits_max`, with what stands behind the rows.
    pub(super) fn new(bits_max: usize, may_exceed: bool) -> Room {
        Room { bits_max: bits_max.saturating_sub(STOPPED_BITS), may_exceed }
    }

    /// Takes `bits`, and the one that ends the list, if they have room.
    fn take(&mut self, bits: usize) -> bool {
        let one_more = bits >= self.bits_max && bits < DATAGRAM_MAX * 8 - STOPPED_BITS && self.may_exceed;
        self.may_exceed &= !one_more;
        bits < self.bits_max || one_more
    }
}

/// A datagram that is being written.
pub(super) struct ShownDatagram<'a, 'b> {
    pub codec: &'a ExactRowCodec,
    pub encoded: &'a mut RowEncodingCache,
    /// For what is told next; its memory is used again.
    pub chosen: &'a mut ChosenRecords,
    pub writer: BitWriter<'b>,
    pub room: Room,
    /// Whether nothing of the snapshot itself is left for later datagrams.
    pub is_last: bool,
}

impl<'b> ShownDatagram<'_, 'b> {
    /// Writes that a row is gone. Whether it has found room.
    pub(super) fn write_gone(&mut self, key: RowKey, is_hidden: bool) -> bool {
        let before = self.writer.bit_len();
        self.writer.put(1, 1);
        self.codec.write_gone(&mut self.writer, key, is_hidden);
        // Two lists end behind it.
        let fits = self.room.take(self.writer.bit_len() + 1);
        if !fits {
            self.writer.truncate(before);
        }
        fits
    }

    /// The rows come next.
    pub(super) fn rows(&mut self) -> RecordWriter<'_, 'b> {
        let ShownDatagram { codec, encoded, chosen, writer, room, .. } = self;
        let bits_mostly = encoded.bits_mostly(true);
        RecordWriter {
            codec,
            encoded,
            chosen,
            bits: BitBatch::new(writer),
            bits_mostly,
            room,
            before: RecordsBefore::NONE,
        }
    }
}

/// The rows of a datagram that is being written.
pub(super) struct RecordWriter<'a, 'b> {
    pub codec: &'a ExactRowCodec,
    pub encoded: &'a mut RowEncodingCache,
    /// For what is told next; its memory is used again.
    pub chosen: &'a mut ChosenRecords,
    bits: BitBatch<'a, 'b>,
    /// How many a row mostly takes that is told against another.
    bits_mostly: u64,
    room: &'a mut Room,
    before: RecordsBefore,
}

impl RecordWriter<'_, '_> {
    /// How many more bits have room.
    pub(super) fn bits_left(&self) -> usize {
        self.room.bits_max.saturating_sub(self.bits.bit_len())
    }

    /// The lowest of those: as many as mostly have room if they are told against others.
    #[inline]
    pub(super) fn lowest_with_room(&self, those: ChunkSlots) -> ChunkSlots {
        let left = self.bits_left() as u64;
        if u64::from(those.count()) * self.bits_mostly <= left {
            return those;
        }
        those.lowest(u32::try_from(left / self.bits_mostly).unwrap_or(u32::MAX))
    }

    /// Whether this many more bits have room, with the one that ends the list.
    pub(super) fn has_room(&self, bits: usize) -> bool {
        bits < self.bits_left()
    }

    /// Writes a row. Whether it has found room.
    #[inline]
    pub(super) fn write(&mut self, told: &RecordToTell) -> bool {
        let first = self.before.first_bits(&told.header);
        let bits = told.header.bits(first, self.codec) + told.row.bits as usize;
        let fits = self.room.take(self.bits.bit_len() + bits);
        if fits {
            self.before.write(&told.header, first, &mut self.bits, self.codec);
            self.encoded.append(told.row, &mut self.bits);
        }
        fits
    }

    /// Writes some rows of a chunk. Whether they have found room.
    #[inline]
    pub(super) fn write_shared(&mut self, shared: SharedBits) -> bool {
        let first_bits = self.before.first_bits(&shared.header);
        let has_room = self.has_room(shared.header.bits(first_bits, self.codec) + shared.bits);
        if has_room {
            first_bits.write(&mut self.bits);
            self.encoded.append_shared(shared, &mut self.bits);
            self.before = self.before.followed_by(shared.after);
        }
        has_room
    }

    /// No more follow.
    pub(super) fn finish(mut self) {
        self.bits.put(0_u32, 1);
        self.bits.finish();
    }
}
