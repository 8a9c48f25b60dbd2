//! What one client was told last of the entities of others, where it does not see everything.

use super::entity_grid::position;
use super::slot_set::SlotSet;
use crate::motion::vector::squared_distance;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::time::Tick;
use crate::world::{Entity, Interest, PlayerId, RemovedRow, RowKey};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How many rows that have left the view are remembered, the newest.
const LEFT_MAX: usize = 2048;

/// A row that a client is not to have any more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct GoneKey {
    pub key: RowKey,
    /// It is there still, for others.
    pub is_hidden: bool,
}

impl GoneKey {
    /// Of a row that `player` does not see in this state.
    pub(super) fn new(key: RowKey, state: &AuthoritativeState, player: PlayerId) -> GoneKey {
        let is_hidden = state.rows().owner(key.entity).is_some_and(|owner| owner != player);
        GoneKey { key, is_hidden }
    }
}

/// A row that was in view from one state on, and not any more from another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub gone: GoneKey,
    pub since: Tick,
    pub at: Tick,
}

/// A row in view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub key: RowKey,
    /// The number of the row.
    pub slot: u32,
    /// The state from which on it is in view.
    pub since: Tick,
}

/// What one client was told last of the rows of others. Lives until everything is in view again.
#[derive(Clone, Debug)]
pub(super) struct EntitiesInView {
    /// Ascending by key.
    seen: Vec<Seen>,
    /// Their numbers.
    slots: SlotSet,
    /// Ascending by when they left.
    left: VecDeque<Left>,
    /// What has left later than this is all remembered.
    remembered: Tick,
    /// The state that it was told last.
    told: Option<Tick>,
    /// What was in reach then, of which eyes.
    interest: Interest,
    eyes: Vec<[f64; 3]>,
    /// Entities in view that were spawned since.
    came: Vec<Entity>,
}

impl EntitiesInView {
    /// Of a client that has seen nothing.
    pub(super) fn of_nothing() -> EntitiesInView {
        EntitiesInView {
            seen: Vec::new(),
            slots: SlotSet::default(),
            left: VecDeque::new(),
            remembered: Tick::ZERO,
            told: None,
            interest: Interest::Everything,
            eyes: Vec::new(),
            came: Vec::new(),
        }
    }

    /// Of a client that has seen everything up to the state `told`.
    pub(super) fn of_all(state: &AuthoritativeState, player: PlayerId, told: Tick) -> EntitiesInView {
        let is_shown = |key: RowKey, owner: PlayerId| {
            owner != player && state.schema().component(key.component).audience().includes(player, owner)
        };
        let versions = state.versions();
        let seen = versions.versions().iter().filter(|of| of.created <= told && is_shown(of.key, of.owner));
        let seen = seen.map(|version| Seen { key: version.key, slot: version.slot, since: version.created });
        // What it was told, and was not there any more before its view had an end.
        let (remembered, removed) = versions.all_removed();
        let removed = removed.filter(|of| of.created <= told && is_shown(of.row.key, of.row.owner));
        let left = removed.map(|removed| {
            let RemovedRow { key, .. } = removed.row;
            Left { gone: GoneKey::new(key, state, player), since: removed.created, at: removed.at }
        });
        let mut view = EntitiesInView { left: left.collect(), remembered, ..EntitiesInView::of_nothing() };
        view.see(seen);
        view
    }

    /// Whether a row was in view when the client was told last.
    pub(super) fn has(&self, key: RowKey) -> bool {
        self.seen.binary_search_by_key(&key, |seen| seen.key).is_ok()
    }

    /// The same of a row by its number; of one that has got the number since, whether the one before it was.
    #[inline]
    pub(super) fn has_number(&self, slot: u32) -> bool {
        self.slots.contains(slot)
    }

    fn see(&mut self, seen: impl Iterator<Item = Seen>) {
        let EntitiesInView { seen: before, slots, .. } = self;
        before.clear();
        before.extend(seen);
        slots.clear();
        before.iter().for_each(|seen| slots.insert(seen.slot));
    }

    /// Whether an entity in view was spawned since the client was told last.
    pub(super) fn has_come(&self, entity: Entity) -> bool {
        self.came.contains(&entity)
    }

    /// An entity of another's was spawned in the step to `state`. Whether it is in reach.
    pub(super) fn reaches(&self, entity: Entity, state: &AuthoritativeState) -> bool {
        let Interest::Within { radius_m, .. } = self.interest else { return true };
        let Some(at) = state.rows().of(entity).find_map(|row| position(state.schema(), row)) else { return true };
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

    /// What is in view, ascending by key.
    pub(super) fn seen(&self) -> &[Seen] {
        &self.seen
    }

    /// What has left since the state `base`, the oldest first; `None` where that is not remembered.
    pub(super) fn left_since(&self, base: Tick) -> Option<impl Iterator<Item = &Left>> {
        let first = self.left.partition_point(|left| left.at <= base);
        self.remembers(base).then(|| self.left.range(first..))
    }

    /// Whether all is remembered that has left since the state `base`.
    pub(super) fn remembers(&self, base: Tick) -> bool {
        self.remembered <= base
    }

    /// The client is told what it sees in the state `now`, against `base`: what was in view and is not any more, and what is.
    pub(super) fn note_told(
        &mut self,
        now: Tick,
        base: Option<Tick>,
        lost: impl Iterator<Item = Left>,
        seen: impl Iterator<Item = Seen>,
    ) {
        debug_assert!(self.left.back().is_none_or(|left| left.at <= now));
        self.left.extend(lost);
        let told = self.left.partition_point(|left| Some(left.at) <= base);
        self.left.drain(..told);
        let surplus = self.left.len().saturating_sub(LEFT_MAX);
        self.remembered = self.left.drain(..surplus).next_back().map_or(self.remembered, |left| left.at);
        self.see(seen);
        self.came.clear();
        self.told = Some(now);
    }

    /// From where it looked, and how far.
    pub(super) fn note_reach(&mut self, interest: Interest, eyes: &[[f64; 3]]) {
        self.interest = interest;
        self.eyes.clear();
        self.eyes.extend_from_slice(eyes);
    }

    /// Whether nothing that has left is remembered.
    pub(super) fn has_told_all(&self) -> bool {
        self.left.is_empty()
    }
}
