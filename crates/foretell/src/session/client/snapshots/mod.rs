//! What comes from the server: states put together from their parts, what becomes of their samples, and inputs of others.

mod baselines;
mod outcomes;
mod relay_reader;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod snapshots;

pub use outcomes::Outcomes;
pub(super) use relay_reader::{RelayReader, ToldInputs};
pub(super) use snapshots::{Snapshot, SnapshotPart, Snapshots, Stored};
