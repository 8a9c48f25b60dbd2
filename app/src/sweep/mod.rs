//! `foretell sweep`: runs plans headless on virtual time, and tells what was measured.
//!
//! This file reads and writes; what is run and how it is measured is in the modules, which do neither.

pub mod bots;
mod charts;
mod compare;
pub mod curves;
pub mod figures;
mod flights;
mod jobs;
pub mod path;
mod report;
mod row;
mod table;
mod watch;

use crate::plan::{self, Plan};
use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use row::{Row, Violation};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How many violations are told one by one; the report names all.
const TOLD_MAX: usize = 25;

/// The arguments of `foretell sweep`.
#[derive(clap::Args)]
pub struct SweepArgs {
    /// Plan files, or names of the plans that are built in. Default: all that are built in.
    plans: Vec<PathBuf>,
    /// A short run for CI: the first seed of each plan; of curves the first seed and a tenth of the time.
    #[arg(long)]
    quick: bool,
    /// Write every row as JSON. The same plans and seeds give the same bytes.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a table and charts as one HTML file that needs nothing from the network.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Run each plan with the clock that other libraries use as well, and write what either costs as a table in Markdown.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Run no plan, but every curve by which others can be shown, and write how well each shows them as tables in Markdown.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plans", "json", "report", "compare", "record"])]
    curves: Option<PathBuf>,
    /// Write flight recordings of the first row into this directory: of its server and of each client.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

/// The file that `--json` writes.
#[derive(Serialize)]
struct Json<'a> {
    rows: &'a [Row],
}

/// Runs a sweep. The code is 1 where a threshold is not met; 2 when nothing was measured, as a plan can't be read, or
/// what was can't be written.
pub fn run(args: &SweepArgs) -> ExitCode {
    match sweep(args) {
        Ok(violations) => tell(&violations),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn sweep(args: &SweepArgs) -> anyhow::Result<Vec<Violation>> {
    if let Some(file) = &args.curves {
        check_file(file)?;
        return write(file, curves::markdown(args.quick)).map(|()| Vec::new());
    }
    let mut plans = load(&args.plans)?;
    check_targets(args)?;
    if args.quick {
        plans = plans.into_iter().map(Plan::quick).collect();
    }
    if args.compare.is_some() {
        plans = plans.into_iter().flat_map(|plan| [plan.clone(), plan.open_loop()]).collect();
    }
    let rows = run_all(&plans);
    let violations: Vec<_> = rows.iter().flat_map(|(plan, row)| row.violations(&plans[*plan])).collect();
    // Where nobody reads to the end, as with `| head`, the files and the code still count.
    let _ = std::io::stdout().write_all(table::text(&plans, &rows).as_bytes());
    if let Some(file) = &args.json {
        write(file, json(&rows)?)?;
    }
    if let Some(file) = &args.report {
        write(file, report::html(&plans, &rows, &violations))?;
    }
    if let Some(file) = &args.compare {
        write(file, compare::markdown(&plans, &rows))?;
    }
    if let Some(directory) = &args.record {
        record(directory, &plans)?;
    }
    Ok(violations)
}

/// Runs the first row once more, with recorders; recording changes nothing.
fn record(directory: &Path, plans: &[Plan]) -> anyhow::Result<()> {
    let jobs = jobs::of(plans);
    let first = jobs.first().context("there is no row to be recorded")?;
    let mut flights = flights::Flights::default();
    first.run(plans, &mut |simulation| flights.attach(simulation));
    make_directory(directory)?;
    flights.files().iter().try_for_each(|(name, bytes)| write(&directory.join(name), bytes))
}

/// Looks whether everything that is asked for can be written, before what takes long is begun.
fn check_targets(args: &SweepArgs) -> anyhow::Result<()> {
    for file in [&args.json, &args.report, &args.compare].into_iter().flatten() {
        check_file(file)?;
    }
    let Some(directory) = &args.record else { return Ok(()) };
    make_directory(directory)?;
    check_file(&directory.join(flights::SERVER))
}

/// Whether a file can be written. What stands in it stays, and one that is not there does not come into being.
fn check_file(file: &Path) -> anyhow::Result<()> {
    let is_new = !file.exists();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
    opened.with_context(|| format!("{} can't be written", file.display()))?;
    if is_new {
        std::fs::remove_file(file).with_context(|| format!("{} can't be written", file.display()))?;
    }
    Ok(())
}

fn make_directory(directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("{} can't be made", directory.display()))
}

fn write(file: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    std::fs::write(file, bytes).with_context(|| format!("{} can't be written", file.display()))
}

fn tell(violations: &[Violation]) -> ExitCode {
    for Violation { row, what } in violations.iter().take(TOLD_MAX) {
        eprintln!("not met: {row}: {what}");
    }
    if violations.len() > TOLD_MAX {
        eprintln!("not met: and {} more", violations.len() - TOLD_MAX);
    }
    match violations.len() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    }
}

/// The plans that are asked for. Of what is wrong with several files, all is told.
fn load(asked: &[PathBuf]) -> anyhow::Result<Vec<Plan>> {
    if asked.is_empty() {
        return Ok(plan::presets());
    }
    let (mut plans, mut wrong) = (Vec::new(), Vec::new());
    for asked in asked {
        match load_one(asked) {
            Ok(plan) => plans.push(plan),
            Err(error) => wrong.push(format!("{error:#}")),
        }
    }
    if wrong.is_empty() { Ok(plans) } else { Err(anyhow::anyhow!(wrong.join("\nerror: "))) }
}

fn load_one(asked: &Path) -> anyhow::Result<Plan> {
    let mut embedded = plan::presets();
    if let Some(index) = embedded.iter().position(|plan| Path::new(&plan.name) == asked) {
        return Ok(embedded.swap_remove(index));
    }
    let text = std::fs::read_to_string(asked).with_context(|| {
        let names: Vec<_> = embedded.iter().map(|plan| plan.name.as_str()).collect();
        format!("{} is neither a plan file nor one of {}", asked.display(), names.join(", "))
    })?;
    Ok(Plan::read(&asked.display().to_string(), &text)?)
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
