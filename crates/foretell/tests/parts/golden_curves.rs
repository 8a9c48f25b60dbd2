//! Golden vectors of the source articles: Hermite (P8), Catmull-Rom (P9), dead reckoning (P5, D20), and the remote avatar
//! in its five styles (P1, P2, P4, P5, P10).

use crate::vectors::{bits, cases, number, numbers, pattern, single};
use foretell::motion::curve::{
    Avatar, Style, catmull_rom, dead_reckon, hermite, hermite_derivative, lag_seconds, owner_velocity,
};
use serde_json::Value;

const HERMITE: &str = include_str!("../../../../vectors/hermite.json");
const CATMULL_ROM: &str = include_str!("../../../../vectors/catmull_rom.json");
const DEAD_RECKONING: &str = include_str!("../../../../vectors/dead_reckoning.json");
const AVATAR: &str = include_str!("../../../../vectors/avatar_remote.json");

/// Both precisions of one case.
fn assert_exact(in_f64: [f64; 3], in_f32: [f32; 3], expected: &Value, case: &Value) {
    assert_eq!(in_f64, numbers(&expected["f64"]), "{case}");
    assert_eq!(in_f32.map(f32::to_bits), bits(&expected["f32_bits"]), "{case}");
}

#[test]
fn hermite_curves_and_their_tangents_match_in_every_bit() {
    for case in cases(HERMITE, "none", &Value::Null) {
        let [p1, p2, v1, v2]: [[f64; 3]; 4] = ["p1", "p2", "v1", "v2"].map(|key| numbers(&case[key]));
        let t = number(&case["t"]);
        let [q1, q2, w1, w2] = [p1, p2, v1, v2].map(|vector| vector.map(single));
        let (value, derivative) = (&case["value"], &case["derivative"]);
        assert_exact(hermite(p1, p2, v1, v2, t), hermite(q1, q2, w1, w2, single(t)), value, &case);
        let in_f32 = hermite_derivative(q1, q2, w1, w2, single(t));
        assert_exact(hermite_derivative(p1, p2, v1, v2, t), in_f32, derivative, &case);
    }
}

#[test]
fn curves_have_the_same_bits_in_one_and_two_components_as_in_three() {
    for case in cases(HERMITE, "none", &Value::Null) {
        let points: [[f64; 3]; 4] = ["p1", "p2", "v1", "v2"].map(|key| numbers(&case[key]));
        let t = number(&case["t"]);
        let [x, _, z]: [f64; 3] = numbers(&case["value"]["f64"]);
        let [p1, p2, v1, v2] = points.map(|[x, _, z]| [x, z]);
        assert_eq!(hermite(p1, p2, v1, v2, t), [x, z]);
        let [p1, p2, v1, v2] = points.map(|[x, ..]| [x]);
        assert_eq!(hermite(p1, p2, v1, v2, t), [x]);
    }
}

#[test]
fn catmull_rom_curves_match_in_every_bit() {
    for case in cases(CATMULL_ROM, "none", &Value::Null) {
        let points: [[f64; 3]; 4] = ["p0", "p1", "p2", "p3"].map(|key| numbers(&case[key]));
        let t = number(&case["t"]);
        let in_f32 = catmull_rom(points.map(|point| point.map(single)), single(t));
        assert_exact(catmull_rom(points, t), in_f32, &case, &case);
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
fn dead_reckoning_and_the_velocity_of_an_owner_match_in_every_bit() {
    for case in cases(DEAD_RECKONING, "fn", &"dead_reckon".into()) {
        let (position, velocity): ([f64; 3], [f64; 3]) = (numbers(&case["pos"]), numbers(&case["vel"]));
        let lag = number(&case["lag"]);
        let in_f32 = dead_reckon(position.map(single), velocity.map(single), single(lag));
        assert_exact(dead_reckon(position, velocity, lag), in_f32, &case, &case);
    }
    for case in cases(DEAD_RECKONING, "fn", &"owner_velocity".into()) {
        let (previous, current): ([f64; 3], [f64; 3]) = (numbers(&case["prev"]), numbers(&case["cur"]));
        let dt = number(&case["dt"]);
        let in_f32 = owner_velocity(previous.map(single), current.map(single), single(dt));
        assert_exact(owner_velocity(previous, current, dt), in_f32, &case, &case);
    }
}

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
