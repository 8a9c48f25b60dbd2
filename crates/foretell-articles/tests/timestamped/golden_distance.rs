//! The reference's check of distances, through the public one (vectors/distance_validation.json).

use foretell_articles::distance::DistanceCheck;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn point(value: &Value) -> [f64; 3] {
    core::array::from_fn(|lane| number(&value[lane]))
}

#[test]
fn distances_are_checked_and_clamped_as_in_the_reference() {
    let file = include_str!("../../../../vectors/distance_validation.json");
    let file: Value = serde_json::from_str(file).expect("the vectors are JSON");
    let cases = file["cases"].as_array().expect("a list of cases");
    assert!(!cases.is_empty());
    for case in cases {
        let check = DistanceCheck {
            speed: number(&case["speed"]),
            abs_slack_m: number(&case["abs_slack"]),
            rel_slack: number(&case["rel_slack"]),
        };
        let checked = check.check(point(&case["prev"]), point(&case["cur"]), number(&case["elapsed"]));
        assert_eq!(checked.ok, case["ok"].as_bool().expect("a bool"), "{case}");
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
        assert!(close(checked.distance, number(&case["distance"])), "{checked:?}: {case}");
        assert!(close(checked.limit, number(&case["limit"])), "{checked:?}: {case}");
        let clamped = point(&case["clamped"]);
        assert!(checked.position.iter().zip(clamped).all(|(a, b)| close(*a, b)), "{checked:?}: {case}");
    }
}
