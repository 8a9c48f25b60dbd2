//! The machine that rolls a world back and re-simulates it.
//!
//! Knows no bytes and no network. Invariant: a re-simulation uses the stored inputs and the stored rows of other entities, so
//! that it differs from the first pass only by what the authority changed (R14, E11).

mod changed_row;
mod checkpoint_schedule;
mod checkpoint_slots;
mod checkpoints;
mod client_rewind_source;
mod input_history;
mod newest_predictions;
mod optimistic_changes;
mod remote_inputs;
mod resimulation_progress;
mod rollback_forecast;
mod state_history;
mod step_messages;
#[cfg(test)]
mod test_world;
mod timeline;
mod world_driver;

pub(crate) use changed_row::ChangedRow;
pub use input_history::INPUTS_KEPT;
pub(crate) use newest_predictions::NewestPredictions;
pub(crate) use optimistic_changes::{ChangeAnswer, FoundChanges, OPEN_TICKS_MAX, OptimisticChanges, PredictedChange};
pub use remote_inputs::RelayedInput;
pub use timeline::Timeline;
