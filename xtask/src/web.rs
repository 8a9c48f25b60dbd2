//! The page of `foretell serve`: a wasm module with its JavaScript for each game, and the page's own files, in one folder.

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// What the lab's page has as well.
const FROM_THE_LAB: [&str; 9] =
    ["element.js", "hall.js", "icon.svg", "input.js", "matrix.js", "projection.js", "room.js", "solids.js", "theme.js"];
/// The games, and the features of the module that has each.
const GAMES: [(&str, &[&str]); 2] = [("arena", &[]), ("pile", &["--features", "pile"])];

/// Builds the page into `web/` of cargo's target folder, where programs that were built there find it. Whoever reads it
/// meanwhile has the old one or the new one.
pub fn build() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("this package has a folder above it")?;
    let target = target_folder()?;
    let making = target.join(format!("web-{}", std::process::id()));
    fs::create_dir_all(&making).with_context(|| format!("{} can't be made", making.display()))?;
    let made = fill(&making, root, &target).and_then(|()| swap(&making, &target));
    if made.is_err() {
        let _ = fs::remove_dir_all(&making);
    }
    let bundle = made?;
    println!("{}", bundle.display());
    for (game, _) in GAMES {
        let module = fs::read(bundle.join(format!("foretell_{game}_bg.wasm")))?;
        println!("the module of the {game}: {} kB, {} kB with gzip", module.len() / 1000, gzipped(&module)? / 1000);
    }
    Ok(())
}

/// The folder of this program's own build: `TARGET/debug/xtask`.
fn target_folder() -> Result<PathBuf> {
    let program = std::env::current_exe().context("this program has no path")?;
    let folder = program.parent().and_then(Path::parent).context("this program is not where cargo builds it")?;
    Ok(folder.to_owned())
}

/// The module of the game with these features.
fn compile(root: &Path, target: &Path, features: &[&str]) -> Result<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root).args([
        "build",
        "--quiet",
        "--package",
        "foretell-web",
        "--profile",
        "web",
        "--target",
        TARGET,
    ]);
    cargo.args(features);
    cargo.env("CARGO_TARGET_DIR", target).env("RUSTFLAGS", "-C target-feature=+simd128");
    if !has_std()? {
        // The features of nightly are those of this compiler: it is asked to allow them.
        cargo.args(["-Z", "build-std=std,panic_abort"]).env("RUSTC_BOOTSTRAP", "1");
    }
    ensure!(cargo.status().context("cargo can't be started")?.success(), "the page's module does not compile");
    Ok(target.join(TARGET).join("web/foretell_web.wasm"))
}

/// Whether the compiler has a standard library for WebAssembly, or gets one; if not, it has the source of one.
fn has_std() -> Result<bool> {
    let rustc = Command::new("rustc").args(["--print", "sysroot"]).output().context("rustc can't be started")?;
    let sysroot = PathBuf::from(String::from_utf8(rustc.stdout)?.trim());
    let installed = || sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir();
    if installed() {
        return Ok(true);
    }
    let added = Command::new("rustup").args(["--quiet", "target", "add", TARGET]).status();
    if added.is_ok_and(|status| status.success()) && installed() {
        return Ok(true);
    }
    if sysroot.join("lib/rustlib/src/rust/library/Cargo.lock").is_file() {
        return Ok(false);
    }
    bail!(
        "the compiler in {} has no standard library for WebAssembly: `rustup target add {TARGET}` installs it, or \
         `rustup component add rust-src` what it is built from",
        sysroot.display()
    )
}

/// Writes a module's JavaScript by a program that is compiled for this alone.
fn glue(root: &Path, target: &Path, arguments: &[&OsStr]) -> Result<()> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root).args(["run", "--quiet", "--locked", "--manifest-path", "xtask/glue/Cargo.toml", "--"]);
    cargo.args(arguments).env("CARGO_TARGET_DIR", target);
    ensure!(cargo.status().context("cargo can't be started")?.success(), "the module's JavaScript can't be written");
    Ok(())
}

fn fill(folder: &Path, root: &Path, target: &Path) -> Result<()> {
    for (game, features) in GAMES {
        let module = compile(root, target, features)?;
        glue(root, target, &[module.as_os_str(), format!("foretell_{game}").as_ref(), folder.as_os_str()])?;
    }
    for entry in fs::read_dir(root.join("web/page"))? {
        let file = entry?.path();
        copy(&file, folder)?;
    }
    FROM_THE_LAB.iter().try_for_each(|name| copy(&root.join("app/src/lab/page").join(name), folder))
}

fn copy(file: &Path, into: &Path) -> Result<()> {
    let name = file.file_name().context("a file has a name")?;
    fs::copy(file, into.join(name)).with_context(|| format!("{} can't be copied", file.display()))?;
    Ok(())
}

/// Puts the new folder into the place of the old one.
fn swap(making: &Path, target: &Path) -> Result<PathBuf> {
    let (bundle, old) = (target.join("web"), target.join("web-old"));
    let _ = fs::remove_dir_all(&old);
    if bundle.exists() {
        fs::rename(&bundle, &old).with_context(|| format!("{} can't be moved", bundle.display()))?;
    }
    fs::rename(making, &bundle).with_context(|| format!("{} can't be moved", making.display()))?;
    let _ = fs::remove_dir_all(&old);
    Ok(bundle)
}

fn gzipped(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}
