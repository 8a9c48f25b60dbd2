//! The predicting end: runs the world ahead of the server, compares, rolls back, and shows.

mod authority;
mod authority_handoff;
mod calls;
mod capacity;
mod causes;
mod client_session;
mod config;
mod curves;
mod endpoint;
mod frame;
mod handshake;
mod input_datagram;
mod link;
mod local_world;
mod membership;
mod prediction;
mod presentation;
mod report;
mod row_motion;
mod setup;
mod snapshots;

pub use calls::{ClientCall, ClientOrigin, Joined};
pub use causes::Causes;
pub use config::{ClientConfig, INPUT_DELAY_MAX, InputDelay, Predict, Redundancy, Show};
pub use curves::Curve;
pub use endpoint::{Client, ClientTap};
pub use frame::{AuthorityChange, ClientEvent, ClientState, ClientStats, Corrected, Frame};
pub use prediction::ResimulationBudget;
pub use presentation::{Source, View, Views, ViewsIter};
pub use setup::EntityMode;
pub use snapshots::Outcomes;
