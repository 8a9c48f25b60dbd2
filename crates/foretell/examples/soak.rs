//! Thousands of seeds of faults against the world of the tests: `cargo run --release --example soak -- 10000 [first [shown]]`.
//! Counts what fails, by check, and prints the first failures of each check, shrunk.

#[path = "../tests/sessions/common/mod.rs"]
mod common;

use common::scenario::masses;
use std::collections::BTreeMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|number| number.parse().expect("a number of seeds, the first, and how many to show"));
    let (count, first) = (numbers.next().unwrap_or(1000), numbers.next().unwrap_or(0));
    let shown = numbers.next().unwrap_or(1) as usize;
    let mut failed: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for seed in first..first + count {
        let Err(failure) = masses().search(0).run(seed) else { continue };
        let seeds = failed.entry(failure.check().to_owned()).or_default();
        seeds.push(seed);
        if seeds.len() <= shown {
            println!("{}\n", masses().run(seed).expect_err("it fails again"));
        }
    }
    for (check, seeds) in &failed {
        println!("{check}: {} of {count} seeds, such as {:?}", seeds.len(), &seeds[..seeds.len().min(10)]);
    }
    println!("{} of {count} seeds passed", count - failed.values().map(|seeds| seeds.len() as u64).sum::<u64>());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
