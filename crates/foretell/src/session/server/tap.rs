//! Who hears everything that a server is given, in order: a flight recorder.

use super::Server;
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

impl<W: World> Server<W> {
    /// Lets `tap` hear everything that this server is given, and what the game changes in its world outside of steps, as
    /// long as it lives.
    ///
    /// # Panics
    /// When a peer has joined, or it has received or updated already: what is heard begins with its construction.
    pub fn set_tap(&mut self, mut tap: Box<dyn ServerTap<W>>) {
        assert!(!self.used, "a tap is set before the first peer, the first datagram and the first update");
        tap.begin(self, self.epoch, self.clock.last());
        self.tap = Some(tap);
    }

    pub(super) fn tell_tap(&mut self, tell: impl FnOnce(&mut dyn ServerTap<W>, &Server<W>)) {
        if let Some(mut tap) = self.tap.take() {
            tell(&mut *tap, self);
            self.tap = Some(tap);
        }
    }
}
