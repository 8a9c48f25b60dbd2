//! What a person has to see in the scene of shared mode.

use super::{Frames, Options, SharedMode};
use crate::frame::lane::Lanes;
use crate::scenes::engine::SceneEngine;
use core::time::Duration;
use foretell::TickRate;
use foretell_sim::netsim::Conditions;

const RIGHT: u8 = 8;
const LEFT: u8 = 4;
const IGNORE: usize = 0;
const TICKS: usize = 1;
const ARTICLE: usize = 2;
const EXACT: usize = 3;

fn play(frames: Frames) -> Vec<Lanes> {
    let options = Options { frames, rate: TickRate::hz(64) };
    let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
    let mut scene = SharedMode::new(3);
    // To the left wall, and from there to the right for almost as long as there is room.
    let keys = |frame: u32| match frame {
        0..=179 => LEFT,
        180..=199 => 0,
        _ => RIGHT,
    };
    (0..400).map(|frame| scene.play(frame, keys(frame), &options, &conditions)).collect()
}

fn figure(lanes: &Lanes, lane: usize, label: &str) -> f64 {
    lanes.lanes[lane].figures.iter().find(|figure| figure.label == label).expect("it is measured").value
}

/// The least and the most of a chart while it walks to the right.
fn range(frames: &[Lanes], lane: usize, chart: usize) -> (f64, f64) {
    let values: Vec<f64> = frames[240..].iter().filter_map(|lanes| lanes.lanes[lane].chart[chart]).collect();
    (values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(0.0, f64::max))
}

#[test]
fn what_moves_in_frames_is_captured_unevenly_and_the_other_three_are_not() {
    // As the reference has it: a whole step at 60 Hz, a third of one at 144, more than one at 30.
    for (frames, deviation) in [(Frames::Even(60), 7.8), (Frames::Even(144), 2.6), (Frames::Even(30), 8.9)] {
        let told = play(frames);
        let last = told.last().expect("some");
        let of_ignore = figure(last, IGNORE, "uneven by");
        assert!((of_ignore - deviation).abs() < 0.15, "{of_ignore} cm at {frames:?}");
        for lane in [TICKS, ARTICLE, EXACT] {
            assert!(figure(last, lane, "uneven by") < 1e-6, "{lane} at {frames:?}");
            assert!((figure(last, lane, "mean step") - 500.0 / 64.0).abs() < 1e-6);
        }
    }
    let told = play(Frames::Jittery);
    let last = told.last().expect("some");
    assert!(figure(last, IGNORE, "uneven by") > 5.0);
    assert!([TICKS, ARTICLE, EXACT].iter().all(|lane| figure(last, *lane, "uneven by") < 1e-6));
}

#[test]
fn moving_in_ticks_is_a_tick_late_and_only_the_exact_hybrid_is_neither_late_nor_uneven() {
    for frames in [Frames::Even(30), Frames::Even(60), Frames::Even(144), Frames::Jittery] {
        let told = play(frames);
        let last = told.last().expect("some");
        // From the input on: less than a tick where it came shortly before one.
        let delay = figure(last, TICKS, "input delay");
        assert!((2.0..15.7).contains(&delay), "{delay} ms at {frames:?}");
        assert!(figure(last, TICKS, "own view off") > 1.0);
        assert!(figure(last, IGNORE, "own view off") < 1e-6 && figure(last, EXACT, "own view off") < 1e-6);
        let late = figure(last, ARTICLE, "own view off");
        assert!((1.0..17.0).contains(&late), "up to a frame: {late} cm at {frames:?}");
    }
}

#[test]
fn others_see_a_judder_of_what_is_captured_unevenly() {
    for frames in [Frames::Even(30), Frames::Even(60), Frames::Jittery] {
        let told = play(frames);
        let (slowest, fastest) = range(&told, IGNORE, 1);
        assert!(slowest < 4.5 && fastest > 5.2, "{slowest} to {fastest} m/s at {frames:?}");
        for lane in [TICKS, ARTICLE, EXACT] {
            let (slowest, fastest) = range(&told, lane, 1);
            assert!(slowest > 4.999 && fastest < 5.001, "{slowest} to {fastest} m/s in lane {lane} at {frames:?}");
        }
    }
}

#[test]
fn all_stop_at_the_wall_and_local_begins_anew_where_they_rest() {
    let told = play(Frames::Even(144));
    for lane in &told[199].lanes {
        let [x, ..] = lane.cubes[1].position;
        assert!((x + 10.0).abs() < 0.2, "{x}");
        assert!((x - lane.cubes[0].position[0]).abs() < 1e-9);
    }
}

#[test]
fn who_gets_the_cube_moves_it_at_once_and_who_gave_it_sees_that_later() {
    let options = Options { frames: Frames::Even(60), rate: TickRate::hz(64) };
    let conditions = Conditions { latency: Duration::from_millis(100), ..Conditions::default() };
    let mut scene = SharedMode::new(3);
    let mut told = Vec::new();
    for frame in 0..300 {
        if [150, 250].contains(&frame) {
            assert!(scene.event("hand_over"));
        }
        let keys = if (60..150).contains(&frame) { RIGHT } else { 0 };
        told.push(scene.play(frame, keys, &options, &conditions));
    }
    let holders: Vec<_> = told.iter().map(|lanes| lanes.holder).collect();
    assert!(holders[..150].iter().all(|holder| *holder == Some(0)), "{holders:?}");
    assert!(holders[150..250].iter().all(|holder| *holder == Some(1)) && holders[250] == Some(0), "{holders:?}");
    for lane in 0..4 {
        let at = |frame: usize, role| {
            let cube = told[frame].lanes[lane].cubes.iter().find(|cube| cube.role == role);
            cube.expect(role).position
        };
        let apart = |a: [f64; 3], b: [f64; 3]| (0..3).map(|axis| (a[axis] - b[axis]).abs()).fold(0.0, f64::max);
        for at_frame in [150, 250] {
            let jump = apart(at(at_frame, "client"), at(at_frame - 1, "other"));
            assert!(jump < 0.2, "lane {lane}: it is taken over from where it was seen, {jump} m");
        }
        assert!(apart(at(153, "client"), at(149, "other")) > 0.1, "lane {lane}: the holder moves it at once");
        let left = at(149, "client");
        let comes = (150..250).find(|frame| at(*frame, "other") != left).expect("it moves");
        assert!((156..180).contains(&comes), "lane {lane}: who gave it sees that in frame {comes}");
    }
}
