//! Entities that have changed hands of late, by the authority's states.
//!
//! What is shown of others is older than what is predicted, and what is remembered is older than both: of an entity that has
//! changed hands they say another owner. Until they do not any more, it is had as the others of its new owner by its name.

use crate::time::Tick;
use crate::world::{Entity, EntityMap, Owned, PlayerId, Rows, Schema};
use alloc::vec::Vec;

/// Whose entities are, and which were somebody else's. Lives as long as the session.
#[derive(Debug)]
pub(crate) struct OwnershipChanges {
    /// By the last state that was compared, and for what it does not tell by what was known then.
    owners: EntityMap<PlayerId>,
    /// The same of the state before; only its memory counts.
    before: EntityMap<PlayerId>,
    /// That state, and what was known.
    rows: Rows,
    known: Rows,
    /// Those that were another's in the state before, ascending.
    new: Vec<Entity>,
    /// Those that may be another's still in what is shown or remembered.
    handed: Vec<Handed>,
}

/// An entity that has changed hands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Handed {
    /// As whose it is now.
    pub of: Owned,
    /// The state that was the present one when that was known: those before it may say another owner.
    pub noted: Tick,
}

impl OwnershipChanges {
    pub(crate) fn new(schema: &Schema) -> OwnershipChanges {
        OwnershipChanges {
            owners: EntityMap::new(),
            before: EntityMap::new(),
            rows: Rows::new(schema),
            known: Rows::new(schema),
            new: Vec::new(),
            handed: Vec::new(),
        }
    }

    /// Takes in the state that is to be compared, when that of `present` is the newest of the player's; `known` is what is known of
    /// others that it does not have.
    pub(crate) fn note(&mut self, rows: &Rows, known: &Rows, player: PlayerId, present: Tick) {
        self.new.clear();
        if rows.has_same_keys(&self.rows) && known.has_same_keys(&self.known) {
            return;
        }
        let OwnershipChanges { owners, before, new, handed, .. } = self;
        core::mem::swap(owners, before);
        owners.clear();
        let mut next = 0;
        // What is never predicted is in no such state, whosever it is.
        let others = known.iter().filter(|row| row.owner != player || known.is_never_predicted(row.component));
        for Owned { entity, owner } in rows.iter().chain(others).map(|row| row.owned()) {
            owners.get_or_insert_near(entity, &mut next, || owner);
        }
        let mut next = 0;
        for (entity, owner) in owners.iter().map(|(entity, owner)| (entity, *owner)) {
            if before.find_near(entity, &mut next).is_some_and(|before| *before != owner) {
                new.push(entity);
                handed.retain(|handed| handed.of.entity != entity);
                handed.push(Handed { of: Owned { entity, owner }, noted: present });
            }
        }
        self.rows.copy_rows(rows);
        self.known.copy_rows(known);
    }

    /// The entities that have changed hands with the state that was noted last, ascending.
    pub(crate) fn just_handed(&self) -> &[Entity] {
        &self.new
    }

    /// Whether nothing has changed hands of late.
    pub(crate) fn is_empty(&self) -> bool {
        self.handed.is_empty()
    }

    /// What has changed hands of late.
    pub(crate) fn handed(&self) -> impl Iterator<Item = Owned> {
        self.handed.iter().map(|handed| handed.of)
    }

    /// Forgets what is gone, and what is nowhere another's any more.
    pub(crate) fn forget(&mut self, is_others: impl Fn(Handed) -> bool) {
        let OwnershipChanges { owners, handed, .. } = self;
        handed.retain(|handed| owners.get(handed.of.entity) == Some(&handed.of.owner) && is_others(*handed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, SHIP};
    use crate::world::Row;

    #[test]
    fn what_changes_hands_is_noted_once_and_remembered_until_it_is_nowhere_another_s() {
        let [a, b] = [1, 2].map(PlayerId::new);
        let entity = Entity::new(a, Tick::ZERO, 0);
        let mut rows = Rows::new(&test_states::schema());
        let set = |rows: &mut Rows, owner| rows.set_words(Row { component: SHIP, entity, owner, words: &[0] });
        let mut owners = OwnershipChanges::new(&test_states::schema());
        for (owner, is_new) in [(a, false), (a, false), (b, true), (b, false)] {
            set(&mut rows, owner);
            owners.note(&rows, &rows, a, Tick::ZERO);
            assert_eq!(!owners.just_handed().is_empty(), is_new);
        }
        assert!(owners.handed().eq([Owned { entity, owner: b }]));
        owners.forget(|_| true);
        assert!(!owners.is_empty());
        owners.forget(|_| false);
        assert!(owners.is_empty());
        set(&mut rows, a);
        owners.note(&rows, &rows, a, Tick::ZERO);
        rows.remove_entity(entity);
        owners.note(&rows, &rows, a, Tick::ZERO);
        owners.forget(|_| true);
        assert!(owners.is_empty(), "it is gone");
    }

    #[test]
    fn what_goes_from_one_of_the_others_to_another_is_noted_by_what_is_known_of_them() {
        let [me, a, b] = [1, 2, 3].map(PlayerId::new);
        let [own, others] = [0, 1].map(|nth| Entity::new(a, Tick::ZERO, nth));
        let rows_of = |list: &[(Entity, PlayerId)]| {
            let mut rows = Rows::new(&test_states::schema());
            for (entity, owner) in list {
                rows.set_words(Row { component: SHIP, entity: *entity, owner: *owner, words: &[0] });
            }
            rows
        };
        let mut owners = OwnershipChanges::new(&test_states::schema());
        let mut note = |known: &[(Entity, PlayerId)], state: &[(Entity, PlayerId)]| {
            owners.note(&rows_of(state), &rows_of(known), me, Tick::ZERO);
            owners.just_handed().to_vec()
        };
        assert_eq!(note(&[(own, me), (others, a)], &[(own, me)]), []);
        assert_eq!(note(&[(own, me), (others, b)], &[(own, me)]), [others]);
        assert_eq!(note(&[(own, me), (others, b)], &[(own, me)]), []);
        // What is the player's own is so by the state alone, which is older than what is known.
        assert_eq!(note(&[(own, me), (others, me)], &[(own, me)]), []);
        assert_eq!(note(&[(own, a), (others, a)], &[(own, me), (others, a)]), []);
        assert_eq!(note(&[(own, me), (others, me)], &[(own, me), (others, me)]), [others]);
    }
}
