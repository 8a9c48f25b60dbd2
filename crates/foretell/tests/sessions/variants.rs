//! Entities whose state is an enum, as others see them: with another variant it is the same entity.

use crate::common::Buttons;
use core::time::Duration;
use foretell::session::client::{ClientEvent, Predict};
use foretell::{
    Client, ClientConfig, EffectKind, Entity, Frame, Instant, Interest, InterestRules, Owned, PlayerId, Rules,
    SendRate, ServerConfig, Simulate, State, Step, Table, Tick, Visibility, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

/// When the mob becomes another variant.
const CHANGES: [u32; 5] = [200, 300, 400, 500, 600];
const ROAR: EffectKind = EffectKind(1);

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Mob {
    Idle {
        #[state(position)]
        at: [f32; 3],
    },
    Cloaked {
        #[state(position)]
        at: [f32; 3],
    },
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Mote {
    #[state(position)]
    at: [f32; 3],
    #[state(velocity)]
    velocity: [f32; 3],
}

/// A mob that is idle and cloaked by turns, and roars after each change; motes that wander, and one of each player's.
#[derive(World, Default)]
struct Herd {
    mobs: Table<Mob>,
    motes: Table<Mote>,
    /// Whether others can't see who is cloaked.
    #[world(constant)]
    hides: bool,
    /// Whether the mob steps back by 15 m as it becomes another variant for the first time.
    #[world(constant)]
    steps_back: bool,
}

fn mob() -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, 0)
}

impl Herd {
    fn of(motes: u16, mob_m: f32) -> Herd {
        let mut herd = Herd::default();
        herd.mobs.insert(Owned { entity: mob(), owner: PlayerId::SERVER }, Mob::Idle { at: [mob_m, 0.0, 0.0] });
        for nth in 1..=motes {
            let owned = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner: PlayerId::SERVER };
            let (x, z) = (f32::from(nth % 32), f32::from(nth / 32));
            herd.motes.insert(owned, Mote { at: [x, 0.0, z], velocity: [x / 16.0 - 1.0, 0.0, z / 16.0 - 1.0] });
        }
        herd
    }
}

impl Simulate for Herd {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            self.motes.spawn(step, joined.player, Mote::default());
        }
        if !step.is_authority() {
            return;
        }
        let tick = step.tick().get();
        for mut mob in self.mobs.iter_mut().filter(|_| self.steps_back && tick == CHANGES[0]) {
            let (Mob::Idle { at } | Mob::Cloaked { at }) = &mut *mob;
            at[0] += 15.0;
        }
        for mut mob in self.mobs.iter_mut().filter(|_| CHANGES.contains(&tick)) {
            *mob = match *mob {
                Mob::Idle { at } => Mob::Cloaked { at },
                Mob::Cloaked { at } => Mob::Idle { at },
            };
        }
        if tick > 0 && CHANGES.contains(&(tick - 1)) {
            step.effect(ROAR, mob());
        }
        for mut mote in self.motes.iter_mut().filter(|mote| mote.owner() == PlayerId::SERVER) {
            let turn = if tick % 128 < 64 { 1.0 } else { -1.0 };
            for axis in 0..3 {
                mote.at[axis] += turn * mote.velocity[axis] / 64.0;
            }
        }
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        self.hides.then_some(self)
    }
}

impl InterestRules for Herd {
    fn visibility(&self, _viewer: PlayerId, entity: Entity) -> Visibility {
        match self.mobs.get(entity).map(|mob| *mob) {
            Some(Mob::Cloaked { .. }) => Visibility::Hidden,
            _ => Visibility::SHOWN,
        }
    }
}

/// What the player hears of the mob: of its life, and how often it roars.
#[derive(Default)]
struct Ear {
    life: String,
    roars: u32,
}

impl Driver<Herd> for Ear {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Herd>, frame: &Frame<'_>) {
        for event in frame.events {
            match event {
                ClientEvent::Spawned(of) if *of == mob() => self.life.push('S'),
                ClientEvent::Confirmed(of) if *of == mob() => self.life.push('C'),
                ClientEvent::Hidden { entity, .. } if *entity == mob() => self.life.push('H'),
                ClientEvent::Shown(of) if *of == mob() => self.life.push('V'),
                ClientEvent::Despawned { entity, .. } if *entity == mob() => self.life.push('D'),
                ClientEvent::Effect { effect, .. } if effect.kind == ROAR => self.roars += 1,
                _ => {}
            }
        }
    }
}

/// What one player hears in ten seconds, in which the mob becomes another variant five times.
fn hear(world: Herd, config: ServerConfig) -> Ear {
    hear_over(0.0, 3, world, config, ClientConfig::default())
}

/// The same over a way that loses this share of what is sent.
fn hear_over(loss: f64, seed: u64, world: Herd, config: ServerConfig, client: ClientConfig) -> Ear {
    let mut simulation = Simulation::new(Rules::new(Herd::schema()), config, world, seed);
    let loss = Loss::Uniform(loss);
    let conditions = Conditions { latency: Duration::from_millis(50), loss, ..Conditions::default() };
    let host = HostOptions::at(60);
    simulation.add_player(PlayerOptions { client, host, conditions, world: Herd::default() });
    let mut ear = Ear::default();
    simulation.run_until(Instant::ZERO + Duration::from_secs(10), &mut ear);
    ear
}

#[test]
fn an_entity_that_becomes_another_variant_stays_there_where_not_everything_fits() {
    let ear = hear(Herd::of(1000, 300.0), ServerConfig { budget: 64_000, ..ServerConfig::default() });
    assert_eq!(ear.life, "SC");
}

#[test]
fn an_entity_that_leaves_the_view_with_another_variant_is_hidden_not_gone() {
    let ear = hear(Herd { hides: true, ..Herd::of(0, 10.0) }, ServerConfig::default());
    assert_eq!(ear.life, "SCHVHVH");
}

#[test]
fn what_is_in_view_is_heard_though_it_has_become_another_variant_since_the_last_state() {
    let interest = Interest::Within { radius_m: 40.0, leaves_at_m: 48.0 };
    let config = ServerConfig { interest, snapshot_rate: SendRate::Hz(8), ..ServerConfig::default() };
    let ear = hear(Herd::of(0, 10.0), config);
    assert_eq!((ear.life.as_str(), ear.roars), ("SC", 5));
}

/// Exactly told is what is within 41 m, and what is within 51 m if it was so.
#[test]
fn what_was_told_exactly_and_is_shown_as_another_variant_is_there_all_the_time() {
    for seed in 0..10 {
        let client = ClientConfig { predict: Predict::Near { within_m: 20.0, until_m: 20.0 }, ..Default::default() };
        let mut world = Herd { steps_back: true, ..Herd::of(400, 40.0) };
        world.motes.iter_mut().for_each(|mut mote| mote.at[0] += 200.0);
        // A datagram takes one row, or none.
        let config = ServerConfig { budget: 4_000, budget_min: 1_000, ..ServerConfig::default() };
        let ear = hear_over(0.2, seed, world, config, client);
        assert_eq!(ear.life, "SC", "seed {seed}");
    }
}
