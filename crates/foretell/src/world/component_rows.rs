//! The rows of one component.

use super::schema::TypeOfState;
use super::{ComponentId, Entity, Owned, PlayerId, Row, RowKey, RowPrediction, Schema};
use alloc::vec::Vec;
use core::ops::{BitOr, BitXor};

/// Initial capacity in rows: those of one player.
pub(super) const ROWS_USUAL: usize = 8;

/// How many rows after the last one are looked at before all of them are searched.
const NEAR: usize = 4;

/// Of how many rows at once it is looked at whose they are, or whether they are the same: a few instructions on most processors.
const CHUNK: usize = 16;

/// The rows of one component. Invariant: `entities` is ascending, each once; `owners` is as long, and `data` has `words` for each.
#[derive(Debug)]
pub(super) struct ComponentRows {
    /// How many words a row has.
    pub words: usize,
    /// The type whose component it is.
    pub of: Option<TypeOfState>,
    pub prediction: RowPrediction,
    pub entities: Vec<Entity>,
    pub owners: Vec<PlayerId>,
    pub data: Vec<u32>,
    /// Where the row mostly is that is set next.
    next: usize,
}

impl PartialEq for ComponentRows {
    fn eq(&self, other: &ComponentRows) -> bool {
        self.words == other.words && self.has_same_keys(other) && self.data == other.data
    }
}

impl Eq for ComponentRows {}

impl Clone for ComponentRows {
    fn clone(&self) -> ComponentRows {
        let ComponentRows { words, of, prediction, entities, owners, data, next } = self;
        let (entities, owners, data) = (entities.clone(), owners.clone(), data.clone());
        ComponentRows { words: *words, of: *of, prediction: *prediction, entities, owners, data, next: *next }
    }

    fn clone_from(&mut self, from: &ComponentRows) {
        (self.words, self.of, self.prediction) = (from.words, from.of, from.prediction);
        self.entities.clone_from(&from.entities);
        self.owners.clone_from(&from.owners);
        self.data.clone_from(&from.data);
    }
}

impl ComponentRows {
    /// None yet, of this component of the schema.
    pub fn new(id: ComponentId, schema: &Schema) -> ComponentRows {
        let component = &schema.components()[usize::from(id.0)];
        let (words, of, prediction) = (component.words(), schema.type_of(id), component.prediction());
        let (entities, owners) = (Vec::with_capacity(ROWS_USUAL), Vec::with_capacity(ROWS_USUAL));
        let data = Vec::with_capacity(ROWS_USUAL * words);
        ComponentRows { words, of, prediction, entities, owners, data, next: 0 }
    }

    #[inline]
    pub fn row(&self, index: usize) -> &[u32] {
        &self.data[index * self.words..(index + 1) * self.words]
    }

    pub fn row_mut(&mut self, index: usize) -> &mut [u32] {
        &mut self.data[index * self.words..(index + 1) * self.words]
    }

    #[inline(never)]
    pub fn find(&self, entity: Entity) -> Result<usize, usize> {
        match self.entities.last() {
            Some(last) if *last < entity => Err(self.entities.len()),
            None => Err(0),
            Some(_) => self.entities.binary_search(&entity),
        }
    }

    /// Sets a row, creating it where there is none. Whether that changes anything. Best called for one after another,
    /// ascending.
    pub fn set(&mut self, row: Row<'_>) -> bool {
        let found = self.find_from(self.next, row.entity);
        let (Ok(index) | Err(index)) = found;
        self.next = index + 1;
        match found {
            Ok(index) if self.owners[index] == row.owner && are_words(self.row(index), row.words) => return false,
            Ok(_) => {}
            Err(index) if index == self.entities.len() => {
                assert_eq!(row.words.len(), self.words, "the words of a row are those of its component");
                self.push(row);
                return true;
            }
            Err(index) => self.insert(index, row.owned()),
        }
        self.row_mut(index).copy_from_slice(row.words);
        self.owners[index] = row.owner;
        true
    }

    /// Takes over the rows of another, whatever those that are there were.
    pub fn adopt(&mut self, from: &ComponentRows) {
        let mut next = 0;
        for (nth, (entity, owner)) in from.entities.iter().zip(&from.owners).enumerate() {
            let found = self.find_from(next, *entity);
            let (Ok(index) | Err(index)) = found;
            if found.is_err() {
                self.insert(index, Owned { entity: *entity, owner: *owner });
            }
            self.owners[index] = *owner;
            self.row_mut(index).copy_from_slice(from.row(nth));
            next = index + 1;
        }
    }

    /// Where the row of an entity is, or would be: mostly at `next` or soon after, where it is looked for first.
    #[inline]
    pub fn find_from(&self, next: usize, entity: Entity) -> Result<usize, usize> {
        let near = self.entities.get(next..).unwrap_or_default().iter().take(NEAR);
        match near.zip(next..).find(|(there, _)| **there >= entity) {
            Some((there, index)) if *there == entity => Ok(index),
            _ => self.find(entity),
        }
    }

    /// The owners of the rows, a few of them at once, and at which index these begin.
    pub fn owners_in_chunks(&self) -> impl Iterator<Item = (usize, &[PlayerId])> {
        (0..).step_by(CHUNK).zip(self.owners.chunks(CHUNK))
    }

    /// The entities of this player's, ascending.
    pub fn entities_of(&self, player: PlayerId) -> impl Iterator<Item = Entity> {
        let is_any = move |owners: &[PlayerId]| owners.iter().fold(false, |found, owner| found | (*owner == player));
        let chunks = self.owners_in_chunks().filter(move |(_, owners)| is_any(owners));
        let indices = chunks.flat_map(|(first, owners)| first..first + owners.len());
        indices.filter(move |index| self.owners[*index] == player).map(|index| self.entities[index])
    }

    /// The row at `index`, of the component that this table is of.
    #[inline]
    pub fn at(&self, component: usize, index: usize) -> Row<'_> {
        let component = ComponentId::nth(component);
        Row { component, entity: self.entities[index], owner: self.owners[index], words: self.row(index) }
    }

    /// Whether both have rows of the same entities.
    pub fn has_same_entities(&self, other: &ComponentRows) -> bool {
        are_same(&self.entities, &other.entities, Entity::bits)
    }

    /// Whether both have rows of the same entities and owners.
    pub fn has_same_keys(&self, other: &ComponentRows) -> bool {
        self.has_same_entities(other) && are_same(&self.owners, &other.owners, PlayerId::get)
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

/// Whether both are the same: word by word, as the ones were mostly written just now, and a processor that reads several of them at once
/// would wait until they are in its memory.
fn are_words(one: &[u32], other: &[u32]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
}

/// Whether both are the same. Looks at several at once: mostly they are.
fn are_same<T: Copy, B: BitXor<Output = B> + BitOr<Output = B> + Default + PartialEq>(
    one: &[T],
    other: &[T],
    bits: impl Fn(T) -> B,
) -> bool {
    let differ = |(one, other): (&[T], &[T])| {
        one.iter().zip(other).fold(B::default(), |found, (one, other)| found | (bits(*one) ^ bits(*other)))
            != B::default()
    };
    one.len() == other.len() && !one.chunks(CHUNK).zip(other.chunks(CHUNK)).any(differ)
}
