//! The row of an entity by its curve: positions and rotations between or beyond up to four of its states.

use super::cubic::{AFTER, BEFORE, Cubic, Span, Tangent, Ticks};
use super::curve::Curve;
use super::pose_source::PoseSource;
use super::row_motion::{RowBuffer, blend, blend_but_poses};
use crate::motion::Correction;
use crate::motion::trajectory::{Extrapolation, dead_reckon, rotation_curve};
use crate::motion::vector::{add, length, scale, sub};
use crate::time::{Tick, TickRate, TickTime};
use crate::world::{Column, ComponentSchema, Meaning};
use core::time::Duration;

/// A row in a state: its tick, and its words.
pub(crate) type Sample<'a> = (Tick, &'a [u32]);

/// The states of an entity around a point: two up to it, of which the second is there, and two after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSamples<'a> {
    pub of: [Option<Sample<'a>>; 4],
    /// Whether it is known to rest there.
    pub rests: bool,
    pub at: TickTime,
    pub rate: TickRate,
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
    /// Draws the row by a curve that shows it at the cursor. The span is that of its states.
    pub(crate) fn draw(
        &self,
        kind: &ComponentSchema,
        curve: Curve,
        span: Option<&Span>,
        into: &mut RowBuffer,
    ) -> PoseSource {
        let (_, words) = self.before();
        let (Some(&Span { t, ref cubics }), Some((_, words_next))) = (span, self.of[AFTER]) else {
            let law = match curve {
                Curve::Hold | Curve::Linear => None,
                _ => Some(Extrapolation::default()),
            };
            return self.reckon(kind, law, self.seconds_beyond(), into);
        };
        if curve == Curve::Hold {
            into[..words.len()].copy_from_slice(crate::motion::trajectory::hold(words, words_next, t));
            return PoseSource::Interpolated;
        }
        let Some(cubics) = cubics else {
            blend(kind, words, words_next, t, into);
            return PoseSource::Interpolated;
        };
        blend_but_poses(kind, words, words_next, t, into);
        for moving in moving(kind) {
            let cubic = if moving.velocity.is_some() { &cubics.told } else { &cubics.untold };
            if moving.is_rotation() {
                moving.write(&self.turned(moving, cubic, t), into);
            } else {
                moving.write(&cubic.point(&self.values(moving, cubic), &self.velocities(moving)), into);
            }
        }
        PoseSource::Interpolated
    }

    /// Whether the way between the middle states is none that it goes, but a jump: so far as a correction would snap, at the speed
    /// that it has there, in them and beside them. `false` where that can't be known.
    pub(crate) fn jumps(&self, kind: &ComponentSchema) -> bool {
        let Some(position) = moving(kind).find(|moving| !moving.is_rotation()) else { return false };
        let (way, snaps) = (length(self.way(position, BEFORE)), Correction::default());
        if self.of[AFTER].is_none() || way < snaps.snap_m {
            return false;
        }
        let told = |at: usize| self.told_velocity(position, at).map(length);
        let beside = |from: usize| {
            let gap = Some(self.gap(from)).filter(|gap| *gap > 0.0);
            gap.map(|gap| length(self.way(position, from)) / gap)
        };
        // Where no velocity is told, both neighbours say how fast it is.
        if told(BEFORE).is_none() && (beside(0).is_none() || beside(AFTER).is_none()) {
            return false;
        }
        let speeds = [told(BEFORE), told(AFTER), beside(0), beside(AFTER)].into_iter().flatten();
        let speed = speeds.fold(0.0, f64::max);
        way > snaps.snaps_from(speed).max(1.5 * speed * self.gap(BEFORE))
    }

    /// How long after the second state the point is.
    fn seconds_beyond(&self) -> f64 {
        let since = (self.at - TickTime::start_of(self.before().0)).as_ticks();
        since.max(0.0) * self.rate.seconds()
    }

    /// Where a row of these states comes from that is shown at the point.
    #[inline]
    pub(crate) fn source(&self) -> PoseSource {
        if self.of[AFTER].is_some() {
            return PoseSource::Interpolated;
        }
        beyond(self.seconds_beyond())
    }

    /// Draws the row `seconds` beyond the second state, as far as the law goes on; `None` for not at all.
    pub(crate) fn reckon(
        &self,
        kind: &ComponentSchema,
        law: Option<Extrapolation>,
        seconds: f64,
        into: &mut RowBuffer,
    ) -> PoseSource {
        let (_, words) = self.before();
        into[..words.len()].copy_from_slice(words);
        let way = law.map_or(0.0, |law| law.way(seconds));
        for moving in moving(kind).filter(|_| way > 0.0) {
            let (from, velocity) = (moving.of, self.velocity(moving));
            if moving.is_rotation() {
                moving.write(&rotation_curve::dead_reckon(from.lanes(words), velocity, way), into);
            } else {
                moving.write::<3>(&dead_reckon(from.lanes(words), velocity, way), into);
            }
        }
        beyond(seconds)
    }

    /// The position of the second state and its velocity in m/s; zero where it has none.
    pub(crate) fn motion(&self, kind: &ComponentSchema) -> ([f64; 3], [f64; 3]) {
        let position = moving(kind).find(|moving| moving.of.column.meaning == Meaning::Position);
        position.map_or(([0.0; 3], [0.0; 3]), |moving| (moving.of.lanes(self.before().1), self.velocity(moving)))
    }

    /// Whether all that is known of it says that it stays as it is: its states are one, and say no velocity.
    #[inline]
    pub(crate) fn rests(&self, component: &ComponentSchema) -> bool {
        let (_, words) = self.before();
        let is_next = || self.of[AFTER].is_none_or(|(_, next)| next == words);
        let is_same = || self.of.iter().flatten().all(|(_, other)| *other == words);
        self.rests || component.says_no_velocity(words) && is_next() && is_same()
    }

    /// The ticks of the states.
    #[inline]
    pub(crate) fn ticks(&self) -> Ticks {
        self.of.map(|of| of.map(|(tick, _)| tick))
    }

    #[inline]
    pub(crate) fn before(&self) -> Sample<'a> {
        self.of[BEFORE].expect("whoever is shown is in the state before")
    }

    /// A rotation between the two middle states.
    fn turned(&self, moving: Moving<'_>, cubic: &Cubic, t: f64) -> [f64; 4] {
        let (rotations, velocities) = (self.values(moving, cubic), self.velocities(moving));
        cubic.slight_turn(rotations, &velocities).unwrap_or_else(|| {
            let ways = [0, 1, 2].map(|from| rotation_curve::between(rotations[from], rotations[from + 1]));
            let [v1, v2] = [0, 1].map(|nth| {
                let Tangent { ways: [before, after], told } = cubic.tangents[nth];
                let by_neighbours = add(scale(ways[nth], before), scale(ways[nth + 1], after));
                add(by_neighbours, scale(velocities[nth], told))
            });
            rotation_curve::hermite_along(rotations[BEFORE], ways[BEFORE], v1, v2, t)
        })
    }

    /// The numbers of a column in the states that count for a cubic; zero in the others.
    #[inline]
    fn values<const N: usize>(&self, moving: Moving<'_>, cubic: &Cubic) -> [[f64; N]; 4] {
        let outer = |at: usize| if cubic.needs(at) { self.value(moving, at) } else { [0.0; N] };
        [outer(0), self.value(moving, BEFORE), self.value(moving, AFTER), outer(3)]
    }

    /// The velocities that are told in the two middle states, or zero.
    #[inline]
    fn velocities(&self, moving: Moving<'_>) -> [[f64; 3]; 2] {
        [BEFORE, AFTER].map(|at| self.told_velocity(moving, at).unwrap_or_default())
    }

    /// The velocity in the second state, told or by finite differences.
    fn velocity(&self, moving: Moving<'_>) -> [f64; 3] {
        let by_neighbours = || {
            let [before, after] = [0, 1].map(|from| self.gap(from));
            let Tangent { ways, .. } = Tangent::by_neighbours([before, after], 1.0);
            let way = |nth: usize| if ways[nth] > 0.0 { scale(self.way(moving, nth), ways[nth]) } else { [0.0; 3] };
            add(way(0), way(1))
        };
        self.told_velocity(moving, BEFORE).unwrap_or_else(by_neighbours)
    }

    #[inline]
    fn told_velocity(&self, moving: Moving<'_>, at: usize) -> Option<[f64; 3]> {
        Some(moving.velocity?.lanes(self.of[at]?.1))
    }

    /// How far and where to it moves from a state to the next, or turns.
    fn way(&self, moving: Moving<'_>, from: usize) -> [f64; 3] {
        if moving.is_rotation() {
            rotation_curve::between(self.value(moving, from), self.value(moving, from + 1))
        } else {
            sub(self.value(moving, from + 1), self.value(moving, from))
        }
    }

    /// The numbers of a column in a state; zero where there is none.
    #[inline]
    fn value<const N: usize>(&self, moving: Moving<'_>, at: usize) -> [f64; N] {
        self.of[at].map_or([0.0; N], |(_, words)| moving.of.lanes(words))
    }

    /// The time from a state to the next in seconds; 0 where one is not there.
    fn gap(&self, from: usize) -> f64 {
        let pair = self.of.get(from).copied().flatten().zip(self.of.get(from + 1).copied().flatten());
        pair.map_or(0.0, |((tick, _), (next, _))| f64::from(next.since(tick)) * self.rate.seconds())
    }
}

/// Where a row comes from that is this far beyond the last state, from 0 on.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most an hour")]
fn beyond(seconds: f64) -> PoseSource {
    PoseSource::Extrapolated(Duration::from_nanos((seconds.min(3600.0) * 1e9) as u64))
}

impl Moving<'_> {
    fn is_rotation(&self) -> bool {
        self.of.column.meaning == Meaning::Rotation
    }

    #[inline]
    fn write<const N: usize>(&self, values: &[f64; N], into: &mut RowBuffer) {
        let PlacedColumn { place, column } = self.of;
        column.set_lanes(&mut into[place..place + column.words()], values);
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
        RowSamples { of, rests: false, at: TickTime::ticks(at), rate: TickRate::hz(64) }
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
