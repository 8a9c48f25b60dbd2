//! What a client has been told of the rows that it shows, in whatever datagrams it came: how each is now, and how it was in the
//! last states.

use super::shown_records::ShownRecord;
use super::tracks::Tracks;
use crate::time::Tick;
use crate::world::{Audience, ComponentId, PlayerId, Row, RowKey, Rows, Schema};

/// The rows of a state as far as they are known: those of others as they were told last, and the client's own.
#[derive(Debug)]
pub(super) struct KnownRows {
    schema: Schema,
    /// The newest state of each of the tracks in which the row is there.
    rows: Rows,
    tracks: Tracks,
    /// Whether there may be rows that are nothing without the first component of their state, which has not come. They are
    /// counted, not listed: what the other end says takes no memory beside the rows themselves.
    may_have_orphans: bool,
    /// How many there were when they were counted last.
    orphans: usize,
    /// What was told of states up to this one is known altogether.
    since: Tick,
}

impl KnownRows {
    /// Of each row up to `states` are kept.
    pub(super) fn new(schema: &Schema, states: usize) -> KnownRows {
        KnownRows {
            schema: schema.clone(),
            rows: Rows::new(schema),
            tracks: Tracks::new(schema, states),
            may_have_orphans: false,
            orphans: 0,
            since: Tick::ZERO,
        }
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.tracks.clear();
        (self.may_have_orphans, self.orphans, self.since) = (false, 0, Tick::ZERO);
    }

    /// Whether rows of a state of this tick may since be gone without that being remembered.
    pub(super) fn is_too_old(&self, tick: Tick) -> bool {
        tick < self.tracks.forgotten()
    }

    /// Takes in a row as it was in the state of `tick`. Whether that is how it is now. Soonest done for one after another, ascending.
    pub(super) fn take_in(&mut self, tick: Tick, record: &ShownRecord, words: &[u32]) -> bool {
        let key = record.key;
        if tick < self.since && self.tracks.find(key).is_none() {
            return false;
        }
        // Nobody asks what has changed in them: a list of that would grow until the client's own rows come.
        self.rows.settle();
        let Some(shown) = record.row else { return self.remove(key, tick) };
        let RowKey { component, entity } = key;
        let row = Row { component, entity, owner: shown.owner, words };
        let is_newest = self.tracks.put(tick, row, shown.rests);
        if is_newest {
            self.may_have_orphans |= !self.schema.is_first(component) && self.rows.words(self.first_of(key)).is_none();
            self.rows.set_words(row);
        }
        is_newest
    }

    /// It is not there in the state `at`; nor is what is nothing without it.
    fn remove(&mut self, key: RowKey, at: Tick) -> bool {
        let mut is_newest = false;
        for key in self.schema.clone().nothing_without(key) {
            if self.tracks.end(at, key, false) {
                self.rows.remove(key);
                is_newest = true;
            }
        }
        is_newest
    }

    /// Takes in the client's own rows, all of them, as they are in the state of `tick`.
    pub(super) fn take_in_own(&mut self, tick: Tick, player: PlayerId, own: &Rows) {
        let KnownRows { schema, rows, tracks, .. } = self;
        let is_others = |id: ComponentId| schema.component(id).audience() == Audience::Others;
        rows.retain(|key, of| {
            // What everybody but its owner sees is gone of what is the client's own.
            let is_taken = of.owner != player && is_others(key.component) && own.has(key.entity);
            let is_given = of.owner == player && own.words(key).is_none();
            !(is_taken || is_given) || !tracks.end(tick, key, is_given)
        });
        for row in own.iter() {
            // It may be another's since, and that have come before this.
            if tracks.put(tick, row, false) {
                rows.set_words(row);
            }
        }
        rows.settle();
        self.count_orphans();
    }

    /// Takes in how the client's own rows were in a state that comes late.
    pub(super) fn take_in_own_late(&mut self, tick: Tick, own: &Rows) {
        own.iter().for_each(|row| self.tracks.put_late(tick, row));
    }

    /// Takes in a whole state. One that is `late` does not say what there is.
    pub(super) fn take_in_whole(&mut self, tick: Tick, rows: &Rows, is_late: bool) {
        self.tracks.put_state(tick, rows, is_late);
    }

    /// Begins after a whole state, which is in the tracks.
    pub(super) fn begin(&mut self, tick: Tick) {
        self.rows.clear();
        self.tracks.copy_newest(&mut self.rows);
        self.since = tick;
    }

    /// How everything is now.
    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(super) fn tracks(&self) -> &Tracks {
        &self.tracks
    }

    pub(super) fn tracks_mut(&mut self) -> &mut Tracks {
        &mut self.tracks
    }

    /// A state of which the client's own rows are known, with others as they are now.
    pub(super) fn state_with(&self, player: PlayerId, own: &Rows) -> Rows {
        let mut state = self.rows.clone();
        state.retain(|key, of| of.owner != player && self.rows.words(self.first_of(key)).is_some());
        own.iter().for_each(|row| state.set_words(row));
        state.settle();
        state
    }

    /// Counts what may wait for the first component of its state.
    fn count_orphans(&mut self) {
        if self.may_have_orphans {
            let rows = self.rows.iter().map(|row| row.key());
            self.orphans = rows.filter(|key| self.rows.words(self.first_of(*key)).is_none()).count();
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
