//! Sessions over real networks: what `foretell_net` has, driven by the frames of an app.

use crate::driver::{Driver, End, Network, Over, idle};
use crate::game_world::GameWorld;
use bevy_ecs::prelude::{Resource, World};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use foretell::{
    ClientState, Frame, Input, Instant, Outbox, PlayerId, Rules, Schema, Session, SessionConfig, Start, Tick, Views,
};
use foretell_net::{
    Access, Account, Arrival, CertificateHash, ConnectError, Connected, Credential, Gateway, GatewayConfig, JoinConfig,
    Player, ServeConfig, Token, UnixTime, join_url,
};
use std::net::SocketAddr;
use tokio::runtime::{Builder, Runtime};

/// A server on a port. Resource [`Serving`] has its address, once it is there.
pub struct Serve {
    address: SocketAddr,
    /// How it is reached, and by whom. Its `rules` and `session` do not count: the plugin's do.
    pub config: ServeConfig,
}

impl Serve {
    /// Who may play says `access`; [`Access::insecure_development`] lets in anybody under any name.
    pub fn at(address: SocketAddr, access: Access) -> Serve {
        Serve { address, config: ServeConfig::new(Rules::new(Schema::default()), access) }
    }
}

/// A player of a server elsewhere.
pub struct Connect {
    url: String,
    credential: Credential,
    /// As what they come. Its `rules` and `client` do not count: the plugin's do.
    pub config: JoinConfig,
}

impl Connect {
    /// To the server at `url` ([`Serving::url`]), with a token or a ticket.
    pub fn to(url: &str, credential: impl Into<Credential>) -> Connect {
        let config = JoinConfig::new(Rules::new(Schema::default()));
        Connect { url: url.to_owned(), credential: credential.into(), config }
    }
}

/// A token for a server that lets in anybody under any name ([`Access::insecure_development`]); `None` where that is no name: 1 to 64
/// bytes.
pub fn insecure_token(name: &str) -> Option<Token> {
    Some(Token::insecure(&Account::new(name)?, UnixTime::now()))
}

/// Where the server of this program is reached.
#[derive(Resource, Clone, Debug)]
pub struct Serving {
    address: SocketAddr,
    certificates: Vec<CertificateHash>,
}

impl Serving {
    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What others [connect to](Connect::to), at this name of the machine.
    pub fn url(&self, host: &str) -> String {
        join_url(host, self.address.port(), &self.certificates)
    }
}

/// Where connections are kept: beside the app, in a thread of its own.
fn runtime() -> Result<Runtime, String> {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(|error| error.to_string())
}

/// The connections of a server, or of a host.
pub(crate) struct Port {
    gateway: Gateway,
    runtime: Runtime,
}

/// A session that is served: a host's, or a dedicated one.
pub(crate) fn serve<I: Input + Send + Sync>(
    serve: Serve,
    config: SessionConfig,
    hosts: bool,
) -> Result<(Over<I, Port>, Serving), String> {
    let (runtime, server) = (runtime()?, config.server);
    let ServeConfig { access, certificates, limits, origins, idle_timeout, sockets, .. } = serve.config;
    let places = usize::from(server.players_max).saturating_sub(usize::from(hosts));
    let (players_max, rate_max) = (places + usize::from(server.spectators_max), RATE_MAX);
    let gateway = GatewayConfig { access, certificates, players_max, limits, origins, idle_timeout, sockets, rate_max };
    let bound = {
        let _inside = runtime.enter();
        Gateway::bind(serve.address, gateway).and_then(|gateway| Ok((gateway.local_addr()?, gateway)))
    };
    let (address, gateway) = bound.map_err(|error| error.to_string())?;
    let serving = Serving { address, certificates: gateway.certificate_hashes().to_vec() };
    let [epoch, ..] = (UnixTime::now().0 / 1000).to_le_bytes();
    let start = if hosts { Start::Host { epoch } } else { Start::Dedicated { epoch } };
    let session = Session::start(start, config, gateway.clock().now());
    Ok((Over::new(session, Port { gateway, runtime }), serving))
}

/// What a server sends to one client at most, in bytes per second.
const RATE_MAX: u64 = 1_000_000;

impl<I: Input + Send + Sync> Network<I> for Port {
    fn now(&self, _: Instant) -> Instant {
        self.gateway.clock().now()
    }

    fn take_in(&mut self, now: Instant, session: &mut Session<GameWorld<I>>, _: &mut World) {
        let _inside = self.runtime.enter();
        self.gateway.drain(now, &mut |arrival| {
            if let Arrival::Datagram { at, peer, bytes } = arrival {
                // What is malformed is counted there.
                _ = session.receive(at, peer, bytes);
            }
            let Some(server) = session.server() else { return };
            match arrival {
                Arrival::Datagram { .. } => {}
                Arrival::Account(peer, account) => server.identify(peer, account.map(Account::name)),
                Arrival::Left(peer) => server.leave(peer),
                Arrival::Released(peer) => server.release(peer),
            }
        });
    }

    fn send(&mut self, now: Instant, session: &mut Session<GameWorld<I>>, outbox: &mut Outbox, _: &mut World) {
        let _inside = self.runtime.enter();
        if let Some(server) = session.server() {
            self.gateway.note(server, server.frame().events);
        }
        self.gateway.send(now, outbox);
        outbox.clear();
    }

    fn close(self: Box<Self>) {
        let Port { mut gateway, runtime } = *self;
        gateway.begin_to_drain(gateway.clock().now(), Duration::ZERO);
        runtime.block_on(gateway.close());
    }
}

/// A connection that is being made.
type Connecting<I> = Pin<Box<dyn Future<Output = Result<Player<GameWorld<I>>, ConnectError>>>>;

/// How far a player is on the way to the server.
enum Way<I: Input + Send + Sync> {
    Connecting(Connecting<I>),
    Playing(Box<Player<GameWorld<I>>>),
    Failed(String),
}

/// A player of a server elsewhere.
pub(crate) struct Joined<I: Input + Send + Sync> {
    way: Way<I>,
    runtime: Runtime,
}

impl<I: Input + Send + Sync> Joined<I> {
    pub fn new(connect: Connect, config: SessionConfig) -> Result<Joined<I>, String> {
        let Connect { url, credential, config: join } = connect;
        let config = JoinConfig { rules: config.rules, client: config.client, ..join };
        let connecting = async move { foretell_net::connect(&url, credential, config).await };
        Ok(Joined { way: Way::Connecting(Box::pin(connecting)), runtime: runtime()? })
    }

    /// Looks whether the connection is there by now. Nobody has to wake it: each frame looks.
    fn look(&mut self) {
        if let Way::Connecting(connecting) = &mut self.way {
            match connecting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Pending => {}
                Poll::Ready(Ok(player)) => self.way = Way::Playing(Box::new(player)),
                Poll::Ready(Err(why)) => self.way = Way::Failed(why.to_string()),
            }
        }
    }
}

impl<I: Input + Send + Sync> Driver<I> for Joined<I> {
    fn update(&mut self, _: Instant, game: &mut GameWorld<I>, input: I) -> Frame<'_> {
        let handle = self.runtime.handle().clone();
        let _inside = handle.enter();
        self.look();
        match &mut self.way {
            Way::Playing(player) => player.update(game, &mut |_| input),
            _ => idle(ClientState::Joining, Tick::ZERO),
        }
    }

    fn present(&self, _: Instant, views: &mut Views) {
        if let Way::Playing(player) = &self.way {
            player.present(views);
        }
    }

    fn player(&self) -> Option<PlayerId> {
        match &self.way {
            Way::Playing(player) => player.client().player(),
            _ => None,
        }
    }

    fn end(&mut self) -> Option<End<'_, I>> {
        match &mut self.way {
            Way::Playing(player) => Some(End::Client(player.client_mut())),
            _ => None,
        }
    }

    fn failed(&self) -> Option<String> {
        match &self.way {
            Way::Failed(why) => Some(why.clone()),
            Way::Connecting(_) => None,
            Way::Playing(player) => match player.connected() {
                Connected::Yes | Connected::Rejoining => None,
                Connected::Closed(why) => Some(why.to_string()),
                Connected::Refused(why) => Some(why.to_string()),
                Connected::GivenUp => Some("the server has not answered for too long".to_owned()),
            },
        }
    }

    fn leave(self: Box<Self>, _: Instant, _: &mut GameWorld<I>) {
        let Joined { way, runtime } = *self;
        if let Way::Playing(player) = way {
            runtime.block_on(player.leave());
        }
    }
}
