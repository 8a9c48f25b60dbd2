//! Where the entities of a state are; made once for all clients.

use crate::time::Tick;
use crate::world::{Audience, Meaning, Rows, Schema};
use alloc::vec::Vec;

/// Where the entities of a state are; made once for all clients.
#[derive(Default)]
pub(super) struct SpatialIndex {
    of: Option<Tick>,
    /// By the row; not a number for what is nowhere.
    all: Vec<[f64; 3]>,
}

impl SpatialIndex {
    /// Becomes those of `state`, if it is not that already.
    pub(super) fn update(&mut self, rows: &Rows, schema: &Schema, state: Tick) {
        if self.of.replace(state) == Some(state) {
            return;
        }
        self.all.clear();
        self.all.extend(rows.iter().map(|row| {
            let component = schema.component(row.component);
            let place =
                component.field(Meaning::Position, row.words).filter(|_| component.audience() != Audience::Owner);
            place.map_or([f64::NAN; 3], |(column, words)| column.lanes(words))
        }));
    }

    /// Where the entity of a row is; not a number where it is nowhere.
    #[inline]
    pub(super) fn at(&self, row: usize) -> [f64; 3] {
        self.all[row]
    }
}
