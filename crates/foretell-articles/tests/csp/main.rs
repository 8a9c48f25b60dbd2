//! The second source article's runs, through its client and server: the same counts, the same ticks and the same bits as the
//! reference model (vectors/csp_*.json).

#[path = "../../../foretell/tests/sessions/common/body.rs"]
mod body;
mod policies;

use body::Buttons;
use core::time::Duration;
use foretell::motion::vector::squared_distance;
use foretell::motion::{Correction, Decay};
use foretell::session::Offence;
use foretell::{Instant, SendRate, State, Tick};
use foretell_articles::csp::{Client, ClientConfig, GapPolicy, Redundancy, Server, ServerConfig};
use foretell_articles::timestamped::Mover;
use foretell_sim::netsim::{Conditions, Link, Loss, SplitMix64};
use serde_json::Value;

const TICK_MICROS: u64 = 15_625;

/// A body of either precision, as the runs look at it.
trait Mass: State + Copy + Default {
    fn push(&mut self, buttons: Buttons, seconds: f64);
    /// The server alone adds 3 m/s.
    fn perturb(&mut self);
    fn numbers(&self) -> [f64; 6];

    fn place(&self) -> [f64; 3] {
        let [x, y, z, ..] = self.numbers();
        [x, y, z]
    }
}

macro_rules! mass {
    ($module:ident, $real:ty) => {
        impl Mass for body::$module::Body {
            #[allow(clippy::cast_possible_truncation, reason = "the reference is made in both precisions")]
            fn push(&mut self, buttons: Buttons, seconds: f64) {
                self.step(buttons, seconds as $real);
            }

            fn perturb(&mut self) {
                self.velocity[0] += 3.0;
            }

            #[allow(clippy::useless_conversion, reason = "one of the two is f64 already")]
            fn numbers(&self) -> [f64; 6] {
                let [x, y, z] = self.position.map(f64::from);
                let [vx, vy, vz] = self.velocity.map(f64::from);
                [x, y, z, vx, vy, vz]
            }
        }
    };
}

mass!(f64_mass, f64);
mass!(f32_mass, f32);

/// How bodies of one precision move.
struct Physics<B>(core::marker::PhantomData<B>);

impl<B: Mass> Mover for Physics<B> {
    type Input = Buttons;
    type State = B;

    fn advance(&self, state: &mut B, input: Buttons, seconds: f64) {
        state.push(input, seconds);
    }

    fn position(&self, state: &B) -> [f64; 3] {
        state.place()
    }

    fn limit(&self, _input: &mut Buttons) -> Option<Offence> {
        None
    }
}

struct Run<B: Mass> {
    client: Client<Physics<B>>,
    server: Server<Physics<B>>,
    perturb_at: Option<Tick>,
    up: Link,
    down: Link,
    conditions: Conditions,
    corrected: Vec<(u32, Tick)>,
    /// Of each correction, how far the authority's state is from the prediction, and how far the client's body jumps.
    apart: Vec<[f64; 2]>,
    shown: [f64; 3],
}

impl<B: Mass> Run<B> {
    fn new(config: &Value) -> Run<B> {
        let number = |key: &str| config[key].as_f64().unwrap_or(0.0);
        let millis = |key: &str| Duration::from_micros((number(key) * 1000.0) as u64);
        let seeds: Vec<u64> = config["seeds"].as_array().unwrap().iter().map(|seed| seed.as_u64().unwrap()).collect();
        let limit = config["redundancy_limit"].as_u64().map(|limit| limit as u32);
        let redundant = config["redundant"].as_bool().unwrap();
        let smoothing = Correction {
            decay: Decay::Constant(6.7431),
            snap_m: 2.0,
            snap_time: Duration::ZERO,
            snap_degrees: 360.0,
            smallest_m: 0.0,
            smallest_degrees: 0.0,
        };
        let client = ClientConfig {
            redundancy: if redundant { Redundancy::SinceState { limit } } else { Redundancy::None },
            correction: config["smoothing"].as_bool().unwrap().then_some(smoothing),
            ..ClientConfig::default()
        };
        let server = ServerConfig {
            snapshot_rate: SendRate::Hz(config["snapshot_hz"].as_u64().unwrap() as u16),
            gap: match config["gap_policy"].as_str().unwrap() {
                "skip" => GapPolicy::Skip,
                "repeat" => GapPolicy::Repeat,
                "neutral" => GapPolicy::Neutral,
                other => panic!("an unknown gap policy: {other}"),
            },
        };
        let physics = || Physics(core::marker::PhantomData);
        Run {
            client: Client::new(physics(), client, B::default()),
            server: Server::new(physics(), server, B::default()),
            perturb_at: config["perturb"].as_bool().unwrap().then_some(Tick::new(320)),
            up: Link::new(seeds[0], 4),
            down: Link::new(seeds[1], 5),
            conditions: Conditions {
                latency: millis("latency_ms"),
                jitter: millis("jitter_ms"),
                loss: Loss::Uniform(number("loss")),
                duplicates: number("dup"),
                ..Conditions::default()
            },
            corrected: Vec::new(),
            apart: Vec::new(),
            shown: [0.0; 3],
        }
    }

    /// One tick in the order of the reference model: the client runs it and sends, then takes what has come, then the
    /// server does. What is shown afterwards is the newest state, at the instant that it stands for.
    fn tick(&mut self, k: u32, buttons: Buttons) {
        let now = Instant::from_micros(u64::from(k) * TICK_MICROS);
        let mut datagram = Vec::new();
        self.client.tick(buttons, &mut datagram);
        self.up.send(now, &datagram, &self.conditions);
        while let Some(delivery) = self.down.receive(now) {
            self.client.receive(delivery.bytes).expect("the server speaks the protocol");
        }
        let before = self.client.state().place();
        if let Some(corrected) = self.client.reconcile(now) {
            let popped = squared_distance(before, self.client.state().place()).sqrt();
            self.apart.push([corrected.misprediction_m, popped]);
            self.corrected.push((k, corrected.tick));
        }
        while let Some(delivery) = self.up.receive(now) {
            self.server.receive(delivery.bytes).expect("the client speaks the protocol");
        }
        let Run { server, perturb_at, down, conditions, .. } = self;
        let mut perturb = |tick: Tick, body: &mut B| {
            if *perturb_at == Some(tick) {
                body.perturb();
            }
        };
        server.update(&mut perturb, &mut |state| {
            down.send(now, state, conditions);
        });
        self.shown = self.client.shown(now + Duration::from_micros(TICK_MICROS));
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

fn check_case<B: Mass>(name: &str, case: &Value) {
    let config = &case["config"];
    let active = config["n_active"].as_u64().unwrap() as u32;
    let ticks = active + config["n_drain"].as_u64().unwrap() as u32;
    let script = script(active);
    let mut run = Run::<B>::new(config);
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

fn check_trace_row<B: Mass>(run: &Run<B>, row: &Value, at: &str) {
    let column = |n: usize| row[n].as_f64().unwrap();
    assert_eq!(u64::from(run.client.present().get()), row[2].as_u64().unwrap(), "client tick, {at}");
    assert_eq!(run.client.state().place(), [column(4), column(5), column(6)], "client, {at}");
    assert_eq!(run.server.state().place(), [column(10), column(11), column(12)], "server, {at}");
    for axis in 0..3 {
        assert!((run.shown[axis] - column(7 + axis)).abs() < 1e-5, "shown {:?}, {at}: {row}", run.shown);
    }
}

fn check_counts<B: Mass>(run: &Run<B>, case: &Value, at: &str) {
    let count = |key: &str| case["counts"][key].as_u64().unwrap();
    let (client, server) = (run.client.stats(), run.server.stats());
    let ours = [
        ("inputs_msgs", client.datagrams_sent),
        ("inputs_msgs_lost", run.up.stats().lost),
        ("inputs_sent", client.inputs_sent),
        ("states_sent", server.states),
        ("states_lost", run.down.stats().lost),
        ("states_processed", client.compared),
        ("corrections", client.corrections),
        ("snaps", client.snaps),
        ("resim_ticks", client.resimulated),
        ("gap_ticks", server.inputs_missed),
        ("max_rewind_ticks", u64::from(client.rewind_ticks_max)),
        ("server_steps", server.steps),
    ];
    for (key, ours) in ours {
        assert_eq!(ours, count(key), "{key}, {at}");
    }
    let tick_of = |correction: Option<&(u32, Tick)>| correction.map(|(k, _)| u64::from(*k));
    assert_eq!(tick_of(run.corrected.first()), case["first_correction_tick"].as_u64(), "{at}");
    assert_eq!(tick_of(run.corrected.last()), case["last_correction_tick"].as_u64(), "{at}");
    let numbers = |key: &str| -> Vec<f64> {
        case["final"][key].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    assert_eq!(run.client.state().numbers().to_vec(), numbers("client"), "{at}");
    assert_eq!(run.server.state().numbers().to_vec(), numbers("server"), "{at}");
    if let Some(corrections) = case["corrections"].as_array() {
        let expected: Vec<_> = corrections.iter().map(|row| (row[0].as_u64(), row[1].as_u64())).collect();
        let ours: Vec<_> =
            run.corrected.iter().map(|(k, tick)| (Some(u64::from(*k)), Some(u64::from(tick.get())))).collect();
        assert_eq!(ours, expected, "{at}");
    }
}

/// How far the corrections were from the truth, and how far they threw the body; and how far the ends are apart at last.
fn check_distances<B: Mass>(run: &Run<B>, case: &Value, at: &str) {
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
    let predicted = run.client.predicted(tick).expect("it is remembered");
    let apart = squared_distance(predicted.place(), run.server.state().place()).sqrt();
    assert!(close(apart, &settled["settled_error"]), "settled {apart} m apart, {at}: {settled}");
}

fn check_file<B: Mass>(name: &str, json: &str) {
    let file: Value = serde_json::from_str(json).expect("the vectors are JSON");
    let cases = file["cases"].as_array().expect("a list of cases");
    assert!(!cases.is_empty());
    cases.iter().for_each(|case| check_case::<B>(name, case));
}

#[test]
fn every_run_of_the_f64_matrix_has_the_reference_counts_and_bits() {
    check_file::<body::f64_mass::Body>("csp_matrix_f64", include_str!("../../../../vectors/csp_matrix_f64.json"));
}

#[test]
fn every_run_of_the_f32_matrix_has_the_reference_counts_and_bits() {
    check_file::<body::f32_mass::Body>("csp_matrix_f32", include_str!("../../../../vectors/csp_matrix_f32.json"));
}

#[test]
fn every_gap_policy_and_redundancy_limit_has_the_reference_counts_and_bits() {
    check_file::<body::f64_mass::Body>("csp_policies_f64", include_str!("../../../../vectors/csp_policies_f64.json"));
}

#[test]
fn every_tick_of_the_traces_has_the_reference_positions() {
    check_file::<body::f64_mass::Body>("csp_trace_f64", include_str!("../../../../vectors/csp_trace_f64.json"));
}

#[test]
fn jitter_duplicates_and_reordering_have_the_reference_counts_and_bits() {
    check_file::<body::f64_mass::Body>("csp_jitter_f64", include_str!("../../../../vectors/csp_jitter_f64.json"));
}
