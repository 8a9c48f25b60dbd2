//! Games in Bevy, as pages.

use crate::web::{TARGET, glue, target_folder};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A game that runs in a page.
pub struct Game {
    /// The folder of its workspace.
    folder: &'static str,
    page: &'static str,
    /// What cargo is asked to build, and where in the folder of the target that lies.
    build: &'static [&'static str],
    module: &'static str,
    /// What the page calls it.
    name: &'static str,
    /// Its part of cargo's target folder.
    target: &'static str,
}

pub const ARENA: Game = Game {
    folder: "rim/bevy_foretell/arena",
    page: "page/index.html",
    build: &["--profile", "wasm"],
    module: "wasm/bevy-arena.wasm",
    name: "bevy_arena",
    target: "bevy-arena",
};

pub const CUBE: Game = Game {
    folder: "rim/bevy_foretell",
    page: "examples/cube.html",
    build: &["--release", "--example", "cube"],
    module: "release/examples/cube.wasm",
    name: "cube",
    target: "bevy",
};

impl Game {
    /// Builds the page into `page/` of the game's part of cargo's target folder. Any server of files serves it.
    pub fn build(&self) -> Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("this package has a folder above it")?;
        let (folder, target) = (root.join(self.folder), target_folder()?);
        let page = target.join(self.target).join("page");
        fs::create_dir_all(&page).with_context(|| format!("{} can't be made", page.display()))?;
        let module = self.compile(&folder, &target.join(self.target))?;
        glue(root, &target, &[module.as_os_str(), self.name.as_ref(), page.as_os_str()])?;
        fs::copy(folder.join(self.page), page.join("index.html")).context("the page can't be copied")?;
        println!("{}", page.display());
        Ok(())
    }

    /// The module, by the compiler that the game's folder asks for.
    fn compile(&self, folder: &Path, target: &Path) -> Result<PathBuf> {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(folder).args(["build", "--locked", "--target", TARGET]).args(self.build);
        cargo.arg("--target-dir").arg(target);
        // What runs this program has chosen a compiler for itself.
        cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO_TARGET_DIR");
        ensure!(cargo.status().context("cargo can't be started")?.success(), "the game does not compile");
        Ok(target.join(TARGET).join(self.module))
    }
}
