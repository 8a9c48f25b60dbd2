//! Whole sessions on the server's own clock, over simulated links: what must hold on any network.

use crate::common::Buttons;
use crate::common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::session::Refusal;
use foretell::session::client::{Causes, Corrected, PoseSource, Redundancy};
use foretell::session::server::{Server, ServerEvent};
use foretell::{
    Client, ClientConfig, ClientState, Frame, GapPolicy, Instant, PlayerId, Rules, SendRate, ServerConfig, ServerFrame,
    Tick, TickRate, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::{Bottleneck, Conditions, HostClock, Loss, Reordering, SplitMix64};
use proptest::prelude::*;

/// Plays by a seeded script, pushes the first player's mass on the server before given ticks, and keeps what happened.
struct Play {
    seed: u64,
    /// Before which tick the server pushes.
    pushes: Vec<Tick>,
    /// From which tick on the players let go of the keys.
    quiet_from: Tick,
    corrections: Vec<(Instant, Corrected)>,
    farthest_m: f64,
    skipped_ticks: u32,
}

impl Play {
    fn new(seed: u64) -> Play {
        Play {
            seed,
            pushes: Vec::new(),
            quiet_from: Tick::new(u32::MAX),
            corrections: Vec::new(),
            farthest_m: 0.0,
            skipped_ticks: 0,
        }
    }
}

impl Driver<Masses> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        if tick >= self.quiet_from {
            return Buttons::default();
        }
        let part = u64::from(tick.get() / 16);
        Buttons::from_bits(SplitMix64::new(self.seed ^ part ^ (player as u64) << 32).next_u64() & 31)
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Masses>) {
        let tick = server.server.tick();
        // On a bad network nobody may have joined yet.
        if self.pushes.contains(&tick) && !server.world.bodies.is_empty() {
            server.world.first().velocity[0] += 3.0;
        }
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Masses>, frame: &ServerFrame<'_>) {
        for event in frame.events {
            if let ServerEvent::SkippedTicks(ticks) = event {
                self.skipped_ticks += ticks;
            }
        }
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Masses>, frame: &Frame<'_>) {
        self.corrections.extend(frame.corrections.iter().map(|correction| (at.local, *correction)));
        let stats = client.stats();
        assert!(stats.prediction.outcomes.add_up(), "{:?}", stats.prediction.outcomes);
        self.farthest_m = self.farthest_m.max(stats.prediction.misprediction_m);
    }
}

fn conditions(latency_ms: u64) -> Conditions {
    Conditions { latency: Duration::from_millis(latency_ms), ..Conditions::default() }
}

/// A session at this rate of snapshots, in Hz.
fn session(rate: u16, seed: u64) -> Simulation<Masses> {
    let config = ServerConfig { snapshot_rate: SendRate::Hz(rate), ..ServerConfig::default() };
    Simulation::new(Rules::new(Masses::schema()), config, Masses::default(), seed)
}

fn player(conditions: Conditions, host: HostOptions) -> PlayerOptions<Masses> {
    PlayerOptions { client: ClientConfig::default(), host, conditions, world: Masses::default() }
}

fn run(simulation: &mut Simulation<Masses>, seconds: f64, play: &mut Play) {
    let until = simulation.now() + Duration::from_secs_f64(seconds);
    simulation.run_until(until, play);
}

#[test]
fn a_push_is_one_correction_of_the_articles_size() {
    for (rate, size) in [(64, 0.044), (16, 0.160), (2, 0.614)] {
        let mut simulation = session(rate, 1);
        simulation.add_player(player(conditions(75), HostOptions::at(60)));
        let mut play = Play { pushes: vec![Tick::new(320)], ..Play::new(3) };
        run(&mut simulation, 10.0, &mut play);
        let [(_, correction)] = play.corrections[..] else { panic!("{rate} Hz: {:?}", play.corrections) };
        assert!((correction.misprediction_m - size).abs() < 0.0005, "{rate} Hz: {correction:?}");
        assert_eq!(correction.causes, Causes::SERVER_EVENT);
    }
}

/// The first player's mass on the server, and as it is shown to them.
fn truth_and_shown(simulation: &Simulation<Masses>) -> ([f64; 3], [f64; 3]) {
    let host = &simulation.players[0];
    let first = simulation.server.world.bodies.iter().next().expect("somebody");
    let (entity, truth) = (first.entity(), first.position);
    let mut shown = None;
    let mut views = Views::new();
    host.client.present(host.host.local(simulation.now()), &mut views);
    for view in &views {
        if view.entity == entity {
            shown = view.get::<Body>().map(|body| body.position);
        }
    }
    (truth, shown.expect("the own mass is shown"))
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    foretell::motion::vector::squared_distance(a, b).sqrt()
}

/// Lets go of all keys, waits, and says how far what is shown is from the truth.
fn settled_distance(simulation: &mut Simulation<Masses>, play: &mut Play) -> f64 {
    play.quiet_from = Tick::ZERO;
    // Over a bad network somebody may just have joined.
    run(simulation, if simulation.server.world.bodies.is_empty() { 12.0 } else { 6.0 }, play);
    let (truth, shown) = truth_and_shown(simulation);
    distance(truth, shown)
}

#[test]
fn a_client_that_stalls_for_five_seconds_resyncs_once_and_converges() {
    let mut simulation = session(64, 5);
    let mut host = HostOptions::at(60);
    host.clock.stall(Instant::from_micros(4_000_000), Duration::from_secs(5));
    simulation.add_player(player(conditions(75), host));
    let mut play = Play::new(5);
    run(&mut simulation, 14.0, &mut play);
    let stats = simulation.players[0].client.stats();
    assert!(stats.prediction.resyncs <= 2, "{stats:?}");
    assert_eq!(simulation.players[0].client.state(simulation.now()), ClientState::Playing);
    let before = stats.prediction.corrections;
    run(&mut simulation, 4.0, &mut play);
    assert_eq!(simulation.players[0].client.stats().prediction.corrections, before, "it is steady again: {stats:?}");
    assert!(settled_distance(&mut simulation, &mut play) < 1e-3);
    assert!(play.farthest_m < 40.0, "it never leaves the room: {}", play.farthest_m);
}

#[test]
fn clients_at_5_and_240_frames_per_second_and_with_clocks_off_by_a_percent_converge() {
    for (fps, skew_ppm) in [(5, 0), (240, 0), (60, 10_000), (60, -10_000), (144, 10_000), (30, -10_000)] {
        let mut simulation = session(32, 9);
        let mut host = HostOptions::at(fps);
        host.clock = HostClock::new(Duration::from_secs(1000), skew_ppm);
        simulation.add_player(player(conditions(60), host));
        let mut play = Play::new(9);
        run(&mut simulation, 60.0, &mut play);
        let stats = simulation.players[0].client.stats();
        // A bound of what 200 ms of a frame at 8 m/s may cost; at ordinary frame rates nothing is corrected at all.
        assert!(play.farthest_m < 2.0, "{fps} fps, {skew_ppm} ppm: {} m", play.farthest_m);
        if fps >= 30 {
            assert_eq!(stats.prediction.corrections, 0, "{fps} fps, {skew_ppm} ppm: {stats:?}");
            assert_eq!(stats.prediction.resyncs, 0);
        }
        let settled = settled_distance(&mut simulation, &mut play);
        assert!(settled < 1e-3, "{fps} fps, {skew_ppm} ppm: {settled} m");
    }
}

#[test]
fn a_client_that_is_updated_once_a_second_keeps_its_place_and_its_inputs_count() {
    let mut simulation = session(64, 9);
    simulation.add_player(player(conditions(60), HostOptions::at(60)));
    let mut play = Play::new(9);
    run(&mut simulation, 3.0, &mut play);
    let applied = |simulation: &Simulation<Masses>| {
        let server = &simulation.server.server;
        assert!(!server.is_lost(PlayerId::new(1)));
        server.stats(PlayerId::new(1)).expect("in the session").inputs.applied
    };
    let (now, before) = (simulation.now(), applied(&simulation));
    simulation.players[0].host.set_frames_per_second(now, 1);
    run(&mut simulation, 30.0, &mut play);
    let applied = applied(&simulation) - before;
    assert!(applied >= 25, "{applied} inputs in 30 updates");
    assert_eq!(simulation.players[0].client.state(simulation.now()), ClientState::Playing);
}

#[test]
fn a_push_is_corrected_at_every_round_trip_up_to_a_second_and_beyond_the_horizon() {
    for rtt_ms in (0..=1000).step_by(50).chain([2400, 4000]) {
        let mut simulation = session(16, rtt_ms);
        simulation.add_player(player(conditions(rtt_ms / 2), HostOptions::at(60)));
        let mut play = Play { pushes: vec![Tick::new(640)], ..Play::new(3) };
        run(&mut simulation, 12.0 + rtt_ms as f64 / 1000.0, &mut play);
        let stats = simulation.players[0].client.stats();
        let pushed: Vec<_> =
            play.corrections.iter().filter(|(_, one)| one.causes.contains(Causes::SERVER_EVENT)).collect();
        if rtt_ms <= 1000 {
            assert_eq!((pushed.len(), play.corrections.len()), (1, 1), "{rtt_ms} ms: {:?}", play.corrections);
            assert_eq!(stats.prediction.resyncs, 0);
        } else {
            assert!(pushed.len() == 1 || stats.prediction.resyncs > 0, "{rtt_ms} ms: {stats:?}");
        }
        assert!(settled_distance(&mut simulation, &mut play) < 1e-3, "{rtt_ms} ms");
    }
}

#[test]
fn a_horizon_shorter_than_the_round_trip_is_told_as_resyncing() {
    let played = |horizon_ms| {
        let mut simulation = session(16, 1);
        let client = ClientConfig { horizon: Duration::from_millis(horizon_ms), ..ClientConfig::default() };
        simulation.add_player(PlayerOptions { client, ..player(conditions(100), HostOptions::at(60)) });
        run(&mut simulation, 10.0, &mut Play::new(3));
        let host = &simulation.players[0];
        (host.client.state(host.host.local(simulation.now())), host.client.stats().prediction.resyncs)
    };
    let (state, resyncs) = played(50);
    assert!(state == ClientState::Resyncing && resyncs > 100, "{state:?} {resyncs}");
    assert_eq!(played(400), (ClientState::Playing, 0));
}

#[test]
fn a_resimulation_over_budget_goes_on_in_later_frames_and_lands_as_one_correction() {
    let corrections = |budget: u32| {
        let mut simulation = session(16, 11);
        let client = ClientConfig { resimulation_budget: budget, ..ClientConfig::default() };
        simulation.add_player(PlayerOptions { client, ..player(conditions(250), HostOptions::at(240)) });
        let mut play = Play { pushes: vec![Tick::new(320)], ..Play::new(3) };
        for _ in 0..1000 {
            run(&mut simulation, 0.01, &mut play);
            // Whatever is simulated again, the caller's world stands at the present.
            let host = &simulation.players[0];
            let present = host.client.predicted(host.client.tick());
            for (of, body) in present.iter().flat_map(|rows| rows.states::<Body>()) {
                assert_eq!(host.world.body(of.entity), body);
            }
        }
        let stats = simulation.players[0].client.stats();
        assert_eq!((play.corrections.len(), stats.prediction.corrections), (1, 1), "budget {budget}");
        assert!(settled_distance(&mut simulation, &mut play) < 1e-3);
        play.corrections[0]
    };
    let (at_once, whole) = corrections(1000);
    let (later, spread) = corrections(4);
    assert!(later > at_once, "{later:?} is after {at_once:?}");
    assert_eq!((whole.tick, whole.misprediction_m), (spread.tick, spread.misprediction_m));
}

#[test]
fn several_players_in_one_world_each_predict_their_own_and_see_the_others_move() {
    let mut simulation = session(32, 21);
    for latency in [10, 60, 120] {
        simulation.add_player(player(conditions(latency), HostOptions::at(60)));
    }
    let mut play = Play::new(21);
    run(&mut simulation, 10.0, &mut play);
    assert_eq!(play.corrections, []);
    for host in &simulation.players {
        let own = host.client.player().expect("joined");
        let (mut mine, mut others) = (0, 0);
        let mut views = Views::new();
        host.client.present(host.host.local(simulation.now()), &mut views);
        views.iter().for_each(|view| match view.source {
            PoseSource::Predicted => {
                assert_eq!(view.owner, own);
                mine += 1;
            }
            PoseSource::Authority | PoseSource::Interpolated | PoseSource::Held | PoseSource::Extrapolated(_) => {
                let truth = simulation.server.world.body(view.entity);
                let behind = distance(truth.position, view.get::<Body>().expect("a body").position);
                assert!(behind < 2.5, "{behind} m behind");
                others += 1;
            }
        });
        assert_eq!((mine, others), (1, 2));
    }
}

#[test]
fn the_client_learns_which_ticks_the_server_substituted_and_why_it_was_corrected() {
    let mut simulation = session(64, 8);
    let loss = Loss::Bursts { rate: 0.2, mean_length: 6.0 };
    simulation.add_player(player(Conditions { loss, ..conditions(50) }, HostOptions::at(60)));
    let mut play = Play::new(8);
    run(&mut simulation, 60.0, &mut play);
    let client = &simulation.players[0].client;
    let served = simulation.server.server.stats(client.player().expect("joined")).expect("known");
    assert!(served.inputs.missed > 20, "{served:?}");
    assert!(play.corrections.len() > 5);
    for (_, correction) in &play.corrections {
        assert!(correction.causes.contains(Causes::OWN_INPUT), "{correction:?}");
    }
    // It hears of all of them but the newest.
    let heard = client.stats().inputs.substituted;
    assert!(heard + 20 > served.inputs.missed && heard < served.inputs.missed + 40, "{heard} of {served:?}");
}

#[test]
fn at_every_send_rate_inputs_arrive_before_their_deadline() {
    for rate in [64, 32, 16, 8] {
        let mut simulation = session(32, 13);
        let client = ClientConfig { send_rate: SendRate::Hz(rate), ..ClientConfig::default() };
        simulation.add_player(PlayerOptions { client, ..player(conditions(75), HostOptions::at(60)) });
        let mut play = Play::new(13);
        run(&mut simulation, 10.0, &mut play);
        let sent = simulation.players[0].client.stats().network.datagrams_sent;
        assert!((500 * u64::from(rate) / 64..700 * u64::from(rate) / 64).contains(&sent), "{sent}");
        let start = play.corrections.len();
        run(&mut simulation, 10.0, &mut play);
        assert_eq!(play.corrections.len(), start, "at {rate} Hz: {:?}", play.corrections);
    }
}

#[test]
fn a_full_way_down_does_not_make_inputs_late() {
    let mut simulation = session(64, 14);
    for _ in 0..8 {
        simulation.add_player(player(conditions(30), HostOptions::at(60)));
        let player = simulation.players.last_mut().expect("added");
        player.down_conditions.bottleneck = Some(Bottleneck::rate(8000, 16_384));
    }
    // However little the link takes.
    let config = simulation.server.server.config_mut();
    (config.budget_min, config.budget) = (32_000, 32_000);
    run(&mut simulation, 60.0, &mut Play::new(14));
    for host in &simulation.players {
        let served = simulation.server.server.stats(host.client.player().expect("joined")).expect("known");
        let missed = served.inputs.missed as f64 / (served.inputs.applied + served.inputs.missed) as f64;
        assert!(missed < 0.02, "{missed} of an idle way up: {:?}", host.client.stats());
        assert!(host.down.stats().dropped_by_queue > 0, "the way down is full");
    }
}

#[test]
fn repeated_inputs_make_up_for_lost_datagrams_before_their_deadline() {
    let missed = |redundancy: Redundancy| {
        let mut simulation = session(64, 12);
        let client = ClientConfig { redundancy, ..ClientConfig::default() };
        let lossy = Conditions { loss: Loss::Uniform(0.05), ..conditions(75) };
        simulation.add_player(PlayerOptions { client, ..player(lossy, HostOptions::at(60)) });
        run(&mut simulation, 120.0, &mut Play::new(12));
        let client = &simulation.players[0].client;
        let served = simulation.server.server.stats(client.player().expect("joined")).expect("known");
        let lead = client.stats().clock.lead_ticks;
        (served.inputs.missed as f64 / (served.inputs.missed + served.inputs.applied) as f64, lead)
    };
    let (without, _) = missed(Redundancy::None);
    let (with, lead) = missed(Redundancy::default());
    assert!((0.03..0.07).contains(&without), "as many as are lost: {without}");
    // Bought with a lead of 75 ms on the way and some ticks of slack.
    assert!(with < 0.003 && lead < 4.8 + 6.4 + 2.0, "{with} missed at a lead of {lead} ticks");
}

#[test]
fn every_gap_policy_keeps_playing_and_hold_leaves_the_player_where_they_are() {
    for gap in [GapPolicy::Hold, GapPolicy::Neutral, GapPolicy::RepeatLast { ticks: 16 }] {
        let mut simulation = session(64, 4);
        simulation.server.server.config_mut().gap = gap;
        let redundancy = Redundancy::None;
        let client = ClientConfig { redundancy, ..ClientConfig::default() };
        let lossy = Conditions { loss: Loss::Uniform(0.25), ..conditions(50) };
        simulation.add_player(PlayerOptions { client, ..player(lossy, HostOptions::at(60)) });
        let mut play = Play::new(4);
        run(&mut simulation, 20.0, &mut play);
        assert!(play.corrections.len() > 10, "{gap:?}");
        assert!(play.corrections.iter().all(|(_, one)| !one.causes.is_unexplained()), "{gap:?}");
        assert!(play.farthest_m < 2.0, "{gap:?}: {} m", play.farthest_m);
        simulation.players[0].up_conditions.loss = Loss::default();
        assert!(settled_distance(&mut simulation, &mut play) < 1e-3, "{gap:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_session_bit_for_bit() {
    let digest = |seed: u64| {
        let mut simulation = session(32, seed);
        let rough = Conditions {
            jitter: Duration::from_millis(30),
            loss: Loss::Uniform(0.1),
            duplicates: 0.1,
            reordering: Reordering { rate: 0.05, ..Reordering::default() },
            ..conditions(70)
        };
        simulation.add_player(player(rough.clone(), HostOptions::at(60)));
        simulation.add_player(player(rough, HostOptions::at(144)));
        let mut play = Play::new(seed);
        run(&mut simulation, 15.0, &mut play);
        let rows: Vec<_> = simulation.players.iter().map(|host| host.client.predicted(host.client.tick())).collect();
        let digests: Vec<_> = rows.into_iter().map(|rows| rows.expect("the present").digest()).collect();
        let stats: Vec<_> = simulation.players.iter().map(|host| host.client.stats()).collect();
        (digests, stats, simulation.server.server.rows().digest(), play.corrections)
    };
    assert_eq!(digest(77), digest(77));
    assert_ne!(digest(77), digest(78));
}

#[test]
fn a_client_with_other_rules_is_refused_and_one_too_many_is_told_that_it_is_full() {
    let mut simulation = session(64, 1);
    simulation.server.server.config_mut().players_max = 1;
    simulation.add_player(player(conditions(10), HostOptions::at(60)));
    let mut play = Play::new(1);
    run(&mut simulation, 1.0, &mut play);
    let second = simulation.add_player(player(conditions(10), HostOptions::at(60)));
    let third = simulation.add_player(player(conditions(10), HostOptions::at(60)));
    let mut rules = Rules::new(Masses::schema());
    rules.tick_rate = TickRate::hz(60);
    simulation.players[third].client = Client::new(rules, ClientConfig::default(), 99);
    run(&mut simulation, 1.0, &mut play);
    let state = |index: usize| simulation.players[index].client.state(simulation.now());
    assert_eq!(state(0), ClientState::Playing);
    assert_eq!(state(second), ClientState::Refused(Refusal::Full));
    assert_eq!(state(third), ClientState::Refused(Refusal::Rules));
}

#[test]
fn a_server_that_stood_still_skips_ticks_and_its_clients_go_on_as_if_it_had_not() {
    for (stall_ms, skipped) in [(300, 12), (2_000, 121), (4_000, 249), (10_000, 633), (60_000, 3_833)] {
        let mut simulation = session(64, 2);
        let stall = Duration::from_millis(stall_ms);
        simulation.server.host.clock_mut().stall(Instant::from_micros(3_000_000), stall);
        simulation.add_player(player(conditions(50), HostOptions::at(60)));
        let mut play = Play::new(2);
        run(&mut simulation, 3.0, &mut play);
        let lead = |simulation: &Simulation<Masses>| {
            let elapsed = simulation.now().since(Instant::ZERO).as_secs_f64();
            f64::from(simulation.players[0].client.tick().get()) - elapsed * 64.0
        };
        let before = lead(&simulation);
        run(&mut simulation, stall.as_secs_f64() + 0.2, &mut play);
        assert!(play.skipped_ticks.abs_diff(skipped) <= 2, "{stall_ms}: {}", play.skipped_ticks);
        assert_eq!(simulation.players[0].client.state(simulation.now()), ClientState::Playing, "{stall_ms}");
        assert!((lead(&simulation) - before).abs() < 1.5, "{stall_ms}: {} after {before}", lead(&simulation));
        let stats = simulation.players[0].client.stats();
        assert_eq!(
            // A header names those of the last 999 ticks.
            (stats.prediction.resyncs, stats.inputs.substituted >= u64::from(skipped.min(999))),
            (0, true),
            "{stall_ms}: {stats:?}"
        );
        let own = |(_, correction): &(Instant, Corrected)| correction.causes.contains(Causes::OWN_INPUT);
        assert!(play.corrections.iter().all(own), "{stall_ms}: {:?}", play.corrections);
        let before = play.corrections.len();
        run(&mut simulation, 5.0, &mut play);
        assert_eq!(play.corrections.len(), before, "{stall_ms}: {:?}", simulation.players[0].client.stats());
        assert!(settled_distance(&mut simulation, &mut play) < 1e-3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn without_a_missed_deadline_there_is_no_correction(
        latency in 0_u64..500,
        rate in prop::sample::select(vec![64_u16, 32, 16, 8, 2]),
        fps in prop::sample::select(vec![30_u32, 60, 64, 144]),
        jitter in 0_u64..30,
        seed: u64,
    ) {
        let mut simulation = session(rate, seed);
        let jittery = Conditions { jitter: Duration::from_millis(jitter), ..conditions(latency) };
        simulation.add_player(player(jittery, HostOptions::at(fps)));
        let mut play = Play::new(seed);
        run(&mut simulation, 12.0, &mut play);
        let client = &simulation.players[0].client;
        let served = simulation.server.server.stats(client.player().expect("joined")).expect("known");
        if jitter < 5 {
            prop_assert_eq!(served.inputs.missed, 0, "{:?}", client.stats());
        }
        if served.inputs.missed == 0 {
            prop_assert_eq!(&play.corrections[..], &[]);
        }
        prop_assert!(client.stats().prediction.outcomes.agreed > 15);
    }

    #[test]
    fn one_push_is_exactly_one_correction(
        latency in 0_u64..500,
        rate in prop::sample::select(vec![64_u16, 32, 16, 8, 2]),
        at in 250_u32..400,
        seed: u64,
    ) {
        let mut simulation = session(rate, seed);
        simulation.add_player(player(conditions(latency), HostOptions::at(60)));
        let mut play = Play { pushes: vec![Tick::new(at)], ..Play::new(seed) };
        run(&mut simulation, 10.0, &mut play);
        prop_assert_eq!(play.corrections.len(), 1, "{:?}", play.corrections);
        prop_assert_eq!(play.corrections[0].1.causes, Causes::SERVER_EVENT);
    }

    #[test]
    fn on_any_network_every_sample_has_one_outcome_every_correction_a_cause_and_calm_brings_agreement(
        latency in 0_u64..300,
        jitter in 0_u64..80,
        loss in 0.0_f64..0.4,
        burst in 1.0_f64..6.0,
        duplicates in 0.0_f64..0.3,
        reordering in 0.0_f64..0.3,
        rate in prop::sample::select(vec![64_u16, 16, 2]),
        budget in prop::sample::select(vec![2_u32, 16, 1000]),
        seed: u64,
    ) {
        let mut simulation = session(rate, seed);
        let rough = Conditions {
            jitter: Duration::from_millis(jitter),
            loss: Loss::Bursts { rate: loss, mean_length: burst },
            duplicates,
            reordering: Reordering { rate: reordering, ..Reordering::default() },
            ..conditions(latency)
        };
        let client = ClientConfig { resimulation_budget: budget, ..ClientConfig::default() };
        simulation.add_player(PlayerOptions { client, ..player(rough, HostOptions::at(60)) });
        // Outcomes are checked in every frame.
        let mut play = Play { pushes: vec![Tick::new(400)], ..Play::new(seed) };
        run(&mut simulation, 15.0, &mut play);
        for (_, correction) in &play.corrections {
            prop_assert!(!correction.causes.is_unexplained(), "{:?}", correction);
        }
        simulation.players[0].up_conditions = conditions(latency);
        simulation.players[0].down_conditions = conditions(latency);
        let settled = settled_distance(&mut simulation, &mut play);
        prop_assert!(settled < 1e-3, "{} m, {:?}", settled, simulation.players[0].client.stats());
    }
}
