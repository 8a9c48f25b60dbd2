//! Sessions over real networks: what `foretell_net` has, driven by the frames of an app.

use crate::driver::{Driver, End, end_of};
use crate::game_world::GameWorld;
use bevy_ecs::prelude::Resource;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use foretell::{
    ClientState, Frame, Input, Instant, Outbox, PlayerId, Rules, Schema, Server, Session, SessionConfig, Start, Tick,
    Views,
};
use foretell_net::{
    Access, Account, Arrival, CertificateHash, Clock, ConnectError, Connected, Credential, Gateway, GatewayConfig,
    JoinConfig, Player, ServeConfig, Token, UnixTime, join_url,
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

/// A server, or a host, and its connections.
pub(crate) struct Served<I: Input + Send + Sync> {
    session: Session<GameWorld<I>>,
    outbox: Outbox,
    clock: Clock,
    gateway: Gateway,
    runtime: Runtime,
}

impl<I: Input + Send + Sync> Served<I> {
    pub fn new(serve: Serve, config: SessionConfig, hosts: bool) -> Result<Served<I>, String> {
        let runtime = runtime()?;
        let inside = runtime.enter();
        let (server, ServeConfig { access, certificates, limits, origins, idle_timeout, sockets, .. }) =
            (config.server, serve.config);
        let places = usize::from(server.players_max).saturating_sub(usize::from(hosts));
        let players_max = places + usize::from(server.spectators_max);
        let rate_max = 1_000_000;
        let gateway =
            GatewayConfig { access, certificates, players_max, limits, origins, idle_timeout, sockets, rate_max };
        let gateway = Gateway::bind(serve.address, gateway).map_err(|error| error.to_string())?;
        let (clock, [epoch, ..]) = (gateway.clock(), (UnixTime::now().0 / 1000).to_le_bytes());
        let start = if hosts { Start::Host { epoch } } else { Start::Dedicated { epoch } };
        let session = Session::start(start, config, clock.now());
        drop(inside);
        Ok(Served { session, outbox: Outbox::new(), clock, gateway, runtime })
    }

    pub fn serving(&self) -> Option<Serving> {
        let certificates = self.gateway.certificate_hashes().to_vec();
        Some(Serving { address: self.gateway.local_addr().ok()?, certificates })
    }
}

/// The authority of a session that has it.
fn server<I: Input + Send + Sync>(session: &Session<GameWorld<I>>) -> Option<&Server<GameWorld<I>>> {
    match session {
        Session::Client(_) => None,
        Session::Host(host) => Some(host.server()),
        Session::Dedicated(server) => Some(server),
    }
}

impl<I: Input + Send + Sync> Driver<I> for Served<I> {
    fn update(&mut self, _: Instant, game: &mut GameWorld<I>, input: I) -> Frame<'_> {
        let Served { session, outbox, clock, gateway, runtime } = self;
        let _inside = runtime.enter();
        gateway.drain(clock.now(), &mut |arrival| {
            if let Arrival::Datagram { at, peer, bytes } = arrival {
                // What is malformed is counted there.
                _ = session.receive(at, peer, bytes);
            } else if let Some(server) = session.server() {
                match arrival {
                    Arrival::Datagram { .. } => {}
                    Arrival::Account(peer, account) => server.identify(peer, account.map(Account::name)),
                    Arrival::Left(peer) => server.leave(peer),
                    Arrival::Released(peer) => server.release(peer),
                }
            }
        });
        let now = clock.now();
        let (tick, ticks) = {
            let frame = session.update(now, game, &mut |_| input, outbox);
            (frame.tick, frame.ticks)
        };
        if let Some(server) = server(session) {
            gateway.note(server, server.frame().events);
        }
        gateway.send(now, outbox);
        outbox.clear();
        match session {
            Session::Host(host) => host.frame(),
            _ => Frame { ticks, ..idle(ClientState::Playing, tick) },
        }
    }

    fn present(&self, _: Instant, views: &mut Views) {
        self.session.present(self.clock.now(), views);
    }

    fn player(&self) -> Option<PlayerId> {
        self.session.player()
    }

    fn end(&mut self) -> Option<End<'_, I>> {
        Some(end_of(&mut self.session))
    }

    fn leave(self: Box<Self>, _: &mut GameWorld<I>) {
        let Served { mut gateway, clock, runtime, .. } = *self;
        gateway.begin_to_drain(clock.now(), Duration::ZERO);
        runtime.block_on(gateway.close());
    }
}

/// A frame in which nothing has happened.
fn idle(state: ClientState, tick: Tick) -> Frame<'static> {
    Frame { state, tick, ticks: 0, resimulated: 0, corrections: &[], events: &[], messages: &[] }
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

    fn leave(self: Box<Self>, _: &mut GameWorld<I>) {
        let Joined { way, runtime } = *self;
        if let Way::Playing(player) = way {
            runtime.block_on(player.leave());
        }
    }
}
