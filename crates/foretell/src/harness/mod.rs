//! Whole sessions on virtual time: a server and any number of clients over simulated links, as a function of one seed
//! and the inputs (DESIGN 1.4).
//!
//! The lab, the sweeps and the tests drive this one engine.

mod host;
mod simulation;

pub use host::{Host, HostOptions};
pub use simulation::{Driver, PlayerHost, PlayerOptions, Sent, ServerHost, Simulation};
