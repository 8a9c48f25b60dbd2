//! Where the entities of a state are; made once for all clients, and kept up with what has changed.

use super::grid_cells::{BUCKETS_MIN, CellPlace, GridCells};
use super::slot_set::SlotSet;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::row_versions::RowVersion;
use crate::time::Tick;
use crate::world::{Audience, Entity, Meaning, Row, RowKey, Schema};
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;
/// What has been where it is for so long since it is there never moves, as far as anybody knows: 2 s at 64 Hz.
const STATIC_TICKS: u32 = 128;
/// Cells that are larger than what is looked at by this factor are made smaller.
const TOO_LARGE: f64 = 4.0;

/// A row, by its number.
#[derive(Clone, Copy, Debug)]
struct GridRow {
    /// `None` for a number that is free.
    key: Option<RowKey>,
    /// The number of the first row of its entity that says where that is, else of the first that anybody else may see; of a row
    /// of an entity that nobody else may see anything of, none.
    anchor: u32,
    /// The next row of the same entity.
    next: u32,
    /// Whether everybody else may see it, whatever the game's rules say of groups.
    is_public: bool,
}

/// Where the entity of a row is, by the number of the row that says so.
#[derive(Clone, Copy, Debug)]
struct Spot {
    at: [f64; 3],
    /// `None` for nowhere.
    place: Option<CellPlace>,
}

const NO_ROW: GridRow = GridRow { key: None, anchor: NONE, next: NONE, is_public: false };
const NOWHERE: Spot = Spot { at: [0.0; 3], place: None };

/// All entities of which anybody else may see something. Invariant: each that is somewhere is in its cell, once.
#[derive(Default)]
pub(super) struct EntityGrid {
    of: Option<Tick>,
    rows: Vec<GridRow>,
    spots: Vec<Spot>,
    /// The numbers of the anchors of what is nowhere, ascending.
    nowhere: Vec<u32>,
    somewhere: usize,
    /// The anchors of what has not, and is there only for a short while.
    young: SlotSet,
    /// The anchors of what has not, and is there for longer; and how many they are in the state.
    statics: SlotSet,
    static_count: usize,
    cells: GridCells,
    /// The farthest that was looked at since the last state.
    looked_m: f64,
    /// The numbers of the rows of the entity that is taken in.
    entering: Vec<u32>,
    /// Entities that have lost rows, and whether they have ever moved.
    lessened: Vec<(Entity, bool)>,
}

impl EntityGrid {
    /// Becomes those of `state`, if it is not that already; the rows at these places have changed since the state of `since`.
    pub(super) fn update(
        &mut self,
        state: &AuthoritativeState,
        tick: Tick,
        since: Tick,
        changed: impl Iterator<Item = usize>,
    ) {
        let before = self.of.replace(tick);
        if before == Some(tick) {
            return;
        }
        let versions = state.versions();
        let has_grown = self.rows.len() < versions.slots();
        self.rows.resize(versions.slots(), NO_ROW);
        self.spots.resize(versions.slots(), NOWHERE);
        let cell_m = self.fitting_m();
        let are_as_ever = cell_m == self.cells.cell_m() && cell_m > 0.0 && !self.cells.is_mostly_free(self.somewhere);
        if has_grown && !self.cells.has_buckets(versions.slots()) || !are_as_ever {
            self.rebuild_cells(cell_m);
        }
        let known = before.filter(|before| *before >= since);
        let Some(removed) = known.and_then(|known| versions.removed_after(known)) else {
            self.clear();
            (0..state.rows().len()).for_each(|place| self.note(place, state));
            return self.note_time(tick, state);
        };
        // Another row may have the number already.
        let ended = removed.filter(|removed| {
            let there = versions.get(removed.row.key);
            there.is_none_or(|there| there.slot != removed.slot)
        });
        let mut lessened = core::mem::take(&mut self.lessened);
        for ended in ended {
            if self.rows[ended.slot as usize].key == Some(ended.row.key) {
                let has_moved = self.leave_out(ended.slot);
                lessened.push((ended.row.key.entity, has_moved));
            }
        }
        lessened.drain(..).for_each(|(entity, has_moved)| self.enter(entity, has_moved, state));
        self.lessened = lessened;
        changed.for_each(|place| self.note(place, state));
        self.note_time(tick, state);
    }

    /// What has not moved for long is young no more.
    fn note_time(&mut self, tick: Tick, state: &AuthoritativeState) {
        let versions = state.versions();
        let mut next = 0;
        while let Some(anchor) = self.young.next_from(next) {
            if tick.since(versions.versions()[versions.place(anchor)].created) >= STATIC_TICKS {
                self.young.remove(anchor);
                self.statics.insert(anchor);
            }
            next = anchor + 1;
        }
        self.static_count = self.statics.len();
    }

    /// Takes in the row at a place, which is new or has changed.
    fn note(&mut self, place: usize, state: &AuthoritativeState) {
        let RowVersion { key, slot, .. } = state.versions().versions()[place];
        if self.rows[slot as usize].key != Some(key) {
            self.enter(key.entity, false, state);
        } else if self.spots[slot as usize].place.is_some()
            && let Some(at) = position(state.schema(), state.rows().nth(place))
            && at != self.spots[slot as usize].at
        {
            self.young.remove(slot);
            self.statics.remove(slot);
            self.move_to(slot, at);
        }
    }

    /// Takes in an entity whose rows are other ones than before; `has_moved` if it was left out and had ever moved.
    fn enter(&mut self, entity: Entity, mut has_moved: bool, state: &AuthoritativeState) {
        let (rows, versions, schema) = (state.rows(), state.versions(), state.schema());
        let mut slots = core::mem::take(&mut self.entering);
        slots.clear();
        slots.extend(rows.of(entity).filter_map(|row| Some(versions.get(row.key())?.slot)));
        for slot in &slots {
            if self.rows[*slot as usize].key.is_some() {
                has_moved |= self.leave_out(*slot);
            }
        }
        let row_of = |slot: u32| rows.nth(versions.place(slot));
        let is_shown = |slot: u32| schema.component(row_of(slot).component).audience() != Audience::Owner;
        let placed = slots.iter().position(|slot| is_shown(*slot) && position(schema, row_of(*slot)).is_some());
        let first = placed.or_else(|| slots.iter().position(|slot| is_shown(*slot)));
        first.into_iter().for_each(|first| slots.swap(0, first));
        let anchor = first.map_or(NONE, |_| slots[0]);
        for (nth, slot) in slots.iter().enumerate() {
            let next = slots.get(nth + 1).copied().unwrap_or(NONE);
            let key = row_of(*slot).key();
            let is_public = schema.component(key.component).audience().includes_others();
            self.rows[*slot as usize] = GridRow { key: Some(key), anchor, next, is_public };
        }
        self.entering = slots;
        if anchor == NONE {
            return;
        }
        match position(schema, row_of(anchor)).filter(|_| placed.is_some()) {
            Some(at) => {
                let place = Some(self.cells.insert(anchor, at));
                self.spots[anchor as usize] = Spot { at, place };
                self.somewhere += 1;
                self.young.set(anchor, !has_moved);
            }
            None => {
                let place = self.nowhere.binary_search(&anchor).unwrap_or_else(|place| place);
                self.nowhere.insert(place, anchor);
            }
        }
    }

    /// Forgets the entity of a row, with all of its rows. Whether it has ever moved.
    fn leave_out(&mut self, slot: u32) -> bool {
        let anchor = self.rows[slot as usize].anchor;
        if anchor == NONE {
            self.rows[slot as usize] = NO_ROW;
            return false;
        }
        let left = core::mem::replace(&mut self.spots[anchor as usize], NOWHERE);
        let has_moved = left.place.is_some() && !self.young.contains(anchor) && !self.statics.contains(anchor);
        if let Some(place) = left.place {
            self.take_from_cell(place);
            self.somewhere -= 1;
            self.young.remove(anchor);
            self.statics.remove(anchor);
        } else if let Ok(place) = self.nowhere.binary_search(&anchor) {
            self.nowhere.remove(place);
        }
        let mut slot = anchor;
        while slot != NONE {
            slot = core::mem::replace(&mut self.rows[slot as usize], NO_ROW).next;
        }
        has_moved
    }

    fn clear(&mut self) {
        self.rows.fill(NO_ROW);
        self.spots.fill(NOWHERE);
        self.cells.clear();
        self.nowhere.clear();
        self.young.clear();
        self.statics.clear();
        self.somewhere = 0;
    }

    fn move_to(&mut self, anchor: u32, at: [f64; 3]) {
        self.spots[anchor as usize].at = at;
        let place = self.spots[anchor as usize].place.filter(|place| !self.cells.move_within(*place, at));
        if let Some(place) = place {
            self.take_from_cell(place);
            self.spots[anchor as usize].place = Some(self.cells.insert(anchor, at));
        }
    }

    /// Another one may stand there from now on.
    fn take_from_cell(&mut self, place: CellPlace) {
        if let Some(there) = self.cells.remove(place) {
            self.spots[there as usize].place = Some(place);
        }
    }

    /// How large cells are to be: as large as they are, or as far as was looked, if that is too far off.
    fn fitting_m(&mut self) -> f64 {
        let (looked_m, cell_m) = (core::mem::take(&mut self.looked_m), self.cells.cell_m());
        let fits = looked_m == 0.0 || (looked_m <= cell_m && looked_m * TOO_LARGE >= cell_m);
        if fits { cell_m } else { looked_m }
    }

    fn rebuild_cells(&mut self, cell_m: f64) {
        self.cells.begin(cell_m, self.rows.len().max(BUCKETS_MIN));
        for (spot, slot) in self.spots.iter_mut().zip(0..) {
            if spot.place.is_some() {
                spot.place = Some(self.cells.insert(slot, spot.at));
            }
        }
    }

    /// What is within this distance is looked for: cells become about as large.
    pub(super) fn note_look(&mut self, radius_m: f64) {
        if radius_m.is_finite() {
            self.looked_m = self.looked_m.max(radius_m);
        }
    }

    /// Calls `found` with all that is within a distance of a place: the number of its anchor, and the square of its distance.
    pub(super) fn near(&self, eye: [f64; 3], radius_m: f64, found: impl FnMut(u32, f64)) {
        #[expect(clippy::cast_precision_loss, reason = "about as many")]
        if self.cells.count_within(eye, radius_m) > self.somewhere as f64 {
            self.cells.near_of_all(eye, radius_m, found);
        } else {
            self.cells.near(eye, radius_m, found);
        }
    }

    /// The anchors of all that is somewhere, with where it is.
    pub(super) fn somewhere(&self) -> impl Iterator<Item = (u32, [f64; 3])> {
        self.spots.iter().zip(0..).filter(|(spot, _)| spot.place.is_some()).map(|(spot, slot)| (slot, spot.at))
    }

    /// The anchors of all that is nowhere.
    pub(super) fn nowhere(&self) -> &[u32] {
        &self.nowhere
    }

    /// The anchor of the entity of a row; `None` where nobody else may see anything of it.
    pub(super) fn anchor(&self, slot: u32) -> Option<u32> {
        Some(self.rows.get(slot as usize)?.anchor).filter(|anchor| *anchor != NONE)
    }

    /// Where the entity with this anchor is; `None` for nowhere.
    pub(super) fn at(&self, anchor: u32) -> Option<[f64; 3]> {
        Some(self.spots[anchor as usize]).filter(|spot| spot.place.is_some()).map(|spot| spot.at)
    }

    /// Whether it is where it was first, and has been for long.
    #[inline]
    pub(super) fn is_static(&self, anchor: u32) -> bool {
        self.statics.contains(anchor)
    }

    /// Whether everybody else may see the row with this number, whatever the game's rules say of groups.
    pub(super) fn is_public(&self, slot: u32) -> bool {
        self.rows[slot as usize].is_public
    }

    /// How much of what is somewhere is not static, and how much is.
    pub(super) fn counts(&self) -> [usize; 2] {
        [self.somewhere - self.static_count, self.static_count]
    }

    /// The numbers of the rows of an entity, the anchor first.
    pub(super) fn rows_of(&self, anchor: u32) -> impl Iterator<Item = u32> {
        let next = |slot: &u32| Some(self.rows[*slot as usize].next).filter(|next| *next != NONE);
        core::iter::successors(Some(anchor), next)
    }
}

/// Where a row says that its entity is.
pub(super) fn position(schema: &Schema, row: Row<'_>) -> Option<[f64; 3]> {
    let (column, words) = schema.component(row.component).field(Meaning::Position, row.words)?;
    Some(column.lanes(words))
}

#[cfg(test)]
mod tests;
