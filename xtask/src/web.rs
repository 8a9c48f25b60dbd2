//! The page of `foretell serve`: a wasm module with its JavaScript for each game, and the page's own files, in one folder.

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const TARGET: &str = "wasm32-unknown-unknown";
/// What the lab's page has as well.
const FROM_THE_LAB: [&str; 9] =
    ["element.js", "hall.js", "icon.svg", "input.js", "matrix.js", "projection.js", "room.js", "solids.js", "theme.js"];
/// The games, and the features of the module that has each.
const GAMES: [(&str, &[&str]); 2] = [("arena", &[]), ("pile", &["--features", "pile"])];

/// Builds the page into `web/` of cargo's target folder, where programs that were built there find it. Whoever reads it
/// meanwhile has the old one or the new one; a second one that builds it waits for the first.
pub fn build() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("this package has a folder above it")?;
    let target = target_folder()?;
    let bundle = replace(&target, |making| fill(making, root, &target))?;
    println!("{}", bundle.display());
    for (game, _) in GAMES {
        let module = fs::read(bundle.join(format!("foretell_{game}_bg.wasm")))?;
        println!("the module of the {game}: {} kB, {} kB with gzip", module.len() / 1000, gzipped(&module)? / 1000);
    }
    Ok(())
}

/// Makes a new `web/` in this folder and puts it into the place of the old one, alone at a time: the modules of all games are
/// compiled to one file, too.
fn replace(target: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let lock = File::create(target.join("web.lock")).context("the target folder can't be written")?;
    if let Err(TryLockError::WouldBlock) = lock.try_lock() {
        tell("another one builds the page: waiting for it");
        lock.lock().context("the target folder can't be locked")?;
    }
    let making = target.join("web-new");
    // Who was killed has left it half done.
    let _ = fs::remove_dir_all(&making);
    fs::create_dir(&making).with_context(|| format!("{} can't be made", making.display()))?;
    fill(&making)?;
    swap(&making, target)
}

/// Says what is done now.
fn tell(what: &str) {
    eprintln!("xtask web: {what}");
}

/// The folder of this program's own build: `TARGET/debug/xtask`.
pub fn target_folder() -> Result<PathBuf> {
    let program = std::env::current_exe().context("this program has no path")?;
    let folder = program.parent().and_then(Path::parent).context("this program is not where cargo builds it")?;
    Ok(folder.to_owned())
}

/// The module of the game with these features.
fn compile(root: &Path, target: &Path, features: &[&str]) -> Result<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root).args(["build", "--package", "foretell-web", "--profile", "wasm", "--target", TARGET]);
    cargo.args(features);
    cargo.env("CARGO_TARGET_DIR", target).env("RUSTFLAGS", "-C target-feature=+simd128");
    if !has_std()? {
        // The features of nightly are those of this compiler: it is asked to allow them.
        cargo.args(["-Z", "build-std=std,panic_abort"]).env("RUSTC_BOOTSTRAP", "1");
    }
    ensure!(cargo.status().context("cargo can't be started")?.success(), "the page's module does not compile");
    Ok(target.join(TARGET).join("wasm/foretell_web.wasm"))
}

/// Whether the compiler has a standard library for WebAssembly, or gets one; if not, it has the source of one.
fn has_std() -> Result<bool> {
    let rustc = Command::new("rustc").args(["--print", "sysroot"]).output().context("rustc can't be started")?;
    let sysroot = PathBuf::from(String::from_utf8(rustc.stdout)?.trim());
    let installed = || sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir();
    if installed() {
        return Ok(true);
    }
    tell("installing the standard library for WebAssembly");
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
pub fn glue(root: &Path, target: &Path, arguments: &[&OsStr]) -> Result<()> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root).args(["run", "--locked", "--manifest-path", "xtask/glue/Cargo.toml", "--"]);
    cargo.args(arguments).env("CARGO_TARGET_DIR", target);
    ensure!(cargo.status().context("cargo can't be started")?.success(), "the module's JavaScript can't be written");
    Ok(())
}

fn fill(folder: &Path, root: &Path, target: &Path) -> Result<()> {
    for (game, features) in GAMES {
        tell(&format!("compiling the module of the {game}; all of it for the first time takes some minutes"));
        let module = compile(root, target, features)?;
        tell(&format!("writing the JavaScript of the {game}"));
        glue(root, target, &[module.as_os_str(), format!("foretell_{game}").as_ref(), folder.as_os_str()])?;
    }
    for entry in fs::read_dir(root.join("web/page"))? {
        let file = entry?.path();
        copy(&file, folder)?;
    }
    FROM_THE_LAB.iter().try_for_each(|name| copy(&root.join("app/lab/src/page").join(name), folder))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn two_that_build_the_page_at_once_do_so_one_after_the_other_and_what_a_killed_one_has_left_is_gone() {
        let target = std::env::temp_dir().join(format!("foretell-xtask-{}", std::process::id()));
        fs::create_dir_all(target.join("web-new/left")).expect("writable");
        let busy = AtomicBool::new(false);
        let build = |name: &str| {
            replace(&target, |making| {
                assert!(!busy.swap(true, SeqCst), "one at a time");
                assert_eq!(fs::read_dir(making)?.count(), 0);
                fs::write(making.join("index.html"), name)?;
                thread::sleep(Duration::from_millis(100));
                busy.store(false, SeqCst);
                Ok(())
            })
        };
        thread::scope(|scope| {
            for result in ["one", "two", "three"].map(|name| scope.spawn(move || build(name))) {
                assert_eq!(result.join().expect("no panic").expect("built"), target.join("web"));
            }
        });
        assert!(replace(&target, |_| bail!("it does not compile")).is_err());
        let page = fs::read_to_string(target.join("web/index.html")).expect("the last that was whole");
        assert!(["one", "two", "three"].contains(&page.as_str()));
        fs::remove_dir_all(&target).expect("removable");
    }
}
