//! Client and server of a session, without sockets: datagrams and instants come in, datagrams go out.
//!
//! Invariants: `receive` decodes, checks and stores, and never simulates or panics; `update` is the only place where
//! ticks happen; `present` only reads. Every authoritative sample of a predicted entity ends in exactly one counted
//! [`Outcome`](client::Outcomes).

mod baseline;
pub mod client;
pub mod server;

mod greeting;
mod histogram;
mod lateness;
mod ledger;
mod news;
mod outbox;
mod packet;
mod peek;
#[cfg(test)]
mod plain;
mod relay;
mod rowcode;
mod rules;
mod shared;

pub use greeting::Refusal;
pub use ledger::{Ledger, Offence};
pub use outbox::{Outbox, PeerId};
pub use packet::DATAGRAM_MAX;
pub use peek::{Peek, peek};
pub use rules::{Fingerprint, GapPolicy, Rules};
pub use shared::{Claim, HoldRefusal, Holder};
