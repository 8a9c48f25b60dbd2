//! Rows of kinds that are told at most a few times per second: which have changed and wait for their turn.

use super::acked_rows::AckedRows;
use super::slot_set::{ChunkSlots, SlotSet};
use crate::session::row_send_rates::RowSendRates;
use crate::time::Tick;

/// The rows of one client that wait for their turn. Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct RateLimitedRows {
    early: SlotSet,
}

impl RateLimitedRows {
    pub(super) fn new() -> RateLimitedRows {
        RateLimitedRows { early: SlotSet::default() }
    }

    /// A row has to be told as it is in the state of `now`, or later in its next turn: whether now.
    pub(super) fn is_due(&mut self, slot: u32, rows: &AckedRows, row_send_rates: &RowSendRates, now: Tick) -> bool {
        let is_due = is_due(slot, rows, row_send_rates, now);
        if !is_due {
            self.early.insert(slot);
        }
        is_due
    }

    /// Calls `tell` with those whose turn it is.
    pub(super) fn follow(
        &mut self,
        rows: &AckedRows,
        row_send_rates: &RowSendRates,
        now: Tick,
        mut tell: impl FnMut(u32),
    ) {
        let mut next = 0;
        while let Some(slot) = self.early.next_from(next) {
            if is_due(slot, rows, row_send_rates, now) {
                self.early.remove(slot);
                tell(slot);
            }
            next = slot + 1;
        }
    }

    /// Those are told, or not shown any more.
    #[inline]
    pub(super) fn note_told(&mut self, those: ChunkSlots) {
        if self.early.chunk(those.first).slots != 0 {
            self.early.set_chunk(those, 0);
        }
    }
}

/// Whether a row is not early, if it is told as it is in the state of `now`.
fn is_due(slot: u32, rows: &AckedRows, row_send_rates: &RowSendRates, now: Tick) -> bool {
    rows.name(slot).is_some_and(|name| row_send_rates.are_due(name.key.component, slot, rows.told(slot), now))
}

#[cfg(test)]
mod tests {
    use super::super::acked_rows::RowName;
    use super::*;
    use crate::session::test_states::{self, SHIP};
    use crate::world::{Entity, PlayerId};
    use alloc::vec::Vec;

    /// In which of the ticks from 100 on a row is told that is written to in these.
    fn told(ticks: u32, slot: u32, changes: impl Fn(u32) -> bool) -> Vec<u32> {
        let (row_send_rates, mut paced) = (RowSendRates::every(ticks), RateLimitedRows::new());
        let key = test_states::key(SHIP, Entity::new(PlayerId::SERVER, Tick::ZERO, 0));
        let mut rows = AckedRows::default();
        rows.resize(16);
        rows.insert(slot, RowName { key, owner: PlayerId::SERVER }, Tick::ZERO, false);
        let mut told = Vec::new();
        for tick in 100..160 {
            let now = Tick::new(tick);
            let mut is_told = changes(tick) && paced.is_due(slot, &rows, &row_send_rates, now);
            paced.follow(&rows, &row_send_rates, now, |_| is_told = true);
            if is_told {
                rows.note_told(ChunkSlots::one(slot), now, 0);
                paced.note_told(ChunkSlots::one(slot));
                told.push(tick);
            }
        }
        told
    }

    #[test]
    fn what_changes_all_the_time_is_told_in_each_of_its_turns_and_rows_take_turns() {
        let always = |slot| told(6, slot, |_| true);
        assert_eq!(always(0)[1..5], [102, 108, 114, 120]);
        assert_eq!(always(1)[1..5], [101, 107, 113, 119]);
        assert_eq!(always(5)[1..5], [103, 109, 115, 121], "97 was the last of its turns, and 100 in it");
    }

    #[test]
    fn what_has_changed_once_is_told_at_once_and_what_it_comes_to_in_the_turn_after() {
        assert_eq!(told(6, 0, |tick| tick == 121), [121]);
        assert_eq!(told(6, 0, |tick| [121, 122].contains(&tick)), [121, 126]);
        assert_eq!(told(6, 0, |tick| [121, 130, 131].contains(&tick)), [121, 130, 132]);
    }
}
