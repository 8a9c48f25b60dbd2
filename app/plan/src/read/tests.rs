//! What a broken plan file gets: one sentence with the file, the line and what is accepted.

use super::*;
use foretell_sim::netsim::Capacity;

/// Broken files, after `name = "my"` on the first line, and the sentences about them: kept whole, so that a change of wording is seen.
const BROKEN: &[(&str, &str)] = &[
    ("a", "my.toml, line 2: key with no value, expected `=`"),
    (
        "[network]\nlatncy_ms = 5",
        "my.toml, line 3: latncy_ms is unknown; accepted are latency_ms, latency_down_ms, jitter_ms, ordering, loss, burst_length, duplicates, reordering, rate_kbps, trace, trace_down, cellular, cellular_seed, queue_bytes, queue_datagrams, calm_s",
    ),
    ("\n[network]\nlatency_ms = -5", "my.toml, line 4: latency_ms is -5; it must be a number from 0 to 10000 ms"),
    ("[network]\nlatency_ms = nan", "my.toml, line 3: latency_ms is nan; it must be a number from 0 to 10000 ms"),
    (
        "[network]\nlatency_ms = \"fast\"",
        "my.toml, line 3: latency_ms is \"fast\"; it must be a number from 0 to 10000 ms",
    ),
    (
        "[network]\nlatency_ms = [0, 50]",
        "my.toml, line 3: latency_ms is [0, 50]; it must be a number from 0 to 10000 ms",
    ),
    ("[network]\nordering = 'random'", "my.toml, line 3: ordering is 'random'; it must be \"fifo\" or \"independent\""),
    ("[network]\nloss = 1.5", "my.toml, line 3: loss is 1.5; it must be a number from 0 to 1"),
    (
        "[network]\nloss = 0.95\nburst_length = 3",
        "my.toml, line 3: loss is 0.95; it must be in bursts at most burst_length / (1 + burst_length)",
    ),
    (
        "[network]\nrate_kbps = 0.5",
        "my.toml, line 3: rate_kbps is 0.5; it must be 0 for none, or a whole number from 8 to 1000000 kbit/s",
    ),
    ("[network]\ncellular = '5g'", "my.toml, line 3: cellular is '5g'; it must be \"lte\" or \"umts\" or \"evdo\""),
    ("[network]\ntrace = 7", "my.toml, line 3: trace is 7; it must be a text in quotes"),
    (
        "[network]\ntrace = 'a.up'\ncellular = 'lte'",
        "my.toml, line 4: cellular is 'lte'; it must be without trace and trace_down, or they without it",
    ),
    ("[network]\ncellular_seed = 7", "my.toml, line 3: cellular_seed is 7; it must be beside cellular"),
    (
        "[network]\ncellular = 'lte'\nrate_kbps = 500",
        "my.toml, line 4: rate_kbps is 500; it must be 0 beside trace or cellular, which say what passes",
    ),
    (
        "[network]\nqueue_bytes = 6000",
        "my.toml, line 3: queue_bytes is 6000; it must be beside rate_kbps, trace, trace_down or cellular",
    ),
    (
        "[network]\ncellular = 'lte'\nqueue_datagrams = 0",
        "my.toml, line 4: queue_datagrams is 0; it must be a whole number from 1 to 4096 datagrams",
    ),
    (
        "[session]\nsnapshot_rate = 30",
        "my.toml, line 3: snapshot_rate is 30; it must divide the tick rate of 64 Hz: 1, 2, 4, 8, 16, 32, 64",
    ),
    ("[session]\nseconds = 0", "my.toml, line 3: seconds is 0; it must be a whole number from 1 to 3600 s"),
    ("[session]\nplayers = 2.5", "my.toml, line 3: players is 2.5; it must be a whole number from 1 to 16"),
    ("[session]\nseeds = []", "my.toml, line 3: seeds is []; it must be a list of 1 to 64 whole numbers from 0 up"),
    (
        "[session]\nseeds = [1, -1]",
        "my.toml, line 3: seeds is [1, -1]; it must be a list of 1 to 64 whole numbers from 0 up",
    ),
    ("[session]\nseeds = 1", "my.toml, line 3: seeds is 1; it must be a list of 1 to 64 whole numbers from 0 up"),
    ("[session]\ninput = 'mouse'", "my.toml, line 3: input is 'mouse'; it must be \"scripted\" or \"recorded\""),
    (
        "[grid]\nlatency_ms = 5",
        "my.toml, line 3: latency_ms is 5; it must be a list in which each is a number from 0 to 10000 ms",
    ),
    (
        "[grid]\nlatency_ms = [\n  0,\n  20000,\n]",
        "my.toml, line 5: latency_ms is 20000; it must be a number from 0 to 10000 ms",
    ),
    ("[grid]\nloss = []", "my.toml, line 3: loss is empty; it must be a list in which each is a number from 0 to 1"),
    (
        "[grid]\nsnapshot_rate = [64, 7]",
        "my.toml, line 3: snapshot_rate is 7; it must divide the tick rate of 64 Hz: 1, 2, 4, 8, 16, 32, 64",
    ),
    (
        "[grid]\nsnapshot_rate = [64, 0]",
        "my.toml, line 3: snapshot_rate is 0; it must be a whole number from 1 to 240 Hz",
    ),
    ("[thresholds]\nresyncs_max = 'none'", "my.toml, line 3: resyncs_max is 'none'; it must be a number"),
    ("[thresholds]\nresyncs_max = inf", "my.toml, line 3: the threshold resyncs_max must be a finite number"),
    (
        "[treshholds]\nresyncs_max = 1",
        "my.toml, line 2: treshholds is unknown; accepted are name, explain, network, session, grid, thresholds",
    ),
    (
        "title = 'a'",
        "my.toml, line 2: title is unknown; accepted are name, explain, network, session, grid, thresholds",
    ),
    ("name = 'b'", "my.toml, line 2: name is given twice; accepted is once"),
    ("[network]\nloss = 0.1\nloss = 0.2", "my.toml, line 4: loss is given twice; accepted is once"),
    ("[network", "my.toml, line 2: unclosed table, expected `]`"),
];

#[test]
fn a_broken_plan_gets_one_sentence_with_file_line_and_what_is_accepted() {
    for (text, expected) in BROKEN {
        let found = read("my.toml", &format!("name = \"my\"\n{text}\n")).expect_err(text).0;
        assert_eq!(found, *expected);
    }
}

#[test]
fn a_plan_without_a_name_and_one_with_an_unknown_threshold_are_told_what_there_is() {
    let sentence = |text| read("my.toml", text).expect_err(text).0;
    assert_eq!(sentence("explain = 'a'"), "my.toml, line 1: missing field `name`");
    let unknown = sentence("name = 'a'\n[thresholds]\nresyncs_max = 0\ncorrections = 0");
    let start = "my.toml, line 4: the threshold corrections is unknown; accepted are the figures with _max or _min \
                 behind them (those that end in _max stand as they are): measured_s, join_ms_max, ";
    assert!(unknown.starts_with(start), "{unknown}");
}

#[test]
fn a_grid_that_is_too_large_is_refused() {
    let list = (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!("name = 'a'\n[grid]\nlatency_ms = [{list}]\njitter_ms = [{list}]");
    let sentence = "my.toml, line 1: the grid has 30000 rows with its seeds; accepted are up to 4096";
    assert_eq!(read("my.toml", &text).expect_err("too large").0, sentence);
}

#[test]
fn thresholds_name_a_figure_and_a_side() {
    let text = "name = 'a'\n[thresholds]\nfrozen_ms_max = 5\nmeasured_s_min = 10\nresyncs_max = 0";
    let found = read("my.toml", text).expect("good").thresholds;
    let threshold = |figure, bound, value| Threshold { figure, bound, value };
    assert_eq!(
        found,
        [
            threshold("frozen_ms_max", Bound::AtMost, 5.0),
            threshold("measured_s", Bound::AtLeast, 10.0),
            threshold("resyncs", Bound::AtMost, 0.0),
        ]
    );
}

#[test]
fn a_trace_is_read_from_beside_the_plan_and_what_is_wrong_with_it_is_told() {
    let folder = std::env::temp_dir().join(format!("foretell-traces-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("recorded")).expect("a folder of the test's own");
    let files = [("good.up", "3\n10\n"), ("bad.up", "3\n2\n"), ("empty.up", "")];
    files.iter().for_each(|(name, text)| std::fs::write(folder.join("recorded").join(name), text).expect("written"));
    let plan = folder.join("my.toml").display().to_string();
    let read = |lines: &str| read(&plan, &format!("name = 'my'\n[network]\n{lines}\n"));

    let network = read("trace = 'recorded/good.up'").expect("it is there").network;
    let link = network.trace.as_ref().expect("a trace");
    assert_eq!((link.name.as_str(), link.trace.opportunities_ms()), ("recorded/good.up", &[3, 10][..]));
    assert_eq!(network.trace_down, None);
    let [up, down] = network.conditions_at(0, 1, 0);
    assert!(up.bottleneck.is_some() && up.bottleneck == down.bottleneck);
    let way_down = read("trace_down = 'recorded/good.up'\nrate_kbps = 64").expect("it is there").network;
    let [up, down] = way_down.conditions_at(0, 1, 0).map(|way| way.bottleneck.expect("each way has one").capacity);
    assert_eq!(up, Capacity::Rate { bytes_per_s: 8_000 });
    assert!(matches!(down, Capacity::Trace { .. }));

    let folder_shown = folder.display();
    for (file, sentence) in [
        (
            "recorded/bad.up",
            "line 2 is 2; it must be a whole number of milliseconds from 3, the line before it, to 86400000",
        ),
        ("recorded/empty.up", "line 1 is missing; a trace has a line per opportunity, a whole number of milliseconds"),
    ] {
        let whole = format!("{plan}, line 3: trace is \"{file}\"; in {folder_shown}/{file} {sentence}");
        assert_eq!(read(&format!("trace = '{file}'")).expect_err(file).0, whole);
    }
    for nothing in ["recorded/none.up", "recorded"] {
        let told = read(&format!("latency_ms = 5\ntrace_down = '{nothing}'")).expect_err(nothing).0;
        let start = format!("{plan}, line 4: trace_down is \"{nothing}\"; {folder_shown}/{nothing} can't be read: ");
        assert!(told.starts_with(&start) && told.len() > start.len(), "{told}");
    }
    std::fs::remove_dir_all(folder).expect("the test's own");
}
