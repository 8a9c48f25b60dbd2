//! The reference's sessions of timestamped inputs, through the public client and server: `reconstruct`, `ack_match`,
//! `qiita_e2e_f64`, `qiita_e2e_f32` and `f32_timestamp_drift` in `vectors/`.

use crate::qiita::{Double, Pair, Precision, Product, Seen, Single, seen};
use core::time::Duration;
use foretell_articles::timestamped::TimeBudget;
use foretell_articles::timestamped::{
    AckQueue, Acknowledged, ClientConfig, Detect, Direction, Mover, Path, Refused, ServerConfig, Since, Stamped, Time,
    Trust, Walk, Walker,
};
use serde_json::Value;

fn cases(json: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(json).expect("the vectors are JSON");
    let cases = file["cases"].as_array().expect("a list of cases").clone();
    assert!(!cases.is_empty());
    cases
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn count(value: &Value) -> u64 {
    value.as_u64().expect("a count")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn point(value: &Value) -> [f64; 3] {
    core::array::from_fn(|lane| number(&value[lane]))
}

fn is_near(a: [f64; 3], b: [f64; 3], metres: f64) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= metres)
}

fn inputs(case: &Value) -> Vec<Stamped<f64, Direction>> {
    let stamped = |input: &Value| Stamped { at: number(&input[0]), input: Direction { vector: point(&input[1]) } };
    list(&case["inputs"]).iter().map(stamped).collect()
}

#[test]
fn paths_are_reconstructed_as_in_the_reference_and_what_is_malformed_is_refused_for_its_reason() {
    for case in cases(include_str!("../../../../vectors/reconstruct.json")) {
        let walk = Walk { speed: number(&case["speed"]) };
        let held = Direction { vector: point(&case["direction"]) };
        let state = Walker { position: point(&case["last_pos"]) };
        let start: Path<Walk, f64> = Path { at: number(&case["last_t"]), state, held };
        let (mut inputs, target) = (inputs(&case), number(&case["target_t"]));

        let mut believed = start;
        believed.follow(&walk, &inputs, target);
        assert_eq!(believed.state.position, point(&case["seed_f64"]["pos"]), "{case}");
        assert_eq!(believed.held.vector, point(&case["seed_f64"]["direction"]), "{case}");

        let hardened = &case["hardened_f64"];
        let mut checked = start;
        walk.limit(&mut checked.held);
        for stamped in &mut inputs {
            walk.limit(&mut stamped.input);
        }
        let outcome = checked.check(&inputs, target, case["max_target_t"].as_f64());
        let reason = match outcome {
            Ok(()) => "ok",
            Err(Refused::InputNotMonotonic) => "input_not_monotonic",
            Err(Refused::TargetBeforeLast) => "target_before_last",
            Err(Refused::InputAfterTarget) => "input_after_target",
            Err(Refused::TargetAfterBudget) => "target_after_budget",
        };
        assert_eq!(reason, text(&hardened["reason"]), "{case}");
        assert_eq!(outcome.is_ok(), hardened["ok"].as_bool().expect("a bool"));
        if outcome.is_ok() {
            checked.follow(&walk, &inputs, target);
        }
        assert_eq!(checked.state.position, point(&hardened["pos"]), "{case}");
        assert_eq!(checked.held.vector, point(&hardened["direction"]), "{case}");
        assert_eq!(checked.at, number(&hardened["t"]), "{case}");
    }
}

#[test]
fn paths_in_single_precision_have_the_reference_bits() {
    use crate::qiita::{Direction32, Walk32, Walker32};
    let narrow = |point: [f64; 3]| point.map(|lane| lane as f32);
    for case in cases(include_str!("../../../../vectors/reconstruct.json")) {
        let walk = Single::walk(number(&case["speed"]));
        let state = Walker32 { position: narrow(point(&case["last_pos"])) };
        let held = Direction32 { vector: narrow(point(&case["direction"])) };
        let mut path: Path<Walk32, f32> = Path { at: number(&case["last_t"]) as f32, state, held };
        let stamped = |input: &Stamped<f64, Direction>| Stamped {
            at: input.at as f32,
            input: Direction32 { vector: narrow(input.input.vector) },
        };
        let inputs: Vec<_> = inputs(&case).iter().map(stamped).collect();
        path.follow(&walk, &inputs, number(&case["target_t"]) as f32);
        let bits = path.state.position.map(|lane| format!("0x{:08x}", lane.to_bits()));
        let expected: Vec<_> = list(&case["seed_f32_bits"]).iter().map(text).collect();
        assert_eq!(bits.to_vec(), expected, "{case}");
    }
}

#[test]
fn answers_find_what_was_sent_at_their_time_as_in_the_reference() {
    for case in cases(include_str!("../../../../vectors/ack_match.json")) {
        let mut queue = AckQueue::new(1e-4);
        for sent in list(&case["wait"]) {
            queue.push(number(&sent[0]), point(&sent[1]));
        }
        let mut need_resync = false;
        for step in list(&case["steps"]) {
            let theirs = point(&step["ack_pos"]);
            let mut asked = false;
            if need_resync {
                // As the client does; `qiita_e2e_f64` holds it to that.
                queue.stats.ignored_need += 1;
            } else {
                let measure = |ours: &[f64; 3]| foretell::motion::vector::squared_distance(*ours, theirs);
                let (outcome, _) = queue.acknowledge(number(&step["ack_t"]), measure);
                asked = outcome == Acknowledged::Differs;
            }
            need_resync |= asked;
            assert_eq!(asked, !list(&step["rpc"]).is_empty(), "{case}");
            assert_eq!(need_resync, step["need_resync"].as_bool().expect("a bool"), "{case}");
            let left: Vec<_> = list(&step["remaining"]).iter().map(number).collect();
            assert_eq!(queue.waiting().collect::<Vec<_>>(), left, "{case}");
        }
        check_ack_stats(&queue.stats, &case["stats"], &case["name"]);
    }
}

fn check_ack_stats(stats: &foretell_articles::timestamped::AckStats, expected: &Value, name: &Value) {
    let counts = [stats.compared, stats.mismatched, stats.ignored_old, stats.ignored_need, stats.missing_ack];
    let names = ["compared", "mismatched", "ignored_old", "ignored_need", "missing_ack"];
    assert_eq!(counts, names.map(|name| count(&expected[name])), "{name}");
    let largest = number(&expected["max_sqr_err"]);
    assert!((stats.max_sqr_err - largest).abs() <= 1e-12 + largest * 1e-6, "{name}: {}", stats.max_sqr_err);
}

/// What goes wrong in a scenario, by its name.
struct Tampering {
    teleport: bool,
    speed: bool,
    knockback: bool,
    clock: f64,
    direction: f64,
}

fn settings(name: &str, hz: u64) -> (ClientConfig, ServerConfig, Tampering) {
    let send_interval = Duration::from_millis(1000 / hz);
    let found_by = if name.contains("server_detection") { Detect::Server } else { Detect::Client };
    // Who is to ask for a resync and does not is like one of whom it is not expected.
    let asks = if name.contains("ignores_resync") { Detect::Server } else { found_by };
    let client = ClientConfig { send_interval, detect: asks, repeat_inputs: false, ..ClientConfig::default() };
    let budget = TimeBudget { drift_ppm: 0, ..TimeBudget::default() };
    let bounded = Trust::Bounded { budget, since: Since::Finish };
    let trust = if name.contains("hardened") { bounded } else { Trust::Blind };
    let server = ServerConfig { send_interval, detect: found_by, trust, ..ServerConfig::default() };
    let tampering = Tampering {
        teleport: name.contains("teleport"),
        speed: name.contains("speed_x2"),
        knockback: name.contains("knockback"),
        clock: if name.contains("clock_x2") { 2.0 } else { 1.0 },
        direction: if name.contains("direction_x3") { 3.0 } else { 1.0 },
    };
    (client, server, tampering)
}

/// FNV-1a over little-endian bytes.
struct Fnv(u64);

impl Fnv {
    fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Runs a scenario and holds it to the reference. Says whether every position had the reference's bits.
fn run<P: Precision>(case: &Value, script: &[Value], is_single: bool, metres: f64) -> bool {
    let name = text(&case["name"]);
    let (client, server, tampering) = settings(name, count(&case["sync_hz"]));
    let mut pair = Pair::<P>::new([0.0; 3], count(&case["latency_frames"]), (client, server));
    if name.contains("input_packet_lost") {
        pair.up.lost = vec![10];
    } else if name.contains("state_packet_lost") {
        pair.down.lost = vec![12, 13];
    }
    let walk = P::walk(5.0);
    let mut local = P::at([0.0; 3]);
    let mut axes = [0.0; 2];
    let mut rows = list(&case["trace"]).iter();
    let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
    for frame in 0..count(&case["frames"]) {
        if tampering.knockback && frame == 200 {
            let [x, y, z] = pair.server.position();
            *pair.server.state_mut() = P::at([x, y, z - 2.0]);
            pair.events.push(seen(frame, "server", "knockback"));
        }
        pair.serve(frame);
        pair.hear(frame);
        if tampering.teleport && frame == 150 {
            let [x, y, z] = pair.client.position();
            *pair.client.state_mut() = P::at([x + 3.0, y, z]);
            pair.events.push(seen(frame, "client", "tamper_teleport"));
        }
        if tampering.speed && (frame == 40 || frame == 200) {
            let (speed, kind) = if frame == 40 { (10.0, "tamper_speed_on") } else { (5.0, "tamper_speed_off") };
            P::set_speed(pair.client.mover_mut(), speed);
            pair.events.push(seen(frame, "client", kind));
        }
        if let Some(step) = script.iter().find(|step| count(&step[0]) == frame) {
            axes = [number(&step[1]), number(&step[2])];
        }
        walk.advance(&mut local, P::direction(axes, 1.0), P::Time::span_seconds(P::frame(1.0)));
        pair.play(frame, P::frame(tampering.clock), P::direction(axes, tampering.direction));

        let three = [walk.position(&local), pair.client.position(), pair.server.position()];
        for lane in three.iter().flat_map(|[x, _, z]| [*x, *z]) {
            if is_single { fnv.mix(&(lane as f32).to_le_bytes()) } else { fnv.mix(&lane.to_le_bytes()) }
        }
        if frame % count(&case["trace_stride"]) == 0 {
            let row = rows.next().expect("a row for each of these frames");
            assert_eq!(count(&row[0]), frame);
            for (nth, [x, _, z]) in three.into_iter().enumerate() {
                let expected = [number(&row[1 + 2 * nth]), 0.0, number(&row[2 + 2 * nth])];
                assert!(is_near([x, 0.0, z], expected, metres), "{name}: ({x}, {z}) against {row}");
            }
            let waits = [pair.client.needs_resync(), pair.server.needs_resync()];
            assert_eq!(waits.map(u64::from), [count(&row[7]), count(&row[8])], "{name}: {row}");
        }
    }
    check_events(&pair.events, list(&case["events"]), (name, metres));
    check_ack_stats(pair.client.ack_stats(), &case["client_stats"], &case["name"]);
    let stats = *pair.server.stats();
    let counts = [stats.packets, stats.discarded, stats.inputs, stats.rejected];
    let names = ["packets", "discarded", "inputs", "rejected"];
    assert_eq!(counts, names.map(|name| count(&case["server_stats"][name])), "{name}");
    assert_eq!(
        [pair.up.data, pair.down.data],
        ["client", "server"].map(|side| count(&case[format!("{side}_packets")]))
    );
    let finals = [("client", pair.client.position()), ("server", pair.server.position())];
    for (side, position) in finals {
        assert!(is_near(position, point(&case["final"][side]), metres), "{name}: {side}");
    }
    format!("0x{:016x}", fnv.0) == text(&case["fnv1a64"])
}

fn check_events(events: &[Seen], expected: &[Value], (name, metres): (&str, f64)) {
    let told = |events: &[Seen]| events.iter().map(|seen| (seen.frame, seen.side, seen.kind)).collect::<Vec<_>>();
    let in_file =
        |event: &Value| (count(&event["frame"]), text(&event["side"]).to_owned(), text(&event["kind"]).to_owned());
    let in_file: Vec<_> = expected.iter().map(in_file).collect();
    let ours: Vec<_> = told(events).into_iter().map(|(f, s, k)| (f, s.to_owned(), k.to_owned())).collect();
    assert_eq!(ours, in_file, "{name}");
    for (event, expected) in events.iter().zip(expected) {
        if let Some(position) = event.position {
            assert!(is_near(position, point(&expected["pos"]), metres), "{name}: {event:?} {expected}");
        }
        if let Some(seconds) = event.seconds {
            assert!((seconds - number(&expected["t"])).abs() <= metres, "{name}: {event:?} {expected}");
        }
    }
}

fn all_scenarios<P: Precision>(json: &str, is_single: bool, metres: f64) -> usize {
    let file: Value = serde_json::from_str(json).expect("the vectors are JSON");
    let cases = list(&file["cases"]);
    assert_eq!(cases.len(), 31);
    cases.iter().filter(|case| run::<P>(case, list(&file["input_script"]), is_single, metres)).count()
}

#[test]
fn every_event_of_every_scenario_is_in_the_reference_frame_and_every_position_has_its_bits() {
    let json = include_str!("../../../../vectors/qiita_e2e_f64.json");
    assert_eq!(all_scenarios::<Double>(json, false, 1e-5), 31);
}

#[test]
fn every_scenario_in_single_precision_has_the_reference_events() {
    let json = include_str!("../../../../vectors/qiita_e2e_f32.json");
    assert_eq!(all_scenarios::<Single>(json, true, 1e-5), 31);
}

/// An honest client that runs straight on from frame 30 to the end of 20 s, in a session that is some time old: the frames
/// in which it is set back by a resync, and the largest squared error.
fn straight_on<P: Precision>(session_start: f64, x: f64) -> (Vec<u64>, f64) {
    let client = ClientConfig { repeat_inputs: false, ..ClientConfig::default() };
    let server = ServerConfig { trust: Trust::Blind, ..ServerConfig::default() };
    let mut pair = Pair::<P>::new([x, 0.0, 0.0], 6, (client, server));
    // The session's age: a frame in which nothing moves, a send interval before the first that counts.
    pair.play(0, P::start(session_start), P::direction([0.0; 2], 1.0));
    for frame in 3..1203 {
        pair.serve(frame);
        pair.hear(frame);
        let runs = f64::from(u8::from(frame >= 33));
        pair.play(frame, P::frame(1.0), P::direction([runs, 0.0], 1.0));
    }
    let set_back = pair.events.iter().filter(|seen| seen.kind == "recv_Resync");
    (set_back.map(|seen| seen.frame - 3).collect(), pair.client.ack_stats().max_sqr_err)
}

#[test]
fn an_honest_client_whose_clock_adds_f32_seconds_is_taken_for_a_cheat_and_with_whole_microseconds_never() {
    for case in cases(include_str!("../../../../vectors/f32_timestamp_drift.json")) {
        let (start, x) = (number(&case["session_start_s"]), number(&case["x_start"]));
        let is_single = text(&case["number"]) == "f32";
        let (frames, error) = if is_single { straight_on::<Single>(start, x) } else { straight_on::<Double>(start, x) };
        let expected: Vec<_> = list(&case["resync_frames"]).iter().map(count).collect();
        assert_eq!(frames, expected, "{case}");
        let largest = number(&case["max_sqr_err"]);
        assert!((error - largest).abs() <= 1e-18 + largest * 1e-5, "{error}: {case}");
        let (frames, error) = straight_on::<Product>(start, x);
        assert!(frames.is_empty() && error < 1e-18, "{frames:?} {error}: {case}");
    }
}
