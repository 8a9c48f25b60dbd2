//! The past as a step may look at it: the rows of others as they were at a point.

use super::{ComponentId, Owned, ROW_WORDS_MAX, RewindMoment, Row, RowKey, Rows, Schema};

/// Room for any row.
pub(crate) type AnyRow = [u32; ROW_WORDS_MAX];

/// Rows by number, as they were at a point. Invariant: the numbers of a component's rows are below its `count`, and stay as they are
/// while a step runs.
pub(crate) trait RewindSource {
    /// What the rows are made of.
    fn schema(&self) -> &Schema;

    /// How many rows of a component there may be.
    fn count(&self, component: ComponentId) -> usize;

    /// The number of a row; `None` where nothing is known of it.
    fn find(&self, key: RowKey) -> Option<usize>;

    /// Writes a row as it was to the player of a moment then; `None` where it was not there.
    fn draw(&self, component: ComponentId, nth: usize, by: &RewindMoment, into: &mut AnyRow) -> Option<Owned>;

    /// How far from there that player may have been shown it, in metres.
    fn error_m(&self, _key: RowKey, _by: &RewindMoment) -> f64 {
        0.0
    }
}

/// One state that stands for the past, whatever the point: for a world that is stepped without a server.
#[derive(Clone, Copy, Debug)]
pub struct PastState<'a> {
    rows: &'a Rows,
    schema: &'a Schema,
}

impl<'a> PastState<'a> {
    /// Of these rows, which are of this schema.
    pub fn new(rows: &'a Rows, schema: &'a Schema) -> PastState<'a> {
        PastState { rows, schema }
    }
}

impl RewindSource for PastState<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn count(&self, component: ComponentId) -> usize {
        self.rows.component(component).len()
    }

    fn find(&self, key: RowKey) -> Option<usize> {
        self.rows.place_in_component(key)
    }

    fn draw(&self, component: ComponentId, nth: usize, _by: &RewindMoment, into: &mut AnyRow) -> Option<Owned> {
        Some(copy(self.rows.component_row(component, nth)?, into))
    }
}

/// Copies a row. Returns whose it is.
pub(crate) fn copy(row: Row<'_>, into: &mut AnyRow) -> Owned {
    into[..row.words.len()].copy_from_slice(row.words);
    row.owned()
}
