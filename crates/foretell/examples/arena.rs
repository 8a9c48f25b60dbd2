//! A whole game: a server and two clients over a bad network, each predicting its own cube and seeing the other.

use foretell::{Client, ClientConfig, Frame, Input, Instant, Rules, ServerConfig, Views};
use foretell::{Simulate, State, Step, Table, Tick, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::time::Duration;

/// What a player can press.
#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Buttons {
    left: bool,
    right: bool,
}

/// What everybody sees of a cube.
#[derive(State, Clone, Copy, Default)]
struct Cube {
    #[state(position)]
    x: [f32; 1],
    #[state(velocity)]
    speed: [f32; 1],
}

/// The game, written once: it runs on the server, in each client, and again when a prediction was wrong.
#[derive(World, Default)]
struct Arena {
    cubes: Table<Cube>,
}

impl Simulate for Arena {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.cubes.remove_left(step);
        for joined in step.joined() {
            self.cubes.spawn(step, joined.player, Cube::default());
        }
        for mut cube in self.cubes.simulated(step) {
            let Some(player) = step.input(cube.owner()) else { continue };
            let push = f32::from(i8::from(player.input.right) - i8::from(player.input.left));
            cube.speed[0] = 0.9 * cube.speed[0] + 0.5 * push;
            cube.x[0] += cube.speed[0] * step.seconds() as f32;
        }
    }
}

/// In a real game: your window and your sockets. Here: scripted keys, and a network that loses one datagram in ten.
#[derive(Default)]
struct Game {
    views: Views,
}

impl Driver<Arena> for Game {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        let right = (tick.get() / 64 + player as u32).is_multiple_of(2);
        Buttons { left: !right, right }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Arena>, frame: &Frame<'_>) {
        if frame.ticks > 0 && frame.tick.get().is_multiple_of(64) {
            client.present(at.local, &mut self.views);
            for view in &self.views {
                let Some(cube) = view.get::<Cube>() else { continue };
                println!("player {} sees {} at {:.2} m, {:?}", player + 1, view.entity, cube.x[0], view.source);
            }
        }
    }
}

/// Five seconds of it.
pub fn main() {
    let mut session = Simulation::new(Rules::new(Arena::schema()), ServerConfig::default(), Arena::default(), 42);
    for latency in [30, 80].map(Duration::from_millis) {
        let conditions = Conditions { latency, loss: Loss::Uniform(0.1), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        session.add_player(PlayerOptions { client, host, conditions, world: Arena::default() });
    }
    session.run_until(Instant::from_micros(5_000_000), &mut Game::default());
    for player in &session.players {
        let outcomes = player.client.stats().prediction.outcomes;
        assert!(outcomes.add_up() && outcomes.agreed > 100, "{outcomes:?}");
    }
}
