//! Things that appear: players shoot at each other, and each client tells its player at once what it predicts, and what
//! became of it.

use foretell::session::client::ClientEvent;
use foretell::{Client, ClientConfig, EffectKind, Frame, Input, Instant, Mut, PlayerId, Rules, ServerConfig};
use foretell::{Simulate, State, Step, Table, Tick, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::time::Duration;

const SHOT: EffectKind = EffectKind(0);
const HIT: EffectKind = EffectKind(1);

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    back: bool,
    fire: bool,
}

#[derive(State, Clone, Copy)]
struct Walker {
    #[state(position)]
    x: [f32; 1],
    hits: u8,
}

#[derive(State, Clone, Copy)]
struct Bolt {
    #[state(position)]
    x: [f32; 1],
    #[state(velocity)]
    speed: [f32; 1],
}

#[derive(World, Default)]
struct Duel {
    walkers: Table<Walker>,
    bolts: Table<Bolt>,
}

/// Players with odd numbers stand on the left and shoot to the right.
fn side(of: PlayerId) -> f32 {
    if of.get() % 2 == 1 { -1.0 } else { 1.0 }
}

impl Duel {
    fn fly(&mut self, step: &mut Step<'_, Keys>) {
        let mut spent = Vec::new();
        // Whatever is only shown here is moved by the client itself.
        for mut bolt in self.bolts.simulated(step) {
            bolt.x[0] += bolt.speed[0];
            let x = bolt.x[0];
            // A client sees the others where they were, and so may be wrong.
            let is_hit = |walker: &Mut<'_, Walker>| walker.owner() != bolt.owner() && (walker.x[0] - x).abs() < 0.5;
            if let Some(mut target) = self.walkers.iter_mut().find(is_hit) {
                spent.push(bolt.entity());
                step.effect_at(HIT, bolt.entity(), [x, 0.0, 0.0]);
                // Should one end not see it so, it is known why.
                step.touch(bolt.owned(), target.owned());
                if step.is_authority() {
                    target.hits = target.hits.saturating_add(1);
                }
            } else if x.abs() > 12.0 {
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
            self.walkers.spawn(step, joined.player, Walker { x: [5.0 * side(joined.player)], hits: 0 });
        }
        self.fly(step);
        for mut walker in self.walkers.simulated(step) {
            let player = walker.owner();
            let Some(keys) = step.input(player).map(|player| player.input) else { continue };
            let x = (walker.x[0] + if keys.back { 0.1 } else { -0.1 } * side(player)).clamp(-9.0, 9.0);
            walker.x = [x];
            if keys.fire && step.tick().get().is_multiple_of(16) {
                // The same name on both ends: what is predicted is the server's bolt.
                let bolt = self.bolts.spawn(step, player, Bolt { x: [x], speed: [-0.4 * side(player)] });
                step.effect(SHOT, bolt);
            }
        }
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
    let mut session = Simulation::new(Rules::new(Duel::schema()), ServerConfig::default(), Duel::default(), 7);
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
