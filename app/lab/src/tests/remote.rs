//! What must hold of runs with others in them, of scripts, and of the datagrams of a correction.

use super::{distance, keys_of, run, say, settle};
use crate::connection::PageConnection;
use crate::controls::Key;
use crate::frame::Frame;
use crate::frame::cube::ShownCube;
use crate::recording::event::Event;
use crate::run::Run;
use serde_json::{Value, json};

fn of_role<'a>(frame: &'a Frame, role: &str) -> Vec<&'a ShownCube> {
    frame.cubes.iter().filter(|cube| cube.role == role).collect()
}

fn marks(frames: &[Frame]) -> Vec<(u32, &str)> {
    frames.iter().flat_map(|frame| frame.marks.iter().map(|mark| (frame.frame, &mark.caption[..]))).collect()
}

fn play(run: &mut Run, frames: u32) -> Vec<Frame> {
    (0..frames).map(|number| run.frame(keys_of(4, number))).collect()
}

#[test]
fn as_many_bots_move_as_are_asked_for_and_are_shown_with_their_truth() {
    let mut run = run(&[(Key::Latency, 40.0)]);
    let before = settle(&mut run);
    assert_eq!(of_role(&before, "other").len(), 1);
    run.set(Key::Scene, 1).expect("there is room");
    for bots in [7_u16, 1, 4] {
        run.set(Key::Bots, bots - 1).expect("there is room");
        let frames = play(&mut run, 240);
        let (then, now) = (&frames[180], frames.last().expect("some"));
        for role in ["other", "server", "ghost"] {
            let others: Vec<_> = of_role(now, role).into_iter().filter(|cube| cube.id != "1").collect();
            assert_eq!(others.len(), usize::from(bots), "{role}: {now:?}");
        }
        for other in of_role(now, "other") {
            let before = of_role(then, "other").into_iter().find(|cube| cube.id == other.id).expect("it was there");
            assert_eq!(other.source, "interpolated");
            assert!(distance(before, other) > 0.3, "{other:?} stands still");
        }
        assert!((1.0..20.0).contains(&(now.chart.shown_step_m * 100.0)), "{:?}", now.chart);
        assert!((20.0..200.0).contains(&now.now.playout_delay_ms), "{:?}", now.now);
    }
    run.set(Key::Scene, 0).expect("there is room");
    let last = play(&mut run, 120).pop().expect("some");
    assert_eq!([of_role(&last, "other").len(), of_role(&last, "server").len()], [1, 1]);
    assert_eq!((last.frame, last.state), (before.frame + 3 * 240 + 120, "playing"));
}

#[test]
fn a_preset_changes_the_link_and_not_the_session() {
    let mut page = PageConnection::new();
    let frames = |page: &mut PageConnection, count: u32| -> Vec<Value> {
        let one = |_| say(page, &json!({ "type": "frames", "count": 1, "keys": 0 }))["frames"][0].take();
        (0..count).map(one).collect()
    };
    say(&mut page, &json!({ "type": "preset", "name": "wifi" }));
    let before = frames(&mut page, 300);
    assert!(before[299]["now"]["rtt_ms"].as_f64() < Some(80.0));
    let answer = say(&mut page, &json!({ "type": "preset", "name": "terrible" }));
    assert_eq!((&answer["restarted"], &answer["preset"]), (&json!(false), &json!("terrible")));
    let after = frames(&mut page, 300);
    assert_eq!(after[0]["frame"], 300);
    assert_eq!(after[0]["marks"], json!([{ "kind": "set", "caption": "preset terrible" }]));
    assert!(after[299]["now"]["rtt_ms"].as_f64() > Some(200.0), "{}", after[299]["now"]);
    let answer = say(&mut page, &json!({ "type": "set", "key": "latency_ms", "value": 5 }));
    assert_eq!((&answer["restarted"], &answer["preset"]), (&json!(false), &Value::Null));
    assert_eq!(frames(&mut page, 1)[0]["marks"][0]["caption"], "one-way latency 5 ms");
}

#[test]
fn in_a_blackout_others_are_guessed_and_then_held_and_come_back() {
    let mut run = run(&[(Key::Latency, 40.0), (Key::Scene, 1.0)]);
    let start = settle(&mut run).frame + 1;
    run.event(Event::Blackout).expect("there is room");
    let frames = play(&mut run, 420);
    assert_eq!(marks(&frames), [(start + 60, "total loss"), (start + 180, "loss ends")]);
    let source = |at: usize| of_role(&frames[at], "other")[0].source;
    assert_eq!([source(30), source(170), source(400)], ["interpolated", "held", "interpolated"]);
    assert!(frames.iter().any(|frame| of_role(frame, "other")[0].source == "extrapolated"));
    let next: Vec<_> = [0, 100, 300].into_iter().map(|at: usize| frames[at].upcoming.as_ref()).collect();
    assert_eq!(next[0].map(|next| (&next.caption[..], next.in_s)), Some(("total loss", 1.0)));
    assert_eq!(next[1].map(|next| &next.caption[..]), Some("loss ends"));
    assert!(next[2].is_none());
    // It is the person's link alone: the bots' inputs get through, and they go on.
    assert!(frames[150..180].iter().all(|frame| frame.chart.true_step_m > 0.03));
    let worst = frames.iter().map(|frame| frame.now.frozen_ms).fold(0.0, f64::max);
    assert!((1200.0..2200.0).contains(&worst), "frozen for {worst} ms");
    assert_eq!(frames[419].state, "playing");
}

#[test]
fn a_latency_that_jumps_comes_back() {
    let mut run = run(&[(Key::Latency, 10.0), (Key::Scene, 1.0)]);
    settle(&mut run);
    run.event(Event::Spike).expect("there is room");
    let frames = play(&mut run, 28 * 60);
    let rtt = |second: usize| frames[second * 60].now.rtt_ms;
    assert!((50.0..100.0).contains(&rtt(2)) && rtt(9) > 500.0 && rtt(25) < 120.0, "{} {} {}", rtt(2), rtt(9), rtt(25));
    assert_eq!(marks(&frames).len(), 4);
}

#[test]
fn a_server_that_stalls_and_a_tab_that_sleeps_stand_still_for_as_long_as_their_scripts_say() {
    let mut run = run(&[(Key::Latency, 20.0), (Key::Scene, 1.0)]);
    settle(&mut run);
    run.event(Event::Server).expect("there is room");
    let frames = play(&mut run, 400);
    let truth = |frame: &Frame| of_role(frame, "server")[1].position;
    let still = frames.windows(2).filter(|pair| truth(&pair[0]) == truth(&pair[1])).count();
    assert!((115..=130).contains(&still), "{still} frames");
    run.event(Event::Sleep).expect("there is room");
    let frames = play(&mut run, 500);
    assert_eq!(frames.iter().filter(|frame| frame.state == "stalled").count(), 300);
    assert_eq!(frames[499].state, "playing");
}

#[test]
fn a_correction_for_a_missed_input_names_the_datagrams_that_did_not_bring_it() {
    let mut told = 0;
    for seed in 0..4 {
        let mut run = run(&[(Key::Latency, 40.0), (Key::Jitter, 120.0), (Key::Loss, 15.0), (Key::BurstLength, 4.0)]);
        for number in 0..1800 {
            let frame = run.frame(keys_of(seed, number));
            for correction in frame.corrections {
                let packets = &correction.packets;
                let snapshot = packets.snapshot.as_ref().expect("it came lately");
                assert!(snapshot.tick == correction.tick && snapshot.sent_s < snapshot.came_s);
                assert!(snapshot.came_s <= frame.time_s, "{correction:?}");
                if correction.causes != ["own input late or substituted"] {
                    continue;
                }
                assert!(packets.in_time == 0 && packets.lost + packets.late > 0, "{correction:?}");
                assert!(packets.ticks[1] < correction.tick && packets.due_s < Some(snapshot.sent_s + 1e-6));
                for carrier in &packets.inputs {
                    let meets = carrier.ticks[0] <= packets.ticks[1] && packets.ticks[0] <= carrier.ticks[1];
                    assert!(meets && (carrier.fate == "lost") == carrier.comes_s.is_none(), "{correction:?}");
                }
                told += 1;
            }
        }
    }
    assert!(told > 20, "{told}");
}

#[test]
fn a_correction_for_a_push_says_that_the_input_was_there() {
    let mut run = run(&[(Key::Latency, 75.0)]);
    settle(&mut run);
    run.event(Event::Impulse).expect("there is room");
    let corrections: Vec<_> = play(&mut run, 60).into_iter().flat_map(|frame| frame.corrections).collect();
    let packets = &corrections[0].packets;
    assert_eq!((packets.lost, packets.late, packets.ticks), (0, 0, [corrections[0].tick - 1; 2]));
    assert!(packets.in_time > 0 && packets.inputs[0].late_ms < Some(0.0), "{packets:?}");
}

const FAULTS: &str = "faults=0:p0:latency:both:40,0:p1:fps:30,1000-1500:p1:loss:up:100,2000:p2:leave:silently,\
    3000:p0:leave:politely,4000:p0:join,5000:s:event:1,5500-500:p0:stall,0:s:drift:200&seed=9&players=4&ms=7000";

fn open_link(link: &str) -> PageConnection {
    let mut page = PageConnection::new();
    let ready = say(&mut page, &json!({ "type": "start", "seed": null, "settings": null, "link": link }));
    assert_eq!(ready["type"], "ready", "{ready}");
    page
}

fn frames(page: &mut PageConnection, numbers: core::ops::Range<u32>) -> Vec<Value> {
    let one = |number| {
        let message = json!({ "type": "frames", "count": 1, "keys": keys_of(3, number) });
        let mut frame = say(page, &message)["frames"][0].take();
        frame.as_object_mut().expect("a frame").remove("replaying");
        frame
    };
    numbers.map(one).collect()
}

#[test]
fn a_link_of_faults_plays_them_at_their_times_with_a_mark_each_and_is_copied_bit_for_bit() {
    let mut page = open_link(FAULTS);
    let played = frames(&mut page, 0..480);
    let marks: Vec<_> = played
        .iter()
        .flat_map(|frame| {
            let marks = frame["marks"].as_array().expect("marks");
            marks.iter().map(|mark| (frame["frame"].as_u64(), mark["caption"].as_str())).collect::<Vec<_>>()
        })
        .collect();
    for (frame, caption) in [
        (0, "you (p0): latency 40 ms"),
        (0, "p1: 30 frames per second"),
        (60, "p1: loss up 100 %"),
        (120, "p2: is gone without a word"),
        (150, "p1: loss ends"),
        (180, "you (p0): leaves"),
        (240, "you (p0): joins"),
        (300, "server: pushes your cube"),
        (330, "you (p0): stalls"),
        (360, "you (p0): stall ends"),
        (420, "end of the scenario"),
    ] {
        assert!(marks.contains(&(Some(frame), Some(caption))), "{caption} in frame {frame}: {marks:?}");
    }
    assert_eq!(marks.len(), 12, "{marks:?}");
    let state = |frame: usize| played[frame]["state"].as_str();
    assert_eq!(
        [state(170), state(200), state(290), state(340), state(479)].map(Option::unwrap),
        ["playing", "left", "playing", "stalled", "playing"]
    );
    assert!(
        (80.0..110.0).contains(&played[290]["now"]["rtt_ms"].as_f64().expect("measured")),
        "{}",
        played[290]["now"]
    );
    let pushed = played.iter().flat_map(|frame| frame["corrections"].as_array().expect("corrections"));
    assert!(pushed.into_iter().any(|correction| correction["causes"] == json!(["server event"])));

    let link = say(&mut page, &json!({ "type": "link" }));
    assert_eq!(link["whole"], true);
    let mut again = open_link(link["fragment"].as_str().expect("text"));
    assert_eq!(frames(&mut again, 0..480), played);
}

#[test]
fn faults_stay_when_the_run_starts_again_and_are_not_played_when_they_are_malformed() {
    let mut page = open_link(FAULTS);
    let first = frames(&mut page, 0..120);
    say(&mut page, &json!({ "type": "start", "seed": 9, "settings": {}, "link": null, "faults": true }));
    assert_eq!(frames(&mut page, 0..1)[0]["marks"], first[0]["marks"]);
    let refused = say(&mut page, &json!({ "type": "set", "key": "bots", "value": 7 }));
    assert_eq!(refused["message"], "who plays in this run is up to the faults of its link");
    let chosen = say(&mut page, &json!({ "type": "set", "key": "jitter_ms", "value": 3 }));
    let mut again = open_link(chosen["fragment"].as_str().expect("text"));
    assert_eq!(frames(&mut again, 0..1)[0]["marks"], first[0]["marks"]);
    let link = "faults=0:p0:latency:both:40,300:p0:rain&seed=1&players=2&ms=3000";
    let error = say(&mut page, &json!({ "type": "start", "seed": null, "settings": null, "link": link }));
    let told = error["message"].as_str().expect("a message");
    assert!(told.starts_with("`300:p0:rain` is no fault; one is at[-length]:who:what, such as"), "{told}");
}

#[test]
fn others_who_are_predicted_from_relayed_inputs_are_ahead_of_the_truth_and_their_corrections_have_causes() {
    let mut run = run(&[(Key::Latency, 60.0), (Key::Scene, 1.0)]);
    settle(&mut run);
    run.set(Key::Others, 1).expect("there is room");
    let frames = play(&mut run, 600);
    let last = frames.last().expect("some");
    assert!(of_role(last, "other").iter().all(|cube| cube.source == "predicted"), "{:?}", last.cubes);
    let corrections: Vec<_> = frames.iter().flat_map(|frame| &frame.corrections).collect();
    let relayed = corrections.iter().filter(|correction| correction.causes == ["relayed input differed"]).count();
    assert!(relayed > 30, "{relayed} of {}", corrections.len());
    assert!(corrections.iter().all(|correction| !correction.causes.is_empty()));
    assert!(corrections.iter().all(|correction| !correction.sentence.contains("no cause")));
    run.set(Key::Scene, 0).expect("there is room");
    let last = play(&mut run, 120).pop().expect("some");
    assert_eq!(of_role(&last, "other")[0].source, "interpolated");
}
