//! Measures what a crowd costs: processor time, bytes, and the age of what is shown.
//!
//! [`run`] takes [`CrowdOptions`], plays a whole session on virtual time and tells what it came to. It alone writes. Times are
//! those of the processor; everything else is a function of the options. How time is taken is there for others too:
//! `bench/peers` measures other libraries with it.
#![forbid(unsafe_code)]

mod ages;
mod cpu;
mod figures;
mod joiner;
mod measure;
mod options;
mod session;
mod table;
mod timed;

pub use cpu::Spent;
pub use figures::Figures;
pub use options::CrowdOptions;

use anyhow::Context;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Measures a crowd, and writes its table to `out` and, where that is asked for, its figures as JSON.
///
/// # Errors
/// When the options can't be, or the file can't be written; the latter is found before anything is measured.
pub fn run(options: &CrowdOptions, json: Option<&Path>, out: &mut dyn Write) -> anyhow::Result<Figures> {
    options.check()?;
    let file = json.map(open).transpose()?;
    let figures = measure::measure(options);
    // Where nobody reads to the end, as with `| head`, the file still counts.
    let _ = out.write_all(table::text(&figures).as_bytes());
    if let (Some(file), Some(path)) = (file, json) {
        write(file, &figures).with_context(|| format!("{} can't be written", path.display()))?;
    }
    Ok(figures)
}

/// What stands in a file stays until there is something new to write.
fn open(path: &Path) -> anyhow::Result<File> {
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
    opened.with_context(|| format!("{} can't be written", path.display()))
}

fn write(mut file: File, figures: &Figures) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(figures)?;
    text.push('\n');
    file.set_len(0)?;
    Ok(file.write_all(text.as_bytes())?)
}
