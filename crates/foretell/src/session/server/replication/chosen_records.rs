//! The records that mostly have room in a datagram: chosen as what matters most, told in the order of their numbers.

use super::row_encoding_cache::EncodedRow;
use super::slot_set::SlotSet;
use crate::session::exact_row_codec::ExactRowCodec;
use crate::session::shown_row_header::RecordHeader;
use alloc::vec::Vec;

/// A row as it is told to one client.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordToTell {
    pub header: RecordHeader,
    pub row: EncodedRow,
}

impl RecordToTell {
    /// How many bits it mostly takes at most.
    pub(super) fn bits_usual(&self, codec: &ExactRowCodec) -> usize {
        self.header.bits_usual(codec) + self.row.bits as usize
    }
}

/// Its memory is used again.
#[derive(Default, Debug)]
pub(super) struct ChosenRecords {
    records: Vec<RecordToTell>,
    /// Their numbers.
    slots: SlotSet,
    /// By number where each stands; of others anything.
    places: Vec<u16>,
}

impl ChosenRecords {
    pub fn clear(&mut self) {
        self.records.clear();
        self.slots.clear();
    }

    /// One whose number is not there yet.
    pub fn push(&mut self, record: RecordToTell) {
        let slot = record.header.slot;
        let nth = slot as usize;
        if self.places.len() <= nth {
            self.places.resize(nth + 1, 0);
        }
        self.places[nth] = u16::try_from(self.records.len()).expect("a datagram has room for few");
        self.slots.insert(slot);
        self.records.push(record);
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Their numbers.
    pub fn slots(&self) -> &SlotSet {
        &self.slots
    }

    /// The one with this number, which is there.
    #[inline]
    pub fn record(&self, slot: u32) -> RecordToTell {
        self.records[usize::from(self.places[slot as usize])]
    }
}
