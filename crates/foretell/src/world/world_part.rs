//! What a world consists of: parts that are saved, loaded, published and adopted.

use super::{Rows, Schema};

/// What a world consists of, one of its fields: [tables](crate::Table).
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
    /// As [`World::adopt_known`](super::World::adopt_known).
    fn adopt_known(&mut self, rows: &Rows);
}
