//! Where the entities of a state are, in cells: so that what is near is found without a look at what is not. Made once for all
//! clients, and kept up with what has changed.

use super::slot_set::SlotSet;
use crate::motion::vector::squared_distance;
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

type Cell = [i32; 3];

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
    is_somewhere: bool,
    at: [f64; 3],
    has_moved: bool,
    cell: Cell,
    /// Its neighbours in the list of its bucket.
    before: u32,
    after: u32,
}

const NO_ROW: GridRow = GridRow { key: None, anchor: NONE, next: NONE, is_public: false };
const NOWHERE: Spot =
    Spot { is_somewhere: false, at: [0.0; 3], has_moved: false, cell: [0; 3], before: NONE, after: NONE };

/// All entities of which anybody else may see something. Invariant: each that is somewhere is in the list of the bucket of its
/// cell, once.
#[derive(Default)]
pub(super) struct EntityGrid {
    of: Option<Tick>,
    rows: Vec<GridRow>,
    spots: Vec<Spot>,
    /// The numbers of the anchors of what is nowhere, ascending.
    nowhere: Vec<u32>,
    somewhere: usize,
    /// How many of what is somewhere have moved.
    moved: usize,
    /// The anchors of what has not, and is there only for a short while.
    young: SlotSet,
    /// The first of each bucket; a power of two of them.
    buckets: Vec<u32>,
    cell_m: f64,
    /// The farthest that was looked at since the last state.
    looked_m: f64,
    /// The numbers of the rows of the entity that is taken in.
    entering: Vec<u32>,
    /// Entities that have lost rows.
    lessened: Vec<Entity>,
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
        if has_grown && self.buckets.len() < versions.slots() || !self.has_fitting_cells() {
            self.rebuild_buckets();
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
                self.leave_out(ended.slot);
                lessened.push(ended.row.key.entity);
            }
        }
        lessened.drain(..).for_each(|entity| self.enter(entity, state));
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
            }
            next = anchor + 1;
        }
    }

    /// Takes in the row at a place, which is new or has changed.
    fn note(&mut self, place: usize, state: &AuthoritativeState) {
        let RowVersion { key, slot, .. } = state.versions().versions()[place];
        if self.rows[slot as usize].key != Some(key) {
            self.enter(key.entity, state);
        } else if self.spots[slot as usize].is_somewhere
            && let Some(at) = position(state.schema(), state.rows().nth(place))
            && at != self.spots[slot as usize].at
        {
            self.note_moved(slot);
            self.move_to(slot, at);
        }
    }

    fn note_moved(&mut self, anchor: u32) {
        let had_moved = core::mem::replace(&mut self.spots[anchor as usize].has_moved, true);
        self.moved += usize::from(!had_moved);
        self.young.remove(anchor);
    }

    /// Takes in an entity whose rows are other ones than before.
    fn enter(&mut self, entity: Entity, state: &AuthoritativeState) {
        let (rows, versions, schema) = (state.rows(), state.versions(), state.schema());
        let mut slots = core::mem::take(&mut self.entering);
        slots.clear();
        slots.extend(rows.of(entity).filter_map(|row| Some(versions.get(row.key())?.slot)));
        for slot in &slots {
            if self.rows[*slot as usize].key.is_some() {
                self.leave_out(*slot);
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
                self.spots[anchor as usize] = Spot { is_somewhere: true, at, cell: self.cell(at), ..NOWHERE };
                self.somewhere += 1;
                self.young.insert(anchor);
                self.link(anchor);
            }
            None => {
                let place = self.nowhere.binary_search(&anchor).unwrap_or_else(|place| place);
                self.nowhere.insert(place, anchor);
            }
        }
    }

    /// Forgets the entity of a row, with all of its rows.
    fn leave_out(&mut self, slot: u32) {
        let anchor = self.rows[slot as usize].anchor;
        if anchor == NONE {
            self.rows[slot as usize] = NO_ROW;
            return;
        }
        if self.spots[anchor as usize].is_somewhere {
            self.unlink(anchor);
            self.somewhere -= 1;
            self.young.remove(anchor);
            let left = core::mem::replace(&mut self.spots[anchor as usize], NOWHERE);
            self.moved -= usize::from(left.has_moved);
        } else if let Ok(place) = self.nowhere.binary_search(&anchor) {
            self.nowhere.remove(place);
        }
        let mut slot = anchor;
        while slot != NONE {
            slot = core::mem::replace(&mut self.rows[slot as usize], NO_ROW).next;
        }
    }

    fn clear(&mut self) {
        self.rows.fill(NO_ROW);
        self.spots.fill(NOWHERE);
        self.buckets.fill(NONE);
        self.nowhere.clear();
        self.young.clear();
        (self.somewhere, self.moved) = (0, 0);
    }

    fn move_to(&mut self, anchor: u32, at: [f64; 3]) {
        let cell = self.cell(at);
        self.spots[anchor as usize].at = at;
        if self.spots[anchor as usize].cell != cell {
            self.unlink(anchor);
            self.spots[anchor as usize].cell = cell;
            self.link(anchor);
        }
    }

    fn link(&mut self, anchor: u32) {
        let bucket = self.bucket(self.spots[anchor as usize].cell);
        let first = core::mem::replace(&mut self.buckets[bucket], anchor);
        let spot = &mut self.spots[anchor as usize];
        (spot.before, spot.after) = (NONE, first);
        if first != NONE {
            self.spots[first as usize].before = anchor;
        }
    }

    fn unlink(&mut self, anchor: u32) {
        let Spot { before, after, cell, .. } = self.spots[anchor as usize];
        let bucket = self.bucket(cell);
        match before {
            NONE => self.buckets[bucket] = after,
            before => self.spots[before as usize].after = after,
        }
        if after != NONE {
            self.spots[after as usize].before = before;
        }
    }

    fn has_fitting_cells(&mut self) -> bool {
        let looked_m = core::mem::take(&mut self.looked_m);
        let fits = looked_m == 0.0 || (looked_m <= self.cell_m && looked_m * TOO_LARGE >= self.cell_m);
        if !fits {
            self.cell_m = looked_m;
        }
        fits && self.cell_m > 0.0
    }

    fn rebuild_buckets(&mut self) {
        if self.cell_m <= 0.0 {
            self.cell_m = 32.0;
        }
        self.buckets.clear();
        self.buckets.resize(self.rows.len().next_power_of_two().max(64), NONE);
        for slot in 0..self.spots.len() {
            if self.spots[slot].is_somewhere {
                self.spots[slot].cell = self.cell(self.spots[slot].at);
                self.link(u32::try_from(slot).unwrap_or(NONE));
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "what is very far away shares the outermost cells")]
    fn cell(&self, at: [f64; 3]) -> Cell {
        at.map(|metres| {
            let cells = metres / self.cell_m;
            let whole = cells as i32;
            if f64::from(whole) > cells { whole.saturating_sub(1) } else { whole }
        })
    }

    #[expect(clippy::cast_sign_loss, reason = "the bits are mixed")]
    fn bucket(&self, [x, y, z]: Cell) -> usize {
        let mixed = (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0x85eb_ca77);
        let mixed = (mixed ^ (z as u32).wrapping_mul(0xc2b2_ae3d)).wrapping_mul(0x27d4_eb2f);
        (mixed ^ mixed >> 15) as usize & (self.buckets.len() - 1)
    }

    /// Calls `found` with all that is within a distance of a place: the number of its anchor, and the square of its distance.
    pub(super) fn near(&mut self, eye: [f64; 3], radius_m: f64, mut found: impl FnMut(u32, f64)) {
        if radius_m.is_finite() {
            self.looked_m = self.looked_m.max(radius_m);
        }
        let mut look = |slot: u32, spot: &Spot| {
            let squared = squared_distance(eye, spot.at);
            if squared <= radius_m * radius_m {
                found(slot, squared);
            }
        };
        let first = self.cell(eye.map(|metres| metres - radius_m));
        let last = self.cell(eye.map(|metres| metres + radius_m));
        let cells = first.iter().zip(last).map(|(first, last)| f64::from(last) - f64::from(*first) + 1.0);
        #[expect(clippy::cast_precision_loss, reason = "about as many")]
        if cells.product::<f64>() > self.somewhere as f64 {
            let all = self.spots.iter().zip(0..).filter(|(spot, _)| spot.is_somewhere);
            return all.for_each(|(spot, slot)| look(slot, spot));
        }
        for x in first[0]..=last[0] {
            for y in first[1]..=last[1] {
                for z in first[2]..=last[2] {
                    let mut slot = self.buckets[self.bucket([x, y, z])];
                    while slot != NONE {
                        let spot = &self.spots[slot as usize];
                        if spot.cell == [x, y, z] {
                            look(slot, spot);
                        }
                        slot = spot.after;
                    }
                }
            }
        }
    }

    /// The anchors of all that is somewhere, with where it is.
    pub(super) fn somewhere(&self) -> impl Iterator<Item = (u32, [f64; 3])> {
        self.spots.iter().zip(0..).filter(|(spot, _)| spot.is_somewhere).map(|(spot, slot)| (slot, spot.at))
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
        Some(self.spots[anchor as usize]).filter(|spot| spot.is_somewhere).map(|spot| spot.at)
    }

    /// Whether it is where it was first, and has been for long.
    #[inline]
    pub(super) fn is_static(&self, anchor: u32) -> bool {
        !self.spots[anchor as usize].has_moved && !self.young.contains(anchor)
    }

    /// Whether everybody else may see the row with this number, whatever the game's rules say of groups.
    pub(super) fn is_public(&self, slot: u32) -> bool {
        self.rows[slot as usize].is_public
    }

    /// How much of what is somewhere is not static, and how much is.
    pub(super) fn counts(&self) -> [usize; 2] {
        let moving = self.moved + self.young.len();
        [moving, self.somewhere - moving]
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
