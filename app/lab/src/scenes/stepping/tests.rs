//! What a person has to see in the scene of the second article's server.

use super::Stepping;
use crate::controls::{Key, Settings, control};
use crate::frame::lane::{Lane, Lanes};
use crate::scenes::engine::SceneEngine;
use foretell::motion::vector::{length, sub};

const RIGHT: u8 = 8;
const LEFT: u8 = 4;
const ARTICLE: usize = 0;
const OURS: usize = 1;
/// The codes of the choices of lanes.
const RECONCILIATIONS: f64 = 1.0;
const GAPS: f64 = 2.0;
const REPETITIONS: f64 = 3.0;
const SEATS: f64 = 4.0;
/// The code of 64 snapshots per second, and of 2.
const EVERY_TICK: f64 = 1.0;
const RARE: f64 = 6.0;

/// What there is of a client alone.
const FOR_CLIENTS: [&str; 3] = ["corrections", "missing", "run again"];

/// A scene on a network, and its frames so far.
struct Play {
    scene: Stepping,
    settings: Settings,
    frames: Vec<Lanes>,
}

impl Play {
    fn new(changes: &[(Key, f64)]) -> Play {
        let mut settings = Settings::default();
        changes.iter().for_each(|(key, value)| settings.set(*key, control(*key).nearest(*value)));
        Play { scene: Stepping::new(7), settings, frames: Vec::new() }
    }

    fn frames(&mut self, count: u32, keys: impl Fn(u32) -> u8) {
        for _ in 0..count {
            let frame = u32::try_from(self.frames.len()).expect("few");
            self.frames.push(self.scene.frame(frame, keys(frame), &self.settings));
        }
    }

    fn event(&mut self, name: &str) {
        assert!(self.scene.event(name), "{name}");
    }

    fn last(&self, lane: usize) -> &Lane {
        &self.frames.last().expect("some").lanes[lane]
    }

    fn figure(&self, lane: usize, label: &str) -> f64 {
        self.last(lane).figures.iter().find(|figure| figure.label == label).expect(label).value
    }

    fn figures(&self, label: &str) -> Vec<f64> {
        (0..self.frames[0].lanes.len()).map(|lane| self.figure(lane, label)).collect()
    }

    /// Where a cube of a lane is.
    fn at(&self, lane: usize, role: &str) -> [f64; 3] {
        self.last(lane).cubes.iter().find(|cube| cube.role == role).expect(role).position
    }

    /// How far two cubes of a lane are apart.
    fn between(&self, lane: usize, one: &str, other: &str) -> f64 {
        length(sub(self.at(lane, one), self.at(lane, other)))
    }

    /// Of each frame what a chart of a lane gets.
    fn chart(&self, lane: usize, chart: usize) -> impl Iterator<Item = f64> {
        self.frames.iter().filter_map(move |lanes| lanes.lanes[lane].chart[chart])
    }
}

/// To and fro, with rests: changes that a server can't guess.
fn drive(frame: u32) -> u8 {
    [RIGHT, 0, LEFT, 1, 2, LEFT, 0, RIGHT][(frame / 17) as usize % 8]
}

#[test]
fn where_nothing_is_lost_both_are_shown_to_the_bit_what_their_servers_come_to() {
    let mut play = Play::new(&[(Key::Latency, 75.0)]);
    play.frames(900, drive);
    assert_eq!(play.figures("corrections"), [0.0, 0.0]);
    assert_eq!(play.figures("wrong by"), [0.0, 0.0]);
    assert_eq!(play.figures("waits"), [0.0, 0.0]);
    for lane in [ARTICLE, OURS] {
        assert!(play.between(lane, "local", "client") < 1e-5, "lane {lane}");
        let apart = play.figure(lane, "apart");
        assert!((75.0..140.0).contains(&apart), "lane {lane}: {apart} ms");
    }
    let way = length(sub(play.at(ARTICLE, "local"), play.at(OURS, "local")));
    assert!(way < 1.0, "the same keys lead the same way: {way} m");
}

#[test]
fn a_host_sees_their_own_cube_at_once_and_uncorrected_and_the_others_see_it_late() {
    let bad = [(Key::Latency, 100.0), (Key::Jitter, 60.0), (Key::Loss, 10.0), (Key::BurstLength, 5.0)];
    let mut play = Play::new(&[&[(Key::SteppingLanes, SEATS)][..], &bad].concat());
    let (client, host) = (0, 1);
    let (mut late, mut apart, mut most) = (0.0_f64, 0.0_f64, [[0.0_f64; 2]; 3]);
    for _ in 0..1200 {
        play.frames(1, drive);
        apart = apart.max(play.between(host, "local", "client"));
        late = late.max(play.between(host, "client", "other"));
        for (most, label) in most.iter_mut().zip(FOR_CLIENTS) {
            *most = [client, host].map(|lane| play.figure(lane, label).max(most[lane]));
        }
    }
    assert!(apart < 1e-4, "there is no network between: {apart} m");
    assert!(late > 0.5, "the others see it later: {late} m");
    let of = |label| (play.figure(client, label), play.figure(host, label));
    for chart in [0, 1] {
        assert!(play.chart(client, chart).any(|cm| cm > 0.0), "of what a client sees some is wrong, and corrected");
        assert!(play.chart(host, chart).all(|cm| cm == 0.0));
    }
    assert!(matches!(of("apart"), (some, 0.0) if some > 90.0), "{:?}", of("apart"));
    for (label, most) in FOR_CLIENTS.iter().zip(most) {
        assert!(matches!(most, [some, 0.0] if some > 0.0), "{label}: {most:?}");
    }
    play.event("impulse");
    play.frames(60, drive);
    assert!(
        play.between(host, "local", "client") > 0.1,
        "what the server does to them is no prediction that was wrong"
    );
    assert_eq!(play.figure(host, "corrections"), 0.0);
}

#[test]
fn both_are_drawn_between_ticks_so_that_even_motion_is_even_on_the_screen() {
    let mut play = Play::new(&[(Key::Latency, 75.0)]);
    play.frames(240, |_| LEFT);
    let mut steps: [Vec<f64>; 2] = Default::default();
    for frame in 0..140 {
        let before = [ARTICLE, OURS].map(|lane| play.at(lane, "client"));
        play.frames(1, |_| RIGHT);
        // At first it is still accelerating.
        let even = [ARTICLE, OURS].into_iter().filter(|_| frame >= 80);
        even.for_each(|lane| steps[lane].push(length(sub(play.at(lane, "client"), before[lane]))));
    }
    for steps in steps {
        let (least, most) = steps.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), step| (a.min(*step), b.max(*step)));
        assert!(least > 0.1 && most - least < 0.01, "{least} to {most} m in a frame");
    }
}

#[test]
fn by_arriving_inputs_a_server_stands_still_instead_of_being_wrong_and_by_its_clock_it_never_stands_still() {
    let bad = [(Key::Latency, 100.0), (Key::Jitter, 60.0), (Key::Loss, 10.0), (Key::BurstLength, 5.0)];
    let mut play = Play::new(&bad);
    play.frames(1200, drive);
    assert_eq!((play.figure(ARTICLE, "corrections"), play.figure(ARTICLE, "wrong by")), (0.0, 0.0));
    assert!(play.chart(ARTICLE, 1).all(|size| size == 0.0) && play.chart(OURS, 1).any(|size| size > 0.0));
    assert!(play.figure(ARTICLE, "waits") > 80.0 && play.figure(OURS, "waits") == 0.0);
    let most = |lane| play.chart(lane, 3).fold(0.0, f64::max);
    assert!(most(ARTICLE) >= 6.0 && most(OURS) <= 2.0, "{} and {} ticks at once", most(ARTICLE), most(OURS));
}

#[test]
fn without_repetition_lost_inputs_are_missing_on_both_servers_and_corrected_by_both_clients() {
    let mut play = Play::new(&[(Key::Latency, 75.0), (Key::Loss, 25.0), (Key::Redundancy, 1.0)]);
    play.frames(1200, drive);
    for lane in [ARTICLE, OURS] {
        let missing = play.figure(lane, "missing");
        assert!((15.0..35.0).contains(&missing), "lane {lane}: {missing} %");
        for (label, least) in [("corrections", 20.0), ("wrong by", 0.1), ("run again", 3.0)] {
            let figure = play.figure(lane, label);
            assert!(figure > least, "lane {lane}: {label} {figure}");
        }
    }
    let told = play.frames.iter().flat_map(|lanes| &lanes.steps);
    let told: Vec<_> = told.map(|(lane, sentence)| (*lane, &sentence[..])).collect();
    assert!(told.iter().any(|(lane, told)| *lane == ARTICLE && told.ends_with("ticks")), "{told:?}");
    assert!(told.iter().any(|(lane, told)| *lane == OURS && told.contains("own input")), "{told:?}");
}

#[test]
fn a_push_is_one_correction_in_either_system_and_the_larger_the_rarer_states_are() {
    let mut sizes = Vec::new();
    for rate in [EVERY_TICK, RARE] {
        let mut play = Play::new(&[(Key::Latency, 75.0)]);
        play.settings.set(Key::SnapshotRate, control(Key::SnapshotRate).nearest(rate));
        play.frames(120, |_| 0);
        play.event("impulse");
        play.frames(180, |_| 0);
        for lane in [ARTICLE, OURS] {
            assert_eq!(play.chart(lane, 1).filter(|size| *size > 0.0).count(), 1, "lane {lane}");
            assert!(play.between(lane, "client", "server") < 1e-3, "lane {lane}");
        }
        sizes.push(play.figures("largest"));
        play.event("realign");
        play.frames(1, |_| 0);
        assert!([ARTICLE, OURS].iter().all(|lane| play.between(*lane, "local", "client") < 1e-3));
    }
    assert!(sizes[0].iter().all(|size| (20.0..50.0).contains(size)), "{sizes:?} cm");
    assert!(sizes[0].iter().zip(&sizes[1]).all(|(often, rare)| often < rare), "{sizes:?} cm");
}

#[test]
fn each_reconciliation_costs_what_the_article_says() {
    let mut play = Play::new(&[(Key::SteppingLanes, RECONCILIATIONS), (Key::Latency, 75.0)]);
    play.frames(300, drive);
    play.event("impulse");
    play.frames(290, drive);
    let [replays, always, snaps, never] = [0, 1, 2, 3];
    let names: Vec<_> = play.frames[0].lanes.iter().map(|lane| lane.name).collect();
    assert_eq!(names, ["replays", "always replays", "snaps", "never corrects"]);
    assert!(play.figure(always, "run again") > 20.0 * play.figure(replays, "run again"));
    assert_eq!((play.figure(snaps, "run again"), play.figure(never, "run again")), (0.0, 0.0));
    assert!(play.figure(snaps, "corrections") > 20.0 * play.figure(replays, "corrections"));
    assert_eq!(play.figure(never, "corrections"), 0.0);
    play.frames(120, |_| 0);
    let apart = [replays, always, snaps, never].map(|lane| play.between(lane, "client", "server"));
    assert!(apart[..3].iter().all(|metres| *metres < 0.01) && apart[never] > 0.3, "{apart:?} m");
}

#[test]
fn of_lost_inputs_the_repeated_last_one_is_wrong_least() {
    let mut play = Play::new(&[(Key::SteppingLanes, GAPS), (Key::Latency, 75.0), (Key::Loss, 25.0)]);
    play.settings.set(Key::SnapshotRate, control(Key::SnapshotRate).nearest(EVERY_TICK));
    play.frames(1200, drive);
    let corrections = play.figures("corrections");
    assert!(corrections[1] < 0.5 * corrections[0] && corrections[1] < 0.5 * corrections[2], "{corrections:?}");
    assert!(play.figures("missing").iter().all(|missing| (15.0..35.0).contains(missing)));
}

#[test]
fn what_all_repetition_costs_grows_with_the_way_and_with_rare_states_and_ours_does_not() {
    let up = |latency: f64, snapshots: f64| {
        let mut play = Play::new(&[(Key::SteppingLanes, REPETITIONS), (Key::Latency, latency), (Key::Loss, 10.0)]);
        play.settings.set(Key::SnapshotRate, control(Key::SnapshotRate).nearest(snapshots));
        play.frames(900, drive);
        play.figures("up")
    };
    let (near, far) = (up(20.0, EVERY_TICK), up(250.0, RARE));
    assert!(near[0] < near[1] && near[0] < near[2], "{near:?} kB/s");
    assert!(far[2] > 2.0 * near[2] && far[2] > far[1], "{near:?} {far:?} kB/s");
    assert!(far[3] < 1.6 * near[3], "{near:?} {far:?} kB/s");
}

#[test]
fn a_fast_clock_moves_a_player_faster_where_inputs_step_the_server_and_only_there() {
    let mut play = Play::new(&[(Key::Latency, 40.0)]);
    // At the left wall, so that there is room.
    play.frames(240, |_| LEFT);
    play.event("double_clock");
    let from = [ARTICLE, OURS].map(|lane| play.at(lane, "server")[0]);
    play.frames(100, |_| RIGHT);
    let [article, ours] = [ARTICLE, OURS].map(|lane| play.at(lane, "server")[0] - from[lane]);
    assert!(article > 1.5 * ours && ours > 3.0, "{article} and {ours} m");
    play.frames(500, |_| 0);
    assert!(play.between(OURS, "client", "server") < 0.01, "it comes back");
    assert!(play.between(ARTICLE, "client", "server") < 0.01);
}

#[test]
fn who_stands_still_stops_the_articles_server_and_not_the_sessions() {
    let mut play = Play::new(&[(Key::Latency, 40.0)]);
    play.frames(120, |_| RIGHT);
    play.event("stall");
    play.frames(300, |_| 0);
    let waits = play.figures("waits");
    assert!((1900.0..2200.0).contains(&waits[ARTICLE]) && waits[OURS] == 0.0, "{waits:?} ms");
    assert!([ARTICLE, OURS].iter().all(|lane| play.between(*lane, "client", "server") < 0.01));
}

#[test]
fn a_choice_that_changes_counts_at_once_in_both_systems_and_what_the_scene_does_not_have_never() {
    let mut play = Play::new(&[(Key::Latency, 40.0)]);
    play.settings.set(Key::SnapshotRate, control(Key::SnapshotRate).nearest(EVERY_TICK));
    // What only other scenes have: a session of 20 ticks per second would lead by more.
    play.settings.set(Key::TickRate, 0);
    play.frames(600, drive);
    let (often, way) = (play.figures("down"), play.at(ARTICLE, "client"));
    assert!(play.figures("apart").iter().all(|apart| *apart < 110.0), "{:?}", play.figures("apart"));
    play.settings.set(Key::SnapshotRate, control(Key::SnapshotRate).nearest(RARE));
    play.frames(1, drive);
    assert!(length(sub(play.at(ARTICLE, "client"), way)) < 0.2, "nothing begins anew");
    play.frames(600, drive);
    let rare = play.figures("down");
    assert!(rare.iter().zip(&often).all(|(rare, often)| *rare < 0.3 * often), "{often:?} and {rare:?} kB/s");
}

#[test]
fn the_same_seed_is_the_same_run_and_other_lanes_begin_anew() {
    let run = || {
        let mut play = Play::new(&[(Key::Latency, 60.0), (Key::Jitter, 40.0), (Key::Loss, 8.0)]);
        play.frames(200, drive);
        ["impulse", "double_clock"].iter().for_each(|name| play.event(name));
        play.frames(200, drive);
        play
    };
    let (mut one, other) = (run(), run());
    let told = |play: &Play| serde_json::to_string(&play.frames).expect("it is plain data");
    assert_eq!(told(&one), told(&other));
    assert!(!one.scene.event("double_speed"));
    one.settings.set(Key::SteppingLanes, 1);
    one.frames(1, |_| 0);
    assert!(one.frames.last().expect("some").lanes.iter().all(|lane| lane.cubes[0].position == [0.0; 3]));
}
