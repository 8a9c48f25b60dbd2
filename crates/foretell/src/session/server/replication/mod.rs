//! What of the state each client is told, and how: deltas against what it has, limits of what it sees, snapshots in parts.

mod acked_rows;
mod chosen_records;
mod chunk_bits_cache;
mod dirty_tracker;
mod encodings_by_base;
mod entity_grid;
mod exact_choice;
mod exact_lane;
mod exact_row_set;
mod gone_rows;
mod grid_cells;
mod host_view;
mod interest_query;
mod interest_set;
mod interest_settings;
mod optional_tick;
mod own_bounding_boxes;
mod priority;
mod ranking;
mod ranking_key;
mod rate_limited_rows;
mod recent_changes;
mod replica;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod replication;
mod row_encoding_cache;
mod row_send_queue;
mod sent_datagrams;
mod sent_snapshots;
mod shown_context;
mod shown_datagram;
mod shown_lane;
mod shown_row_writer;
mod slot_positions;
mod slot_set;
mod snapshot_packer;
mod snapshot_source;
mod step_event_log;
mod told_holders;

pub(in crate::session) use host_view::HostView;
pub(super) use host_view::LocalLook;
pub(super) use interest_settings::InterestSettings;
pub(super) use replica::{Replica, StepReport};
pub(super) use replication::{Receiver, Replication};
pub(super) use snapshot_source::{Form, SnapshotSource};
