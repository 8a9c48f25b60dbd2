//! What is said of a kind of entity: that no client predicts it, and how often it is told.

use core::time::Duration;
use foretell::math::f64::{atan2, cos, sin};
use foretell::session::client::{ClientEvent, EntityMode, PoseSource};
use foretell::{
    Client, Entity, Frame, Input, Instant, PlayerId, Role, Rules, SendRate, Server, ServerConfig, ServerFrame,
    Simulate, State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{BotView, Driver, FaultMix, HostOptions, Moment, PlayerOptions, Scenario, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::collections::BTreeSet;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Keys {
    lay: bool,
    forward: bool,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Walker {
    #[state(position)]
    at: [f64; 3],
}

/// Its player lays it, and it is simulated by the server alone.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
#[state(predict = never)]
struct Mine {
    #[state(position)]
    at: [f64; 3],
    age: u32,
}

/// Goes around in a circle. Told as often as there are states.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Kite {
    #[state(position)]
    at: [f64; 3],
    #[state(velocity)]
    velocity: [f64; 3],
}

/// The same, told ten times in a second.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
#[state(hz = 10)]
struct Balloon {
    #[state(position)]
    at: [f64; 3],
    #[state(velocity)]
    velocity: [f64; 3],
}

const RADIUS_M: f64 = 5.0;
const SPEED_MPS: f64 = 4.0;
const TICKS_PER_S: f64 = 64.0;
/// How many ticks apart a balloon is told: 6.4 is to the nearest 6.
const TICKS_APART: u32 = 6;

/// Where both are in a tick, and how fast.
fn on_circle(ticks: f64) -> ([f64; 3], [f64; 3]) {
    let angle = ticks / TICKS_PER_S * SPEED_MPS / RADIUS_M;
    let (sin, cos) = (sin(angle), cos(angle));
    ([RADIUS_M * cos, 0.0, RADIUS_M * sin], [-SPEED_MPS * sin, 0.0, SPEED_MPS * cos])
}

fn thing(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
}

const KITE: u16 = 0;
const BALLOON: u16 = 1;

#[derive(World, Clone, Default)]
struct Yard {
    walkers: Table<Walker>,
    mines: Table<Mine>,
    kites: Table<Kite>,
    balloons: Table<Balloon>,
    /// In these ticks kite and balloon go on; on the server.
    #[world(constant)]
    flies: core::ops::Range<u32>,
    /// How often a step has had a mine that it was to move, on a client.
    #[world(constant)]
    moved_mines: u32,
}

impl Yard {
    fn flying(flies: core::ops::Range<u32>) -> Yard {
        let mut yard = Yard { flies, ..Yard::default() };
        let (at, velocity) = on_circle(0.0);
        let of = |nth| foretell::Owned { entity: thing(nth), owner: PlayerId::SERVER };
        yard.kites.insert(of(KITE), Kite { at, velocity });
        yard.balloons.insert(of(BALLOON), Balloon { at, velocity });
        yard
    }

    fn fly(&mut self, tick: u32) {
        if !self.flies.contains(&tick) {
            let is_last = tick == self.flies.end;
            let kites = self.kites.iter_mut().filter(|_| is_last);
            kites.for_each(|mut kite| kite.velocity = [0.0; 3]);
            let balloons = self.balloons.iter_mut().filter(|_| is_last);
            balloons.for_each(|mut balloon| balloon.velocity = [0.0; 3]);
            return;
        }
        let (at, velocity) = on_circle(f64::from(tick + 1));
        self.kites.iter_mut().for_each(|mut kite| *kite = Kite { at, velocity });
        self.balloons.iter_mut().for_each(|mut balloon| *balloon = Balloon { at, velocity });
    }
}

impl Simulate for Yard {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            self.walkers.spawn(step, joined.player, Walker::default());
        }
        if step.is_authority() {
            self.fly(step.tick().get());
        }
        for player in step.inputs() {
            let walker = self.walkers.owned_by(player.player).next().map(|walker| walker.at);
            let Some(at) = walker.filter(|_| player.input.lay) else { continue };
            self.mines.spawn(step, player.player, Mine { at, age: 0 });
        }
        for mut walker in self.walkers.simulated(step) {
            let forward = step.input(walker.owner()).is_some_and(|player| player.input.forward);
            walker.at[0] += if forward { 0.05 } else { 0.0 };
        }
        let before = self.mines.len();
        for mut mine in self.mines.simulated(step) {
            // What was laid just now is there in the rest of this step.
            let is_new = mine.entity().tick() == step.tick();
            self.moved_mines += u32::from(!step.is_authority() && !is_new);
            assert_eq!(step.role(mine.owned()) == Role::Authority, step.is_authority());
            mine.age += 1;
        }
        self.mines.retain(|mine| mine.age < 200);
        assert!(self.mines.len() <= before);
    }
}

/// What the first player's client shows.
#[derive(Default)]
struct Watch {
    /// In which ticks the player lays a mine.
    lays: Vec<u32>,
    sources: BTreeSet<String>,
    events: Vec<ClientEvent>,
    circle: [Circling; 2],
    /// In which ticks the balloon was told.
    told: BTreeSet<Tick>,
    corrections: usize,
    wants_mines: bool,
    bytes: u64,
}

/// How something was shown that goes around.
#[derive(Default, Clone, Copy, Debug)]
struct Circling {
    last: Option<(Instant, [f64; 3])>,
    fastest_mps: f64,
    slowest_mps: f64,
    /// How far it was off the circle, at most.
    off_m: f64,
    /// How far it was behind the truth, in ticks.
    behind_ticks: f64,
    frames: u32,
    extrapolated: u32,
}

impl Circling {
    fn note(&mut self, now: Instant, at: [f64; 3], source: PoseSource, truth: Tick) {
        let distance = |from: [f64; 3]| (0..3).map(|axis| (at[axis] - from[axis]).powi(2)).sum::<f64>().sqrt();
        self.off_m = self.off_m.max((distance([0.0; 3]) - RADIUS_M).abs());
        let turn = core::f64::consts::TAU;
        let angle = atan2(at[2], at[0]);
        let ahead = (f64::from(truth.get()) / TICKS_PER_S * SPEED_MPS / RADIUS_M - angle).rem_euclid(turn);
        self.behind_ticks += ahead * RADIUS_M / SPEED_MPS * TICKS_PER_S;
        if let Some((before, from)) = self.last.replace((now, at)) {
            let mps = distance(from) / now.since(before).as_secs_f64();
            self.fastest_mps = self.fastest_mps.max(mps);
            self.slowest_mps = if self.frames == 1 { mps } else { self.slowest_mps.min(mps) };
        }
        self.frames += 1;
        self.extrapolated += u32::from(matches!(source, PoseSource::Extrapolated(_)));
    }
}

impl Driver<Yard> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        Keys { lay: player == 0 && self.lays.contains(&tick.get()), forward: true }
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Yard>, _frame: &ServerFrame<'_>) {
        self.bytes = server.players().filter_map(|player| server.stats(player)).map(|stats| stats.bytes_sent).sum();
    }

    fn before_client(&mut self, player: usize, _at: Moment, client: &mut Client<Yard>) {
        if player == 0 && self.wants_mines {
            let mines: Vec<Entity> = client
                .newest_snapshot()
                .map(|(_, rows)| rows.states::<Mine>().map(|(of, _)| of.entity).collect())
                .unwrap_or_default();
            mines.iter().for_each(|mine| client.set_mode(*mine, Some(EntityMode::Predicted)));
        }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Yard>, frame: &Frame<'_>) {
        if player != 0 {
            return;
        }
        self.events.extend_from_slice(frame.events);
        self.corrections += frame.corrections.len();
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in views.iter().filter(|view| view.get::<Mine>().is_some()) {
            self.sources.insert(format!("{:?}", view.source).chars().take(8).collect());
        }
        if at.now < Instant::from_micros(4_000_000) {
            return;
        }
        let row = client.newest_snapshot().and_then(|(_, rows)| rows.of(thing(BALLOON)).next().map(|row| row.key()));
        self.told.extend(row.and_then(|key| client.told_in(key)));
        let truth = Tick::new((at.now.since(Instant::ZERO).as_secs_f64() * TICKS_PER_S) as u32);
        for (nth, circling) in [KITE, BALLOON].iter().zip(&mut self.circle) {
            let Some(view) = views.get(thing(*nth)) else { continue };
            circling.note(at.now, view.pose().position, view.source, truth);
        }
    }
}

fn session(yard: &Yard, conditions: &Conditions, rate: SendRate) -> Simulation<Yard> {
    let config = ServerConfig { snapshot_rate: rate, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Yard::schema()), config, yard.clone(), 1);
    for _ in 0..2 {
        let (host, conditions) = (HostOptions::at(144), conditions.clone());
        let client = foretell::ClientConfig::default();
        simulation.add_player(PlayerOptions { client, host, conditions, world: Yard::default() });
    }
    simulation
}

fn seconds(seconds: u64) -> Instant {
    Instant::from_micros(seconds * 1_000_000)
}

fn calm() -> Conditions {
    Conditions { latency: Duration::from_millis(40), ..Conditions::default() }
}

fn rough() -> Conditions {
    let (latency, jitter) = (Duration::from_millis(50), Duration::from_millis(15));
    Conditions { latency, jitter, loss: Loss::Uniform(0.05), ..Conditions::default() }
}

#[test]
fn what_is_never_predicted_is_shown_to_its_own_player_as_to_others_and_never_appears_early() {
    for (conditions, wants_mines) in [(calm(), false), (rough(), false), (calm(), true)] {
        let mut simulation = session(&Yard::default(), &conditions, SendRate::EveryTick);
        let mut watch = Watch { lays: (100..400).step_by(25).collect(), wants_mines, ..Watch::default() };
        simulation.run_until(seconds(12), &mut watch);
        let of = |letter: fn(&ClientEvent) -> Option<&Entity>| watch.events.iter().filter_map(letter).count();
        let laid = watch.events.iter().filter(|event| matches!(event, ClientEvent::Spawned(_))).count() - 2;
        assert_eq!(laid, watch.lays.len(), "all of them, each once");
        assert_eq!(of(|event| if let ClientEvent::Withdrawn { entity, .. } = event { Some(entity) } else { None }), 0);
        let despawned = |event: &ClientEvent| matches!(event, ClientEvent::Despawned { .. });
        assert_eq!(watch.events.iter().filter(|event| despawned(event)).count(), laid, "they end after 200 ticks");
        assert!(!watch.sources.contains("Predicte"), "{:?}", watch.sources);
        let player = &simulation.players[0];
        assert_eq!(player.world.moved_mines, 0, "its client's step moves none");
        assert_eq!(player.world.mines.len(), 0);
        if conditions == calm() {
            assert_eq!(watch.corrections, 0, "nothing was mispredicted");
        }
    }
}

#[test]
fn what_is_told_ten_times_in_a_second_is_shown_as_smoothly_and_later_by_what_it_is_told_less() {
    // The first with a state in every tick, and the second with one in three.
    for (rate, conditions) in [
        (SendRate::EveryTick, calm()),
        (SendRate::EveryTick, rough()),
        (SendRate::Hz(20), calm()),
        (SendRate::Hz(20), rough()),
    ] {
        let apart = if rate == SendRate::EveryTick { 1 } else { 3 };
        let mut simulation = session(&Yard::flying(0..10_000), &conditions, rate);
        let mut watch = Watch::default();
        simulation.run_until(seconds(24), &mut watch);
        let [kite, balloon] = watch.circle;
        let told = watch.told.len() as f64 / 20.0;
        assert!((9.0..11.5).contains(&told), "{rate:?}: told {told} times in a second");
        let behind = (balloon.behind_ticks - kite.behind_ticks) / f64::from(balloon.frames);
        assert!((behind - f64::from(TICKS_APART - apart)).abs() < 0.3, "{rate:?}: {behind} ticks later");
        let is_calm = conditions == calm();
        // What is lost is told a tenth of a second later: meanwhile it goes on, and slows down.
        let (off_m, mps) = if is_calm { (1e-6, 1e-4) } else { (0.05, 2.0) };
        assert!(balloon.off_m < off_m, "{rate:?}: {} m off", balloon.off_m);
        assert!(
            balloon.fastest_mps < SPEED_MPS + mps && balloon.slowest_mps > SPEED_MPS - mps,
            "{rate:?}: {balloon:?}"
        );
        let most = if is_calm { 0 } else { balloon.frames / 20 };
        assert!(balloon.extrapolated <= most, "{rate:?}: {} of {}", balloon.extrapolated, balloon.frames);
    }
}

#[test]
fn what_comes_to_rest_is_told_as_it_is_then_and_costs_nothing_more() {
    for stops in 500..500 + TICKS_APART {
        let mut simulation = session(&Yard::flying(0..stops), &rough(), SendRate::EveryTick);
        let mut watch = Watch::default();
        simulation.run_until(seconds(10), &mut watch);
        let truth = simulation.server.server.rows().state::<Balloon>(thing(BALLOON)).expect("it is there");
        assert_eq!(truth.velocity, [0.0; 3]);
        let (_, rows) = simulation.players[0].client.newest_snapshot().expect("a state");
        assert_eq!(rows.state::<Balloon>(thing(BALLOON)), Some(truth), "{stops}");
        let mut views = Views::new();
        let player = &simulation.players[0];
        player.client.present(player.host.local(simulation.now()), &mut views);
        let view = views.get(thing(BALLOON)).expect("shown");
        assert_eq!((view.pose().position, view.source), (truth.at, PoseSource::Interpolated), "{stops}");
        assert!(watch.told.iter().next_back() < Some(&Tick::new(stops + 40)), "{stops}: {:?}", watch.told.last());
    }
}

#[test]
fn no_check_misses_a_prediction_of_what_no_client_predicts() {
    Scenario::new(Rules::new(Yard::schema()), || Yard::flying(0..1000))
        .players(2)
        .bot(|view: &BotView<'_>, random| Keys { lay: random.chance(0.05), forward: view.tick.get() % 50 < 30 })
        .faults(FaultMix::default())
        .seeds(0..6)
        .expect("no check complains");
}
