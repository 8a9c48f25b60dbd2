//! A playground for shared mode: walkers of the players, cubes that anybody may carry, and gold that nobody may touch.

use core::time::Duration;
use foretell::motion::vector::{length, sub};
use foretell::motion::{AntiAliasing, FrameMover};
use foretell::session::Claim;
use foretell::session::client::{AuthorityChange, ClientEvent, EntityMode};
use foretell::session::server::{Server, ServerEvent};
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, InterestRules, Owned, PlayerId, Role, Rules, Schema,
    ServerConfig, ServerFrame, Simulate, State, Step, Table, Tick, TickRate, Views, Visibility, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;
use std::collections::BTreeMap;

#[derive(State, Clone, Copy, PartialEq, Debug)]
pub enum Toy {
    Walker {
        #[state(position, writer = owner)]
        place: [f64; 3],
        #[state(velocity, writer = owner)]
        velocity: [f64; 3],
        /// The server's alone.
        health: u32,
    },
    Cube {
        #[state(position, writer = owner)]
        place: [f64; 3],
        #[state(velocity, writer = owner)]
        velocity: [f64; 3],
        /// The server's alone.
        health: u32,
    },
    Gold(u32),
}

/// The fastest that a walker walks, in m/s.
pub const WALKS_MPS: f64 = 5.0;
/// How fast anything may be moved by a client.
pub const BOUND_MPS: f64 = 6.0;

impl Toy {
    pub fn place(&self) -> [f64; 3] {
        match self {
            Toy::Walker { place, .. } | Toy::Cube { place, .. } => *place,
            Toy::Gold(_) => [0.0; 3],
        }
    }

    pub fn health(&self) -> u32 {
        match self {
            Toy::Walker { health, .. } | Toy::Cube { health, .. } | Toy::Gold(health) => *health,
        }
    }

    pub fn moved(&self, to: [f64; 3], speed: [f64; 3]) -> Toy {
        let mut toy = *self;
        if let Toy::Walker { place, velocity, .. } | Toy::Cube { place, velocity, .. } = &mut toy {
            (*place, *velocity) = (to, speed);
        }
        toy
    }
}

pub fn bounded() -> Schema {
    Toys::schema().with_speed_max::<Toy>(BOUND_MPS)
}

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Walk {
    pub x: i8,
    pub z: i8,
    /// Puts a cube of the player's own where they stand.
    pub drops: bool,
}

#[derive(World, Clone, Default, Debug)]
pub struct Toys {
    pub all: Table<Toy>,
    /// Where the world has seen this entity as a proxy of late. No part of the state.
    #[world(constant)]
    pub proxies: BTreeMap<Entity, Tick>,
    /// What the server hides from whom.
    #[world(constant)]
    pub hidden: Vec<(PlayerId, Entity)>,
}

/// What belongs to nobody.
pub const fn unowned(entity: Entity) -> Owned {
    Owned { entity, owner: PlayerId::SERVER }
}

pub const fn cube(nth: u8) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth as u16)
}

pub const GOLD: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 1000);

impl Toys {
    /// The server's world, with three cubes in a row.
    pub fn server() -> Toys {
        let mut toys = Toys::default();
        for nth in 0..3 {
            let place = [f64::from(nth) * 2.0, 0.0, 3.0];
            toys.all.insert(unowned(cube(nth)), Toy::Cube { place, velocity: [0.0; 3], health: 1 });
        }
        toys.all.insert(unowned(GOLD), Toy::Gold(7));
        toys
    }
}

impl Simulate for Toys {
    type Input = Walk;

    fn step(&mut self, step: &mut Step<'_, Walk>) {
        self.all.remove_left(step);
        for joined in step.joined() {
            self.all.spawn(step, joined.player, Toy::Walker { place: [0.0; 3], velocity: [0.0; 3], health: 1 });
        }
        let mut dropped = Vec::new();
        for mut toy in self.all.iter_mut() {
            let heals = step.is_authority() && step.tick().get().is_multiple_of(64);
            if let (true, Toy::Walker { health, .. } | Toy::Cube { health, .. }) = (heals, &mut *toy) {
                *health += 1;
            }
            let (of, owner) = (toy.owned(), toy.owner());
            if step.role(of) == Role::Proxy {
                self.proxies.insert(of.entity, step.tick());
                continue;
            }
            match &mut *toy {
                Toy::Walker { place, velocity, .. } => {
                    let Some(input) = step.input(owner) else { continue };
                    *velocity = [f64::from(input.input.x) * WALKS_MPS, 0.0, f64::from(input.input.z) * WALKS_MPS];
                    (0..3).for_each(|axis| place[axis] += velocity[axis] * step.seconds());
                    dropped.extend(input.input.drops.then_some((owner, *place)));
                }
                Toy::Cube { place, velocity, .. } => {
                    *velocity = velocity.map(|speed| if speed.abs() < 0.01 { 0.0 } else { speed * 0.97 });
                    (0..3).for_each(|axis| place[axis] += velocity[axis] * step.seconds());
                }
                Toy::Gold(_) => {}
            }
        }
        for (owner, place) in dropped {
            self.all.spawn(step, owner, Toy::Cube { place, velocity: [0.0; 3], health: 1 });
        }
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        (!self.hidden.is_empty()).then_some(self)
    }
}

impl InterestRules for Toys {
    fn visibility(&self, viewer: PlayerId, entity: Entity) -> Visibility {
        if self.hidden.contains(&(viewer, entity)) { Visibility::Hidden } else { Visibility::SHOWN }
    }
}

/// What a player does at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Act {
    Request(Entity, Claim),
    Release(Entity),
    Mode(Entity, Option<EntityMode>),
    /// What the player holds moves so from now on, in m/s.
    Move([f64; 3]),
    Walk(Walk),
}

/// Plays a script, moves what is held, and looks at what everybody sees.
#[derive(Default)]
pub struct Play {
    /// Ascending by time: when in ms, who, what.
    pub script: Vec<(u64, usize, Act)>,
    done: usize,
    pub velocity: [[f64; 3]; 4],
    pub walks: [Walk; 4],
    movers: BTreeMap<(usize, Entity), (FrameMover<f64, 3>, Toy)>,
    /// What has happened, with the time in ms.
    pub events: Vec<(u64, usize, Entity, AuthorityChange)>,
    pub server_events: Vec<ServerEvent>,
    /// Where each entity was shown last, and when, by looker.
    pub shown: BTreeMap<(usize, Entity), (Instant, [f64; 3])>,
    /// The fastest and the farthest that an entity was shown from frame to frame since the last look, by looker.
    pub fastest_mps: BTreeMap<(usize, Entity), f64>,
    /// How an entity was shown last, by looker.
    pub source: BTreeMap<(usize, Entity), String>,
    /// The server's place of each entity of late.
    pub truth: BTreeMap<Entity, [f64; 3]>,
    /// How many corrections there were of what the looker moves.
    pub corrections: usize,
    /// What was corrected, and for whom.
    pub corrected: Vec<(usize, Entity)>,
    /// The fastest that the server's own state of an entity moved, in m/s, from step to step.
    pub truth_mps: BTreeMap<Entity, f64>,
}

impl Play {
    pub fn of(script: &[(u64, usize, Act)]) -> Play {
        let mut script = script.to_vec();
        script.sort_by_key(|(at, ..)| *at);
        Play { script, ..Play::default() }
    }

    pub fn forget(&mut self) {
        self.fastest_mps.clear();
        self.events.clear();
    }

    pub fn moves(&self, player: usize, entity: Entity) -> bool {
        self.movers.contains_key(&(player, entity))
    }

    /// What has become of an entity for a player, in order.
    pub fn told(&self, player: usize, entity: Entity) -> Vec<AuthorityChange> {
        let of = self.events.iter().filter(|(_, to, about, _)| (*to, *about) == (player, entity));
        of.map(|(.., what)| *what).collect()
    }
}

impl Driver<Toys> for Play {
    fn input(&mut self, player: usize, _tick: Tick) -> Walk {
        self.walks[player]
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Toys>) {
        let now_ms = at.now.micros() / 1000;
        while let Some((_, _, act)) = self.script.get(self.done).filter(|(due, of, _)| *due <= now_ms && *of == player)
        {
            match *act {
                Act::Request(entity, claim) => client.request(entity, claim),
                Act::Release(entity) => client.release(entity),
                Act::Mode(entity, mode) => client.set_mode(entity, mode),
                Act::Move(velocity) => self.velocity[player] = velocity,
                Act::Walk(walk) => self.walks[player] = walk,
            }
            self.done += 1;
        }
        let until = client.tick_time(at.local);
        for ((_, entity), (mover, toy)) in self.movers.iter_mut().filter(|((of, _), _)| *of == player) {
            let velocity = self.velocity[player];
            let shown = mover.frame(velocity, until, |tick, place| {
                client.capture(*entity, tick, &toy.moved(place, velocity));
            });
            client.show(*entity, &toy.moved(shown, velocity));
        }
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Toys>, frame: &ServerFrame<'_>) {
        self.server_events.extend(frame.events);
        for (Owned { entity, .. }, toy) in server.rows().states::<Toy>().filter(|_| frame.steps > 0) {
            if let Some(before) = self.truth.insert(entity, toy.place()) {
                let mps = length(sub(toy.place(), before)) * 64.0 / f64::from(frame.steps);
                let fastest = self.truth_mps.entry(entity).or_default();
                *fastest = fastest.max(mps);
            }
        }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Toys>, frame: &Frame<'_>) {
        let held = frame.corrections.iter().filter(|correction| self.moves(player, correction.entity));
        self.corrections += held.count();
        self.corrected.extend(frame.corrections.iter().map(|correction| (player, correction.entity)));
        for event in frame.events {
            let ClientEvent::Authority { entity, what } = *event else { continue };
            self.events.push((at.now.micros() / 1000, player, entity, what));
            if what == AuthorityChange::Began {
                let toy: Toy = client.held(at.local, entity).expect("it has just begun");
                let from = client.tick_time(at.local);
                let mover = FrameMover::new(AntiAliasing::Exact, TickRate::default(), WALKS_MPS, toy.place(), from);
                self.movers.insert((player, entity), (mover, toy));
            } else if client.held::<Toy>(at.local, entity).is_none() {
                self.movers.remove(&(player, entity));
            }
        }
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in &views {
            let Some(toy) = view.get::<Toy>().filter(|_| view.entity != GOLD) else { continue };
            let place = toy.place();
            let key = (player, view.entity);
            let source: String = format!("{:?}", view.source).chars().take_while(|c| c.is_alphabetic()).collect();
            self.source.insert(key, source);
            if let Some((before, from)) = self.shown.insert(key, (at.now, place)) {
                let mps = length(sub(place, from)) / at.now.since(before).as_secs_f64();
                let fastest = self.fastest_mps.entry(key).or_default();
                *fastest = fastest.max(mps);
            }
        }
    }
}

/// A session of so many players over such links, with clients of 60 frames per second.
pub fn session(
    (schema, config): (Schema, ServerConfig),
    players: usize,
    conditions: Conditions,
    client: ClientConfig,
    seed: u64,
) -> Simulation<Toys> {
    let mut simulation = Simulation::new(Rules::new(schema), config, Toys::server(), seed);
    for _ in 0..players {
        let host = HostOptions::at(60);
        let (conditions, world) = (conditions.clone(), Toys::default());
        simulation.add_player(PlayerOptions { client, host, conditions, world });
    }
    simulation
}

pub fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// The walker of the player of this index, whoever came first.
pub fn walker(simulation: &Simulation<Toys>, player: usize) -> Entity {
    let own = simulation.players[player].client.player().expect("it plays");
    let rows = simulation.server.server.rows();
    let found = rows.states::<Toy>().find(|(of, toy)| of.owner == own && matches!(toy, Toy::Walker { .. }));
    found.expect("everybody walks").0.entity
}
