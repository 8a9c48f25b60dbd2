//! What comes from the server: states put together from their parts, what becomes of their samples, and inputs of others.

mod baselines;
mod hidden_entities;
mod known_rows;
mod known_state;
mod relay_reader;
mod sample_outcomes;
mod shown_records;
mod snapshot;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod snapshots;
mod state_rings;
mod track_table;
mod tracks;

pub(super) use known_state::{KnownIn, Look, Rest};
pub(super) use relay_reader::{RelayReader, ToldInputs};
pub(super) use sample_outcomes::Compared;
pub use sample_outcomes::Outcomes;
pub(super) use snapshot::{Snapshot, SnapshotPart, Stored};
pub(super) use snapshots::Snapshots;
pub(super) use track_table::Revision;
pub(super) use tracks::{Since, Tracks};
