//! The room of native programs: tokio, QUIC, TLS, and all that servers are made of.
//!
//! What the shared files ask of a platform has the same names here and in the room of browsers: [`Clock`], [`Tasks`],
//! [`sleep`], [`within`], [`reach_by_webtransport`], [`ask_by_socket`], [`Farewell`],
//! `unix_millis`, `SigningKey`, `random`.

pub(crate) mod admission;
mod budget;
pub(crate) mod certificate;
mod clock;
mod crowd;
mod development;
mod door;
pub(crate) mod gateway;
pub(crate) mod hosting;
mod join;
pub(crate) mod join_url;
pub(crate) mod limits;
mod link;
pub(crate) mod listen;
pub(crate) mod network;
mod places;
mod quic;
pub(crate) mod runtime;
pub(crate) mod serve;
pub(crate) mod server_tick;
mod socket;
mod tasks;
mod text;
pub(crate) mod tick_times;
mod ticket;
mod ticket_file;
mod tickets;
mod token;
pub(crate) mod traffic;
mod window;

pub use clock::Clock;
pub(crate) use clock::unix_millis;
pub(crate) use join::{Farewell, ask_by_socket, reach_by_webtransport};
pub(crate) use tasks::{Tasks, sleep, within};
pub(crate) use token::{SigningKey, random};
