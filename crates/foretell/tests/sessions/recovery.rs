//! What must end well, whatever happened: holes, stalls, skew, new routes, old datagrams, servers that start anew.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use core::time::Duration;
use foretell::SendRate::{EveryTick, Hz};
use foretell::session::client::{ClientStats, Joined};
use foretell::time::Offset;
use foretell::{
    Client, ClientConfig, ClientState, Frame, Instant, Outbox, PeerId, PlayerId, Rules, SendRate, Server, ServerConfig,
    Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, HostClock, Loss};

/// Keeps the most ticks that any update simulated, new and again.
#[derive(Default)]
struct Keys {
    most: u32,
}

impl Driver<Masses> for Keys {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 16) * 7 + player as u64)
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Masses>, frame: &Frame<'_>) {
        self.most = self.most.max(frame.ticks + frame.resimulated);
    }
}

const LATENCY: Duration = Duration::from_millis(50);

fn session(client: ClientConfig, clock: HostClock) -> Simulation<Masses> {
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), ServerConfig::default(), Masses::default(), 1);
    let host = HostOptions { clock, ..HostOptions::at(60) };
    let conditions = Conditions { latency: LATENCY, ..Conditions::default() };
    simulation.add_player(PlayerOptions { client, host, conditions, world: Masses::default() });
    simulation
}

fn by_clock() -> Simulation<Masses> {
    session(ClientConfig::default(), HostClock::default())
}

/// The same, told so often of the state.
fn told(rate: SendRate) -> Simulation<Masses> {
    let mut simulation = by_clock();
    simulation.server.server.config_mut().snapshot_rate = rate;
    simulation
}

fn seconds(simulation: &mut Simulation<Masses>, seconds: u64, keys: &mut Keys) {
    simulation.run_until(simulation.now() + Duration::from_secs(seconds), keys);
}

/// The player plays, samples agree, and nothing is corrected for five seconds.
fn assert_steady(simulation: &mut Simulation<Masses>, keys: &mut Keys) -> ClientStats {
    let before = simulation.players[0].client.stats();
    seconds(simulation, 5, keys);
    let host = &simulation.players[0];
    let after = host.client.stats();
    assert_eq!(host.client.state(host.host.local(simulation.now())), ClientState::Playing, "{after:?}");
    let server = &simulation.server.server;
    let states = 200 / u64::from(server.config().snapshot_rate.interval_ticks(server.rules().tick_rate));
    assert!(after.prediction.outcomes.agreed > before.prediction.outcomes.agreed + states, "{after:?}");
    assert_eq!(
        (after.prediction.corrections, after.prediction.resyncs),
        (before.prediction.corrections, before.prediction.resyncs),
        "{after:?}"
    );
    after
}

#[test]
fn a_snapshot_of_a_tick_that_never_was_does_not_lead_a_client_astray() {
    let mut simulation = by_clock();
    let mut keys = Keys::default();
    seconds(&mut simulation, 3, &mut keys);
    // A server of the same session that is far ahead, or behind, by the low 16 bits of its ticks.
    for ahead in [700_u32, 2_000, 20_000, 32_760, 40_000, 65_000] {
        let rules = Rules::new(Masses::schema());
        // The first ticket of a server with epoch 0 is 1.
        let config = ServerConfig { timeout: Duration::MAX, ..ServerConfig::default() };
        let mut foreign = Server::<Masses>::new(rules, config, 1, Instant::ZERO);
        let player = foreign.join(PeerId(0));
        let (mut world, mut outbox) = (Masses::default(), Outbox::new());
        let (rules, config) = (Rules::new(Masses::schema()), ClientConfig::default());
        let mut other = Client::joined(rules, config, Joined { player, epoch: 1, now: Instant::ZERO }, &mut world);
        other.update(Instant::ZERO, &mut world, &mut |_| Buttons::default(), &mut outbox);
        let inputs = outbox.iter().next().expect("inputs").1.to_vec();
        foreign.receive(Instant::ZERO, PeerId(0), &inputs).expect("well-formed");
        let mut at = 0;
        while foreign.tick() < Tick::new(ahead) {
            at += 8 * 15_625;
            outbox.clear();
            foreign.update(Instant::from_micros(at), &mut world, &mut outbox);
        }
        let datagram = outbox.iter().last().expect("a snapshot").1.to_vec();
        let now = simulation.players[0].host.local(simulation.now());
        simulation.players[0].client.receive(now, &datagram).expect("well-formed");
        seconds(&mut simulation, 18, &mut keys);
        assert_steady(&mut simulation, &mut keys);
    }
}

#[test]
fn when_the_clock_of_the_server_stood_still_as_well_a_client_plays_soon_and_simulates_little_again() {
    for stall in [2, 3, 10, 60, 300] {
        let mut simulation = by_clock();
        let mut keys = Keys::default();
        seconds(&mut simulation, 5, &mut keys);
        let now = simulation.now();
        let stood = Duration::from_secs(stall);
        simulation.server.host.clock_mut().stall(now, stood + Duration::from_millis(1));
        seconds(&mut simulation, stall, &mut keys);
        let now = simulation.now();
        let back = Offset::from_micros(-i64::try_from(stood.as_micros()).expect("small"));
        simulation.server.host.clock_mut().step(now, back);
        seconds(&mut simulation, 6, &mut keys);
        let stats = assert_steady(&mut simulation, &mut keys);
        assert!(keys.most < 320, "{stall} s: {} ticks in one update", keys.most);
        assert!(stats.clock.lead_ticks < 12.0, "{stall} s: {stats:?}");
    }
}

#[test]
fn where_one_clock_stood_still_for_more_than_half_of_all_short_ticks_the_session_goes_on_with_the_ticks_of_the_server()
{
    // At any moment between two hellos.
    let moments = (0..8_u64).map(|nth| Duration::from_millis(35 * nth));
    for (sleeper, moment) in ["server", "client"].into_iter().flat_map(|who| moments.clone().map(move |at| (who, at))) {
        let mut simulation = by_clock();
        simulation.server.server.config_mut().keep_lost = Duration::from_secs(1200);
        let mut keys = Keys::default();
        seconds(&mut simulation, 20, &mut keys);
        let (now, stood) = (simulation.now(), Duration::from_secs(600) + moment);
        let set_loss = |simulation: &mut Simulation<Masses>, loss: f64| {
            let host = &mut simulation.players[0];
            (host.up_conditions.loss, host.down_conditions.loss) = (Loss::Uniform(loss), Loss::Uniform(loss));
        };
        let clock = |simulation: &mut Simulation<Masses>, change: &dyn Fn(&mut HostClock)| {
            let is_server = sleeper == "server";
            change(if is_server { simulation.server.host.clock_mut() } else { simulation.players[0].host.clock_mut() });
        };
        set_loss(&mut simulation, 1.0);
        clock(&mut simulation, &|clock| clock.stall(now, stood + Duration::from_millis(1)));
        simulation.run_until(now + stood, &mut keys);
        set_loss(&mut simulation, 0.0);
        let now = simulation.now();
        clock(&mut simulation, &|clock| clock.step(now, Offset::from_micros(-(stood.as_micros() as i64))));
        seconds(&mut simulation, 14, &mut keys);
        assert_steady(&mut simulation, &mut keys);
        let (client, server) = (&simulation.players[0].client, &simulation.server.server);
        let ahead = i64::from(client.tick().get()) - i64::from(server.tick().get());
        assert!((0..20).contains(&ahead), "{sleeper}: {ahead} ticks ahead");
        assert_eq!(client.player(), Some(PlayerId::new(1)), "{sleeper}");
        let (rows, predicted) = (server.rows(), &simulation.players[0].world);
        let entity = rows.iter().next().expect("a body").key().entity;
        assert!(predicted.bodies.get(entity).is_some(), "{sleeper}: {entity:?}");
    }
}

#[test]
fn a_way_up_that_is_dead_does_not_drive_the_clock_away() {
    for (hole, rate) in [(2, EveryTick), (10, EveryTick), (60, Hz(20)), (600, Hz(20))] {
        let mut simulation = told(rate);
        let mut keys = Keys::default();
        seconds(&mut simulation, 5, &mut keys);
        simulation.players[0].up_conditions.loss = Loss::Uniform(1.0);
        seconds(&mut simulation, hole, &mut keys);
        let lead = simulation.players[0].client.stats().clock.lead_ticks;
        assert!(lead < 3.2 + 6.4 + 4.0, "{hole} s: {lead} ticks");
        simulation.players[0].up_conditions.loss = Loss::default();
        seconds(&mut simulation, 4, &mut keys);
        assert_steady(&mut simulation, &mut keys);
    }
}

#[test]
fn a_route_that_becomes_longer_costs_inputs_for_two_seconds_at_most() {
    let lengths = [(300, 130), (700, 220)];
    let each = lengths
        .into_iter()
        .flat_map(|(latency_ms, most)| [EveryTick, Hz(20), Hz(10)].map(|rate| (latency_ms, most, rate)));
    for (latency_ms, most, rate) in each {
        let mut simulation = told(rate);
        let mut keys = Keys::default();
        seconds(&mut simulation, 5, &mut keys);
        let missed = |simulation: &Simulation<Masses>| {
            simulation.server.server.stats(PlayerId::new(1)).expect("joined").inputs.missed
        };
        assert_eq!(missed(&simulation), 0);
        for conditions in 0..2 {
            let latency = if conditions == 0 { Duration::from_millis(latency_ms) } else { LATENCY };
            let host = &mut simulation.players[0];
            (host.up_conditions.latency, host.down_conditions.latency) = (latency, latency);
            seconds(&mut simulation, 10, &mut keys);
        }
        assert!(missed(&simulation) < most, "to {latency_ms} ms and back, {rate:?}: {}", missed(&simulation));
        assert_steady(&mut simulation, &mut keys);
    }
}

#[test]
fn old_datagrams_of_an_earlier_attempt_do_not_end_the_present_one() {
    let mut simulation = by_clock();
    let mut keys = Keys::default();
    let mut outbox = Outbox::new();
    simulation.players[0].client.update(
        Instant::ZERO,
        &mut Masses::default(),
        &mut |_| Buttons::default(),
        &mut outbox,
    );
    let old_hello = outbox.iter().next().expect("a hello").1.to_vec();
    seconds(&mut simulation, 2, &mut keys);
    outbox.clear();
    simulation.players[0].client.leave(&mut outbox);
    let old_leave = outbox.iter().next().expect("a good-bye").1.to_vec();
    simulation.players[0].client = Client::new(Rules::new(Masses::schema()), ClientConfig::default(), 77);
    simulation.players[0].world = Masses::default();
    seconds(&mut simulation, 2, &mut keys);
    for old in [old_leave, old_hello] {
        let now = simulation.now();
        simulation.server.server.receive(now, PeerId(0), &old).expect("well-formed");
        assert_steady(&mut simulation, &mut keys);
    }
    let player = simulation.players[0].client.player();
    assert_eq!(simulation.server.server.players().collect::<Vec<_>>(), [player.expect("joined")]);
}

#[test]
fn a_server_that_starts_anew_or_a_machine_that_sleeps_in_a_handshake_only_delays_it() {
    let mut simulation = by_clock();
    let mut keys = Keys::default();
    simulation.run_until(Instant::from_micros(120_000), &mut keys);
    assert_eq!(simulation.players[0].client.state(Instant::ZERO), ClientState::Joining);
    let now = simulation.now();
    simulation.server.server = Server::new(Rules::new(Masses::schema()), ServerConfig::default(), 9, now);
    simulation.server.world = Masses::default();
    simulation.players[0].up_conditions.latency *= 3;
    seconds(&mut simulation, 3, &mut keys);
    assert_steady(&mut simulation, &mut keys);

    let mut simulation = by_clock();
    let mut keys = Keys::default();
    simulation.run_until(Instant::from_micros(130_000), &mut keys);
    let hour = Duration::from_secs(3600);
    let now = simulation.now();
    simulation.players[0].host.clock_mut().stall(now, hour);
    seconds(&mut simulation, 3605, &mut keys);
    assert!(keys.most < 100, "{} ticks in one update", keys.most);
    assert_steady(&mut simulation, &mut keys);
}

#[test]
fn a_loop_that_sleeps_until_the_next_update_steps_every_tick_once_also_after_its_clock_was_set_back() {
    let config = ServerConfig::default();
    let rules = Rules::new(Masses::schema());
    let mut server = Server::<Masses>::new(rules, config, 0, Instant::from_micros(5_000_000));
    let (mut world, mut outbox) = (Masses::default(), Outbox::new());
    for tick in 0..500 {
        let now = if tick == 250 { Instant::from_micros(1_000_000) } else { server.next_update() };
        let frame = server.update(now, &mut world, &mut outbox);
        assert_eq!(frame.steps, u32::from(tick != 250), "tick {tick}");
        assert!(server.next_update() > now);
    }
    assert_eq!(server.tick(), Tick::new(499));
}
