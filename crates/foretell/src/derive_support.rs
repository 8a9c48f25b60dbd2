//! What the derives write calls of. Not for games.

use crate::world::{Entity, Field, Meaning};

/// The type of a field with `#[state(parent)]`.
#[diagnostic::on_unimplemented(
    message = "`#[state(parent)]` is for a field of type `Entity` or `Option<Entity>`, not `{Self}`",
    label = "names no parent"
)]
pub trait ParentName: Field {}

impl ParentName for Entity {}
impl ParentName for Option<Entity> {}

/// Whether a field of this type can count teleports.
pub const fn is_count<T: Field>() -> bool {
    T::SCALAR.is_count() && T::LANES == 1 && !T::IS_OPTION
}

/// Whether a position is among these meanings, of which each has a bit.
pub const fn are_placed(meanings: u32) -> bool {
    meanings & (1 << Meaning::Position as u32) != 0
}

/// Whether no meaning is among both, of which each has a bit.
pub const fn are_apart(one: u32, other: u32) -> bool {
    one & other == 0
}

/// Saves a field of a world that is no table.
pub fn save<T: Clone>(field: &T, saved: &mut Option<T>) {
    match saved {
        Some(saved) => saved.clone_from(field),
        None => *saved = Some(field.clone()),
    }
}

/// Goes back to what was saved.
pub fn load<T: Clone>(field: &mut T, saved: &Option<T>) {
    if let Some(saved) = saved {
        field.clone_from(saved);
    }
}
