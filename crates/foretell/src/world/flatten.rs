//! Fields that several types of state have in common.

use super::Column;
use alloc::vec::Vec;

/// Fields that stand together in rows of several kinds: `#[derive(State)]` on a struct makes it one, and
/// `#[state(flatten)]` on a field of another state puts its fields in that field's place, with their meanings. Who gets them, how often,
/// and whether they are predicted, that state says: a struct that says so itself is none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't stand in another state",
    note = "what has `#[state(flatten)]` is of a struct with #[derive(State)] that says no `audience`, `predict` or `hz`, nor do its fields: say it of the field that is flattened, or of the state that it is in"
)]
pub trait Flatten: Sized {
    /// How many words its fields take.
    const WORDS: usize;
    /// What its fields mean of which a state has one field at most: a bit for each such [`Meaning`](super::Meaning), by its place there.
    const MEANINGS: u32;
    /// Its fields, in the order of their declaration.
    fn columns() -> Vec<Column>;
    /// Writes the exact bits of all fields, in order.
    ///
    /// # Panics
    /// When there are fewer than [`WORDS`](Flatten::WORDS) words.
    fn write(&self, words: &mut [u32]);
    /// The inverse of [`write`](Flatten::write).
    ///
    /// # Panics
    /// When there are fewer than [`WORDS`](Flatten::WORDS) words.
    fn read(words: &[u32]) -> Self;
}
