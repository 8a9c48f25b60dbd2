//! A million hostile packets against a server on which honest players play: what they cost its ticks and its memory.
//!
//! `cargo bench -p foretell-net --bench hostile` takes two and a half minutes. Peace and war take turns; of the five
//! rounds the medians count. CPU time is that of the thread which runs the ticks.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/flood/mod.rs"]
mod flood;

use flood::apart::{Report, serve_if_asked};
use flood::{GROWTH_MAX, Outcome, Plan, Round, run};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Ticks may cost so much more under hostile traffic, at the 99th percentile.
const TICK_GROWTH_MAX: f64 = 0.2;

fn main() -> ExitCode {
    if serve_if_asked() {
        return ExitCode::SUCCESS;
    }
    let plan = Plan { seed: 7, rounds: 5, phase: Duration::from_secs(10), rate: 20_200, honest: 16, mallories: 4 };
    let mut command = Command::new(std::env::current_exe().expect("a program"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let outcome = runtime.block_on(run(&mut command, &plan));
    print(&plan, &outcome);
    if is_good(&outcome) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn median(rounds: &[Round], of: impl Fn(&Round) -> u64) -> u64 {
    let mut values: Vec<_> = rounds.iter().map(of).collect();
    values.sort_unstable();
    values[values.len() / 2]
}

#[expect(clippy::cast_precision_loss, reason = "a ratio to print")]
fn growth(rounds: &[Round], of: impl Fn(&Report) -> u64) -> f64 {
    let (peace, war) = (median(rounds, |round| of(&round.peace)), median(rounds, |round| of(&round.war)));
    war as f64 / peace.max(1) as f64 - 1.0
}

fn is_good(outcome: &Outcome) -> bool {
    // A machine that is busy with something else skips ticks in peace as well.
    let skipped = median(&outcome.rounds, |round| round.war.skipped);
    let peak = outcome.rounds.iter().map(|round| round.war.peak).max().unwrap_or(0);
    growth(&outcome.rounds, |report| report.p99) < TICK_GROWTH_MAX
        && peak <= outcome.before.live + GROWTH_MAX
        && skipped == 0
        && outcome.undisturbed
}

fn print(plan: &Plan, outcome: &Outcome) {
    let rounds = &outcome.rounds;
    println!(
        "{} honest players, {} hostile ones: {} packets of players, {} of strangers; {} connections cut\n",
        plan.honest, plan.mallories, outcome.sent[0], outcome.sent[1], outcome.cut
    );
    println!("|  | peace | war | growth |\n|---|---:|---:|---:|");
    let row = |name: &str, of: &dyn Fn(&Report) -> u64| {
        let (peace, war) = (median(rounds, |round| of(&round.peace)), median(rounds, |round| of(&round.war)));
        println!("| {name} | {peace} | {war} | {:+.1}% |", 100.0 * growth(rounds, of));
    };
    row("CPU of a tick, median, us", &|report| report.p50);
    row("CPU of a tick, 99th percentile, us", &|report| report.p99);
    row("CPU of a tick, longest, us", &|report| report.max);
    row("CPU of the process, ms per s", &|report| report.process / plan.phase.as_millis().max(1) as u64);
    row("ticks", &|report| report.ticks);
    row("ticks skipped", &|report| report.skipped);
    row("inputs of honest players applied", &|report| report.applied);
    row("missing", &|report| report.missed);
    row("datagrams taken", &|report| report.received);
    row("malformed", &|report| report.malformed);
    row("bytes allocated, at most", &|report| report.peak);
    row("bytes of memory of the process", &|report| report.resident);
    println!("\nallocated before {} and after it {}", outcome.before.live, outcome.after.live);
    println!("each round, 99th percentile: {:?}", rounds.iter().map(|r| (r.peace.p99, r.war.p99)).collect::<Vec<_>>());
    println!("who plays plays on, over the same connection: {}", outcome.undisturbed);
    println!("{}", if is_good(outcome) { "holds" } else { "DOES NOT HOLD" });
}
