//! Runs plans headless on virtual time, and tells what was measured.
//!
//! [`run`] takes [`SweepOptions`] and returns what does not meet its threshold. It and `files.rs` read and write; what is run
//! and how it is measured is in the modules, which do neither.
#![forbid(unsafe_code)]

mod arrivals;
mod charts;
mod comparison;
mod curves;
mod files;
mod flight_recordings;
mod jobs;
mod observer;
mod options;
mod report;
mod row;
mod samples;
mod simulate;
mod summary;
mod table;

pub use options::SweepOptions;
pub use row::Violation;

use anyhow::Context;
use flight_recordings::FlightRecordings;
use foretell_plan::Plan;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use row::Row;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// The file that `--json` writes.
#[derive(Serialize)]
struct Json<'a> {
    rows: &'a [Row],
}

/// Runs a sweep, and writes its table as text to `out`. Returns what does not meet its threshold.
///
/// # Errors
/// When nothing was measured, as a plan can't be read, or what was can't be written.
pub fn run(options: &SweepOptions, out: &mut dyn Write) -> anyhow::Result<Vec<Violation>> {
    if let Some(file) = &options.curves {
        files::check(file)?;
        return files::write(file, curves::markdown(options.quick)).map(|()| Vec::new());
    }
    let mut plans = files::load(&options.plans)?;
    files::check_targets(options)?;
    if options.quick {
        plans = plans.into_iter().map(Plan::quick).collect();
    }
    let rows = run_all(&plans);
    let violations: Vec<_> = rows.iter().flat_map(|(plan, row)| row.violations(&plans[*plan])).collect();
    // Where nobody reads to the end, as with `| head`, the files and the violations still count.
    let _ = out.write_all(table::text(&plans, &rows).as_bytes());
    if let Some(file) = &options.json {
        files::write(file, json(&rows)?)?;
    }
    if let Some(file) = &options.report {
        files::write(file, report::html(&plans, &rows, &violations))?;
    }
    if let Some(file) = &options.compare {
        let (ours, theirs) = (comparison::markdown(&plans, &rows), arrivals::markdown(&plans, &rows));
        files::write(file, format!("{ours}\n{theirs}"))?;
    }
    if let Some(directory) = &options.record {
        record(directory, &plans)?;
    }
    Ok(violations)
}

/// Runs the first row once more, with recorders; recording changes nothing.
fn record(directory: &Path, plans: &[Plan]) -> anyhow::Result<()> {
    let jobs = jobs::of(plans);
    let first = jobs.first().context("there is no row to be recorded")?;
    let mut recordings = FlightRecordings::default();
    first.run(plans, &mut |simulation| recordings.attach(simulation));
    files::make_directory(directory)?;
    recordings.files().iter().try_for_each(|(name, bytes)| files::write(&directory.join(name), bytes))
}

/// Runs every row of every plan, with a bar on standard error if that is a terminal. With the index of its plan.
fn run_all(plans: &[Plan]) -> Vec<(usize, Row)> {
    let jobs = jobs::of(plans);
    let bar = ProgressBar::with_draw_target(Some(jobs.len() as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} rows, {eta} left  {msg}");
    bar.set_style(style.expect("the template is well-formed"));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = jobs::run(plans, &jobs, threads, |row| {
        bar.set_message(row.plan.clone());
        bar.inc(1);
    });
    bar.finish_and_clear();
    jobs.iter().map(|job| job.plan).zip(rows).collect()
}

fn json(rows: &[(usize, Row)]) -> anyhow::Result<String> {
    let rows: Vec<_> = rows.iter().map(|(_, row)| row.clone()).collect();
    let mut text = serde_json::to_string_pretty(&Json { rows: &rows })?;
    text.push('\n');
    Ok(text)
}
