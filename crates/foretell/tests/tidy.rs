//! The shape of the crates in `crates/`: the core's modules import one way, files stay small, and the pure crates have no standard library.

use std::fs;
use std::path::{Path, PathBuf};

/// Which modules each module of the core may import from (ARCHITECTURE: `time -> {motion, wire}`,
/// `motion -> world -> rollback`, `rollback + wire -> session`).
const MAY_IMPORT: [(&str, &[&str]); 9] = [
    ("derive_support", &["world"]),
    ("hits", &["math", "motion"]),
    ("math", &[]),
    ("time", &[]),
    ("motion", &["math", "time"]),
    ("wire", &["time"]),
    ("world", &["math", "motion", "time"]),
    ("rollback", &["math", "motion", "time", "world"]),
    ("session", &["math", "motion", "rollback", "time", "wire", "world"]),
];

const LINES_MAX: usize = 400;

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("a file of the crate").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The sources of the crates of `crates/`, each by its path from there.
fn all_sources() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for name in ["foretell", "foretell-articles", "foretell-derive", "foretell-sim"] {
        let all = sources(&crates.join(name).join("src"));
        assert!(all.len() > 3, "the sources of {name} are found");
        let inside = |path: &Path| path.strip_prefix(&crates).expect("inside").to_owned();
        found.extend(all.iter().map(|path| (inside(path), fs::read_to_string(path).expect("UTF-8"))));
    }
    found
}

/// The names of the crate's modules that a source mentions after `crate::`, but in comments.
fn mentioned(source: &str) -> Vec<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let after = code.flat_map(|line| line.split("crate::").skip(1));
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    after.map(name).filter(|name| MAY_IMPORT.iter().any(|(module, _)| module == name)).collect()
}

#[test]
fn modules_import_one_way() {
    for (path, source) in all_sources() {
        let Ok(inside) = path.strip_prefix("foretell/src") else { continue };
        let module = inside.iter().next().expect("a name").to_string_lossy().replace(".rs", "");
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == module) else {
            assert_eq!(module, "lib", "{module} has its place in MAY_IMPORT");
            continue;
        };
        for name in mentioned(&source) {
            let fits = name == module || allowed.contains(&name.as_str());
            assert!(fits, "{}: {module} must not import from {name}", path.display());
        }
    }
}

#[test]
fn files_have_one_job_and_fit_into_400_lines() {
    for (path, source) in all_sources() {
        let lines = source.lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines", path.display());
        assert!(source.starts_with("//!"), "{}: the first line says what its job is", path.display());
    }
}

/// So the compiler refuses sockets, files, threads and clocks.
#[test]
fn the_pure_crates_have_no_standard_library() {
    let all = all_sources();
    for name in ["foretell", "foretell-articles", "foretell-sim"] {
        let root = Path::new(name).join("src/lib.rs");
        let (_, source) = all.iter().find(|(path, _)| *path == root).expect("a crate has a root");
        assert!(source.contains("\n#![no_std]\n"), "{name}");
    }
    let linked = all.iter().find(|(_, source)| source.contains("extern crate std"));
    assert_eq!(linked.map(|(path, _)| path), None, "it is not brought back in");
}

#[test]
fn the_smallest_whole_game_takes_at_most_100_lines() {
    let example = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/arena.rs")).expect("UTF-8");
    assert!(example.lines().count() <= 100);
}
