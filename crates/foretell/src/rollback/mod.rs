//! The world as a user writes it, its rows, and the machine that rolls it back and re-simulates it.
//!
//! Knows no bytes and no network. Invariants: `load(save(w))` then `step` equals never having saved; a re-simulation
//! uses the stored inputs and the stored rows of other entities, so that it differs from the first pass only by what
//! the authority changed (R14, E11).

mod beginnings;
mod checkpoints;
mod compare;
mod effect;
mod entity;
mod field;
mod keep;
mod list;
mod predicted;
mod relayed;
mod revise;
mod rows;
mod schema;
mod seek;
mod timeline;
mod world;

pub use compare::{Difference, Tolerance, compare_row};
pub(crate) use effect::Said;
pub use effect::{Effect, EffectKind};
pub use entity::{Entity, Kind, PlayerId};
pub use field::{Field, Input, Part, Scalar, State};
pub use list::{Adopt, Publish};
pub use predicted::Predicted;
pub use relayed::Told;
pub use rows::Rows;
pub use schema::{Audience, Column, KindSchema, Meaning, ROW_WORDS_MAX, Schema, Writer, word_bits};
pub use timeline::{INPUTS_KEPT, Timeline};
pub(crate) use world::Contacts;
pub use world::{InputStatus, PlayerInput, Role, Side, Step, World};
