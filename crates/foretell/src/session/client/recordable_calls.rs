//! How a client was made, and what a game calls of it: as data, for who hears it and calls it again.

use super::client_settings::EntityMode;
use super::join_request::JoinRequest;
use crate::session::authority_codec::Claim;
use crate::session::curves::Curve;
use crate::time::{Instant, Tick};
use crate::world::{Entity, PlayerId, ROW_WORDS_MAX, RowKey};

/// How a client was made, besides its rules and its settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClientOrigin {
    /// By [`Client::new`](super::Client::new): it asks for a place.
    New(JoinRequest),
    /// By [`Client::joined`](super::Client::joined): it has one.
    Joined(Joined),
}

/// The place that a client has from the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Joined {
    /// Whose it is.
    pub player: PlayerId,
    /// Of the session: the one that the [server](crate::Server::new) was made with.
    pub epoch: u8,
    /// When that was, on the caller's clock.
    pub now: Instant,
}

/// What a game calls of a client besides its updates. What each does is said where the [`Client`](super::Client) has it by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientCall {
    /// [`Client::predict`](super::Client::predict).
    Predict(PlayerId, bool),
    /// [`Client::request`](super::Client::request).
    Request(Entity, Claim),
    /// [`Client::release`](super::Client::release).
    Release(Entity),
    /// [`Client::capture`](super::Client::capture), with the words of the state; a row has room for the largest.
    Capture(RowKey, Tick, [u32; ROW_WORDS_MAX]),
    /// [`Client::show`](super::Client::show), with the words of the state.
    Show(RowKey, [u32; ROW_WORDS_MAX]),
    /// [`Client::set_mode`](super::Client::set_mode).
    SetMode(Entity, Option<EntityMode>),
    /// [`Client::show_with`](super::Client::show_with).
    ShowWith(Entity, Curve),
}

impl ClientOrigin {
    /// What a client asks for a place with.
    pub(super) fn request(&self) -> Option<&JoinRequest> {
        match self {
            ClientOrigin::New(request) => Some(request),
            ClientOrigin::Joined(_) => None,
        }
    }
}
