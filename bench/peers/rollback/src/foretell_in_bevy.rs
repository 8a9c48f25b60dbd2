//! Foretell's plugin: the world of a client, brought back and stepped as a session does it, with what is saved and published in each
//! tick.

use crate::{Client, Spent, TICKS, fly};
use app::App;
use bevy_foretell::{
    ForetellApp, ForetellPlugin, GameWorld, Input, PlayerId, SavedWorld, Simulated, Simulation, State, StepCommands,
    StepInputs,
};
use cpu_time::ThreadTime;
use ecs::component::{Mutable, StorageType};
use ecs::prelude::*;
use foretell::world::Side;
use foretell::{InputStatus, Newcomer, PlayerInput, Rows, Simulate, Step, Tick, TickRate, World as _};

const ME: PlayerId = PlayerId::new(1);

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    spawn: u16,
}

#[derive(State, Clone, Copy, PartialEq, Default)]
struct Body {
    #[state(position)]
    x: [f32; 2],
    #[state(velocity)]
    v: [f32; 2],
}

impl Component for Body {
    const STORAGE_TYPE: StorageType = StorageType::Table;
    type Mutability = Mutable;
}

fn game(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64)).networked::<Body>();
    app.add_systems(Simulation, (spawn, step).chain());
}

fn spawn(mut step: StepCommands<'_, '_>, inputs: Res<'_, StepInputs<Keys>>) {
    let count = inputs.of(ME).map_or(0, |input| input.input.spawn);
    (0..count).for_each(|nth| _ = step.spawn(ME, Body { x: [f32::from(nth) / 100.0; 2], v: [3.0, 1.0] }));
}

fn step(mut bodies: Query<'_, '_, &mut Body, With<Simulated>>) {
    for mut body in &mut bodies {
        let [x, v] = fly([body.x, body.v]);
        *body = Body { x, v };
    }
}

/// A client's world, and what it has saved of its last ticks.
pub struct Game {
    world: GameWorld<Keys>,
    rows: Rows,
    tick: Tick,
    saved: Vec<(Tick, SavedWorld)>,
}

impl Game {
    pub fn with(entities: u16) -> Game {
        let rows = Rows::new(&GameWorld::<Keys>::rules(game).schema);
        let saved = (0..=TICKS).map(|_| (Tick::ZERO, SavedWorld::default())).collect();
        let mut game = Game { world: GameWorld::of(game), rows, tick: Tick::ZERO, saved };
        game.step(entities);
        (0..TICKS).for_each(|_| game.step(0));
        game
    }

    fn step(&mut self, spawn: u16) {
        let input = PlayerInput { player: ME, input: Keys { spawn }, status: InputStatus::Received, presented: None };
        let (inputs, joined): (_, [Newcomer; 0]) = ([input], []);
        let mut step = Step::new(self.tick, TickRate::hz(64), Side::Client(ME), &inputs).with_players(&joined, &[]);
        self.world.step(&mut step);
        self.world.publish(&mut self.rows);
        self.rows.settle();
        self.tick = self.tick.next();
        let kept = self.saved.len();
        let (tick, saved) = &mut self.saved[self.tick.get() as usize % kept];
        *tick = self.tick;
        self.world.save(saved);
    }
}

impl Client for Game {
    fn rollback(&mut self) -> Spent {
        self.step(0);
        let began = ThreadTime::now();
        let kept = self.saved.len();
        let (tick, saved) = &self.saved[(self.tick.get() as usize + 1) % kept];
        self.world.load(saved);
        self.tick = *tick;
        (0..TICKS).for_each(|_| self.step(0));
        Spent { all: began.elapsed().as_secs_f64() * 1e6, beside: 0.0 }
    }
}
