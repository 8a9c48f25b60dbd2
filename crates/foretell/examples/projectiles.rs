//! Things that appear: players shoot at each other, and each client tells its player at once what it predicts, and what
//! became of it.

use foretell::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell::netsim::{Conditions, Loss};
use foretell::session::client::ClientEvent;
use foretell::{Client, ClientConfig, EffectKind, Entity, Frame, Input, Instant, Kind, Role, Rows, Rules};
use foretell::{ServerConfig, State, Step, Tick, World};
use std::{collections::BTreeMap, time::Duration};

const WALKER: Kind = Kind(0);
const BOLT: Kind = Kind(1);
const SHOT: EffectKind = EffectKind(0);
const HIT: EffectKind = EffectKind(1);

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    back: bool,
    fire: bool,
}

#[derive(State, Clone, Copy)]
enum Thing {
    Walker {
        #[state(position)]
        x: [f32; 1],
        hits: u8,
    },
    Bolt {
        #[state(position)]
        x: [f32; 1],
        #[state(velocity)]
        speed: [f32; 1],
    },
}

#[derive(Clone, Default)]
struct Duel(BTreeMap<Entity, Thing>);

impl Duel {
    /// Players with odd numbers stand on the left and shoot to the right.
    fn side(of: Entity) -> f32 {
        if of.player().get() % 2 == 1 { -1.0 } else { 1.0 }
    }

    /// The walker of another player that a bolt at `x` hits. A client sees the others where they were, and so may be wrong.
    fn target(&self, bolt: Entity, x: f32) -> Option<Entity> {
        self.0.iter().find_map(|(entity, thing)| match thing {
            Thing::Walker { x: [at], .. } if entity.player() != bolt.player() && (at - x).abs() < 0.5 => Some(*entity),
            _ => None,
        })
    }
}

impl World for Duel {
    type Input = Keys;
    type Saved = Duel;

    fn step(&mut self, step: &Step<'_, Keys>) {
        self.0.retain(|entity, _| !step.left().contains(&entity.player()));
        for player in step.joined() {
            let walker = step.spawn(WALKER, *player);
            self.0.insert(walker, Thing::Walker { x: [5.0 * Duel::side(walker)], hits: 0 });
        }
        // Whoever is only shown here is moved by the client itself.
        let moving: Vec<_> = self.0.keys().copied().filter(|entity| step.role(*entity) != Role::Proxy).collect();
        for entity in moving {
            let Some(keys) = step.input(entity.player()).map(|player| player.input) else { continue };
            match self.0[&entity] {
                Thing::Walker { x: [x], hits } => {
                    let side = Duel::side(entity);
                    let x = (x + if keys.back { 0.1 } else { -0.1 } * side).clamp(-9.0, 9.0);
                    self.0.insert(entity, Thing::Walker { x: [x], hits });
                    if keys.fire && step.tick().get().is_multiple_of(16) {
                        // The same name on both ends: what is predicted is the server's bolt.
                        let bolt = step.spawn(BOLT, entity.player());
                        self.0.insert(bolt, Thing::Bolt { x: [x], speed: [-0.4 * side] });
                        step.effect(SHOT, bolt);
                    }
                }
                Thing::Bolt { x: [x], speed: [speed] } => {
                    let x = x + speed;
                    let Some(target) = self.target(entity, x) else {
                        self.0.insert(entity, Thing::Bolt { x: [x], speed: [speed] });
                        if x.abs() > 12.0 {
                            self.0.remove(&entity);
                        }
                        continue;
                    };
                    self.0.remove(&entity);
                    step.effect_at(HIT, entity, [x, 0.0, 0.0]);
                    // Should one end not see it so, it is known why.
                    step.touch(entity, target);
                    step.touch(target, entity);
                    if let (true, Some(Thing::Walker { hits, .. })) = (step.is_authority(), self.0.get_mut(&target)) {
                        *hits = hits.saturating_add(1);
                    }
                }
            }
        }
    }

    fn save(&self, into: &mut Duel) {
        into.clone_from(self);
    }

    fn load(&mut self, from: &Duel) {
        self.clone_from(from);
    }

    fn publish(&self, rows: &mut Rows) {
        rows.publish_all(&self.0);
    }

    fn adopt(&mut self, rows: &Rows) {
        rows.adopt_into(&mut self.0);
    }
}

/// What a game does with what it is told: here it counts and prints.
#[derive(Default)]
struct Game {
    shots: u32,
    hits: u32,
    taken_back: u32,
}

impl Driver<Duel> for Game {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        Keys { back: (tick.get() / 10 + player as u32).is_multiple_of(2), fire: tick.get() % 100 < 60 }
    }

    fn after_client(&mut self, player: usize, _at: Moment, _client: &Client<Duel>, frame: &Frame<'_>) {
        for event in frame.events {
            match event {
                ClientEvent::Effect { effect, .. } if effect.kind == SHOT => self.shots += 1, // play the sound
                ClientEvent::Effect { .. } => self.hits += 1,                                 // show the sparks
                ClientEvent::EffectCancelled(effect) => {
                    self.taken_back += 1; // fade them out
                    println!("player {}: {:?} of {} did not happen", player + 1, effect.kind, effect.entity);
                }
                ClientEvent::Withdrawn { entity, pose } => {
                    println!("player {}: {entity} never was, fade it at {:.1} m", player + 1, pose.position[0]);
                }
                _ => {}
            }
        }
    }
}

/// Ten seconds of it.
pub fn main() {
    let mut session = Simulation::new(Rules::new(Thing::schema()), ServerConfig::default(), Duel::default(), 7);
    for latency in [30, 80] {
        let latency = Duration::from_millis(latency);
        let conditions =
            Conditions { latency, loss: Loss::Bursts { rate: 0.1, mean_length: 3.0 }, ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        session.add_player(PlayerOptions { client, host, conditions, world: Duel::default() });
    }
    let mut game = Game::default();
    session.run_until(Instant::from_micros(10_000_000), &mut game);
    let Game { shots, hits, taken_back } = game;
    println!("{shots} shots and {hits} hits were told, and {taken_back} of them taken back");
    assert!(shots > 50 && hits > 20 && taken_back > 0 && taken_back < hits);
}
