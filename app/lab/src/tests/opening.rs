//! What somebody sees who opens the lab: a run that plays at once, and a switch that is felt.

use super::{cube, distance, run, settle};
use crate::connection::PageConnection;
use crate::controls::{Key, presets};
use crate::recording::event::Event;
use crate::recording::{Recording, Start};
use crate::run::Run;
use serde_json::{Value, json};

const RIGHT: u8 = 8;

fn greeting() -> Value {
    serde_json::from_str(&PageConnection::new().greeting()).expect("it is JSON")
}

#[test]
fn a_new_run_begins_when_the_person_is_in_it_and_a_bot_drives_a_bad_network() {
    let ready = greeting();
    let frames = ready["frames"].as_array().expect("frames");
    let states: Vec<_> = frames.iter().map(|frame| frame["state"].as_str().expect("a state")).collect();
    assert_eq!((states.first(), states.last()), (Some(&"joining"), Some(&"playing")));
    assert!(states.len() < 120, "it takes {} frames to join", states.len());
    let last = &frames[states.len() - 1];
    let roles: Vec<_> = last["cubes"].as_array().expect("cubes").iter().map(|cube| &cube["role"]).collect();
    assert!(["local", "client", "server", "ghost"].iter().all(|role| roles.contains(&&json!(role))), "{roles:?}");
    assert_eq!((&last["bot"], &last["replaying"]), (&json!(true), &json!(false)));
    let settings = &ready["settings"];
    assert_eq!((&settings["latency_ms"], &settings["prediction"]), (&json!(150), &json!(true)));
    assert!(settings["jitter_ms"].as_f64() > Some(0.0) && settings["loss_percent"].as_f64() > Some(0.0));
}

#[test]
fn what_was_run_before_it_was_seen_is_in_the_link_too() {
    let start = Start::new(42, presets::default_settings());
    let mut run = Run::new(Recording::new(start));
    let unseen = run.warm_up();
    let seen: Vec<_> = (0..200).map(|frame| run.frame(if frame < 100 { 0 } else { RIGHT })).collect();
    let link = Recording::decode(&run.recording().encode()).expect("a link");
    let mut again = Run::new(link);
    assert!(again.warm_up().is_empty(), "a run that is replayed is seen from its beginning");
    for frame in unseen.iter().chain(&seen) {
        let replayed = again.frame(0);
        assert_eq!(format!("{:?}", replayed.cubes), format!("{:?}", frame.cubes), "frame {}", frame.frame);
    }
}

#[test]
fn a_key_is_seen_at_once_with_prediction_and_as_late_as_is_told_without() {
    for (prediction, latency) in [(1.0, 150.0), (0.0, 30.0), (0.0, 150.0)] {
        let mut run = run(&[(Key::Latency, latency), (Key::Jitter, 10.0), (Key::Prediction, prediction)]);
        let rest = settle(&mut run);
        let frames: Vec<_> = (0..90).map(|_| run.frame(RIGHT)).collect();
        let moved = |role| {
            let start = cube(&rest, role).expect(role);
            frames.iter().position(|frame| distance(cube(frame, role).expect(role), start) > 0.001).expect("it moves")
        };
        assert!(moved("local") <= 1);
        let (after_ms, told_ms) = (moved("client") as f64 * 1000.0 / 60.0, rest.now.answer_ms);
        let source = cube(&rest, "client").map(|cube| cube.source);
        if prediction == 1.0 {
            assert_eq!((moved("client"), told_ms, source), (moved("local"), 0.0, Some("predicted")));
        } else {
            assert!((told_ms - after_ms).abs() < 50.0, "{after_ms} ms of {told_ms} ms told");
            assert!(after_ms > 2.0 * latency, "{after_ms} ms are less than the way there and back");
            assert_eq!(source, Some("interpolated"));
        }
    }
}

#[test]
fn without_prediction_nothing_is_said_to_have_been_right() {
    for prediction in [1.0, 0.0] {
        let mut run =
            run(&[(Key::Latency, 150.0), (Key::Jitter, 40.0), (Key::Loss, 10.0), (Key::Prediction, prediction)]);
        settle(&mut run);
        let notes: Vec<_> =
            (0..1200).flat_map(|frame| run.frame(if frame % 60 < 30 { RIGHT } else { 4 }).notes).collect();
        let right = notes.iter().filter(|note| note.ends_with("nothing to correct")).count();
        assert_eq!(right > 0, prediction == 1.0, "{notes:?}");
        assert!(notes.iter().any(|note| note.contains("late")), "{notes:?}");
    }
}

#[test]
fn a_replayed_run_says_what_it_has_changed() {
    let mut page = PageConnection::new();
    let say = |page: &mut PageConnection, message: &Value| page.answer(&message.to_string()).expect("an answer");
    let frames = json!({ "type": "frames", "count": 1, "keys": 0 });
    let chosen = |answer: &str| serde_json::from_str::<Value>(answer).expect("it is JSON")["chosen"].clone();
    for _ in 0..30 {
        assert_eq!(chosen(&say(&mut page, &frames)), Value::Null);
    }
    say(&mut page, &json!({ "type": "set", "key": "prediction", "value": false }));
    assert_eq!(chosen(&say(&mut page, &frames)), Value::Null, "the page knows what it has set");
    let link: Value = serde_json::from_str(&say(&mut page, &json!({ "type": "link" }))).expect("it is JSON");
    say(&mut page, &json!({ "type": "start", "link": link["fragment"] }));
    let told: Vec<_> = (0..200).map(|_| chosen(&say(&mut page, &frames))).filter(|chosen| !chosen.is_null()).collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["settings"]["prediction"], json!(false));
}

#[test]
fn prediction_is_switched_off_and_on_while_the_cube_moves_and_nothing_jumps() {
    let mut run = run(&[(Key::Latency, 100.0)]);
    settle(&mut run);
    let mut before = None;
    for frame in 0..400 {
        if frame % 100 == 50 {
            run.set(Key::Prediction, u16::from(frame % 200 != 50)).expect("there is room");
        }
        let frame = run.frame(if frame % 60 < 30 { RIGHT } else { 4 });
        let client = cube(&frame, "client").expect("it is there").clone();
        if let Some(before) = before.replace(client.clone()) {
            // It may glide faster than it drives, but not be elsewhere at once: 0.5 m in a frame are 30 m/s.
            assert!(distance(&before, &client) < 0.5, "{before:?} {client:?}");
        }
    }
    assert_eq!(before.map(|cube| cube.source), Some("predicted"));
}

#[test]
fn a_hiccup_loses_inputs_and_leads_to_a_correction_that_says_so() {
    let mut run = run(&[(Key::Latency, 75.0)]);
    settle(&mut run);
    run.event(Event::Hiccup).expect("there is room");
    let frames: Vec<_> = (0..120).map(|frame| run.frame(if frame % 14 < 7 { RIGHT } else { 4 })).collect();
    let corrections: Vec<_> = frames.iter().flat_map(|frame| &frame.corrections).collect();
    assert!(!corrections.is_empty());
    assert!(corrections.iter().all(|one| one.causes.contains(&"own input late or substituted")), "{corrections:?}");
}
