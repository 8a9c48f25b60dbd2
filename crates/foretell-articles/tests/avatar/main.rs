//! The remote avatar in its styles (P1, P2, P4, P5, P10): by golden vectors of the source articles, and beside what follows an
//! owner without its faults.

#[path = "../../../foretell/tests/parts/vectors.rs"]
mod vectors;

use foretell::motion::trajectory::{Follower, Following, Thresholds};
use foretell::motion::vector;
use foretell_articles::avatar::{Avatar, Style, lag_seconds};
use serde_json::Value;
use vectors::{bits, cases, number, numbers, pattern, single};

const DEAD_RECKONING: &str = include_str!("../../../../vectors/dead_reckoning.json");
const AVATAR: &str = include_str!("../../../../vectors/avatar_remote.json");

/// Where the avatar is after each update of a case, in both precisions.
fn run(style: Style, case: &Value) -> Vec<([f64; 3], [f32; 3])> {
    let (start, period) = (numbers(&case["start"]), number(&case["period"]));
    let mut wide = Avatar::new(style, period, start);
    let mut narrow = Avatar::new(style, single(period), start.map(single));
    let mut shown = Vec::new();
    for event in case["events"].as_array().expect("a list of events") {
        if event[0] == "recv" {
            let (position, velocity): ([f64; 3], [f64; 3]) = (numbers(&event[1]), numbers(&event[2]));
            let lag = number(&event[3]);
            wide.receive(position, velocity, lag);
            narrow.receive(position.map(single), velocity.map(single), single(lag));
        } else {
            let dt = number(&event[1]);
            shown.push((wide.update(dt), narrow.update(single(dt))));
        }
    }
    shown
}

#[test]
fn the_articles_avatar_is_shown_where_it_was_in_every_style() {
    for (style, mode) in [
        (Style::Minimal, "minimal"),
        (Style::Lerp, "lerp"),
        (Style::Extrapolate, "extrapolate"),
        (Style::DeadReckoning, "dead_reckoning"),
        (Style::Combined, "combined"),
    ] {
        for case in cases(AVATAR, "mode", &mode.into()) {
            let shown = run(style, &case);
            let name = (&case["mode"], &case["name"]);
            assert_eq!(case["positions_f64"].as_array().map(Vec::len), Some(shown.len()), "{name:?}");
            for (frame, (wide, narrow)) in shown.into_iter().enumerate() {
                assert_eq!(wide, numbers(&case["positions_f64"][frame]), "{name:?}, frame {frame}");
                let narrow = narrow.map(f32::to_bits);
                assert_eq!(narrow, bits(&case["positions_f32_bits"][frame]), "{name:?}, frame {frame}");
            }
        }
    }
}

#[test]
fn lags_wrap_and_are_never_negative_as_recorded() {
    for case in cases(DEAD_RECKONING, "fn", &"lag_seconds".into()) {
        let clock = |key: &str| case[key].as_str().expect("a quoted number").parse::<u32>().expect("milliseconds");
        let (now, sent) = (clock("now_ms"), clock("sent_ms"));
        assert_eq!(lag_seconds::<f64>(now, sent).to_bits(), number(&case["f64"]).to_bits(), "{case}");
        assert_eq!(lag_seconds::<f32>(now, sent).to_bits(), pattern(&case["f32_bits"]), "{case}");
    }
}

#[test]
fn a_clock_half_around_is_no_lag() {
    assert_eq!(lag_seconds::<f64>(0, 1 << 31), 0.0);
    assert_eq!(lag_seconds::<f64>(99, u32::MAX), 0.1);
}

fn near(a: [f64; 2], b: [f64; 2]) -> bool {
    vector::squared_distance(a, b) < 1e-18
}

/// The largest difference of the velocities of two frames that follow each other.
fn largest_kick(positions: &[[f64; 1]], dt: f64) -> f64 {
    let speeds: Vec<f64> = positions.windows(2).map(|pair| (pair[1][0] - pair[0][0]) / dt).collect();
    speeds.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max)
}

/// E22 and E24, seen: what the article's script does where the corrected one does not.
#[test]
fn the_articles_combined_script_kicks_runs_away_and_is_pulled_back_and_the_corrected_one_is_not() {
    let dt = 0.005;
    // Somebody who brakes from 5 m/s to a stop in 0.4 s, told every 80 ms: 20 ms before the end of the article's period.
    let told = |nth: u32| {
        let s = (f64::from(nth) * 0.08).min(0.4);
        (5.0 - 12.5 * s, [5.0 * s - 6.25 * s * s])
    };
    let (mut article, mut ours) = (Avatar::new(Style::Combined, 0.1, [0.0]), Follower::new(Following::Combined, [0.0]));
    let (mut of_article, mut of_ours) = (Vec::new(), Vec::new());
    for frame in 0..160_u32 {
        if frame.is_multiple_of(16) {
            let (speed, place) = told(frame / 16);
            article.receive(place, [speed], 0.05);
            ours.receive(frame, place, [speed], 0.05);
        }
        of_article.push(article.update(dt));
        of_ours.push(ours.update(dt));
    }
    let (article_kick, our_kick) = (largest_kick(&of_article, dt), largest_kick(&of_ours, dt));
    assert!(article_kick > 0.9 && our_kick < 0.25, "{article_kick} m/s, {our_kick} m/s");

    let (mut article, mut ours) = (Avatar::new(Style::Combined, 0.1, [0.0]), Follower::new(Following::Combined, [0.0]));
    for (nth, x) in [(1, 0.0), (2, 0.5)] {
        article.receive([x], [5.0], 0.0);
        ours.receive(nth, [x], [5.0], 0.0);
        article.update(0.1);
        ours.update(0.1);
    }
    article.receive([0.0], [5.0], 0.0);
    ours.receive(1, [0.0], [5.0], 0.0);
    assert!(article.update(0.1)[0] < 0.1 && ours.update(0.1)[0] > 0.5, "an older update pulls the article's back");
    article.receive([1.0], [5.0], 0.0);
    ours.receive(9, [1.0], [5.0], 0.0);
    assert!(article.update(10.0)[0] > 50.0 && ours.update(10.0)[0] < 3.0, "the article's leaves the room");
}

#[test]
fn the_articles_thresholds_skip_what_is_very_small_and_what_is_very_large() {
    let mut avatar = Avatar::new(Style::Lerp, 0.1, [0.0]);
    avatar.thresholds = Some(Thresholds::default());
    for (told, shown) in [(0.0005, 0.0005_f64), (1.0005, 0.5005), (4.0, 4.0)] {
        avatar.receive([told], [0.0], 0.0);
        assert!((avatar.update(0.05)[0] - shown).abs() < 1e-12, "{told}");
        avatar.update(0.05);
    }
}

#[test]
fn steps_towards_come_to_their_goal_in_a_period_and_never_pass_it() {
    let mut avatar = Avatar::new(Style::MoveTowards, 0.1, [0.0, 0.0]);
    avatar.receive([3.0, 4.0], [0.0, 10.0], 0.1);
    assert!(near(avatar.update(0.05), [1.5, 2.5]));
    assert!(near(avatar.update(0.05), [3.0, 5.0]));
    assert_eq!(avatar.update(7.0), [3.0, 5.0]);
    assert_eq!(avatar.position(), [3.0, 5.0]);
}
