//! What of the state each client is told, and how: deltas against what it has, limits of what it sees, snapshots in parts.

mod delta;
mod event_log;
mod interest;
mod replica;
mod send_snapshot;
mod sent_history;
mod snapshot;
mod snapshot_lists;
mod spatial_index;
mod view;

pub(super) use replica::{Replica, StepReport};
pub(super) use send_snapshot::{Receiver, Replication};
pub(super) use snapshot::{Form, Snapshot};
