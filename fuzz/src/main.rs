//! `foretell-fuzz [SEED [RUNS [FIRST]]]`: RUNS runs of a seed, from number FIRST on. Defaults: 1, 1000 and 0.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let said: Result<Vec<u64>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    let (seed, runs, first) = match said.as_deref() {
        Ok([]) => (1, 1000, 0),
        Ok([seed]) => (*seed, 1000, 0),
        Ok([seed, runs]) => (*seed, *runs, 0),
        Ok([seed, runs, first]) => (*seed, *runs, *first),
        _ => {
            eprintln!("accepted is: foretell-fuzz [SEED [RUNS [FIRST]]], three whole numbers from 0");
            return ExitCode::FAILURE;
        }
    };
    let Some(found) = foretell_fuzz::hunt(seed, first..first.saturating_add(runs), foretell_fuzz::receive) else {
        println!("{runs} runs of seed {seed}: nothing found");
        return ExitCode::SUCCESS;
    };
    let hex: String = found.input.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("the input: {hex}");
    println!("again by: cargo run -p foretell-fuzz -- {seed} 1 {}", found.run);
    ExitCode::FAILURE
}
