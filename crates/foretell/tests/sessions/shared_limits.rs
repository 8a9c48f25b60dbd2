//! Shared mode at its limits: hostile bytes, memory, and the flight recorder.

use crate::common::recorder;
use crate::common::toys::{Act, Play, Toy, Toys, Walk, bounded, cube, ms, session, unowned};
use core::time::Duration;
use foretell::session::client::EntityMode;
use foretell::session::server::Server;
use foretell::session::{Claim, Holder};
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, PeerId, PlayerId, Rules, SendRate, ServerConfig, ServerFrame,
    Simulate, State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Sent, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use foretell_sim::record::Recording;
use std::collections::BTreeMap;

fn rough() -> Conditions {
    Conditions {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(20),
        loss: Loss::Uniform(0.05),
        ..Conditions::default()
    }
}

fn script() -> Vec<(u64, usize, Act)> {
    let mut script = vec![(2000, 0, Act::Move([1.0, 0.0, 0.5])), (2000, 1, Act::Move([0.0, 0.0, -2.0]))];
    for turn in 0..20 {
        let at = 2000 + turn * 200;
        let who = usize::try_from(turn % 2).expect("small");
        let claim = if turn % 3 == 0 { Claim::Ownership } else { Claim::Authority };
        script.push((at, who, Act::Request(cube(u8::try_from(turn % 3).expect("small")), claim)));
        script.push((at + 150, who, Act::Release(cube(u8::try_from(turn % 3).expect("small")))));
        let mode = [Some(EntityMode::Predicted), None, Some(EntityMode::Interpolated)][who];
        script.push((at + 170, 0, Act::Mode(cube(2), mode)));
    }
    script
}

/// Keeps what travels.
struct Wire {
    play: Play,
    sent: Vec<(bool, Vec<u8>)>,
}

impl Driver<Toys> for Wire {
    fn input(&mut self, player: usize, tick: Tick) -> Walk {
        self.play.input(player, tick)
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Toys>) {
        self.play.before_client(player, at, client);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Toys>, frame: &Frame<'_>) {
        self.play.after_client(player, at, client, frame);
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        if sent.player == 0 {
            self.sent.push((sent.to_server, sent.datagram.to_vec()));
        }
    }
}

#[test]
fn datagrams_of_shared_mode_that_were_cut_or_bent_never_panic_and_never_allocate_much() {
    let config = ServerConfig::default();
    let mut simulation = session((bounded(), config), 2, rough(), ClientConfig::default(), 1);
    let mut wire = Wire { play: Play::of(&script()), sent: Vec::new() };
    simulation.run_until(ms(5000), &mut wire);
    let mut random = SplitMix64::new(3);
    let (mut refused, now) = (0, simulation.now());
    for _ in 0..30_000 {
        let (to_server, mut bytes) = wire.sent[(random.next_u64() % wire.sent.len() as u64) as usize].clone();
        for _ in 0..random.next_u64() % 4 {
            let bit = (random.next_u64() % (bytes.len() as u64 * 8)) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if random.chance(0.2) {
            bytes.truncate((random.next_u64() % bytes.len() as u64) as usize + 1);
        }
        let allowance = 8192 + 1024 * bytes.len() as u64;
        let used = allocation_counter::measure(|| {
            let taken = if to_server {
                simulation.server.server.receive(now, PeerId(0), &bytes)
            } else {
                simulation.players[0].client.receive(now, &bytes)
            };
            refused += u32::from(taken.is_err());
        });
        assert!(used.bytes_total <= allowance, "{used:?} for {} bytes", bytes.len());
    }
    assert!(refused > 3000, "{refused}");
    simulation.run_until(ms(12_000), &mut Play::default());
    assert!(simulation.players.iter().all(|player| player.client.stats().prediction.outcomes.add_up()));
}

/// Compares who holds what by each client's newest state with who held it on the server in that tick.
struct Agreeing {
    play: Play,
    held: BTreeMap<Tick, Vec<Option<Holder>>>,
    compared: usize,
    changed: usize,
}

impl Agreeing {
    const CUBES: [Entity; 3] = [cube(0), cube(1), cube(2)];
}

impl Driver<Toys> for Agreeing {
    fn input(&mut self, player: usize, tick: Tick) -> Walk {
        self.play.input(player, tick)
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Toys>, frame: &ServerFrame<'_>) {
        let held = Self::CUBES.map(|entity| server.holder(entity)).to_vec();
        self.changed += usize::from(self.held.last_key_value().is_some_and(|(_, before)| *before != held));
        self.held.insert(frame.tick, held);
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Toys>) {
        self.play.before_client(player, at, client);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Toys>, frame: &Frame<'_>) {
        self.play.after_client(player, at, client, frame);
        let Some((newest, _)) = client.newest_snapshot() else { return };
        let held = Self::CUBES.map(|entity| client.holder(entity));
        assert_eq!(Some(&held[..]), self.held.get(&newest).map(Vec::as_slice), "player {player}, state {newest:?}");
        self.compared += 1;
    }
}

#[test]
fn every_state_says_who_held_what_in_its_tick_over_any_link() {
    for seed in 0..20 {
        let conditions = Conditions { loss: Loss::Uniform(0.3), duplicates: 0.1, ..rough() };
        let config = ServerConfig {
            snapshot_rate: [SendRate::EveryTick, SendRate::Hz(30), SendRate::Hz(20)][seed as usize % 3],
            ..ServerConfig::default()
        };
        let mut simulation = session((bounded(), config), 3, conditions, ClientConfig::default(), seed);
        let play = Play::of(&script());
        let mut agreeing = Agreeing { play, held: BTreeMap::new(), compared: 0, changed: 0 };
        simulation.run_until(ms(9000), &mut agreeing);
        assert!(agreeing.compared > 500 && agreeing.changed > 10, "{} {}", agreeing.compared, agreeing.changed);
    }
}

#[test]
fn a_recorded_session_of_shared_mode_runs_again_to_the_same() {
    let config = ServerConfig { held_max: 2, ..ServerConfig::default() };
    let mut simulation = session((bounded(), config), 2, rough(), ClientConfig::default(), 2);
    let ((server, of_server), (client, of_client)) = (recorder(), recorder());
    simulation.server.server.set_tap(Box::new(server));
    simulation.players[0].client.set_tap(Box::new(client));
    let mut play = Play::of(&script());
    simulation.run_until(ms(8000), &mut play);
    let [of_server, of_client] = [of_server, of_client].map(|from| from.try_iter().flatten().collect::<Vec<u8>>());
    let replay =
        Recording::open(&of_client).expect("a recording").replay_client(Rules::new(bounded()), Toys::default());
    let replay = replay.expect("of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests > 5, "{:?}", replay.agreement);
    let told = |event: &foretell::session::client::ClientEvent| {
        matches!(event, foretell::session::client::ClientEvent::Authority { .. })
    };
    let events = replay.events.iter().filter(|(_, event)| told(event)).count();
    assert_eq!(events, play.events.iter().filter(|(_, player, ..)| *player == 0).count());
    assert!(events > 20, "{events}");
    let replay = Recording::open(&of_server).expect("a recording").replay_server(Rules::new(bounded()), Toys::server());
    let replay = replay.expect("of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests > 5, "{:?}", replay.agreement);
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Crate {
    #[state(position, writer = owner)]
    place: [f32; 3],
    #[state(velocity, writer = owner)]
    velocity: [f32; 3],
    weight: u16,
}

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Nothing(bool);

/// Crates of the server's. Allocates nothing itself.
#[derive(World, Default)]
struct Crates(Table<Crate>);

const fn numbered(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
}

impl Simulate for Crates {
    type Input = Nothing;

    fn step(&mut self, step: &mut Step<'_, Nothing>) {
        for mut it in self.0.simulated(step) {
            it.velocity = [0.0; 3];
        }
    }
}

/// Each player carries two crates to and fro; between them they hand one to and fro.
struct Carrying;

impl Driver<Crates> for Carrying {
    fn input(&mut self, _player: usize, _tick: Tick) -> Nothing {
        Nothing(true)
    }

    fn before_client(&mut self, player: usize, _at: Moment, client: &mut Client<Crates>) {
        let tick = client.tick();
        let nth = u16::try_from(player).expect("small");
        for entity in [numbered(nth), numbered(nth + 3)] {
            if client.holder(entity).is_none() && tick.get() > 200 && tick.get() < 210 {
                client.request(entity, Claim::Ownership);
            }
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let place = [(tick.get() % 64) as f32, 0.0, f32::from(nth)];
            let it = Crate { place, velocity: [1.0, 0.0, 0.0], weight: 0 };
            client.capture(entity, tick, &it);
            client.show(entity, &it);
        }
    }
}

/// Presses nothing.
struct Idle;

impl Driver<Crates> for Idle {
    fn input(&mut self, _player: usize, _tick: Tick) -> Nothing {
        Nothing(false)
    }
}

/// How many bytes a server sends to three clients in ten seconds, in which the first `held` crates are held and lie still.
fn bytes_with_held(held: u16) -> u64 {
    let mut crates = Crates::default();
    (0..60).for_each(|nth| crates.0.insert(unowned(numbered(nth)), Crate::default()));
    let config = ServerConfig { held_max: 60, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Crates::schema()), config, crates, 3);
    for _ in 0..3 {
        let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        simulation.add_player(PlayerOptions { client, host, conditions, world: Crates::default() });
    }
    simulation.run_until(Instant::from_micros(3_000_000), &mut Idle);
    for nth in 0..held {
        simulation.players[usize::from(nth) % 3].client.request(numbered(nth), Claim::Ownership);
        simulation.run_until(simulation.now() + Duration::from_millis(400), &mut Idle);
    }
    simulation.run_until(Instant::from_micros(60_000_000), &mut Idle);
    assert_eq!(
        (0..60).filter(|nth| simulation.server.server.holder(numbered(*nth)).is_some()).count(),
        usize::from(held)
    );
    let bytes = |simulation: &Simulation<Crates>| -> u64 {
        let stats = |player| simulation.server.server.stats(PlayerId::new(player)).expect("they play");
        (1..=3).map(|player| stats(player).bytes_sent).sum()
    };
    let before = bytes(&simulation);
    simulation.run_until(Instant::from_micros(70_000_000), &mut Idle);
    bytes(&simulation) - before
}

#[test]
fn what_is_held_and_lies_still_is_not_told_again() {
    let (none, many) = (bytes_with_held(0), bytes_with_held(60));
    // Against which state it is told takes five bytes of each snapshot; to tell the 60 holders took 400.
    let snapshots = 3 * 10 * 64;
    assert!(none < many && many <= none + 5 * snapshots, "{none} {many}");
}

#[test]
fn what_clients_hold_allocates_nothing_in_a_steady_state() {
    let mut crates = Crates::default();
    (0..6).for_each(|nth| crates.0.insert(unowned(numbered(nth)), Crate::default()));
    let mut simulation = Simulation::new(Rules::new(Crates::schema()), ServerConfig::default(), crates, 3);
    for _ in 0..3 {
        let (client, host, conditions) = (ClientConfig::default(), HostOptions::at(60), rough());
        simulation.add_player(PlayerOptions { client, host, conditions, world: Crates::default() });
    }
    simulation.run_until(Instant::from_micros(30_000_000), &mut Carrying);
    assert_eq!((0..6).filter(|nth| simulation.server.server.holder(numbered(*nth)).is_some()).count(), 6);
    let used = allocation_counter::measure(|| {
        simulation.run_until(Instant::from_micros(50_000_000), &mut Carrying);
    });
    assert_eq!(used.count_total, 0, "{used:?} in 20 s of three clients and a server");
}

#[test]
fn more_rows_than_fit_into_a_datagram_take_turns() {
    let mut world = Toys::server();
    let many = 40;
    for nth in 3..many {
        world.all.insert(unowned(cube(nth)), Toy::Cube { place: [0.0; 3], velocity: [0.0; 3], health: 1 });
    }
    let config = ServerConfig { held_max: 64, ..ServerConfig::default() };
    let mut simulation = session((bounded(), config), 1, rough(), ClientConfig::default(), 4);
    simulation.server.world = world;
    let mut script: Vec<_> =
        (0..many).map(|nth| (2000 + 150 * u64::from(nth), 0, Act::Request(cube(nth), Claim::Ownership))).collect();
    script.push((2000, 0, Act::Move([0.5, 0.0, 0.25])));
    script.push((9900, 0, Act::Move([0.0; 3])));
    let mut play = Play::of(&script);
    let mut wire = Wire { play: Play::default(), sent: Vec::new() };
    core::mem::swap(&mut wire.play, &mut play);
    simulation.run_until(ms(9900), &mut wire);
    assert!(wire.sent.iter().all(|(_, datagram)| datagram.len() <= 1150));
    let behind = |simulation: &Simulation<Toys>, wire: &Wire| {
        let rows = simulation.server.server.rows();
        let far = |nth| {
            let truth = rows.state::<Toy>(cube(nth)).expect("there").place();
            let shown = wire.play.shown[&(0, cube(nth))].1;
            (0..3).map(|axis| (truth[axis] - shown[axis]).abs()).fold(0.0, f64::max)
        };
        (0..many).map(far).fold(0.0, f64::max)
    };
    // 40 rows of 53 bytes are two datagrams' worth: each waits for one turn or two.
    assert!(behind(&simulation, &wire) < 0.15, "{} m", behind(&simulation, &wire));
    simulation.run_until(ms(10_900), &mut wire);
    assert!(behind(&simulation, &wire) < 1e-9, "all have arrived: {} m", behind(&simulation, &wire));
}

/// Told ten times per second.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
#[state(hz = 10)]
struct Barrel {
    #[state(position, writer = owner)]
    place: [f32; 3],
}

/// Barrels of the server's, which lie where they are left.
#[derive(World, Default)]
struct Barrels(Table<Barrel>);

impl Simulate for Barrels {
    type Input = Nothing;

    fn step(&mut self, _step: &mut Step<'_, Nothing>) {}
}

/// Pushes a barrel along x, and gives it back on the way.
#[derive(Default)]
struct Pushing {
    views: Views,
    /// Where it was shown last, and how far back from there it was shown at most, in metres.
    shown_m: f64,
    back_m: f64,
}

impl Driver<Barrels> for Pushing {
    fn input(&mut self, _player: usize, _tick: Tick) -> Nothing {
        Nothing(false)
    }

    fn before_client(&mut self, _player: usize, _at: Moment, client: &mut Client<Barrels>) {
        let (barrel, tick) = (numbered(0), client.tick());
        match tick.get() {
            200 => client.request(barrel, Claim::Authority),
            400 => client.release(barrel),
            _ => {}
        }
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let it = Barrel { place: [tick.get() as f32 * 0.1, 0.0, 0.0] };
        client.capture(barrel, tick, &it);
        client.show(barrel, &it);
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Barrels>, frame: &Frame<'_>) {
        client.present(at.local, &mut self.views);
        let Some(view) = self.views.get(numbered(0)).filter(|_| frame.tick.get() > 250) else { return };
        let shown_m = view.pose().position[0];
        self.back_m = self.back_m.max(self.shown_m - shown_m);
        self.shown_m = shown_m;
    }
}

#[test]
fn what_is_told_rarely_and_was_given_back_is_not_shown_where_it_was_before() {
    let mut barrels = Barrels::default();
    barrels.0.insert(unowned(numbered(0)), Barrel::default());
    let mut simulation = Simulation::new(Rules::new(Barrels::schema()), ServerConfig::default(), barrels, 3);
    let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
    let (client, host) = (ClientConfig::default(), HostOptions::at(60));
    simulation.add_player(PlayerOptions { client, host, conditions, world: Barrels::default() });
    let mut pushing = Pushing::default();
    simulation.run_until(Instant::from_micros(9_000_000), &mut pushing);
    assert!(pushing.shown_m > 39.0 && pushing.back_m < 0.005, "{} {}", pushing.shown_m, pushing.back_m);
}
