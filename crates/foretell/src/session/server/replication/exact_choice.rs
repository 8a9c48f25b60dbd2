//! Which rows of others one client is told exactly of the state that is sent: as many as fit of what is nearest to its own entities.

use super::entity_grid::EntityGrid;
use super::exact_row_set::{ExactRow, ExactRowSet};
use super::interest_query::{InterestQuery, STAYS};
use super::ranking_key::{RankingKey, single};
use super::slot_set::SlotSet;
use crate::session::exact_row_codec::ExactRowCodec;
use crate::session::server::row_versions::RowVersions;
use crate::session::shown_row_header::SLOTS_MAX;
use crate::time::Tick;
use crate::world::RowKey;
use alloc::vec::Vec;

/// What a client may be told exactly.
#[derive(Clone, Copy)]
pub(super) struct ExactTerms<'a> {
    /// What it is told against.
    pub base: Option<Tick>,
    pub versions: &'a RowVersions,
    pub grid: &'a EntityGrid,
    pub interest: &'a InterestQuery,
    pub codec: &'a ExactRowCodec,
    /// How far around its own entities, in metres; 0 wherever they are.
    pub within_m: u32,
    /// How long all that has to be told of it may be.
    pub bits_max: u64,
}

/// What was chosen. Its memory is used again.
#[derive(Default)]
pub(super) struct ExactChoice {
    nearest: Vec<RankingKey>,
    /// Ascending by place, and so by key.
    rows: Vec<ExactRow>,
    /// Their numbers.
    slots: SlotSet,
    /// What was among them and is not any more.
    lost: Vec<RowKey>,
    /// Whether something had no room,
    is_cut: bool,
    /// and how long all that has to be told of the rest is at most.
    bits_to_tell: u64,
}

impl ExactChoice {
    fn clear(&mut self) {
        self.rows.clear();
        self.lost.clear();
        (self.is_cut, self.bits_to_tell) = (false, 0);
    }

    /// Chooses, where `before` was told last.
    pub(super) fn choose(&mut self, terms: Option<ExactTerms<'_>>, before: &ExactRowSet) {
        self.clear();
        terms.into_iter().for_each(|terms| self.take_nearest(terms, before));
        self.slots.clear();
        self.rows.iter().for_each(|row| self.slots.insert(row.slot));
        let mut rows = self.rows.iter().peekable();
        for key in before.rows().iter().map(|member| member.key) {
            while rows.next_if(|row| row.key < key).is_some() {}
            self.lost.extend(rows.next_if(|row| row.key == key).is_none().then_some(key));
        }
    }

    fn take_nearest(&mut self, terms: ExactTerms<'_>, before: &ExactRowSet) {
        let ExactTerms { versions, grid, interest, within_m, .. } = terms;
        let ExactChoice { nearest, rows, is_cut, bits_to_tell, .. } = self;
        let most = single(f64::from(within_m) * f64::from(within_m));
        nearest.clear();
        for (anchor, squared, is_somewhere) in interest.reached() {
            let stays = if before.has_number(anchor) { single(STAYS) } else { 1.0 };
            if within_m == 0 || is_somewhere && squared * stays <= most {
                nearest.push(RankingKey::new(squared * stays, anchor));
            }
        }
        nearest.sort_unstable();
        for rank in &*nearest {
            let first = rows.len();
            for slot in grid.rows_of(rank.number()) {
                let place = versions.place(slot);
                if slot < SLOTS_MAX && interest.rows().contains(slot) {
                    let key = versions.versions()[place].key;
                    rows.push(ExactRow { place, slot, key, since: before.since(key) });
                }
            }
            let bits: u64 = rows[first..].iter().map(|row| terms.bits_to_tell(row)).sum();
            // What is known as it is takes nothing, and has room. Of the rest nothing has that is farther than what has not.
            if bits > 0 && (*is_cut || *bits_to_tell + bits > terms.bits_max) {
                rows.truncate(first);
                *is_cut = true;
            } else {
                *bits_to_tell += bits;
            }
        }
        rows.sort_unstable_by_key(|row| row.place);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Ascending by place.
    pub(super) fn rows(&self) -> &[ExactRow] {
        &self.rows
    }

    /// Whether not all that the client predicts has room.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// How long all that has to be told of them is at most.
    pub(super) fn bits_to_tell(&self) -> u64 {
        self.bits_to_tell
    }

    /// What was among them and is not any more.
    pub(super) fn lost(&self) -> &[RowKey] {
        &self.lost
    }

    /// Whether the row with this number is among them.
    pub(super) fn has_number(&self, slot: u32) -> bool {
        self.slots.contains(slot)
    }
}

impl ExactTerms<'_> {
    fn bits_to_tell(&self, row: &ExactRow) -> u64 {
        let is_known =
            row.since.is_some_and(|since| Some(since.max(self.versions.versions()[row.place].changed)) <= self.base);
        if is_known { 0 } else { self.codec.bits_max(row.key.component) }
    }
}
