//! What comes through a gateway, and how much of it.

use crate::account::Account;
use foretell::{Instant, PeerId, Server, World};

/// What has come for the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival<'a> {
    /// A datagram, for `Server::receive`.
    Datagram {
        /// When it came.
        at: Instant,
        /// From whom.
        peer: PeerId,
        /// What.
        bytes: &'a [u8],
    },
    /// Whose account comes over the connection from now on, for `Server::identify`; `None` when it is over.
    Account(PeerId, Option<&'a Account>),
    /// The player is gone for good, for `Server::leave`.
    Left(PeerId),
    /// The connection has been over for 3 s, and the player has not come back over another: for `Server::disconnected`.
    Disconnected(PeerId),
    /// The place is kept for nobody any more, as it is somebody else's of the same address, or its connection was over before a
    /// player had joined: for `Server::release`.
    Released(PeerId),
}

impl Arrival<'_> {
    /// Tells it to the server. What is malformed changes nothing there but a count.
    pub fn tell<W: World>(self, server: &mut Server<W>) {
        match self {
            Arrival::Datagram { at, peer, bytes } => drop(server.receive(at, peer, bytes)),
            Arrival::Account(peer, account) => server.identify(peer, account.map(Account::name)),
            Arrival::Left(peer) => server.leave(peer),
            Arrival::Disconnected(peer) => server.disconnected(peer),
            Arrival::Released(peer) => server.release(peer),
        }
    }
}

/// What the network has carried, refused and lost, since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Datagrams handed to the network.
    pub sent: u64,
    /// Bytes in them.
    pub sent_bytes: u64,
    /// Datagrams that the rate limit held back, or the path did not take.
    pub held_back: u64,
    /// Datagrams that have come.
    pub received: u64,
    /// Bytes in them.
    pub received_bytes: u64,
    /// Hellos with the nonce of another place.
    pub strange_hellos: u64,
    /// Connections that had to prove their address first.
    pub retried: u64,
    /// Connections that were one too many.
    pub turned_away: u64,
    /// Connections that showed no right to a place in time.
    pub not_admitted: u64,
    /// Those of them that made room for others.
    pub crowded_out: u64,
    /// Connections that were admitted.
    pub admitted: u64,
}
