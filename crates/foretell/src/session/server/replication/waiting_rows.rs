//! The rows that one client is to be told: all in the order of their numbers, or what matters most first.

use super::encoded_rows::EncodedRows;
use super::sent_datagrams::SentDatagrams;
use super::shown_state::Shown;
use super::shown_writer::RecordWriter;
use super::told_row::ToldRow;
use super::viewpoint::{Claim, Viewpoint};
use alloc::vec::Vec;
use core::cmp::Reverse;

/// For so many there is room from the start.
const ROOM: usize = 64;

/// Invariant: they are those rows of the client that say that they wait. Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct WaitingRows {
    /// Their numbers; what is told first stands last.
    slots: Vec<u32>,
    /// Whether what is told first is what matters most; otherwise all are told by their numbers.
    is_ranked: bool,
}

impl WaitingRows {
    pub(super) fn new() -> WaitingRows {
        WaitingRows { slots: Vec::with_capacity(ROOM), is_ranked: false }
    }

    /// The row with this number is to be told.
    #[inline]
    pub(super) fn add(&mut self, slot: u32, row: &mut ToldRow) {
        if !core::mem::replace(&mut row.waits, true) {
            self.slots.push(slot);
        }
    }

    /// A row is not to be told after all.
    pub(super) fn remove(&mut self, slot: u32) {
        self.slots.retain(|waiting| *waiting != slot);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether all of them mostly have room together.
    pub(super) fn fit(&self, rows: &[Option<ToldRow>], encoded: &EncodedRows, has_room: impl Fn(u64) -> bool) -> bool {
        let [there, new] = [true, false].map(|is_there| encoded.bits_mostly(is_there));
        let is_there = |slot: &u32| rows[*slot as usize].as_ref().is_some_and(|row| row.has.is_some());
        let bits = || self.slots.iter().map(|slot| if is_there(slot) { there } else { new }).sum();
        has_room(self.slots.len() as u64 * new) || has_room(bits())
    }

    /// All have room: they are told in the order of their numbers, as neighbours take the fewest bits.
    pub(super) fn sort(&mut self) {
        self.is_ranked = false;
        sort_by_number(&mut self.slots);
    }

    /// What matters most is told first; at most `most` are told.
    pub(super) fn rank(&mut self, rows: &[Option<ToldRow>], of: &Shown<'_>, viewpoint: &mut Viewpoint, most: usize) {
        self.is_ranked = true;
        viewpoint.rank(of, &mut self.slots, most, |slot| {
            let row = rows[slot as usize].as_ref().expect("what waits is to be told");
            let last = row.told.unwrap_or(row.since);
            let age_ticks = if row.was_own { u32::MAX } else { of.tick.since(last).max(1) };
            let weight = of.limits.map_or(1.0, |limits| limits.interest.weight(row.key));
            Claim { age_ticks, weight }
        });
    }

    /// Writes as many as have room: of what matters most as much as has room together, by its number; what that leaves is filled up
    /// the same way.
    pub(super) fn write(
        &mut self,
        rows: &mut [Option<ToldRow>],
        of: &Shown<'_>,
        to: &mut RecordWriter<'_, '_>,
        sent: &mut SentDatagrams,
    ) {
        while !self.slots.is_empty() {
            let first = if self.is_ranked { self.choose(rows, of, to) } else { 0 };
            let has_room = |slot: &&u32| {
                let row = rows[**slot as usize].as_mut().expect("what waits is to be told");
                let told = row.encode(**slot, of, to.encoded);
                let has_room = to.write(&told);
                if has_room {
                    row.note_told(of.tick, told.row.rests);
                }
                has_room
            };
            let left = self.slots.len() - self.slots[first..].iter().rev().take_while(has_room).count();
            sent.note_rows(&self.slots[left..]);
            self.slots.truncate(left);
            if left > first {
                return;
            }
        }
    }

    /// Sorts by their numbers what matters most and mostly has room together, at least one. Returns where that begins.
    fn choose(&mut self, rows: &[Option<ToldRow>], of: &Shown<'_>, to: &mut RecordWriter<'_, '_>) -> usize {
        let mut bits = 0;
        let have_room = self.slots.iter().rev().take_while(|slot| {
            let row = rows[**slot as usize].as_ref().expect("what waits is to be told");
            bits += row.encode(**slot, of, to.encoded).bits_usual(to.codec);
            to.has_room(bits)
        });
        let first = self.slots.len() - have_room.count().max(1);
        sort_by_number(&mut self.slots[first..]);
        first
    }

    #[cfg(test)]
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.slots.pop()
    }
}

/// The lowest last.
fn sort_by_number(slots: &mut [u32]) {
    slots.sort_unstable_by_key(|slot| Reverse(*slot));
}
