//! A server whose ticks a test runs, with a clock that may be ahead.

use super::{Arena, Guest, issuer, rules};
use foretell::{Outbox, Server, ServerConfig};
use foretell_net::{Access, Arrival, Certificates, Gateway, GatewayConfig, Limits};
use std::time::{Duration, Instant};

/// For a tick by the true clock.
pub const NOW: Duration = Duration::ZERO;

/// A server whose ticks the test runs.
pub struct ByHand {
    pub gateway: Gateway,
    pub server: Server<Arena>,
    world: Arena,
    outbox: Outbox,
}

impl ByHand {
    pub fn start() -> ByHand {
        ByHand::with(1, Limits::default())
    }

    pub fn with(players_max: u16, limits: Limits) -> ByHand {
        let config = GatewayConfig {
            access: Access::new("arena", issuer().public_key()),
            certificates: Certificates::SelfSigned { names: vec!["127.0.0.1".into()], kept_in: None },
            players_max: usize::from(players_max),
            limits,
            origins: Vec::new(),
            idle_timeout: Duration::from_secs(10),
            sockets: true,
            rate_max: 1_000_000,
        };
        let gateway = Gateway::bind("127.0.0.1:0".parse().expect("an address"), config).expect("a port");
        let server = Server::new(
            rules(),
            ServerConfig { players_max, timeout: Duration::from_secs(2), ..ServerConfig::default() },
            1,
            gateway.clock().now(),
        );
        ByHand { gateway, server, world: Arena::default(), outbox: Outbox::new() }
    }

    pub fn url(&self) -> String {
        let hash: String = self.gateway.certificate_hashes()[0].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("https://127.0.0.1:{}/#{hash}", self.gateway.local_addr().expect("an address").port())
    }

    /// A tick, in which the gateway's clock is ahead.
    pub fn tick(&mut self, ahead: Duration) {
        self.tick_with(ahead, &mut |_| {});
    }

    /// The same, and `each` sees what comes before the server does.
    pub fn tick_with(&mut self, ahead: Duration, each: &mut dyn FnMut(Arrival<'_>)) {
        let (now, server) = (self.gateway.clock().now(), &mut self.server);
        self.gateway.drain(now + ahead, &mut |arrival| {
            each(arrival);
            arrival.tell(server);
        });
        self.server.update(now, &mut self.world, &mut self.outbox);
        self.gateway.note(&self.server, self.server.frame().events);
        self.gateway.send(now + ahead, &self.outbox);
        self.outbox.clear();
    }

    /// Ticks until `done`, with frames of all guests.
    pub async fn run(
        &mut self,
        guests: &mut [Guest],
        ahead: Duration,
        mut done: impl FnMut(&mut [Guest], &Gateway) -> bool,
    ) {
        let began = Instant::now();
        while !done(guests, &self.gateway) {
            assert!(began.elapsed() < Duration::from_secs(40), "not within 40 s");
            for guest in guests.iter_mut() {
                guest.frame();
            }
            self.tick(ahead);
            tokio::time::sleep(Duration::from_millis(8)).await;
        }
    }
}
