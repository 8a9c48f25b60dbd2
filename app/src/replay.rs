//! `foretell replay`: runs a flight recording of the arena again, and tells what was corrected, why, and whether it came
//! to the same.

use anyhow::Context;
use core::fmt::Write as _;
use foretell::session::Rules;
use foretell::session::client::{ClientEvent, ClientStats, Corrected, InputStats, PredictionStats};
use foretell::{Instant, Schema, World};
use foretell_arena::Arena;
use foretell_sim::record::{Agreement, ClientReplay, Divergence, Ending, Recording, ServerReplay};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `foretell replay`.
#[derive(clap::Args)]
pub struct ReplayArgs {
    /// A recording of a client or a server of the arena, as `foretell sweep --record` writes them.
    file: PathBuf,
}

/// Replays a file. The code is 1 where it came to something else or could not be read to its end; 2 when there is nothing
/// to be replayed.
pub fn run(args: &ReplayArgs) -> ExitCode {
    match replay(args) {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            faults.iter().for_each(|fault| eprintln!("not the same: {fault}"));
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Prints what came of it. Returns what is wrong.
fn replay(args: &ReplayArgs) -> anyhow::Result<Vec<String>> {
    let file = || format!("{} can't be replayed", args.file.display());
    let bytes = std::fs::read(&args.file).with_context(file)?;
    let recording = Recording::open(&bytes).with_context(file)?;
    let (text, agreement) = if recording.is_of_server() {
        let replay = recording.replay_server(Rules::new(Arena::schema()), Arena::default()).with_context(file)?;
        (server_text(&replay), replay.agreement)
    } else {
        let replay = recording.replay_client(Rules::new(Arena::schema()), Arena::default()).with_context(file)?;
        (client_text(&replay, &Arena::schema()), replay.agreement)
    };
    // Where nobody reads to the end the code still counts.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(faults(&agreement))
}

/// What keeps a replay from being the same, in half a sentence each.
fn faults(agreement: &Agreement) -> Vec<String> {
    let divergence = agreement.divergence.map(|divergence| match divergence {
        Divergence::Digest { at, tick, came_to } if tick == came_to => {
            format!("from {} on the digests differ, at tick {tick}", clock(at))
        }
        Divergence::Digest { at, tick, came_to } => {
            format!("from {} on the digests differ, recorded at tick {tick}, replayed at tick {came_to}", clock(at))
        }
        Divergence::Inputs { at, tick } => format!("at {} the input of tick {tick} is on one side only", clock(at)),
    });
    let broken = agreement.broken.map(|error| error.to_string());
    let has_no_end = broken.is_none() && agreement.ending == Ending::Missing;
    let endless = has_no_end.then(|| {
        "the recording has no end: it was cut between two records, or the program did not live to write it".to_owned()
    });
    divergence.into_iter().chain(broken).chain(endless).collect()
}

/// An instant on the endpoint's own clock, in seconds.
fn clock(at: Instant) -> String {
    format!("{}.{:03} s", at.micros() / 1_000_000, at.micros() / 1000 % 1000)
}

fn client_text(replay: &ClientReplay, schema: &Schema) -> String {
    let mut text = corrections(&replay.corrections, schema);
    // There are many substituted inputs, and the table says which of them were felt.
    let events = replay.events.iter().filter(|(_, event)| !matches!(event, ClientEvent::Substituted { .. }));
    for (at, event) in events {
        let _ = writeln!(text, "{}: {event:?}", clock(*at));
    }
    let ClientStats { inputs: InputStats { substituted, .. }, prediction, .. } = replay.stats;
    let PredictionStats { corrections, resyncs, .. } = prediction;
    let _ = writeln!(
        text,
        "a client: {corrections} corrections, {resyncs} resyncs, {substituted} inputs substituted; {}",
        told(&replay.agreement)
    );
    text
}

fn server_text(replay: &ServerReplay) -> String {
    let mut text = String::new();
    for (at, event) in &replay.events {
        let _ = writeln!(text, "{}: {event:?}", clock(*at));
    }
    for (player, stats) in &replay.players {
        let (applied, missed, late) = (stats.inputs.applied, stats.inputs.missed, stats.inputs.late);
        let _ = writeln!(text, "{player}: {applied} inputs applied, {missed} missed, {late} of them late");
    }
    let _ = writeln!(text, "a server: {} players; {}", replay.players.len(), told(&replay.agreement));
    text
}

fn told(agreement: &Agreement) -> String {
    let limit = if agreement.ending == Ending::Limit { "; it ends at its limit" } else { "" };
    format!("{} digests agreed{limit}", agreement.digests)
}

/// The corrections as a table.
fn corrections(corrections: &[(Instant, Corrected)], schema: &Schema) -> String {
    const HEAD: [&str; 8] = ["when", "what", "tick", "until", "field", "off by cm", "shown cm", "why"];
    let mut lines = vec![HEAD.map(str::to_owned)];
    for (at, corrected) in corrections {
        let component = corrected.difference.map(|difference| schema.component(difference.component));
        let column = corrected.difference.and_then(|difference| difference.column);
        let field = column.and_then(|column| component?.columns().nth(usize::from(column)));
        let name = component.map_or("all", |component| component.name());
        let causes: Vec<_> = corrected.causes.names().collect();
        lines.push([
            clock(*at),
            format!("{name} of {}", corrected.owner),
            corrected.tick.to_string(),
            corrected.until.to_string(),
            field.map_or("all", |column| &column.name).to_owned(),
            format!("{:.1}", corrected.misprediction_m * 100.0),
            format!("{:.1}{}", corrected.shown_m * 100.0, if corrected.teleport { ", a jump" } else { "" }),
            if causes.is_empty() { "unexplained".to_owned() } else { causes.join(", ") },
        ]);
    }
    let mut text = String::new();
    for line in &lines {
        for (nth, cell) in line.iter().enumerate() {
            let width = lines.iter().map(|line| line[nth].len()).max().unwrap_or(0);
            // The last column may be as long as it likes.
            let width = if nth + 1 < HEAD.len() { width } else { 0 };
            let _ = write!(text, "{}{cell:<width$}", if nth > 0 { "  " } else { "" });
        }
        text.push('\n');
    }
    text
}
