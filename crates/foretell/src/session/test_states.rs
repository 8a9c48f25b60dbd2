//! Two small states for unit tests: one that everybody sees, and one that its owner alone sees.

use crate::world::{ComponentId, Entity, Row, RowKey, Rows, Schema};
use foretell::State;

/// What everybody sees.
#[derive(State, Clone, Copy)]
struct Ship(u8);

/// What its owner sees.
#[derive(State, Clone, Copy)]
#[state(audience = owner)]
struct Purse(u8);

/// What everybody but its owner sees.
#[derive(State, Clone, Copy)]
#[state(audience = others)]
struct Rumour(u8);

/// The component of what everybody sees.
pub(crate) const SHIP: ComponentId = ComponentId(0);
/// The component of what its owner sees.
pub(crate) const PURSE: ComponentId = ComponentId(1);

/// Of both.
pub(crate) fn schema() -> Schema {
    Schema::of::<Ship>().with::<Purse>()
}

/// The same, but that its owner does not see the first.
pub(crate) fn schema_of_others() -> Schema {
    Schema::of::<Rumour>().with::<Purse>()
}

/// The name of a row.
pub(crate) fn key(component: ComponentId, entity: Entity) -> RowKey {
    RowKey { component, entity }
}

/// Sets the only word of a row of an entity that belongs to whom it was spawned for.
pub(crate) fn set(rows: &mut Rows, key: RowKey, word: u32) {
    let RowKey { component, entity } = key;
    rows.set_words(Row { component, entity, owner: entity.spawned_for(), words: &[word] });
}
