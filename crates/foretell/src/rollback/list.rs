//! Lists and maps of entities with their states, which most worlds consist of: between them and rows.

use super::{Entity, Rows, State};
use std::collections::BTreeMap;

/// An entity with its state, as [`Rows::publish_all`] takes it: what one gets from a `Vec<(Entity, S)>` or a
/// `BTreeMap<Entity, S>` by reference, or from any iterator of `(Entity, S)`.
pub trait Publish {
    /// Sets its row, and says whose it was.
    ///
    /// # Panics
    /// As [`Rows::set`] does.
    fn publish(self, rows: &mut Rows) -> Entity;
}

impl<S: State> Publish for (&Entity, &S) {
    fn publish(self, rows: &mut Rows) -> Entity {
        rows.set(*self.0, self.1);
        *self.0
    }
}

impl<S: State> Publish for &(Entity, S) {
    fn publish(self, rows: &mut Rows) -> Entity {
        (&self.0, &self.1).publish(rows)
    }
}

impl<S: State> Publish for (Entity, S) {
    fn publish(self, rows: &mut Rows) -> Entity {
        (&self.0, &self.1).publish(rows)
    }
}

/// A collection of entities with their states, for [`Rows::adopt_into`].
pub trait Adopt {
    /// Removes the entities that the rows name as removed, then overwrites or creates those that have a row; all others
    /// stay.
    ///
    /// # Panics
    /// When its type of state lacks the kind of an entity.
    fn adopt(&mut self, rows: &Rows);
}

/// Allocates only where an entity is new.
impl<S: State> Adopt for BTreeMap<Entity, S> {
    fn adopt(&mut self, rows: &Rows) {
        for entity in rows.removed() {
            self.remove(entity);
        }
        self.extend(rows.states());
    }
}

/// The list is ascending afterwards. Allocates only to grow.
impl<S: State> Adopt for Vec<(Entity, S)> {
    fn adopt(&mut self, rows: &Rows) {
        if !self.is_sorted_by_key(|(entity, _)| *entity) {
            self.sort_unstable_by_key(|(entity, _)| *entity);
        }
        let find = |list: &Vec<(Entity, S)>, entity| list.binary_search_by_key(&entity, |(known, _)| *known);
        for entity in rows.removed() {
            if let Ok(index) = find(self, *entity) {
                self.remove(index);
            }
        }
        for (entity, state) in rows.states() {
            match find(self, entity) {
                Ok(index) => self[index].1 = state,
                Err(index) => self.insert(index, (entity, state)),
            }
        }
    }
}
