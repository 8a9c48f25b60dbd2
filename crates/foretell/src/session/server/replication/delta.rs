//! What of the state a snapshot has to tell one client: all of it, or what differs from a snapshot that the client has.

use super::entities_in_view::{EntitiesInView, GoneKey};
use super::interest::{InterestQuery, SeenRow, Visible};
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::time::Tick;
use crate::world::{PlayerId, RemovedRow, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// What a client is told last and now, where it does not see everything.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    pub view: &'a EntitiesInView,
    pub interest: &'a InterestQuery,
}

/// Who sees what.
#[derive(Clone, Copy)]
pub(super) struct Perspective<'a> {
    pub player: PlayerId,
    pub state: &'a AuthoritativeState,
    pub limits: Option<Limits<'a>>,
}

/// What one snapshot tells of the rows. Its memory is used again.
#[derive(Default)]
pub(super) struct DeltaSet {
    pub baseline: Option<Tick>,
    /// The check of all rows that the client may see.
    pub check: u32,
    /// The places of the rows to tell.
    pub told: Vec<usize>,
    /// What the client has and is gone, ascending.
    pub gone: Vec<GoneKey>,
}

impl DeltaSet {
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

    /// What of a player's own rows has changed since `base`; or all of them, where that is not longer.
    pub(super) fn choose_own(&mut self, base: Option<Tick>, player: PlayerId, state: &AuthoritativeState) {
        let versions = state.versions();
        self.baseline = base.filter(|base| {
            let Some(removed) = versions.removed_since(*base) else { return false };
            let own = removed.map(|removed| removed.row).filter(|row| row.owner == player);
            self.gone.clear();
            let gone = own.map(|row| row.key).filter(|key| state.is_for_owner(*key) && !state.is_own(*key, player));
            self.gone.extend(gone.map(|key| GoneKey { key, is_hidden: state.rows().has(key.entity) }));
            self.gone.sort_unstable();
            self.gone.dedup_by_key(|gone| gone.key);
            true
        });
        self.told.clear();
        self.check = 0;
        let mut left_out = 0;
        for place in state.own_places(player) {
            let version = &versions.versions()[place];
            self.check = self.check.wrapping_add(version.hash);
            if self.baseline.is_none_or(|base| version.changed > base) {
                self.told.push(place);
            } else {
                left_out += 1;
            }
        }
        if left_out == 0 || left_out < self.gone.len() {
            self.choose_none();
            self.told.extend(state.own_places(player));
        }
    }

    /// What has changed since `base`; or all, where that is not longer.
    pub(super) fn choose(&mut self, base: Option<Tick>, of: Perspective<'_>) {
        self.baseline =
            base.filter(|base| self.note_gone(*base, of).is_some()).filter(|base| self.note_changed(*base, of));
        if self.baseline.is_none() {
            self.choose_none();
            self.told.extend(of.seen().map(|seen| seen.row));
        }
    }

    /// Whether something is left out by that.
    fn note_changed(&mut self, base: Tick, of: Perspective<'_>) -> bool {
        self.told.clear();
        self.check = 0;
        // In words, about: what it takes to name an entity is one.
        let mut left_out = 0;
        for SeenRow { row, visible, .. } in of.seen() {
            let version = &of.state.versions().versions()[row];
            self.check = self.check.wrapping_add(version.hash);
            let is_known = match visible {
                Visible::Always => true,
                Visible::Since(since) => since <= base,
                Visible::Entered => false,
            };
            if version.changed > base || !is_known {
                self.told.push(row);
            } else {
                left_out += 1 + of.state.schema().component(version.key.component).words();
            }
        }
        left_out > 0 && left_out >= self.gone.len()
    }

    /// `None` where it is not known any more.
    fn note_gone(&mut self, base: Tick, of: Perspective<'_>) -> Option<()> {
        let Perspective { player, state, limits } = of;
        let schema = state.schema();
        self.gone.clear();
        let may_have = |row: &RemovedRow| match limits {
            // What was others' comes from there.
            Some(_) => row.owner == player && state.is_for_owner(row.key),
            None => schema.component(row.key.component).audience().includes(player, row.owner),
        };
        let removed = state.versions().removed_since(base)?.map(|removed| removed.row).filter(may_have);
        let is_seen = |key: RowKey| {
            let Some(row) = state.rows().get(key) else { return false };
            match limits {
                Some(of) if row.owner != player => of.interest.shows(key),
                _ => schema.component(key.component).audience().includes(player, row.owner),
            }
        };
        let gone = removed.map(|row| row.key).filter(|key| !is_seen(*key));
        self.gone.extend(gone.map(|key| GoneKey { key, is_hidden: state.rows().has(key.entity) }));
        if let Some(Limits { view, interest }) = limits {
            self.gone.extend(interest.gone_since(view, base)?.filter(|gone| !is_seen(gone.key)));
        }
        self.gone.sort_unstable();
        self.gone.dedup_by_key(|gone| gone.key);
        Some(())
    }
}

impl Perspective<'_> {
    /// The rows that are seen, ascending.
    fn seen(self) -> impl Iterator<Item = SeenRow> {
        let all = || {
            let places = self.state.rows().places_seen_by(self.state.schema(), self.player);
            places.map(|row| SeenRow { row, visible: Visible::Always })
        };
        let all = self.limits.is_none().then(all);
        self.limits.into_iter().flat_map(|limits| limits.interest.rows()).chain(all.into_iter().flatten())
    }
}
