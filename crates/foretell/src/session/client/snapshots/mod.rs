//! What comes from the server: states put together from their parts, what becomes of their samples, and inputs of others.

mod baselines;
mod comparison_outcomes;
mod hidden_entities;
mod known_rows;
mod relay_reader;
mod shown_reader;
mod snapshot;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod snapshots;
mod track_rings;
mod track_state;
mod track_table;
mod tracks;

pub(super) use comparison_outcomes::Compared;
pub use comparison_outcomes::Outcomes;
pub(super) use relay_reader::{RelayReader, ToldInputs};
pub(super) use snapshot::{Snapshot, SnapshotPart, Stored};
pub(super) use snapshots::Snapshots;
pub(super) use track_state::{KnownIn, Look, Rest, Since};
pub(super) use track_table::Revision;
pub(super) use tracks::Tracks;
