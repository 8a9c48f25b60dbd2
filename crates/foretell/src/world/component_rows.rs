//! The rows of one component.

use super::schema::TypeOfState;
use super::{Audience, ComponentId, Entity, Owned, PlayerId, Row, RowKey, Schema};
use alloc::vec::Vec;

/// The rows of one component. Invariant: `entities` is ascending, each once; `owners` is as long, and `data` has `words` for each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ComponentRows {
    /// How many words a row has.
    pub words: usize,
    /// The type whose component it is.
    pub of: Option<TypeOfState>,
    pub audience: Audience,
    pub entities: Vec<Entity>,
    pub owners: Vec<PlayerId>,
    pub data: Vec<u32>,
}

impl Clone for ComponentRows {
    fn clone(&self) -> ComponentRows {
        let ComponentRows { words, of, audience, entities, owners, data } = self;
        let (entities, owners, data) = (entities.clone(), owners.clone(), data.clone());
        ComponentRows { words: *words, of: *of, audience: *audience, entities, owners, data }
    }

    fn clone_from(&mut self, from: &ComponentRows) {
        (self.words, self.of, self.audience) = (from.words, from.of, from.audience);
        self.entities.clone_from(&from.entities);
        self.owners.clone_from(&from.owners);
        self.data.clone_from(&from.data);
    }
}

impl ComponentRows {
    /// None yet, of this component of the schema.
    pub fn new(id: ComponentId, schema: &Schema) -> ComponentRows {
        let component = &schema.components()[usize::from(id.0)];
        let (words, of, audience) = (component.words(), schema.type_of(id), component.audience());
        ComponentRows { words, of, audience, entities: Vec::new(), owners: Vec::new(), data: Vec::new() }
    }

    pub fn row(&self, index: usize) -> &[u32] {
        &self.data[index * self.words..(index + 1) * self.words]
    }

    pub fn row_mut(&mut self, index: usize) -> &mut [u32] {
        &mut self.data[index * self.words..(index + 1) * self.words]
    }

    pub fn find(&self, entity: Entity) -> Result<usize, usize> {
        match self.entities.last() {
            Some(last) if *last < entity => Err(self.entities.len()),
            None => Err(0),
            Some(_) => self.entities.binary_search(&entity),
        }
    }

    /// Where the row of an entity is, or would be: mostly at `next`, where it is looked for first.
    pub fn find_from(&self, next: usize, entity: Entity) -> Result<usize, usize> {
        if self.entities.get(next) == Some(&entity) { Ok(next) } else { self.find(entity) }
    }

    /// The row at `index`, of the component that this table is of.
    pub fn at(&self, component: usize, index: usize) -> Row<'_> {
        let component = ComponentId::nth(component);
        Row { component, entity: self.entities[index], owner: self.owners[index], words: self.row(index) }
    }

    pub fn insert(&mut self, index: usize, Owned { entity, owner }: Owned) {
        self.entities.insert(index, entity);
        self.owners.insert(index, owner);
        let at = index * self.words;
        self.data.splice(at..at, core::iter::repeat_n(0, self.words));
    }

    pub fn remove(&mut self, index: usize) {
        self.entities.remove(index);
        self.owners.remove(index);
        self.data.drain(index * self.words..(index + 1) * self.words);
    }

    pub fn clear(&mut self) {
        self.entities.clear();
        self.owners.clear();
        self.data.clear();
    }

    /// Keeps the rows that `keep` names, and names the others to `gone`.
    pub fn retain(&mut self, mut keep: impl FnMut(Owned) -> bool, mut gone: impl FnMut(Owned)) {
        let mut kept = 0;
        for index in 0..self.entities.len() {
            let of = Owned { entity: self.entities[index], owner: self.owners[index] };
            if !keep(of) {
                gone(of);
                continue;
            }
            if kept < index {
                self.entities[kept] = of.entity;
                self.owners[kept] = of.owner;
                self.data.copy_within(index * self.words..(index + 1) * self.words, kept * self.words);
            }
            kept += 1;
        }
        self.entities.truncate(kept);
        self.owners.truncate(kept);
        self.data.truncate(kept * self.words);
    }

    pub fn push(&mut self, row: Row<'_>) {
        self.entities.push(row.entity);
        self.owners.push(row.owner);
        self.data.extend_from_slice(row.words);
    }

    /// Becomes `before` without what is `gone`, and with the rows of `now` in the place of its own.
    pub fn merge(&mut self, component: usize, before: &ComponentRows, gone: &[RowKey], now: &ComponentRows) {
        self.clear();
        let mut new = 0;
        for (index, entity) in before.entities.iter().enumerate() {
            while now.entities.get(new).is_some_and(|next| next < entity) {
                self.push(now.at(component, new));
                new += 1;
            }
            let is_told = now.entities.get(new) == Some(entity);
            let row = before.at(component, index);
            if !is_told && (gone.is_empty() || gone.binary_search(&row.key()).is_err()) {
                self.push(row);
            }
        }
        (new..now.entities.len()).for_each(|index| self.push(now.at(component, index)));
    }
}
