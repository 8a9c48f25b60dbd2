//! The world ahead of the authority: whom to predict, what to simulate again, and why.

mod cause_log;
mod effects;
mod exact_causes;
mod missed_inputs;
mod owners;
mod pending_corrections;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod prediction;
mod reconciler;
mod resimulation_budget;
mod targets;

pub(super) use prediction::{Prediction, Restart};
pub use resimulation_budget::ResimulationBudget;
pub(super) use targets::Known;
