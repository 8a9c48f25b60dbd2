//! Golden vectors of the random numbers, and of the messages that arrive on links which draw them (D31).

use core::time::Duration;

use foretell::Instant;
use foretell_sim::netsim::{Conditions, Link, Loss, Pcg32, SplitMix64};
use serde_json::Value;

const PRNG: &str = include_str!("../../../../vectors/prng.json");
const JITTER: &str = include_str!("../../../../vectors/csp_jitter_f64.json");

/// The cases of a file that are wanted; there is at least one.
fn cases(file: &str, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let file: Value = serde_json::from_str(file).expect("the vectors are JSON");
    let cases = file["cases"].as_array().expect("a list of cases");
    let wanted: Vec<Value> = cases.iter().filter(|case| wanted(case)).cloned().collect();
    assert!(!wanted.is_empty(), "no case is wanted");
    wanted
}

fn integer(value: &Value) -> u64 {
    value.as_u64().expect("an integer")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Compares a list of expected values with as many draws; the list is not empty.
fn assert_draws<T: PartialEq + core::fmt::Debug>(
    list: &Value,
    read: impl Fn(&Value) -> T,
    mut draw: impl FnMut() -> T,
) {
    let expected: Vec<T> = list.as_array().expect("a list of draws").iter().map(read).collect();
    let drawn: Vec<T> = expected.iter().map(|_| draw()).collect();
    assert!(!expected.is_empty(), "the list is empty");
    assert_eq!(drawn, expected);
}

#[test]
fn splitmix64_draws_the_integers_of_the_vectors() {
    for case in cases(PRNG, |case| case["kind"] == "splitmix64") {
        let mut random = SplitMix64::new(integer(&case["seed"]));
        let read = |text: &Value| text.as_str().expect("a quoted integer").parse::<u64>().expect("an integer");
        assert_draws(&case["u64"], read, || random.next_u64());
    }
}

#[test]
fn splitmix64_draws_the_numbers_of_the_vectors_to_the_bit() {
    for case in cases(PRNG, |case| case["kind"] == "splitmix64_f64") {
        let mut random = SplitMix64::new(integer(&case["seed"]));
        assert_draws(&case["f64"], |value| number(value).to_bits(), || random.next_f64().to_bits());
    }
}

#[test]
fn chances_fall_as_in_the_vectors() {
    for case in cases(PRNG, |case| case["kind"] == "splitmix64_lost") {
        let mut random = SplitMix64::new(integer(&case["seed"]));
        let p = number(&case["p"]);
        assert_draws(&case["lost"], |value| integer(value) == 1, || random.chance(p));
    }
}

#[test]
fn a_chance_takes_one_draw_whatever_its_probability() {
    for p in [0.0, 0.5, 1.0] {
        let (mut random, mut other) = (SplitMix64::new(7), SplitMix64::new(7));
        random.chance(p);
        other.next_u64();
        assert_eq!(random, other);
    }
}

#[test]
fn pcg32_draws_the_integers_of_the_vectors() {
    for case in cases(PRNG, |case| case["kind"] == "pcg32") {
        let mut random = Pcg32::new(integer(&case["initstate"]), integer(&case["initseq"]));
        assert_draws(&case["u32"], integer, || u64::from(random.next_u32()));
    }
}

#[test]
fn streams_of_pcg32_from_one_seed_differ() {
    let first_draws = |initseq| {
        let mut random = Pcg32::new(42, initseq);
        [(); 4].map(|()| random.next_u32())
    };
    assert_ne!(first_draws(0), first_draws(1));
}

/// What the reference runs count of their messages, whatever the world does.
#[derive(PartialEq, Debug, Default)]
struct Exchange {
    inputs_lost: u64,
    states_sent: u64,
    states_lost: u64,
    states_processed: u64,
    server_steps: u64,
}

const TICK: Duration = Duration::from_micros(15_625);

/// The messages of a reference run whose inputs are all repeated until a state confirms them: each message brings the
/// server up to the client's tick, and each `state_ticks` steps of the server send a state.
fn exchange(conditions: &Conditions, ticks: u64, state_ticks: u64) -> Exchange {
    let (mut up, mut down) = (Link::new(1, 4), Link::new(2, 5));
    let (mut server_tick, mut newest_state, mut processed) = (0, 0, 0);
    let mut now = Instant::ZERO;
    let tick_in = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("a tick is eight bytes"));
    for client_tick in 0..ticks {
        up.send(now, &u64::to_le_bytes(client_tick), conditions);
        let mut newest_due = 0;
        while let Some(state) = down.receive(now) {
            newest_due = newest_due.max(tick_in(state.bytes));
        }
        if newest_due > newest_state {
            newest_state = newest_due;
            processed += 1;
        }
        while let Some(inputs) = up.receive(now) {
            while server_tick <= tick_in(inputs.bytes) {
                server_tick += 1;
                if server_tick % state_ticks == 0 {
                    down.send(now, &u64::to_le_bytes(server_tick), conditions);
                }
            }
        }
        now = now + TICK;
    }
    Exchange {
        inputs_lost: up.stats().lost,
        states_sent: down.stats().sent,
        states_lost: down.stats().lost,
        states_processed: processed,
        server_steps: server_tick,
    }
}

#[test]
fn links_lose_delay_and_duplicate_what_they_do_in_the_reference_runs() {
    for case in cases(JITTER, |case| case["config"]["redundant"] == true) {
        let (config, counts) = (&case["config"], &case["counts"]);
        let conditions = Conditions {
            latency: Duration::from_millis(integer(&config["latency_ms"])),
            jitter: Duration::from_millis(integer(&config["jitter_ms"])),
            loss: Loss::Uniform(number(&config["loss"])),
            duplicates: number(&config["dup"]),
            ..Conditions::default()
        };
        let ticks = integer(&config["n_active"]) + integer(&config["n_drain"]);
        let expected = Exchange {
            inputs_lost: integer(&counts["inputs_msgs_lost"]),
            states_sent: integer(&counts["states_sent"]),
            states_lost: integer(&counts["states_lost"]),
            states_processed: integer(&counts["states_processed"]),
            server_steps: integer(&counts["server_steps"]),
        };
        assert_eq!(exchange(&conditions, ticks, 64 / integer(&config["snapshot_hz"])), expected, "{config}");
    }
}
