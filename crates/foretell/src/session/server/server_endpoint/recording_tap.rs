//! Who hears all that a server is given.

use super::Server;
use crate::session::PeerId;
use crate::session::client::Show;
use crate::session::server::peer_messages::To;
use crate::time::{Instant, Tick};
use crate::world::{AccountName, PlayerId, Reason, World};
use alloc::vec::Vec;

/// Hears all that a server is given. It is told before the server takes it in, and can ask the server for whatever it
/// wants to know; it changes nothing.
pub trait ServerTap<W: World>: Send + Sync {
    /// From here on it hears everything. Nothing has come or happened yet: the server was made with this epoch, at `now`.
    fn begin(&mut self, server: &Server<W>, epoch: u8, now: Instant);

    /// A datagram has come from `peer`, at `now` on the caller's clock.
    fn receive(&mut self, server: &Server<W>, now: Instant, peer: PeerId, datagram: &[u8]);

    /// The transport or the game says something of a peer.
    fn call(&mut self, server: &Server<W>, call: PeerCall, peer: PeerId);

    /// The game sends a message, of a kind by its number in the rules.
    fn send(&mut self, server: &Server<W>, to: To, kind: usize, bytes: &[u8]);

    /// The player who sits at the server sends a message, of a kind by its number in the rules.
    fn send_here(&mut self, server: &Server<W>, kind: usize, bytes: &[u8]);

    /// An update begins.
    fn begin_update(&mut self, server: &Server<W>);

    /// The update has asked the player who sits at the server for the input of a tick.
    fn input(&mut self, tick: Tick, input: &W::Input);

    /// The game may have changed its world since the last step: [`changed`](crate::Rows::changed) and
    /// [`removed`](crate::Rows::removed) of the server's [rows](Server::rows) say what.
    fn changed_outside(&mut self, server: &Server<W>);

    /// The update is over, which was at `now` on the caller's clock.
    fn end_update(&mut self, server: &Server<W>, now: Instant);
}

/// What the transport or the game says of a peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PeerCall {
    /// [`Server::join`].
    Join,
    /// [`Server::leave`].
    Leave,
    /// [`Server::disconnected`].
    Disconnected,
    /// [`Server::release`].
    Release,
    /// [`Server::identify`], with the account.
    Identify(Option<AccountName>),
    /// [`Server::remove`], of a player who plays or has played last over this connection, with the reason.
    Remove(PlayerId, Reason),
    /// A player joins who sits at the server, to whom states are shown so, and of whom this is said: it is of no peer.
    JoinHere(Show, Vec<u8>),
}
