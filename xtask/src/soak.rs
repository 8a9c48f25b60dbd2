//! What the tests look at, with other seeds, for as long as one likes: properties, scenarios with their faults, and datagrams
//! at both ends of a session. Each failure is printed with what to paste to see it again.

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How much of each a round looks at, beside all properties.
const SCENARIOS: u64 = 200;
const FUZZ_RUNS: u64 = 2000;

/// Rounds with consecutive seeds, the first of them from the clock, for `minutes` minutes; a round that has begun is finished.
pub fn run(minutes: u64) -> Result<()> {
    let until = Instant::now() + Duration::from_secs(60 * minutes);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).context("it is before 1970")?;
    let first = since.as_secs();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("this package has a folder above it")?;
    let properties = properties(root)?;
    let mut failures = Vec::new();
    let mut seed = first;
    while seed == first || Instant::now() < until {
        let before = failures.len();
        for round in rounds(seed, &properties) {
            failures.extend(round.look(root)?);
        }
        println!("seed {seed}: {} failures", failures.len() - before);
        seed += 1;
    }
    println!("{} seeds, {} failures", seed - first, failures.len());
    failures.iter().for_each(|again| println!("{again}"));
    ensure!(failures.is_empty(), "what failed stands above, with what to paste");
    Ok(())
}

/// One command of a round.
struct Round {
    seed: u64,
    arguments: Vec<String>,
}

/// Everything that is looked at with a seed.
fn rounds(seed: u64, properties: &BTreeMap<String, Vec<String>>) -> Vec<Round> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let of_package = |(package, names): (&String, &Vec<String>)| {
        let mut arguments = words(&["test", "--package", package, "--no-fail-fast", "--"]);
        arguments.extend(names.iter().cloned());
        Round { seed, arguments }
    };
    let (scenarios, runs) = (SCENARIOS.to_string(), FUZZ_RUNS.to_string());
    let first = seed.wrapping_mul(SCENARIOS).to_string();
    let scenarios = words(&["run", "--package", "foretell", "--example", "soak", "--", &scenarios, &first]);
    let fuzz = words(&["run", "--package", "foretell-fuzz", "--", &seed.to_string(), &runs]);
    let others = [scenarios, fuzz].map(|arguments| Round { seed, arguments });
    properties.iter().map(of_package).chain(others).collect()
}

impl Round {
    /// Runs it. What failed, each as what to paste.
    fn look(&self, root: &Path) -> Result<Vec<String>> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(root).args(&self.arguments).env("PROPTEST_RNG_SEED", self.seed.to_string());
        let output = cargo.output().with_context(|| format!("cargo {} can't be run", self.arguments.join(" ")))?;
        if output.status.success() {
            return Ok(Vec::new());
        }
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}{}", String::from_utf8_lossy(&output.stderr));
        Ok(self.again(&said))
    }

    /// The commands that show again what failed in a run that has said this.
    fn again(&self, said: &str) -> Vec<String> {
        let Round { seed, arguments } = self;
        let names = said.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        let package = &arguments[2];
        let again = |name: &str| format!("PROPTEST_RNG_SEED={seed} cargo test --package {package} -- --exact {name}");
        let mut all: Vec<_> = names.map(again).collect();
        all.extend(said.lines().filter_map(|line| line.strip_prefix("again by: ")).map(str::to_owned));
        if all.is_empty() {
            all.push(format!("PROPTEST_RNG_SEED={seed} cargo {}", arguments.join(" ")));
        }
        all
    }
}

/// The folders of the packages that may have properties.
const FOLDERS: [&str; 14] = [
    "crates/foretell",
    "crates/foretell-articles",
    "crates/foretell-sim",
    "crates/foretell-derive",
    "rim/foretell-rapier",
    "rim/foretell-net",
    "arena",
    "pile",
    "app",
    "app/dedicated",
    "app/http",
    "app/lab",
    "app/plan",
    "app/sweep",
];

/// The names of all properties, by package.
fn properties(root: &Path) -> Result<BTreeMap<String, Vec<String>>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in FOLDERS {
        let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml"))?;
        let package = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        let package = package.with_context(|| format!("{folder} has no name"))?;
        for source in sources(&root.join(folder))? {
            let names = properties_in(&fs::read_to_string(&source)?);
            if names.is_empty() {
                continue;
            }
            found.entry(package.to_owned()).or_default().extend(names);
        }
    }
    if found.is_empty() {
        bail!("no property was found: has the way to write them changed?");
    }
    Ok(found)
}

/// The sources of a package, without those of packages inside of its folder.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_other = path.ends_with("target") || path.ends_with("node_modules") || path.join("Cargo.toml").is_file();
        if path.is_dir() && !is_other {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The names of the properties in a source: of the functions in its `proptest!` blocks.
fn properties_in(source: &str) -> Vec<String> {
    let mut end = None;
    let mut names = Vec::new();
    for line in source.lines() {
        let indent = line.len() - line.trim_start().len();
        match end {
            None if line.trim() == "proptest! {" => end = Some(indent),
            Some(outer) if line.trim() == "}" && indent == outer => end = None,
            Some(outer) if indent == outer + 4 => {
                let name = line.trim_start().strip_prefix("fn ").and_then(|rest| rest.split('(').next());
                names.extend(name.map(str::to_owned));
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("above it is the workspace")
    }

    #[test]
    fn every_file_with_properties_is_found_and_every_property_in_it() {
        let found = properties(root()).expect("the sources can be read");
        for (package, known) in [
            ("foretell", "a_session_plays_on_after_any_bytes"),
            ("foretell-articles", "whatever_is_sent_the_way_stays_within_speed_and_slack"),
        ] {
            assert!(found[package].iter().any(|name| name == known), "{known}");
        }
        for source in sources(root()).expect("the sources can be read") {
            let text = fs::read_to_string(&source).expect("UTF-8");
            let tests = text.split("proptest! {\n").skip(1).map(|block| {
                let end = block.find("\n}").into_iter().chain(block.find("\n    }\n\n")).min();
                block[..end.unwrap_or(block.len())].matches("#[test]").count()
            });
            let is_this = source.ends_with("xtask/src/soak.rs");
            assert!(is_this || properties_in(&text).len() >= tests.sum(), "{}", source.display());
        }
    }

    #[test]
    fn what_failed_is_printed_as_what_shows_it_again() {
        let properties = BTreeMap::from([("foretell".to_owned(), vec!["a".to_owned()])]);
        let all = rounds(7, &properties);
        let said = "running 2 tests\ntest parts::a ... ok\ntest parts::b ... FAILED\n";
        assert_eq!(all[0].again(said), ["PROPTEST_RNG_SEED=7 cargo test --package foretell -- --exact parts::b"]);
        assert_eq!(
            all[1].again("words"),
            ["PROPTEST_RNG_SEED=7 cargo run --package foretell --example soak -- 200 1400"]
        );
        let said = "the input: 00\nagain by: cargo run -p foretell-fuzz -- 7 1 12\n";
        assert_eq!(all[2].again(said), ["cargo run -p foretell-fuzz -- 7 1 12"]);
    }
}
