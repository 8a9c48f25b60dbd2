//! Netcode for multiplayer games: a server-authoritative, fixed-tick simulation whose clients predict, roll back,
//! re-simulate and correct. Engine-agnostic and sans-I/O: time, randomness and datagrams are arguments.
//!
//! A whole game, with the server and one client in one loop, and nothing but memory between them:
//!
//! ```
//! use foretell::{Client, ClientConfig, Input, Instant, Outbox, PeerId, Rules, Server, ServerConfig, Simulate};
//! use foretell::{State, Step, Table, Views, World};
//!
//! /// What a player presses.
//! #[derive(Input, Clone, Copy, PartialEq, Default)]
//! struct Keys { right: bool }
//!
//! /// What everybody sees of a car.
//! #[derive(State, Clone, Copy, Default)]
//! struct Car { #[state(position)] x: [f32; 1] }
//!
//! #[derive(World, Default)]
//! struct Road { cars: Table<Car> }
//!
//! impl Simulate for Road {
//!     type Input = Keys;
//!
//!     // The same on the server, on a client ahead of it, and when that simulates again.
//!     fn step(&mut self, step: &mut Step<'_, Keys>) {
//!         self.cars.remove_left(step);
//!         for joined in step.joined() {
//!             self.cars.spawn(step, joined.player, Car::default());
//!         }
//!         for mut car in self.cars.simulated(step) {
//!             let drives = step.input(car.owner()).is_some_and(|player| player.input.right);
//!             car.x[0] += if drives { 5.0 * step.seconds() as f32 } else { 0.0 };
//!         }
//!     }
//! }
//!
//! let mut server = Server::new(Rules::new(Road::schema()), ServerConfig::default(), 1, Instant::ZERO);
//! let mut client = Client::new(Rules::new(Road::schema()), ClientConfig::default(), 2);
//! let (mut of_server, mut of_client) = (Road::default(), Road::default());
//! let (mut up, mut down, mut views) = (Outbox::new(), Outbox::new(), Views::new());
//! for frame in 0..180 {
//!     let now = Instant::from_micros(frame * 16_667);
//!     for (_, datagram) in up.iter() {
//!         server.receive(now, PeerId(0), datagram).expect("a client's datagrams are well-formed");
//!     }
//!     up.clear();
//!     server.update(now, &mut of_server, &mut down);
//!     for (_, datagram) in down.iter() {
//!         client.receive(now, datagram).expect("so are a server's");
//!     }
//!     down.clear();
//!     client.update(now, &mut of_client, &mut |_tick| Keys { right: true }, &mut up);
//!     client.present(now, &mut views);
//! }
//! let car = views.iter().next().expect("its own");
//! assert!(car.pose().position[0] > 10.0);
//! ```
//!
//! # Where to go
//!
//! | for | see |
//! |---|---|
//! | what is replicated | [`State`](derive@State), [`Table`], [`World`](derive@World); [`Input`](derive@Input) for what players press |
//! | what a step can do | [`Step`]: inputs, joins, names of new entities, effects, [changes](Step::change) of what is not the player's own, the past as a [shooter](Step::rewound) saw it |
//! | the two ends | [`Server`] and [`Client`]; [`Session`] is one loop that plays alone, hosts, serves or joins |
//! | what is drawn | [`Views`], and the [`Curve`] by which others are shown |
//! | what has happened | [`Frame`] of each update: [events](session::client::ClientEvent), corrections with their [causes](session::client::Causes), effects |
//! | who sees what | [`Interest`], [`InterestRules`] and [`Audience`] |
//! | chat, maps, orders | [`Message`](derive@Message) and [`Messages`] |
//! | client authority | [`Client::request`], [`motion::FrameMover`] |
//! | how it is all set | [`Rules`], which both ends share, [`ServerConfig`], [`ClientConfig`] |
//!
//! `foretell-net` brings sessions onto real networks, `foretell-sim` tests them on virtual time with faults, `foretell-rapier` predicts
//! rigid bodies, and `bevy_foretell` is the plugin for Bevy. Guides stand in the repository's `docs/`.
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

/// And that of the guide to teleports.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/TELEPORTS.md")]
struct Teleports;

/// And that of the guide to pickups.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/PICKUPS.md")]
struct Pickups;

/// And those of the guide to what moves with something else.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/RIDING.md")]
struct Riding;

/// And that of the guide to who sees what.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/SIGHT.md")]
struct Sight;

/// And those of the derives, which are built for the compiler and would need a second `foretell` to run them.
#[cfg(doctest)]
#[doc = include_str!("../../foretell-derive/docs/field.md")]
#[doc = include_str!("../../foretell-derive/docs/input.md")]
#[doc = include_str!("../../foretell-derive/docs/message.md")]
#[doc = include_str!("../../foretell-derive/docs/state.md")]
#[doc = include_str!("../../foretell-derive/docs/world.md")]
mod derive_docs {}
