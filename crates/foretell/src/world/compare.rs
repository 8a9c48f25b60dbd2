//! Comparison of a predicted row with the authority's (Q10, R14, R15, D1, D14).

use super::{Column, ComponentId, Meaning, Schema};
use crate::math::f64::sqrt;
use crate::motion::rotation::rotation_error;
use crate::motion::vector::squared_distance;

/// How far a prediction may differ from the authority before it counts as wrong. Differing means *more* than the
/// tolerance, and where that is 0 any other number, or any other bit of a plain column; but the negative of a rotation is the same one, and
/// zeros are the same. Not-a-number always differs, unless its bits agree.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Of positions: squared distance in m². Default 0: worlds that are deterministic need none.
    pub position_sqr_m: f64,
    /// Of rotations: `1 - |dot|`, from 0 to 1. Default 0.
    pub rotation: f64,
    /// Of velocities: squared difference in (m/s)². Default 0.
    pub velocity_sqr: f64,
    /// Of angular velocities: squared difference in (rad/s)². Default 0.
    pub angular_velocity_sqr: f64,
    /// Whether plain columns, and blended ones, must agree in every bit. Default true. [Teleports](Meaning::Teleports) always must.
    pub plain: bool,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { position_sqr_m: 0.0, rotation: 0.0, velocity_sqr: 0.0, angular_velocity_sqr: 0.0, plain: true }
    }
}

impl Tolerance {
    /// The second source article's own test: position alone, a squared distance above 1e-7 m² (R14).
    pub fn article() -> Tolerance {
        Tolerance {
            position_sqr_m: 1e-7,
            rotation: f64::INFINITY,
            velocity_sqr: f64::INFINITY,
            angular_velocity_sqr: f64::INFINITY,
            plain: false,
        }
    }

    /// For bodies in contact whose derived state differs: 3 mm, 1 cm/s, half a degree and 3 degrees/s; plain columns may
    /// differ. So much comes of other warm starts of a solver within half a second (FIELD 4). Canonical states are compared
    /// without it.
    pub fn of_contacts() -> Tolerance {
        Tolerance {
            position_sqr_m: 0.003 * 0.003,
            rotation: 1e-5,
            velocity_sqr: 0.01 * 0.01,
            angular_velocity_sqr: 0.05 * 0.05,
            plain: false,
        }
    }

    /// Bits alone: the negative of a rotation is another one, and so is that of zero.
    pub(crate) fn none() -> Tolerance {
        let never = f64::NEG_INFINITY;
        Tolerance {
            position_sqr_m: never,
            rotation: never,
            velocity_sqr: never,
            angular_velocity_sqr: never,
            plain: true,
        }
    }

    fn of(&self, meaning: Meaning) -> f64 {
        match meaning {
            Meaning::Plain | Meaning::Parent | Meaning::Blended if self.plain => 0.0,
            Meaning::Plain | Meaning::Parent | Meaning::Blended => f64::INFINITY,
            Meaning::Teleports => 0.0,
            Meaning::Position => self.position_sqr_m,
            Meaning::Rotation => self.rotation,
            Meaning::Velocity => self.velocity_sqr,
            Meaning::AngularVelocity => self.angular_velocity_sqr,
        }
    }
}

/// The first field in which a prediction differs from the authority.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// In which component.
    pub component: ComponentId,
    /// The index of the column in it; `None` when the entity exists on one side only, or belongs to another player.
    pub column: Option<u8>,
    /// How much: a distance in the unit of the column; for a rotation `1 - |dot|`, for a plain or blended column
    /// the largest difference of a lane.
    pub size: f64,
    /// The first four lanes of the prediction, zero beyond.
    pub predicted: [f64; 4],
    /// The first four lanes of the authority's value, zero beyond.
    pub confirmed: [f64; 4],
}

impl Difference {
    /// The entity exists on one side only, or is not the same player's on both.
    pub(crate) fn of_existence(component: ComponentId) -> Difference {
        Difference { component, column: None, size: 0.0, predicted: [0.0; 4], confirmed: [0.0; 4] }
    }
}

/// The first column of `component` in which two rows differ by more than the tolerance; rows of equal bits never differ.
pub fn compare_row(
    schema: &Schema,
    component: ComponentId,
    predicted: Option<&[u32]>,
    confirmed: Option<&[u32]>,
    tolerance: &Tolerance,
) -> Option<Difference> {
    let (predicted, confirmed) = match (predicted, confirmed) {
        (Some(predicted), Some(confirmed)) if predicted == confirmed => return None,
        (Some(predicted), Some(confirmed)) => (predicted, confirmed),
        (None, None) => return None,
        _ => return Some(Difference::of_existence(component)),
    };
    let columns = schema.component(component);
    let both = columns.fields(predicted).zip(columns.fields(confirmed));
    for (index, ((column, ours), (_, theirs))) in (0_u8..).zip(both) {
        if ours == theirs {
            continue;
        }
        let (measured, most) = (measure(column, ours, theirs), tolerance.of(column.meaning));
        // Not "measured > most": a NaN must differ. What measures nothing need not be the same.
        let within = if most == 0.0 { is_same_value(column, ours, theirs) } else { measured <= most };
        if !within {
            let size = if has_squared_measure(column.meaning) { sqrt(measured) } else { measured };
            let (predicted, confirmed) = (column.lanes(ours), column.lanes(theirs));
            return Some(Difference { component, column: Some(index), size, predicted, confirmed });
        }
    }
    None
}

fn has_squared_measure(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Position | Meaning::Velocity | Meaning::AngularVelocity)
}

fn measure(column: &Column, ours: &[u32], theirs: &[u32]) -> f64 {
    match column.meaning {
        Meaning::Rotation => rotation_error(column.lanes(ours), column.lanes(theirs)),
        Meaning::Plain | Meaning::Parent | Meaning::Blended | Meaning::Teleports => (0..usize::from(column.lanes))
            .map(|lane| (column.lane(ours, lane) - column.lane(theirs, lane)).abs())
            .fold(f64::MIN_POSITIVE, f64::max),
        _ => squared_distance::<f64, 3>(column.lanes(ours), column.lanes(theirs)),
    }
}

/// Whether both are the same numbers, or a rotation and its negative; of plain columns, whose bits differ, they never are.
fn is_same_value(column: &Column, ours: &[u32], theirs: &[u32]) -> bool {
    match column.meaning {
        Meaning::Rotation => {
            let (ours, theirs) = (column.lanes::<4>(ours), column.lanes::<4>(theirs));
            ours == theirs || ours == theirs.map(|lane| -lane)
        }
        Meaning::Plain | Meaning::Parent | Meaning::Blended | Meaning::Teleports => false,
        _ => column.lanes::<3>(ours) == column.lanes::<3>(theirs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Field;
    use alloc::vec::Vec;
    use foretell::State;

    #[derive(State, Clone, Copy)]
    struct Body {
        #[state(position)]
        position: [f64; 3],
        #[state(rotation)]
        rotation: [f64; 4],
        lives: u8,
        #[state(velocity)]
        velocity: [f64; 2],
    }

    fn row(position: [f64; 3], rotation: [f64; 4], lives: u8) -> Vec<u32> {
        let mut words = vec![0; 19];
        assert!(State::write(&Body { position, rotation, lives, velocity: [0.0; 2] }, 0, &mut words));
        words
    }

    fn compare(ours: &[u32], theirs: &[u32], tolerance: &Tolerance) -> Option<Difference> {
        compare_row(&Schema::of::<Body>(), ComponentId(0), Some(ours), Some(theirs), tolerance)
    }

    const UPRIGHT: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

    #[test]
    fn rows_differ_above_the_tolerance_and_not_at_it() {
        let vectors = include_str!("../../../../vectors/smoothing.json");
        let vectors: serde_json::Value = serde_json::from_str(vectors).expect("the vectors are JSON");
        let cases = vectors["cases"].as_array().expect("a list");
        for case in cases.iter().filter(|case| case["fn"] == "needs_correction") {
            let squared = case["sqr_pos_err"].as_f64().expect("a number");
            let turned = case["rot_err"].as_f64().expect("a number");
            let tolerance = Tolerance { position_sqr_m: 1e-7, rotation: 1e-5, ..Tolerance::default() };
            let differs = !(squared <= tolerance.of(Meaning::Position) && turned <= tolerance.of(Meaning::Rotation));
            assert_eq!(differs, case["expect"].as_bool().expect("a bool"), "{case}");
        }
        let centre = row([0.0; 3], UPRIGHT, 1);
        let tolerance = Tolerance { position_sqr_m: 0.25, ..Tolerance::default() };
        let at = |x| row([x, 0.0, 0.0], UPRIGHT, 1);
        assert_eq!(compare(&centre, &at(0.5), &tolerance), None);
        let found = compare(&centre, &at(0.75), &tolerance).expect("0.75 m is too far");
        assert_eq!((found.column, found.size, found.confirmed[0]), (Some(0), 0.75, 0.75));
    }

    #[test]
    fn velocities_are_compared_too() {
        let ours = row([0.0; 3], UPRIGHT, 1);
        let mut theirs = ours.clone();
        [3.0, 4.0].put(&mut theirs[15..]);
        let found = compare(&ours, &theirs, &Tolerance::default()).expect("5 m/s");
        assert_eq!((found.column, found.size), (Some(3), 5.0));
        let coarse = Tolerance { velocity_sqr: 25.0, ..Tolerance::default() };
        assert_eq!(compare(&ours, &theirs, &coarse), None);
    }

    #[test]
    fn a_rotation_and_its_negative_agree() {
        let ours = row([0.0; 3], UPRIGHT, 1);
        let theirs = row([0.0; 3], [0.0, 0.0, 0.0, -1.0], 1);
        assert_eq!(compare(&ours, &theirs, &Tolerance::default()), None);
    }

    #[test]
    fn without_a_tolerance_any_other_rotation_differs_be_it_by_nothing_and_of_a_canonical_state_any_other_bit() {
        let long = |x: f64| row([0.0; 3], [x, 0.0, 0.0, 1.0 + 1e-7], 1);
        let found = compare(&long(0.0), &long(1e-4), &Tolerance::default()).expect("turned");
        assert!(found.column == Some(1) && found.size < 0.0, "{found:?}");
        assert_eq!(compare(&long(0.0), &long(1e-4), &Tolerance { rotation: 1e-9, ..Tolerance::default() }), None);
        let negative = row([0.0, -0.0, 0.0], UPRIGHT, 1);
        let found = compare(&row([0.0; 3], UPRIGHT, 1), &negative, &Tolerance::none()).expect("the sign of a zero");
        assert_eq!((found.column, found.size), (Some(0), 0.0));
        for tolerance in [Tolerance::default(), Tolerance::article()] {
            assert_eq!(compare(&row([0.0; 3], UPRIGHT, 1), &negative, &tolerance), None);
        }
    }

    #[test]
    fn of_a_canonical_state_the_negative_of_a_rotation_differs_too() {
        let theirs = row([0.0; 3], UPRIGHT.map(|lane| -lane), 1);
        assert!(compare(&row([0.0; 3], UPRIGHT, 1), &theirs, &Tolerance::none()).is_some());
    }

    #[test]
    fn not_a_number_differs_and_a_plain_column_differs_by_any_bit() {
        let ours = row([0.0; 3], UPRIGHT, 1);
        let nan = row([f64::NAN, 0.0, 0.0], UPRIGHT, 1);
        assert!(compare(&ours, &nan, &Tolerance::article()).is_some());
        let poorer = row([0.0; 3], UPRIGHT, 0);
        let found = compare(&ours, &poorer, &Tolerance::default()).expect("a life less");
        assert_eq!((found.column, found.size), (Some(2), 1.0));
        assert_eq!(compare(&ours, &poorer, &Tolerance::article()), None);
    }

    #[test]
    fn teleports_differ_by_any_bit_whatever_else_is_tolerated() {
        #[derive(State, Clone, Copy)]
        struct Car {
            #[state(position)]
            at: [f64; 1],
            #[state(teleports)]
            teleports: u8,
        }
        let row = |teleports| {
            let mut words = [0; 3];
            assert!(State::write(&Car { at: [0.0], teleports }, 0, &mut words));
            words
        };
        for tolerance in [Tolerance::default(), Tolerance::article(), Tolerance::of_contacts(), Tolerance::none()] {
            let compared = |teleports| {
                let (ours, theirs) = (row(3), row(teleports));
                compare_row(&Schema::of::<Car>(), ComponentId(0), Some(&ours), Some(&theirs), &tolerance)
            };
            assert_eq!(compared(3), None);
            let found = compared(5).expect("it was put elsewhere twice");
            assert_eq!((found.column, found.size), (Some(1), 2.0));
        }
    }
}
