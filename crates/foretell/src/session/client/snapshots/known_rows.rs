//! What a client has been told of the rows that it shows, in whatever datagrams it came: how each is now, and how it was in the
//! last states.

use super::shown_row_reader::ShownRecord;
use super::tracks::Tracks;
use crate::time::{Tick, TickRate};
use crate::world::{Audience, Entity, Owned, PlayerId, PredictionSet, Row, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// The rows of a state as far as they are known: those that are told by themselves as they were told last, and the client's own that
/// it predicts.
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
    /// What of others was told exactly of the newest state of which that is known, ascending.
    exact: Vec<RowKey>,
}

/// What a snapshot says is not told exactly any more, ascending, and which entities of these are there.
#[derive(Clone, Copy)]
pub(super) struct Gone<'a> {
    pub keys: &'a [RowKey],
    pub hidden: &'a [Entity],
}

impl Gone<'_> {
    fn is_over(&self, key: &RowKey) -> bool {
        self.keys.binary_search(key).is_ok() && !self.hidden.contains(&key.entity)
    }
}

impl KnownRows {
    /// Of each row up to `states` are kept.
    pub(super) fn new(schema: &Schema, states: usize, rate: TickRate) -> KnownRows {
        KnownRows {
            schema: schema.clone(),
            rows: Rows::new(schema),
            tracks: Tracks::new(schema, states, rate),
            may_have_orphans: false,
            orphans: 0,
            exact: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.tracks.clear();
        self.exact.clear();
        (self.may_have_orphans, self.orphans) = (false, 0);
    }

    /// Whether rows of a state of this tick may since be gone without that being remembered.
    pub(super) fn is_too_old(&self, tick: Tick) -> bool {
        tick < self.tracks.forgotten()
    }

    /// Takes in a row as it was in the state of `tick`. Whether that is how it is now. Soonest done for one after another, ascending.
    pub(super) fn take_in(&mut self, tick: Tick, record: &ShownRecord, words: &[u32]) -> bool {
        let key = record.key;
        // Nobody asks what has changed in them: a list of that would grow until the client's own rows come.
        self.rows.settle();
        let Some(shown) = record.row else { return self.remove(key, tick) };
        let RowKey { component, entity } = key;
        let row = Row { component, entity, owner: shown.owner, words };
        let is_newest = self.tracks.put(tick, row, shown.rests);
        let is_newest = self.is_newest_variant(key, tick, is_newest);
        if is_newest {
            self.may_have_orphans |= !self.schema.is_first(component) && self.rows.words(self.first_of(key)).is_none();
            self.rows.set_words(row);
        }
        is_newest
    }

    /// A row is known as it is in the state of `tick`, and whether that is the newest of it. An entity has one variant of an enum at a
    /// time: each ends where another is told, in whatever order they come. Whether none is newer than this.
    fn is_newest_variant(&mut self, key: RowKey, tick: Tick, is_newest: bool) -> bool {
        let KnownRows { schema, rows, tracks, .. } = self;
        let mut is_over = false;
        for other in schema.other_variants(key) {
            if tracks.has(other, &tracks.in_state(tick)) && tracks.end(tick, other, None) {
                rows.remove(other);
            }
            let after = tracks.first_after(other, tick, |row| row.is_some());
            if let Some(after) = after.filter(|after| tracks.has(key, &tracks.in_state(*after))) {
                is_over |= tracks.end(after, key, None);
            }
        }
        is_newest && !is_over
    }

    /// It is not there in the state `at`; nor is what is nothing without it. What another variant has followed has ended with that.
    fn remove(&mut self, key: RowKey, at: Tick) -> bool {
        let is_followed = || self.rows.words(key).is_none() && self.tracks.newest_tick(key) > Some(at);
        if self.schema.other_variants(key).next().is_some() && is_followed() {
            return false;
        }
        let mut is_newest = false;
        for key in self.schema.clone().nothing_without(key) {
            if self.tracks.end(at, key, None) {
                self.rows.remove(key);
                is_newest = true;
            }
        }
        is_newest
    }

    /// Takes in what is told exactly of the state of `tick`: the client's own rows, all of them, and some of others. What was of others
    /// and is `gone`, and not `hidden`, is over, as is a row of an entity of which others are told. The rest is told by itself.
    pub(super) fn take_in_exact(&mut self, tick: Tick, player: PlayerId, exact: &Rows, gone: Gone<'_>) {
        let mut before = core::mem::take(&mut self.exact);
        for key in before.iter().filter(|key| exact.words(**key).is_none()) {
            if exact.has(key.entity) || gone.is_over(key) {
                self.remove(*key, tick);
            }
        }
        before.clear();
        before.extend(exact.iter().filter(|row| row.owner != player).map(|row| row.key()));
        self.exact = before;
        let KnownRows { schema, rows, tracks, .. } = self;
        for component in schema.ids() {
            // What everybody but its owner sees is gone of what is the client's own.
            let is_for_others = schema.component(component).audience() == Audience::Others;
            let is_shown = schema.component(component).prediction().is_shown_to_owner();
            let is_there = |entity| is_shown || exact.words(RowKey { component, entity }).is_some();
            if !is_for_others && rows.entities_of(player, component).all(is_there) {
                continue;
            }
            rows.retain_of(component, |Owned { entity, owner }| {
                let key = RowKey { component, entity };
                let is_taken = || is_for_others && exact.owner(entity) == Some(player);
                let is_over = if owner == player { !is_there(entity) } else { is_taken() };
                !is_over || !tracks.end(tick, key, (owner == player).then_some(player))
            });
        }
        for row in exact.iter() {
            // It may be another's since, and that have come before this.
            let is_newest = self.tracks.put(tick, row, false);
            if self.is_newest_variant(row.key(), tick, is_newest) {
                self.rows.set_words(row);
            }
        }
        self.rows.settle();
        self.count_orphans();
    }

    /// Takes in what was told exactly of a state that comes late, as the exact one of `newest` is known. That has all that is the
    /// client's own: what it has not is gone by then.
    pub(super) fn take_in_exact_late(&mut self, tick: Tick, player: PlayerId, exact: &Rows, newest: Tick) {
        for row in exact.iter() {
            let key = row.key();
            if self.tracks.find(key).is_none() {
                continue;
            }
            let is_newest = self.tracks.put_late(tick, row);
            if !self.is_newest_variant(key, tick, is_newest) {
                continue;
            }
            if row.owner == player {
                self.tracks.end(newest, key, Some(player));
                self.rows.remove(key);
            } else {
                self.rows.set_words(row);
                // The next exact state says whether it is there still.
                if let Err(at) = self.exact.binary_search(&key) {
                    self.exact.insert(at, key);
                }
            }
        }
        self.rows.settle();
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

    /// The state of `tick`, of which these rows are told exactly, with others as they are now that were there by then.
    /// Without what is predicted and not told exactly.
    pub(super) fn state_with(&self, tick: Tick, predicted: &PredictionSet, exact: &Rows) -> Rows {
        let mut state = self.rows.clone();
        let is_known = |key: RowKey| key.entity.tick() < tick && self.rows.words(self.first_of(key)).is_some();
        let is_shown = |key: RowKey, of: Owned| match self.rows.is_never_predicted(key.component) {
            true => !predicted.contains(of),
            false => of.owner != predicted.player(),
        };
        state.retain(|key, of| is_shown(key, of) && is_known(key));
        exact.iter().for_each(|row| state.set_words(row));
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
