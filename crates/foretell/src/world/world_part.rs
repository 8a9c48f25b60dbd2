//! What a derived world does with each of its tables: save, load, publish and adopt.

use super::{ComponentId, Entity, PlayerId, ROW_WORDS_MAX, Row, RowKey, Rows, Schema, State, Table};
use alloc::vec::Vec;

/// What a world consists of, one of its fields: [tables](Table).
#[diagnostic::on_unimplemented(
    message = "a field of a world is a `Table`, and `{Self}` is none",
    note = "write #[world(saved)] on a field that is saved and not sent, #[world(constant)] on one that never changes"
)]
pub trait WorldPart {
    /// What is saved of it.
    type Saved: Default;
    /// The schema with what it holds.
    fn schema(schema: Schema) -> Schema;
    /// As [`World::save`](super::World::save).
    fn save(&self, into: &mut Self::Saved);
    /// As [`World::load`](super::World::load).
    fn load(&mut self, from: &Self::Saved);
    /// As [`World::take`](super::World::take).
    fn take(&mut self, from: &mut Self::Saved);
    /// As [`World::publish`](super::World::publish).
    fn publish(&mut self, rows: &mut Rows);
    /// As [`World::adopt`](super::World::adopt).
    fn adopt(&mut self, rows: &Rows);
}

/// What is saved of a table: all but its marks, as a state is saved when it has been published.
#[derive(Clone, Debug)]
pub struct SavedTable<S> {
    entities: Vec<Entity>,
    owners: Vec<PlayerId>,
    states: Vec<S>,
}

impl<S> Default for SavedTable<S> {
    fn default() -> SavedTable<S> {
        SavedTable { entities: Vec::new(), owners: Vec::new(), states: Vec::new() }
    }
}

impl<S: State + Clone> WorldPart for Table<S> {
    type Saved = SavedTable<S>;

    fn schema(schema: Schema) -> Schema {
        schema.with::<S>()
    }

    fn save(&self, into: &mut SavedTable<S>) {
        into.entities.clone_from(&self.entities);
        into.owners.clone_from(&self.owners);
        into.states.clone_from(&self.states);
    }

    fn load(&mut self, from: &SavedTable<S>) {
        self.entities.clone_from(&from.entities);
        self.owners.clone_from(&from.owners);
        self.states.clone_from(&from.states);
        self.forget_marks();
    }

    fn take(&mut self, from: &mut SavedTable<S>) {
        core::mem::swap(&mut self.entities, &mut from.entities);
        core::mem::swap(&mut self.owners, &mut from.owners);
        core::mem::swap(&mut self.states, &mut from.states);
        self.forget_marks();
    }

    fn publish(&mut self, rows: &mut Rows) {
        let first = rows.first_of::<S>();
        for entity in self.removed.drain(..) {
            if self.entities.binary_search(&entity).is_err() {
                components::<S>(first).for_each(|component| rows.remove(RowKey { component, entity }));
            }
        }
        for at in 0..self.marks.len() {
            if core::mem::take(&mut self.marks[at]) {
                rows.set_from(first, self.at(at).of, &self.states[at]);
            }
        }
        if rows.count_of::<S>(first) != self.len() {
            self.publish_all(first, rows);
        }
    }

    fn adopt(&mut self, rows: &Rows) {
        let first = rows.first_of::<S>();
        for row in rows.removed() {
            self.adopt_removal(first, row.key, rows);
        }
        for (nth, component) in components::<S>(first).enumerate() {
            let mut next = 0;
            for row in rows.component(component) {
                next = self.adopt_row(nth, row, next) + 1;
            }
        }
    }
}

/// The components of a type of state, of which the first is known.
fn components<S: State>(first: usize) -> impl Iterator<Item = ComponentId> {
    (first..first + S::COMPONENTS).map(ComponentId::nth)
}

impl<S: State> Table<S> {
    /// Nothing has changed since it was published.
    fn forget_marks(&mut self) {
        self.marks.clear();
        self.marks.resize(self.entities.len(), false);
        self.removed.clear();
    }

    /// Sets the rows of everything, and removes the others.
    fn publish_all(&self, first: usize, rows: &mut Rows) {
        for (at, state) in self.states.iter().enumerate() {
            rows.set_from(first, self.at(at).of, state);
        }
        if rows.count_of::<S>(first) != self.len() {
            let is_of = |key: RowKey| (first..first + S::COMPONENTS).contains(&usize::from(key.component.0));
            rows.retain(|key, _| !is_of(key) || self.entities.binary_search(&key.entity).is_ok());
        }
    }

    /// Takes out an entity of which the row is gone that made it one of this table.
    fn adopt_removal(&mut self, first: usize, key: RowKey, rows: &Rows) {
        let nth = usize::from(key.component.0).checked_sub(first).filter(|nth| *nth < S::COMPONENTS);
        let (Some(nth), Ok(at)) = (nth, self.entities.binary_search(&key.entity)) else { return };
        let is_needed = if S::IS_CHOICE { self.states[at].write(nth, &mut [0; ROW_WORDS_MAX]) } else { nth == 0 };
        if is_needed && rows.words(key).is_none() {
            self.remove(key.entity);
        }
    }

    /// Takes over one row; where its entity is.
    fn adopt_row(&mut self, nth: usize, row: Row<'_>, next: usize) -> usize {
        let found = self.find_from(next, row.entity);
        match found {
            Ok(at) => {
                let mut own = [0; ROW_WORDS_MAX];
                let is_same = self.owners[at] == row.owner
                    && self.states[at].write(nth, &mut own)
                    && own[..row.words.len()] == *row.words;
                if !is_same {
                    self.states[at].adopt(nth, row.words);
                    (self.owners[at], self.marks[at]) = (row.owner, true);
                }
            }
            Err(_) => {
                if let Some(state) = S::read(nth, row.words) {
                    self.insert(row.owned(), state);
                }
            }
        }
        let (Ok(at) | Err(at)) = found;
        at
    }
}
