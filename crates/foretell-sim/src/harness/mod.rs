//! Whole sessions on virtual time: a server and any number of clients over simulated links, as a function of one seed
//! and the inputs (DESIGN: priorities).
//!
//! For a game's own tests there is [`Scenario`]: it runs seeds with drawn faults, looks at every update with every
//! [`check`], and reduces what fails to the fewest faults. [`SyncTest`] looks at a world by itself. The lab, the sweeps
//! and the tests of this crate drive the engine below, [`Simulation`].

mod apply;
mod bot_view;
pub mod check;
mod failure;
mod fault;
mod figures;
mod host;
mod mix;
mod run;
mod scenario;
mod shrink;
mod simulation;
mod spied;
mod sync;
mod talk;
mod world_check;

pub use apply::{FaultStage, Faults};
pub use bot_view::BotView;
pub use failure::Failure;
pub use fault::{Fault, MalformedFault, Schedule, Way, What, Who};
pub use figures::{Figures, Spread, Summary};
pub use host::{Host, HostOptions};
pub use mix::FaultMix;
pub use scenario::Scenario;
pub use simulation::{Driver, Leaving, LocalSeat, Moment, PlayerHost, PlayerOptions, Sent, ServerHost, Simulation};
pub use spied::{Spied, Truth};
pub use sync::{OutOfSync, Stepped, SyncTest};
