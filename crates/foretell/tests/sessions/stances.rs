//! An entity of a player's own that no client predicts in one of its variants.

use crate::budgets::link;
use crate::common::Buttons;
use foretell::session::client::ClientEvent;
use foretell::{
    Client, ClientConfig, Entity, Frame, Instant, Rules, ServerConfig, Simulate, State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{BotView, Driver, FaultMix, HostOptions, Moment, PlayerOptions, Scenario, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

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

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Pilot {
    #[state(position)]
    at: [f32; 3],
}

/// Who turns a drone from one to the other, in every hundredth tick.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
enum By {
    /// Its step, on both ends.
    #[default]
    Step,
    Server,
    /// Its player lets go with a key, on both ends; the server takes it up again.
    Input,
}

#[derive(World, Clone, Default)]
struct Hangar {
    drones: Table<Drone>,
    pilots: Table<Pilot>,
    #[world(constant)]
    by: By,
}

impl Simulate for Hangar {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            self.drones.spawn(step, joined.player, Drone::Flown { at: [0.0; 3] });
            self.pilots.spawn(step, joined.player, Pilot::default());
        }
        for mut pilot in self.pilots.simulated(step) {
            let up = step.input(pilot.owner()).is_some_and(|player| player.input.up);
            pilot.at[1] += f32::from(u8::from(up)) / 64.0;
        }
        let (tick, is_authority) = (step.tick().get(), step.is_authority());
        let is_turn = tick.is_multiple_of(100);
        for mut drone in self.drones.simulated(step) {
            let lets_go = step.input(drone.owner()).is_some_and(|player| player.input.left && player.input.right);
            let is_loose = match self.by {
                By::Step => is_turn.then_some((tick / 100) % 2 == 1),
                By::Server => (is_turn && is_authority).then_some((tick / 100) % 2 == 1),
                By::Input if is_turn && is_authority => Some(false),
                By::Input => lets_go.then_some(true),
            };
            let (Drone::Flown { at } | Drone::Loose { at }) = &mut *drone;
            at[0] += 1.0 / 64.0;
            let at = *at;
            match is_loose {
                Some(true) => *drone = Drone::Loose { at },
                Some(false) => *drone = Drone::Flown { at },
                None => {}
            }
        }
    }
}

/// How the drone is shown.
#[derive(Default)]
struct Watch {
    drone: Option<Entity>,
    /// How many events have said that it is gone or hidden.
    ended: usize,
    /// In how many frames it was not to be seen.
    missing: u32,
    last_m: Option<f32>,
    /// The largest way from one frame to the next, in metres.
    largest_m: f32,
    /// How often it turned from one to the other.
    turns: u32,
    was_loose: bool,
    corrections: usize,
}

impl Driver<Hangar> for Watch {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Hangar>, frame: &Frame<'_>) {
        for event in frame.events {
            match event {
                ClientEvent::Spawned(of) => _ = self.drone.get_or_insert(*of),
                ClientEvent::Hidden { .. } | ClientEvent::Despawned { .. } | ClientEvent::Withdrawn { .. } => {
                    self.ended += 1;
                }
                _ => {}
            }
        }
        self.corrections += frame.corrections.len();
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
        self.turns += u32::from(is_loose != self.was_loose);
        self.was_loose = is_loose;
    }
}

#[test]
fn what_its_player_flies_no_more_and_flies_again_is_always_there_and_moves_on() {
    let cases = [By::Server, By::Step].into_iter().flat_map(|by| [(by, 0.0), (by, 0.05), (by, 0.1)]);
    for ((by, loss), seed) in cases.zip(1..) {
        let world = || Hangar { by, ..Hangar::default() };
        let mut simulation = Simulation::new(Rules::new(Hangar::schema()), ServerConfig::default(), world(), seed);
        let conditions = Conditions { loss: Loss::Uniform(loss), ..link(50) };
        let (client, host) = (ClientConfig::default(), HostOptions::at(64));
        simulation.add_player(PlayerOptions { client, host, conditions, world: world() });
        let mut watch = Watch::default();
        simulation.run_until(Instant::from_micros(20_000_000), &mut watch);
        assert_eq!((watch.missing, watch.ended), (0, 0), "{by:?}, {loss}, seed {seed}");
        assert_eq!(watch.turns, 12, "{by:?}, {loss}, seed {seed}: to and fro once each time");
        assert!(watch.largest_m < 0.06, "{by:?}, {loss}, seed {seed}: {} m in a frame", watch.largest_m);
        assert!(watch.corrections == 0 || by == By::Server, "{by:?}, {loss}, seed {seed}: both ends do the same");
    }
}

#[test]
fn no_check_misses_what_its_player_lets_go_and_is_not_to_predict_any_more() {
    Scenario::new(Rules::new(Hangar::schema()), || Hangar { by: By::Input, ..Hangar::default() })
        .players(2)
        .bot(|_: &BotView<'_>, random| Buttons::from_bits(random.next_u64()))
        .faults(FaultMix::default())
        // The server takes it up at any time.
        .without("calm")
        .seeds(0..20)
        .expect("no check complains");
}

/// A hull that is steered by whom its helm says.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Hull {
    #[state(position)]
    at: [f32; 3],
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Helm {
    Steered,
    #[state(predict = never)]
    Adrift,
}

/// One ship for each player, in both tables: it drifts, by the server alone, from a tick on.
#[derive(World, Clone, Default)]
struct Harbour {
    hulls: Table<Hull>,
    helms: Table<Helm>,
}

impl Simulate for Harbour {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            let ship = self.hulls.spawn(step, joined.player, Hull::default());
            self.helms.insert(foretell::Owned { entity: ship, owner: joined.player }, Helm::Steered);
        }
        for mut helm in self.helms.simulated(step).filter(|_| step.tick().get() == 200) {
            *helm = Helm::Adrift;
        }
        for mut hull in self.hulls.simulated(step) {
            match self.helms.get(hull.entity()).map(|helm| *helm) {
                Some(Helm::Steered) => hull.at[0] += 1.0 / 64.0,
                Some(Helm::Adrift) if step.is_authority() => hull.at[1] += 1.0 / 64.0,
                _ => {}
            }
        }
    }
}

/// How often anything was corrected, and in which frames nothing was to be seen.
#[derive(Default)]
struct Lookout {
    corrections: usize,
    missing: usize,
    is_there: bool,
}

impl Driver<Harbour> for Lookout {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Harbour>, frame: &Frame<'_>) {
        self.corrections += frame.corrections.len();
        let mut views = Views::new();
        client.present(at.local, &mut views);
        let is_there = views.iter().any(|view| view.get::<Hull>().is_some());
        self.is_there |= is_there;
        self.missing += usize::from(self.is_there && !is_there);
    }
}

#[test]
fn what_moves_on_beside_it_is_left_to_the_server_as_soon_as_that_is_known() {
    let world = Harbour::default;
    let mut simulation = Simulation::new(Rules::new(Harbour::schema()), ServerConfig::default(), world(), 1);
    let (client, host) = (ClientConfig::default(), HostOptions::at(64));
    simulation.add_player(PlayerOptions { client, host, conditions: link(50), world: world() });
    let mut lookout = Lookout::default();
    simulation.run_until(Instant::from_micros(8_000_000), &mut lookout);
    assert_eq!((lookout.corrections, lookout.missing), (1, 0), "once, as it is told");
    let truth = simulation.server.server.rows();
    let (_, known) = simulation.players[0].client.newest_snapshot().expect("a state");
    assert!(truth.states::<Helm>().eq(known.states::<Helm>()) && known.states::<Helm>().count() == 1);
}

#[test]
fn what_is_nowhere_of_an_entity_does_not_count_as_a_way_that_it_is_shown_to_go() {
    Scenario::new(Rules::new(Harbour::schema()), Harbour::default)
        .players(1)
        .without("unexplained")
        .without("calm")
        .seeds(0..2)
        .map(|seen| assert!(seen.figures.step_excess_m.p99 < 0.05, "{:?}", seen.figures.step_excess_m))
        .expect("no check complains");
}
