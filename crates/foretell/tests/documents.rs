//! The documents in the root keep up with the code: what they name exists, and what the code cites is explained.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const DOCUMENTS: [&str; 7] =
    ["README.md", "ARCHITECTURE.md", "DESIGN.md", "PROTOCOL.md", "SOURCES.md", "GLOSSARY.md", "CHANGELOG.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text files of the project, each by its path from the root.
fn files(folder: &Path, found: &mut Vec<String>) {
    const OTHERS: [&str; 5] = ["target", ".git", "node_modules", "screenshots", "proptest-regressions"];
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("a file of the project").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && !OTHERS.contains(&name.as_str()) {
            files(&path, found);
        } else if path.is_file() {
            let from_root = path.strip_prefix(root()).expect("inside").to_string_lossy().replace('\\', "/");
            found.push(from_root);
        }
    }
}

fn all_files() -> Vec<String> {
    let mut found = Vec::new();
    files(&root(), &mut found);
    found.sort();
    found
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The code of the project, without comments and without this file, which names what it looks for.
fn rust_code() -> String {
    let paths = all_files();
    let sources = paths.iter().filter(|path| path.ends_with(".rs") && !path.ends_with("tests/documents.rs"));
    let code = |path: &String| -> String {
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        read(path).lines().filter(is_code).flat_map(|line| [line, "\n"]).collect()
    };
    sources.map(code).collect()
}

/// What a document says in backticks, outside of fenced blocks.
fn quoted(document: &str) -> Vec<String> {
    let text = read(document);
    let outside = text.split("```").step_by(2);
    outside.flat_map(|part| part.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn every_file_that_the_documents_name_exists() {
    const ENDINGS: [&str; 5] = [".rs", ".md", ".toml", ".json", "/"];
    let files = all_files();
    for document in DOCUMENTS {
        let named = quoted(document).into_iter().filter(|name| ENDINGS.iter().any(|end| name.ends_with(end)));
        let named: Vec<_> = named.filter(|name| !name.contains([' ', '*'])).collect();
        for name in named {
            let exists = files.iter().any(|path| {
                path == &name || path.ends_with(&format!("/{name}")) || format!("/{path}").contains(&format!("/{name}"))
            });
            assert!(exists, "{document} names {name}");
        }
    }
}

#[test]
fn every_test_type_and_function_that_the_documents_name_exists() {
    let code = rust_code();
    let words: BTreeSet<_> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for document in DOCUMENTS {
        for name in quoted(document) {
            let is_name = |part: &str| part.chars().all(|c| c.is_alphanumeric() || c == '_') && !part.is_empty();
            if !name.split("::").all(is_name) {
                continue;
            }
            for part in name.split("::").filter(|part| part.len() > 3 && !part.starts_with(char::is_numeric)) {
                // The names of lints stand in the workspace's manifest.
                let elsewhere = ["disallowed_types", "disallowed_methods", "missing_docs", "golden"];
                assert!(words.contains(part) || elsewhere.contains(&part), "{document} names {name}");
            }
        }
    }
}

/// The numbers of requirements in a text: `R14` and the like, standing alone.
fn cited(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(['Q', 'R', 'P', 'F', 'E', 'D']))
        .filter(|word| (2..=3).contains(&word.len()) && word[1..].chars().all(|c| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_requirement_that_is_cited_is_explained_in_the_sources() {
    let sources = read("SOURCES.md");
    let explained: BTreeSet<_> = sources
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .flat_map(|line| cited(line.split('|').next().expect("a first cell")))
        .collect();
    // In comments, and where the lab tells a person the source of a control.
    for path in all_files().iter().filter(|path| path.ends_with(".rs")) {
        let text = read(path);
        let citing = text.lines().filter_map(|line| line.split_once("//").or_else(|| line.split_once("source:")));
        for number in citing.flat_map(|(_, after)| cited(after)) {
            assert!(explained.contains(&number), "{path} cites {number}");
        }
    }
    for document in DOCUMENTS {
        for number in cited(&read(document)) {
            assert!(explained.contains(&number), "{document} cites {number}");
        }
    }
}
