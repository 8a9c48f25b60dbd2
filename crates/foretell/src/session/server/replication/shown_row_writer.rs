//! Rows on their way into a datagram, and what is noted of each that is told: one by one, or those of a chunk together.

use super::acked_rows::AckedRows;
use super::chosen_records::{ChosenRecords, RecordToTell};
use super::optional_tick::OptionalTick;
use super::rate_limited_rows::RateLimitedRows;
use super::sent_datagrams::SentDatagrams;
use super::shown_context::ShownContext;
use super::shown_datagram::RecordWriter;
use super::slot_set::{CHUNK, ChunkSlots};

/// Tells rows to one client.
pub(super) struct ShownRowWriter<'a, 'b, 'c> {
    pub rows: &'a mut AckedRows,
    pub paced: &'a mut RateLimitedRows,
    pub sent: &'a mut SentDatagrams,
    pub of: &'a ShownContext<'a>,
    pub to: RecordWriter<'b, 'c>,
}

impl ShownRowWriter<'_, '_, '_> {
    /// How a row is told to this client: what stands before it, and its bits.
    #[inline]
    pub fn encode(&mut self, slot: u32) -> RecordToTell {
        let ShownRowWriter { rows, of, to, .. } = self;
        let has = rows.has(slot);
        let base = if of.changes.has_rested(slot, has) { OptionalTick::RESTED } else { has };
        let row = to.encoded.encode(slot, base, has, || of.row_to_tell(slot));
        RecordToTell { header: rows.header(slot, row.age_ticks), row }
    }

    /// These rows are told next, as many as have room.
    pub fn read_ahead(&self, slots: impl Iterator<Item = u32>) {
        let ShownRowWriter { rows, to, .. } = self;
        let count = to.bits_left() / to.encoded.bits_at_least();
        to.encoded.read_ahead(slots.take(count).map(|slot| (slot, rows.has(slot).get())));
    }

    /// Tells those that have room, the ones with the lowest numbers. Returns the first one that has none.
    pub fn tell_chosen(&mut self, chosen: &ChosenRecords) -> Option<u32> {
        chosen.slots().chunks().find_map(|those| {
            let told = self.tell_lowest(those, |_, slot| chosen.record(slot));
            those.without(told).iter().next()
        })
    }

    /// Tells those that have room, the lowest ones: as many as mostly have together, if the client has each of them as it was in some
    /// state and other clients may have the same, and the rest one by one. Returns which.
    pub fn tell_chunk(&mut self, those: ChunkSlots) -> ChunkSlots {
        let together = self.to.lowest_with_room(those);
        if !self.tell_together(together) {
            return self.tell_lowest(those, ShownRowWriter::encode);
        }
        together.with(self.tell_lowest(those.without(together), ShownRowWriter::encode))
    }

    /// All of them or none, which is returned.
    fn tell_together(&mut self, those: ChunkSlots) -> bool {
        if those.is_empty() {
            return false;
        }
        let ShownRowWriter { rows, of, to, .. } = self;
        let has = rows.chunk_has(those.first);
        let mut bases = *has;
        for slot in of.changes.started(those).iter() {
            let base = &mut bases[(slot % CHUNK) as usize];
            if of.changes.has_rested(slot, *base) {
                *base = OptionalTick::RESTED;
            }
        }
        let shared = to.encoded.shared(those, &bases, has, |slot| of.row_to_tell(slot));
        let is_told = shared.is_some_and(|shared| to.write_shared(shared));
        if is_told {
            self.note_told(those);
        }
        is_told
    }

    #[inline]
    fn note_told(&mut self, those: ChunkSlots) {
        if those.is_empty() {
            return;
        }
        let ShownRowWriter { rows, paced, sent, of, .. } = self;
        rows.note_told(those, of.tick, of.changes.resting(those.first));
        paced.note_told(those);
        sent.note_told(those);
    }

    /// One by one, until one has no room. Returns which were told.
    #[inline]
    fn tell_lowest(&mut self, those: ChunkSlots, record: impl Fn(&mut Self, u32) -> RecordToTell) -> ChunkSlots {
        let has_no_room = |slot: &u32| {
            let record = record(self, *slot);
            !self.to.write(&record)
        };
        let left = those.iter().find(has_no_room);
        let told = left.map_or(those, |left| those.below(left));
        self.note_told(told);
        told
    }
}
