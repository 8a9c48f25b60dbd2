//! Golden vectors of the source articles: Hermite (P8), Catmull-Rom (P9), dead reckoning (P5, D20), and an
//! owner's velocity.

use crate::vectors::{bits, cases, number, numbers, single};
use foretell::motion::trajectory::{catmull_rom, dead_reckon, hermite, hermite_derivative, owner_velocity};
use serde_json::Value;

const HERMITE: &str = include_str!("../../../../vectors/hermite.json");
const CATMULL_ROM: &str = include_str!("../../../../vectors/catmull_rom.json");
const DEAD_RECKONING: &str = include_str!("../../../../vectors/dead_reckoning.json");

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
