//! A steady-state frame allocates nothing, on either end.

#[path = "sessions/common/mod.rs"]
mod common;

use common::Buttons;
use common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::session::client::{Predict, Show};
use foretell::session::host::LocalPlayer;
use foretell::{
    Client, ClientConfig, Curve, EffectKind, Entity, Frame, Instant, Interest, Owned, PlayerId, Rules, ServerConfig,
    Simulate, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, LocalSeat, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

/// Draws every frame.
#[derive(Default)]
struct Quiet(Views);

/// Presses the same as others, and draws, at the server.
#[derive(Default)]
struct Hosting(Quiet);

impl Driver<Masses> for Hosting {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        self.0.input(player, tick)
    }

    fn local_input(&mut self, tick: Tick) -> Buttons {
        self.0.input(9, tick)
    }

    fn after_local(&mut self, at: Moment, seat: &LocalSeat<'_, Masses>, _frame: &Frame<'_>) {
        seat.present(at.local, &mut self.0.0);
    }
}

#[test]
fn who_sits_at_the_server_costs_no_allocations_either_with_and_without_limits_of_what_they_see() {
    let within = Interest::Within { radius_m: 1e3, leaves_at_m: 2e3 };
    for interest in [Interest::Everything, within] {
        let server = ServerConfig { interest, ..ServerConfig::default() };
        let mut simulation = Simulation::new(Rules::new(Masses::schema()), server, Masses::default(), 3);
        simulation.seat_player(LocalPlayer::new(Show::Between));
        let (client, conditions) = (ClientConfig::default(), Conditions::default());
        for _ in 0..2 {
            let (host, world) = (HostOptions::at(60), Masses::default());
            simulation.add_player(PlayerOptions { client, host, conditions: conditions.clone(), world });
        }
        let mut hosting = Hosting::default();
        simulation.run_until(Instant::from_micros(40_000_000), &mut hosting);
        let used = allocation_counter::measure(|| {
            simulation.run_until(Instant::from_micros(60_000_000), &mut hosting);
        });
        assert!(!hosting.0.0.is_empty());
        assert_eq!(used.count_total, 0, "{used:?} in 20 s of two clients and a host");
    }
}

impl Driver<Masses> for Quiet {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 16) + player as u64)
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Masses>, _frame: &Frame<'_>) {
        client.present(at.local, &mut self.0);
        self.0.sort_by(|a, b| a.pose().position[0].total_cmp(&b.pose().position[0]));
    }
}

#[test]
fn a_steady_state_update_allocates_nothing_on_either_end() {
    measure(ServerConfig::default(), ClientConfig::default());
}

#[test]
fn predicting_others_from_relayed_inputs_allocates_nothing_either() {
    let server = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
    let resimulated = measure(server, ClientConfig { predict: Predict::Everyone, ..ClientConfig::default() });
    assert!(resimulated > 500, "the others' inputs change: {resimulated}");
}

#[test]
fn no_curve_allocates_anything_in_a_steady_state() {
    for curve in [Curve::CatmullRom, Curve::DeadReckoning, Curve::Combined] {
        measure(ServerConfig::default(), ClientConfig { curve, ..ClientConfig::default() });
    }
}

/// Twenty seconds of a session that has been running for a while. Returns how many ticks a client simulated again.
fn measure(server: ServerConfig, client: ClientConfig) -> u64 {
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), server, Masses::default(), 3);
    for _ in 0..3 {
        simulation.add_player(PlayerOptions {
            client,
            host: HostOptions::at(60),
            conditions: Conditions {
                latency: Duration::from_millis(40),
                jitter: Duration::from_millis(10),
                loss: Loss::Uniform(0.02),
                ..Conditions::default()
            },
            world: Masses::default(),
        });
    }
    let mut quiet = Quiet::default();
    simulation.run_until(Instant::from_micros(40_000_000), &mut quiet);
    let before = simulation.players[0].client.stats();
    let used = allocation_counter::measure(|| {
        simulation.run_until(Instant::from_micros(60_000_000), &mut quiet);
    });
    let after = simulation.players[0].client.stats();
    assert!(after.prediction.outcomes.received - before.prediction.outcomes.received > 1000);
    assert_eq!(used.count_total, 0, "{used:?} in 20 s of three clients and a server");
    after.prediction.resimulated - before.prediction.resimulated
}

const NOBODYS: Owned = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0), owner: PlayerId::SERVER };

/// Every player's lamp blinks: it says so, and throws a spark that lives for a few ticks. Allocates nothing itself.
#[derive(World, Default)]
struct Lamps(Table<Body>);

impl Simulate for Lamps {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            self.0.spawn(step, joined.player, Body::default());
        }
        // The lamp itself is the oldest of its player's.
        let is_spent = |entity: Entity| step.tick().since(entity.tick()) > 3 && entity.counter() == 1;
        self.0.retain(|one| step.input(one.owner()).is_none() || !is_spent(one.entity()));
        for input in step.inputs() {
            let first = self.0.owned_by(input.player).next().map(|one| one.owned());
            if let Some(lamp) = first.filter(|_| input.input.jump && step.tick().get().is_multiple_of(5)) {
                step.effect_at(EffectKind(1), lamp.entity, [0.0, 1.0, 0.0]);
                step.touch(lamp, NOBODYS);
                // The second name of the tick.
                step.spawn(input.player);
                self.0.spawn(step, input.player, Body::default());
            }
        }
    }
}

#[derive(Default)]
struct Blinking {
    told: u64,
}

impl Driver<Lamps> for Blinking {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        // Mostly held: how many sparks there are at most shows soon.
        Buttons::from_bits(16 * u64::from((tick.get() + 20 * player as u32) % 64 > 8))
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Lamps>, frame: &Frame<'_>) {
        self.told += frame.events.len() as u64;
    }
}

#[test]
fn entities_and_effects_that_come_and_go_allocate_nothing_either() {
    let mut simulation = Simulation::new(Rules::new(Lamps::schema()), ServerConfig::default(), Lamps::default(), 3);
    for _ in 0..3 {
        simulation.add_player(PlayerOptions {
            client: ClientConfig::default(),
            host: HostOptions::at(60),
            conditions: Conditions {
                latency: Duration::from_millis(40),
                jitter: Duration::from_millis(10),
                loss: Loss::Uniform(0.02),
                ..Conditions::default()
            },
            world: Lamps::default(),
        });
    }
    let mut blinking = Blinking::default();
    // While much is lost, whatever grows comes to its largest.
    for (until, loss) in [(100_000_000, 0.2), (150_000_000, 0.02)] {
        for player in &mut simulation.players {
            player.up_conditions.loss = Loss::Uniform(loss);
            player.down_conditions.loss = Loss::Uniform(loss);
        }
        simulation.run_until(Instant::from_micros(until), &mut blinking);
    }
    let before = blinking.told;
    let used = allocation_counter::measure(|| {
        simulation.run_until(Instant::from_micros(170_000_000), &mut blinking);
    });
    assert!(blinking.told > before + 3000, "{}", blinking.told - before);
    assert_eq!(used.count_total, 0, "{used:?} in 20 s of three clients and a server");
}
