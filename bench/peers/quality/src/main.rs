//! Measures how well prediction and interpolation do over bad links, with foretell and with lightyear: the same scene, the same
//! keys, the same blows, the same links.
//!
//! Everything runs on this thread, on virtual time and from a seed. `--json` writes a row per library and link, `--markdown` puts
//! tables of them into a document.

mod adapters;
mod case;
mod figures;
mod fit;
mod past;
mod peer;
mod row;
mod run;
mod scene;
mod script;
mod spread;
mod stops;
mod table;

use crate::adapters::Library;
use crate::case::Case;
use crate::figures::Figures;
use crate::row::Row;
use anyhow::Context;
use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};

/// Measures how well prediction and interpolation do over bad links, with foretell and with lightyear.
#[derive(Parser)]
struct Options {
    /// Where the rows go, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// A document into which the tables go, between its lines "<!-- tables -->" and "<!-- end of tables -->"; they are printed, too.
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// Rows that were measured before, as JSON: they are printed as tables, and nothing is measured.
    #[arg(long, conflicts_with_all = ["json", "peer", "link"])]
    from: Option<PathBuf>,
    /// Only libraries of this name, such as "foretell"; may be given several times.
    #[arg(long)]
    peer: Vec<String>,
    /// Only links of this name, such as "200 ms, jitter 20 ms"; may be given several times.
    #[arg(long)]
    link: Vec<String>,
    /// How long each is measured, in seconds of virtual time.
    #[arg(long, default_value_t = 180)]
    seconds: u32,
    /// What the keys, the blows and the links are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
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

/// Measures what was asked for. The file is written after each link, so that nothing is lost when it is stopped.
fn measured(options: &Options) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for case in Case::all().filter(|case| is_asked(&options.link, &case.to_string())) {
        let asked = Library::ALL.into_iter().filter(|library| is_asked(&options.peer, library.name()));
        rows.extend(asked.map(|library| measure(case, library, options)));
        if let Some(path) = &options.json {
            let text = serde_json::to_string_pretty(&rows)? + "\n";
            fs::write(path, text).with_context(|| path.display().to_string())?;
        }
    }
    Ok(rows)
}

fn measure(case: Case, library: Library, options: &Options) -> Row {
    eprintln!("{case}: {}", library.name());
    let recorded = run::run(case, options.seed, options.seconds, library.start(case));
    Row { peer: library.name().into(), case, figures: Figures::of(&recorded) }
}

fn is_asked(wanted: &[String], name: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|one| one == name)
}
