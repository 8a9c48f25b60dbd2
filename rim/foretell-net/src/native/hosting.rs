//! A server in a player's program, over real networks: a `foretell::Host`, and the connections of those who join it; or nobody's.

use crate::join_url::CertificateHash;
use crate::native::Clock;
use crate::native::gateway::Gateway;
use crate::native::join_url::join_url;
use crate::native::serve::{ServeConfig, epoch_of_now};
use crate::native::traffic::Arrival;
use foretell::JoinDataTooLong;
use foretell::session::client::Show;
use foretell::{Frame, Host, Outbox, PlayerId, Rules, Server, ServerConfig, Tick, Views, World};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A player who hosts, or plays alone: driven as a [`Player`](crate::Player) is, [`update`](Hosting::update) once per rendered
/// frame, but at least once per tick, then [`present`](Hosting::present).
///
/// Dropping it cuts everybody off; [`close`](Hosting::close) tells them.
pub struct Hosting<W: World> {
    host: Host<W>,
    outbox: Outbox,
    clock: Clock,
    /// `None` where nobody else can come.
    gateway: Option<Gateway>,
}

/// Hosts a session on `address`, in the runtime of tokio in which it is called. One of the session's
/// [places](ServerConfig::players_max) is the host's.
///
/// # Errors
/// When the address is taken, or there are no certificates.
pub fn host<W: World>(address: SocketAddr, config: ServeConfig, show: Show) -> io::Result<Hosting<W>> {
    let (rules, session) = (config.rules.clone(), config.session);
    let places = usize::from(session.players_max).saturating_sub(1) + usize::from(session.spectators_max);
    let gateway = config.bind(address, places)?;
    let clock = gateway.clock();
    let server = Server::new(rules, session, epoch_of_now(), clock.now());
    Ok(Hosting { host: Host::of(server, show), outbox: Outbox::new(), clock, gateway: Some(gateway) })
}

/// Plays alone: as [`host`], without a network.
pub fn alone<W: World>(rules: Rules, config: ServerConfig, show: Show) -> Hosting<W> {
    let (clock, config) = (Clock::start(), ServerConfig { players_max: 1, spectators_max: 0, ..config });
    let server = Server::new(rules, config, 0, clock.now());
    Hosting { host: Host::of(server, show), outbox: Outbox::new(), clock, gateway: None }
}

impl<W: World> Hosting<W> {
    /// The same with what the game is to know of the player when they join, as [`JoinConfig::data`](crate::JoinConfig::data) of others.
    ///
    /// # Errors
    /// When it is longer than 1000 bytes.
    pub fn with_data(self, data: impl Into<Vec<u8>>) -> Result<Hosting<W>, JoinDataTooLong> {
        Ok(Hosting { host: self.host.with_data(data)?, ..self })
    }

    /// Takes in what has come, steps the ticks that are due, and sends what there is to send. `world` is the truth: what it has at
    /// first everybody is told. `input` is called once for each tick that is stepped.
    pub fn update(&mut self, world: &mut W, input: &mut dyn FnMut(Tick) -> W::Input) -> Frame<'_> {
        let Hosting { host, outbox, clock, gateway } = self;
        if let Some(gateway) = gateway {
            gateway.drain(clock.now(), &mut |arrival| match arrival {
                // What is malformed is counted there.
                Arrival::Datagram { at, peer, bytes } => drop(host.receive(at, peer, bytes)),
                other => other.tell(host.server_mut()),
            });
        }
        let now = clock.now();
        host.update(now, world, input, outbox);
        if let Some(gateway) = gateway {
            gateway.note(host.server(), host.server().frame().events);
            gateway.send(now, outbox);
        }
        outbox.clear();
        host.frame()
    }

    /// Fills `views` with every entity as it is to be drawn now.
    pub fn present(&self, views: &mut Views) {
        self.host.present(self.clock.now(), views);
    }

    /// Who plays here; `None` before the first update.
    pub fn player(&self) -> Option<PlayerId> {
        self.host.player()
    }

    /// The session.
    pub fn host(&self) -> &Host<W> {
        &self.host
    }

    /// The same, to be configured.
    pub fn host_mut(&mut self) -> &mut Host<W> {
        &mut self.host
    }

    /// The connections of the others; `None` where nobody else can come.
    pub fn gateway(&self) -> Option<&Gateway> {
        self.gateway.as_ref()
    }

    /// The clock of the session.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The address by which others [join](crate::connect), at this name of the machine; `None` where nobody else can come.
    pub fn url(&self, name: &str) -> Option<String> {
        let gateway = self.gateway.as_ref()?;
        let hashes: &[CertificateHash] = gateway.certificate_hashes();
        Some(join_url(name, gateway.local_addr().ok()?.port(), hashes))
    }

    /// Ends the session, and tells everybody.
    pub async fn close(mut self) {
        if let Some(mut gateway) = self.gateway.take() {
            gateway.begin_to_drain(self.clock.now(), Duration::ZERO);
            gateway.close().await;
        }
    }
}
