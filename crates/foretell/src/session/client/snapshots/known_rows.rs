//! What a client has been told of the rows that it shows: of each the newest, in whatever datagram it came.

use super::shown_records::ShownRecord;
use super::told_rows::{Told, ToldRows};
use crate::session::shown_record::SLOTS_MAX;
use crate::time::Tick;
use crate::world::{Audience, ComponentId, PlayerId, Row, RowKey, Rows, Schema};
use alloc::collections::VecDeque;

/// How many rows that are gone are remembered, the newest: an older datagram does not bring them back.
const GONE_MAX: usize = 256;
/// More rows of others are not shown.
const SHOWN_MAX: usize = SLOTS_MAX as usize;

/// A row that was not there any more in the state of a tick, or the client's own until then.
#[derive(Clone, Copy, Debug)]
struct GoneRow {
    key: RowKey,
    at: Tick,
}

/// The newest of them.
#[derive(Debug)]
struct GoneRows {
    rows: VecDeque<GoneRow>,
    /// Of what was gone in states up to this one not all is remembered.
    forgotten: Tick,
}

impl GoneRows {
    fn new() -> GoneRows {
        GoneRows { rows: VecDeque::with_capacity(GONE_MAX), forgotten: Tick::ZERO }
    }

    /// Whether a row was gone in the state of `tick` or a later one.
    fn has(&self, key: RowKey, tick: Tick) -> bool {
        self.rows.iter().any(|gone| gone.key == key && gone.at >= tick)
    }

    fn push(&mut self, key: RowKey, at: Tick) {
        if self.rows.len() == GONE_MAX {
            let oldest = self.rows.pop_front().map_or(Tick::ZERO, |gone| gone.at);
            self.forgotten = self.forgotten.max(oldest);
        }
        self.rows.push_back(GoneRow { key, at });
    }
}

/// The rows of a state as far as they are known: those of others as they were told last, and the client's own.
#[derive(Debug)]
pub(super) struct KnownRows {
    schema: Schema,
    rows: Rows,
    told: ToldRows,
    /// Where the row mostly is among them that is told next.
    next_told: usize,
    gone: GoneRows,
    /// The state whose own rows were taken in last.
    own_of: Tick,
    /// Whether there may be rows that are nothing without the first component of their state, which has not come. They are
    /// counted, not listed: what the other end says takes no memory beside the rows themselves.
    may_have_orphans: bool,
    /// How many there were when the rows were copied last.
    orphans: usize,
    /// What was told of states up to this one is known altogether.
    since: Tick,
}

impl KnownRows {
    pub(super) fn new(schema: &Schema) -> KnownRows {
        KnownRows {
            schema: schema.clone(),
            rows: Rows::new(schema),
            told: ToldRows::new(),
            next_told: 0,
            gone: GoneRows::new(),
            own_of: Tick::ZERO,
            may_have_orphans: false,
            orphans: 0,
            since: Tick::ZERO,
        }
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.told.clear();
        self.gone.rows.clear();
        (self.may_have_orphans, self.orphans) = (false, 0);
        (self.since, self.gone.forgotten, self.own_of) = (Tick::ZERO, Tick::ZERO, Tick::ZERO);
    }

    /// Begins with a whole state. What was told of later ones stays.
    pub(super) fn begin(&mut self, tick: Tick, rows: &Rows) {
        let before = core::mem::replace(&mut self.rows, Rows::new(&self.schema));
        let mut later = core::mem::replace(&mut self.told, ToldRows::new());
        later.retain(|told| told.tick > tick);
        self.rows.copy_rows(rows);
        self.told.set_all(tick, rows);
        self.gone.rows.retain(|gone| gone.at > tick);
        for GoneRow { key, .. } in &self.gone.rows {
            self.rows.remove(*key);
            self.told.remove(*key);
        }
        for told in later.iter() {
            before.get(told.key).into_iter().for_each(|row| self.rows.set_words(row));
            self.told.set(*told);
        }
        (self.since, self.own_of) = (tick, tick);
    }

    /// Whether rows of a state of this tick may since be gone without that being remembered.
    pub(super) fn is_too_old(&self, tick: Tick) -> bool {
        tick < self.gone.forgotten
    }

    /// Takes in a row as it was in the state of `tick`. Whether that is news. Soonest done for one after another, ascending.
    pub(super) fn take_in(&mut self, tick: Tick, record: &ShownRecord, words: &[u32]) -> bool {
        let key = record.key;
        let place = self.told.find_near(key, &mut self.next_told);
        if tick < self.since || self.is_known(place, tick, record) {
            return false;
        }
        // Nobody asks what has changed in them: a list of that would grow until the client's own rows come.
        self.rows.settle();
        let Some(shown) = record.row else {
            self.remove(key, tick);
            return true;
        };
        if place.is_err() && self.rows.len() >= SHOWN_MAX && self.rows.words(key).is_none() {
            return false;
        }
        let RowKey { component, entity } = key;
        self.may_have_orphans |= !self.schema.is_first(component) && self.rows.words(self.first_of(key)).is_none();
        self.rows.set_words(Row { component, entity, owner: shown.owner, words });
        self.told.set_at(place, Told { key, tick, rests: shown.rests });
        true
    }

    /// Whether what is known of a row, which is or would be at this place of those that were told, is at least as new as this
    /// record.
    fn is_known(&self, place: Result<usize, usize>, tick: Tick, record: &ShownRecord) -> bool {
        if let Ok(place) = place {
            let told = self.told.at(place);
            let says_no_more = told.rests || record.row.is_none_or(|row| !row.rests);
            return told.tick > tick || told.tick == tick && says_no_more;
        }
        let is_own = tick <= self.own_of && self.rows.words(record.key).is_some();
        is_own || self.gone.has(record.key, tick)
    }

    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// It is not there in the state `at`; nor is what is nothing without it.
    fn remove(&mut self, key: RowKey, at: Tick) {
        let KnownRows { schema, rows, told, gone, .. } = self;
        for key in schema.nothing_without(key) {
            if told.get(key).is_none_or(|told| told.tick <= at) {
                rows.remove(key);
                told.remove(key);
                gone.push(key, at);
            }
        }
    }

    /// Takes in the client's own rows, all of them, as they are in the state of `tick`. Whether nothing newer is known of any.
    pub(super) fn take_in_own(&mut self, tick: Tick, player: PlayerId, own: &Rows) -> bool {
        let former = core::mem::replace(&mut self.own_of, tick);
        let KnownRows { rows, told, gone, .. } = self;
        rows.retain(|key, of| {
            let is_there = of.owner != player || own.words(key).is_some();
            if !is_there {
                told.remove(key);
                gone.push(key, former);
            }
            is_there
        });
        self.drop_not_for_owner(tick, own);
        let KnownRows { rows, told, .. } = self;
        let mut are_all_newest = true;
        for row in own.iter() {
            // It may be another's since, and that have come before this.
            if told.get(row.key()).is_some_and(|told| told.tick > tick) {
                are_all_newest = false;
                continue;
            }
            rows.set_words(row);
            told.remove(row.key());
        }
        rows.settle();
        are_all_newest
    }

    /// What everybody but its owner sees is gone of what is the client's own in the state of `tick`.
    fn drop_not_for_owner(&mut self, tick: Tick, own: &Rows) {
        let KnownRows { schema, rows, told, gone, .. } = self;
        let for_others = |id: &ComponentId| schema.component(*id).audience() == Audience::Others;
        for component in schema.ids().filter(for_others) {
            rows.retain(|key, _| {
                let is_newer = || told.get(key).is_some_and(|told| told.tick > tick);
                let is_kept = key.component != component || !own.has(key.entity) || is_newer();
                if !is_kept {
                    told.remove(key);
                    gone.push(key, tick);
                }
                is_kept
            });
        }
    }

    /// Makes `rows` and `told` what is known.
    pub(super) fn copy_to(&mut self, rows: &mut Rows, told: &mut ToldRows) {
        rows.copy_rows(&self.rows);
        told.clone_from(&self.told);
        if self.may_have_orphans {
            let all = rows.len();
            rows.retain(|key, _| {
                let first = self.first_of(key);
                first == key || self.rows.words(first).is_some()
            });
            rows.settle();
            self.orphans = all - rows.len();
            self.may_have_orphans = self.orphans > 0;
        }
    }

    /// How many rows wait for the first component of their state.
    pub(super) fn orphans(&self) -> usize {
        self.orphans
    }

    /// The row of the first component of the state that a row belongs to.
    fn first_of(&self, key: RowKey) -> RowKey {
        RowKey { component: self.schema.first_in_state(key.component), ..key }
    }
}

#[cfg(test)]
mod tests;
