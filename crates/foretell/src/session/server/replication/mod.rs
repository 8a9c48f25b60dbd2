//! What of the state each client is told, and how: deltas against what it has, limits of what it sees, snapshots in parts.

mod allowance;
mod by_base;
mod client_rows;
mod delta;
mod encoded_rows;
mod entities_in_view;
mod entity_grid;
mod event_log;
mod exact_choice;
mod exact_rows;
mod gone_rows;
mod interest;
mod outgoing_snapshot;
mod paced_rows;
mod paces;
mod rank;
mod recent_changes;
mod replica;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod replication;
mod row_teller;
mod sent_datagrams;
mod sent_history;
mod shown_lane;
mod shown_state;
mod shown_writer;
mod sight_terms;
mod slot_set;
mod snapshot_packing;
mod spatial_index;
mod viewpoint;
mod waiting_rows;

pub(super) use allowance::Budget;
pub(super) use outgoing_snapshot::{Form, Snapshot};
pub(super) use replica::{Replica, StepReport};
pub(super) use replication::{Receiver, Replication};
pub(super) use sight_terms::SightTerms;
