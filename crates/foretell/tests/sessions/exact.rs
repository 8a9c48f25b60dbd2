//! Exact sessions: a world whose steps read more than is published, predicted whole by every client.

use core::time::Duration;
use foretell::session::client::{Causes, ClientEvent, ClientStats, Corrected, Show};
use foretell::session::host::LocalPlayer;
use foretell::session::server::{Server, ServerEvent};
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, Owned, PlayerId, Rows, Rules, Seat, SendRate, ServerConfig,
    ServerFrame, Simulate, State, Step, Table, Tick, World,
};
use foretell_sim::harness::{
    BotView, Driver, FaultMix, HostOptions, Moment, PlayerOptions, Scenario, ServerHost, Simulation,
};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Push {
    pub(super) force: i8,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Ball {
    #[state(position)]
    pub(super) at: [f64; 1],
    #[state(velocity)]
    speed: [f64; 1],
}

/// Balls on a string: each is drawn to the next ones, with a force that remembers what it was in the tick before, as the
/// solver of a physics engine does. What it remembers is not published.
#[derive(World, Default)]
pub(super) struct Balls {
    pub(super) balls: Table<Ball>,
    #[world(saved)]
    pub(super) warm: BTreeMap<Entity, f64>,
    /// Whether it computes otherwise than the others do.
    #[world(constant)]
    pub(super) bent: bool,
    /// In which tick the authority alone pushes a ball.
    #[world(constant)]
    pub(super) kicks_at: Option<u32>,
    /// From which tick on the authority alone brings another ball every second.
    #[world(constant)]
    pub(super) spawns_from: Option<u32>,
    /// How many canonical ticks it has gone through.
    #[world(saved)]
    pub(super) canonical: u32,
}

const BALLS: u8 = 20;
/// The index of who sits at the server.
const LOCAL: usize = 9;

impl Balls {
    /// Without the balls that were brought since.
    pub(super) fn thin_out(&mut self, since: Tick) {
        self.balls.retain(|ball| ball.entity().tick() < since);
        self.warm.retain(|entity, _| entity.tick() < since);
    }

    /// Pushes the first ball.
    fn push_first(&mut self, by: f64) {
        self.balls.iter_mut().next().expect("some").speed[0] += by;
    }

    /// Pushes all balls.
    pub(super) fn push_all(&mut self, by: f64) {
        self.balls.iter_mut().for_each(|mut ball| ball.speed[0] += by);
    }
}

impl Simulate for Balls {
    type Input = Push;

    fn step(&mut self, step: &mut Step<'_, Push>) {
        if step.canonical() {
            self.warm.clear();
            self.canonical += 1;
        }
        for nth in 0..BALLS * u8::from(step.is_authority() && step.tick() == Tick::ZERO) {
            self.balls.spawn(step, PlayerId::SERVER, Ball { at: [f64::from(nth)], speed: [0.0] });
        }
        let every_second =
            self.spawns_from.is_some_and(|from| step.tick().get() >= from && step.tick().get() % 64 == 0);
        if step.is_authority() && every_second {
            self.balls.spawn(step, PlayerId::SERVER, Ball::default());
        }
        if step.is_authority() && self.kicks_at == Some(step.tick().get()) {
            self.push_first(1.0);
        }
        self.balls.remove_left(step);
        self.warm.retain(|entity, _| !step.has_left(entity.spawned_for()));
        for joined in step.joined().iter().filter(|joined| joined.seat == Seat::Player) {
            self.balls.spawn(step, joined.player, Ball { at: [-3.0], speed: [0.0] });
        }
        let places: Vec<f64> = self.balls.iter().map(|ball| ball.at[0]).collect();
        for (nth, mut ball) in self.balls.iter_mut().enumerate() {
            let next = places.get(nth + 1).map_or(0.0, |next| next - ball.at[0] - 1.0);
            let before = nth.checked_sub(1).map_or(0.0, |before| places[before] - ball.at[0] + 1.0);
            let warm = self.warm.entry(ball.entity()).or_default();
            *warm = 0.7 * *warm + 0.3 * (next + before);
            let force = step.input(ball.owner()).map_or(0.0, |input| f64::from(input.input.force));
            ball.speed[0] = (ball.speed[0] + *warm * 0.1 + force * 0.003) * 0.99;
            ball.at[0] += ball.speed[0] * step.seconds() * if self.bent { 1.001 } else { 1.0 };
        }
    }
}

/// Plays by a seeded script.
pub(super) struct Play {
    seed: u64,
    /// Which players push.
    active: Vec<usize>,
    /// Before which ticks the server pushes a ball.
    pushes: Vec<u32>,
    truth: BTreeMap<Tick, Rows>,
    pub(super) corrections: Vec<Corrected>,
    /// When the ends were said to differ.
    pub(super) apart: Vec<(Tick, Tick)>,
    /// What the server has told.
    pub(super) server_events: Vec<ServerEvent>,
    down_bytes: u64,
}

impl Play {
    pub(super) fn new(seed: u64, active: &[usize]) -> Play {
        let (truth, corrections, apart) = (BTreeMap::new(), Vec::new(), Vec::new());
        Play {
            seed,
            active: active.to_vec(),
            pushes: Vec::new(),
            truth,
            corrections,
            apart,
            server_events: Vec::new(),
            down_bytes: 0,
        }
    }
}

impl Driver<Balls> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Push {
        if !self.active.contains(&player) {
            return Push::default();
        }
        let part = u64::from(tick.get() / 20);
        let drawn = SplitMix64::new(self.seed ^ part ^ (player as u64) << 32).next_u64();
        Push { force: [-100, 0, 0, 100][(drawn & 3) as usize] }
    }

    fn local_input(&mut self, tick: Tick) -> Push {
        self.input(LOCAL, tick)
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Balls>) {
        if self.pushes.contains(&server.server.tick().get()) {
            server.world.push_first(3.0);
        }
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Balls>, frame: &ServerFrame<'_>) {
        self.truth.insert(frame.tick, server.rows().clone());
        self.server_events.extend(frame.events);
    }

    fn after_client(&mut self, _player: usize, _at: Moment, client: &Client<Balls>, frame: &Frame<'_>) {
        assert!(client.stats().prediction.outcomes.add_up(), "{:?}", client.stats().prediction.outcomes);
        self.corrections.extend(frame.corrections);
        self.apart.extend(frame.events.iter().filter_map(|event| match event {
            ClientEvent::EndsDiffer { since, tick } => Some((*since, *tick)),
            _ => None,
        }));
    }

    fn after_send(&mut self, sent: &foretell_sim::harness::Sent<'_>) {
        self.down_bytes += if sent.to_server { 0 } else { sent.datagram.len() as u64 };
    }
}

pub(super) fn session(players: usize, relay_inputs: bool, conditions: Conditions, seed: u64) -> Simulation<Balls> {
    let rules = Rules { exact: true, ..Rules::new(Balls::schema()) };
    let config = ServerConfig { relay_inputs, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules, config, Balls::default(), seed);
    for _ in 0..players {
        let (host, world, conditions) = (HostOptions::at(60), Balls::default(), conditions.clone());
        let client = ClientConfig { checkpoint_interval: 8, ..ClientConfig::default() };
        simulation.add_player(PlayerOptions { client, host, conditions, world });
    }
    simulation
}

pub(super) fn bad(rtt_ms: u64, loss: f64) -> Conditions {
    let latency = Duration::from_millis(rtt_ms / 2);
    Conditions { latency, loss: Loss::Uniform(loss), ..Conditions::default() }
}

pub(super) fn run(simulation: &mut Simulation<Balls>, play: &mut Play, seconds: u64) {
    let until = simulation.now() + Duration::from_secs(seconds);
    simulation.run_until(until, play);
}

pub(super) fn stats(simulation: &Simulation<Balls>, player: usize) -> ClientStats {
    simulation.players[player].client.stats()
}

#[test]
fn a_single_player_is_never_corrected_nor_sent_a_state_after_the_first() {
    for (rtt_ms, loss) in [(0, 0.0), (150, 0.0), (600, 0.0), (150, 0.02)] {
        let mut simulation = session(1, true, bad(rtt_ms, loss), 7);
        let mut play = Play::new(3, &[0]);
        run(&mut simulation, &mut play, 3);
        assert!(play.corrections.is_empty(), "{:?}", play.corrections);
        play.down_bytes = 0;
        run(&mut simulation, &mut play, 20);
        let stats = stats(&simulation, 0);
        assert!(stats.prediction.outcomes.agreed > 1000, "{rtt_ms} ms: {stats:?}");
        assert_eq!(stats.prediction.outcomes.asked, 0, "{rtt_ms} ms");
        assert!(play.corrections.is_empty() || stats.inputs.substituted > 0, "{rtt_ms} ms: {:?}", play.corrections);
        assert!(play.down_bytes < 20 * 3_000, "{} bytes/s", play.down_bytes / 20);
    }
}

/// How many of the states that a client last predicted and are settled by now are the truth, bit by bit; the truth of `ago` ticks
/// ago and older.
pub(super) fn agrees_with_truth(simulation: &Simulation<Balls>, play: &Play, player: usize, ago: u32) -> bool {
    let client = &simulation.players[player].client;
    let tick = play.truth.keys().last().and_then(|newest| newest.back(ago)).expect("later than that");
    let truth = &play.truth[&tick];
    client.predicted(tick).is_some_and(|predicted| predicted.iter().eq(truth.iter()))
}

#[test]
fn relayed_inputs_alone_lead_two_players_to_the_same_bits() {
    let mut simulation = session(2, true, bad(150, 0.05), 11);
    let mut play = Play::new(5, &[0, 1]);
    run(&mut simulation, &mut play, 3);
    let before = [0, 1].map(|player| stats(&simulation, player));
    run(&mut simulation, &mut play, 30);
    for player in [0, 1] {
        let (stats, before) = (stats(&simulation, player), before[player]);
        assert_eq!(stats.prediction.outcomes.asked, before.prediction.outcomes.asked, "player {player}: {stats:?}");
        assert!(stats.prediction.corrections > before.prediction.corrections, "guesses were wrong");
        assert!(agrees_with_truth(&simulation, &play, player, 30), "player {player}");
    }
    let unexplained = play.corrections.iter().filter(|correction| correction.causes.is_unexplained());
    assert_eq!(unexplained.count(), 0);
}

#[test]
fn who_sits_at_the_server_is_foreseen_by_their_relayed_inputs_and_waits_for_nobody() {
    let mut simulation = session(1, true, bad(150, 0.05), 11);
    simulation.seat_player(LocalPlayer::new(Show::Between));
    let mut play = Play::new(5, &[0, LOCAL]);
    run(&mut simulation, &mut play, 3);
    let before = stats(&simulation, 0);
    run(&mut simulation, &mut play, 30);
    let after = stats(&simulation, 0);
    assert_eq!(after.prediction.outcomes.asked, before.prediction.outcomes.asked, "{after:?}");
    assert!(after.prediction.corrections > before.prediction.corrections, "guesses were wrong");
    assert!(agrees_with_truth(&simulation, &play, 0, 30));
    assert!(play.corrections.iter().all(|correction| !correction.causes.is_unexplained()));
    assert_eq!((simulation.server.world.canonical, simulation.server.server.players().count()), (1, 2));
}

#[test]
fn without_relayed_inputs_states_are_asked_for_and_when_all_is_quiet_they_agree_again() {
    let mut simulation = session(2, false, bad(150, 0.05), 12);
    let mut play = Play::new(6, &[1]);
    run(&mut simulation, &mut play, 10);
    assert!(stats(&simulation, 0).prediction.outcomes.asked > 10, "{:?}", stats(&simulation, 0));
    play.active.clear();
    run(&mut simulation, &mut play, 3);
    let asked = stats(&simulation, 0).prediction.outcomes.asked;
    run(&mut simulation, &mut play, 5);
    assert_eq!(stats(&simulation, 0).prediction.outcomes.asked, asked);
    assert!([0, 1].iter().all(|player| agrees_with_truth(&simulation, &play, *player, 30)));
}

#[test]
fn what_the_server_changes_itself_comes_at_once_and_is_exact_within_a_second() {
    for relays in [false, true] {
        let mut simulation = session(2, relays, bad(100, 0.0), 13);
        let mut play = Play::new(7, &[]);
        play.pushes = vec![300];
        run(&mut simulation, &mut play, 4);
        assert!(play.corrections.is_empty(), "{:?}", play.corrections);
        run(&mut simulation, &mut play, 3);
        let first = play.corrections.first().expect("it was not foreseen");
        assert!(first.tick <= Tick::new(302) && first.causes.contains(Causes::SERVER_EVENT), "{first:?}");
        assert!([0, 1].iter().all(|player| agrees_with_truth(&simulation, &play, *player, 30)));
        let asked = stats(&simulation, 0).prediction.outcomes.asked;
        run(&mut simulation, &mut play, 2);
        assert_eq!(stats(&simulation, 0).prediction.outcomes.asked, asked);
    }
}

#[test]
fn whatever_goes_wrong_every_check_holds() {
    for relay_inputs in [false, true] {
        let rules = Rules { exact: true, ..Rules::new(Balls::schema()) };
        let server = ServerConfig { relay_inputs, ..ServerConfig::default() };
        let client = ClientConfig { checkpoint_interval: 8, ..ClientConfig::default() };
        let bot = |_: &BotView<'_>, random: &mut SplitMix64| Push {
            force: [-100, 0, 0, 100][(random.next_u64() & 3) as usize],
        };
        let event = |world: &mut Balls, _: &mut SplitMix64| {
            world.push_all(0.5);
        };
        // Guesses about others are corrected in calm, too.
        let scenario = Scenario::new(rules, Balls::default).players(3).server(server).client(client).without("calm");
        let scenario = scenario.bot(bot).event(event).faults(FaultMix::default()).search(0);
        scenario.seeds(0..20).expect("no check complains");
    }
}

#[test]
fn a_history_shorter_than_the_round_trip_asks_and_starts_again_instead_of_drifting() {
    let mut simulation = session(2, true, bad(600, 0.0), 21);
    for player in &mut simulation.players {
        player.client.config_mut().horizon = Duration::from_millis(400);
    }
    let mut play = Play::new(8, &[0, 1]);
    run(&mut simulation, &mut play, 10);
    let resyncs = stats(&simulation, 0).prediction.resyncs;
    assert!(resyncs > 3, "{:?}", stats(&simulation, 0));
    let client = &simulation.players[0].client;
    let newest = play.truth.values().last().expect("some");
    for (Owned { entity, .. }, ball) in client.predicted(client.tick()).expect("the present").states::<Ball>() {
        let truth = newest.state::<Ball>(entity).expect("it is there");
        assert!((ball.at[0] - truth.at[0]).abs() < 30.0, "{entity}: {ball:?} {truth:?}");
    }
}

#[test]
fn one_client_that_never_agrees_costs_the_others_a_canonical_tick_every_two_seconds_at_most() {
    let mut simulation = session(3, true, bad(100, 0.0), 31);
    simulation.players[2].world.bent = true;
    let mut play = Play::new(10, &[0, 1]);
    run(&mut simulation, &mut play, 10);
    let before = [0, 1, 2].map(|player| stats(&simulation, player).prediction.outcomes.asked);
    let canonical = simulation.server.world.canonical;
    run(&mut simulation, &mut play, 60);
    let after = [0, 1, 2].map(|player| stats(&simulation, player).prediction.outcomes.asked);
    assert!(after[2] > before[2] + 1000, "it never agrees: {before:?} {after:?}");
    assert_eq!(after[..2], before[..2], "the others agree all the time");
    let canonical = simulation.server.world.canonical - canonical;
    assert!((20..=30).contains(&canonical), "{canonical} in a minute");
}

#[test]
fn nobody_asks_for_ever() {
    let mut simulation = session(2, true, bad(100, 0.0), 22);
    let mut play = Play::new(9, &[1]);
    run(&mut simulation, &mut play, 5);
    play.active.clear();
    run(&mut simulation, &mut play, 5);
    let asked = stats(&simulation, 0).prediction.outcomes.asked;
    run(&mut simulation, &mut play, 10);
    assert_eq!(stats(&simulation, 0).prediction.outcomes.asked, asked);
    assert!(agrees_with_truth(&simulation, &play, 0, 30));
}

#[test]
fn who_comes_back_after_somebody_elses_canonical_tick_is_sent_one_of_their_own() {
    let rules = Rules { exact: true, ..Rules::new(Balls::schema()) };
    let mut server = Server::new(rules.clone(), ServerConfig::default(), 0, Instant::ZERO);
    let (mut world, mut outbox) = (Balls::default(), foretell::Outbox::new());
    let mut clients: Vec<(Client<Balls>, Balls)> =
        (0..2).map(|nonce| (Client::new(rules.clone(), ClientConfig::default(), nonce), Balls::default())).collect();
    for frame in 0..64 * 40_u64 {
        let now = Instant::from_micros(frame * 15_625);
        if frame == 64 * 30 {
            // The program is started again.
            clients[1] = (Client::new(rules.clone(), ClientConfig::default(), 1), Balls::default());
        }
        if frame == 64 * 8 {
            world.push_all(0.5);
        }
        for (nth, (client, world)) in clients.iter_mut().enumerate() {
            // Nothing of the second one between 5 s and 30 s.
            if nth == 1 && (64 * 5..64 * 30).contains(&frame) {
                continue;
            }
            client.update(now, world, &mut |_| Push::default(), &mut outbox);
            for (_, datagram) in outbox.iter() {
                server.receive(now, foretell::PeerId(nth as u64), datagram).expect("well-formed");
            }
            outbox.clear();
        }
        server.update(now, &mut world, &mut outbox);
        for (peer, datagram) in outbox.iter() {
            if peer.0 == 0 || !(64 * 5..64 * 30).contains(&frame) {
                clients[peer.0 as usize].0.receive(now, datagram).expect("well-formed");
            }
        }
        outbox.clear();
    }
    let now = Instant::from_micros(64 * 40 * 15_625);
    assert_eq!(clients[1].0.state(now), foretell::ClientState::Playing);
}

#[test]
fn whose_canonical_state_was_lost_needs_no_other_canonical_tick() {
    let rules = Rules { exact: true, ..Rules::new(Balls::schema()) };
    let mut server = Server::new(rules.clone(), ServerConfig::default(), 0, Instant::ZERO);
    let (mut world, mut clients_world, mut outbox) = (Balls::default(), Balls::default(), foretell::Outbox::new());
    let mut client = Client::new(rules, ClientConfig::default(), 1);
    let mut asked = 0;
    for frame in 0..64 * 10_u64 {
        let now = Instant::from_micros(frame * 15_625);
        if frame == 64 * 5 {
            world.push_all(0.5);
            world.canonical = 0;
        }
        client.update(now, &mut clients_world, &mut |_| Push::default(), &mut outbox);
        for (_, datagram) in outbox.iter() {
            server.receive(now, foretell::PeerId(0), datagram).expect("well-formed");
        }
        outbox.clear();
        server.update(now, &mut world, &mut outbox);
        // Whole states are lost until the canonical one is.
        let loses = frame >= 64 * 5 && world.canonical == 0;
        for (_, datagram) in outbox.iter().filter(|(_, datagram)| !loses || datagram.len() < 200) {
            client.receive(now, datagram).expect("well-formed");
        }
        outbox.clear();
        asked = if frame == 64 * 8 { client.stats().prediction.outcomes.asked } else { asked };
    }
    assert_eq!(world.canonical, 1);
    assert_eq!(client.stats().prediction.outcomes.asked, asked, "it has agreed since");
    assert!(server.rows().iter().eq(client.predicted(server.tick()).expect("a tick ahead of it").iter()));
}

/// Which part of a snapshot a datagram is.
fn part_of(datagram: &[u8]) -> Option<u8> {
    (datagram[0] & 7 == 4).then(|| (datagram[0] >> 6 | datagram[1] << 2) & 7)
}

#[test]
fn parts_of_one_state_that_were_sent_at_different_times_are_never_put_together() {
    let rules = Rules { exact: true, ..Rules::new(Balls::schema()) };
    let config = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
    let mut server = Server::new(rules.clone(), config, 0, Instant::ZERO);
    let mut world = Balls::default();
    // More than fit into two datagrams.
    for nth in 100..200 {
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, nth);
        world.balls.insert(Owned { entity, owner: PlayerId::SERVER }, Ball { at: [f64::from(nth)], speed: [0.0] });
    }
    let mut clients: Vec<(Client<Balls>, Balls)> =
        (0..2).map(|nonce| (Client::new(rules.clone(), ClientConfig::default(), nonce), Balls::default())).collect();
    let (mut outbox, mut truth, mut sendings) = (foretell::Outbox::new(), BTreeMap::new(), 0_u32);
    for frame in 0..64 * 10_u64 {
        let now = Instant::from_micros(frame * 15_625);
        let here = if frame < 64 * 2 { 1 } else { 2 };
        for (nth, (client, world)) in clients[..here].iter_mut().enumerate() {
            // Relayed to the second one, they take more of the first part from one sending to the next.
            let mut keys = |tick: Tick| Push { force: if tick.get() > 64 * 2 { (tick.get() % 100) as i8 } else { 0 } };
            client.update(now, world, &mut keys, &mut outbox);
            for (_, datagram) in outbox.iter() {
                server.receive(now, foretell::PeerId(nth as u64), datagram).expect("well-formed");
            }
            outbox.clear();
            let Some((tick, rows)) = client.newest_snapshot() else { continue };
            let differs = rows.iter().ne(truth.get(&tick).map(Rows::iter).into_iter().flatten());
            assert!(!differs, "client {nth} has another state of {tick:?} than the server");
        }
        let tick = server.update(now, &mut world, &mut outbox).tick;
        truth.insert(tick, server.rows().clone());
        for (peer, datagram) in outbox.iter() {
            let part = part_of(datagram).filter(|_| peer.0 == 1);
            sendings += u32::from(part == Some(0));
            // Of each of the first a single part arrives.
            if part.is_none_or(|part| sendings > 20 || u32::from(part) == sendings % 3) {
                clients[peer.0 as usize].0.receive(now, datagram).expect("well-formed");
            }
        }
        outbox.clear();
    }
    let now = Instant::from_micros(64 * 10 * 15_625);
    assert!(sendings > 20 && clients[1].0.state(now) == foretell::ClientState::Playing);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever happens: once the network is itself again and all keys are up, everybody has the truth, bit by bit, and
    /// nothing more is asked for.
    #[test]
    fn after_any_trouble_everybody_comes_to_the_same_bits(
        seed: u64,
        rtt_ms in 0_u64..400,
        loss in 0.0..0.4,
        relays: bool,
        pushes in proptest::collection::vec(200_u32..550, 0..4),
        newcomers in 0_usize..3,
        snapshot_rate in prop_oneof![Just(64), Just(16), Just(9)],
    ) {
        let mut simulation = session(2, relays, bad(rtt_ms, loss), seed);
        simulation.server.server.config_mut().snapshot_rate = SendRate::Hz(snapshot_rate);
        let mut play = Play::new(seed, &[0, 1, 2]);
        play.pushes = pushes;
        run(&mut simulation, &mut play, 6);
        for _ in 0..newcomers {
            let (host, world, client) = (HostOptions::at(60), Balls::default(), ClientConfig::default());
            simulation.add_player(PlayerOptions { client, host, conditions: bad(rtt_ms, loss), world });
            run(&mut simulation, &mut play, 3);
        }
        if newcomers > 1 {
            simulation.remove_player(1, foretell_sim::harness::Leaving::Politely);
        }
        run(&mut simulation, &mut play, 3);
        for player in &mut simulation.players {
            (player.up_conditions, player.down_conditions) = (bad(rtt_ms, 0.0), bad(rtt_ms, 0.0));
        }
        play.active.clear();
        run(&mut simulation, &mut play, 5);
        let here = |simulation: &Simulation<Balls>| -> Vec<usize> {
            (0..simulation.players.len()).filter(|player| !simulation.players[*player].is_gone()).collect()
        };
        let asked: Vec<u64> =
            here(&simulation).iter().map(|player| stats(&simulation, *player).prediction.outcomes.asked).collect();
        run(&mut simulation, &mut play, 2);
        for (player, asked) in here(&simulation).into_iter().zip(asked) {
            prop_assert!(agrees_with_truth(&simulation, &play, player, 40), "player {}", player);
            prop_assert_eq!(stats(&simulation, player).prediction.outcomes.asked, asked, "player {}", player);
        }
        let unexplained = play.corrections.iter().find(|correction| correction.causes.is_unexplained());
        prop_assert_eq!(unexplained, None);
        prop_assert_eq!(&play.apart, &vec![]);
    }
}
