//! The world ahead of the authority: whom to predict, what to simulate again, and why.

mod cause_evidence;
mod change_outcomes;
mod effects;
mod exact_session_causes;
mod missed_inputs;
mod ownership_changes;
mod pending_corrections;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod prediction;
mod prediction_targets;
mod reconciler;

pub(super) use prediction::{Prediction, Restart};
pub(super) use prediction_targets::Known;
