//! What is heard of entities in view at the edges of their lives: where they come, end, or are given away.

use crate::common::Buttons;
use core::time::Duration;
use foretell::session::client::{ClientEvent, Predict};
use foretell::{
    Client, ClientConfig, EffectKind, Entity, Frame, Instant, Interest, Owned, PlayerId, Rules, SendRate, ServerConfig,
    Simulate, State, Step, Table, Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;

/// It is let go.
const DROP: EffectKind = EffectKind(1);
/// It has come beside all steps.
const ROAR: EffectKind = EffectKind(2);
/// It is gone.
const BOOM: EffectKind = EffectKind(3);
/// When the first mine goes off, and the others after it, in ticks.
const BLASTS: u32 = 300;
const APART: u32 = 7;
const MINES: u16 = 8;

/// Where a thing's owner looks: nobody else's business, and far away.
#[derive(State, Clone, Copy, PartialEq, Debug)]
#[state(audience = owner)]
struct Aim {
    #[state(position)]
    at: [f32; 3],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Thing {
    #[state(position)]
    at: [f32; 3],
    roars: bool,
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Mine {
    Armed {
        #[state(position)]
        at: [f32; 3],
    },
    Ticking {
        #[state(position)]
        at: [f32; 3],
    },
}

#[derive(World, Default)]
struct Field {
    aims: Table<Aim>,
    things: Table<Thing>,
    mines: Table<Mine>,
}

fn of_server(nth: u16) -> Owned {
    Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner: PlayerId::SERVER }
}

impl Field {
    fn add(&mut self, of: Owned, at: [f32; 3], roars: bool) {
        self.aims.insert(of, Aim { at: [900.0, 0.0, 0.0] });
        self.things.insert(of, Thing { at, roars });
    }
}

impl Simulate for Field {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            // One to look from, and one to let go.
            for _ in 0..2 {
                let entity = self.things.spawn(step, joined.player, Thing::default());
                self.add(Owned { entity, owner: joined.player }, [0.0; 3], false);
            }
        }
        let tick = step.tick().get();
        let own = self.things.iter().filter(|thing| tick == 200 && thing.owner() != PlayerId::SERVER);
        let own: Vec<_> = own.map(|thing| thing.entity()).filter(|thing| thing.counter() == 1).collect();
        for entity in own {
            self.things.set_owner(entity, PlayerId::SERVER);
            self.aims.set_owner(entity, PlayerId::SERVER);
            step.effect(DROP, entity);
        }
        if !step.is_authority() {
            return;
        }
        for mut thing in self.things.iter_mut().filter(|thing| thing.roars) {
            thing.roars = false;
            step.effect(ROAR, thing.entity());
        }
        for nth in 0..MINES {
            let (goes_off, mine) = (BLASTS + APART * u32::from(nth), of_server(nth).entity);
            if tick == goes_off {
                self.mines.iter_mut().filter(|it| it.entity() == mine).for_each(|mut it| {
                    let (Mine::Armed { at } | Mine::Ticking { at }) = *it;
                    *it = Mine::Ticking { at };
                });
            } else if tick == goes_off + 1 {
                step.effect(BOOM, mine);
                self.mines.remove(mine);
            }
        }
    }
}

/// How often each is heard, and what is taken back.
#[derive(Default)]
struct Ear {
    heard: [usize; 3],
    cancelled: usize,
}

impl Driver<Field> for Ear {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Field>, frame: &Frame<'_>) {
        for event in frame.events {
            match event {
                ClientEvent::Effect { effect, .. } => self.heard[usize::from(effect.kind.0) - 1] += 1,
                ClientEvent::EffectCancelled(_) => self.cancelled += 1,
                _ => {}
            }
        }
    }
}

/// What one player hears, beside whom all of it happens.
fn hear(interest: Interest, predict: Predict, snapshot_rate: SendRate) -> Ear {
    let mut field = Field::default();
    for nth in 0..MINES {
        field.mines.insert(of_server(nth), Mine::Armed { at: [f32::from(nth), 0.0, 0.0] });
    }
    let config = ServerConfig { interest, snapshot_rate, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Field::schema()), config, field, 3);
    let conditions = Conditions { latency: Duration::from_millis(30), ..Conditions::default() };
    let (client, host) = (ClientConfig { predict, ..ClientConfig::default() }, HostOptions::at(60));
    simulation.add_player(PlayerOptions { client, host, conditions, world: Field::default() });
    let mut ear = Ear::default();
    for nth in 0..8_u16 {
        let now = Instant::ZERO + Duration::from_millis(4000 + 110 * u64::from(nth));
        simulation.run_until(now, &mut ear);
        simulation.server.world.add(of_server(100 + nth), [1.0, 0.0, 0.0], true);
    }
    simulation.run_until(Instant::ZERO + Duration::from_secs(8), &mut ear);
    ear
}

#[test]
fn effects_of_what_comes_beside_the_steps_is_given_away_or_ends_as_another_variant_are_heard_once() {
    let within = Interest::Within { radius_m: 40.0, leaves_at_m: 48.0 };
    let near = Predict::Near { within_m: 20.0, until_m: 25.0 };
    for rate in [SendRate::EveryTick, SendRate::Hz(16)] {
        for (interest, predict) in
            [(Interest::Everything, Predict::Own), (within, Predict::Own), (within, near), (Interest::Everything, near)]
        {
            let ear = hear(interest, predict, rate);
            let case = format!("{rate:?}, {interest:?}, {predict:?}");
            assert_eq!((ear.heard, ear.cancelled), ([1, 8, usize::from(MINES)], 0), "{case}");
        }
    }
}
