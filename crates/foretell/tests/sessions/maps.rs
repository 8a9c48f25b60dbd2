//! Recordings of a game that changes its world between updates: a map that comes as a message, and what the server's loop sets.

use crate::common::recorder;
use core::time::Duration;
use foretell::{
    Client, ClientConfig, Frame, Input, Instant, Message, Messages, PlayerId, Rules, ServerConfig, Simulate, State,
    Step, Table, Tick, To, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::Conditions;
use foretell_sim::record::{Agreement, Recording};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    right: bool,
}

#[derive(State, Clone, Copy, Default)]
struct Walker {
    #[state(position)]
    x: [f32; 1],
}

/// How far a step goes.
#[derive(Serialize, Deserialize, Message, Clone, Copy)]
#[message(ordered)]
struct Map(u8);

#[derive(World, Default)]
struct Level {
    walkers: Table<Walker>,
    /// Where it is not known yet nobody moves.
    #[world(constant)]
    map: Arc<OnceLock<u8>>,
    /// Set by the loop of the server.
    #[world(saved)]
    wind: u8,
}

impl Level {
    fn of_server() -> Level {
        Level { map: Arc::new(OnceLock::from(2)), ..Level::default() }
    }
}

impl Simulate for Level {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.walkers.remove_left(step);
        for joined in step.joined() {
            self.walkers.spawn(step, joined.player, Walker::default());
        }
        let Some(length) = self.map.get() else { return };
        for mut walker in self.walkers.simulated(step) {
            let walks = step.input(walker.owner()).is_some_and(|input| input.input.right);
            walker.x[0] += 0.01 * f32::from(self.wind) + 0.1 * f32::from(*length) * f32::from(u8::from(walks));
        }
    }
}

const WIND_RISES: Tick = Tick::new(200);

/// The loops of both programs.
struct Play {
    map: Arc<OnceLock<u8>>,
}

impl Driver<Level> for Play {
    fn input(&mut self, _player: usize, tick: Tick) -> Keys {
        Keys { right: !tick.get().is_multiple_of(3) }
    }

    fn before_server(&mut self, _now: Instant, host: &mut ServerHost<Level>) {
        if host.server.tick() == Tick::new(100) {
            host.server.send(To::Player(PlayerId::new(1)), &Map(2)).expect("they are there");
        }
        if host.server.tick() == WIND_RISES {
            host.world.wind = 3;
        }
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Level>, frame: &Frame<'_>) {
        for Map(length) in frame.messages.iter().filter_map(|message| message.get::<Map>()) {
            self.map.set(*length).expect("it comes once");
        }
    }
}

fn rules() -> Rules {
    Rules { messages: Messages::new().with::<Map>(), ..Rules::new(Level::schema()) }
}

/// The recordings of the client and of the server of a session of six seconds.
fn recorded() -> [Vec<u8>; 2] {
    let mut simulation = Simulation::new(rules(), ServerConfig::default(), Level::of_server(), 7);
    let (tap, of_server) = recorder();
    simulation.server.server.set_tap(Box::new(tap));
    let conditions = Conditions { latency: Duration::from_millis(50), ..Conditions::default() };
    let (client, host, world) = (ClientConfig::default(), HostOptions::at(60), Level::default());
    let map = world.map.clone();
    simulation.add_player(PlayerOptions { client, host, conditions, world });
    let (tap, of_client) = recorder();
    simulation.players[0].client.set_tap(Box::new(tap));
    simulation.run_until(Instant::from_micros(6_000_000), &mut Play { map });
    drop(simulation);
    [of_client, of_server].map(|from| from.iter().flatten().collect())
}

#[test]
fn a_game_that_changes_its_world_between_updates_does_it_again_in_the_replay() {
    let [client, server] = recorded();
    let open = |bytes| Recording::open(bytes).expect("a recording");
    let holds = |agreement: &Agreement| agreement.holds() && agreement.digests > 4;
    let enter = |level: &mut Level, frame: &Frame<'_>| {
        for Map(length) in frame.messages.iter().filter_map(|message| message.get::<Map>()) {
            level.map.set(*length).expect("it comes once");
        }
    };
    let again = open(&client).replay_client_with(rules(), Level::default(), enter).expect("of this game");
    assert!(holds(&again.agreement), "{:?}", again.agreement);
    for world in [Level::default(), Level::of_server()] {
        let without = open(&client).replay_client(rules(), world).expect("of this game").agreement;
        assert!(without.divergence.is_some(), "it has the map never, or too early");
    }
    let again = open(&server).replay_server_with(rules(), Level::of_server(), |level, frame| {
        level.wind = if frame.tick >= WIND_RISES { 3 } else { 0 };
    });
    let again = again.expect("of this game");
    assert!(holds(&again.agreement), "{:?}", again.agreement);
    let without = open(&server).replay_server(rules(), Level::of_server()).expect("of this game").agreement;
    assert!(without.divergence.is_some(), "there is no wind");
}
