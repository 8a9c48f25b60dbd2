//! The row of an entity by its curve: positions and rotations between or beyond up to four of its states.

use super::view::Source;
use crate::motion::curve::{Extrapolation, dead_reckon, hermite, mean_slope, turn};
use crate::motion::vector::{add, scale, sub};
use crate::session::client::curves::Curve;
use crate::session::client::row_math::{RowBuffer, blend, blend_but_poses, write_lanes};
use crate::time::{Tick, TickRate, TickTime};
use crate::world::{Column, ComponentSchema, Meaning};
use core::time::Duration;

/// A state of an entity: its tick, and its row.
pub(crate) type Sample<'a> = (Tick, &'a [u32]);

/// The states of an entity around a point: two up to it, of which the second is there, and two after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSamples<'a> {
    pub of: [Option<Sample<'a>>; 4],
    pub at: TickTime,
    pub rate: TickRate,
}

/// States that are farther apart than this are joined by a line, in seconds: so long after, a velocity says nothing, and a
/// cubic would swing out by metres that nobody has made.
const TOLD_S: f64 = 0.5;

/// The states up to the point.
const BEFORE: usize = 1;
/// The first after it.
const AFTER: usize = 2;

/// Where between the two middle states a point is.
struct Span {
    /// The times from each state to the next, in seconds; 0 where one is not there.
    gaps: [f64; 3],
    /// From 0, the first, to 1, the second.
    t: f64,
}

/// A column, and where in a row it is.
#[derive(Clone, Copy)]
struct PlacedColumn<'a> {
    place: usize,
    column: &'a Column,
}

/// A column of a position or rotation, and that of its velocity.
#[derive(Clone, Copy)]
struct Moving<'a> {
    of: PlacedColumn<'a>,
    velocity: Option<PlacedColumn<'a>>,
}

/// The columns of a component that are drawn by curves.
fn moving(component: &ComponentSchema) -> impl Iterator<Item = Moving<'_>> {
    let column = |at| {
        let (place, column) = component.column_at(at);
        PlacedColumn { place, column }
    };
    component
        .moving()
        .iter()
        .map(move |moving| Moving { of: column(moving.column), velocity: moving.velocity.map(column) })
}

impl PlacedColumn<'_> {
    /// The numbers of the column in a row.
    #[inline]
    fn lanes<const N: usize>(self, row: &[u32]) -> [f64; N] {
        self.column.lanes(&row[self.place..])
    }
}

impl<'a> RowSamples<'a> {
    /// Draws the row by a curve that shows it at the cursor.
    pub(crate) fn draw(&self, kind: &ComponentSchema, curve: Curve, into: &mut RowBuffer) -> Source {
        let (tick, words) = self.before();
        let since = (self.at - TickTime::start_of(tick)).as_ticks();
        let Some((next, words_next)) = self.of[AFTER] else {
            let seconds = since.max(0.0) * self.rate.seconds();
            let law = match curve {
                Curve::Hold | Curve::Linear => None,
                _ => Some(Extrapolation::default()),
            };
            return self.reckon(kind, law, seconds, into);
        };
        let t = (since / f64::from(next.since(tick))).clamp(0.0, 1.0);
        if curve == Curve::Hold {
            into[..words.len()].copy_from_slice(crate::motion::curve::hold(words, words_next, t));
            return Source::Interpolated;
        }
        if t < 1.0 && matches!(curve, Curve::Hermite | Curve::CatmullRom) && self.gap(BEFORE) <= TOLD_S {
            blend_but_poses(kind, words, words_next, t, into);
            let span = Span { gaps: self.gaps(), t };
            moving(kind).for_each(|moving| self.bend(moving, curve, &span, into));
        } else {
            blend(kind, words, words_next, t, into);
        }
        Source::Interpolated
    }

    /// Where a row of these states comes from that is shown at the point.
    pub(crate) fn source(&self) -> Source {
        if self.of[AFTER].is_some() {
            return Source::Interpolated;
        }
        let since = (self.at - TickTime::start_of(self.before().0)).as_ticks();
        beyond(since.max(0.0) * self.rate.seconds())
    }

    /// Draws the row so many seconds beyond the second state, as far as the law goes on; `None` for not at all.
    pub(crate) fn reckon(
        &self,
        kind: &ComponentSchema,
        law: Option<Extrapolation>,
        seconds: f64,
        into: &mut RowBuffer,
    ) -> Source {
        let (_, words) = self.before();
        into[..words.len()].copy_from_slice(words);
        let way = law.map_or(0.0, |law| law.way(seconds));
        for moving in moving(kind).filter(|_| way > 0.0) {
            let (from, velocity) = (moving.of, self.velocity(moving, BEFORE));
            let values: [f64; 4] = if moving.is_rotation() {
                turn::dead_reckon(from.lanes(words), velocity, way)
            } else {
                let [x, y, z] = dead_reckon(from.lanes(words), velocity, way);
                [x, y, z, 0.0]
            };
            moving.write(&values, into);
        }
        beyond(seconds)
    }

    /// The position of the second state and its velocity in m/s; zero where it has none.
    pub(crate) fn motion(&self, kind: &ComponentSchema) -> ([f64; 3], [f64; 3]) {
        let position = moving(kind).find(|moving| moving.of.column.meaning == Meaning::Position);
        position
            .map_or(([0.0; 3], [0.0; 3]), |moving| (moving.of.lanes(self.before().1), self.velocity(moving, BEFORE)))
    }

    /// Whether all that is known of it says that it stays as it is: its states are one, and say no velocity.
    pub(crate) fn rests(&self, component: &ComponentSchema) -> bool {
        let (_, words) = self.before();
        let is_same = self.of.iter().flatten().all(|(_, other)| *other == words);
        is_same && component.say_no_velocity(words)
    }

    pub(crate) fn before(&self) -> Sample<'a> {
        self.of[BEFORE].expect("whoever is shown is in the state before")
    }

    /// Draws one column between the two middle states by a cubic.
    fn bend(&self, moving: Moving<'_>, curve: Curve, span: &Span, into: &mut RowBuffer) {
        let Span { gaps, t } = span;
        let whole = moving.is_rotation().then(|| self.way(moving, BEFORE));
        let way = |from| whole.filter(|_| from == BEFORE).unwrap_or_else(|| self.way(moving, from));
        let velocity = |at| {
            let velocity = match self.told_velocity(moving, at) {
                Some(told) if curve == Curve::Hermite => told,
                told => slope(told, at, gaps, way),
            };
            scale(velocity, gaps[BEFORE])
        };
        let (v1, v2) = (velocity(BEFORE), velocity(AFTER));
        let values: [f64; 4] = if let Some(whole) = whole {
            turn::hermite_along(self.value(moving, BEFORE), whole, v1, v2, *t)
        } else {
            let [x, y, z] = hermite(self.value(moving, BEFORE), self.value(moving, AFTER), v1, v2, *t);
            [x, y, z, 0.0]
        };
        moving.write(&values, into);
    }

    /// The velocity in a state, told or by finite differences.
    fn velocity(&self, moving: Moving<'_>, at: usize) -> [f64; 3] {
        let by_neighbours = || slope(None, at, &self.gaps(), |from| self.way(moving, from));
        self.told_velocity(moving, at).unwrap_or_else(by_neighbours)
    }

    fn told_velocity(&self, moving: Moving<'_>, at: usize) -> Option<[f64; 3]> {
        Some(moving.velocity?.lanes(self.of[at]?.1))
    }

    /// How far and where to it moves from a state to the next, or turns.
    fn way(&self, moving: Moving<'_>, from: usize) -> [f64; 3] {
        if moving.is_rotation() {
            turn::between(self.value(moving, from), self.value(moving, from + 1))
        } else {
            sub(self.value(moving, from + 1), self.value(moving, from))
        }
    }

    /// The numbers of a column in a state; zero where there is none.
    fn value<const N: usize>(&self, moving: Moving<'_>, at: usize) -> [f64; N] {
        self.of[at].map_or([0.0; N], |(_, words)| moving.of.lanes(words))
    }

    /// The times from each state to the next in seconds; 0 where one is not there.
    fn gaps(&self) -> [f64; 3] {
        [0, 1, 2].map(|from| self.gap(from))
    }

    /// The time from a state to the next in seconds; 0 where one is not there.
    fn gap(&self, from: usize) -> f64 {
        let pair = self.of.get(from).copied().flatten().zip(self.of.get(from + 1).copied().flatten());
        pair.map_or(0.0, |((tick, _), (next, _))| f64::from(next.since(tick)) * self.rate.seconds())
    }
}

/// The velocity in a state by its neighbours: by the `way` from each to the next, for which it takes `gaps`. A neighbour that is not
/// there is taken to be as far on the other side as the one that is, where a velocity is told (D19).
fn slope(told: Option<[f64; 3]>, at: usize, gaps: &[f64; 3], way: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
    let gaps_of = |from| gaps.get(from).copied().unwrap_or(0.0);
    let around = [at - 1, at].map(gaps_of);
    let ways = [at - 1, at].map(|from| if gaps_of(from) > 0.0 { way(from) } else { [0.0; 3] });
    let between = mean_slope(ways, around);
    match told {
        // With the missing neighbour on the tangent, the difference is the mean of the one side and the tangent.
        Some(told) if around.contains(&0.0) => scale(add(between, told), 0.5),
        _ => between,
    }
}

/// So many seconds beyond the last state.
fn beyond(seconds: f64) -> Source {
    Source::Extrapolated(Duration::from_secs_f64(seconds.min(3600.0)))
}

impl Moving<'_> {
    fn is_rotation(&self) -> bool {
        self.of.column.meaning == Meaning::Rotation
    }

    fn write(&self, values: &[f64; 4], into: &mut RowBuffer) {
        let PlacedColumn { place, column } = self.of;
        write_lanes(column, values, &mut into[place..place + column.words()]);
    }
}

#[cfg(test)]
mod tests {
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
    fn samples<'a>(rows: &'a [Option<Vec<u32>>; 4], at: f64) -> RowSamples<'a> {
        let of = core::array::from_fn(|n| rows[n].as_ref().map(|row| (Tick::new([8, 12, 16, 20][n]), &row[..])));
        RowSamples { of, at: TickTime::ticks(at), rate: TickRate::hz(64) }
    }

    fn drawn(kind: &ComponentSchema, curve: Curve, rows: &[Option<Vec<u32>>; 4], at: f64) -> Vec<f32> {
        let mut into = ROW;
        samples(rows, at).draw(kind, curve, &mut into);
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
}
