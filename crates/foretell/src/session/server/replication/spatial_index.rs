//! Where the entities of a state are; made once for all clients.

use crate::time::Tick;
use crate::world::{Audience, Meaning, Rows, Schema};
use alloc::vec::Vec;

/// An entity that is somewhere, and its row.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedRow {
    pub row: usize,
    pub at: [f64; 3],
}

/// Where the entities of a state are; made once for all clients.
#[derive(Default)]
pub(super) struct SpatialIndex {
    of: Option<Tick>,
    /// Ascending by row.
    all: Vec<PlacedRow>,
}

impl SpatialIndex {
    /// Becomes those of `state`, if it is not that already.
    pub(super) fn update(&mut self, rows: &Rows, schema: &Schema, state: Tick) {
        if self.of.replace(state) == Some(state) {
            return;
        }
        self.all.clear();
        for (at, row) in rows.iter().enumerate() {
            let component = schema.component(row.component);
            let place =
                component.field(Meaning::Position, row.words).filter(|_| component.audience() != Audience::Owner);
            if let Some((column, words)) = place {
                self.all.push(PlacedRow { row: at, at: column.lanes(words) });
            }
        }
    }

    /// Where the entity of a row is; `None` where it is nowhere.
    pub(super) fn at(&self, row: usize) -> Option<[f64; 3]> {
        self.all.binary_search_by_key(&row, |placed| placed.row).ok().map(|nth| self.all[nth].at)
    }
}
