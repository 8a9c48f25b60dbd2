//! Rows between and beyond their states.

use super::*;
use crate::motion::rotation;
use crate::world::{Audience, Field, ROW_WORDS_MAX};
use alloc::vec::Vec;

const ROW: RowBuffer = [0; ROW_WORDS_MAX];

fn kind(columns: &[(Column, Meaning)]) -> ComponentSchema {
    let columns = columns.iter().map(|(column, meaning)| Column { meaning: *meaning, ..column.clone() }).collect();
    ComponentSchema::new("thing", columns, Audience::All)
}

fn column<T: Field>() -> Column {
    Column::of::<T>("field", Meaning::Plain)
}

fn row(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The rows in ticks 8, 12, 16 and 20, of which some are there, at `at` at 64 Hz.
fn samples<'a>(rows: &'a [Option<Vec<u32>>; 4], at: f64) -> RowInterpolator<'a> {
    let of = core::array::from_fn(|n| rows[n].as_ref().map(|row| (Tick::new([8, 12, 16, 20][n]), &row[..])));
    RowInterpolator { of, rests: false, at: TickTime::ticks(at), rate: TickRate::hz(64) }
}

fn drawn(kind: &ComponentSchema, curve: Curve, rows: &[Option<Vec<u32>>; 4], at: f64) -> Vec<f32> {
    let mut into = ROW;
    let samples = samples(rows, at);
    let span = Span::new(samples.of.map(|of| Some(of?.0)), samples.at, samples.rate, curve);
    samples.draw(kind, curve, span.as_ref(), &mut into);
    into[..kind.words()].iter().map(|word| f32::from_bits(*word)).collect()
}

#[test]
fn every_curve_at_the_cursor_meets_the_states_and_has_its_own_way_between_them() {
    // One component, at 4 m/s, and then at rest.
    let kind = kind(&[(column::<f32>(), Meaning::Position), (column::<f32>(), Meaning::Velocity)]);
    let rows = [[0.0, 4.0], [0.25, 4.0], [0.5, 4.0], [0.5, 0.0]].map(|values| Some(row(&values)));
    let place = |curve, at: f64| drawn(&kind, curve, &rows, at)[0];
    for curve in Curve::ALL.into_iter().filter(|curve| !curve.leads()) {
        assert!((place(curve, 12.0) - 0.25).abs() < 1e-6 && (place(curve, 16.0) - 0.5).abs() < 1e-6, "{curve:?}");
    }
    let middle = [Curve::Hold, Curve::Linear, Curve::Extrapolated, Curve::Hermite].map(|curve| place(curve, 14.0));
    assert_eq!(middle, [0.25, 0.375, 0.375, 0.375]);
    // The neighbour after says 2 m/s at its end: an eighth of the missing 2 m/s in a sixteenth of a second is more.
    let by_neighbours = 0.375 + (4.0 - 2.0) / 16.0 / 8.0;
    assert!((place(Curve::CatmullRom, 14.0) - by_neighbours).abs() < 1e-6);
}

#[test]
fn without_a_velocity_it_is_that_of_finite_differences() {
    let kind = kind(&[(column::<[f32; 2]>(), Meaning::Position)]);
    let square = |x: f32| Some(row(&[x * x, x]));
    let rows = [square(0.0), square(1.0), square(2.0), square(3.0)];
    for curve in [Curve::Hermite, Curve::CatmullRom] {
        let [y, x] = drawn(&kind, curve, &rows, 13.0)[..] else { panic!("two components") };
        assert!((x - 1.25).abs() < 1e-6 && (y - x * x).abs() < 1e-6, "{curve:?} {x} {y}");
    }
    // Beyond the newest state: by the way between the last two, at 16 knots per second.
    let rows = [square(1.0), square(2.0), None, None];
    assert!((drawn(&kind, Curve::Extrapolated, &rows, 14.0)[1] - 2.5).abs() < 1e-6);
    assert_eq!(drawn(&kind, Curve::Linear, &rows, 14.0), [4.0, 2.0]);
    assert_eq!(drawn(&kind, Curve::Hold, &rows, 14.0), [4.0, 2.0]);
}

#[test]
fn what_is_parked_at_infinity_is_shown_there_by_every_curve_and_what_else_it_does_goes_on() {
    let (far, fields) =
        (f32::INFINITY, [(column::<[f32; 2]>(), Meaning::Position), (column::<[f32; 2]>(), Meaning::Velocity)]);
    for kind in [kind(&fields), kind(&fields[..1])] {
        let state = |y: f32| Some(row(&[far, y, 0.0, 16.0][..kind.words()]));
        let between = [state(0.0), state(1.0), state(2.0), state(3.0)];
        let beyond = [state(0.0), state(1.0), None, None];
        for curve in [Curve::Linear, Curve::Extrapolated, Curve::Hermite, Curve::CatmullRom] {
            assert_eq!(drawn(&kind, curve, &between, 14.0)[..2], [far, 1.5], "{curve:?}");
            let y = if curve == Curve::Linear { 1.0 } else { 1.5 };
            assert_eq!(drawn(&kind, curve, &beyond, 14.0)[..2], [far, y], "{curve:?}");
        }
    }
}

#[test]
fn a_second_position_goes_by_the_second_velocity_and_a_rotation_by_its_own() {
    let kind = kind(&[
        (column::<f32>(), Meaning::Position),
        (column::<f32>(), Meaning::Velocity),
        (column::<f32>(), Meaning::Position),
        (column::<f32>(), Meaning::Velocity),
        (column::<[f32; 4]>(), Meaning::Rotation),
        (column::<[f32; 3]>(), Meaning::AngularVelocity),
    ]);
    let turned = |by: f32| rotation::from_vector([0.0, by, 0.0]);
    let state = |n: f32| {
        let [x, y, z, w] = turned(n * 0.25);
        Some(row(&[n, 16.0, -n, -16.0, x, y, z, w, 0.0, 4.0, 0.0]))
    };
    let near = |at: f64, n: f64, rows: &[Option<Vec<u32>>; 4]| {
        let row = drawn(&kind, Curve::Hermite, rows, at);
        let angle = rotation::angle(
            core::array::from_fn(|lane| f64::from(row[4 + lane])),
            rotation::from_vector([0.0, n * 0.25, 0.0]),
        );
        (f64::from(row[0]) - n).abs() < 1e-5 && (f64::from(row[2]) + n).abs() < 1e-5 && angle < 1e-5
    };
    let rows = [state(0.0), state(1.0), state(2.0), state(3.0)];
    assert!(near(13.0, 1.25, &rows) && near(15.5, 1.875, &rows));
    let rows = [state(0.0), state(1.0), None, None];
    assert!(near(14.0, 1.5, &rows), "beyond the newest");
    // At full speed for 100 ms and to a stop within 150 ms more: 175 ms worth of way, at 16 a second.
    assert!(near(60.0, 1.0 + 0.175 * 16.0, &rows));
}

/// Which of these states, and whether the point is on no way, where there are jumps.
fn cut(kind: &ComponentSchema, rows: &[Option<Vec<u32>>; 4]) -> ([bool; 4], bool) {
    let mut samples = samples(rows, 14.0);
    let is_jump = samples.cut_at_jumps(kind, Curve::CatmullRom, Correction::default().teleport_m());
    (samples.of.map(|of| of.is_some()), is_jump)
}

#[test]
fn nobody_is_on_the_way_of_a_teleport_nor_goes_by_what_is_beyond_it() {
    const ALL: [bool; 4] = [true; 4];
    let kind = kind(&[(column::<f32>(), Meaning::Position), (column::<f32>(), Meaning::Velocity)]);
    let of = |values: [[f32; 2]; 4]| cut(&kind, &values.map(|values| Some(row(&values))));
    assert_eq!(of([[0.0, 0.0], [0.0, 0.0], [50.0, 0.0], [50.0, 0.0]]), (ALL, true));
    assert_eq!(of([[0.0, 0.0], [50.0, 4.0], [50.25, 4.0], [50.5, 4.0]]), ([false, true, true, true], false));
    assert_eq!(of([[0.0, 4.0], [0.25, 4.0], [0.5, 4.0], [50.0, 4.0]]), ([true, true, true, false], false));
    // 100 m/s, from rest and to it; what has stepped by a metre; and who is fast only by their ways.
    assert_eq!(of([[0.0, 0.0], [0.0, 0.0], [6.25, 100.0], [12.5, 100.0]]), (ALL, false));
    assert_eq!(of([[0.0, 100.0], [6.25, 100.0], [12.5, 0.0], [12.5, 0.0]]), (ALL, false));
    assert_eq!(of([[0.0, 0.0], [0.0, 0.0], [1.9, 0.0], [1.9, 0.0]]), (ALL, false));
    assert_eq!(of([[0.0, 0.0], [6.25, 0.0], [12.5, 0.0], [18.75, 0.0]]), (ALL, false));
    // The last that is known.
    let rows = [Some(row(&[0.0, 0.0])), Some(row(&[50.0, 0.0])), None, None];
    assert_eq!(cut(&kind, &rows), ([false, true, false, false], false));
}

#[test]
fn what_is_drawn_is_the_same_whether_or_not_it_is_looked_at_what_nothing_hangs_on() {
    let told = [(column::<f32>(), Meaning::Position), (column::<f32>(), Meaning::Velocity)];
    let places = [[0.0, 0.25, 0.5, 0.75], [50.0, 0.25, 0.5, 0.75], [0.0, 0.25, 0.5, 50.0], [0.0, 0.25, 50.0, 50.25]];
    for (kind, places) in [kind(&told), kind(&told[..1])].iter().flat_map(|kind| places.map(|places| (kind, places))) {
        let all = places.map(|place| Some(row(&[place, 4.0][..kind.words()])));
        for rows in [all.clone(), [all[0].clone(), all[1].clone(), None, None]] {
            let drawn = |curve, looked_at_by| {
                let (mut samples, mut into) = (samples(&rows, 14.0), ROW);
                if samples.cut_at_jumps(kind, looked_at_by, Correction::default().teleport_m()) {
                    return None;
                }
                let span = Span::new(samples.ticks(), samples.at, samples.rate, curve);
                samples.draw(kind, curve, span.as_ref(), &mut into);
                Some(into)
            };
            for curve in Curve::ALL {
                assert_eq!(drawn(curve, curve), drawn(curve, Curve::CatmullRom), "{curve:?}: {places:?}");
            }
        }
    }
}

#[test]
fn a_teleport_of_what_has_no_velocity_is_known_by_the_ways_beside_it_or_as_nothing_is_so_fast() {
    let kind = kind(&[(column::<f32>(), Meaning::Position)]);
    let of = |rows: [Option<f32>; 4]| cut(&kind, &rows.map(|place| place.map(|place| row(&[place]))));
    assert_eq!(of([Some(0.0), Some(0.1), Some(50.0), None]), ([true, true, true, false], true));
    assert_eq!(of([Some(0.0), Some(2.5), Some(5.0), None]), ([true, true, true, false], false));
    assert_eq!(of([None, Some(0.0), Some(50.0), None]), ([false, true, true, false], true));
    assert_eq!(of([None, Some(0.0), Some(10.0), None]), ([false, true, true, false], false), "160 m/s");
    // It does not go on at the speed of a teleport.
    assert_eq!(of([Some(0.0), Some(50.0), None, None]), ([false, true, false, false], false));
}

#[test]
fn where_lengths_are_pixels_what_is_far_is_what_the_game_says() {
    let kind = kind(&[(column::<f32>(), Meaning::Position)]);
    let is_jump = |to: f32, snap_m: f64| {
        let rows = [0.0, 0.0, to, to].map(|place| Some(row(&[place])));
        samples(&rows, 14.0).cut_at_jumps(
            &kind,
            Curve::CatmullRom,
            Correction { snap_m, ..Correction::default() }.teleport_m(),
        )
    };
    assert_eq!([5.0, 30.0, 500.0].map(|to| is_jump(to, 2.0)), [true; 3]);
    assert_eq!([5.0, 30.0, 500.0].map(|to| is_jump(to, 60.0)), [false, false, true]);
    assert!(!is_jump(500.0, f64::INFINITY));
    assert_eq!([0.0, 0.2].map(|snap_m| is_jump(1.5, snap_m)), [false; 2], "who snaps always walks all the same");
}

/// What counts its teleports: a row of it in each state, by place, velocity and count.
fn counted(values: [Option<(f32, f32, u32)>; 4]) -> (ComponentSchema, [Option<Vec<u32>>; 4]) {
    let columns = [
        (column::<f32>(), Meaning::Position),
        (column::<f32>(), Meaning::Velocity),
        (column::<f32>(), Meaning::Blended),
        (column::<u8>(), Meaning::Teleports),
    ];
    let row = |(place, velocity, teleports)| [row(&[place, velocity, place]), Vec::from([teleports])].concat();
    (kind(&columns), values.map(|values| values.map(row)))
}

#[test]
fn what_counts_its_teleports_jumps_where_the_count_differs_however_near_it_is_and_nowhere_else() {
    const ALL: [bool; 4] = [true; 4];
    let of = |values: [Option<(f32, f32, u32)>; 4]| {
        let (kind, rows) = counted(values);
        cut(&kind, &rows)
    };
    let at = |place, teleports| Some((place, 14.0, teleports));
    assert_eq!(of([at(0.0, 7), at(0.9, 7), at(2.0, 8), at(2.9, 8)]), (ALL, true));
    assert_eq!(of([at(0.0, 7), at(1.0, 8), at(1.9, 8), at(2.8, 8)]), ([false, true, true, true], false));
    assert_eq!(of([at(0.0, 7), at(0.9, 7), at(1.8, 7), at(2.0, 8)]), ([true, true, true, false], false));
    assert_eq!(of([at(0.0, 255), at(1.0, 0), None, None]), ([false, true, false, false], false));
    assert_eq!(of([at(0.0, 7), at(0.9, 7), at(500.0, 7), at(501.0, 7)]), (ALL, false), "it has gone there");
    assert_eq!(of([None, at(0.0, 7), None, at(500.0, 8)]), ([false, true, false, true], false));
}

#[test]
fn by_no_curve_is_anything_of_it_between_two_counts_nor_bent_by_what_is_beyond_one() {
    let straight = |n: f32, teleports| Some((n * 0.9, 14.4, teleports));
    let aside = |n: f32, teleports| Some((n * 0.9 + 8.0, 14.4, teleports));
    let drawn_cut = |curve, values, at| {
        let (kind, rows) = counted(values);
        let (mut samples, mut into) = (samples(&rows, at), ROW);
        let jumps = samples.cut_at_jumps(&kind, curve, Correction::default().teleport_m());
        let span = Span::new(samples.ticks(), samples.at, samples.rate, curve);
        samples.draw(&kind, curve, span.as_ref(), &mut into);
        (jumps, f32::from_bits(into[0]))
    };
    for curve in Curve::ALL.into_iter().filter(|curve| !curve.leads()) {
        let between = [straight(0.0, 1), straight(1.0, 1), aside(2.0, 2), aside(3.0, 2)];
        assert!(drawn_cut(curve, between, 14.0).0, "{curve:?}");
        let on_both_sides = [aside(0.0, 1), straight(1.0, 2), straight(2.0, 2), aside(3.0, 3)];
        let (jumps, place) = drawn_cut(curve, on_both_sides, 14.0);
        let expected = if curve == Curve::Hold { 0.9 } else { 1.35 };
        assert!(!jumps && (place - expected).abs() < 1e-5, "{curve:?}: {place}");
    }
}
