//! Sessions that others join over a real network: the gateway of `foretell_net`, driven by the frames of an app.

use crate::driver::{Network, Over};
use crate::game_world::GameWorld;
use crate::net::background::Background;
use bevy_ecs::prelude::{Resource, World};
use core::time::Duration;
use foretell::{Input, Instant, Outbox, Rules, Schema, Session, SessionConfig, Start};
use foretell_net::{Access, Arrival, CertificateHash, Gateway, ServeConfig, epoch_of_now, join_url};
use std::io;
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

/// Where the server of this program is reached, while there is one.
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

/// A session that is served: a host's, or a dedicated one. The world has its [`Serving`] from now on.
pub(crate) fn serve<I: Input + Send + Sync>(
    serve: Serve,
    hosts: bool,
    world: &mut World,
    config: SessionConfig,
) -> Result<Over<I, Port>, String> {
    let in_words = |error: io::Error| error.to_string();
    let background = Background::new()?;
    // The host's player does not come over the network.
    let players = usize::from(config.server.players_max).saturating_sub(usize::from(hosts));
    let places = players + usize::from(config.server.spectators_max);
    let gateway = background.within(|| serve.config.bind(serve.address, places)).map_err(in_words)?;
    let address = gateway.local_addr().map_err(in_words)?;
    let serving = Serving { address, certificates: gateway.certificate_hashes().to_vec() };
    let epoch = epoch_of_now();
    let start = if hosts { Start::Host { epoch } } else { Start::Dedicated { epoch } };
    let session = Session::start(start, config, gateway.clock().now());
    if serve.prints {
        let url = serving.url("127.0.0.1");
        println!("join {url}\nin a browser, with your name: {PAGE}/?NAME#{url}");
    }
    world.insert_resource(serving);
    Ok(Over::new(session, Port { gateway, background }))
}

impl<I: Input + Send + Sync> Network<I> for Port {
    fn now(&self, _: Instant) -> Instant {
        self.gateway.clock().now()
    }

    fn take_in(&mut self, now: Instant, session: &mut Session<GameWorld<I>>, _: &mut World) {
        let Port { gateway, background } = self;
        background.within(|| {
            gateway.drain(now, &mut |arrival| match (arrival, session.server()) {
                // What is malformed is counted there.
                (Arrival::Datagram { at, peer, bytes }, _) => drop(session.receive(at, peer, bytes)),
                (other, Some(server)) => other.tell(server),
                (_, None) => {}
            });
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

    fn close(self, world: &mut World) {
        let Port { mut gateway, background } = self;
        world.remove_resource::<Serving>();
        gateway.begin_to_drain(gateway.clock().now(), Duration::ZERO);
        background.finish(gateway.close());
    }
}
