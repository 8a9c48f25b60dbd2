//! What the world has published: the truth as of the last step, and when what of it has changed.

use super::hierarchy::Hierarchy;
use super::rewind_history::{RewindHistory, RewindTerms};
use super::row_versions::{RowVersion, RowVersions};
use crate::session::exact_row_codec::{Ages, EVENT_TICKS_BACK};
use crate::session::step_events::{StepEvent, StepEventKind};
use crate::time::{Tick, TickRate};
use crate::world::{Audience, Entity, EntityMap, PlayerId, RowKey, Rows, Schema, World};
use alloc::vec::Vec;

/// How many entities that were changed outside of steps are named; the newest.
const CHANGED_OUTSIDE_MAX: usize = 4096;

/// The published rows, and when they have changed. States count the server's steps: state *n* is there before step *n*.
pub(super) struct AuthoritativeState {
    schema: Schema,
    rows: Rows,
    versions: RowVersions,
    hierarchy: Hierarchy,
    past: RewindHistory,
    /// Before which step an entity was last changed outside of steps; not older than what snapshots can name.
    changed_outside: EntityMap<Tick>,
    /// None of these ticks is before this one.
    outside_since: Tick,
    /// What came outside of steps since the last one.
    inserted_outside: Vec<Entity>,
    /// What has ended in what was published last, ascending.
    ended: Vec<Entity>,
    /// In which step an entity of another player last touched an entity; not older than what snapshots can name.
    contacts: EntityMap<Tick>,
}

impl AuthoritativeState {
    pub fn new(schema: &Schema) -> AuthoritativeState {
        AuthoritativeState {
            schema: schema.clone(),
            rows: Rows::new(schema),
            versions: RowVersions::new(),
            hierarchy: Hierarchy::new(schema),
            past: RewindHistory::new(schema, RewindTerms::nothing(TickRate::default())),
            changed_outside: EntityMap::new(),
            outside_since: Tick::ZERO,
            inserted_outside: Vec::new(),
            ended: Vec::new(),
            contacts: EntityMap::new(),
        }
    }

    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// What a test publishes.
    #[cfg(test)]
    pub fn rows_mut(&mut self) -> &mut Rows {
        &mut self.rows
    }

    /// When each row has last changed.
    pub fn versions(&self) -> &RowVersions {
        &self.versions
    }

    /// Who is below whom.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Where the root of an entity is; `None` for what is below nothing.
    pub fn root_place(&self, child: Entity) -> Option<[f64; 3]> {
        self.hierarchy.place(&self.rows, self.hierarchy.root(child)?)
    }

    /// What an entity is below, by what is published now and not settled yet; itself where that is nothing.
    pub fn published_root(&self, entity: Entity) -> Entity {
        self.hierarchy.find_root(&self.rows, entity).unwrap_or(entity)
    }

    /// What others were in the last states.
    pub fn past(&self) -> &RewindHistory {
        &self.past
    }

    /// The step of `tick` comes next, and looks back by these terms. `here` is who sits at the server.
    pub fn begin_step(&mut self, tick: Tick, terms: RewindTerms, here: Option<PlayerId>) {
        self.past.begin_step(tick, terms, here);
    }

    /// The places of those of a player's own rows that it is told exactly, ascending.
    pub fn exact_own_places(&self, player: PlayerId) -> impl Iterator<Item = usize> {
        let of_owner = self.versions.of_owner(player);
        of_owner.filter(move |place| self.is_exact_for_owner(self.versions.versions()[*place].key))
    }

    /// Whether a row is there that is a player's own and that it is told exactly.
    pub fn is_exact_own(&self, key: RowKey, player: PlayerId) -> bool {
        self.versions.get(key).is_some_and(|there| there.owner == player) && self.is_exact_for_owner(key)
    }

    /// Whether its owner is told a row exactly: its client predicts it, or may.
    pub fn is_exact_for_owner(&self, key: RowKey) -> bool {
        self.schema.component(key.component).prediction().is_of_owner()
    }

    /// Whether a client may be told a row by itself: what is another's, and of its player's own what no client predicts.
    pub fn may_show(&self, row: &RowVersion, player: PlayerId) -> bool {
        row.owner != player || self.is_shown_to_owner(row.key)
    }

    /// Whether its owner is told a row as others are.
    pub fn is_shown_to_owner(&self, key: RowKey) -> bool {
        self.schema.component(key.component).prediction().is_shown_to_owner()
    }

    /// Whether a row's component is for its owner too.
    fn is_for_owner(&self, key: RowKey) -> bool {
        self.schema.component(key.component).audience() != Audience::Others
    }

    /// Takes in what has changed in the world.
    pub fn publish(&mut self, world: &mut impl World) {
        world.publish(&mut self.rows);
        let removed = self.rows.removed().iter().map(|removed| removed.key.entity);
        self.ended.clear();
        self.ended.extend(removed.filter(|entity| !self.rows.has(*entity)));
        self.ended.sort_unstable();
    }

    /// Whether an entity is there, or has ended in what was published last.
    pub fn is_of_step(&self, entity: Entity) -> bool {
        self.rows.has(entity) || self.ended.binary_search(&entity).is_ok()
    }

    /// What has changed is part of `state` now.
    pub fn settle(&mut self, state: Tick) {
        let is_same_set = self.versions.note(&self.rows, state);
        self.hierarchy.note(&self.rows, is_same_set);
        self.past.note(&self.rows, &self.versions, state);
        self.rows.settle();
    }

    /// Marks what has changed since the last step as changed by the server itself, before the step of `tick` (DESIGN:
    /// causes), and settles it. `note_removed` hears of entities without a row that could tell, with whose they were.
    /// Whether anything has changed.
    pub fn settle_changes_outside(&mut self, tick: Tick, mut note_removed: impl FnMut(PlayerId, StepEvent)) -> bool {
        let mut at = 0;
        let is_there = |entity: Entity| self.rows.removed().is_empty() || self.rows.has(entity);
        let is_new = |entity: Entity| {
            self.schema.ids().all(|component| self.versions.get(RowKey { component, entity }).is_none())
        };
        self.inserted_outside.clear();
        for RowKey { entity, .. } in self.rows.changed() {
            if is_there(*entity) {
                *self.changed_outside.get_or_insert_near(*entity, &mut at, || tick) = tick;
                self.inserted_outside.extend(is_new(*entity).then_some(*entity));
            }
        }
        self.inserted_outside.sort_unstable();
        self.inserted_outside.dedup();
        for row in self.rows.removed() {
            let entity = row.key.entity;
            if self.rows.has(entity) {
                self.changed_outside.insert(entity, tick);
            } else {
                self.changed_outside.remove(entity);
                if !self.is_for_owner(row.key) {
                    continue;
                }
                note_removed(row.owner, StepEvent { tick, entity, what: StepEventKind::Removed });
            }
        }
        let any = !(self.rows.changed().is_empty() && self.rows.removed().is_empty());
        self.settle(tick.next());
        if tick.since(self.outside_since) > EVENT_TICKS_BACK {
            self.changed_outside.retain(|_, at| tick.since(*at) <= EVENT_TICKS_BACK);
            self.outside_since = self.changed_outside.values().iter().min().copied().unwrap_or(tick);
        }
        self.forget_oldest_outside();
        any
    }

    /// What came outside of steps, and so before the newest one; ascending, each once.
    pub fn inserted_outside(&self) -> &[Entity] {
        &self.inserted_outside
    }

    fn forget_oldest_outside(&mut self) {
        let mut surplus = self.changed_outside.len().saturating_sub(CHANGED_OUTSIDE_MAX);
        while surplus > 0 {
            let oldest = self.changed_outside.values().iter().min().copied();
            self.changed_outside.retain(|_, at| {
                let is_forgotten = surplus > 0 && Some(*at) == oldest;
                surplus -= usize::from(is_forgotten);
                !is_forgotten
            });
        }
    }

    /// Marks what entities of other players have touched in the step of `tick`; ascending.
    pub fn note_contacts(&mut self, tick: Tick, touched: &[Entity]) {
        let oldest = tick.back(EVENT_TICKS_BACK).unwrap_or(Tick::ZERO);
        self.contacts.retain(|_, at| *at >= oldest);
        for entity in touched {
            self.contacts.insert(*entity, tick);
        }
        self.versions.note_touched(touched, tick.next());
    }

    /// How many ticks before the state `tick` something last happened to an entity that its owner can't foresee. A touch
    /// that a client which has the state `known` knows of is not told again.
    pub fn ages(&self, entity: Entity, tick: Tick, known: Tick) -> Ages {
        let event = self.changed_outside.get(entity).map(|at| tick.since(*at));
        let contact = self.contacts.get(entity).filter(|at| **at >= known).map(|at| tick.since(*at));
        Ages { event, contact }
    }

    /// How much it keeps of what was changed outside of steps.
    pub fn kept(&self) -> usize {
        self.changed_outside.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, SHIP};

    fn entity(nth: u16) -> Entity {
        Entity::new(PlayerId::new(1), Tick::ZERO, nth)
    }

    fn state_with(count: u16) -> AuthoritativeState {
        let mut state = AuthoritativeState::new(&test_states::schema());
        (0..count).for_each(|nth| test_states::set(&mut state.rows, test_states::key(SHIP, entity(nth)), 1));
        state
    }

    #[test]
    fn a_change_outside_of_steps_is_told_by_its_age_and_a_removal_to_the_owner() {
        let mut state = state_with(2);
        assert!(state.settle_changes_outside(Tick::new(5), |_, _| panic!("nothing was removed")));
        assert!(!state.settle_changes_outside(Tick::new(6), |_, _| panic!("nothing was removed")));
        state.rows.remove_entity(entity(1));
        let mut removed = Vec::new();
        assert!(state.settle_changes_outside(Tick::new(7), |owner, event| removed.push((owner, event.entity))));
        assert_eq!(removed, [(PlayerId::new(1), entity(1))]);
        let events = [0, 1].map(|nth| state.ages(entity(nth), Tick::new(9), Tick::ZERO).event);
        assert_eq!((events, state.kept()), ([Some(4), None], 1));
        state.settle_changes_outside(Tick::new(5 + EVENT_TICKS_BACK + 1), |_, _| {});
        assert_eq!(state.kept(), 0, "too old to be named");
    }

    #[test]
    fn each_change_outside_of_steps_is_forgotten_when_it_is_too_old_whatever_came_before_it() {
        let mut state = state_with(1);
        state.settle_changes_outside(Tick::new(5), |_, _| {});
        for (nth, tick) in [(1, 605), (2, 1500)] {
            test_states::set(&mut state.rows, test_states::key(SHIP, entity(nth)), 1);
            state.settle_changes_outside(Tick::new(tick), |_, _| {});
        }
        let mut kept_at = |tick| {
            state.settle_changes_outside(Tick::new(tick), |_, _| {});
            state.kept()
        };
        let ends = [605, 1500].map(|tick| tick + EVENT_TICKS_BACK);
        assert_eq!([ends[0], ends[0] + 1, ends[1], ends[1] + 1].map(&mut kept_at), [2, 1, 1, 0]);
    }

    #[test]
    fn of_too_many_changes_outside_of_steps_the_newest_are_named() {
        let mut state = state_with(4000);
        state.settle_changes_outside(Tick::new(1), |_, _| {});
        (3000..6000).for_each(|nth| test_states::set(&mut state.rows, test_states::key(SHIP, entity(nth)), 2));
        state.settle_changes_outside(Tick::new(2), |_, _| {});
        let named = (0..6000).filter(|nth| state.ages(entity(*nth), Tick::new(3), Tick::ZERO).event.is_some());
        assert_eq!((state.kept(), named.filter(|nth| *nth >= 3000).count()), (CHANGED_OUTSIDE_MAX, 3000));
    }

    #[test]
    fn a_contact_is_told_until_the_client_knows_it() {
        let mut state = state_with(1);
        state.settle(Tick::new(1));
        state.note_contacts(Tick::new(3), &[entity(0)]);
        let contact = |known| state.ages(entity(0), Tick::new(7), Tick::new(known)).contact;
        assert_eq!([contact(0), contact(3), contact(4)], [Some(4), Some(4), None]);
    }
}
