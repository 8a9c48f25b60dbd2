//! A server with a loop of its own in place of `foretell_net::serve`: between the network, a `Gateway`, and the session, a
//! `Server`, stand a dozen lines. It plays the game of the example `line`, whose players join it:
//!
//! `cargo run -p foretell-net --example own_loop`, and in another terminal
//! `cargo run -p foretell-net --example line -- join URL NAME` with the address that it prints.

use foretell::session::server::ServerEvent;
use foretell::{Input, Outbox, Rules, Server, ServerConfig, Simulate, State, Step, Table, World};
use foretell_net::{Access, Account, Arrival, Certificates, Gateway, GatewayConfig, Limits, join_url};
use std::error::Error;
use std::time::Duration;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Buttons {
    up: bool,
}

#[derive(State, Clone, Copy, Default)]
struct Height {
    units: u32,
}

#[derive(World, Default)]
struct Line {
    heights: Table<Height>,
}

impl Simulate for Line {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.heights.remove_left(step);
        for joined in step.joined() {
            self.heights.spawn(step, joined.player, Height::default());
        }
        for mut height in self.heights.simulated(step) {
            height.units += step.input(height.owner()).map_or(0, |player| u32::from(player.input.up));
        }
    }
}

fn gateway(players_max: u16) -> std::io::Result<Gateway> {
    let config = GatewayConfig {
        access: Access::insecure_development(),
        certificates: Certificates::SelfSigned { names: vec!["127.0.0.1".to_owned()], kept_in: None },
        players_max: players_max.into(),
        limits: Limits::default(),
        origins: Vec::new(),
        idle_timeout: Duration::from_secs(10),
        sockets: true,
        rate_max: 1_000_000,
    };
    Gateway::bind("127.0.0.1:4433".parse().expect("an address"), config)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = ServerConfig::default();
    let mut gateway = gateway(config.players_max)?;
    println!("join {}", join_url("127.0.0.1", gateway.local_addr()?.port(), gateway.certificate_hashes()));
    let clock = gateway.clock();
    let mut server = Server::new(Rules::new(Line::schema()), config, rand_epoch(), clock.now());
    let (mut line, mut outbox) = (Line::default(), Outbox::new());
    loop {
        // Datagrams wait, and know when they came: nothing is gained by waking up for each.
        tokio::time::sleep(server.next_update().since(clock.now())).await;
        gateway.drain(clock.now(), &mut |arrival| match arrival {
            // What is malformed is counted there.
            Arrival::Datagram { at, peer, bytes } => drop(server.receive(at, peer, bytes)),
            Arrival::Account(peer, account) => server.identify(peer, account.map(Account::name)),
            Arrival::Left(peer) => server.leave(peer),
            Arrival::Released(peer) => server.release(peer),
        });
        let now = clock.now();
        server.update(now, &mut line, &mut outbox);
        gateway.note(&server, server.frame().events);
        gateway.send(now, &outbox);
        outbox.clear();
        for event in server.frame().events {
            if let ServerEvent::Joined(player) | ServerEvent::Left { player, .. } = event {
                println!("{event:?}: {:?}", gateway.account(*player));
            }
        }
    }
}

/// Another one at each start.
fn rand_epoch() -> u8 {
    foretell_net::random_key()[0]
}
