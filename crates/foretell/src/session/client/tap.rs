//! Who hears everything that a client is given, in order: a flight recorder.
//!
//! A client is a function of how it was made, of the calls that it gets and of their instants; so is what a run again
//! comes to that gets the same.

use super::{Client, Curve, EntityMode};
use crate::session::authority::Claim;
use crate::time::{Instant, Tick};
use crate::world::{Entity, PlayerId, ROW_WORDS_MAX, RowKey, World};
use alloc::boxed::Box;

/// Hears all that a client is given. It is told before the client takes it in, and can ask the client for whatever it
/// wants to know; it changes nothing.
pub trait ClientTap<W: World>: Send + Sync {
    /// From here on it hears everything. Nothing has come or happened yet.
    fn begin(&mut self, client: &Client<W>, origin: ClientOrigin);

    /// A datagram has come, at `now` on the caller's clock.
    fn receive(&mut self, client: &Client<W>, now: Instant, datagram: &[u8]);

    /// The game calls something about an entity or a player.
    fn call(&mut self, client: &Client<W>, call: &ClientCall);

    /// An update begins.
    fn begin_update(&mut self, client: &Client<W>);

    /// The update has asked the game for the input of a tick.
    fn input(&mut self, tick: Tick, input: &W::Input);

    /// The update is over, which was at `now` on the caller's clock.
    fn end_update(&mut self, client: &Client<W>, now: Instant);
}

/// How a client was made, besides its rules and its settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientOrigin {
    /// By [`Client::new`]: it asks for a place.
    New {
        /// Who it is.
        nonce: u64,
    },
    /// By [`Client::joined`]: it has one.
    Joined {
        /// Whose it is.
        player: PlayerId,
        /// Of the session.
        epoch: u8,
        /// When that was.
        now: Instant,
    },
}

/// What a game calls of a client besides its updates. What each does is said where the [`Client`] has it by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientCall {
    /// [`Client::predict`].
    Predict(PlayerId, bool),
    /// [`Client::request`].
    Request(Entity, Claim),
    /// [`Client::release`].
    Release(Entity),
    /// [`Client::capture`], with the words of the state; a row has room for the largest.
    Capture(RowKey, Tick, [u32; ROW_WORDS_MAX]),
    /// [`Client::show`], with the words of the state.
    Show(RowKey, [u32; ROW_WORDS_MAX]),
    /// [`Client::set_mode`].
    SetMode(Entity, Option<EntityMode>),
    /// [`Client::show_with`].
    ShowWith(Entity, Curve),
}

impl ClientOrigin {
    /// Who a client is to a server that it asks.
    pub(super) fn nonce(self) -> Option<u64> {
        match self {
            ClientOrigin::New { nonce } => Some(nonce),
            ClientOrigin::Joined { .. } => None,
        }
    }
}

impl<W: World> Client<W> {
    /// Lets `tap` hear everything that this client is given, as long as it lives.
    ///
    /// # Panics
    /// When it has received or updated already: what is heard begins with its construction.
    pub fn set_tap(&mut self, mut tap: Box<dyn ClientTap<W>>) {
        assert!(!self.used, "a tap is set before the first datagram and the first update");
        tap.begin(self, self.origin);
        self.tap = Some(tap);
    }

    pub(super) fn tell_tap(&mut self, tell: impl FnOnce(&mut dyn ClientTap<W>, &Client<W>)) {
        if let Some(mut tap) = self.tap.take() {
            tell(&mut *tap, self);
            self.tap = Some(tap);
        }
    }

    /// One of the calls that have names of their own, as data: what a tap was told can be called again.
    pub fn call(&mut self, call: &ClientCall) {
        self.tell_tap(|tap, client| tap.call(client, call));
        match *call {
            ClientCall::Predict(player, yes) => self.set_wish(player, yes),
            ClientCall::SetMode(entity, mode) => self.set_single(entity, mode),
            ClientCall::ShowWith(entity, curve) => self.curves.set(entity, curve),
            ClientCall::Request(..) | ClientCall::Release(_) | ClientCall::Capture(..) | ClientCall::Show(..) => {
                self.call_of_holds(call);
            }
        }
    }

    fn call_of_holds(&mut self, call: &ClientCall) {
        let Some(session) = self.session_mut() else { return };
        match call {
            ClientCall::Request(entity, claim) => session.authority.request(*entity, *claim),
            ClientCall::Release(entity) => session.authority.release(*entity),
            ClientCall::Capture(key, tick, row) => session.authority.capture(key.entity, *tick, row),
            ClientCall::Show(key, row) => session.authority.show(key.entity, row),
            ClientCall::Predict(..) | ClientCall::SetMode(..) | ClientCall::ShowWith(..) => {}
        }
    }
}
