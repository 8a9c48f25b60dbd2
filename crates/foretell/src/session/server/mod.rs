//! The authority: steps the world, fills gaps in the inputs, and sends snapshots.

mod admission;
mod authoritative_state;
mod authority;
mod component_rewind_history;
mod config;
mod exact_sessions;
mod hierarchy;
mod hit_receipts;
mod host_player;
mod input_relay;
mod inputs;
mod message_router;
mod peer;
mod peer_acks;
mod peer_messages;
mod pipeline;
mod replication;
mod rewind_history;
mod roster_dispatch;
mod row_versions;
mod server_endpoint;
mod simulation;
mod state_sender;
mod stats;
mod tick_schedule;
mod update_log;
mod update_report;
mod view_age;

pub use config::ServerConfig;
pub(in crate::session) use host_player::{HostPlayer, HostView, LocalInput, LocalStep};
pub use peer_messages::To;
pub use server_endpoint::{PeerCall, Server, ServerTap};
pub use stats::{HitTotals, InputTotals, JoinTotals, PeerStats, ServerTotals};
pub use tick_schedule::CATCH_UP_TICKS_MAX;
pub use update_report::{LateInput, ServerEvent, ServerFrame};
