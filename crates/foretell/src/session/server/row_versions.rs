//! When each published row has last changed, and what was removed: what has to be told to whoever has an earlier state.
//!
//! Invariant: `versions` names the published rows, in their order.

use crate::session::baseline_ref::row_hash;
use crate::time::Tick;
use crate::world::{Entity, PlayerId, RemovedRow, RowKey, Rows};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How many removals are remembered, the newest: two seconds of 1000 a second.
const REMOVED_MAX: usize = 2048;

/// What is known of a published row. States count the server's steps: state *n* is there before step *n*.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowVersion {
    pub key: RowKey,
    pub owner: PlayerId,
    /// The first state that has it.
    pub created: Tick,
    /// The first state that has it as it is, or in which somebody has touched it.
    pub changed: Tick,
    pub hash: u32,
    /// Its number among those that are there: it keeps it, and after it another row gets it.
    pub slot: u32,
}

/// A row that was there from one state on, and not any more, or another player's, from another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removed {
    pub row: RemovedRow,
    pub slot: u32,
    /// The first state that had it.
    pub created: Tick,
    /// The first that has not.
    pub at: Tick,
}

/// A row with whose it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct OwnedPlace {
    owner: PlayerId,
    place: usize,
}

/// Initial capacity in rows.
const SLOTS_USUAL: usize = 64;

/// The numbers of rows. Invariant: each is of one row, or free.
struct Slots {
    /// Where the row of each number stands; of a free one anything.
    places: Vec<usize>,
    free: Vec<u32>,
}

impl Slots {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(0);
            u32::try_from(self.places.len() - 1).expect("there is memory for fewer rows")
        })
    }
}

/// Of all published rows.
pub(super) struct RowVersions {
    versions: Vec<RowVersion>,
    /// No row has changed in a later state.
    last_change: Tick,
    /// Becomes `versions`.
    following: Vec<RowVersion>,
    slots: Slots,
    /// Whose rows stand where, ascending by owner and place.
    owned: Vec<OwnedPlace>,
    /// Ascending by when they were removed.
    removed: VecDeque<Removed>,
    /// What was removed in later states than this is all remembered.
    remembered: Tick,
    /// How many removals are not.
    forgotten: u64,
}

impl RowVersions {
    pub(super) fn new() -> RowVersions {
        let removed = VecDeque::with_capacity(REMOVED_MAX);
        RowVersions {
            versions: Vec::new(),
            last_change: Tick::ZERO,
            following: Vec::new(),
            slots: Slots { places: Vec::with_capacity(SLOTS_USUAL), free: Vec::with_capacity(SLOTS_USUAL) },
            owned: Vec::new(),
            removed,
            remembered: Tick::ZERO,
            forgotten: 0,
        }
    }

    /// In the order of the rows.
    pub(super) fn versions(&self) -> &[RowVersion] {
        &self.versions
    }

    /// The last state in which a row may have changed: in later ones none has.
    pub(super) fn last_change(&self) -> Tick {
        self.last_change
    }

    /// Takes in what has changed in `rows` since the last time: they are `state` now. Whether none have come or gone.
    pub(super) fn note(&mut self, rows: &Rows, state: Tick) -> bool {
        let (mut is_same_set, mut next) = (self.versions.len() == rows.len(), 0);
        let (mut of, mut before, mut are_given) = (None, 0, false);
        if !rows.changed().is_empty() {
            self.last_change = state;
        }
        for key in rows.changed() {
            // Mostly they were changed in their order.
            let Some(row) = rows.get_near(*key, &mut next) else { continue };
            // And mostly the same rows are there as before.
            if of.replace(key.component) != Some(key.component) {
                before = rows.count_before(key.component);
            }
            let mut at = before + next - 1;
            if self.versions.get(at).is_none_or(|version| version.key != *key) {
                let Ok(found) = self.find(*key) else {
                    is_same_set = false;
                    continue;
                };
                at = found;
            }
            let version = &mut self.versions[at];
            if version.owner != row.owner {
                debug_assert!(
                    rows.has_one_owner(key.entity),
                    "an entity is one player's in all tables that it is in: `set_owner` is to be called for each of them"
                );
                // Who had it may not see it any more.
                let before = RemovedRow { key: *key, owner: version.owner };
                let RowVersion { created, slot, .. } = *version;
                self.removed.push_back(Removed { row: before, slot, created, at: state });
                are_given = true;
            }
            (version.owner, version.changed, version.hash) = (row.owner, state, row_hash(row));
        }
        if !is_same_set {
            self.follow(rows, state);
        }
        if !is_same_set || are_given {
            self.note_owned();
        }
        let surplus = self.removed.len().saturating_sub(REMOVED_MAX);
        self.forgotten += surplus as u64;
        self.remembered = self.removed.drain(..surplus).next_back().map_or(self.remembered, |removed| removed.at);
        is_same_set
    }

    /// Who was touched in the step that made `state` has to be told, though the row may be as it was.
    pub(super) fn note_touched(&mut self, touched: &[Entity], state: Tick) {
        if touched.is_empty() {
            return;
        }
        self.last_change = state;
        for version in self.versions.iter_mut().filter(|version| touched.binary_search(&version.key.entity).is_ok()) {
            version.changed = state;
        }
    }

    /// What is known of a row; `None` where there is none.
    pub(super) fn get(&self, key: RowKey) -> Option<&RowVersion> {
        self.find(key).ok().map(|at| &self.versions[at])
    }

    /// Whether any row of an entity has gone or become another's in a later state than this, or ever as far as is remembered.
    pub(super) fn has_changed_hands(&self, entity: Entity, since: Option<Tick>) -> bool {
        let is_later = |removed: &&Removed| since.is_none_or(|since| removed.at > since);
        self.removed.iter().rev().take_while(is_later).any(|removed| removed.row.key.entity == entity)
    }

    /// The places of the rows of a player, ascending.
    pub(super) fn of_owner(&self, owner: PlayerId) -> impl Iterator<Item = usize> {
        let first = self.owned.partition_point(|owned| owned.owner < owner);
        self.owned[first..].iter().take_while(move |owned| owned.owner == owner).map(|owned| owned.place)
    }

    /// Where the row with this number stands.
    pub(super) fn place(&self, slot: u32) -> usize {
        self.slots.places[slot as usize]
    }

    /// How many numbers there are.
    pub(super) fn slots(&self) -> usize {
        self.slots.places.len()
    }

    fn note_owned(&mut self) {
        self.owned.clear();
        let owned = |(place, version): (usize, &RowVersion)| OwnedPlace { owner: version.owner, place };
        self.owned.extend(self.versions.iter().enumerate().map(owned));
        self.owned.sort_unstable();
    }

    fn find(&self, key: RowKey) -> Result<usize, usize> {
        self.versions.binary_search_by_key(&key, |version| version.key)
    }

    /// Rows have come or gone.
    fn follow(&mut self, rows: &Rows, state: Tick) {
        let RowVersions { versions, following, slots, removed, .. } = self;
        following.clear();
        let mut end = |gone: &RowVersion, slots: &mut Slots| {
            let RowVersion { key, owner, created, slot, .. } = *gone;
            removed.push_back(Removed { row: RemovedRow { key, owner }, slot, created, at: state });
            slots.free.push(slot);
        };
        let mut before = versions.iter().peekable();
        for (place, row) in rows.iter().enumerate() {
            let key = row.key();
            while let Some(gone) = before.next_if(|version| version.key < key) {
                end(gone, slots);
            }
            let version = before.next_if(|version| version.key == key).copied().unwrap_or_else(|| RowVersion {
                key,
                owner: row.owner,
                created: state,
                changed: state,
                hash: row_hash(row),
                slot: slots.take(),
            });
            slots.places[version.slot as usize] = place;
            following.push(version);
        }
        before.for_each(|gone| end(gone, slots));
        core::mem::swap(versions, following);
    }

    /// The same with what has come into being since, too.
    pub(super) fn removed_after(&self, state: Tick) -> Option<impl Iterator<Item = &Removed>> {
        let first = self.removed.partition_point(|removed| removed.at <= state);
        (self.remembered <= state).then(|| self.removed.range(first..))
    }

    /// What `state` has and has been removed since, or was another player's there; `None` where not all of it is remembered.
    pub(super) fn removed_since(&self, state: Tick) -> Option<impl Iterator<Item = &Removed>> {
        let had = move |removed: &&Removed| removed.created <= state;
        Some(self.removed_after(state)?.filter(had))
    }

    /// How many removals there have been.
    pub(super) fn removals(&self) -> u64 {
        self.forgotten + self.removed.len() as u64
    }

    /// Those after the first `count`, as far as they are remembered.
    pub(super) fn removed_from(&self, count: u64) -> impl Iterator<Item = &Removed> {
        let newest = usize::try_from(self.removals() - count).unwrap_or(usize::MAX);
        self.removed.range(self.removed.len().saturating_sub(newest)..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, PURSE, SHIP};
    use crate::world::Row;

    fn entity(nth: u32) -> Entity {
        Entity::new(PlayerId::SERVER, Tick::new(nth), 0)
    }

    fn key(nth: u32) -> RowKey {
        test_states::key(SHIP, entity(nth))
    }

    fn set(rows: &mut Rows, nth: u32, word: u32) {
        test_states::set(rows, key(nth), word);
    }

    fn rows() -> Rows {
        Rows::new(&test_states::schema())
    }

    fn versions(row_versions: &RowVersions) -> Vec<(u32, u32, u32)> {
        let of = |version: &RowVersion| (version.key.entity.tick().get(), version.created.get(), version.changed.get());
        row_versions.versions().iter().map(of).collect()
    }

    fn removed(row_versions: &RowVersions, since: u32) -> Option<Vec<u32>> {
        let removed = row_versions.removed_since(Tick::new(since))?;
        Some(removed.map(|removed| removed.row.key.entity.tick().get()).collect())
    }

    #[test]
    fn the_last_change_is_of_the_last_state_in_which_a_row_was_set_or_touched() {
        let (mut rows, mut row_versions) = (rows(), RowVersions::new());
        set(&mut rows, 1, 7);
        for (state, touched) in [(10, &[][..]), (11, &[][..]), (12, &[entity(1)][..])] {
            row_versions.note(&rows, Tick::new(state));
            rows.settle();
            row_versions.note_touched(touched, Tick::new(state));
            let newest = row_versions.versions().iter().map(|version| version.changed).max();
            assert_eq!(Some(row_versions.last_change()), newest, "in state {state}");
        }
        assert_eq!(row_versions.last_change(), Tick::new(12));
    }

    #[test]
    fn each_row_has_the_state_of_its_last_change_however_the_world_publishes() {
        let (mut rows, mut row_versions) = (rows(), RowVersions::new());
        [5, 1, 3].into_iter().for_each(|nth| set(&mut rows, nth, 7));
        row_versions.note(&rows, Tick::new(10));
        rows.settle();
        set(&mut rows, 3, 8);
        set(&mut rows, 1, 7);
        row_versions.note(&rows, Tick::new(11));
        assert_eq!(versions(&row_versions), [(1, 10, 10), (3, 10, 11), (5, 10, 10)]);
        // One goes and another comes.
        rows.settle();
        rows.remove(key(1));
        set(&mut rows, 4, 7);
        row_versions.note(&rows, Tick::new(12));
        row_versions.note_touched(&[entity(2), entity(5)], Tick::new(12));
        assert_eq!(versions(&row_versions), [(3, 10, 11), (4, 12, 12), (5, 10, 12)]);
        assert_eq!((removed(&row_versions, 11), removed(&row_versions, 12)), (Some(vec![1]), Some(vec![])));
        // A world that writes everything anew.
        rows.clear();
        [3, 5].into_iter().for_each(|nth| set(&mut rows, nth, 8));
        row_versions.note(&rows, Tick::new(13));
        assert_eq!(versions(&row_versions), [(3, 10, 13), (5, 10, 13)]);
        assert_eq!(removed(&row_versions, 11), Some(vec![1]), "the other is newer");
        assert_eq!(removed(&row_versions, 12), Some(vec![4]));
    }

    #[test]
    fn of_very_many_removals_the_newest_are_remembered_and_it_is_known_from_when_on() {
        let (mut rows, mut row_versions) = (rows(), RowVersions::new());
        for state in 1..=3000 {
            rows.remove(key(state - 1));
            set(&mut rows, state, 1);
            row_versions.note(&rows, Tick::new(state));
            rows.settle();
        }
        let oldest = 3000 - u32::try_from(REMOVED_MAX).expect("small");
        assert_eq!(removed(&row_versions, oldest - 1), None);
        assert_eq!(removed(&row_versions, oldest), Some(vec![oldest]), "there was one at a time");
    }

    #[test]
    fn an_entity_is_one_players_where_all_its_rows_are() {
        let mut rows = rows();
        set(&mut rows, 1, 7);
        let purse = |owner| Row { component: PURSE, entity: entity(1), owner, words: &[1] };
        rows.set_words(purse(PlayerId::SERVER));
        assert!(rows.has_one_owner(entity(1)) && rows.has_one_owner(entity(2)));
        rows.set_words(purse(PlayerId::new(3)));
        assert!(!rows.has_one_owner(entity(1)));
    }
}
