//! Lag compensation of projectiles, both ways: a *bolt* is judged in each step by what its shooter sees then, a *dart* starts as far
//! ahead as its shooter is behind, and from there on flies in the present of all.

use foretell::hits::{Cast, Shape};
use foretell::session::client::ClientEvent;
use foretell::{
    Client, ClientConfig, EffectKind, Frame, Input, Instant, Owned, PlayerId, Rewound, Rules, ServerConfig,
};
use foretell::{ServerFrame, Simulate, State, Step, Table, Tick, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;
use std::time::Duration;

const HIT: EffectKind = EffectKind(0);
const SPEED_MPS: f32 = 30.0;
const BALL: Shape = Shape::Sphere { radius: 0.5 };

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    up: bool,
    fires: bool,
    dart: bool,
}

/// Players walk up and down, and shoot to the other side.
#[derive(State, Clone, Copy, Default)]
struct Walker {
    #[state(position)]
    at: [f32; 2],
    #[state(velocity)]
    velocity: [f32; 2],
}

#[derive(State, Clone, Copy)]
struct Bolt {
    #[state(position)]
    at: [f32; 2],
    #[state(velocity)]
    velocity: [f32; 2],
    is_dart: bool,
}

#[derive(World, Default)]
struct Duel {
    walkers: Table<Walker>,
    bolts: Table<Bolt>,
}

/// What flies so far within a step, as far as it gets among those who are in its way.
fn fly(bolt: &Bolt, seconds: f32, targets: impl Iterator<Item = (Owned, [f64; 3])>) -> Option<Owned> {
    let [from, speed] = [bolt.at, bolt.velocity].map(|[x, y]| [f64::from(x), f64::from(y), 0.0]);
    let cast = Cast::ray(from, speed, f64::from(SPEED_MPS * seconds));
    cast.first(targets.map(|(of, at)| (of, BALL, foretell::motion::Pose::at(at)))).map(|hit| hit.of)
}

/// Who can be hit, as a player sees them.
fn seen(past: Rewound<'_>) -> impl Iterator<Item = (Owned, [f64; 3])> + '_ {
    past.states::<Walker>().map(|(of, walker)| (of, [f64::from(walker.at[0]), f64::from(walker.at[1]), 0.0]))
}

impl Duel {
    fn fire(&mut self, step: &mut Step<'_, Keys>, player: PlayerId, from: Walker, is_dart: bool) {
        let velocity = [if from.at[0] < 0.0 { SPEED_MPS } else { -SPEED_MPS }, 0.0];
        let mut bolt = Bolt { at: from.at, velocity, is_dart };
        if is_dart {
            // What it passes at once is judged as it was seen; it appears to the others that far from the muzzle.
            let past = step.rewound(player);
            let ahead = (past.rewind().ticks_before(step.tick()) * step.seconds()) as f32;
            if let Some(victim) = fly(&bolt, ahead, seen(past)) {
                step.effect(HIT, victim.entity);
                return step.hit(player, victim);
            }
            bolt.at[0] += velocity[0] * ahead;
        }
        self.bolts.spawn(step, player, bolt);
    }

    fn fly_on(&mut self, step: &mut Step<'_, Keys>) {
        let (mut spent, seconds) = (Vec::new(), step.seconds() as f32);
        for mut bolt in self.bolts.simulated(step) {
            let shooter = bolt.owner();
            let hit = if bolt.is_dart {
                // The present: on the shooter's client its proxies, which are behind, and so it may be wrong.
                let others = self.walkers.iter().filter(|walker| walker.owner() != shooter);
                let others =
                    others.map(|walker| (walker.owned(), [f64::from(walker.at[0]), f64::from(walker.at[1]), 0.0]));
                fly(&bolt, seconds, others)
            } else {
                fly(&bolt, seconds, seen(step.rewound(shooter)))
            };
            bolt.at[0] += bolt.velocity[0] * seconds;
            if let Some(victim) = hit {
                step.effect(HIT, victim.entity);
                step.touch(bolt.owned(), victim);
                step.hit(shooter, victim);
            }
            if hit.is_some() || bolt.at[0].abs() > 12.0 {
                spent.push(bolt.entity());
            }
        }
        for bolt in spent {
            self.bolts.remove(bolt);
        }
    }
}

impl Simulate for Duel {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.walkers.remove_left(step);
        self.bolts.remove_left(step);
        for joined in step.joined() {
            let x = if joined.player.get() % 2 == 1 { -8.0 } else { 8.0 };
            self.walkers.spawn(step, joined.player, Walker { at: [x, 0.0], velocity: [0.0; 2] });
        }
        self.fly_on(step);
        let mut shots = Vec::new();
        for mut walker in self.walkers.simulated(step) {
            let Some(keys) = step.input(walker.owner()).map(|player| player.input) else { continue };
            walker.velocity[1] = if keys.up { 4.0 } else { -4.0 };
            walker.at[1] = (walker.at[1] + walker.velocity[1] * step.seconds() as f32).clamp(-3.0, 3.0);
            shots.extend(keys.fires.then_some((walker.owner(), *walker, keys.dart)));
        }
        for (player, from, is_dart) in shots {
            self.fire(step, player, from, is_dart);
        }
    }
}

/// Counts what the shooters' clients tell at once, what they take back, and what the server says of it.
#[derive(Default)]
struct Game {
    darts: bool,
    told: u32,
    taken_back: u32,
    rewound: Duration,
    hits: u32,
}

impl Driver<Duel> for Game {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        let (tick, player) = (tick.get(), player as u32);
        Keys { up: (tick / 40 + player).is_multiple_of(2), fires: tick.is_multiple_of(7), dart: self.darts }
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Duel>, frame: &Frame<'_>) {
        for event in frame.events {
            self.told += u32::from(matches!(event, ClientEvent::Effect { .. }));
            self.taken_back += u32::from(matches!(event, ClientEvent::EffectCancelled(_)));
        }
    }

    fn after_server(&mut self, _now: Instant, _server: &foretell::Server<Duel>, frame: &ServerFrame<'_>) {
        self.hits += frame.receipts.len() as u32;
        self.rewound += frame.receipts.iter().map(|receipt| receipt.rewound()).sum::<Duration>();
    }
}

fn play(darts: bool) -> Game {
    let mut session = Simulation::new(Rules::new(Duel::schema()), ServerConfig::default(), Duel::default(), 7);
    for latency in [20, 60] {
        let conditions = Conditions { latency: Duration::from_millis(latency), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        session.add_player(PlayerOptions { client, host, conditions, world: Duel::default() });
    }
    let mut game = Game { darts, ..Game::default() };
    session.run_until(Instant::from_micros(15_000_000), &mut game);
    let Game { told, taken_back, hits, rewound, .. } = game;
    let name = if darts { "darts" } else { "bolts" };
    println!(
        "{name}: {told} hits told, {taken_back} taken back; {hits} on the server, {:?} back",
        rewound / hits.max(1)
    );
    game
}

/// Fifteen seconds of each.
pub fn main() {
    let [bolts, darts] = [false, true].map(play);
    // Who sees a bolt hit has hit. A dart is everybody's: where it flies on it may miss who was shown in its way.
    assert!(bolts.hits > 20 && 50 * bolts.taken_back <= bolts.told);
    assert!(darts.hits > 20);
}
