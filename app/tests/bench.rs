//! `foretell bench` as a person or another program calls it.

use serde_json::{Map, Value};
use std::path::Path;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_foretell");
    let directory = env!("CARGO_TARGET_TMPDIR");
    Command::new(program).arg("bench").args(arguments).current_dir(directory).output().expect("the program runs")
}

/// The figures of a small crowd, by a file of this name.
fn figures(file: &str, arguments: &str) -> Map<String, Value> {
    let crowd = format!("crowd --clients 2 --seconds 8 --json {file} {arguments}");
    let output = bench(&crowd.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{output:?}");
    let table = String::from_utf8(output.stdout).expect("text");
    assert!(table.contains("2 clients") && table.lines().count() == 13, "{table}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    let json = serde_json::from_slice(&std::fs::read(path).expect("it was written")).expect("it is JSON");
    if let Value::Object(figures) = json { figures } else { panic!("not an object: {json}") }
}

fn number(figures: &Map<String, Value>, key: &str) -> f64 {
    figures[key].as_f64().unwrap_or_else(|| panic!("{key} is {}", figures[key]))
}

/// Processor time, which is another in each run.
fn is_time(key: &str) -> bool {
    key.contains("_us_per_")
}

#[test]
fn the_file_has_these_keys_and_all_of_them_are_numbers() {
    let figures = figures("keys.json", "--entities 30 --moving 30");
    let expected = [
        "budget",
        "bytes_per_changed_entity",
        "bytes_per_client_per_s",
        "client_us_per_tick",
        "clients",
        "clients_in_play",
        "entities",
        "joiner_complete_ms",
        "joiner_plays_ms",
        "loss",
        "moving",
        "nearest_20_age_ms_max",
        "present_us_per_frame",
        "rtt_ms",
        "seed",
        "server_us_per_tick",
        "shown_age_ms_max",
        "shown_age_ms_p50",
        "shown_age_ms_p99",
        "step_us_per_tick",
    ];
    let mut keys: Vec<_> = figures.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, expected);
    keys.iter().for_each(|key| _ = number(&figures, key));
}

#[test]
fn of_a_few_that_move_each_is_as_old_as_its_way_and_costs_a_quarter_of_its_forty_bytes() {
    let figures = figures("few.json", "--entities 30 --moving 30 --rtt 100");
    let at = |key| number(&figures, key);
    for key in ["shown_age_ms_p50", "shown_age_ms_p99", "shown_age_ms_max", "nearest_20_age_ms_max"] {
        assert!((at(key) - 50.0).abs() < 1e-9, "{key} is {}", at(key));
    }
    let each = at("bytes_per_changed_entity");
    assert!((10.0..11.5).contains(&each), "{each} bytes");
    // 30 of the crowd and two players.
    assert!((at("bytes_per_client_per_s") - each * 32.0 * 60.0).abs() < 1.0);
    let (plays, complete) = (at("joiner_plays_ms"), at("joiner_complete_ms"));
    assert!((100.0..=500.0).contains(&plays) && (100.0..=500.0).contains(&complete), "{plays}, {complete}");
    let times = ["server_us_per_tick", "step_us_per_tick", "client_us_per_tick", "present_us_per_frame"].map(at);
    assert!(times.iter().all(|time| *time > 0.0), "{times:?}");
    assert!(times[1] < times[0], "a step is a part of a tick: {times:?}");
}

#[test]
fn what_rests_is_not_old_and_costs_nothing_for_each() {
    let figures = figures("rest.json", "--entities 300 --moving 0");
    let at = |key| number(&figures, key);
    for key in ["bytes_per_changed_entity", "shown_age_ms_max", "nearest_20_age_ms_max"] {
        assert!(at(key) < f64::EPSILON, "{key} is {}", at(key));
    }
    assert!(at("bytes_per_client_per_s") < 60.0 * 40.0);
}

#[test]
fn within_a_budget_what_is_near_is_younger_than_the_rest() {
    let figures = figures("budget.json", "--entities 300 --moving 300 --budget 64000");
    let at = |key| number(&figures, key);
    // In the mean of a few states.
    assert!((60_000.0..=65_000.0).contains(&at("bytes_per_client_per_s")));
    let ages = ["nearest_20_age_ms_max", "shown_age_ms_max"].map(at);
    assert!((50.0..=100.0).contains(&ages[0]) && ages[1] > 200.0, "{ages:?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_ages_and_another_gives_others() {
    let of = |file, seed| {
        let mut figures = figures(file, &format!("--entities 100 --moving 50 --loss 0.1 --budget 40000 {seed}"));
        figures.retain(|key, _| !is_time(key) && key != "seed");
        figures
    };
    let first = of("a.json", "--seed 5");
    assert_eq!(first, of("b.json", "--seed 5"));
    assert_ne!(first, of("c.json", "--seed 6"));
}

#[test]
fn what_is_not_over_in_time_is_null() {
    let figures = figures("late.json", "--entities 2000 --moving 0 --budget 1000");
    assert_eq!(figures["joiner_complete_ms"], Value::Null);
    assert!(number(&figures, "joiner_plays_ms") < 500.0);
}

#[test]
fn where_no_client_has_come_into_play_there_are_no_ages_and_it_is_said() {
    let figures = figures("nobody.json", "--entities 30 --moving 10 --loss 1");
    for key in ["shown_age_ms_p50", "shown_age_ms_p99", "shown_age_ms_max", "nearest_20_age_ms_max"] {
        assert_eq!(figures[key], Value::Null, "{key}");
    }
    assert_eq!((&figures["clients"], &figures["clients_in_play"]), (&Value::from(2), &Value::from(0)));
    let output =
        bench(&["crowd", "--entities", "30", "--moving", "10", "--clients", "2", "--seconds", "1", "--loss", "1"]);
    let table = String::from_utf8(output.stdout).expect("text");
    assert!(table.contains("2 clients, 0 of them in play") && table.contains("nobody plays"), "{table}");
}

#[test]
fn what_can_not_be_measured_is_refused_in_a_sentence() {
    let crowd = |more: &'static str| format!("crowd --entities 10 --moving 5 --clients 2 {more}");
    for (arguments, says) in [
        (
            "crowd --entities 10 --moving 20 --clients 1".into(),
            "moving is 20; there are only 10 entities that can move",
        ),
        ("crowd --entities 0 --moving 0 --clients 1".into(), "entities is 0; accepted is 1 to 60000"),
        ("crowd --entities 10 --moving 10 --clients 0".into(), "clients is 0; accepted is 1 to 1000"),
        ("crowd --entities 10 --moving 10".into(), "--clients <C>"),
        ("".into(), "subcommand"),
        (crowd("--loss 2"), "loss is 2; it must be a number from 0 to 1"),
        (crowd("--loss NaN"), "loss is NaN; it must be a number from 0 to 1"),
        (crowd("--loss x"), "invalid value 'x' for '--loss <P>'"),
        (crowd("--rtt 20001"), "rtt is 20001 ms; accepted is 0 to 20000"),
        (crowd("--budget 0"), "accepted is a number of bytes per second from 1 on, or none for no limit"),
        (crowd("--budget much"), "accepted is a number of bytes per second from 1 on, or none for no limit"),
        (crowd("--seconds 0"), "seconds is 0; accepted is 1 to 3600"),
        (crowd("--json nowhere/figures.json"), "nowhere/figures.json can't be written: "),
    ] {
        let output = bench(&arguments.split_whitespace().collect::<Vec<_>>());
        let told = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments}: {told}");
        assert!(told.starts_with("error: ") && told.contains(says) && told.lines().count() == 1, "{arguments}: {told}");
    }
}
