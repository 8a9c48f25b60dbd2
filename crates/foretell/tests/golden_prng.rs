//! Golden vectors of the random numbers (D31).

use foretell::netsim::{Pcg32, SplitMix64};
use serde_json::Value;

const PRNG: &str = include_str!("../../../vectors/prng.json");

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
