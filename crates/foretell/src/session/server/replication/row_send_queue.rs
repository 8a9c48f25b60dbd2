//! The rows that one client is to be told: all in the order of their numbers, or what matters most first.

use super::acked_rows::AckedRows;
use super::chosen_records::ChosenRecords;
use super::ranking::Ranking;
use super::row_encoding_cache::RowEncodingCache;
use super::shown_row_writer::ShownRowWriter;
use super::slot_set::{CHUNK, SlotSet};

/// Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct RowSendQueue {
    slots: SlotSet,
    /// Those of them that are urgent enough, where what matters most is told first: that stands last. Otherwise nothing.
    ranking: Ranking,
    /// Whether a state had no room for all that waited, in the order of their numbers, and since none had: the rest must not wait again.
    has_left: bool,
}

impl RowSendQueue {
    pub(super) fn new() -> RowSendQueue {
        RowSendQueue { slots: SlotSet::default(), ranking: Ranking::default(), has_left: false }
    }

    /// The row with this number is to be told.
    pub(super) fn add(&mut self, slot: u32) {
        self.slots.insert(slot);
    }

    /// Those that are in both are.
    pub(super) fn add_both(&mut self, one: &SlotSet, other: &SlotSet) {
        self.slots.add_both(one, other);
    }

    /// Those that are in both are, but for what is in the third.
    pub(super) fn add_both_but(&mut self, one: &SlotSet, other: &SlotSet, but: &SlotSet) {
        self.slots.add_both_but(one, other, but);
    }

    /// All of these are.
    pub(super) fn add_all(&mut self, those: &SlotSet) {
        self.slots.add_all(those);
    }

    /// A row is not to be told after all.
    pub(super) fn remove(&mut self, slot: u32) {
        self.slots.remove(slot);
    }

    /// Those that wait.
    pub(super) fn slots(&self) -> &SlotSet {
        &self.slots
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether all of them mostly have room together.
    pub(super) fn fit(&self, rows: &AckedRows, encoded: &RowEncodingCache, has_room: impl Fn(u64) -> bool) -> bool {
        if self.is_empty() {
            return true;
        }
        let [there, new] = [true, false].map(|is_there| encoded.bits_mostly(is_there));
        let all = self.slots.len() as u64;
        let not_there = self.slots.count_both(rows.unknown()) as u64;
        !self.has_left && (has_room(all * new) || has_room(not_there * new + (all - not_there) * there))
    }

    /// All have room: they are told in the order of their numbers, as neighbours take the fewest bits.
    pub(super) fn sort(&mut self) {
        self.ranking.slots.clear();
    }

    /// Those that wait, and their ranking: what matters most is told first.
    pub(super) fn ranking_of_all(&mut self) -> (&SlotSet, &mut Ranking) {
        (&self.slots, &mut self.ranking)
    }

    /// Tells as many as have room.
    pub(super) fn write(&mut self, to: &mut ShownRowWriter<'_, '_, '_>) {
        if self.ranking.slots.is_empty() {
            self.write_in_order(to);
            self.has_left = true;
        } else {
            self.write_ranked(to);
            // Where rows were so short that there is room for more than was ranked.
            if self.ranking.slots.is_empty() {
                self.write_in_order(to);
            }
        }
        self.has_left &= !self.is_empty();
    }

    fn write_in_order(&mut self, to: &mut ShownRowWriter<'_, '_, '_>) {
        let mut next = 0;
        while let Some(slot) = self.slots.next_from(next) {
            let those = self.slots.chunk(slot - slot % CHUNK);
            let told = to.tell_chunk(those);
            self.slots.set_chunk(told, 0);
            if told != those {
                return;
            }
            next = those.first + CHUNK;
        }
    }

    /// Of what matters most as much as has room together, by its number; what that leaves is filled up the same way.
    fn write_ranked(&mut self, to: &mut ShownRowWriter<'_, '_, '_>) {
        let mut chosen = core::mem::take(to.to.chosen);
        while !self.ranking.slots.is_empty() {
            self.choose(to, &mut chosen);
            let first = self.ranking.slots.len() - chosen.len();
            if let Some(left) = to.tell_chosen(&chosen) {
                let told = self.ranking.slots.extract_if(first.., |slot| *slot < left);
                told.for_each(|slot| self.slots.remove(slot));
                break;
            }
            self.ranking.slots.truncate(first);
            self.slots.remove_all(chosen.slots());
        }
        *to.to.chosen = chosen;
    }

    /// Encodes what matters most and mostly has room together, at least one.
    fn choose(&self, to: &mut ShownRowWriter<'_, '_, '_>, chosen: &mut ChosenRecords) {
        to.read_ahead(self.ranking.slots.iter().rev().copied());
        chosen.clear();
        let mut bits = 0;
        for slot in self.ranking.slots.iter().rev() {
            let record = to.encode(*slot);
            bits += record.bits_usual(to.to.codec);
            if !chosen.is_empty() && !to.to.has_room(bits) {
                break;
            }
            chosen.push(record);
        }
    }
}
