//! Sessions that others join over a real network: the gateway of `foretell_net`, driven by the frames of an app.

use crate::driver::{Network, Over};
use crate::game_world::GameWorld;
use crate::net::background::Background;
use bevy_ecs::prelude::{Resource, World};
use core::time::Duration;
use foretell::{Input, Instant, Outbox, Rules, Schema, Session, SessionConfig, Start};
use foretell_net::{
    Access, Account, Arrival, CertificateHash, Gateway, GatewayConfig, ServeConfig, UnixTime, join_url,
};
use std::net::SocketAddr;

/// A server on a port. Resource [`Serving`] has its address, once it is there.
pub struct Serve {
    address: SocketAddr,
    /// How it is reached, and by whom. Its `rules` and `session` do not count: the plugin's do.
    pub config: ServeConfig,
    /// Whether it prints where it is joined.
    prints: bool,
}

impl Serve {
    /// Who may play says `access`; [`Access::insecure_development`] lets in anybody under any name.
    pub fn at(address: SocketAddr, access: Access) -> Serve {
        Serve { address, config: ServeConfig::new(Rules::new(Schema::default()), access), prints: false }
    }

    /// On this machine, for anybody.
    pub(crate) fn in_development() -> Serve {
        let mut serve = Serve::at(([127, 0, 0, 1], 4433).into(), Access::insecure_development());
        (serve.config.origins, serve.prints) = (vec![PAGE.to_owned()], true);
        serve
    }
}

/// Where pages are served from whose games join a server in development.
const PAGE: &str = "http://localhost:8000";

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

    /// What others [connect to](crate::Connect::to), at this name of the machine.
    pub fn url(&self, host: &str) -> String {
        join_url(host, self.address.port(), &self.certificates)
    }
}

/// The connections of a server, or of a host.
pub(crate) struct Port {
    gateway: Gateway,
    background: Background,
}

/// A session that is served: a host's, or a dedicated one.
pub(crate) fn serve<I: Input + Send + Sync>(
    serve: Serve,
    config: SessionConfig,
    hosts: bool,
) -> Result<(Over<I, Port>, Serving), String> {
    let (background, server) = (Background::new()?, config.server);
    let ServeConfig { access, certificates, limits, origins, idle_timeout, sockets, .. } = serve.config;
    let places = usize::from(server.players_max).saturating_sub(usize::from(hosts));
    let (players_max, rate_max) = (places + usize::from(server.spectators_max), RATE_MAX);
    let gateway = GatewayConfig { access, certificates, players_max, limits, origins, idle_timeout, sockets, rate_max };
    let bound = background.within(|| Gateway::bind(serve.address, gateway));
    let found = bound.and_then(|gateway| Ok((gateway.local_addr()?, gateway)));
    let (address, gateway) = found.map_err(|error| error.to_string())?;
    let serving = Serving { address, certificates: gateway.certificate_hashes().to_vec() };
    if serve.prints {
        let url = serving.url("127.0.0.1");
        println!("join {url}\nin a browser, with your name: {PAGE}/?NAME#{url}");
    }
    let [epoch, ..] = (UnixTime::now().0 / 1000).to_le_bytes();
    let start = if hosts { Start::Host { epoch } } else { Start::Dedicated { epoch } };
    let session = Session::start(start, config, gateway.clock().now());
    Ok((Over::new(session, Port { gateway, background }), serving))
}

/// What a server sends to one client at most, in bytes per second.
const RATE_MAX: u64 = 1_000_000;

impl<I: Input + Send + Sync> Network<I> for Port {
    fn now(&self, _: Instant) -> Instant {
        self.gateway.clock().now()
    }

    fn take_in(&mut self, now: Instant, session: &mut Session<GameWorld<I>>, _: &mut World) {
        let Port { gateway, background } = self;
        background.within(|| {
            gateway.drain(now, &mut |arrival| {
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
            })
        });
    }

    fn send(&mut self, now: Instant, session: &mut Session<GameWorld<I>>, outbox: &mut Outbox, _: &mut World) {
        let Port { gateway, background } = self;
        background.within(|| {
            if let Some(server) = session.server() {
                gateway.note(server, server.frame().events);
            }
            gateway.send(now, outbox);
        });
        outbox.clear();
    }

    fn close(self: Box<Self>) {
        let Port { mut gateway, background } = *self;
        gateway.begin_to_drain(gateway.clock().now(), Duration::ZERO);
        background.finish(gateway.close());
    }
}
