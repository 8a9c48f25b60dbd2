//! One type for a game's loop, whichever way it was started: as a client, as a host, alone, or as a server that nobody sits at.

use super::host_endpoint::Host;
use crate::session::client::{Client, ClientConfig, ClientState, Frame, JoinDataTooLong, JoinRequest, Views};
use crate::session::server::{Server, ServerConfig};
use crate::session::{Outbox, PeerId, Rules, SendError};
use crate::time::{Instant, Tick};
use crate::wire::Malformed;
use crate::world::{Message, PlayerId, World};
use alloc::vec::Vec;

/// How a game is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Start {
    /// It plays over the network, on a server elsewhere: [`Client::new`] with a number. A spectator is a [`Session::Client`] with
    /// another [`JoinRequest`].
    Client {
        /// Says who it is: a random number, known to it and the server alone.
        nonce: u64,
    },
    /// Its player plays, and others join over the network: [`Host::new`].
    Host {
        /// Another one at every start.
        epoch: u8,
    },
    /// Its player plays alone: a host with one place. Nobody else is let in until the
    /// [`players_max`](ServerConfig::players_max) or [`spectators_max`](ServerConfig::spectators_max) of its server are raised.
    Single,
    /// Others play, and nobody here: [`Server::new`].
    Dedicated {
        /// Another one at every start.
        epoch: u8,
    },
}

/// What a game needs to be started, whichever way.
#[derive(Clone, PartialEq, Debug)]
pub struct SessionConfig {
    /// What both ends agree on.
    pub rules: Rules,
    /// What a client decides by itself. Of it counts for a host how its player is shown what there is:
    /// [`show`](ClientConfig::show).
    pub client: ClientConfig,
    /// What a server decides by itself.
    pub server: ServerConfig,
    /// What its player asks for a place with, but for the number.
    request: JoinRequest,
}

impl SessionConfig {
    /// The defaults of both ends.
    pub fn new(rules: Rules) -> SessionConfig {
        SessionConfig {
            rules,
            client: ClientConfig::default(),
            server: ServerConfig::default(),
            request: JoinRequest::new(0),
        }
    }

    /// The same with what the game is to know of the player of this program when they join, whether they host, play alone or on a server
    /// elsewhere, as [`JoinRequest::with_data`]. Where nobody sits at the server it is for nobody.
    ///
    /// # Errors
    /// When it is longer than [`JOIN_DATA_MAX`](crate::world::JOIN_DATA_MAX), 1000 bytes.
    pub fn with_data(self, data: impl Into<Vec<u8>>) -> Result<SessionConfig, JoinDataTooLong> {
        Ok(SessionConfig { request: self.request.with_data(data)?, ..self })
    }

    /// What the game is to know of the player of this program.
    pub fn data(&self) -> &[u8] {
        self.request.data()
    }
}

/// One end of a session, however the game was started: its loop is written once.
///
/// ```
/// use foretell::{Instant, Outbox, PeerId, Session, Views, World};
///
/// struct Game<W: World> { session: Session<W>, world: W, outbox: Outbox, views: Views }
///
/// fn frame<W: World>(now: Instant, game: &mut Game<W>, arrived: &[(PeerId, Vec<u8>)], keys: W::Input) {
///     let Game { session, world, outbox, views } = game;
///     for (from, datagram) in arrived {
///         let _ = session.receive(now, *from, datagram);
///     }
///     session.update(now, world, &mut |_tick| keys, outbox);
///     // Send what the outbox holds, then clear it.
///     session.present(now, views);
///     for view in views.iter() {
///         println!("draw {} at {:?}", view.entity, view.pose().position);
///     }
/// }
/// ```
pub enum Session<W: World> {
    /// Predicts, on a server elsewhere.
    Client(Client<W>),
    /// Has the authority and a player; alone, or with others.
    Host(Host<W>),
    /// Has the authority, and nobody sits at it.
    Dedicated(Server<W>),
}

impl<W: World> Session<W> {
    /// One that begins at `now`. Give a client's updates a world without entities.
    ///
    /// # Panics
    /// When the rules have more than eight [fingerprints](Rules::fingerprints), or are [exact](Rules::exact) and can't be.
    pub fn start(start: Start, config: SessionConfig, now: Instant) -> Session<W> {
        let SessionConfig { rules, client, server, request } = config;
        let (server, epoch) = match start {
            Start::Client { nonce } => return Session::Client(Client::new(rules, client, request.with_nonce(nonce))),
            Start::Dedicated { epoch } => return Session::Dedicated(Server::new(rules, server, epoch, now)),
            Start::Host { epoch } => (server, epoch),
            Start::Single => (ServerConfig { players_max: 1, spectators_max: 0, ..server }, 0),
        };
        let host = Host::of(Server::new(rules, server, epoch, now), client.show);
        Session::Host(host.with_data(request.data()).expect("a request has no longer ones"))
    }

    /// Takes in a datagram, which came at `now` from `peer`; for a client that is its server, and not looked at.
    ///
    /// # Errors
    /// [`Malformed`] when it is not a message of this protocol; it is counted and changes nothing.
    pub fn receive(&mut self, now: Instant, peer: PeerId, datagram: &[u8]) -> Result<(), Malformed> {
        match self {
            Session::Client(client) => client.receive(now, datagram),
            Session::Host(host) => host.receive(now, peer, datagram),
            Session::Dedicated(server) => server.receive(now, peer, datagram),
        }
    }

    /// Runs the ticks that are due, and writes what is to be sent: [`Client::update`], [`Host::update`] or [`Server::update`], which
    /// asks nobody for an `input`, and whose frame says no more than which ticks it has stepped.
    pub fn update(
        &mut self,
        now: Instant,
        world: &mut W,
        input: &mut dyn FnMut(Tick) -> W::Input,
        outbox: &mut Outbox,
    ) -> Frame<'_> {
        match self {
            Session::Client(client) => _ = client.update(now, world, input, outbox),
            Session::Host(host) => _ = host.update(now, world, input, outbox),
            Session::Dedicated(server) => _ = server.update(now, world, outbox),
        }
        self.frame(now)
    }

    /// What the last update did, by `now`: [`Client::frame`], [`Host::frame`], or which ticks a dedicated server has stepped.
    pub fn frame(&self, now: Instant) -> Frame<'_> {
        match self {
            Session::Client(client) => client.frame(now),
            Session::Host(host) => host.frame(),
            Session::Dedicated(server) => {
                let (state, tick, ticks) = (ClientState::Playing, server.frame().tick, server.frame().steps);
                Frame { state, tick, ticks, resimulated: 0, corrections: &[], events: &[], messages: &[] }
            }
        }
    }

    /// Sends a message of who plays here to the server: [`Client::send`], [`Host::send`].
    ///
    /// # Errors
    /// [`SendError`]: nothing of it is sent; nobody plays at a dedicated server.
    ///
    /// # Panics
    /// When the [rules](Rules::messages) have no such kind.
    pub fn send<M: Message>(&mut self, message: &M) -> Result<(), SendError> {
        match self {
            Session::Client(client) => client.send(message),
            Session::Host(host) => host.send(message),
            Session::Dedicated(_) => Err(SendError::NotPlaying),
        }
    }

    /// Fills `views` with every entity as it is to be drawn at `now`; with none where nobody plays here. Reads only.
    pub fn present(&self, now: Instant, views: &mut Views) {
        match self {
            Session::Client(client) => client.present(now, views),
            Session::Host(host) => host.present(now, views),
            Session::Dedicated(server) => views.clear(&server.rules().schema),
        }
    }

    /// Writes the datagram by which a client says good-bye ([`Client::leave`]). A server has nothing to say in its last moment that
    /// its clients could not find out: they are told by the transport.
    pub fn leave(&self, outbox: &mut Outbox) {
        if let Session::Client(client) = self {
            client.leave(outbox);
        }
    }

    /// Who plays here; `None` before they have joined, and where nobody does.
    pub fn player(&self) -> Option<PlayerId> {
        match self {
            Session::Client(client) => client.player(),
            Session::Host(host) => host.player(),
            Session::Dedicated(_) => None,
        }
    }

    /// The client, where it is one.
    pub fn client(&mut self) -> Option<&mut Client<W>> {
        match self {
            Session::Client(client) => Some(client),
            Session::Host(_) | Session::Dedicated(_) => None,
        }
    }

    /// The authority, where it is here.
    pub fn server(&mut self) -> Option<&mut Server<W>> {
        match self {
            Session::Client(_) => None,
            Session::Host(host) => Some(host.server_mut()),
            Session::Dedicated(server) => Some(server),
        }
    }
}
