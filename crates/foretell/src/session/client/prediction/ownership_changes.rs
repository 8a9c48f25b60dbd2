//! Entities that have changed hands of late, by the authority's states.
//!
//! What is shown of others is older than what is predicted, and what is remembered is older than both: of an entity that has
//! changed hands they say another owner. Until they do not any more, it is had as the others of its new owner by its name.

use crate::world::{Entity, Owned, Rows, Schema};
use alloc::vec::Vec;

/// Whose entities are, and which were somebody else's. Lives as long as the session.
#[derive(Clone, Debug)]
pub(crate) struct OwnershipChanges {
    /// The last state that was compared.
    known: Rows,
    /// Those that were another's in the state before, ascending.
    new: Vec<Entity>,
    /// Those that may be another's still in what is shown or remembered.
    handed: Vec<Owned>,
}

impl OwnershipChanges {
    pub(crate) fn new(schema: &Schema) -> OwnershipChanges {
        OwnershipChanges { known: Rows::new(schema), new: Vec::new(), handed: Vec::new() }
    }

    /// Takes in the state that is to be compared.
    pub(crate) fn note(&mut self, rows: &Rows) {
        self.new.clear();
        if rows.has_same_keys(&self.known) {
            return;
        }
        for of in rows.iter().map(|row| row.owned()) {
            if self.known.owner(of.entity).is_some_and(|before| before != of.owner) && !self.new.contains(&of.entity) {
                self.new.push(of.entity);
                self.handed.retain(|handed| handed.entity != of.entity);
                self.handed.push(of);
            }
        }
        self.new.sort_unstable();
        self.known.copy_rows(rows);
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
    pub(crate) fn handed(&self) -> &[Owned] {
        &self.handed
    }

    /// Forgets what is gone, and what is nowhere another's any more.
    pub(crate) fn forget(&mut self, is_others: impl Fn(Owned) -> bool) {
        let OwnershipChanges { known, handed, .. } = self;
        handed.retain(|of| known.owner(of.entity) == Some(of.owner) && is_others(*of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, SHIP};
    use crate::time::Tick;
    use crate::world::{PlayerId, Row};

    #[test]
    fn what_changes_hands_is_noted_once_and_remembered_until_it_is_nowhere_another_s() {
        let [a, b] = [1, 2].map(PlayerId::new);
        let entity = Entity::new(a, Tick::ZERO, 0);
        let mut rows = Rows::new(&test_states::schema());
        let set = |rows: &mut Rows, owner| rows.set_words(Row { component: SHIP, entity, owner, words: &[0] });
        let mut owners = OwnershipChanges::new(&test_states::schema());
        for (owner, is_new) in [(a, false), (a, false), (b, true), (b, false)] {
            set(&mut rows, owner);
            owners.note(&rows);
            assert_eq!(!owners.just_handed().is_empty(), is_new);
        }
        assert_eq!(owners.handed(), [Owned { entity, owner: b }]);
        owners.forget(|_| true);
        assert!(!owners.is_empty());
        owners.forget(|_| false);
        assert!(owners.is_empty());
        set(&mut rows, a);
        owners.note(&rows);
        rows.remove_entity(entity);
        owners.note(&rows);
        owners.forget(|_| true);
        assert!(owners.is_empty(), "it is gone");
    }
}
