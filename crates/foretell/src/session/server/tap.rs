//! Who hears everything that a server is given, in order: a flight recorder.

use super::endpoint::Server;
use crate::session::PeerId;
use crate::time::Instant;
use crate::world::World;
use alloc::boxed::Box;

/// Hears all that a server is given. It is told before the server takes it in, and can ask the server for whatever it
/// wants to know; it changes nothing.
pub trait ServerTap<W: World>: Send + Sync {
    /// From here on it hears everything. Nothing has come or happened yet: the server was made with this epoch, at `now`.
    fn begin(&mut self, server: &Server<W>, epoch: u8, now: Instant);

    /// A datagram has come from `peer`, at `now` on the caller's clock.
    fn receive(&mut self, server: &Server<W>, now: Instant, peer: PeerId, datagram: &[u8]);

    /// The transport or the game says something of a peer.
    fn call(&mut self, server: &Server<W>, call: PeerCall, peer: PeerId);

    /// An update begins.
    fn begin_update(&mut self, server: &Server<W>);

    /// The game may have changed its world since the last step: [`changed`](crate::Rows::changed) and
    /// [`removed`](crate::Rows::removed) of the server's [rows](Server::rows) say what.
    fn changed_outside(&mut self, server: &Server<W>);

    /// The update is over, which was at `now` on the caller's clock.
    fn end_update(&mut self, server: &Server<W>, now: Instant);
}

/// What the transport or the game says of a peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PeerCall {
    /// [`Server::join`].
    Join,
    /// [`Server::leave`].
    Leave,
    /// [`Server::disconnected`].
    Disconnected,
    /// [`Server::release`].
    Release,
}

/// Where a tap is set.
pub(super) struct TapSlot<W: World> {
    tap: Option<Box<dyn ServerTap<W>>>,
    /// Whether anything has come or happened, so that it is too late to set one.
    is_closed: bool,
}

impl<W: World> TapSlot<W> {
    pub fn new() -> TapSlot<W> {
        TapSlot { tap: None, is_closed: false }
    }

    /// # Panics
    /// When anything has come or happened.
    pub fn assert_open(&self) {
        assert!(!self.is_closed, "a tap is set before the first peer, the first datagram and the first update");
    }

    /// Something comes or happens. Lends the tap, if there is one, until it is [set](TapSlot::set) again.
    pub fn take(&mut self) -> Option<Box<dyn ServerTap<W>>> {
        self.is_closed = true;
        self.tap.take()
    }

    /// Sets the tap.
    pub fn set(&mut self, tap: Box<dyn ServerTap<W>>) {
        self.tap = Some(tap);
    }
}
