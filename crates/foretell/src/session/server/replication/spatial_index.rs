//! Where the entities of a state are; made once for all clients.

use crate::time::Tick;
use crate::world::{Audience, ComponentId, Meaning, PlayerId, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// Whether entities with this component are in view by where they are.
pub(super) fn is_placed(schema: &Schema, component: ComponentId) -> bool {
    let component = schema.component(component);
    component.audience() == Audience::All && component.nth(Meaning::Position, 0).is_some()
}

/// An entity that is somewhere, and its row.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedRow {
    pub row: usize,
    pub key: RowKey,
    pub owner: PlayerId,
    pub at: [f64; 3],
}

/// A row of an entity that is nowhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct OtherRow {
    pub row: usize,
    /// Who alone sees it.
    pub alone: Option<PlayerId>,
}

/// Where the entities of a state are; made once for all clients.
#[derive(Default)]
pub(super) struct SpatialIndex {
    of: Option<Tick>,
    /// Ascending by key.
    all: Vec<PlacedRow>,
    /// Ascending by row.
    rest: Vec<OtherRow>,
}

impl SpatialIndex {
    /// Becomes those of `state`, if it is not that already.
    pub(super) fn update(&mut self, rows: &Rows, schema: &Schema, state: Tick) {
        if self.of.replace(state) == Some(state) {
            return;
        }
        self.all.clear();
        self.rest.clear();
        for (at, row) in rows.iter().enumerate() {
            let component = schema.component(row.component);
            let is_for_all = component.audience() == Audience::All;
            let (key, owner) = (row.key(), row.owner);
            match component.field(Meaning::Position, row.words).filter(|_| is_for_all) {
                Some((column, words)) => self.all.push(PlacedRow { row: at, key, owner, at: column.lanes(words) }),
                None => self.rest.push(OtherRow { row: at, alone: (!is_for_all).then_some(owner) }),
            }
        }
    }

    /// All that are somewhere, ascending by key.
    pub(super) fn all(&self) -> &[PlacedRow] {
        &self.all
    }

    /// The rows of everything else, ascending.
    pub(super) fn rest(&self) -> &[OtherRow] {
        &self.rest
    }

    /// Which of them an entity is, that was `before`.
    pub(super) fn find(&self, key: RowKey, before: usize) -> Option<usize> {
        if self.all.get(before).is_some_and(|place| place.key == key) {
            return Some(before);
        }
        self.all.binary_search_by_key(&key, |place| place.key).ok()
    }
}
