//! The bits that every platform has to come to; `tests/digests.mjs` asks for them on wasm32.

use crate::yard::fingerprint;
use serde_json::Value;

/// A run of `vectors/physics.json`: crates, seed, ticks, ticks between rebuilds, and the fingerprint in hexadecimal.
fn runs() -> Vec<([u32; 4], String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/physics.json");
    let text = std::fs::read_to_string(path).expect("the vectors are there");
    let vectors: Value = serde_json::from_str(&text).expect("JSON");
    let number = |run: &Value, name: &str| u32::try_from(run[name].as_u64().expect("a number")).expect("32 bits");
    let run = |run: &Value| {
        let numbers = ["crates", "seed", "ticks", "rebuild"].map(|name| number(run, name));
        (numbers, run["fingerprint"].as_str().expect("a text").to_owned())
    };
    vectors["runs"].as_array().expect("runs").iter().map(run).collect()
}

#[test]
fn every_run_comes_to_the_bits_that_are_recorded() {
    let runs = runs();
    assert!(runs.len() >= 6, "{runs:?}");
    let come_to = |[crates, seed, ticks, rebuild]: [u32; 4]| {
        let crates = u16::try_from(crates).expect("at most 65,535 crates");
        format!("{:016x}", fingerprint(crates, seed, ticks, rebuild))
    };
    let now: Vec<_> = runs.iter().map(|(numbers, _)| (*numbers, come_to(*numbers))).collect();
    assert_eq!(now, runs, "crates, seed, ticks, ticks between rebuilds");
}
