//! The reference model's point mass as a game of Bevy's: the same bits on the server and on each client, through every re-simulation.

#[path = "../../../../crates/foretell/tests/sessions/common/body.rs"]
mod body;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::{Driven, ForetellApp, ForetellPlugin, GameWorld, Simulated, Simulation, State, StepCommands};
use body::Buttons;
use foretell::session::client::{Client, Frame};
use foretell::{ClientConfig, Instant, ServerConfig, Tick};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions};
use foretell_sim::netsim::{Conditions, SplitMix64};
use serde_json::Value;
use std::time::Duration;

/// When bodies begin to move: all have joined by then.
const START: u32 = 200;

/// Everything that a body has been, in one number (FNV-1a, as the reference model counts it). Never told.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct Digest(u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Something of the player's that the server alone pushes, which no client foresees.
#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
struct Puck {
    #[state(position)]
    x: [f32; 3],
}

fn shove(mut pucks: Query<&mut Puck, With<Simulated>>, step: StepCommands) {
    if step.is_authority() && step.tick().get().is_multiple_of(24) {
        pucks.iter_mut().for_each(|mut puck| puck.x[0] += 1.0);
    }
}

/// A game of bodies of one precision.
macro_rules! game {
    ($module:ident, $real:ty) => {
        mod $module {
            use super::*;

            #[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
            #[require(Digest)]
            struct Mass {
                #[state(flatten)]
                body: body::$module::Body,
            }

            fn join(mut step: StepCommands) {
                for newcomer in step.joined() {
                    step.spawn(newcomer.player, Mass::default());
                    step.spawn(newcomer.player, Puck::default());
                }
            }

            fn advance(mut masses: Query<(&mut Mass, &mut Digest, &Driven<Buttons>)>, step: StepCommands) {
                let steps = START..START + super::steps();
                if !steps.contains(&step.tick().get()) {
                    return;
                }
                for (mut mass, mut digest, buttons) in &mut masses {
                    mass.body.step(**buttons, 1.0 / 64.0);
                    let numbers = [mass.body.position, mass.body.velocity].concat();
                    numbers.iter().for_each(|number| digest.mix(&number.to_le_bytes()));
                }
            }

            pub fn game(app: &mut App) {
                app.add_plugins(ForetellPlugin::<Buttons>::hz(64));
                app.networked::<Mass>().networked::<Puck>().rolled_back::<Digest>();
                app.add_systems(Simulation, (join, advance, shove).chain());
            }
        }
    };
}

game!(f64_mass, f64);
game!(f32_mass, f32);

fn cases() -> Vec<Value> {
    let text = include_str!("../../../../vectors/world_step.json");
    let all: Value = serde_json::from_str(text).expect("it is JSON");
    all["cases"].as_array().expect("cases").clone()
}

fn steps() -> u32 {
    512
}

/// Presses what the reference model does.
struct Script {
    buttons: Vec<Buttons>,
    corrections: usize,
}

impl Script {
    fn of(case: &Value) -> Script {
        assert_eq!(case["steps"].as_u64(), Some(u64::from(steps())));
        let mut random = SplitMix64::new(case["script_seed"].as_u64().expect("a seed"));
        let buttons = (0..steps().div_ceil(16)).map(|_| Buttons::from_bits(random.next_u64() & 31)).collect();
        Script { buttons, corrections: 0 }
    }
}

impl Driver<GameWorld<Buttons>> for Script {
    fn input(&mut self, _: usize, tick: Tick) -> Buttons {
        let step = tick.get().checked_sub(START);
        step.and_then(|step| self.buttons.get(step as usize / 16)).copied().unwrap_or_default()
    }

    fn after_client(&mut self, _: usize, _: Moment, _: &Client<GameWorld<Buttons>>, frame: &Frame<'_>) {
        self.corrections += frame.corrections.len();
    }
}

/// The digests of the bodies that are moved here.
fn digests(world: &mut GameWorld<Buttons>) -> Vec<String> {
    let world = world.world();
    let mut query = world.query_filtered::<&Digest, With<Simulated>>();
    query.iter(world).map(|digest| format!("0x{:016x}", digest.0)).collect()
}

#[test]
fn bodies_in_bevy_come_to_the_digests_of_the_reference_model_in_both_precisions_on_every_end() {
    for case in cases() {
        let game = if case["number"] == "f32" { f32_mass::game } else { f64_mass::game };
        let (rules, server) = (GameWorld::<Buttons>::rules(game), ServerConfig::default());
        let mut session = foretell_sim::harness::Simulation::new(rules, server, GameWorld::of(game), 7);
        let conditions = Conditions { latency: Duration::from_millis(75), ..Conditions::default() };
        for _ in 0..2 {
            let (client, host) = (ClientConfig::default(), HostOptions::at(60));
            session.add_player(PlayerOptions {
                client,
                host,
                conditions: conditions.clone(),
                world: GameWorld::of(game),
            });
        }
        let mut script = Script::of(&case);
        session.run_until(Instant::from_micros(13_000_000), &mut script);
        let expected = case["fnv1a64"].as_str().expect("a digest").to_owned();
        assert_eq!(digests(&mut session.server.world), vec![expected.clone(); 2]);
        for player in &mut session.players {
            assert_eq!(digests(&mut player.world), vec![expected.clone()]);
        }
        assert!(script.corrections > 20, "the pucks are pushed: {}", script.corrections);
    }
}
