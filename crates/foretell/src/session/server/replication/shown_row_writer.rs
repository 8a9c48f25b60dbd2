//! Rows on their way into a datagram, and what is noted of each that is told: one by one, or a block at a time.

use super::client_rows::ClientRows;
use super::rate_limited_rows::RateLimitedRows;
use super::sent_datagrams::SentDatagrams;
use super::shown_context::ShownContext;
use super::shown_datagram::{RecordToTell, RecordWriter};
use super::slot_set::{BLOCK, SlotRun};

/// Tells rows to one client.
pub(super) struct ShownRowWriter<'a, 'b, 'c> {
    pub rows: &'a mut ClientRows,
    pub paced: &'a mut RateLimitedRows,
    pub sent: &'a mut SentDatagrams,
    pub of: &'a ShownContext<'a>,
    pub to: RecordWriter<'b, 'c>,
}

impl ShownRowWriter<'_, '_, '_> {
    /// How a row is told to this client: what stands before it, and its bits.
    #[inline]
    fn encode(&mut self, slot: u32) -> RecordToTell {
        let ShownRowWriter { rows, of, to, .. } = self;
        let row = to.encoded.encode(slot, rows.has(slot), || of.row_to_tell(slot));
        RecordToTell { head: rows.head(slot, row.age_ticks), row }
    }

    /// These rows are told next, as many as have room.
    pub fn read_ahead(&self, slots: impl Iterator<Item = u32>) {
        let ShownRowWriter { rows, to, .. } = self;
        let count = to.bits_left() / to.encoded.bits_at_least();
        to.encoded.read_ahead(slots.take(count).map(|slot| (slot, rows.has(slot))));
    }

    /// How many bits a row mostly takes at most.
    pub fn bits_usual(&mut self, slot: u32) -> usize {
        self.encode(slot).bits_usual(self.to.codec)
    }

    /// Tells a row. Whether it has found room.
    #[inline]
    pub fn tell(&mut self, slot: u32) -> bool {
        let told = self.encode(slot);
        let has_room = self.to.write(&told);
        if has_room {
            self.rows.note_told(slot, self.of.tick, told.row.rests);
            self.paced.note_told(slot);
            self.sent.note_row(slot);
        }
        has_room
    }

    /// Tells a block of rows, if the client has all of them as they were in one state, and all have room.
    #[inline]
    pub fn tell_block(&mut self, first: u32) -> bool {
        let ShownRowWriter { rows, paced, sent, of, to } = self;
        let base = rows.has_block(first);
        let Some(block) = base.and_then(|base| to.encoded.block(first, base, |slot| of.row_to_tell(slot))) else {
            return false;
        };
        let has_room = to.write_block(first, block);
        if has_room {
            rows.note_block_told(first, of.tick, of.changes.resting(first));
            paced.note_block_told(first);
            sent.note_run(SlotRun { first, count: BLOCK });
        }
        has_room
    }
}
