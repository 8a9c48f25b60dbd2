use super::*;
use crate::controls::{Key, control};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const UP: u8 = 1;

fn settings(changes: &[(Key, f64)]) -> Settings {
    let mut settings = Settings::default();
    settings.set(Key::Latency, 20);
    for (key, value) in changes {
        settings.set(*key, control(*key).nearest(*value));
    }
    settings
}

/// The lane after so many frames, in the last 60 of which figures are averaged.
fn after(scene: &mut CrowdScene, frames: core::ops::Range<u32>, keys: u8, settings: &Settings) -> Lane {
    let mut last = None;
    for frame in frames {
        last = scene.frame(frame, keys, settings).lanes.pop();
    }
    last.expect("a frame")
}

fn figure(lane: &Lane, label: &str) -> f64 {
    lane.figures.iter().find(|figure| figure.label == label).expect(label).value
}

fn rows(text: &str) -> Vec<[i16; 6]> {
    let bytes = STANDARD.decode(text).expect("base64");
    let numbers: Vec<i16> = bytes.as_chunks().0.iter().map(|pair| i16::from_le_bytes(*pair)).collect();
    numbers.as_chunks().0.to_vec()
}

#[test]
fn half_the_budget_makes_the_median_older_and_is_kept_to() {
    let old = |budget: f64| {
        let lane = after(&mut CrowdScene::new(4), 0..600, 0, &settings(&[(Key::Budget, budget)]));
        (figure(&lane, "age, median"), figure(&lane, "sent to you"))
    };
    let (whole, half) = (old(24.0), old(12.0));
    assert!(half.0 > 1.5 * whole.0 && half.0 > 40.0, "{whole:?}, {half:?}");
    assert!(whole.1 < 25.0 && half.1 < 12.6 && half.1 > 10.0, "{whole:?}, {half:?}");
}

#[test]
fn all_that_is_sent_is_accounted_for() {
    let lane = after(&mut CrowdScene::new(4), 0..300, UP, &settings(&[]));
    let purposes = ["position", "rotation", "velocity", "which one", "your own", "the rest"];
    let sum: f64 = purposes.iter().map(|label| figure(&lane, label)).sum();
    assert!((sum - figure(&lane, "sent to you")).abs() < 1e-9, "{lane:?}");
    assert!(purposes.iter().all(|label| figure(&lane, label) > 0.1), "{:?}", lane.figures);
    assert_eq!(lane.chart.len(), 5);
}

#[test]
fn the_picture_has_all_and_tells_apart_who_is_not_in_interest() {
    for (interest, most) in [(0.0, 300), (2.0, 50), (4.0, 60)] {
        let lane = after(&mut CrowdScene::new(4), 0..240, 0, &settings(&[(Key::Interest, interest)]));
        let crowd = lane.crowd.as_ref().expect("a crowd");
        let (others, own) = (rows(&crowd.rows), rows(&crowd.own));
        let told = others.iter().filter(|row| row[5] >= 0).count();
        assert_eq!((others.len(), own.len(), own[0][5]), (300, 1, 0));
        assert!(told > 8 && told <= most && (interest > 0.0 || told == 300), "{told}");
        assert!((figure(&lane, "you are told of") - told as f64).abs() < 1e-9);
        let near = |row: &[i16; 6]| f64::from(row[2] - own[0][2]).hypot(f64::from(row[3] - own[0][3])) / 100.0;
        assert_eq!(crowd.radius_m, (interest > 3.0).then_some(10.0));
        let farthest = others.iter().filter(|row| row[5] >= 0).map(near).fold(0.0, f64::max);
        assert!(interest < 3.0 || farthest < 12.5, "{farthest} m");
        assert!(others.iter().filter(|row| row[5] < 0).all(|row| row[..2] == row[2..4]), "shown where it is");
    }
}

#[test]
fn who_slides_the_crowd_larger_or_smaller_stays_in_the_session() {
    let mut scene = CrowdScene::new(4);
    after(&mut scene, 0..120, UP, &settings(&[]));
    let more = after(&mut scene, 120..240, UP, &settings(&[(Key::Entities, 400.0)]));
    assert!((figure(&more, "you are told of") - 400.0).abs() < 1e-9);
    let fewer = after(&mut scene, 240..360, UP, &settings(&[(Key::Entities, 50.0)]));
    assert!((figure(&fewer, "you are told of") - 50.0).abs() < 1e-9);
    let [[x, z, ..]] = rows(&fewer.crowd.expect("a crowd").own)[..] else { panic!("the person is there") };
    let start = rows(&after(&mut CrowdScene::new(4), 0..60, 0, &settings(&[])).crowd.expect("a crowd").own)[0];
    assert!(f64::from(x - start[0]).hypot(f64::from(z - start[1])) > 1_500.0, "they walked on for 5 s");
}

#[test]
fn a_run_is_a_function_of_seed_settings_and_keys() {
    let settings = settings(&[(Key::Latency, 75.0), (Key::Loss, 10.0), (Key::Jitter, 30.0), (Key::Rate, 200.0)]);
    let run = || {
        let mut scene = CrowdScene::new(11);
        (0..240).map(|frame| format!("{:?}", scene.frame(frame, UP, &settings))).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
