//! The shape of the crate: modules import one way, files stay small, and the pure crate does no I/O.

use std::fs;
use std::path::{Path, PathBuf};

/// Which modules each module may import from (ARCHITECTURE: `time -> {motion, wire, netsim}`, `motion -> rollback`,
/// `rollback + wire -> session -> harness`).
const MAY_IMPORT: [(&str, &[&str]); 10] = [
    ("math", &[]),
    ("time", &[]),
    ("motion", &["math", "time"]),
    ("wire", &["time"]),
    ("netsim", &["math", "time"]),
    ("rollback", &["math", "motion", "time"]),
    ("validation", &["math", "motion", "time"]),
    ("timestamped", &["motion", "rollback", "time", "validation", "wire"]),
    ("session", &["math", "motion", "rollback", "time", "validation", "wire"]),
    ("harness", &["math", "motion", "netsim", "rollback", "session", "time", "wire"]),
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

fn all_sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).expect("UTF-8"));
    let found: Vec<_> = sources(&root).into_iter().map(read).collect();
    assert!(found.len() > 30, "the sources are found");
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
        let inside = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("inside");
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

#[test]
fn the_pure_crate_does_no_io_and_reads_no_clock() {
    const ABSENT: [&str; 8] =
        ["std::net", "std::fs", "std::env", "std::io", "std::process", "std::thread", "SystemTime", "std::time"];
    for (path, source) in all_sources() {
        for absent in ABSENT {
            assert!(!source.contains(absent), "{} mentions {absent}", path.display());
        }
    }
}

#[test]
fn the_smallest_whole_game_takes_at_most_100_lines() {
    let example = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/arena.rs")).expect("UTF-8");
    assert!(example.lines().count() <= 100);
}
