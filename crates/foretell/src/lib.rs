//! Netcode for multiplayer games: a server-authoritative, fixed-tick simulation whose clients predict, roll back,
//! re-simulate and correct. Engine-agnostic and sans-I/O: time, randomness and datagrams are arguments.
#![no_std]
#![forbid(unsafe_code)]
#![warn(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

/// What the derives name of it, in crates that have no standard library either.
#[doc(hidden)]
#[macro_use]
pub extern crate alloc;
#[cfg(test)]
extern crate self as foretell;

#[doc(hidden)]
pub mod derive_support;

pub mod hits;
pub mod math;
pub mod motion;
pub mod rollback;
pub mod session;
pub mod time;
pub mod wire;
pub mod world;

pub use foretell_derive::{Field, Input, Message, State, World};
pub use session::client::{Client, ClientConfig, ClientState, Curve, Frame, JoinDataTooLong, JoinRequest, View, Views};
pub use session::host::{Host, Session, SessionConfig, Start};
pub use session::server::{Server, ServerConfig, ServerFrame, To};
pub use session::{Fingerprint, GapPolicy, Outbox, PeerId, Rules};
pub use time::{Instant, SendRate, Tick, TickRate};
pub use world::{
    Audience, Column, ComponentId, ComponentSchema, Delivery, Effect, EffectKind, Entity, Field, Flatten, Group, Input,
    InputStatus, Interest, InterestRules, Leaver, Look, Meaning, Message, Messages, Mut, Newcomer, Owned, PlayerId,
    PlayerInput, PlayerMessage, Reason, ReceivedMessage, Ref, RewindBound, RewindMoment, Rewound, Role, Row, RowKey,
    Rows, Schema, Seat, Simulate, State, Step, Table, Text, Tolerance, Visibility, World, WorldPart, Writer,
};

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So does that of the guide to shots.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/SHOTS.md")]
struct Shots;

/// And that of the guide to pickups.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/PICKUPS.md")]
struct Pickups;

/// And those of the derives, which are built for the compiler and would need a second `foretell` to run them.
#[cfg(doctest)]
#[doc = include_str!("../../foretell-derive/docs/field.md")]
#[doc = include_str!("../../foretell-derive/docs/input.md")]
#[doc = include_str!("../../foretell-derive/docs/message.md")]
#[doc = include_str!("../../foretell-derive/docs/state.md")]
#[doc = include_str!("../../foretell-derive/docs/world.md")]
mod derive_docs {}
