//! Netcode for multiplayer games: a server-authoritative, fixed-tick simulation whose clients predict, roll back,
//! re-simulate and correct. Engine-agnostic and sans-I/O: time, randomness and datagrams are arguments.
#![forbid(unsafe_code)]

extern crate self as foretell;

pub mod math;
pub mod motion;
pub mod netsim;
pub mod time;

pub use time::{Instant, Tick, TickDelta, TickRate};
