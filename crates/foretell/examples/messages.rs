//! What a game tells besides its state: a map when somebody joins, chat, and things that are bought in a step.

use foretell::session::client::ClientEvent;
use foretell::session::server::ServerEvent;
use foretell::{Client, ClientConfig, Frame, Input, Instant, Message, Messages, Rules, Server, ServerConfig};
use foretell::{ServerFrame, Simulate, State, Step, Table, Tick, To, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// In order, up and down: what somebody says.
#[derive(Serialize, Deserialize, Message, Clone)]
#[message(bytes_max = 1000)]
struct Chat {
    text: String,
}

/// To everybody who joins, beside whatever else is told: it waits for nothing, and nothing waits for it.
#[derive(Serialize, Deserialize, Message)]
struct Map {
    tiles: Vec<u8>,
}

/// From a player, as part of the tick in which they buy it: predicted, and the same on the server.
#[derive(Serialize, Deserialize, Message)]
#[message(in_step)]
enum Buy {
    Arrows(u16),
}

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {}

#[derive(State, Clone, Copy, Default)]
struct Archer {
    gold: u32,
    arrows: u16,
}

#[derive(World, Default)]
struct Range {
    archers: Table<Archer>,
}

impl Simulate for Range {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.archers.remove_left(step);
        for joined in step.joined() {
            self.archers.spawn(step, joined.player, Archer { gold: 100, arrows: 0 });
        }
        for mut archer in self.archers.simulated(step) {
            for Buy::Arrows(count) in step.messages_of(archer.owner()) {
                // A client may ask for anything.
                if let Some(left) = archer.gold.checked_sub(2 * u32::from(*count)) {
                    (archer.gold, archer.arrows) = (left, archer.arrows.saturating_add(*count));
                }
            }
        }
    }
}

#[derive(Default)]
struct Game {
    said: Vec<Chat>,
    newcomers: Vec<To>,
    has_spoken: [bool; 2],
    heard: [usize; 2],
    map: Option<usize>,
}

impl Driver<Range> for Game {
    fn input(&mut self, _player: usize, _tick: Tick) -> Keys {
        Keys {}
    }

    fn before_server(&mut self, _now: Instant, host: &mut ServerHost<Range>) {
        for newcomer in self.newcomers.drain(..) {
            host.server.send(newcomer, &Map { tiles: vec![7; 50_000] }).expect("a map has room");
        }
        for chat in self.said.drain(..) {
            // A player whose queue is full does not get it.
            let _ = host.server.send(To::All, &chat);
        }
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Range>, frame: &ServerFrame<'_>) {
        let joined = frame.events.iter().filter_map(|event| match event {
            // A program that was started again has no map either.
            ServerEvent::Joined(player) | ServerEvent::MessagesReset(player) => Some(To::Player(*player)),
            _ => None,
        });
        self.newcomers.extend(joined);
        for message in frame.messages {
            if let Some(chat) = message.get::<Chat>() {
                self.said.push(Chat { text: format!("{:?}: {}", message.from(), chat.text) });
            }
        }
    }

    fn before_client(&mut self, player: usize, _at: Moment, client: &mut Client<Range>) {
        if client.tick() >= Tick::new(200) && !core::mem::replace(&mut self.has_spoken[player], true) {
            client.send(&Chat { text: format!("hello from machine {player}") }).expect("it is short");
            client.send(&Buy::Arrows(10)).expect("it is small");
        }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Range>, frame: &Frame<'_>) {
        if frame.events.iter().any(|event| matches!(event, ClientEvent::Joined(_))) {
            println!("machine {player} plays, {} ms after the start", at.now.micros() / 1000);
        }
        for message in frame.messages {
            if let Some(chat) = message.get::<Chat>() {
                println!("machine {player} hears {}", chat.text);
                self.heard[player] += 1;
            } else if let Some(map) = message.get::<Map>() {
                println!("machine {player} has its map at {} ms", at.now.micros() / 1000);
                self.map = Some(map.tiles.len());
            }
        }
        for progress in client.message_progress().filter(|_| frame.tick.get().is_multiple_of(16) && frame.ticks > 0) {
            println!("machine {player} has {} of {} bytes of a {}", progress.come_bytes, progress.bytes, progress.name);
        }
    }
}

/// Five seconds of it.
pub fn main() {
    let messages = Messages::new().with::<Chat>().with::<Map>().with::<Buy>();
    let rules = Rules { messages, ..Rules::new(Range::schema()) };
    let mut session = Simulation::new(rules, ServerConfig::default(), Range::default(), 42);
    for latency in [30, 80].map(Duration::from_millis) {
        let conditions = Conditions { latency, loss: Loss::Uniform(0.05), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        session.add_player(PlayerOptions { client, host, conditions, world: Range::default() });
    }
    let mut game = Game::default();
    session.run_until(Instant::from_micros(5_000_000), &mut game);
    assert_eq!((game.heard, game.map), ([2, 2], Some(50_000)), "everybody has heard everybody");
    assert_eq!(session.server.world.archers.iter().count(), 2);
    for archer in session.server.world.archers.iter() {
        assert_eq!((archer.gold, archer.arrows), (80, 10));
    }
    let corrections: u64 = session.players.iter().map(|player| player.client.stats().prediction.corrections).sum();
    assert_eq!(corrections, 0, "what was bought was predicted");
}
