//! The second source article's runs, through the public client, server and links: the same counts, the same ticks and
//! the same bits as the reference model (vectors/csp_*.json).
//!
//! Everything they need are ordinary options: a server stepped by arriving inputs (R8), inputs repeated from the last
//! state's tick (R16), comparison of the position alone (R14), a constant correction rate (R24).

use crate::common::{Buttons, FIRST};
use core::time::Duration;
use foretell::motion::vector::squared_distance;
use foretell::motion::{Correction, Decay};
use foretell::netsim::{Conditions, Link, Loss, SplitMix64};
use foretell::rollback::{Tolerance, World};
use foretell::session::client::{Redundancy, Show};
use foretell::{
    Client, ClientConfig, GapPolicy, Instant, Outbox, PeerId, PlayerId, Rules, Server, ServerConfig, State, Stepping,
    Tick,
};
use serde_json::Value;

const TICK_MICROS: u64 = 15_625;

/// A world of either precision, as the runs look at it.
trait Mass: World<Input = Buttons> + Default {
    type Body: State;
    fn of_first() -> Self;
    fn perturb(&mut self, at: Option<Tick>);
    fn numbers(&self) -> [f64; 6];
    fn shown(body: &Self::Body) -> [f64; 3];

    fn place(&self) -> [f64; 3] {
        let [x, y, z, ..] = self.numbers();
        [x, y, z]
    }
}

macro_rules! mass {
    ($module:ident) => {
        impl Mass for crate::common::$module::Masses {
            type Body = crate::common::$module::Body;

            fn of_first() -> Self {
                Self::of(PlayerId::new(1))
            }

            fn perturb(&mut self, at: Option<Tick>) {
                self.perturb_at = at;
            }

            #[allow(clippy::useless_conversion, reason = "one of the two is f64 already")]
            fn numbers(&self) -> [f64; 6] {
                let body = self.bodies.first().map(|(_, body)| *body).unwrap_or_default();
                let [x, y, z] = body.position.map(f64::from);
                let [vx, vy, vz] = body.velocity.map(f64::from);
                [x, y, z, vx, vy, vz]
            }

            #[allow(clippy::useless_conversion, reason = "one of the two is f64 already")]
            fn shown(body: &Self::Body) -> [f64; 3] {
                body.position.map(f64::from)
            }
        }
    };
}

mass!(f64_mass);
mass!(f32_mass);

struct Run<M: Mass> {
    client: Client<M>,
    client_world: M,
    server: Server<M>,
    server_world: M,
    up: Link,
    down: Link,
    conditions: Conditions,
    outbox: Outbox,
    corrected: Vec<(u32, Tick)>,
    /// Of each correction, how far the authority's state is from the prediction, and how far the client's body jumps.
    apart: Vec<[f64; 2]>,
    shown: [f64; 3],
}

impl<M: Mass> Run<M> {
    fn new(config: &Value) -> Run<M> {
        let number = |key: &str| config[key].as_f64().unwrap_or(0.0);
        let millis = |key: &str| Duration::from_micros((number(key) * 1000.0) as u64);
        let seeds: Vec<u64> = config["seeds"].as_array().unwrap().iter().map(|seed| seed.as_u64().unwrap()).collect();
        let limit = config["redundancy_limit"].as_u64().map(|limit| limit as u32);
        let redundant = config["redundant"].as_bool().unwrap();
        let mut rules = Rules::new(M::Body::schema());
        rules.stepping = Stepping::Arrivals;
        let smoothing = Correction {
            decay: Decay::Constant(6.7431),
            snap_m: 2.0,
            snap_seconds: 0.0,
            snap_degrees: 360.0,
            smallest_m: 0.0,
            smallest_degrees: 0.0,
        };
        let client = ClientConfig {
            redundancy: if redundant { Redundancy::SinceState { limit } } else { Redundancy::None },
            horizon: Duration::from_micros(1023 * TICK_MICROS),
            tolerance: Tolerance::article(),
            correction: config["smoothing"].as_bool().unwrap().then_some(smoothing),
            show: Show::Newest,
            ..ClientConfig::default()
        };
        let server = ServerConfig {
            snapshot_interval: 64 / config["snapshot_hz"].as_u64().unwrap() as u32,
            gap: match config["gap_policy"].as_str().unwrap() {
                "skip" => GapPolicy::Skip,
                "repeat" => GapPolicy::RepeatLast { ticks: u32::MAX },
                "neutral" => GapPolicy::Neutral,
                other => panic!("an unknown gap policy: {other}"),
            },
            ..ServerConfig::default()
        };
        let client_world = M::of_first();
        let mut server_world = M::default();
        server_world.perturb(config["perturb"].as_bool().unwrap().then_some(Tick::new(320)));
        let mut server = Server::new(rules.clone(), server, 7, Instant::ZERO);
        let player = server.join(PeerId(0));
        Run {
            client: Client::joined(rules, client, (player, 7), Instant::ZERO, &client_world),
            client_world,
            server,
            server_world,
            up: Link::new(seeds[0], 4),
            down: Link::new(seeds[1], 5),
            conditions: Conditions {
                latency: millis("latency_ms"),
                jitter: millis("jitter_ms"),
                loss: Loss::Uniform(number("loss")),
                duplicates: number("dup"),
                ..Conditions::default()
            },
            outbox: Outbox::new(),
            corrected: Vec::new(),
            apart: Vec::new(),
            shown: [0.0; 3],
        }
    }

    /// One tick in the order of the reference model: the client runs it and sends, then takes what has come, then the
    /// server does. What is shown afterwards is the newest state, at the instant that it stands for.
    fn tick(&mut self, k: u32, buttons: Buttons) {
        let now = Instant::from_micros(u64::from(k) * TICK_MICROS);
        self.client.update(now, &mut self.client_world, &mut |_| buttons, &mut self.outbox);
        for (_, datagram) in self.outbox.iter() {
            self.up.send(now, datagram, &self.conditions);
        }
        self.outbox.clear();
        while let Some(delivery) = self.down.receive(now) {
            self.client.receive(now, delivery.bytes).expect("the server speaks the protocol");
        }
        let before = self.client_world.place();
        let frame = self.client.update(now, &mut self.client_world, &mut |_| unreachable!(), &mut self.outbox);
        let popped = squared_distance(before, self.client_world.place()).sqrt();
        self.apart.extend(frame.corrections.iter().map(|correction| [correction.misprediction_m, popped]));
        self.corrected.extend(frame.corrections.iter().map(|correction| (k, correction.tick)));
        assert!(self.outbox.is_empty(), "a second update of the same instant has nothing to send");
        while let Some(delivery) = self.up.receive(now) {
            self.server.receive(now, PeerId(0), delivery.bytes).expect("the client speaks the protocol");
        }
        self.server.update(now, &mut self.server_world, &mut self.outbox);
        for (_, datagram) in self.outbox.iter() {
            self.down.send(now, datagram, &self.conditions);
        }
        self.outbox.clear();
        let shown = &mut self.shown;
        self.client.present(now + Duration::from_micros(TICK_MICROS), |view| {
            if view.entity == FIRST {
                *shown = M::shown(&view.state());
            }
        });
    }
}

/// The reference's input script: a new set of buttons every 16 ticks, then neutral ones (csp model).
fn script(ticks: u32) -> Vec<Buttons> {
    let mut random = SplitMix64::new(3);
    let mut buttons = Buttons::default();
    let mut next = |k: u32| {
        if k.is_multiple_of(16) {
            buttons = Buttons::from_bits(random.next_u64() & 31);
        }
        buttons
    };
    (0..ticks).map(&mut next).collect()
}

fn check_case<M: Mass>(name: &str, case: &Value) {
    let config = &case["config"];
    let active = config["n_active"].as_u64().unwrap() as u32;
    let ticks = active + config["n_drain"].as_u64().unwrap() as u32;
    let script = script(active);
    let mut run = Run::<M>::new(config);
    let trace = case["trace"].as_array();
    for k in 0..ticks {
        run.tick(k, script.get(k as usize).copied().unwrap_or_default());
        if let Some(row) = trace.map(|trace| &trace[k as usize]) {
            check_trace_row(&run, row, &format!("{name} {config} tick {k}"));
        }
    }
    check_counts(&run, case, &format!("{name} {config}"));
    check_distances(&run, case, &format!("{name} {config}"));
}

fn check_trace_row<M: Mass>(run: &Run<M>, row: &Value, at: &str) {
    let column = |n: usize| row[n].as_f64().unwrap();
    assert_eq!(u64::from(run.client.tick().get()), row[2].as_u64().unwrap(), "client tick, {at}");
    let [cx, cy, cz, ..] = run.client_world.numbers();
    assert_eq!([cx, cy, cz], [column(4), column(5), column(6)], "client, {at}");
    let [sx, sy, sz, ..] = run.server_world.numbers();
    assert_eq!([sx, sy, sz], [column(10), column(11), column(12)], "server, {at}");
    for axis in 0..3 {
        assert!((run.shown[axis] - column(7 + axis)).abs() < 1e-5, "shown {:?}, {at}: {row}", run.shown);
    }
}

fn check_counts<M: Mass>(run: &Run<M>, case: &Value, at: &str) {
    let count = |key: &str| case["counts"][key].as_u64().unwrap();
    let client = run.client.stats();
    let server = run.server.stats(PlayerId::new(1)).unwrap();
    let ours = [
        ("inputs_msgs", client.datagrams_sent),
        ("inputs_msgs_lost", run.up.stats().lost),
        ("inputs_sent", client.inputs_sent),
        ("states_sent", server.snapshots),
        ("states_lost", run.down.stats().lost),
        ("states_processed", client.outcomes.agreed + client.outcomes.corrected),
        ("corrections", client.corrections),
        ("snaps", client.teleports),
        ("resim_ticks", client.resimulated),
        ("gap_ticks", server.inputs_missed),
        ("max_rewind_ticks", u64::from(client.rollback_ticks_max)),
        ("server_steps", u64::from(run.server.tick().get())),
    ];
    for (key, ours) in ours {
        assert_eq!(ours, count(key), "{key}, {at}");
    }
    assert!(client.outcomes.add_up(), "{:?}, {at}", client.outcomes);
    let tick_of = |correction: Option<&(u32, Tick)>| correction.map(|(k, _)| u64::from(*k));
    assert_eq!(tick_of(run.corrected.first()), case["first_correction_tick"].as_u64(), "{at}");
    assert_eq!(tick_of(run.corrected.last()), case["last_correction_tick"].as_u64(), "{at}");
    let numbers = |key: &str| -> Vec<f64> {
        case["final"][key].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    assert_eq!(run.client_world.numbers().to_vec(), numbers("client"), "{at}");
    assert_eq!(run.server_world.numbers().to_vec(), numbers("server"), "{at}");
    if let Some(corrections) = case["corrections"].as_array() {
        let expected: Vec<_> = corrections.iter().map(|row| (row[0].as_u64(), row[1].as_u64())).collect();
        let ours: Vec<_> =
            run.corrected.iter().map(|(k, tick)| (Some(u64::from(*k)), Some(u64::from(tick.get())))).collect();
        assert_eq!(ours, expected, "{at}");
    }
}

/// How far the corrections were from the truth, and how far they threw the body; and how far the ends are apart at last.
fn check_distances<M: Mass>(run: &Run<M>, case: &Value, at: &str) {
    // A distance in single precision is a sum of rounded squares, in another order than the reference's.
    let close = |ours: f64, theirs: &Value| (ours - theirs.as_f64().unwrap()).abs() <= 1e-6 * ours.max(1e-6);
    for (nth, key) in ["misprediction", "replay_pop"].into_iter().enumerate() {
        let distances = || run.apart.iter().map(|apart| apart[nth]);
        let (max, mean) = (distances().fold(0.0, f64::max), distances().sum::<f64>() / run.apart.len().max(1) as f64);
        assert!(close(max, &case[key]["max"]), "{key}: at most {max}, {at}: {}", case[key]);
        assert!(close(mean, &case[key]["mean"]), "{key}: {mean} on average, {at}: {}", case[key]);
    }
    let settled = &case["final"];
    let tick = Tick::new(settled["server_tick"].as_u64().unwrap() as u32);
    let predicted = run.client.predicted(tick).and_then(|rows| rows.state::<M::Body>(FIRST)).expect("it is remembered");
    let apart = squared_distance(M::shown(&predicted), run.server_world.place()).sqrt();
    assert!(close(apart, &settled["settled_error"]), "settled {apart} m apart, {at}: {settled}");
}

fn check_file<M: Mass>(name: &str, json: &str) {
    let file: Value = serde_json::from_str(json).expect("the vectors are JSON");
    let cases = file["cases"].as_array().expect("a list of cases");
    assert!(!cases.is_empty());
    cases.iter().for_each(|case| check_case::<M>(name, case));
}

#[test]
fn every_run_of_the_f64_matrix_has_the_reference_counts_and_bits() {
    check_file::<crate::common::f64_mass::Masses>(
        "csp_matrix_f64",
        include_str!("../../../../vectors/csp_matrix_f64.json"),
    );
}

#[test]
fn every_run_of_the_f32_matrix_has_the_reference_counts_and_bits() {
    check_file::<crate::common::f32_mass::Masses>(
        "csp_matrix_f32",
        include_str!("../../../../vectors/csp_matrix_f32.json"),
    );
}

#[test]
fn every_gap_policy_and_redundancy_limit_has_the_reference_counts_and_bits() {
    check_file::<crate::common::f64_mass::Masses>(
        "csp_policies_f64",
        include_str!("../../../../vectors/csp_policies_f64.json"),
    );
}

#[test]
fn every_tick_of_the_traces_has_the_reference_positions() {
    check_file::<crate::common::f64_mass::Masses>(
        "csp_trace_f64",
        include_str!("../../../../vectors/csp_trace_f64.json"),
    );
}

#[test]
fn jitter_duplicates_and_reordering_have_the_reference_counts_and_bits() {
    check_file::<crate::common::f64_mass::Masses>(
        "csp_jitter_f64",
        include_str!("../../../../vectors/csp_jitter_f64.json"),
    );
}

/// The article's server (R19): it simulates the inputs that come, and jumps over the ticks of those that do not.
#[test]
fn with_skip_the_server_simulates_the_inputs_that_came_and_nothing_else_whichever_were_lost() {
    type Masses = crate::common::f64_mass::Masses;
    let file: Value = serde_json::from_str(include_str!("../../../../vectors/csp_policies_f64.json")).expect("JSON");
    let cases = file["cases"].as_array().expect("a list of cases");
    let skips = |case: &&Value| case["config"]["gap_policy"] == "skip" && case["config"]["redundant"] == false;
    let mut config = cases.iter().find(skips).expect("there is such a run")["config"].clone();
    let mut first_lost = 0;
    for seed in 1..=40 {
        config["seeds"] = serde_json::json!([seed, seed + 100, 3]);
        config["loss"] = 0.25.into();
        config["latency_ms"] = 0.into();
        let (mut run, mut alone) = (Run::<Masses>::new(&config), crate::common::f64_mass::Body::default());
        for (k, buttons) in (0..).zip(script(400)) {
            let lost = run.up.stats().lost;
            run.tick(k, buttons);
            if run.up.stats().lost == lost {
                alone.step(buttons, 1.0 / 64.0);
            }
            first_lost += u32::from(k == 0 && run.up.stats().lost > 0);
        }
        assert!(run.up.stats().lost > 50);
        assert_eq!(u64::from(run.server.tick().get()), 400 - run.up.stats().lost, "seed {seed}");
        assert_eq!(run.server_world.place(), alone.position, "seed {seed}");
    }
    assert!(first_lost > 5, "{first_lost}");
}
