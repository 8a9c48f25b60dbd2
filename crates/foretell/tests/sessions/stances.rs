//! An entity of a player's own that no client predicts in one of its variants.

use crate::budgets::link;
use crate::common::Buttons;
use foretell::session::client::ClientEvent;
use foretell::{
    Client, ClientConfig, Entity, Frame, Instant, Rules, ServerConfig, Simulate, State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::collections::BTreeSet;

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Drone {
    Flown {
        #[state(position)]
        at: [f32; 3],
    },
    #[state(predict = never)]
    Loose {
        #[state(position)]
        at: [f32; 3],
    },
}

#[derive(World, Clone, Default)]
struct Hangar {
    drones: Table<Drone>,
    /// Whether the server alone lets go and takes.
    #[world(constant)]
    by_server: bool,
}

impl Simulate for Hangar {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            self.drones.spawn(step, joined.player, Drone::Flown { at: [0.0; 3] });
        }
        let (tick, is_authority) = (step.tick().get(), step.is_authority());
        let is_loose = (tick / 100) % 2 == 1;
        let turns = tick.is_multiple_of(100) && (is_authority || !self.by_server);
        for mut drone in self.drones.simulated(step) {
            let (Drone::Flown { at } | Drone::Loose { at }) = &mut *drone;
            at[0] += 1.0 / 64.0;
            let at = *at;
            if turns {
                *drone = if is_loose { Drone::Loose { at } } else { Drone::Flown { at } };
            }
        }
    }
}

/// How the drone is shown.
#[derive(Default)]
struct Watch {
    drone: Option<Entity>,
    /// How often something other was told of it than that it is there.
    ended: usize,
    /// In how many frames it was not to be seen.
    missing: u32,
    last_m: Option<f32>,
    /// The largest way from one frame to the next, in metres.
    largest_m: f32,
    variants: BTreeSet<&'static str>,
}

impl Driver<Hangar> for Watch {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Hangar>, frame: &Frame<'_>) {
        for event in frame.events {
            match event {
                ClientEvent::Spawned(of) => _ = self.drone.replace(*of),
                ClientEvent::Hidden { .. } | ClientEvent::Despawned { .. } | ClientEvent::Withdrawn { .. } => {
                    self.ended += 1;
                }
                _ => {}
            }
        }
        let Some(drone) = self.drone else { return };
        let mut views = Views::new();
        client.present(at.local, &mut views);
        let Some(view) = views.get(drone) else {
            self.missing += 1;
            return;
        };
        let [x, ..] = view.pose().position.map(|axis| axis as f32);
        let last = self.last_m.replace(x).unwrap_or(x);
        self.largest_m = self.largest_m.max((x - last).abs());
        let is_loose = matches!(view.get::<Drone>(), Some(Drone::Loose { .. }));
        self.variants.insert(if is_loose { "loose" } else { "flown" });
    }
}

#[test]
fn what_its_player_flies_no_more_and_flies_again_is_always_there_and_moves_on() {
    for (loss, seed) in [(0.0, 1), (0.05, 2), (0.1, 3), (0.1, 4)] {
        let world = || Hangar { by_server: true, ..Hangar::default() };
        let mut simulation = Simulation::new(Rules::new(Hangar::schema()), ServerConfig::default(), world(), seed);
        let conditions = Conditions { loss: Loss::Uniform(loss), ..link(50) };
        let (client, host) = (ClientConfig::default(), HostOptions::at(64));
        simulation.add_player(PlayerOptions { client, host, conditions, world: world() });
        let mut watch = Watch::default();
        simulation.run_until(Instant::from_micros(20_000_000), &mut watch);
        assert_eq!((watch.missing, watch.ended), (0, 0), "{loss}, seed {seed}");
        assert!(watch.largest_m < 0.06, "{loss}, seed {seed}: {} m in a frame", watch.largest_m);
        assert_eq!(watch.variants, BTreeSet::from(["flown", "loose"]));
    }
}
