//! What must hold of the scene *Peek*.

use super::*;
use crate::controls::{Key, control};
use crate::frame::duel::ReceiptCard;
use crate::recording::{Recording, Start};
use foretell::motion::vector::{length, sub};

fn settings(changes: &[(Key, f64)]) -> Settings {
    let mut settings = Settings::default();
    for (key, value) in changes {
        settings.set(*key, control(*key).nearest(*value));
    }
    settings
}

/// Plays so many frames as it opens by itself: all shots, and the last frame.
fn play(scene: &mut Peek, frames: core::ops::Range<u32>, settings: &Settings) -> (Vec<ShotCard>, Lanes) {
    let (mut shots, mut last) = (Vec::new(), Lanes::default());
    for frame in frames {
        let keys = scene.opening(frame).expect("it opens by itself");
        last = scene.frame(frame, keys, settings);
        shots.extend(last.shots.iter().cloned());
    }
    (shots, last)
}

fn figure(lane: &Lane, label: &str) -> f64 {
    lane.figures.iter().find(|figure| figure.label == label).expect(label).value
}

fn apart(one: Option<[f64; 3]>, other: Option<[f64; 3]>) -> f64 {
    length(sub(one.expect("a place"), other.expect("a place")))
}

/// For how long the card says that somebody was in cover, in ms.
fn in_cover_ms(card: &ShotCard) -> Option<f64> {
    card.result.split_once("in cover for ")?.1.split_once(" ms")?.0.parse().ok()
}

#[test]
fn who_is_shot_at_is_judged_where_the_shooter_saw_them_within_the_bound_of_the_receipt() {
    for latencies in [[20.0, 150.0], [150.0, 20.0]] {
        let network = [(Key::Latency, latencies[0]), (Key::OtherLatency, latencies[1]), (Key::Jitter, 8.0)];
        let settings = settings(&[&network[..], &[(Key::RewindMax, 500.0)]].concat());
        let (shots, _) = play(&mut Peek::new(3), 0..2400, &settings);
        let mut moving = [0; 2];
        for shot in shots.iter().filter(|shot| shot.tick > 120) {
            let Some(receipt) = &shot.receipt else { continue };
            assert!(!shot.clamped && shot.claimed_ms == Some(shot.used_ms) && shot.why == "as claimed", "{shot:?}");
            let off = apart(shot.seen, shot.rewound);
            assert!(off <= receipt.error_m + 1e-3, "{off} m: {shot:?}");
            moving[shot.by] += usize::from(apart(shot.seen, shot.now) > 0.3);
        }
        // The person's bot stands and waits, the other runs.
        assert!(moving[0] > 10, "{moving:?}");
        assert!(shots.iter().any(|shot| shot.by == 1 && shot.outcome == "hit"));
    }
}

#[test]
fn a_claim_from_longer_ago_than_the_server_goes_back_is_clamped_and_the_hit_that_was_told_is_taken_back() {
    let settings = settings(&[(Key::Latency, 150.0), (Key::RewindMax, 100.0)]);
    let (shots, last) = play(&mut Peek::new(3), 0..1800, &settings);
    let yours: Vec<_> = shots.iter().filter(|shot| shot.by == 0 && shot.tick > 120).collect();
    for shot in &yours {
        assert!(shot.clamped && shot.claimed_ms > Some(250.0) && (shot.used_ms - 100.0).abs() < 16.0, "{shot:?}");
        assert_eq!(shot.why, "clamped: at most 100 ms");
    }
    let taken_back: Vec<_> = yours.iter().filter(|shot| shot.told && shot.outcome == "missed").collect();
    assert!(taken_back.len() > 4 && taken_back.iter().all(|shot| shot.receipt.is_none()));
    assert_eq!(taken_back[0].result, "Missed. Your client told a hit, and took it back.");
    assert!(apart(taken_back[0].seen, taken_back[0].rewound) > 0.6);
    assert!(figure(&last.lanes[0], "taken back") >= 4.0, "{last:?}");
}

#[test]
fn with_grace_who_was_in_cover_for_longer_is_spared_and_the_card_says_why() {
    let run = |grace: f64| {
        let settings = settings(&[(Key::Latency, 110.0), (Key::OtherPlays, 1.0), (Key::Grace, grace)]);
        play(&mut Peek::new(3), 0..3600, &settings)
    };
    let late = |shot: &&ShotCard| in_cover_ms(shot).is_some_and(|ms| ms > 100.0);
    let (without, _) = run(0.0);
    assert!(without.iter().filter(late).count() > 3 && without.iter().all(|shot| shot.outcome != "spared"));
    let (with, last) = run(1.0);
    let spared: Vec<_> = with.iter().filter(|shot| shot.outcome == "spared").collect();
    assert_eq!(spared.len(), with.iter().filter(late).count());
    assert!(spared.len() > 3 && spared.iter().all(|shot| shot.told && shot.receipt.is_some()));
    assert!(spared[0].result.starts_with("Taken back: the other had been in cover for "), "{}", spared[0].result);
    assert!(spared[0].result.ends_with(" ms, and the grace is 100 ms."), "{}", spared[0].result);
    assert!(with.iter().any(|shot| shot.outcome == "hit"));
    assert!(figure(&last.lanes[0], "taken back") >= 4.0, "the shooter's client takes them back");
}

#[test]
fn the_parts_of_a_bar_add_up_to_the_sum_of_the_receipt() {
    let settings = settings(&[(Key::Latency, 60.0), (Key::OtherLatency, 20.0), (Key::Jitter, 15.0), (Key::Loss, 5.0)]);
    let (shots, _) = play(&mut Peek::new(5), 0..1200, &settings);
    let receipts: Vec<_> = shots.iter().filter_map(|shot| Some((shot.by, shot.receipt.as_ref()?))).collect();
    assert!(receipts.len() > 8 && [0, 1].iter().all(|by| receipts.iter().any(|(of, _)| of == by)));
    for (by, ReceiptCard { peek_ms, parts, .. }) in receipts {
        let sum: f64 = parts.iter().map(|part| part.ms).sum();
        assert!((sum - peek_ms).abs() < 1e-3, "{parts:?} are {peek_ms}");
        let way = if by == 0 { "your way" } else { "their way" };
        assert!(parts[1].name == way && (parts[1].ms - [60.0, 20.0][by]).abs() < 15.0, "{parts:?}");
    }
}

#[test]
fn who_comes_out_at_the_corner_sees_first_by_what_the_receipt_says() {
    for (plan, peeks) in [(1.0, 1), (2.0, 0)] {
        let settings = settings(&[(Key::Latency, 75.0), (Key::OtherLatency, 40.0), (Key::OtherPlays, plan)]);
        let mut scene = Peek::new(3);
        let _ = play(&mut scene, 0..400, &settings);
        let mut measured = 0;
        for frame in (400..1600).step_by(20) {
            let (shots, last) = play(&mut scene, frame..frame + 20, &settings);
            let Some(shot) = shots.iter().find(|shot| shot.by == peeks) else { continue };
            let said_ms = shot.receipt.as_ref().map_or(0.0, |receipt| receipt.peek_ms);
            let first_ms = figure(&last.lanes[peeks], "sees first");
            // Both are seen on screens that are drawn in frames.
            assert!((said_ms - first_ms).abs() < 34.0, "{said_ms} ms are said, {first_ms} ms are seen");
            assert!(said_ms > 100.0);
            measured += 1;
        }
        assert!(measured > 5, "{measured}");
    }
}

#[test]
fn whoever_has_the_faster_link_the_person_stands_in_front_of_the_wall_and_the_other_behind() {
    for latencies in [[0.0, 250.0], [250.0, 0.0]] {
        let settings = settings(&[(Key::Latency, latencies[0]), (Key::OtherLatency, latencies[1])]);
        let (shots, last) = play(&mut Peek::new(3), 0..400, &settings);
        for (nth, lane) in last.lanes.iter().enumerate() {
            let of = |role: &str| lane.cubes.iter().find(|cube| cube.role == role).expect("a cube").position[2];
            let front_first = if nth == 0 { [of("client"), of("other")] } else { [of("other"), of("client")] };
            assert!(front_first[0] < 0.0 && front_first[1] > 0.0, "{lane:?}");
        }
        assert!(shots.iter().all(|shot| (shot.by == 0) == (shot.from[2] < 0.0)));
    }
}

#[test]
fn the_other_takes_up_another_plan_in_the_run() {
    let mut scene = Peek::new(3);
    let _ = play(&mut scene, 0..300, &settings(&[(Key::OtherPlays, 0.0)]));
    let (_, last) = play(&mut scene, 300..600, &settings(&[(Key::OtherPlays, 2.0)]));
    let at = last.lanes[1].cubes.iter().find(|cube| cube.role == "client").expect("the other").position;
    assert!((at[0] - 4.2).abs() < 0.3 && (at[2] - 5.0).abs() < 0.3, "{at:?}");
}

#[test]
fn a_link_holds_the_settings_of_the_duel() {
    let changes = [(Key::OtherPlays, 1.0), (Key::OtherLatency, 123.0), (Key::RewindMax, 333.0), (Key::Grace, 1.0)];
    let settings = settings(&[&changes[..], &[(Key::Scene, 8.0)]].concat());
    let link = Recording::new(Start::new(9, settings)).encode();
    let read = Recording::decode(&link).expect("a link").start.settings;
    assert_eq!(read, settings);
    assert_eq!(read.scene().name(), "peek");
    assert_eq!((read.other_plays(), read.other_latency().as_millis(), read.rewind_max().as_millis()), (1, 123, 333));
    assert_eq!(read.grace().map(|grace| grace.as_millis()), Some(100));
}

#[test]
fn a_run_is_a_function_of_seed_settings_and_keys() {
    let settings = settings(&[(Key::Latency, 75.0), (Key::Loss, 10.0), (Key::Jitter, 30.0), (Key::Rate, 200.0)]);
    let run = || {
        let mut scene = Peek::new(11);
        (0..300)
            .map(|frame| format!("{:?}", scene.frame(frame, (frame / 20) as u8 % 32, &settings)))
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
