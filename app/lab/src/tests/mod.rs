//! What must hold of whole runs, and of the talk about them.

mod lanes;
mod opening;
mod remote;

use crate::connection::PageConnection;
use crate::controls::{CONTROLS, Control, Key, Range, Settings, control};
use crate::frame::Frame;
use crate::frame::cube::ShownCube;
use crate::recording::event::Event;
use crate::recording::{Recording, Start};
use crate::run::Run;
use foretell_sim::netsim::SplitMix64;
use serde_json::{Value, json};

const UP: u8 = 1;
const RIGHT: u8 = 8;
/// How many pages do whatever they like; thousands were tried once.
const SOAK_SEEDS: u64 = 20;

fn settings(changes: &[(Key, f64)]) -> Settings {
    let mut settings = Settings::default();
    for (key, value) in changes {
        let range = control(*key).range;
        let code = match range {
            Range::Numbers(numbers, _) => {
                numbers.iter().position(|number| f64::from(*number) == *value).map(|at| at as u16)
            }
            _ => Some(control(*key).nearest(*value)),
        };
        settings.set(*key, code.expect("one of the choices"));
    }
    settings
}

pub fn run(changes: &[(Key, f64)]) -> Run {
    Run::new(Recording::new(Start { bot: false, ..Start::new(7, settings(changes)) }))
}

pub fn cube<'a>(frame: &'a Frame, role: &str) -> Option<&'a ShownCube> {
    frame.cubes.iter().find(|cube| cube.role == role)
}

pub fn distance(a: &ShownCube, b: &ShownCube) -> f64 {
    (0..3).map(|axis| (a.position[axis] - b.position[axis]).powi(2)).sum::<f64>().sqrt()
}

/// Frames up to the one in which the client plays and everything is at rest.
pub fn settle(run: &mut Run) -> Frame {
    (0..300).for_each(|_| drop(run.frame(0)));
    let frame = run.frame(0);
    assert_eq!(frame.state, "playing");
    frame
}

/// A person who changes keys every quarter of a second.
pub fn keys_of(seed: u64, frame: u32) -> u8 {
    (SplitMix64::new(seed ^ u64::from(frame / 15)).next_u64() % 32) as u8
}

#[test]
fn the_client_moves_within_a_frame_of_a_key_and_the_server_later() {
    let mut run = run(&[(Key::Latency, 75.0)]);
    let rest = settle(&mut run);
    let moved = |frame: &Frame, role| distance(cube(frame, role).expect(role), cube(&rest, role).expect(role)) > 0.0;
    let frames: Vec<_> = (0..60).map(|_| run.frame(RIGHT)).collect();
    let first = |role| frames.iter().position(|frame| moved(frame, role)).expect("it moves");
    assert!(first("client") <= 1, "the client in frame {}", first("client"));
    assert_eq!(first("local"), first("client"));
    // At least the 75 ms that the input needs to get there, and as much again for the snapshot.
    assert!((4..9).contains(&first("server")), "the server in frame {}", first("server"));
    assert!(first("ghost") >= first("server") + 4, "the ghost in frame {}", first("ghost"));
}

#[test]
fn the_local_cube_is_the_clients_to_the_bit_while_nothing_is_lost() {
    for (show, tick_rate, latency) in [(0.0, 64.0, 75.0), (1.0, 60.0, 250.0), (2.0, 128.0, 0.0), (0.0, 20.0, 30.0)] {
        let changes =
            [(Key::Latency, latency), (Key::TickRate, tick_rate), (Key::SnapshotRate, 20.0), (Key::Show, show)];
        let mut run = run(&changes);
        let mut compared = 0;
        for number in 0..1200 {
            let frame = run.frame(keys_of(3, number));
            assert_eq!((frame.now.misprediction_m, frame.corrections.len()), (0.0, 0), "{changes:?}: {frame:?}");
            assert_eq!(cube(&frame, "local").is_some(), cube(&frame, "client").is_some());
            if let (Some(local), Some(client)) = (cube(&frame, "local"), cube(&frame, "client")) {
                assert!(distance(local, client) <= 1e-6, "{changes:?}, frame {number}: {local:?} {client:?}");
                compared += 1;
            }
        }
        assert!(compared > 1100, "{changes:?}: {compared}");
        assert!(run.stats().prediction.outcomes.agreed > 300);
    }
}

#[test]
fn an_impulse_is_one_correction_with_its_reason() {
    for (snapshot_rate, size) in [(64.0, 0.044), (16.0, 0.160), (2.0, 0.614)] {
        let mut run = run(&[(Key::Latency, 75.0), (Key::SnapshotRate, snapshot_rate)]);
        // The rest is in tick 320 for the client; the snapshot after the push is a whole interval away.
        let mut corrections = Vec::new();
        settle(&mut run);
        run.event(Event::Impulse).expect("there is room");
        for _ in 0..240 {
            corrections.extend(run.frame(0).corrections);
        }
        let [correction] = &corrections[..] else { panic!("{snapshot_rate} Hz: {corrections:?}") };
        assert!((0.01..=size + 0.001).contains(&correction.misprediction_m), "{snapshot_rate} Hz: {correction:?}");
        assert_eq!((&correction.causes[..], &correction.field[..]), (&["server event"][..], "position"));
        assert!(correction.sentence.contains("the server pushed the cube by 3 m/s before tick"), "{correction:?}");
    }
}

#[test]
fn a_stall_stands_still_and_then_starts_again() {
    let mut run = run(&[(Key::Latency, 20.0)]);
    settle(&mut run);
    run.event(Event::Stall).expect("there is room");
    let frames: Vec<_> = (0..300).map(|_| run.frame(UP)).collect();
    assert_eq!(frames.iter().filter(|frame| frame.state == "stalled").count(), 120);
    let notes: Vec<_> = frames.iter().flat_map(|frame| &frame.notes).collect();
    assert!(notes.iter().any(|note| note.contains("started again from the server's state")), "{notes:?}");
    assert!(notes.len() < 20, "{notes:?}");
    assert_eq!(frames.last().map(|frame| frame.state), Some("playing"));
}

#[test]
fn a_late_input_is_told_in_a_sentence() {
    let mut run = run(&[(Key::Latency, 40.0), (Key::Jitter, 250.0), (Key::Loss, 10.0)]);
    let mut sentences = Vec::new();
    for frame in 0..1800 {
        sentences.extend(run.frame(keys_of(5, frame)).corrections.into_iter().map(|correction| correction.sentence));
    }
    assert!(sentences.iter().any(|told| told.contains("ms too late; the server repeated tick")), "{sentences:?}");
    assert!(sentences.iter().all(|told| !told.contains("no cause")), "{sentences:?}");
}

/// A page that does everything there is to do.
fn busy_page(dialogue: &mut PageConnection, frames: u32) -> Vec<Value> {
    let mut random = SplitMix64::new(12);
    let mut shown = Vec::new();
    say(dialogue, &json!({ "type": "preset", "name": "terrible" }));
    for number in 0..frames {
        if number % 37 == 36 {
            let live: Vec<_> = CONTROLS.iter().filter(|control| !control.key.restarts()).collect();
            let control = live[(random.next_u64() % live.len() as u64) as usize];
            let code = (random.next_u64() % (u64::from(control.code_max()) + 1)) as u16;
            let value = control.value(code);
            // Nobody can play beyond this.
            if control.key != Key::Latency && control.key != Key::Loss {
                say(dialogue, &json!({ "type": "set", "key": control.name, "value": value }));
            }
        }
        let events = [(211, "impulse"), (307, "teleport"), (401, "stall"), (503, "realign")];
        let scripts = [(223, "spike"), (317, "blackout"), (419, "bursts"), (601, "server"), (901, "sleep")];
        for (every, name) in events.into_iter().chain(scripts) {
            if number % every == every - 1 {
                assert_eq!(dialogue.answer(&json!({ "type": "event", "name": name }).to_string()), None);
            }
        }
        let keys = if number < 100 { 0 } else { keys_of(9, number) };
        shown.push(one_frame(dialogue, keys));
    }
    shown
}

pub fn say(dialogue: &mut PageConnection, message: &Value) -> Value {
    let answer = dialogue.answer(&message.to_string()).expect("it is answered");
    serde_json::from_str(&answer).expect("JSON")
}

/// A frame without the word that it is replayed.
fn one_frame(dialogue: &mut PageConnection, keys: u8) -> Value {
    let mut answer = say(dialogue, &json!({ "type": "frames", "count": 1, "keys": keys }));
    let mut frame = answer["frames"][0].take();
    frame.as_object_mut().expect("a frame").remove("replaying");
    frame
}

#[test]
fn a_link_reproduces_a_run_bit_for_bit() {
    let mut played = PageConnection::new();
    let shown = busy_page(&mut played, 1500);
    let corrections = shown.iter().filter(|frame| frame["corrections"] != json!([])).count();
    assert!(corrections > 5, "{corrections}");
    let link = say(&mut played, &json!({ "type": "link" }));
    assert_eq!(link["whole"], true);

    let mut replayed = PageConnection::new();
    say(&mut replayed, &json!({ "type": "start", "seed": 1, "settings": null, "link": link["fragment"] }));
    for (number, frame) in shown.iter().enumerate() {
        // What the page holds meanwhile does not count.
        assert_eq!(&one_frame(&mut replayed, RIGHT), frame, "frame {number}");
    }
    let again = say(&mut replayed, &json!({ "type": "link" }));
    assert_eq!(again["fragment"], link["fragment"]);
    assert_eq!(one_frame(&mut replayed, RIGHT), one_frame(&mut played, RIGHT));
}

#[test]
fn the_fragment_of_the_settings_starts_a_run_of_them() {
    let mut page = PageConnection::new();
    say(
        &mut page,
        &json!({ "type": "start", "seed": 99, "settings": { "latency_ms": 75, "tick_rate": 30 }, "link": null }),
    );
    let chosen = say(&mut page, &json!({ "type": "set", "key": "gap_policy", "value": "hold" }));
    assert_eq!((&chosen["preset"], &chosen["restarted"]), (&Value::Null, &json!(false)));
    let ready = say(&mut page, &json!({ "type": "start", "seed": null, "settings": null, "link": chosen["fragment"] }));
    assert_eq!((&ready["settings"], &ready["seed"]), (&chosen["settings"], &json!(99)));
    let restarted = say(&mut page, &json!({ "type": "set", "key": "tick_rate", "value": "64" }));
    assert_eq!((&restarted["restarted"], &restarted["settings"]["tick_rate"]), (&json!(true), &json!(64)));
    let frame = one_frame(&mut page, 0);
    assert_eq!(frame["frame"], 0);
    assert!(frame["notes"][0].as_str().is_some_and(|note| note.contains("tick rate")), "{frame}");
}

#[test]
fn every_choice_of_every_control_runs_sanely() {
    let mut run = run(&[(Key::Latency, 40.0), (Key::Jitter, 20.0), (Key::Loss, 5.0)]);
    let mut frame = 0;
    for control in CONTROLS.iter().filter(|control| !control.key.restarts()) {
        for code in codes(control) {
            run.set(control.key, code).expect("there is room");
            for _ in 0..40 {
                check_sane(&run.frame(keys_of(1, frame)), control);
                frame += 1;
            }
            let stats = run.stats();
            assert!(stats.prediction.outcomes.add_up(), "{} = {code}: {stats:?}", control.name);
        }
        run.set(control.key, settings(&[(Key::Latency, 40.0)]).code(control.key)).expect("there is room");
    }
    assert!(run.stats().prediction.outcomes.received > 100);
}

/// All choices, and some points of a slider.
fn codes(control: &Control) -> Vec<u16> {
    let max = control.code_max();
    if max < 10 { (0..=max).collect() } else { vec![0, 1, max / 3, max] }
}

fn check_sane(frame: &Frame, control: &Control) {
    for cube in &frame.cubes {
        let [x, y, z] = cube.position;
        let inside = x.abs() < 15.0 && z.abs() < 15.0 && (-3.0..10.0).contains(&y);
        assert!(inside, "{}: {cube:?} in {frame:?}", control.name);
    }
    assert!(frame.now.misprediction_m.is_finite() && (0.0..=1.0).contains(&frame.now.input_miss_rate));
}

#[test]
fn every_tick_rate_starts_a_run_that_plays() {
    for tick_rate in [20.0, 30.0, 60.0, 64.0, 128.0] {
        let mut run = run(&[(Key::Latency, 40.0), (Key::TickRate, tick_rate)]);
        let last = (0..240).map(|number| run.frame(keys_of(2, number))).last().expect("a frame");
        assert_eq!(last.state, "playing", "{tick_rate} Hz: {last:?}");
        assert!(["local", "client", "server", "ghost"].iter().all(|role| cube(&last, role).is_some()), "{last:?}");
        assert!(run.stats().prediction.outcomes.agreed > 20, "{tick_rate} Hz: {:?}", run.stats());
    }
}

#[test]
fn whatever_is_not_understood_gets_a_sentence() {
    let mut page = PageConnection::new();
    for message in [
        "",
        "no JSON",
        "[]",
        r#"{"type":"dance"}"#,
        r#"{"type":"frames"}"#,
        r#"{"type":"frames","count":0,"keys":0}"#,
        r#"{"type":"frames","count":5,"keys":0}"#,
        r#"{"type":"frames","count":1,"keys":32}"#,
        r#"{"type":"frames","count":-1,"keys":1e99}"#,
        r#"{"type":"set","key":"speed","value":1}"#,
        r#"{"type":"set","key":"latency_ms","value":-1}"#,
        r#"{"type":"set","key":"latency_ms","value":null}"#,
        r#"{"type":"set","key":"show","value":["newest"]}"#,
        r#"{"type":"preset","name":"moon"}"#,
        r#"{"type":"event","name":"rain"}"#,
        r#"{"type":"start","seed":18446744073709551615,"settings":null,"link":null}"#,
        r#"{"type":"start","seed":1,"settings":{"jitter_ms":true},"link":null}"#,
        r#"{"type":"start","seed":1,"settings":null,"link":"nonsense!"}"#,
        r#"{"type":"start","seed":1,"settings":null,"link":"AAAA"}"#,
    ] {
        let answer: Value = serde_json::from_str(&page.answer(message).expect("an answer")).expect("JSON");
        let told = answer["message"].as_str().expect(message);
        assert!(answer["type"] == "error" && told.len() > 20 && !told.contains('\n'), "{message}: {told}");
    }
    for _ in 0..64 {
        assert_eq!(page.answer(r#"{"type":"event","name":"impulse"}"#), None);
    }
    let refused = say(&mut page, &json!({ "type": "event", "name": "impulse" }));
    assert_eq!(refused["message"], "at most 64 changes are possible between two frames");
    one_frame(&mut page, 0);
    assert_eq!(page.answer(r#"{"type":"event","name":"impulse"}"#), None);
}

#[test]
fn a_slider_that_is_dragged_and_many_presets_between_two_frames_are_all_taken_and_come_back_by_the_link() {
    let mut page = PageConnection::new();
    one_frame(&mut page, 0);
    for ms in 0..300 {
        let chosen = say(&mut page, &json!({ "type": "set", "key": "latency_ms", "value": ms }));
        assert_eq!((&chosen["type"], &chosen["settings"]["latency_ms"]), (&json!("settings"), &json!(ms)));
        if ms == 150 {
            assert_eq!(page.answer(r#"{"type":"event","name":"impulse"}"#), None);
        }
    }
    for name in ["lan", "terrible", "wifi", "4g"].repeat(20) {
        assert_eq!(say(&mut page, &json!({ "type": "preset", "name": name }))["preset"], name);
    }
    let shown: Vec<_> = (0..120).map(|_| one_frame(&mut page, RIGHT)).collect();
    let link = say(&mut page, &json!({ "type": "link" }));
    let mut replayed = PageConnection::new();
    say(&mut replayed, &json!({ "type": "start", "seed": 1, "settings": null, "link": link["fragment"] }));
    let warm = shown[0]["frame"].as_u64().expect("a number");
    (0..warm).for_each(|_| drop(one_frame(&mut replayed, 0)));
    shown.iter().for_each(|frame| assert_eq!(&one_frame(&mut replayed, 0), frame));
}

#[test]
fn a_preset_that_there_is_no_room_for_changes_nothing() {
    let mut page = PageConnection::new();
    (0..63).for_each(|_| assert_eq!(page.answer(r#"{"type":"event","name":"impulse"}"#), None));
    // It is what it is already, so that it takes no room.
    let latency = json!({ "type": "set", "key": "latency_ms", "value": 150 });
    let chosen = say(&mut page, &latency);
    let refused = say(&mut page, &json!({ "type": "preset", "name": "perfect" }));
    assert_eq!(refused["message"], "at most 64 changes are possible between two frames");
    assert_eq!(say(&mut page, &latency), chosen);
}

#[test]
fn whatever_a_page_does_in_whatever_order_it_gets_its_frames() {
    for seed in 0..SOAK_SEEDS {
        let mut random = SplitMix64::new(seed);
        let mut below = |limit: u64| random.next_u64() % limit;
        let mut page = PageConnection::new();
        let mut link = Value::Null;
        for _ in 0..400 {
            let control = &CONTROLS[below(CONTROLS.len() as u64) as usize];
            let value = control.value(below(u64::from(control.code_max()) + 1) as u16);
            let preset = ["perfect", "lan", "wifi", "4g", "terrible"][below(5) as usize];
            let event = ["impulse", "teleport", "stall", "realign", "spike", "blackout", "bursts", "server", "sleep"]
                [below(9) as usize];
            let message = match below(40) {
                0 => json!({ "type": "start", "seed": below(99), "settings": { control.name: value }, "link": link }),
                1..=3 => json!({ "type": "set", "key": control.name, "value": value }),
                4 => json!({ "type": "preset", "name": preset }),
                5 => json!({ "type": "event", "name": event }),
                6 => json!({ "type": "link" }),
                _ => json!({ "type": "frames", "count": 1 + below(4), "keys": below(32) }),
            };
            let Some(answer) = page.answer(&message.to_string()) else { continue };
            let mut answer: Value = serde_json::from_str(&answer).expect("JSON");
            assert_ne!(answer["type"], "error", "seed {seed}: {message} {answer}");
            if answer["type"] == "link" {
                link = answer["fragment"].take();
            }
        }
    }
}
