//! What of the state each client is told, and how: deltas against what it has, limits of what it sees, snapshots in parts.

mod delta;
mod entities_in_view;
mod event_log;
mod interest;
mod outgoing_snapshot;
mod replica;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod replication;
mod sent_history;
mod snapshot_packing;
mod spatial_index;

pub(super) use outgoing_snapshot::{Form, Snapshot};
pub(super) use replica::{Replica, StepReport};
pub(super) use replication::{Receiver, Replication};
