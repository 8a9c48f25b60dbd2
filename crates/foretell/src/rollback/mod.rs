//! The machine that rolls a world back and re-simulates it.
//!
//! Knows no bytes and no network. Invariant: a re-simulation uses the stored inputs and the stored rows of other entities, so
//! that it differs from the first pass only by what the authority changed (R14, E11).

mod changes_to_others;
mod checkpoint_ring;
mod checkpoints;
mod client_past;
mod expected_rollbacks;
mod history;
mod known_inputs;
mod others_inputs;
mod resimulation;
mod step_messages;
#[cfg(test)]
mod test_world;
mod timeline;
mod world_driver;

pub(crate) use changes_to_others::{ChangedRow, FoundChanges, PredictedChange};
pub use known_inputs::INPUTS_KEPT;
pub use others_inputs::RelayedInput;
pub use timeline::Timeline;
