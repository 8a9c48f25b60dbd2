//! The second article's client and server: the server steps a player's body whenever inputs of theirs arrive, and waits
//! for them; the client predicts, rewinds and replays (R1 to R25).
//!
//! One pair for each player, as each player has ticks of their own here: there is no common one, which is why no session
//! works like this. Datagrams may be lost, doubled and reordered.
//!
//! ```text
//! client                                       server
//!   |  inputs (first tick, inputs)               |
//!   |------------------------------------------->|  a step for each that is new, and what the gap policy
//!   |                                            |  makes of those before them that never came
//!   |                       state (tick, body)   |
//!   |<-------------------------------------------|
//!   |  compares it with its own state of that tick, and where they differ takes it over
//!   |  and simulates the inputs since then again
//! ```
//!
//! ```
//! use foretell::Instant;
//! use foretell_articles::csp::{Client, ClientConfig, Server, ServerConfig};
//! use foretell_articles::timestamped::{Direction, Walk, Walker};
//!
//! let mut client = Client::new(Walk { speed: 5.0 }, ClientConfig::default(), Walker::default());
//! let mut server = Server::new(Walk { speed: 5.0 }, ServerConfig::default(), Walker::default());
//! for tick in 0..64_u64 {
//!     let (now, mut inputs) = (Instant::from_micros(tick * 15_625), Vec::new());
//!     client.tick(Direction::of_axes(1.0, 0.0), &mut inputs);
//!     server.receive(&inputs).expect("they speak the same");
//!     server.update(&mut |_tick, _walker| {}, &mut |state| client.receive(state).expect("they speak the same"));
//!     assert_eq!(client.reconcile(now), None);
//! }
//! assert_eq!(client.state(), server.state());
//! ```

mod client;
mod packet;
mod plan;
mod server;

use foretell::TickRate;

pub use client::{Client, ClientConfig, ClientStats, Corrected, HISTORY_TICKS, Reconciliation, Redundancy};
pub use packet::INPUTS_MAX;
pub use plan::{ArrivalPlan, since_state};
pub use server::{GapPolicy, Server, ServerConfig, ServerStats};

/// Ticks per second (R14).
pub const TICK_RATE: TickRate = TickRate::hz(64);

/// The length of a tick in seconds.
const TICK_S: f64 = 1.0 / 64.0;
