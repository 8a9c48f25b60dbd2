//! What a sweep reads and writes: plans, and the files that were asked for.

use super::flight_recordings;
use super::options::SweepOptions;
use anyhow::Context;
use foretell_plan::Plan;
use std::path::{Path, PathBuf};

/// The plans that are asked for. Of what is wrong with several files, all is told.
pub fn load(asked: &[PathBuf]) -> anyhow::Result<Vec<Plan>> {
    if asked.is_empty() {
        return Ok(foretell_plan::presets());
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
    let mut embedded = foretell_plan::presets();
    if let Some(index) = embedded.iter().position(|plan| Path::new(&plan.name) == asked) {
        return Ok(embedded.swap_remove(index));
    }
    let text = std::fs::read_to_string(asked).with_context(|| {
        let names: Vec<_> = embedded.iter().map(|plan| plan.name.as_str()).collect();
        format!("{} is neither a plan file nor one of {}", asked.display(), names.join(", "))
    })?;
    Ok(foretell_plan::read(&asked.display().to_string(), &text)?)
}

/// Looks whether everything that is asked for can be written, before what takes long is begun.
pub fn check_targets(options: &SweepOptions) -> anyhow::Result<()> {
    for file in [&options.json, &options.report, &options.compare].into_iter().flatten() {
        check(file)?;
    }
    let Some(directory) = &options.record else { return Ok(()) };
    make_directory(directory)?;
    check(&directory.join(flight_recordings::SERVER))
}

/// Whether a file can be written. What stands in it stays, and one that is not there does not come into being.
pub fn check(file: &Path) -> anyhow::Result<()> {
    let is_new = !file.exists();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
    opened.with_context(|| format!("{} can't be written", file.display()))?;
    if is_new {
        std::fs::remove_file(file).with_context(|| format!("{} can't be written", file.display()))?;
    }
    Ok(())
}

pub fn make_directory(directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("{} can't be made", directory.display()))
}

pub fn write(file: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    std::fs::write(file, bytes).with_context(|| format!("{} can't be written", file.display()))
}
