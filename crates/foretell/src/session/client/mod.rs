//! The predicting end: runs the world ahead of the server, compares, rolls back, and shows.

mod authority;
mod authority_handoff;
mod client_session;
mod config;
mod connection_state;
mod correction_causes;
mod curve_choices;
mod endpoint;
mod handshake;
mod initial_capacity;
mod input_datagram;
mod join_request;
mod link;
mod local_world;
mod message_link;
mod prediction;
mod presentation;
mod recordable_calls;
mod setup;
mod snapshots;
mod stats;
mod update_log;
mod update_report;

pub use crate::session::curves::{Curve, PoseSource};
pub use config::{ClientConfig, INPUT_DELAY_MAX, InputDelay, Predict, Redundancy, Show};
pub use correction_causes::Causes;
pub use endpoint::{Client, ClientTap};
pub use join_request::{JoinDataTooLong, JoinRequest};
pub use prediction::ResimulationBudget;
pub(in crate::session) use presentation::{Lifecycles, StatePair};
pub use presentation::{View, Views, ViewsIter};
pub use recordable_calls::{ClientCall, ClientOrigin, Joined};
pub use setup::EntityMode;
pub use snapshots::Outcomes;
pub use stats::{ClientStats, ClockStats, InputStats, NetworkStats, PlayoutStats, PredictionStats};
pub use update_report::{AuthorityChange, ClientEvent, ClientState, Corrected, Frame};
