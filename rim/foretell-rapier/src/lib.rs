//! Rigid bodies of Rapier in a Foretell world: exact rollback, one row for each body, canonical rebuilds.
//!
//! [`Physics`] is everything that Rapier's next step reads, behind names of entities. A game puts it into its world,
//! forwards `save` and `load` (it is `Clone`), `publish` and `adopt`, and steps it between [`Physics::prepare`] and
//! [`Physics::advance`]. `docs/PHYSICS.md` tells why each part of Rapier has to be in it.
//!
//! Invariants: `load(save(w))` then a step is bit-identical to never having saved; after [`Physics::rebuild`] the next
//! steps are a function of the bodies alone (of their rows, plans and links), whatever went before; and the bits are the
//! same on x86-64 and wasm32. No clock, no randomness, no order of a hash map.
#![forbid(unsafe_code)]
#![warn(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

mod advance;
mod blueprint;
mod body;
mod cast;
mod character_controller;
mod contacts;
mod fingerprint;
mod link;
mod physics;
mod push;
mod rebuild;
mod redesign;
mod rows;
mod scene;
mod sets;
mod touch;

pub use blueprint::{Blueprint, Plan};
pub use body::Body;
pub use cast::{BodyHit, Swept};
pub use link::Link;
pub use physics::Physics;
pub use push::BodyMut;
pub use rapier3d;
pub use scene::{Gameplay, SavedScene, Scene};
pub use touch::{Contact, Party, Touch};
