//! A datagram of shown rows while it is written: as many as have room.

use super::encoded_rows::{EncodedRow, EncodedRows};
use crate::session::packet::DATAGRAM_MAX;
use crate::session::row_codec::RowCodec;
use crate::session::shown_record::{RecordHead, RecordsBefore};
use crate::wire::BitWriter;
use crate::world::RowKey;

/// A row as it is told to one client.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordToTell {
    pub head: RecordHead,
    pub row: EncodedRow,
    /// Whether it is told to rest.
    pub rests: bool,
}

/// A datagram that is being written.
pub(super) struct ShownWriter<'a, 'b> {
    pub codec: &'a RowCodec,
    pub encoded: &'a mut EncodedRows,
    pub writer: BitWriter<'b>,
    /// How long it may become.
    pub bits_max: usize,
    /// Whether one row may make it longer than that.
    pub may_exceed: bool,
}

impl ShownWriter<'_, '_> {
    /// Whether so many more bits have room, and the one that ends the list.
    pub(super) fn has_room(&mut self, bits: usize) -> bool {
        let len = self.writer.bit_len() + bits;
        let one_more = len < DATAGRAM_MAX * 8 && self.may_exceed;
        let fits = len < self.bits_max || one_more;
        self.may_exceed &= !one_more;
        fits
    }

    /// Writes that a row is gone. Whether it has found room.
    pub(super) fn write_gone(&mut self, key: RowKey, is_hidden: bool) -> bool {
        let before = self.writer.bit_len();
        self.writer.put(1, 1);
        self.codec.write_gone(&mut self.writer, key, is_hidden);
        // Two lists end behind it.
        let fits = self.has_room(1);
        if !fits {
            self.writer.truncate(before);
        }
        fits
    }

    /// Writes a row. Whether it has found room in the datagram.
    pub(super) fn write_row(&mut self, told: &RecordToTell, before: &mut RecordsBefore) -> bool {
        let start = (self.writer.bit_len(), *before);
        self.writer.put(1, 1);
        before.write(&mut self.writer, &told.head, self.codec);
        self.encoded.append(told.row, &mut self.writer);
        let fits = self.writer.bit_len() < DATAGRAM_MAX * 8;
        if !fits {
            self.writer.truncate(start.0);
            *before = start.1;
        }
        fits
    }
}
