//! `foretell sweep` as a person or a CI job calls it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of a test's own, under the target directory.
fn scratch(test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&directory).expect("the target directory can be written");
    directory
}

fn sweep(directory: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_foretell");
    Command::new(program).arg("sweep").args(arguments).current_dir(directory).output().expect("the program runs")
}

const BAD_NIGHT: &str = "name = 'night'
[network]
latency_ms = 60
jitter_ms = 30
loss = 0.1
burst_length = 2
[session]
seconds = 4
seeds = [7, 8]
[grid]
snapshot_rate = [64, 16]
";

#[test]
fn the_same_seeds_give_the_same_bytes_and_other_seeds_give_others() {
    let directory = scratch("bytes");
    let bytes_of = |plan: &str, file: &str| {
        std::fs::write(directory.join("night.toml"), plan).expect("written");
        let output = sweep(&directory, &["night.toml", "--json", file, "--report", "report.html"]);
        assert!(output.status.success(), "{output:?}");
        let read = |file| std::fs::read(directory.join(file)).expect("it was written");
        (read(file), read("report.html"))
    };
    let first = bytes_of(BAD_NIGHT, "a.json");
    assert!(first == bytes_of(BAD_NIGHT, "b.json"));
    assert!(first.0 != bytes_of(&BAD_NIGHT.replace("7, 8", "7, 9"), "c.json").0);
    let json: serde_json::Value = serde_json::from_slice(&first.0).expect("it is JSON");
    let rows = json["rows"].as_array().expect("rows");
    let keys: Vec<_> = rows.iter().map(|row| (row["snapshot_hz"].as_u64(), row["seed"].as_u64())).collect();
    assert_eq!(keys, [(64, 7), (64, 8), (16, 7), (16, 8)].map(|(hz, seed)| (Some(hz), Some(seed))));
    assert!(rows.iter().all(|row| row["outcomes_add_up"] == true && row["measured_s"] == 8.0));
}

#[test]
fn a_threshold_that_is_not_met_exits_with_1_and_is_named_with_plan_row_and_value() {
    let directory = scratch("threshold");
    let plan = format!("{BAD_NIGHT}[thresholds]\nbytes_up_per_s_max = 10\nunexplained_max = 0\n");
    std::fs::write(directory.join("night.toml"), plan).expect("written");
    let output = sweep(&directory, &["night.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).expect("text");
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 4, "{told}");
    let row =
        "not met: plan night: latency 60 ms, jitter 30 ms, loss 10 %, snapshots 64 Hz, seed 7: bytes_up_per_s is ";
    assert!(lines[0].starts_with(row) && lines[0].ends_with(", accepted is at most 10"), "{told}");
}

#[test]
fn every_built_in_plan_holds_in_a_quick_run_from_anywhere() {
    let output = sweep(&std::env::temp_dir(), &["--quick"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8(output.stdout).expect("text");
    for plan in ["perfect", "lan", "wifi", "4g", "satellite", "burst", "transpacific", "terrible", "impulses", "grid"] {
        assert!(table.lines().any(|line| line.starts_with(&format!("{plan}:"))), "{plan}");
    }
    assert!(output.stderr.is_empty(), "without a terminal there is no progress bar");
}

#[test]
fn a_table_has_a_line_for_each_plan_and_their_mean_and_another_what_the_article_would_have_cost() {
    let directory = scratch("compare");
    let plan = BAD_NIGHT.replace("[grid]\nsnapshot_rate = [64, 16]\n", "[thresholds]\nbytes_up_per_s_max = 10\n");
    std::fs::write(directory.join("night.toml"), plan).expect("written");
    let output = sweep(&directory, &["night.toml", "--compare", "table.md"]);
    assert_eq!(output.status.code(), Some(1));
    let table = std::fs::read_to_string(directory.join("table.md")).expect("it was written");
    let (ours, theirs) = table.split_once("\n\n").expect("two tables");
    let lines: Vec<_> = ours.lines().skip(2).collect();
    let starts = [
        "| night | 60 + 30 ms, 10 % in bursts of 2 | ",
        "| **all** | the mean of the lines without a recorded link | ",
    ];
    assert_eq!(lines.len(), starts.len(), "{table}");
    lines.iter().zip(starts).for_each(|(line, start)| assert!(line.starts_with(start), "{line}"));
    let lines: Vec<_> = theirs.lines().skip(2).collect();
    assert!(lines.len() == 1 && lines[0].starts_with("| night | "), "{table}");
    let columns = |line: &str| line.matches('|').count();
    assert!(theirs.lines().all(|line| columns(line) == columns(lines[0])), "{theirs}");
}

#[test]
fn where_nothing_can_be_written_nothing_is_run() {
    let directory = scratch("targets");
    std::fs::write(directory.join("file"), "text").expect("written");
    let plan = BAD_NIGHT.replace("seconds = 4", "seconds = 3000");
    std::fs::write(directory.join("night.toml"), plan).expect("written");
    for (arguments, says) in [
        (["--json", "nowhere/rows.json"], "error: nowhere/rows.json can't be written: "),
        (["--report", "."], "error: . can't be written: "),
        (["--compare", "file/table.md"], "error: file/table.md can't be written: "),
        (["--record", "file/flights"], "error: file/flights can't be made: "),
        (["--record", "file"], "error: file can't be made: "),
    ] {
        let output = sweep(&directory, &["night.toml", arguments[0], arguments[1]]);
        let told = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), output.stdout.len(), told.lines().count()), (Some(2), 0, 1), "{told}");
        assert!(told.starts_with(says), "{told}");
    }
    let output = sweep(&directory, &["night.toml", "--json", "rows.json", "--report", "nowhere/report.html"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!directory.join("rows.json").exists(), "what is only looked at does not come into being");
    assert_eq!(std::fs::read(directory.join("file")).expect("it is there"), b"text", "and stays as it is");
}

#[test]
fn broken_plans_exit_with_2_and_a_sentence_each() {
    let directory = scratch("broken");
    std::fs::write(directory.join("a.toml"), "name = 'a'\n[network]\nloss = 2\n").expect("written");
    std::fs::write(directory.join("b.toml"), "name = 'b'\nlatency = 2\n").expect("written");
    std::fs::write(directory.join("c.toml"), "name = 'c'\n[network]\ntrace = 'train.up'\n").expect("written");
    std::fs::write(directory.join("train.up"), "5\nsoon\n").expect("written");
    let output = sweep(&directory, &["a.toml", "b.toml", "perfect", "nowhere.toml", "c.toml"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let told = String::from_utf8(output.stderr).expect("text");
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 4, "{told}");
    assert_eq!(lines[0], "error: a.toml, line 3: loss is 2; it must be a number from 0 to 1");
    assert!(lines[1].starts_with("error: b.toml, line 2: latency is unknown; accepted are name, explain, "), "{told}");
    assert!(lines[2].starts_with("error: nowhere.toml is neither a plan file nor one of perfect, lan, "), "{told}");
    let of_trace =
        "error: c.toml, line 3: trace is \"train.up\"; in train.up line 2 is soon; it must be a whole number";
    assert!(lines[3].starts_with(of_trace), "{told}");
}

/// Of each table of Markdown below a heading of the third degree: the heading, and the first two cells of its rows.
fn rows_of_tables(text: &str) -> Vec<(String, String)> {
    let mut heading = String::new();
    let mut rows = Vec::new();
    for line in text.lines() {
        if line.starts_with('#') {
            heading = line.to_owned();
        } else if line.starts_with("| ") && heading.starts_with("### ") {
            let cells: Vec<_> = line.split('|').skip(1).take(2).map(str::trim).collect();
            rows.push((heading.clone(), cells.join(", ")));
        }
    }
    rows
}

#[test]
fn a_quick_run_of_the_curves_writes_every_row_of_the_tables_in_the_documentation() {
    let directory = scratch("curves");
    let output = sweep(&directory, &["--quick", "--curves", "curves.md"]);
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let written = std::fs::read_to_string(directory.join("curves.md")).expect("it was written");
    let rows = rows_of_tables(&written);
    // Three motions, two shares of losses; the head, five rates and fourteen methods.
    assert_eq!(rows.len(), 3 * 2 * (1 + 5 * 14));
    assert_eq!(rows, rows_of_tables(include_str!("../../docs/CURVES.md")));
    for figures in written.lines().filter(|line| line.contains("| Hermite |")) {
        let figures: Vec<f64> = figures.split('|').skip(3).filter_map(|cell| cell.trim().parse().ok()).collect();
        assert!(figures.len() == 6 && figures.iter().all(|figure| *figure < 2000.0), "{figures:?}");
    }
}

#[test]
fn where_the_curves_can_not_be_written_none_is_run() {
    let directory = scratch("curves-nowhere");
    let begun = std::time::Instant::now();
    for file in ["nowhere/curves.md", "."] {
        let output = sweep(&directory, &["--curves", file]);
        let told = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), output.stdout.len(), told.lines().count()), (Some(2), 0, 1), "{told}");
        assert!(told.starts_with(&format!("error: {file} can't be written: ")), "{told}");
    }
    assert!(begun.elapsed().as_secs() < 10, "all of them take most of a minute");
}
