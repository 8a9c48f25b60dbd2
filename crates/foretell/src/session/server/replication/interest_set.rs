//! What one client was told last of the entities of others, where it does not see everything.

use super::entity_grid::position;
use super::slot_set::SlotSet;
use crate::motion::vector::squared_distance;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::row_versions::RowVersion;
use crate::time::Tick;
use crate::world::{Audience, Entity, Interest, PlayerId, RemovedRow, Row, RowKey};
use alloc::vec::Vec;

/// A row that a client is not to have any more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct GoneKey {
    pub key: RowKey,
    /// It is there still, for others.
    pub is_hidden: bool,
}

/// What one client was told last of the rows of others. Lives until everything is in view again.
#[derive(Clone, Debug)]
pub(super) struct InterestSet {
    /// The numbers of the rows in view that are there still, and of those that an entity of which one is not has got since.
    rows: SlotSet,
    /// How many removals of rows that takes in.
    followed: u64,
    /// The state that it was told last.
    told: Option<Tick>,
    /// What was in reach then, of which eyes.
    interest: Interest,
    eyes: Vec<[f64; 3]>,
    /// Entities in view that were spawned since, have lost a row that was in view, or were the player's own.
    came: Vec<Entity>,
}

impl InterestSet {
    /// Of a client that has seen nothing.
    pub(super) fn of_nothing() -> InterestSet {
        InterestSet {
            rows: SlotSet::default(),
            followed: 0,
            told: None,
            interest: Interest::Everything,
            eyes: Vec::new(),
            came: Vec::new(),
        }
    }

    /// Of a client that has seen everything up to the state `told`.
    pub(super) fn of_all(state: &AuthoritativeState, player: PlayerId, told: Tick) -> InterestSet {
        let versions = state.versions();
        let is_for_them =
            |of: &RowVersion| state.schema().component(of.key.component).audience().includes(player, of.owner);
        let seen = versions.versions().iter().filter(|of| of.created <= told && state.may_show(of, player));
        let seen = seen.filter(|of| is_for_them(of));
        let mut view = InterestSet { told: Some(told), followed: versions.removals(), ..InterestSet::of_nothing() };
        seen.for_each(|of| view.rows.insert(of.slot));
        view
    }

    /// Whether a row was in view when the client was told last.
    pub(super) fn has(&self, row: &RowVersion) -> bool {
        // Its number may have been another's then.
        self.rows.contains(row.slot) && self.told.is_some_and(|told| row.created <= told)
    }

    /// What has come and gone since, as far as it is there, or has ended in the step that is going on: an entity in view that has
    /// changed its variant has another row, and is in view still, and so is what the player has given away.
    pub(super) fn follow(&mut self, state: &AuthoritativeState, player: PlayerId) {
        let InterestSet { rows, followed, told, came, .. } = self;
        came.sort_unstable();
        came.dedup();
        came.retain(|entity| state.is_of_step(*entity));
        let (versions, first) = (state.versions(), came.len());
        let followed = core::mem::replace(followed, versions.removals());
        for removed in versions.removed_from(followed) {
            let (RemovedRow { key, owner }, slot) = (removed.row, removed.slot);
            // It may only be another's.
            let is_there = versions.get(key).is_some_and(|there| there.slot == slot);
            let is_lost = !is_there && rows.contains(slot);
            if is_lost {
                rows.remove(slot);
            }
            if (is_lost || owner == player) && state.is_of_step(key.entity) {
                came.push(key.entity);
            }
        }
        for entity in came[first..].iter().copied() {
            let there = state.schema().ids().filter_map(|component| versions.get(RowKey { component, entity }));
            there.filter(|there| Some(there.created) > *told).for_each(|there| rows.insert(there.slot));
        }
    }

    /// The same of a row by its number, or of an entity that has changed its variant.
    #[inline]
    pub(super) fn has_number(&self, slot: u32) -> bool {
        self.rows.contains(slot)
    }

    /// Whether an entity in view was spawned since the client was told last, has lost a row, or was the player's own.
    pub(super) fn has_come(&self, entity: Entity) -> bool {
        self.came.contains(&entity)
    }

    /// An entity of another's was spawned in the step to `state`, or came before it outside of steps. Whether it is in reach.
    pub(super) fn reaches(&self, entity: Entity, state: &AuthoritativeState) -> bool {
        let Interest::Within { radius_m, .. } = self.interest else { return true };
        // Where something is that only its owner is told says nothing to others.
        let schema = state.schema();
        let others = |row: &Row<'_>| schema.component(row.component).audience() != Audience::Owner;
        let Some(at) = state.rows().of(entity).filter(others).find_map(|row| position(schema, row)) else {
            return true;
        };
        let most = f64::from(radius_m) * f64::from(radius_m);
        self.eyes.iter().any(|eye| squared_distance(*eye, at) <= most)
    }

    /// It is in view.
    pub(super) fn note_came(&mut self, entity: Entity) {
        self.came.push(entity);
    }

    /// The state that the client was told last.
    pub(super) fn told(&self) -> Option<Tick> {
        self.told
    }

    /// The client is told that it sees the rows with these numbers in the state `now`.
    pub(super) fn note_told(&mut self, now: Tick, rows: &SlotSet) {
        self.rows.clone_from(rows);
        self.came.clear();
        self.told = Some(now);
    }

    /// From where it looked, and how far.
    pub(super) fn note_reach(&mut self, interest: Interest, eyes: &[[f64; 3]]) {
        self.interest = interest;
        self.eyes.clear();
        self.eyes.extend_from_slice(eyes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, SHIP};

    #[test]
    fn what_comes_and_ends_while_a_client_is_told_nothing_takes_no_room() {
        let (mut state, me) = (AuthoritativeState::new(&test_states::schema()), PlayerId::new(1));
        let mut view = InterestSet::of_nothing();
        let entity = |tick| Entity::new(PlayerId::new(2), Tick::new(tick), 0);
        for tick in 0..100 {
            test_states::set(state.rows_mut(), test_states::key(SHIP, entity(tick)), 1);
            // Once as it is spawned, and once as another variant.
            (0..2).for_each(|_| view.note_came(entity(tick)));
            let gone = tick.checked_sub(3).map(|before| test_states::key(SHIP, entity(before)));
            gone.into_iter().for_each(|key| state.rows_mut().remove(key));
            view.follow(&state, me);
            state.settle(Tick::new(tick + 1));
        }
        assert!((97..100).all(|tick| view.has_come(entity(tick))));
        assert_eq!(view.came.len(), 3);
    }
}
