//! What the plugin costs beyond the systems of a game: a tick of a world that is published and saved beside the bare schedule, and a
//! rollback of eight ticks. `cargo bench --bench overhead`; the least of 50 rounds each.
#![expect(clippy::disallowed_types, reason = "it measures what time passes")]

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::{
    Driven, ForetellApp, ForetellPlugin, GameWorld, Input, PlayerId, Simulated, Simulation, State, StepCommands,
};
use foretell::world::Side;
use foretell::{InputStatus, Newcomer, PlayerInput, Rows, Simulate, Step, Tick, TickRate, World as _};
use std::time::Instant;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    count: u16,
}

#[derive(Component, State, Clone, Copy, PartialEq, Default)]
struct Body {
    #[state(position)]
    x: [f32; 3],
    #[state(velocity)]
    v: [f32; 3],
}

const ME: PlayerId = PlayerId::new(1);

fn spawn(mut step: StepCommands, inputs: Res<bevy_foretell::StepInputs<Keys>>) {
    let count = inputs.of(ME).map_or(0, |input| input.input.count);
    (0..count).for_each(|nth| _ = step.spawn(ME, Body { x: [f32::from(nth); 3], v: [1.0; 3] }));
}

fn fly(mut bodies: Query<&mut Body, With<Simulated>>) {
    for mut body in &mut bodies {
        let v = body.v;
        body.x.iter_mut().zip(v).for_each(|(x, v)| *x += v / 64.0);
    }
}

fn drive(mut bodies: Query<(&mut Body, &Driven<Keys>)>) {
    bodies.iter_mut().for_each(|(mut body, keys)| {
        if keys.count == u16::MAX {
            body.v[0] += 1.0
        }
    });
}

fn game(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64)).networked::<Body>();
    app.add_systems(Simulation, (spawn, fly, drive).chain());
}

struct Game {
    world: GameWorld<Keys>,
    rows: Rows,
    tick: Tick,
}

impl Game {
    fn with(count: u16) -> Game {
        let rows = Rows::new(&GameWorld::<Keys>::rules(game).schema);
        let mut game = Game { world: GameWorld::of(game), rows, tick: Tick::ZERO };
        game.step(count);
        game.step(0);
        game
    }

    fn step(&mut self, count: u16) {
        let inputs =
            [PlayerInput { player: ME, input: Keys { count }, status: InputStatus::Received, presented: None }];
        let joined: [Newcomer; 0] = [];
        let mut step = Step::new(self.tick, TickRate::hz(64), Side::Client(ME), &inputs).with_players(&joined, &[]);
        self.world.step(&mut step);
        self.world.publish(&mut self.rows);
        self.rows.settle();
        self.tick = self.tick.next();
    }
}

/// The same game over the core's own tables, without Bevy.
#[derive(foretell::World, Default)]
struct Plain {
    bodies: foretell::Table<Body>,
}

impl Simulate for Plain {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        let count = step.inputs().iter().map(|input| input.input.count).sum::<u16>();
        (0..count).for_each(|nth| _ = self.bodies.spawn(step, ME, Body { x: [f32::from(nth); 3], v: [1.0; 3] }));
        for mut body in self.bodies.simulated(step) {
            let v = body.v;
            body.x.iter_mut().zip(v).for_each(|(x, v)| *x += v / 64.0);
        }
    }
}

/// What a tick of that takes, with its save, in microseconds.
fn plain(count: u16) -> f64 {
    let (mut world, mut rows) = (Plain::default(), Rows::new(&Plain::schema()));
    let (mut saved, mut tick) = (Default::default(), Tick::ZERO);
    let mut step = |count| {
        let inputs =
            [PlayerInput { player: ME, input: Keys { count }, status: InputStatus::Received, presented: None }];
        world.step(&mut Step::new(tick, TickRate::hz(64), Side::Client(ME), &inputs));
        world.publish(&mut rows);
        rows.settle();
        world.save(&mut saved);
        tick = tick.next();
    };
    step(count);
    least(50, || step(0))
}

/// The least time of one of 50 rounds, in microseconds per run.
fn least(runs: u32, mut run: impl FnMut()) -> f64 {
    let round = |run: &mut dyn FnMut()| {
        let began = Instant::now();
        (0..runs).for_each(|_| run());
        began.elapsed().as_secs_f64() * 1e6 / f64::from(runs)
    };
    (0..50).map(|_| round(&mut run)).fold(f64::MAX, f64::min)
}

fn main() {
    for count in [0, 100, 1_000] {
        let mut game = Game::with(count);
        let bare = least(50, || game.world.world().run_schedule(Simulation));
        let mut game = Game::with(count);
        let step = least(50, || game.step(0));
        let mut saved = Default::default();
        let save = least(50, || game.world.save(&mut saved));
        let (tick, rows) = (game.tick, game.rows.clone());
        let rollback = least(5, || {
            game.world.load(&saved);
            (game.tick, game.rows) = (tick, rows.clone());
            (0..8).for_each(|_| game.step(0));
        });
        let plain = plain(count);
        let each = (step + save - plain) * 1e3 / f64::from(count.max(1));
        println!(
            "{count:5} entities: bare schedule {bare:7.2} us, tick {step:7.2} us, save {save:6.2} us; without Bevy {plain:6.2} us ({each:5.1} ns less per entity); rollback of 8 ticks {rollback:7.1} us"
        );
    }
}
