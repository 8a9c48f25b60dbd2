//! The authority: steps the world, fills gaps in the inputs, and sends snapshots.

mod admission;
mod authority;
mod config;
mod downlink;
mod endpoint;
mod exact;
mod frame;
mod inputs;
mod link;
mod peer;
mod pipeline;
mod published_state;
mod relay_inputs;
mod replication;
mod row_versions;
mod schedule;
mod simulation;
mod stats;

pub use config::ServerConfig;
pub use endpoint::{PeerCall, Server, ServerTap};
pub use frame::{LateInput, ServerEvent, ServerFrame};
pub use schedule::CATCH_UP_TICKS_MAX;
pub use stats::{InputTotals, PeerStats};
