//! Netcode for multiplayer games: a server-authoritative, fixed-tick simulation whose clients predict, roll back,
//! re-simulate and correct. Engine-agnostic and sans-I/O: time, randomness and datagrams are arguments.
#![forbid(unsafe_code)]
#![warn(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

extern crate self as foretell;

pub mod harness;
pub mod math;
pub mod motion;
pub mod netsim;
pub mod rollback;
pub mod session;
pub mod time;
pub mod timestamped;
pub mod validation;
pub mod wire;

pub use foretell_derive::{Input, State};
pub use rollback::{
    Audience, Column, Effect, EffectKind, Entity, Field, Input, InputStatus, Kind, KindSchema, Meaning, Part, PlayerId,
    PlayerInput, Role, Rows, Schema, State, Step, Tolerance, World, Writer,
};
pub use session::client::{Client, ClientConfig, ClientState, Curve, Frame, View};
pub use session::server::{Server, ServerConfig, ServerFrame};
pub use session::{Fingerprint, GapPolicy, Outbox, PeerId, Rules, Stepping};
pub use time::{Instant, Tick, TickRate};

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
