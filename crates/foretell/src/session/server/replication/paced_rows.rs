//! Rows of kinds that are told at most so many times per second: which have changed and wait for their turn.

use super::paces::Paces;
use super::told_row::ToldRow;
use super::waiting_rows::WaitingRows;
use crate::time::Tick;
use alloc::vec::Vec;

/// The rows of one client that wait for their turn. Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct PacedRows {
    /// Their numbers; some may not wait any more.
    early: Vec<u32>,
}

impl PacedRows {
    pub(super) fn new() -> PacedRows {
        PacedRows { early: Vec::new() }
    }

    /// A row has to be told as it is in the state of `now`, or later in its next turn: whether now.
    pub(super) fn is_due(&mut self, row: &mut ToldRow, slot: u32, paces: &Paces, now: Tick) -> bool {
        let is_due = paces.are_due(row.key.component, slot, row.told, now);
        if !is_due && !core::mem::replace(&mut row.is_early, true) {
            self.early.push(slot);
        }
        is_due
    }

    /// Those whose turn it is are to be told.
    pub(super) fn follow(&mut self, rows: &mut [Option<ToldRow>], waiting: &mut WaitingRows, paces: &Paces, now: Tick) {
        self.early.retain(|slot| {
            let row = rows.get_mut(*slot as usize).and_then(Option::as_mut).filter(|row| row.is_early);
            let Some(row) = row else { return false };
            let is_due = paces.are_due(row.key.component, *slot, row.told, now);
            if is_due {
                row.is_early = false;
                waiting.add(*slot, row);
            }
            !is_due
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, SHIP};
    use crate::world::{Entity, PlayerId};

    /// In which of the ticks from 100 on a row is told that is written to in these.
    fn told(ticks: u32, slot: u32, changes: impl Fn(u32) -> bool) -> Vec<u32> {
        let (paces, mut paced) = (Paces::every(ticks), PacedRows::new());
        let key = test_states::key(SHIP, Entity::new(PlayerId::SERVER, Tick::ZERO, 0));
        let mut rows = vec![None; 16];
        rows[slot as usize] = Some(ToldRow::new(key, PlayerId::SERVER, Tick::ZERO));
        let (mut waiting, mut told) = (WaitingRows::new(), Vec::new());
        for tick in 100..160 {
            let now = Tick::new(tick);
            let row = rows[slot as usize].as_mut().expect("it is there");
            if changes(tick) && paced.is_due(row, slot, &paces, now) {
                waiting.add(slot, row);
            }
            paced.follow(&mut rows, &mut waiting, &paces, now);
            if waiting.pop().is_some() {
                rows[slot as usize].iter_mut().for_each(|row| row.note_told(now, false));
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
