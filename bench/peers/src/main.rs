//! Measures what replicating a crowd costs, with foretell and with other libraries: processor time of both ends, bytes, and
//! whether clients end up with what the server has.
//!
//! Everything runs on this thread, on virtual time, over links in memory. `--json` writes a row per library and case, `--markdown`
//! puts tables of them into a document.

mod adapters;
mod case;
mod crowd;
mod link;
mod measure;
mod peer;
mod row;
mod table;

use crate::adapters::Library;
use crate::case::{CASES, Case};
use crate::row::Row;
use anyhow::Context;
use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};

/// Measures what replicating a crowd costs, with foretell and with other libraries.
#[derive(Parser)]
struct Options {
    /// Where the rows go, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// A document into which the tables go, between its lines "<!-- tables -->" and "<!-- end of tables -->"; they are printed, too.
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// Rows that were measured before, as JSON: they are printed as tables, and nothing is measured.
    #[arg(long, conflicts_with_all = ["json", "peer", "case", "runs"])]
    from: Option<PathBuf>,
    /// Only libraries whose name contains this; may be given several times.
    #[arg(long)]
    peer: Vec<String>,
    /// Only cases whose name contains this, such as "1000 moving x 16"; may be given several times.
    #[arg(long)]
    case: Vec<String>,
    /// How often each is measured, one library after the other; what is told is the median.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let rows = match &options.from {
        Some(path) => serde_json::from_slice(&fs::read(path).with_context(|| path.display().to_string())?)?,
        None => measured(&options)?,
    };
    let tables = table::markdown(&rows);
    print!("{tables}");
    match &options.markdown {
        Some(path) => put_into(path, &tables).with_context(|| path.display().to_string()),
        None => Ok(()),
    }
}

fn put_into(path: &Path, tables: &str) -> anyhow::Result<()> {
    let document = fs::read_to_string(path)?;
    let document =
        table::replaced(&document, tables).context("it has no lines that say where the tables begin and end")?;
    Ok(fs::write(path, document)?)
}

/// Measures what was asked for. What is there stands in the file after each case, so that nothing is lost when it is stopped.
fn measured(options: &Options) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| is_asked(&options.case, &case.to_string())) {
        rows.extend(of_case(case, options));
        if let Some(path) = &options.json {
            let text = serde_json::to_string_pretty(&rows)? + "\n";
            fs::write(path, text).with_context(|| path.display().to_string())?;
        }
    }
    Ok(rows)
}

/// The libraries take turns, so that what else the machine does falls on all of them.
fn of_case(case: &Case, options: &Options) -> Vec<Row> {
    let asked = Library::ALL.into_iter().filter(|library| is_asked(&options.peer, library.name()));
    let mut runs: Vec<_> = asked.filter(|library| library.plays(case)).map(|library| (library, Vec::new())).collect();
    for nth in 1..=options.runs {
        for (library, measured) in &mut runs {
            eprintln!("{case}, run {nth} of {}: {}", options.runs, library.name());
            measured.push(measure::measure(case, library.start(case)));
        }
    }
    runs.iter().map(|(library, runs)| Row::new(*library, case, runs)).collect()
}

fn is_asked(wanted: &[String], name: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|part| name.contains(part))
}
