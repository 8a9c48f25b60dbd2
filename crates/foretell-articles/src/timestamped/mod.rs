//! Timestamped mode: no ticks, but inputs with the times at which they were pressed, and a server that goes the same path
//! after the player (Q6 to Q17).
//!
//! For games of few players who don't touch each other, with sync rates of 5 to 20 per second: the character answers at
//! once, nothing is simulated again, and a server needs no ticks. What it does not have, and a [`session`](foretell::session)
//! has: rollback, worlds in which players meet, and others shown.
//!
//! ```text
//! client                                       server
//!   |  inputs (t, inputs with times)             |
//!   |------------------------------------------->|  follows the path up to t
//!   |                       state (t, position)  |
//!   |<-------------------------------------------|
//!   |  compares with its own position at t; where they differ:
//!   |  request (epoch)                           |
//!   |------------------------------------------->|  stands still
//!   |                resync (epoch + 1, position)|
//!   |<-------------------------------------------|  sent again until it is finished
//!   |  adopts it                                 |
//!   |  finish (epoch + 1, t)                     |
//!   |------------------------------------------->|  goes on from t
//! ```
//!
//! Either end is sans-I/O, and there is one pair for each player. Datagrams may be lost, doubled and reordered: inputs
//! are numbered and repeated until they have come, the handshake is repeated until it is answered, and each datagram says
//! which epoch it is of (D5, E5, E6, E8).
//!
//! ```
#![doc = include_str!("../../examples/timestamped.rs")]
//! ```

mod acks;
mod budget;
mod client;
mod clock;
mod config;
mod direction;
mod divergence;
mod mover;
mod packet;
mod path;
mod requests;
mod schedule;
mod server;

pub use acks::{AckQueue, AckStats, Acknowledged, WAITING_MAX};
pub use budget::{TimeBudget, TimeSpent};
pub use client::{Client, ClientStats};
pub use clock::Time;
pub use config::{ClientConfig, Detect, ServerConfig, Since, Trust};
pub use direction::{clamped_direction, limit_direction};
pub use mover::{Direction, Mover, Walk, Walker};
pub use packet::{DATAGRAM_MAX, INPUTS_MAX};
pub use path::{Path, Refused, Stamped};
pub use server::{Server, ServerStats};
