//! The world ahead of the authority: whom to predict, what to simulate again, and why.

mod cause_evidence;
mod change_outcomes;
mod changed_entities;
mod effects;
mod exact_session_causes;
mod let_go;
mod missed_inputs;
mod near_entities;
mod ownership_changes;
mod pending_corrections;
mod predicted_entities;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod prediction;
mod reconciler;

pub(super) use predicted_entities::Known;
pub(super) use prediction::{Prediction, Restart};
