//! What must hold of the scene *Physics*.

use super::*;
use crate::controls::control;
use crate::frame::bodies::{BodyRow, GONE};
use crate::frame::lane::Lane;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;

const UP: u8 = 1;

fn settings(changes: &[(Key, f64)]) -> Settings {
    let mut settings = Settings::default();
    for (key, value) in changes {
        settings.set(*key, control(*key).nearest(*value));
    }
    settings
}

fn figure(lane: &Lane, label: &str) -> f64 {
    lane.figures.iter().find(|figure| figure.label == label).expect(label).value
}

fn rows(text: &str) -> Vec<BodyRow> {
    let bytes = STANDARD.decode(text).expect("base64");
    let number = |pair: &[u8]| i16::from_le_bytes([pair[0], pair[1]]);
    bytes.chunks_exact(16).map(|row| core::array::from_fn(|nth| number(&row[2 * nth..]))).collect()
}

/// Somebody who looks at a lane, and knows what it was told.
#[derive(Default)]
struct Page {
    client: BTreeMap<i16, BodyRow>,
    server: BTreeMap<i16, BodyRow>,
}

impl Page {
    fn take(&mut self, lane: &Lane) {
        let bodies = lane.bodies.as_ref().expect("bodies");
        for (known, told) in [(&mut self.client, &bodies.client), (&mut self.server, &bodies.server)] {
            if bodies.whole {
                known.clear();
            }
            known.extend(rows(told).into_iter().map(|row| (row[0], row)));
            known.retain(|_, row| row[7] != GONE);
        }
    }
}

/// Plays so many frames; the last one.
fn play(physics: &mut Physics, frames: core::ops::Range<u32>, keys: u8, settings: &Settings) -> Lanes {
    frames.map(|frame| physics.frame(frame, keys, settings)).last().expect("some")
}

#[test]
fn who_is_alone_pushes_the_pile_without_a_correction_and_every_digest_agrees() {
    let settings = settings(&[(Key::Latency, 75.0), (Key::SnapshotRate, 1.0)]);
    let mut physics = Physics::new(42);
    play(&mut physics, 0..120, 0, &settings);
    let mut page = Page::default();
    let mut corrected = 0.0;
    for frame in 120..420 {
        let told = physics.frame(frame, UP, &settings);
        corrected += told.lanes[0].chart[1].unwrap_or(0.0);
        page.take(&told.lanes[0]);
    }
    assert_eq!(corrected, 0.0);
    let last = play(&mut physics, 420..421, UP, &settings);
    assert_eq!(figure(&last.lanes[0], "digests agreed"), 100.0);
    assert!(page.client.len() > 20, "bodies were pushed: {}", page.client.len());
}

#[test]
fn what_the_page_puts_together_is_what_the_server_has() {
    let settings = settings(&[(Key::Latency, 40.0), (Key::Second, 1.0), (Key::Loss, 5.0)]);
    let mut physics = Physics::new(7);
    let mut pages = [Page::default(), Page::default()];
    for frame in 0..300 {
        let told = physics.frame(frame, if frame > 60 { UP } else { 0 }, &settings);
        told.lanes.iter().zip(&mut pages).for_each(|(lane, page)| page.take(lane));
        let truth = physics.session.as_ref().expect("it runs").driver.newest_truth();
        for (page, _) in pages.iter().zip(&told.lanes) {
            assert_eq!(page.server.values().copied().collect::<Vec<_>>(), truth, "frame {frame}");
        }
    }
    assert_eq!(pages[0].server.len(), 102);
    assert_eq!(pages[0].client.keys().collect::<Vec<_>>(), pages[1].client.keys().collect::<Vec<_>>());
}

#[test]
fn without_relayed_inputs_states_are_asked_for_and_with_them_hardly_any() {
    let asked = |relay: f64| {
        let settings = settings(&[(Key::Latency, 75.0), (Key::Second, 1.0), (Key::Relay, relay)]);
        let mut physics = Physics::new(3);
        let last = play(&mut physics, 0..600, UP, &settings);
        figure(&last.lanes[0], "states asked for")
    };
    let (with, without) = (asked(1.0), asked(0.0));
    assert!(with < 0.3 && without > 1.0, "{with} and {without} per second");
}

#[test]
fn where_not_all_is_predicted_it_is_what_is_near() {
    let settings = settings(&[(Key::Latency, 75.0), (Key::Predicted, 1.0)]);
    let mut physics = Physics::new(4);
    let mut page = Page::default();
    for frame in 0..240 {
        page.take(&physics.frame(frame, if frame > 120 { UP } else { 0 }, &settings).lanes[0]);
    }
    let own = page.client[&1];
    let far_m = |row: &BodyRow| {
        [1, 3].map(|lane| f64::from(row[lane] - own[lane]) / 1000.0).iter().fold(0.0, |far, d| far + d * d).sqrt()
    };
    let (near, far): (Vec<_>, Vec<_>) = page.client.values().partition(|row| row[7] == 0);
    assert!(near.len() > 10 && far.len() > 10, "{} and {}", near.len(), far.len());
    assert!(near.iter().all(|row| far_m(row) < 5.5) && far.iter().all(|row| far_m(row) > 3.5));
}

#[test]
fn of_nine_hundred_cubes_who_is_near_is_told_and_predicted() {
    let settings = settings(&[(Key::Latency, 75.0), (Key::Field, 2.0)]);
    let mut physics = Physics::new(4);
    let mut page = Page::default();
    for frame in 0..200 {
        page.take(&physics.frame(frame, if frame > 90 { UP } else { 0 }, &settings).lanes[0]);
    }
    assert_eq!(page.server.len(), 902);
    let predicted = page.client.values().filter(|row| row[7] == 0).count();
    assert!((10..page.client.len()).contains(&predicted), "{predicted} of {}", page.client.len());
    assert!(page.client.len() <= 2 * usize::from(NEAREST), "{}", page.client.len());
}

/// What must hold of one who pushes the field of 901 cubes, of which the near ones are predicted: measured for four seconds.
#[test]
fn of_nine_hundred_cubes_most_states_agree_and_few_bodies_are_corrected_while_they_are_pushed() {
    for (second, keys) in [(0.0, UP), (1.0, UP), (1.0, UP | 4), (0.0, UP | 8)] {
        let settings = settings(&[(Key::Latency, 75.0), (Key::Field, 2.0), (Key::Second, second)]);
        let mut physics = Physics::new(4);
        play(&mut physics, 0..120, 0, &settings);
        let told: Vec<_> = (120..360).map(|frame| physics.frame(frame, keys, &settings)).collect();
        let lane = &told.last().expect("some").lanes[0];
        let (agreed, corrected) = (figure(lane, "states agreed"), figure(lane, "bodies corrected"));
        assert!(agreed > 80.0, "{agreed} %, keys {keys}");
        assert!(corrected < 250.0, "{corrected} per second, keys {keys}");
        assert!(figure(lane, "correction p99") < 15.0, "keys {keys}: {:?}", lane.figures);
        let steps = told.iter().flat_map(|told| &told.steps);
        for (_, sentence) in steps.filter(|(lane, _)| *lane == 0) {
            assert!(!sentence.contains("resync") && !sentence.contains("unexplained"), "{sentence}");
        }
    }
}

#[test]
fn the_second_player_comes_and_goes_and_a_change_of_the_field_begins_anew() {
    let mut physics = Physics::new(1);
    let alone = settings(&[]);
    let both = settings(&[(Key::Second, 1.0)]);
    for (round, wanted) in [(&alone, 1), (&both, 2), (&alone, 1), (&both, 2)].into_iter().enumerate() {
        let first = u32::try_from(round).expect("few") * 120;
        let last = play(&mut physics, first..first + 120, 0, wanted.0);
        assert_eq!(last.lanes.len(), wanted.1);
        let truth = physics.session.as_ref().expect("it runs").driver.newest_truth();
        assert_eq!(truth.len(), 100 + wanted.1);
    }
    let fewer = settings(&[(Key::Field, 0.0)]);
    let mut page = Page::default();
    for frame in 480..600 {
        page.take(&physics.frame(frame, 0, &fewer).lanes[0]);
    }
    assert_eq!((page.client.len(), page.server.len()), (31, 31));
}

#[test]
fn a_second_player_who_has_gone_leaves_nothing_behind() {
    let mut physics = Physics::new(1);
    for frame in 0..40 {
        let second = f64::from(frame / 10 % 2);
        physics.frame(frame, 0, &settings(&[(Key::Field, 0.0), (Key::Second, second)]));
        let session = physics.session.as_ref().expect("it runs");
        let there = if second > 0.0 { 2 } else { 1 };
        assert_eq!((session.simulation.players.len(), session.driver.screens.len()), (there, there), "frame {frame}");
    }
}

#[test]
fn a_second_person_plays_from_their_first_key_on_over_their_own_link() {
    let settings = settings(&[(Key::Latency, 75.0), (Key::Second, 1.0)]);
    let run = |second: &dyn Fn(u32) -> Option<u8>| {
        let mut physics = Physics::new(8);
        let mut page = Page::default();
        let mut way = Vec::new();
        for frame in 0..300 {
            second(frame).into_iter().for_each(|keys| physics.second(keys));
            let told = physics.frame(frame, 0, &settings);
            page.take(&told.lanes[0]);
            way.push((page.client.get(&2).copied(), page.server.get(&2).copied(), told.second));
        }
        way
    };
    let bot = run(&|_| None);
    // They stop, and drive to the right from frame 240 on.
    let person = run(&|frame| [(180, 0), (240, 8)].iter().find(|(at, _)| *at == frame).map(|(_, keys)| *keys));
    assert_eq!(bot[..180], person[..180]);
    assert_eq!((bot[299].2, person[179].2, person[180].2, person[299].2), (None, None, Some(0), Some(8)));
    let x = |frame: usize| person[frame].1.expect("it is there")[1];
    let begun = (230..300).find(|frame| x(*frame) - x(230) > 50).expect("it drives");
    assert!(begun >= 240 + 60 * 75 / 1000, "over a link of 75 ms: {begun}");
    assert!(x(299) - x(240) > 500, "{} mm", x(299) - x(240));
}

#[test]
fn a_run_is_a_function_of_seed_settings_and_keys() {
    let settings = settings(&[(Key::Latency, 75.0), (Key::Loss, 10.0), (Key::Jitter, 30.0), (Key::Second, 1.0)]);
    let run = || {
        let mut physics = Physics::new(11);
        let keys = |frame: u32| if frame % 90 < 60 { UP } else { 8 };
        let told = (0..240).map(|frame| physics.frame(frame, keys(frame), &settings));
        told.map(|told| told.lanes.into_iter().filter_map(|lane| lane.bodies).map(|bodies| bodies.client).collect())
            .collect::<Vec<Vec<String>>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn a_blow_of_the_server_is_corrected_and_told() {
    let settings = settings(&[(Key::Latency, 75.0)]);
    let mut physics = Physics::new(5);
    play(&mut physics, 0..120, 0, &settings);
    assert!(physics.event("impulse") && !physics.event("stall"));
    let told: Vec<_> = (120..200).map(|frame| physics.frame(frame, 0, &settings)).collect();
    let steps: Vec<_> = told.iter().flat_map(|told| &told.steps).collect();
    assert!(steps.iter().any(|(lane, sentence)| *lane == 0 && sentence.contains("server event")), "{steps:?}");
    let corrected = told.iter().flat_map(|told| &told.lanes[0].bodies).find(|bodies| !bodies.corrected.is_empty());
    assert_eq!(rows(&corrected.expect("a trail").corrected)[0][0], 1, "of the person's cube");
}
