//! Another curve for a single entity while the session runs: shown at once and without a jump, as long as the entity is
//! there, and again by who runs the recording again.

use crate::common::Buttons;
use crate::common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::session::client::PoseSource;
use foretell::{
    Client, ClientConfig, Curve, Entity, Frame, Instant, Outbox, PeerId, PlayerId, Rules, SendRate, ServerConfig,
    Simulate, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerHost, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use foretell_sim::record::{Recorder, Recording};
use std::sync::mpsc::channel;

/// Who walks up and down, 1 m/s and a half apart from the other.
fn walks(player: usize, tick: Tick) -> Buttons {
    let up = (tick.get() / 48 + player as u32).is_multiple_of(2);
    Buttons { up, down: !up, ..Buttons::default() }
}

fn options<W: World + Clone + Default>() -> PlayerOptions<W> {
    let conditions = Conditions {
        latency: Duration::from_millis(60),
        jitter: Duration::from_millis(10),
        loss: Loss::Uniform(0.05),
        ..Conditions::default()
    };
    PlayerOptions { client: ClientConfig::default(), host: HostOptions::at(60), conditions, world: W::default() }
}

/// Watches the others of the first player: the fastest that each was shown, and how many times beyond the newest state.
#[derive(Default)]
struct Watch {
    seen: Vec<(Entity, Instant, [f64; 3])>,
    fastest_mps: f64,
    beyond: Vec<Entity>,
}

impl Driver<Masses> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        walks(player, tick)
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Masses>, _frame: &Frame<'_>) {
        let Some(own) = client.player().filter(|_| player == 0) else { return };
        self.beyond.clear();
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in &views {
            if view.owner == own {
                continue;
            }
            if matches!(view.source, PoseSource::Extrapolated(_)) {
                self.beyond.push(view.entity);
            }
            let place = view.pose().position;
            let Some(seen) = self.seen.iter_mut().find(|(entity, ..)| *entity == view.entity) else {
                self.seen.push((view.entity, at.now, place));
                continue;
            };
            let way = (0..3).map(|axis| (place[axis] - seen.2[axis]).powi(2)).sum::<f64>().sqrt();
            self.fastest_mps = self.fastest_mps.max(way / at.now.since(seen.1).as_secs_f64());
            (seen.1, seen.2) = (at.now, place);
        }
    }
}

fn session() -> Simulation<Masses> {
    let config = ServerConfig { snapshot_rate: SendRate::Hz(16), ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), config, Masses::default(), 3);
    for _ in 0..3 {
        simulation.add_player(options());
    }
    simulation
}

#[test]
fn another_curve_shows_one_entity_elsewhere_without_a_jump_and_leaves_the_others() {
    let mut simulation = session();
    let mut watch = Watch::default();
    simulation.run_until(Instant::from_micros(6_000_000), &mut watch);
    let one = watch.seen[0].0;
    watch.fastest_mps = 0.0;
    let step = |simulation: &mut Simulation<Masses>, watch: &mut Watch| {
        simulation.run_until(simulation.now() + Duration::from_millis(700), watch);
    };
    for _ in 0..8 {
        step(&mut simulation, &mut watch);
    }
    let calm = watch.fastest_mps;
    for curve in Curve::ALL.into_iter().chain(Curve::ALL.into_iter().rev()) {
        if curve == Curve::Hold {
            continue;
        }
        simulation.players[0].client.show_with(one, curve);
        assert_eq!(simulation.players[0].client.shown_with(one), curve);
        step(&mut simulation, &mut watch);
        if curve.leads() {
            assert_eq!(watch.beyond, [one], "{curve:?} shows it ahead of the cursor, and nobody else");
        }
        // What leads is ahead by some 150 ms, a metre here: hidden by an offset that vanishes by ten times as much in a
        // second.
        assert!(watch.fastest_mps < calm + 12.0, "{curve:?}: {} m/s, else {calm}", watch.fastest_mps);
    }
    // The default changes for all others, as smoothly.
    simulation.players[0].client.show_with(one, Curve::Hermite);
    simulation.players[0].client.config_mut().curve = Curve::VelocityBlending;
    step(&mut simulation, &mut watch);
    assert!(watch.fastest_mps < calm + 12.0, "{} m/s", watch.fastest_mps);
    assert!(watch.beyond.len() == 1 && watch.beyond[0] != one, "{:?}", watch.beyond);
}

#[test]
fn at_the_instant_at_which_a_curve_changes_everything_stays_where_it_is_shown_however_often_it_is_updated() {
    let mut simulation = session();
    let mut watch = Watch::default();
    simulation.run_until(Instant::from_micros(6_000_000), &mut watch);
    let one = watch.seen[0].0;
    let curves = Curve::ALL.into_iter().cycle().take(3 * Curve::ALL.len());
    for curve in curves.chain(Curve::ALL.into_iter().rev()) {
        simulation.run_until(simulation.now() + Duration::from_millis(130), &mut watch);
        let now = simulation.players[0].host.local(simulation.now());
        let PlayerHost { client, world, .. } = &mut simulation.players[0];
        let mut places = || {
            let mut views = Views::new();
            client.update(now, world, &mut |tick| walks(0, tick), &mut Outbox::new());
            client.present(now, &mut views);
            let places = views.iter().map(|view| (view.entity, view.pose().position)).collect::<Vec<_>>();
            client.show_with(one, curve);
            places
        };
        // The first is from before the change, the second hides it, and the third is of an update in which nothing is new.
        let [before, first, second] = [(); 3].map(|()| places());
        for (at, (entity, place)) in before.iter().enumerate() {
            for (other, after) in [first[at], second[at]] {
                let way = (0..3).map(|axis| (after[axis] - place[axis]).abs()).sum::<f64>();
                assert!(*entity == other && way < 1e-6, "{curve:?}: {entity} is {way} m from where it was");
            }
        }
    }
}

#[test]
fn the_curve_of_an_entity_is_forgotten_with_it() {
    let mut simulation = session();
    let mut watch = Watch::default();
    simulation.run_until(Instant::from_micros(6_000_000), &mut watch);
    let [(one, ..), (other, ..)] = watch.seen[..] else { panic!("two others") };
    for entity in [one, other] {
        simulation.players[0].client.show_with(entity, Curve::Combined);
    }
    let of_one = |host: &PlayerHost<Masses>| host.client.player() == Some(one.spawned_for());
    let nth = simulation.players.iter().position(of_one).expect("plays");
    simulation.server.server.leave(PeerId(nth as u64));
    simulation.run_until(simulation.now() + Duration::from_secs(2), &mut watch);
    assert_eq!(simulation.players[0].client.shown_with(one), Curve::default());
    assert_eq!(simulation.players[0].client.shown_with(other), Curve::Combined);
}

/// A world that steps by where others are shown: every player is drawn towards them.
#[derive(World, Clone, Default)]
struct Flock(Table<Body>);

impl Simulate for Flock {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            self.0.spawn(step, joined.player, Body::default());
        }
        let before = self.0.clone();
        for mut body in self.0.simulated(step) {
            let entity = body.entity();
            for other in before.iter().filter(|other| other.entity() != entity) {
                body.velocity[2] += 0.01 * (other.position[2] - body.position[2]);
            }
            if let Some(input) = step.input(body.owner()) {
                body.step(input.input, step.seconds());
            }
        }
    }
}

struct Walk;

impl Driver<Flock> for Walk {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        walks(player, tick)
    }
}

/// Plays for a while, by another curve from 4 s on. Returns the recording of the first player.
fn recorded(curve: Option<Curve>) -> Vec<u8> {
    let mut simulation = Simulation::new(Rules::new(Flock::schema()), ServerConfig::default(), Flock::default(), 3);
    for _ in 0..2 {
        simulation.add_player(options());
    }
    let (to, from) = channel();
    let sink = Box::new(move |bytes: &[u8]| drop(to.send(bytes.to_vec())));
    simulation.players[0].client.set_tap(Box::new(Recorder::new(sink)));
    simulation.run_until(Instant::from_micros(4_000_000), &mut Walk);
    let other = simulation.server.world.0.owned_by(PlayerId::new(2)).next().map(|body| body.entity());
    if let Some(curve) = curve {
        simulation.players[0].client.show_with(other.expect("plays"), curve);
    }
    simulation.run_until(Instant::from_micros(10_000_000), &mut Walk);
    from.try_iter().flatten().collect()
}

#[test]
fn a_recording_holds_by_which_curve_an_entity_was_shown() {
    let replay = |bytes: &[u8]| {
        Recording::open(bytes)
            .and_then(|recording| recording.replay_client(Rules::new(Flock::schema()), Flock::default()))
    };
    let (usual, other) = (recorded(None), recorded(Some(Curve::DeadReckoning)));
    let (usual, other) = (replay(&usual).expect("well-formed"), replay(&other).expect("well-formed"));
    for replay in [&usual, &other] {
        assert!(replay.agreement.holds() && replay.agreement.digests > 5, "{:?}", replay.agreement);
    }
    // The curve decides where a step finds the others, so it can't be left out.
    assert_ne!(usual.corrections, other.corrections);
}
