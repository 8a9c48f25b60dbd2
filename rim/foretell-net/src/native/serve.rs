//! A running server in one call: the gateway, a `foretell::Server`, and the loop that drives both.

use crate::account::Account;
use crate::join_url::CertificateHash;
use crate::native::admission::Access;
use crate::native::certificate::Certificates;
use crate::native::gateway::Gateway;
use crate::native::join_url::join_url;
use crate::native::limits::Limits;
use crate::native::listen::GatewayConfig;
use crate::native::server_tick::ServerTick;
use crate::native::tick_times::TickTimes;
use crate::native::traffic::Traffic;
use foretell::session::server::{ServerEvent, ServerTotals};
use foretell::{Outbox, Reason, Rules, Server, Tick, World};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

/// How a server runs.
#[derive(Clone)]
pub struct ServeConfig {
    /// What its clients have in common with it.
    pub rules: Rules,
    /// What the session decides by itself; its `players_max` and `spectators_max` count for the connections as well, as they are at the
    /// start: raised later they let nobody more in.
    pub session: foretell::ServerConfig,
    /// Who may play.
    pub access: Access,
    /// What the server proves itself with. Default: of its own, for `localhost`, `127.0.0.1` and `::1`.
    pub certificates: Certificates,
    /// How many connections there may be.
    pub limits: Limits,
    /// From which pages browsers may connect, each as `https://host:port`. Default none.
    pub origins: Vec<String>,
    /// After so long without a packet a connection is lost. Default 10 s.
    pub idle_timeout: Duration,
    /// Whether WebSockets over TLS are taken as well, on the same number of a TCP port: for networks that let no UDP pass.
    /// Default true.
    pub sockets: bool,
}

impl ServeConfig {
    /// The defaults for a game with these rules.
    pub fn new(rules: Rules, access: Access) -> ServeConfig {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        ServeConfig {
            rules,
            session: foretell::ServerConfig::default(),
            access,
            certificates: Certificates::SelfSigned { names, kept_in: None },
            limits: Limits::default(),
            origins: Vec::new(),
            idle_timeout: Duration::from_secs(10),
            sockets: true,
        }
    }

    /// The gateway of a session with so many places for those who come over the network, for who has a loop of their own: `rules` and
    /// `session` don't count.
    ///
    /// # Errors
    /// As [`Gateway::bind`].
    pub fn bind(self, address: SocketAddr, places: usize) -> io::Result<Gateway> {
        let config = GatewayConfig {
            access: self.access,
            certificates: self.certificates,
            players_max: places,
            limits: self.limits,
            origins: self.origins,
            idle_timeout: self.idle_timeout,
            sockets: self.sockets,
            rate_max: 1_000_000,
        };
        Gateway::bind(address, config)
    }
}

/// How a running server fares, as of the last tick. Counters begin with the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// The next tick.
    pub tick: Tick,
    /// Players in the session, lost ones too.
    pub players: usize,
    /// Connections that are admitted.
    pub connections: usize,
    /// Connections that are not admitted yet.
    pub handshakes: usize,
    /// How long each tick since the start took: taking in, stepping, writing, sending, and the hook.
    pub tick_times: TickTimes,
    /// What the session has counted. Who was not admitted to it is in `traffic`.
    pub totals: ServerTotals,
    /// Ticks that were skipped, as the server stood still.
    pub skipped: u64,
    /// Whether it takes nobody new any more.
    pub draining: bool,
    /// What the network has carried.
    pub traffic: Traffic,
}

enum Order {
    Drain(Duration),
    Remove(Account, Reason),
}

/// A server that runs. Dropping it ends the server at once; [`drain`](Running::drain) ends it gently.
pub struct Running {
    address: SocketAddr,
    hashes: watch::Receiver<Vec<CertificateHash>>,
    status: watch::Receiver<Status>,
    orders: mpsc::UnboundedSender<Order>,
    task: JoinHandle<()>,
}

/// Starts a server on `address` that runs `world`, in the runtime of tokio in which it is called.
///
/// # Errors
/// When the address is taken, or there are no certificates.
pub async fn serve<W>(address: SocketAddr, world: W, config: ServeConfig) -> io::Result<Running>
where
    W: World + Send + 'static,
    W::Input: Send,
    W::Saved: Send,
{
    serve_with(address, world, config, |_| {}).await
}

/// The same with a hook, which is called after each update, when its datagrams are sent: to know which account plays as which
/// player, to save what they have, to look at the world, to change it, to remove players. It runs on the server's loop, and
/// counts among [`Status::tick_times`]: what takes longer than a fraction of a tick belongs to another task.
///
/// ```no_run
/// use foretell::World;
/// use foretell::session::server::ServerEvent;
/// use foretell_net::{Running, ServeConfig, ServerTick, serve_with};
///
/// async fn server<W>(world: W, config: ServeConfig) -> std::io::Result<Running>
/// where
///     W: World<Input: Send, Saved: Send> + Send + 'static,
/// {
///     let hook = |tick: &mut ServerTick<'_, W>| {
///         for event in tick.events() {
///             if let ServerEvent::Joined(player) | ServerEvent::Left { player, .. } = event {
///                 println!("{event:?}: {:?}", tick.account(*player));
///             }
///         }
///     };
///     serve_with("0.0.0.0:4433".parse().expect("an address"), world, config, hook).await
/// }
/// ```
///
/// # Errors
/// As [`serve`].
pub async fn serve_with<W>(
    address: SocketAddr,
    world: W,
    config: ServeConfig,
    hook: impl FnMut(&mut ServerTick<'_, W>) + Send + 'static,
) -> io::Result<Running>
where
    W: World + Send + 'static,
    W::Input: Send,
    W::Saved: Send,
{
    let (rules, session) = (config.rules.clone(), config.session);
    let places = usize::from(session.players_max) + usize::from(session.spectators_max);
    let gateway = config.bind(address, places)?;
    let address = gateway.local_addr()?;
    let between = Duration::from_secs(1) / u32::from(rules.tick_rate.get());
    let server = Server::new(rules, session, epoch_of_now(), gateway.clock().now());
    let (hashes_in, hashes) = watch::channel(gateway.certificate_hashes().to_vec());
    let (status_in, status) = watch::channel(Status::default());
    let (orders, taken) = mpsc::unbounded_channel();
    let running = Loop {
        gateway,
        server,
        world,
        hook,
        outbox: Outbox::new(),
        tick_times: TickTimes::default(),
        skipped: 0,
        hashes: hashes_in,
        status: status_in,
    };
    let task = tokio::spawn(running.run(between, taken));
    Ok(Running { address, hashes, status, orders, task })
}

/// For the `epoch` of a server: another one than that of the server before, as long as they start at least a second and less than 256 s
/// apart.
#[expect(clippy::cast_possible_truncation, reason = "the low bits are what is wanted")]
pub fn epoch_of_now() -> u8 {
    (crate::UnixTime::now().0 / 1000) as u8
}

impl Running {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The hashes of its certificates, the one in use first; the second follows it. None where an authority has signed them.
    pub fn certificate_hashes(&self) -> Vec<CertificateHash> {
        self.hashes.borrow().clone()
    }

    /// The same for who watches over them: they change every few days.
    pub fn watch_certificate_hashes(&self) -> watch::Receiver<Vec<CertificateHash>> {
        self.hashes.clone()
    }

    /// The address for [`connect`](crate::connect), with the hashes of the certificates, if there are any, after the `#`. No secret.
    pub fn url(&self, host: &str) -> String {
        join_url(host, self.address.port(), &self.hashes.borrow())
    }

    /// How it fares.
    pub fn status(&self) -> Status {
        *self.status.borrow()
    }

    /// The same, for who waits for changes.
    pub fn watch(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Takes no new players from now on, tells those who are there, and ends when all have left, or after `limit`.
    pub fn drain(&self, limit: Duration) {
        let _ = self.orders.send(Order::Drain(limit));
    }

    /// Removes a player, who is told why; who comes back needs a new token.
    pub fn remove(&self, account: Account, reason: impl Into<Reason>) {
        let _ = self.orders.send(Order::Remove(account, reason.into()));
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// When the game or its hook has panicked: then the server is gone without having been told to drain.
    pub async fn ended(mut self) -> io::Result<()> {
        (&mut self.task).await.map_err(io::Error::other)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Loop<W: World, H> {
    gateway: Gateway,
    server: Server<W>,
    world: W,
    hook: H,
    outbox: Outbox,
    tick_times: TickTimes,
    skipped: u64,
    hashes: watch::Sender<Vec<CertificateHash>>,
    status: watch::Sender<Status>,
}

impl<W: World, H: FnMut(&mut ServerTick<'_, W>)> Loop<W, H> {
    async fn run(mut self, between: Duration, mut orders: mpsc::UnboundedReceiver<Order>) {
        let mut ticks = tokio::time::interval(between);
        // What a stall has cost is up to the session: it skips or catches up.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while !self.gateway.is_drained(self.gateway.clock().now()) {
            ticks.tick().await;
            while let Ok(order) = orders.try_recv() {
                self.obey(order);
            }
            self.tick();
        }
        self.gateway.close().await;
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Drain(limit) => {
                self.server.config_mut().draining = true;
                self.gateway.begin_to_drain(self.gateway.clock().now(), limit);
            }
            Order::Remove(account, reason) => self.gateway.remove(&mut self.server, &account, reason),
        }
    }

    fn tick(&mut self) {
        let clock = self.gateway.clock();
        let began = clock.now();
        let server = &mut self.server;
        self.gateway.drain(began, &mut |arrival| arrival.tell(server));
        let now = clock.now();
        let (tick, steps) = {
            let frame = self.server.update(now, &mut self.world, &mut self.outbox);
            (frame.tick, frame.steps)
        };
        tracing::trace!(tick = tick.get(), steps, "tick");
        self.gateway.note(&self.server, self.server.frame().events);
        self.skipped += skipped(self.server.frame().events);
        self.gateway.send(now, &self.outbox);
        self.outbox.clear();
        let Loop { gateway, server, world, .. } = self;
        (self.hook)(&mut ServerTick { now, steps, world, server, gateway });
        self.tick_times.add(clock.now().since(began));
        self.tell(tick);
    }

    fn tell(&self, tick: Tick) {
        let (connections, handshakes) = self.gateway.connections();
        self.status.send_replace(Status {
            tick,
            players: self.server.players().count(),
            connections,
            handshakes,
            tick_times: self.tick_times,
            totals: self.server.totals(),
            skipped: self.skipped,
            draining: self.gateway.is_draining(),
            traffic: self.gateway.traffic(),
        });
        self.hashes.send_if_modified(|told| {
            let hashes = self.gateway.certificate_hashes();
            let changed = told != hashes;
            if changed {
                *told = hashes.to_vec();
            }
            changed
        });
    }
}

fn skipped(events: &[ServerEvent]) -> u64 {
    let skipped = events.iter().map(|event| match event {
        ServerEvent::SkippedTicks(ticks) => u64::from(*ticks),
        _ => 0,
    });
    skipped.sum()
}
