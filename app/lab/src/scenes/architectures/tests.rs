//! What a person has to see in the first article's scene.

use super::{Architectures, Options};
use crate::frame::lane::{Lane, Lanes};
use core::time::Duration;
use foretell::motion::vector::{length, sub};
use foretell_articles::timestamped::Detect;
use foretell_sim::netsim::{Conditions, Loss};

const RIGHT: u8 = 8;
const LEFT: u8 = 4;
const HARDENED: Options =
    Options { interval: Duration::from_millis(50), article: false, detect: Detect::Client, single: false, age_s: 0 };
const ARTICLE: Options = Options { article: true, ..HARDENED };

fn network(latency_ms: u64) -> Conditions {
    Conditions { latency: Duration::from_millis(latency_ms), ..Conditions::default() }
}

/// A scene on a network, and its frames so far.
struct Play {
    scene: Architectures,
    options: Options,
    conditions: Conditions,
    frames: Vec<Lanes>,
}

impl Play {
    fn new(options: Options, conditions: Conditions) -> Play {
        Play { scene: Architectures::new(7), options, conditions, frames: Vec::new() }
    }

    fn frames(&mut self, count: u32, keys: impl Fn(u32) -> u8) {
        for _ in 0..count {
            let frame = u32::try_from(self.frames.len()).expect("few");
            self.frames.push(self.scene.play(frame, keys(frame), &self.options, &self.conditions));
        }
    }

    fn event(&mut self, name: &str) {
        assert!(self.scene.happen(name), "{name}");
    }

    fn last(&self, lane: usize) -> &Lane {
        &self.frames.last().expect("some").lanes[lane]
    }

    fn figure(&self, lane: usize, label: &str) -> f64 {
        self.last(lane).figures.iter().find(|figure| figure.label == label).expect("it is measured").value
    }

    /// The largest value of a chart from a frame on.
    fn largest(&self, lane: usize, chart: usize, from: usize) -> f64 {
        let values = self.frames[from..].iter().filter_map(|frame| frame.lanes[lane].chart[chart]);
        values.fold(0.0, f64::max)
    }

    fn steps(&self) -> Vec<(usize, &str)> {
        let with_frame = |(frame, lanes): (usize, &'_ Lanes)| lanes.steps.iter().map(|_| frame).collect::<Vec<_>>();
        let frames = self.frames.iter().enumerate().flat_map(with_frame);
        let sentences = self.frames.iter().flat_map(|lanes| lanes.steps.iter());
        frames
            .zip(sentences.map(|(lane, sentence)| {
                assert_eq!(*lane, 2);
                &sentence[..]
            }))
            .collect()
    }
}

/// To and fro, without a wall.
fn to_and_fro(frame: u32) -> u8 {
    if (frame / 60).is_multiple_of(2) { RIGHT } else { LEFT }
}

#[test]
fn prediction_is_local_at_any_rate_and_a_dumb_client_answers_a_round_trip_and_two_intervals_later() {
    for interval in [50, 200].map(Duration::from_millis) {
        for options in [HARDENED, ARTICLE] {
            let mut play = Play::new(Options { interval, ..options }, network(75));
            play.frames(600, to_and_fro);
            for lane in [0, 2] {
                assert!(play.figure(lane, "input lag").abs() < 1e-9, "{interval:?}");
                assert!(play.largest(lane, 0, 0) < 1e-6, "the client is local at {interval:?}");
            }
            let lag = play.figure(1, "input lag");
            let interval_ms = interval.as_secs_f64() * 1000.0;
            assert!((150.0 + interval_ms..210.0 + 2.5 * interval_ms).contains(&lag), "{lag} ms at {interval:?}");
            assert!(play.largest(2, 1, 60) > 40.0, "the server is behind");
            assert!([0, 1, 2].iter().all(|lane| play.figure(*lane, "refused") + play.figure(*lane, "resyncs") == 0.0));
        }
    }
}

#[test]
fn in_the_articles_form_others_see_a_cheat_and_in_the_hardened_one_they_do_not() {
    for (cheat, factor, lanes) in [("double_clock", 2.0, [0, 2]), ("triple_direction", 3.0, [0, 2])] {
        for (options, sees) in [(ARTICLE, 5.0 * factor), (HARDENED, 5.0)] {
            let mut play = Play::new(options, network(40));
            // At the left wall, so that there is room.
            play.frames(180, |_| LEFT);
            play.event(cheat);
            play.frames(120, |_| RIGHT);
            for lane in lanes {
                let fastest = play.largest(lane, 2, 180);
                let near = if sees > 5.0 { sees - 2.0..sees + 0.3 } else { 0.0..6.0 };
                assert!(near.contains(&fastest), "{cheat}, lane {lane}: {fastest} m/s, {options:?}");
                assert_eq!(play.figure(lane, "refused") > 0.0, !options.article, "{cheat}, lane {lane}");
            }
        }
    }
}

#[test]
fn a_client_that_is_elsewhere_gains_only_where_it_decides_and_its_distance_is_not_looked_at() {
    let play = |options: Options| {
        let mut play = Play::new(options, network(40));
        play.frames(60, |_| 0);
        play.event("client_teleport");
        play.frames(120, |_| 0);
        play
    };
    let farthest_in_a_frame = |play: &Play, lane: usize| {
        let seen = |lanes: &Lanes| lanes.lanes[lane].cubes[3].position;
        let steps = play.frames[30..].windows(2).map(|pair| length(sub(seen(&pair[0]), seen(&pair[1]))));
        steps.fold(0.0, f64::max)
    };
    let (article, hardened) = (play(ARTICLE), play(HARDENED));
    assert!(farthest_in_a_frame(&article, 0) > 0.9);
    assert!(farthest_in_a_frame(&hardened, 0) < 0.2, "it runs there");
    assert!(article.figure(0, "refused") < 0.5 && hardened.figure(0, "refused") > 0.5);
    for play in [&article, &hardened] {
        assert!(farthest_in_a_frame(play, 1) < 1e-9 && farthest_in_a_frame(play, 2) < 1e-9);
        assert!((play.figure(2, "resyncs") - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_push_is_a_resync_whose_steps_are_told_in_order_with_their_times() {
    for (detect, request) in [(Detect::Client, true), (Detect::Server, false)] {
        let mut play = Play::new(Options { detect, ..HARDENED }, network(100));
        play.frames(148, |_| RIGHT);
        play.event("teleport");
        play.frames(120, |_| 0);
        let steps = play.steps();
        let expected: &[&str] = if request {
            &[
                "sends RequestResync",
                "RequestResync has come",
                "sends Resync",
                "sends FinishResync",
                "FinishResync has come",
            ]
        } else {
            &["is another", "sends Resync", "sends FinishResync", "FinishResync has come"]
        };
        assert_eq!(steps.len(), expected.len(), "{steps:?}");
        for ((_, step), expected) in steps.iter().zip(expected) {
            assert!(step.contains(expected), "{step}: {expected}");
        }
        let first = steps[0].0;
        let took = steps.last().expect("some").0 - first;
        // Three ways of 100 ms where the client finds out, two where the server does: 6 frames each.
        assert_eq!(took, if request { 18 } else { 12 }, "{steps:?}");
        assert!((play.figure(2, "resyncs") - 1.0).abs() < 1e-9);
        assert!(length(sub(play.last(2).cubes[1].position, play.last(2).cubes[2].position)) < 0.01);
    }
}

#[test]
fn who_ignores_a_resync_stands_still_for_others_and_comes_back_when_they_listen() {
    let mut play = Play::new(HARDENED, network(40));
    play.frames(60, |_| 0);
    play.event("ignored_resync");
    play.event("teleport");
    play.frames(2, |_| 0);
    play.event("double_clock");
    play.frames(250, to_and_fro);
    assert!(play.largest(2, 2, 300) < 0.1, "others see it stand");
    assert!(play.largest(2, 0, 62) > 300.0 && play.figure(2, "resyncs") < 0.5);
    play.frames(200, |_| 0);
    assert!(play.figure(2, "resyncs") > 0.5);
    play.frames(120, |_| 0);
    assert!(length(sub(play.last(2).cubes[1].position, play.last(2).cubes[2].position)) < 0.01);
    play.event("realign");
    play.frames(2, |_| 0);
    assert!(play.figure(2, "off local") < 1e-9);
}

#[test]
fn an_old_session_in_f32_takes_an_honest_client_for_a_cheat_and_one_in_microseconds_does_not() {
    let resyncs = |single: bool, age_s: u32| {
        let mut play = Play::new(Options { single, age_s, ..ARTICLE }, network(50));
        play.frames(1200, to_and_fro);
        play.figure(2, "resyncs")
    };
    assert!(resyncs(true, 0) < 1.5);
    assert!(resyncs(true, 1024) > 5.0);
    assert!(resyncs(true, 16_384) > 15.0);
    assert!(resyncs(false, 16_384) < 0.5);
}

#[test]
fn in_the_articles_form_a_lost_datagram_is_a_resync_and_in_the_hardened_one_it_is_sent_again() {
    let conditions = Conditions { loss: Loss::Uniform(0.1), ..network(50) };
    let resyncs = |options| {
        let mut play = Play::new(options, conditions.clone());
        play.frames(1800, |frame| [RIGHT, 0, LEFT, 0][frame as usize / 8 % 4]);
        play.figure(2, "resyncs")
    };
    assert!(resyncs(ARTICLE) > 3.0);
    assert!(resyncs(HARDENED) < 0.5);
}

#[test]
fn the_same_seed_is_the_same_run_and_a_changed_option_begins_anew_where_local_is() {
    let run = || {
        let mut play = Play::new(HARDENED, Conditions { jitter: Duration::from_millis(40), ..network(40) });
        play.frames(120, to_and_fro);
        play.event("client_teleport");
        play.frames(100, to_and_fro);
        play
    };
    let (mut one, other) = (run(), run());
    let told = |play: &Play| serde_json::to_string(&play.frames).expect("it is plain data");
    assert_eq!(told(&one), told(&other));
    let before = one.last(0).cubes[0].position;
    one.options = ARTICLE;
    one.frames(1, |_| 0);
    for lane in 0..3 {
        assert_eq!(
            one.last(lane).cubes.iter().filter(|cube| cube.position == before).count(),
            3 + usize::from(lane > 2)
        );
    }
}
