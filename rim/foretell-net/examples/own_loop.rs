//! A server with a loop of its own in place of `foretell_net::serve`: between the network, a `Gateway`, and the session, a
//! `Server`, stand a dozen lines. It plays the game of the example `line`, whose players join it:
//!
//! `cargo run -p foretell-net --example own_loop`, and in another terminal
//! `cargo run -p foretell-net --example line -- join URL NAME` with the address that it prints.

use foretell::session::server::ServerEvent;
use foretell::{Input, Outbox, Rules, Server, ServerConfig, Simulate, State, Step, Table, World};
use foretell_net::{Access, ServeConfig, epoch_of_now, join_url};
use std::error::Error;

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

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (rules, config) = (Rules::new(Line::schema()), ServerConfig::default());
    let serve = ServeConfig::new(rules.clone(), Access::insecure_development());
    let at = "127.0.0.1:4433".parse()?;
    let mut gateway = serve.bind(at, config.players_max.into())?;
    println!("join {}", join_url("127.0.0.1", gateway.local_addr()?.port(), gateway.certificate_hashes()));
    let clock = gateway.clock();
    let mut server = Server::new(rules, config, epoch_of_now(), clock.now());
    let (mut line, mut outbox) = (Line::default(), Outbox::new());
    loop {
        // Datagrams wait, and know when they came: nothing is gained by waking up for each.
        tokio::time::sleep(server.next_update().since(clock.now())).await;
        gateway.drain(clock.now(), &mut |arrival| arrival.tell(&mut server));
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
