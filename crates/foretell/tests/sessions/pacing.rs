//! How soon a session is itself again after the network or a machine was not: holes, sleeps, new routes.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use core::time::Duration;
use foretell::session::client::ClientEvent;
use foretell::session::server::ServerEvent;
use foretell::time::Offset;
use foretell::{
    Client, ClientConfig, ClientState, Frame, Instant, PlayerId, Rules, Server, ServerConfig, ServerFrame, Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

/// Remembers every frame of the one player, and what the server missed.
#[derive(Default)]
struct Watch {
    asked: Option<Tick>,
    frames: Vec<Seen>,
    /// Every tick with a miss, by virtual time.
    missed: Vec<Instant>,
    misses: u64,
    limited: u32,
    left: u32,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    state: ClientState,
    lead_ticks: f64,
    resyncs: u64,
    ticks: u32,
    received: u64,
    agreed: u64,
}

impl Driver<Masses> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        assert!(self.asked.is_none_or(|asked| asked < tick), "the input of {tick} is asked for after {:?}", self.asked);
        self.asked = Some(tick);
        Buttons::from_bits(u64::from(tick.get() / 16) * 7 + player as u64)
    }

    fn after_server(&mut self, now: Instant, server: &Server<Masses>, frame: &ServerFrame<'_>) {
        let missed = server.stats(PlayerId::new(1)).map_or(0, |stats| stats.inputs.missed);
        if missed > self.misses {
            self.missed.push(now);
        }
        self.misses = missed;
        self.left += frame.events.iter().filter(|event| matches!(event, ServerEvent::Left { .. })).count() as u32;
    }

    fn after_client(&mut self, _player: usize, Moment { now, .. }: Moment, client: &Client<Masses>, frame: &Frame<'_>) {
        let stats = client.stats();
        let lead_ticks = f64::from(frame.tick.get()) - 1.0 + client.tick_fraction(now) - now.micros() as f64 / 15_625.0;
        let limited = frame.events.iter().filter(|event| matches!(event, ClientEvent::SlackLimited { .. }));
        self.limited += limited.count() as u32;
        self.frames.push(Seen {
            at: now,
            state: frame.state,
            lead_ticks,
            resyncs: stats.prediction.resyncs,
            ticks: frame.ticks + frame.resimulated,
            received: stats.prediction.outcomes.received,
            agreed: stats.prediction.outcomes.agreed,
        });
    }
}

impl Watch {
    /// The mean lead over a second from `from` on, in ticks.
    fn lead(&self, from: Instant) -> f64 {
        let within = |seen: &&Seen| seen.at >= from && seen.at.since(from) < Duration::from_secs(1);
        let leads: Vec<_> = self.frames.iter().filter(within).map(|seen| seen.lead_ticks).collect();
        leads.iter().sum::<f64>() / leads.len() as f64
    }

    /// When it plays and samples agree again, after `from`.
    fn plays_again(&self, from: Instant) -> Instant {
        let before = self.frames.iter().rev().find(|seen| seen.at <= from).expect("it played before");
        let plays =
            |seen: &&Seen| seen.at > from && seen.state == ClientState::Playing && seen.received > before.received;
        self.frames.iter().find(plays).expect("it plays again").at
    }

    fn seen(&self, at: Instant) -> Seen {
        *self.frames.iter().rev().find(|seen| seen.at <= at).expect("a frame")
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// A session in which a player has played for 25 s over this network.
fn session(conditions: Conditions, fps: u32) -> (Simulation<Masses>, Watch) {
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), ServerConfig::default(), Masses::default(), 3);
    let (client, world) = (ClientConfig::default(), Masses::default());
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(fps), conditions, world });
    let mut watch = Watch::default();
    simulation.run_until(Instant::ZERO + seconds(25.0), &mut watch);
    assert_eq!(watch.seen(simulation.now()).state, ClientState::Playing);
    (simulation, watch)
}

fn run(simulation: &mut Simulation<Masses>, time: f64, watch: &mut Watch) {
    simulation.run_until(simulation.now() + seconds(time), watch);
}

fn network(latency_ms: u64, jitter_ms: u64) -> Conditions {
    let (latency, jitter) = (Duration::from_millis(latency_ms), Duration::from_millis(jitter_ms));
    Conditions { latency, jitter, ..Conditions::default() }
}

fn both_ways(simulation: &mut Simulation<Masses>, change: impl Fn(&mut Conditions)) {
    change(&mut simulation.players[0].up_conditions);
    change(&mut simulation.players[0].down_conditions);
}

#[test]
fn after_two_seconds_without_a_datagram_it_plays_with_the_first_one_and_the_lead_is_as_before() {
    for (latency, jitter, fps) in [(5, 0, 60), (15, 5, 144), (75, 20, 60), (150, 10, 30)] {
        let (mut simulation, mut watch) = session(network(latency, jitter), fps);
        let steady = watch.lead(Instant::ZERO + seconds(24.0));
        both_ways(&mut simulation, |conditions| conditions.loss = Loss::Uniform(1.0));
        run(&mut simulation, 2.0, &mut watch);
        both_ways(&mut simulation, |conditions| conditions.loss = Loss::default());
        let healed = simulation.now();
        run(&mut simulation, 6.0, &mut watch);
        // The first datagram needs the way down, and a tick of the server's.
        let first = healed + Duration::from_millis(latency);
        let again = watch.plays_again(healed);
        let most = Duration::from_millis(2 * latency + 100);
        assert!(again.since(first) <= most, "{latency} ms: {:?} after the first", again.since(first));
        let lead = watch.lead(healed + seconds(2.0));
        assert!((lead - steady).abs() <= 1.0, "{latency} ms: {steady} and then {lead} ticks");
        assert!(watch.seen(simulation.now()).resyncs <= 1);
        let late = watch.missed.iter().filter(|at| at.since(healed) > seconds(0.5));
        assert!(late.count() <= 1, "{latency} ms: misses {:?}", watch.missed);
    }
}

#[test]
fn after_a_minute_of_sleep_it_plays_soon_and_never_simulates_what_it_slept_through() {
    // A socket keeps what comes while its machine sleeps, or loses it.
    for (latency, jitter, kept) in [(0, 0, true), (30, 5, true), (0, 0, false), (30, 5, false), (150, 20, false)] {
        let (mut simulation, mut watch) = session(network(latency, jitter), 60);
        let steady = watch.lead(Instant::ZERO + seconds(24.0));
        let asleep = simulation.now();
        simulation.players[0].host.clock_mut().stall(asleep, seconds(60.0));
        simulation.players[0].down_conditions.loss = Loss::Uniform(if kept { 0.0 } else { 1.0 });
        run(&mut simulation, 60.0, &mut watch);
        simulation.players[0].down_conditions.loss = Loss::default();
        run(&mut simulation, 6.0, &mut watch);
        let awake = asleep + seconds(60.0);
        let most = Duration::from_millis(2 * latency + 500);
        assert!(watch.plays_again(awake).since(awake) <= most, "{:?}", watch.plays_again(awake).since(awake));
        let simulated = watch.frames.iter().filter(|seen| seen.at > asleep).map(|seen| seen.ticks).max();
        assert!(simulated < Some(64), "{simulated:?} ticks in one update");
        assert!(watch.seen(simulation.now()).resyncs <= 1);
        let lead = watch.lead(awake + seconds(2.0));
        assert!((lead - steady).abs() <= 1.0, "{latency} ms: {steady} and then {lead} ticks");
        let late: Vec<_> =
            watch.missed.iter().filter(|at| at.since(awake) > most + Duration::from_millis(latency)).collect();
        assert!(late.len() <= 1, "{latency} ms, kept {kept}: {late:?} after {awake:?}");
    }
}

#[test]
fn on_a_longer_route_misses_end_within_a_second_and_back_on_the_shorter_the_lead_is_soon_as_before() {
    for (short, long, jitter, fps) in [(15, 150, 0, 60), (15, 150, 5, 60), (30, 300, 0, 60), (30, 300, 10, 144)] {
        let (mut simulation, mut watch) = session(network(short, jitter), fps);
        let steady = watch.lead(Instant::ZERO + seconds(24.0));
        let jump = simulation.now();
        both_ways(&mut simulation, |conditions| conditions.latency = Duration::from_millis(long));
        run(&mut simulation, 30.0, &mut watch);
        let late: Vec<_> = watch.missed.iter().filter(|at| at.since(jump) > seconds(1.0)).collect();
        assert!(late.len() <= 1, "{long} ms: {late:?} of a jump at {jump:?}");
        both_ways(&mut simulation, |conditions| conditions.latency = Duration::from_millis(short));
        let back = simulation.now();
        run(&mut simulation, 6.0, &mut watch);
        let lead = watch.lead(back + seconds(4.0));
        assert!((lead - steady).abs() <= 1.0, "{short} ms: {steady} and then {lead} ticks");
        let end = watch.seen(simulation.now());
        assert!(end.agreed > 1000 && end.resyncs == 0, "{end:?}");
    }
}

#[test]
fn a_network_that_needs_more_lead_than_is_allowed_is_told_once() {
    let (_, calm) = session(network(50, 5), 60);
    assert_eq!(calm.limited, 0);
    let bursts = Conditions { loss: Loss::Bursts { rate: 0.2, mean_length: 12.0 }, ..network(50, 5) };
    let (simulation, watch) = session(bursts, 60);
    assert!((1..10).contains(&watch.limited), "{}", watch.limited);
    assert!(simulation.players[0].client.stats().inputs.slack_asked_ticks > 6.4);
}

#[test]
fn a_clock_that_is_set_forward_costs_one_resync_and_a_third_of_a_second() {
    for (step_s, latency) in [(1, 0), (5, 50), (60, 0), (60, 50), (60, 150), (5, 300)] {
        let (mut simulation, mut watch) = session(network(latency, 0), 60);
        let now = simulation.now();
        simulation.players[0].host.clock_mut().step(now, Offset::from_micros(step_s * 1_000_000));
        run(&mut simulation, 8.0, &mut watch);
        let after = watch.frames.iter().filter(|seen| seen.at > now);
        let stood = after.filter(|seen| seen.state != ClientState::Playing).count();
        assert!(stood <= 20, "{step_s} s, {latency} ms: {stood} frames");
        assert_eq!(watch.seen(simulation.now()).resyncs, 1, "{step_s} s, {latency} ms");
        let late = watch.missed.iter().filter(|at| at.since(now) > seconds(1.0)).count();
        assert!(late <= 1, "{step_s} s, {latency} ms: {late}");
    }
}

#[test]
fn a_clock_that_is_set_back_costs_no_input_and_no_resync() {
    for (of_server, back_s) in [(false, 1), (false, 60), (true, 1), (true, 60)] {
        let (mut simulation, mut watch) = session(network(50, 0), 60);
        run(&mut simulation, 60.0, &mut watch);
        let now = simulation.now();
        let back = Offset::from_micros(-back_s * 1_000_000);
        let host = if of_server { &mut simulation.server.host } else { &mut simulation.players[0].host };
        host.clock_mut().step(now, back);
        let before = watch.missed.len();
        run(&mut simulation, 4.0, &mut watch);
        let mut after = watch.frames.iter().filter(|seen| seen.at > now);
        assert!(after.all(|seen| seen.state == ClientState::Playing), "{back_s} s");
        assert_eq!((watch.seen(simulation.now()).resyncs, watch.missed.len() - before), (0, 0), "{back_s} s");
    }
}
