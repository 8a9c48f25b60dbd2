//! Sessions at their edges: worlds that are not deterministic, silence, rejoining, other rates, large and private states.

use crate::common::Buttons;
use core::time::Duration;
use foretell::session::client::{Causes, Corrected, Show};
use foretell::session::server::ServerEvent;
use foretell::{
    Client, ClientConfig, ClientState, Frame, Instant, PlayerId, Rules, SendRate, Server, ServerConfig, ServerFrame,
    Simulate, State, Step, Table, Tick, TickRate, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, SplitMix64};

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Walker {
    #[state(position)]
    position: [f64; 2],
    #[state(velocity)]
    velocity: [f64; 2],
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
#[state(audience = owner)]
struct Purse {
    coins: u32,
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Rock {
    weight: [u32; 8],
}

/// A walker and a purse for each player, and rocks.
#[derive(World, Default)]
struct Land {
    walkers: Table<Walker>,
    purses: Table<Purse>,
    rocks: Table<Rock>,
    /// How many rocks the authority is still to bring.
    #[world(constant)]
    rocks_to_come: u32,
    #[world(constant)]
    rocks_for: PlayerId,
    /// What a world must not have: a state that is not saved.
    #[world(constant)]
    steps: u64,
    #[world(constant)]
    forgetful: bool,
}

impl Simulate for Land {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.steps += 1;
        self.walkers.remove_left(step);
        self.purses.remove_left(step);
        for joined in step.joined() {
            self.walkers.spawn(step, joined.player, Walker::default());
            self.purses.spawn(step, joined.player, Purse { coins: 7 });
        }
        while step.is_authority() && self.rocks_to_come > 0 {
            self.rocks_to_come -= 1;
            self.rocks.spawn(step, self.rocks_for, Rock { weight: [self.rocks_to_come; 8] });
        }
        // What changes has to be told.
        for mut rock in self.rocks.simulated(step).filter(|_| step.is_authority()) {
            rock.weight[0] += 1;
        }
        let drift = if self.forgetful { self.steps as f64 * 1e-6 } else { 0.0 };
        for mut walker in self.walkers.simulated(step) {
            let Some(input) = step.input(walker.owner()) else { continue };
            let way = f64::from(i8::from(input.input.right) - i8::from(input.input.left));
            walker.velocity[0] = way * 3.0 + drift;
            walker.position[0] += walker.velocity[0] * step.seconds();
        }
    }
}

#[derive(Default)]
struct Watch {
    corrections: Vec<Corrected>,
    too_large: Vec<PlayerId>,
    largest_step_m: f64,
    last_shown: Option<f64>,
}

impl Driver<Land> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(SplitMix64::new(u64::from(tick.get() / 20) + player as u64).next_u64() & 31)
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Land>, frame: &ServerFrame<'_>) {
        for event in frame.events {
            if let ServerEvent::SnapshotTooLarge(player) = event {
                self.too_large.push(*player);
            }
        }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Land>, frame: &Frame<'_>) {
        self.corrections.extend(frame.corrections);
        assert!(client.stats().prediction.outcomes.add_up());
        let own = client.player();
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in &views {
            if player == 0 && view.get::<Walker>().is_some() && Some(view.owner) == own {
                let x = view.pose().position[0];
                let step = self.last_shown.map_or(0.0, |last| (x - last).abs());
                self.largest_step_m = self.largest_step_m.max(step);
                self.last_shown = Some(x);
            }
        }
    }
}

fn session(rules: impl FnOnce(&mut Rules), world: Land) -> Simulation<Land> {
    let mut all = Rules::new(Land::schema());
    rules(&mut all);
    Simulation::new(all, ServerConfig::default(), world, 4)
}

fn player(client: ClientConfig, latency_ms: u64, world: Land) -> PlayerOptions<Land> {
    let latency = Duration::from_millis(latency_ms);
    PlayerOptions {
        client,
        host: HostOptions::at(60),
        conditions: Conditions { latency, ..Conditions::default() },
        world,
    }
}

fn seconds(simulation: &mut Simulation<Land>, seconds: u64, watch: &mut Watch) {
    simulation.run_until(simulation.now() + Duration::from_secs(seconds), watch);
}

#[test]
fn a_step_that_reads_what_is_not_saved_is_corrected_and_called_not_deterministic() {
    let corrections = |forgetful| {
        let world = || Land { forgetful, ..Land::default() };
        let mut simulation = session(|_| {}, world());
        simulation.add_player(player(ClientConfig::default(), 50, world()));
        let mut watch = Watch::default();
        seconds(&mut simulation, 4, &mut watch);
        watch.corrections
    };
    let corrected = corrections(true);
    assert!(corrected.len() > 50);
    assert!(corrected.iter().any(|correction| correction.causes == Causes::NONDETERMINISM));
    assert!(!corrected.iter().any(|correction| correction.causes.contains(Causes::SERVER_EVENT)));
    assert_eq!(corrections(false), [], "where everything is saved nothing is corrected");
}

#[test]
fn a_purse_is_seen_by_its_owner_alone() {
    let mut simulation = session(|_| {}, Land::default());
    for _ in 0..3 {
        simulation.add_player(player(ClientConfig::default(), 20, Land::default()));
    }
    seconds(&mut simulation, 3, &mut Watch::default());
    for host in &simulation.players {
        let (_, rows) = host.client.newest_snapshot().expect("a snapshot");
        let purses: Vec<_> = rows.states::<Purse>().map(|(of, _)| Some(of.owner)).collect();
        assert_eq!((purses, rows.states::<Walker>().count()), (vec![host.client.player()], 3));
    }
}

#[test]
fn own_rows_of_many_datagrams_come_altogether_or_not_at_all_and_too_many_are_reported() {
    let rocks_for = PlayerId::new(1);
    let mut simulation = session(|_| {}, Land { rocks_to_come: 200, rocks_for, ..Land::default() });
    let host = simulation.add_player(player(ClientConfig::default(), 30, Land::default()));
    let mut watch = Watch::default();
    seconds(&mut simulation, 2, &mut watch);
    simulation.players[host].down_conditions.loss = foretell_sim::netsim::Loss::Uniform(0.1);
    seconds(&mut simulation, 4, &mut watch);
    let client = &simulation.players[host].client;
    let (_, rows) = client.newest_snapshot().expect("a snapshot");
    assert_eq!(rows.states::<Rock>().count(), 200);
    assert!(client.stats().network.datagrams_received > 2 * 64 * 5, "several for each snapshot");
    assert!(watch.too_large.is_empty());
    simulation.server.world.rocks_to_come = 250;
    seconds(&mut simulation, 1, &mut watch);
    assert!(!watch.too_large.is_empty());
}

#[test]
fn what_of_others_has_room_is_told_exactly_and_the_rest_is_shown() {
    let mut simulation = session(|_| {}, Land { rocks_to_come: 400, ..Land::default() });
    let host = simulation.add_player(player(ClientConfig::default(), 30, Land::default()));
    simulation.players[host].client.predict(PlayerId::SERVER, true);
    let mut watch = Watch::default();
    for (budget, rocks) in [(20_000, 2..5), (80_000, 12..24), (u32::MAX, 100..200)] {
        simulation.server.server.config_mut().budget = budget;
        seconds(&mut simulation, 4, &mut watch);
        let client = &simulation.players[host].client;
        let (tick, rows) = client.newest_snapshot().expect("a snapshot");
        let predicted = client.predicted(tick).map_or(0, |rows| rows.states::<Rock>().count());
        assert_eq!(rows.states::<Rock>().count(), 400);
        assert!(rocks.contains(&predicted), "{budget} B/s: {predicted} are predicted");
    }
    assert!(watch.too_large.len() == 1, "it is told once");
}

#[test]
fn at_every_tick_rate_nothing_is_corrected_and_others_are_shown() {
    for hz in [10, 20, 30, 60, 64, 128, 250, 1000] {
        let mut simulation = session(|rules| rules.tick_rate = TickRate::hz(hz), Land::default());
        simulation.server.server.config_mut().snapshot_rate = SendRate::Hz(64);
        for latency in [20, 60] {
            simulation.add_player(player(ClientConfig::default(), latency, Land::default()));
        }
        let mut watch = Watch::default();
        seconds(&mut simulation, 8, &mut watch);
        assert_eq!(watch.corrections, [], "{hz} Hz");
        for host in &simulation.players {
            let mut views = Views::new();
            host.client.present(host.host.local(simulation.now()), &mut views);
            assert_eq!(views.iter().filter(|view| view.get::<Walker>().is_some()).count(), 2, "{hz} Hz");
        }
    }
}

#[test]
fn after_ten_minutes_of_silence_a_lost_client_plays_on() {
    let mut simulation = session(|_| {}, Land::default());
    let host = simulation.add_player(player(ClientConfig::default(), 30, Land::default()));
    let mut watch = Watch::default();
    seconds(&mut simulation, 2, &mut watch);
    simulation.players[host].down_conditions.loss = foretell_sim::netsim::Loss::Uniform(1.0);
    seconds(&mut simulation, 6, &mut watch);
    assert_eq!(simulation.players[host].client.state(simulation.now()), ClientState::Lost);
    seconds(&mut simulation, 600, &mut watch);
    simulation.players[host].down_conditions.loss = foretell_sim::netsim::Loss::default();
    seconds(&mut simulation, 3, &mut watch);
    assert_eq!(simulation.players[host].client.state(simulation.now()), ClientState::Playing);
    let (tick, _) = simulation.players[host].client.newest_snapshot().expect("a snapshot");
    assert!(simulation.server.server.tick().since(tick) < 10, "it is of now");
}

#[test]
fn a_player_who_asks_again_on_the_same_connection_is_a_new_one_with_a_walker() {
    let mut simulation = session(|_| {}, Land::default());
    let host = simulation.add_player(player(ClientConfig::default(), 20, Land::default()));
    let mut watch = Watch::default();
    seconds(&mut simulation, 2, &mut watch);
    let before = simulation.players[host].client.player();
    simulation.players[host].client = Client::new(Rules::new(Land::schema()), ClientConfig::default(), 123);
    simulation.players[host].world = Land::default();
    seconds(&mut simulation, 2, &mut watch);
    let client = &simulation.players[host].client;
    assert_eq!(client.state(simulation.now()), ClientState::Playing);
    assert!(client.player() > before);
    let walkers = simulation.server.world.walkers.iter();
    assert_eq!(walkers.map(|walker| Some(walker.owner())).collect::<Vec<_>>(), [client.player()]);
}

#[test]
fn each_way_to_show_keeps_to_its_promise_and_without_smoothing_a_correction_is_a_jump() {
    let run = |client: ClientConfig| {
        let mut simulation = session(|_| {}, Land::default());
        simulation.add_player(player(client, 50, Land::default()));
        let mut watch = Watch::default();
        seconds(&mut simulation, 3, &mut watch);
        let smooth = watch.largest_step_m;
        simulation.server.world.walkers.iter_mut().for_each(|mut walker| walker.position[0] += 1.0);
        seconds(&mut simulation, 2, &mut watch);
        assert_eq!(watch.corrections.len(), 1);
        assert!((watch.corrections[0].shown_m - 1.0).abs() < 0.01);
        (smooth, watch.largest_step_m)
    };
    // 3 m/s at 60 frames per second are 5 cm a frame, at 64 Hz 4.7 cm a tick.
    for (show, most) in [(Show::Between, 0.051), (Show::Ahead, 0.15), (Show::Newest, 0.1)] {
        let (smooth, hidden) = run(ClientConfig { show, ..ClientConfig::default() });
        assert!(smooth < most, "{show:?}: {smooth}");
        assert!(hidden < 0.3, "{show:?}: {hidden}");
        let (_, jump) = run(ClientConfig { show, correction: None, ..ClientConfig::default() });
        assert!(jump > 0.9, "{show:?}: {jump}");
    }
}
