//! The windowed game in Bevy, as a page.

use crate::web::{TARGET, copy, glue, target_folder};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the page into `bevy-arena/page/` of cargo's target folder. Any server of files serves it.
pub fn build() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("this package has a folder above it")?;
    let (arena, target) = (root.join("rim/bevy_foretell/arena"), target_folder()?);
    let page = target.join("bevy-arena/page");
    fs::create_dir_all(&page).with_context(|| format!("{} can't be made", page.display()))?;
    let module = compile(&arena, &target.join("bevy-arena"))?;
    glue(root, &target, &[module.as_os_str(), "bevy_arena".as_ref(), page.as_os_str()])?;
    copy(&arena.join("page/index.html"), &page)?;
    println!("{}", page.display());
    Ok(())
}

/// The module, by the compiler that the game's folder asks for.
fn compile(arena: &Path, target: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(arena).args(["build", "--locked", "--profile", "wasm", "--target", TARGET, "--target-dir"]);
    // What runs this program has chosen a compiler for itself.
    cargo.arg(target).env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO_TARGET_DIR");
    ensure!(cargo.status().context("cargo can't be started")?.success(), "the game does not compile");
    Ok(target.join(TARGET).join("wasm/bevy-arena.wasm"))
}
