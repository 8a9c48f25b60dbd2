//! The documents keep up with the code: the files, types and functions that they name exist, and what the code cites is
//! explained.

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

/// All documents: those in the root, and the guides in `docs/`.
fn documents() -> Vec<String> {
    let is_guide = |path: &String| path.starts_with("docs/") && path.ends_with(".md");
    DOCUMENTS.into_iter().map(str::to_owned).chain(all_files().into_iter().filter(is_guide)).collect()
}

#[test]
fn design_is_short_enough_to_be_read_twice() {
    let bytes = read("DESIGN.md").len();
    assert!(bytes <= 25_000, "{bytes} bytes: what explains one file stands in that file, figures stand in docs/");
}

#[test]
fn the_protocol_is_described_in_the_version_that_the_code_speaks() {
    let code = read("crates/foretell/src/session/datagram.rs");
    let constant = code.split("PROTOCOL_VERSION: u8 = ").nth(1).expect("it stands there");
    let version = constant.split(';').next().expect("a number");
    let document = read("PROTOCOL.md");
    for said in [format!("\nVersion {version}. "), format!("\n| version | {version}. ")] {
        assert!(document.contains(&said), "{said:?}");
    }
}

#[test]
fn every_link_between_documents_leads_to_a_file() {
    for document in documents() {
        let folder = root().join(&document).parent().expect("a folder").to_owned();
        for link in read(&document).split("](").skip(1) {
            let target = link.split([')', '#']).next().expect("a first part");
            let is_elsewhere = target.is_empty() || target.starts_with("http");
            assert!(is_elsewhere || folder.join(target).exists(), "{document} links to {target}");
        }
    }
}

#[test]
fn every_file_that_the_documents_name_exists() {
    const ENDINGS: [&str; 5] = [".rs", ".md", ".toml", ".json", "/"];
    let files = all_files();
    let of_folders = ["vectors/README.md", "fuzz/README.md"].map(str::to_owned);
    for document in &documents().into_iter().chain(of_folders).collect::<Vec<_>>() {
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
fn every_type_and_function_that_the_documents_name_exists() {
    // Lints are named in the workspace's manifest, features in that of Rapier.
    const ELSEWHERE: [&str; 6] =
        ["disallowed_types", "disallowed_methods", "missing_docs", "golden", "parallel", "simd8"];
    let code = rust_code();
    let words: BTreeSet<_> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for document in &documents() {
        for name in quoted(document) {
            let is_name = |part: &str| part.chars().all(|c| c.is_alphanumeric() || c == '_') && !part.is_empty();
            if !name.split("::").all(is_name) {
                continue;
            }
            for part in name.split("::").filter(|part| part.len() > 3 && !part.starts_with(char::is_numeric)) {
                assert!(words.contains(part) || ELSEWHERE.contains(&part), "{document} names {name}");
            }
        }
    }
}

#[test]
fn every_reference_vector_stands_with_the_test_that_reads_it() {
    let readme = read("vectors/README.md");
    for path in all_files().iter().filter(|path| path.starts_with("vectors/") && path.ends_with(".json")) {
        let file = path.trim_start_matches("vectors/");
        let row = readme.lines().find(|line| line.contains(&format!("`{file}`")));
        let row = row.unwrap_or_else(|| panic!("{path} does not stand in vectors/README.md"));
        let mut readers = row.split('`').filter(|name| name.ends_with(".rs"));
        let reads = |reader: &str| read(reader).contains(file);
        assert!(file == "physics.json" || readers.any(reads), "{path} is read by none of those that its row names");
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
    for document in &documents() {
        for number in cited(&read(document)) {
            assert!(explained.contains(&number), "{document} cites {number}");
        }
    }
}

/// The tests of the code that run without being asked for.
fn tests() -> BTreeSet<String> {
    let code = rust_code();
    let mut lines = code.lines().map(str::trim).peekable();
    let mut found = BTreeSet::new();
    while let Some(line) = lines.next() {
        if line != "#[test]" && !line.starts_with("#[tokio::test") {
            continue;
        }
        let attributes: Vec<_> = core::iter::from_fn(|| lines.next_if(|line| line.starts_with("#["))).collect();
        let name = lines.next().and_then(|line| line.split_once("fn ")?.1.split(['(', '<']).next());
        let on_demand = attributes.iter().any(|attribute| attribute.starts_with("#[ignore"));
        found.extend(name.filter(|_| !on_demand).map(str::to_owned));
    }
    found
}

/// What a cell names as proof: tests in backticks, and scenes of the lab as `scene *name*`.
fn proofs(cell: &str) -> (Vec<&str>, Vec<&str>) {
    let tests = cell.split('`').skip(1).step_by(2).collect();
    let scenes = cell.split("scene *").skip(1).filter_map(|rest| rest.split('*').next()).collect();
    (tests, scenes)
}

/// The rows of a text's tables: the number in the first cell, and the last cell.
fn rows(text: &str) -> Vec<(String, &str)> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'));
    let cells = rows.map(|row| (row.split('|').next().expect("a first cell"), row.rsplit('|').next().expect("a last")));
    cells.filter_map(|(first, last)| Some((cited(first).into_iter().next()?, last))).collect()
}

#[test]
fn every_requirement_names_the_test_or_the_scene_that_shows_it_or_is_not_built_yet() {
    let sources = read("SOURCES.md");
    let (before, rest) = sources.split_once("\n## Not built yet\n").expect("the list of what is not built");
    let (waiting, after) = rest.split_once("\n## ").expect("more follows");
    let lab: String =
        all_files().iter().filter(|path| path.starts_with("app/lab/src/")).map(|path| read(path)).collect();
    let tests = tests();
    let shown: Vec<_> = rows(before).into_iter().chain(rows(after)).collect();
    let waits: BTreeSet<_> = rows(waiting).into_iter().map(|(number, _)| number).collect();
    let all = [('Q', 20), ('R', 26), ('P', 11), ('F', 8)];
    let all = all.into_iter().flat_map(|(key, last)| (1..=last).map(move |nth| format!("{key}{nth}")));
    let mut count = 0;
    for number in all {
        count += 1;
        let cells: Vec<_> = shown.iter().filter(|(of, _)| *of == number).map(|(_, cell)| *cell).collect();
        if waits.contains(&number) {
            assert!(cells.is_empty(), "{number} has a row, and stands among what is not built yet");
            continue;
        }
        assert!(!cells.is_empty(), "{number} is neither explained nor among what is not built yet");
        for cell in cells {
            let (named, scenes) = proofs(cell);
            assert!(!named.is_empty() || !scenes.is_empty(), "{number} names neither a test nor a scene");
            let unknown = named.into_iter().find(|test| !tests.contains(*test));
            assert_eq!(unknown, None, "{number} names what is no test, or none that runs by itself");
            let unknown = scenes.into_iter().find(|scene| !lab.contains(&format!("\"{scene}\"")));
            assert_eq!(unknown, None, "{number} names what is no scene");
        }
    }
    let said = format!("{} lines of Q, R, P and F wait, of {count}.", waits.len());
    assert!(waiting.contains(&said), "it is to say: {said}");
}
