//! The machine that rolls a world back and re-simulates it.
//!
//! Knows no bytes and no network. Invariant: a re-simulation uses the stored inputs and the stored rows of other entities, so
//! that it differs from the first pass only by what the authority changed (R14, E11).

mod checkpoint_policy;
mod checkpoints;
mod mispredicted_inputs;
mod relayed;
mod rollback_predictor;
mod seek;
mod timeline;

pub use relayed::RelayedInput;
pub use timeline::{INPUTS_KEPT, Timeline};
