//! What comes from the server: states put together from their parts, what becomes of their samples, and inputs of others.

mod baselines;
mod comparison_outcomes;
mod component_tracks;
mod going_over;
mod hidden_entities;
mod input_relay_reader;
mod known_rows;
mod received_datagrams;
mod shown_row_reader;
mod snapshot;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod snapshots;
mod track_lookup;
mod track_rings;
mod tracks;

pub(super) use comparison_outcomes::Compared;
pub use comparison_outcomes::Outcomes;
pub(super) use component_tracks::Revision;
pub(super) use going_over::{ChangedWords, GoingOver, ShownRows};
pub(super) use input_relay_reader::{InputRelayReader, ToldInputs};
pub(super) use snapshot::{Snapshot, SnapshotPart, Stored};
pub(super) use snapshots::Snapshots;
pub(super) use track_lookup::{KnownIn, Look, Rest, Since};
pub(super) use tracks::Tracks;
