//! What a snapshot has to tell one client exactly: all of it, or what differs from a snapshot that the client has.

use super::exact_choice::ExactChoice;
use super::exact_row_set::ExactRowSet;
use super::interest_set::GoneKey;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::time::Tick;
use crate::world::{PlayerId, RemovedRow, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// How long it is to tell who holds an entity, in words.
const HOLDER_WORDS: usize = 2;

/// What one client is told exactly.
#[derive(Clone, Copy)]
pub(super) struct ExactScope<'a> {
    pub player: PlayerId,
    pub state: &'a AuthoritativeState,
    /// What of others, now and before.
    pub chosen: &'a ExactChoice,
    pub had: &'a ExactRowSet,
    /// How many entities are held in it: who holds them is told against the baseline, too.
    pub held: usize,
}

/// What one snapshot tells exactly of the rows. Its memory is used again.
#[derive(Default)]
pub(super) struct ExactLane {
    pub baseline: Option<Tick>,
    /// The check of all rows that the client is told exactly.
    pub check: u32,
    /// The places of the rows to tell, ascending.
    pub told: Vec<usize>,
    /// What the state that it is told against has, and is not told exactly any more, ascending.
    pub gone: Vec<GoneKey>,
}

/// A row that a client is told exactly.
struct Candidate {
    place: usize,
    /// Whether it was in the state that is told against.
    is_known: bool,
}

impl ExactLane {
    /// Nothing.
    pub(super) fn choose_none(&mut self) {
        self.baseline = None;
        self.gone.clear();
        self.told.clear();
    }

    /// All that a player may see of `rows`, by themselves.
    pub(super) fn choose_all(&mut self, rows: &Rows, schema: &Schema, player: PlayerId) {
        self.choose_none();
        self.told.extend(rows.places_seen_by(schema, player));
    }

    /// What of the client's own rows has changed since `base`, and of those of others that it is told exactly; or all of them, where
    /// that is not longer.
    pub(super) fn choose(&mut self, base: Option<Tick>, of: ExactScope<'_>) {
        let ExactScope { player, state, chosen, had, held } = of;
        self.baseline = base.filter(|base| {
            let (removed, left) = (state.versions().removed_since(*base), had.left_since(*base));
            let (Some(removed), Some(left)) = (removed, left) else { return false };
            let is_own = |row: &RemovedRow| row.owner == player && state.is_exact_for_owner(row.key);
            let gone = removed.map(|removed| removed.row).filter(is_own).map(|row| row.key).chain(left);
            self.note_gone(state, gone.filter(|key| !state.is_exact_own(*key, player) && had.since(*key).is_none()));
            let own = state.exact_own_places(player).map(|place| Candidate { place, is_known: true });
            let is_known = |since: Option<Tick>| since.is_some_and(|since| since <= *base);
            let others = chosen.rows().iter().map(|row| Candidate { place: row.place, is_known: is_known(row.since) });
            let left_out = self.note_changed(*base, state, own.chain(others));
            self.is_shorter(left_out + HOLDER_WORDS * held)
        });
        if self.baseline.is_none() {
            self.choose_none();
            self.told.extend(state.exact_own_places(player));
            self.told.extend(chosen.rows().iter().map(|row| row.place));
        }
        if !chosen.is_empty() {
            self.told.sort_unstable();
        }
    }

    /// What has changed since `base` of all that a player may see; or all of it, where that is not longer.
    pub(super) fn choose_changes(&mut self, base: Option<Tick>, player: PlayerId, state: &AuthoritativeState) {
        let schema = state.schema();
        self.baseline = base.filter(|base| {
            let Some(removed) = state.versions().removed_since(*base) else { return false };
            let includes = |key: RowKey, owner| schema.component(key.component).audience().includes(player, owner);
            let is_seen = |key: RowKey| state.rows().get(key).is_some_and(|row| includes(key, row.owner));
            let had = removed.map(|removed| removed.row).filter(|row| includes(row.key, row.owner));
            self.note_gone(state, had.map(|row| row.key).filter(|key| !is_seen(*key)));
            let all = state.rows().places_seen_by(schema, player).map(|place| Candidate { place, is_known: true });
            let left_out = self.note_changed(*base, state, all);
            self.is_shorter(left_out)
        });
        if self.baseline.is_none() {
            self.choose_all(state.rows(), schema, player);
        }
    }

    /// Returns how much is left out by that: in words, about, as what it takes to name an entity is one.
    fn note_changed(
        &mut self,
        base: Tick,
        state: &AuthoritativeState,
        candidates: impl Iterator<Item = Candidate>,
    ) -> usize {
        self.told.clear();
        self.check = 0;
        let mut left_out = 0;
        for Candidate { place, is_known } in candidates {
            let version = &state.versions().versions()[place];
            self.check = self.check.wrapping_add(version.hash);
            if version.changed > base || !is_known {
                self.told.push(place);
            } else {
                left_out += 1 + state.schema().component(version.key.component).words();
            }
        }
        left_out
    }

    /// Whether it is shorter to leave that much out, and to say what is gone.
    fn is_shorter(&self, left_out: usize) -> bool {
        left_out > 0 && left_out >= self.gone.len()
    }

    /// This is not told exactly any more.
    fn note_gone(&mut self, state: &AuthoritativeState, gone: impl Iterator<Item = RowKey>) {
        self.gone.clear();
        self.gone.extend(gone.map(|key| GoneKey { key, is_hidden: state.rows().has(key.entity) }));
        self.gone.sort_unstable();
        self.gone.dedup_by_key(|gone| gone.key);
    }
}
