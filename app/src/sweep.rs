//! `foretell sweep`: plans run on virtual time, with a code for CI.

use foretell_sweep::{SweepOptions, Violation};
use std::path::PathBuf;
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
    /// Write what each network costs as a table in Markdown, and as another what a server that is stepped by arriving inputs
    /// would have cost.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Run no plan, but every curve by which others can be shown, and write how well each shows them as tables in Markdown.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plans", "json", "report", "compare", "record"])]
    curves: Option<PathBuf>,
    /// Write flight recordings of the first row into this directory: of its server and of each client.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

impl From<SweepArgs> for SweepOptions {
    fn from(args: SweepArgs) -> SweepOptions {
        let SweepArgs { plans, quick, json, report, compare, curves, record } = args;
        SweepOptions { plans, quick, json, report, compare, curves, record }
    }
}

/// Runs a sweep. The code is 1 where a threshold is not met; 2 when nothing was measured, as a plan can't be read, or
/// what was can't be written.
pub fn run(args: SweepArgs) -> ExitCode {
    match foretell_sweep::run(&args.into(), &mut std::io::stdout()) {
        Ok(violations) => tell(&violations),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
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
