//! The machine that rolls a world back and re-simulates it.
//!
//! Knows no bytes and no network. Invariant: a re-simulation uses the stored inputs and the stored rows of other entities, so
//! that it differs from the first pass only by what the authority changed (R14, E11).

mod changes_to_others;
mod checkpoint_ring;
mod checkpoint_schedule;
mod checkpoints;
mod expected_rollbacks;
mod input_history;
mod others_inputs;
mod others_past;
mod predicted_states;
mod resimulation_progress;
mod state_history;
mod step_messages;
#[cfg(test)]
mod test_world;
mod timeline;
mod world_driver;

pub(crate) use changes_to_others::{ChangedRow, ChangesToOthers, FoundChanges, PredictedChange};
pub use input_history::INPUTS_KEPT;
pub use others_inputs::RelayedInput;
pub(crate) use predicted_states::PredictedStates;
pub use timeline::Timeline;
