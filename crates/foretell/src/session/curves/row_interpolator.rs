//! The row of an entity by its curve: positions and rotations between or beyond up to four of its states.

use super::cubic_weights::{AFTER, BEFORE, Cubic, Span, Tangent, Ticks};
use super::curve::{Curve, PoseSource};
use super::row_motion::{RowBuffer, blend, blend_but_poses, set_finite_lanes};
use crate::motion::Correction;
use crate::motion::trajectory::{Extrapolation, dead_reckon, rotation_curve};
use crate::motion::vector::{add, length, scale, squared_distance, sub};
use crate::time::{Tick, TickRate, TickTime};
use crate::world::{Column, ComponentSchema, Meaning, Teleports};
use core::time::Duration;

/// How often the least way of a teleport something goes in a second at most that is told without a velocity, as long as nothing else is
/// known of it: 200 m by default.
const FASTEST: f64 = 100.0;
/// How often at most something goes it that rests before and after: 16 m by default.
const STARTS: f64 = 8.0;

/// A row in a state: its tick, and its words.
pub(crate) type Sample<'a> = (Tick, &'a [u32]);

/// The states of an entity around a point: two up to it, of which the second is there, and two after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowInterpolator<'a> {
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

impl<'a> RowInterpolator<'a> {
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

    /// Leaves out what is beyond a jump: nobody is on the way of a teleport, nor goes by what was before or comes after one. Whether
    /// there is one between the middle states; it is as in the first until it is there. Where the states don't say it, it is a jump by how
    /// far it is. By which curve it is drawn says what counts.
    pub(crate) fn cut_at_jumps(&mut self, kind: &ComponentSchema, curve: Curve, teleport_m: f64) -> bool {
        if kind.says_teleports() {
            let in_each = self.of.map(|of| of.map_or(Teleports::default(), |(_, words)| kind.teleports(words)));
            return self.cut([0, BEFORE, AFTER].map(|from| in_each[from].differ(in_each[from + 1])));
        }
        let Some(position) = moving(kind).find(|moving| !moving.is_rotation()) else { return false };
        let is_near = |from: usize| self.is_near(position, from, teleport_m);
        // Where all velocities are told nothing hangs on the states beside.
        let goes_by_told = curve != Curve::CatmullRom && kind.has_all_velocities();
        if is_near(BEFORE) && (goes_by_told || is_near(0) && is_near(AFTER)) {
            return false;
        }
        self.cut([0, BEFORE, AFTER].map(|from| self.jumps(position, from, teleport_m)))
    }

    /// Leaves out what is beyond these jumps, from each state to the next. Whether there is one between the middle ones.
    fn cut(&mut self, [before, between, after]: [bool; 3]) -> bool {
        if before {
            self.of[0] = None;
        }
        if after {
            self.of[3] = None;
        }
        between
    }

    /// Whether the way from a state to the next is too short to be a jump, whatever was before, as it is nearly always. Without roots:
    /// each row that is drawn is asked.
    #[inline]
    fn is_near(&self, position: Moving<'_>, from: usize, teleport_m: f64) -> bool {
        let (Some((_, words)), Some((_, next))) = (self.of[from], self.of[from + 1]) else { return true };
        let way = squared_distance::<_, 3>(position.of.lanes(words), position.of.lanes(next));
        let is_within = |metres: f64| way <= metres * metres;
        is_within(teleport_m) || is_within(self.may_go(from, teleport_m))
    }

    /// How far anything may go from a state to the next, in metres, whatever it did before.
    fn may_go(&self, from: usize, teleport_m: f64) -> f64 {
        teleport_m * (STARTS * self.gap(from)).max(1.0)
    }

    /// Whether the way from a state to the next is none that it goes, but a jump: as far as a teleport at least, and farther than at
    /// any speed that it has in them and beside them. `false` where one is not there.
    #[inline]
    fn jumps(&self, position: Moving<'_>, from: usize, teleport_m: f64) -> bool {
        if self.of[from].is_none() || self.of[from + 1].is_none() {
            return false;
        }
        let way = length(self.way(position, from));
        if way <= self.may_go(from, teleport_m) {
            return false;
        }
        let told = |at: usize| self.told_velocity(position, at).map(length);
        let beside = |from: usize| {
            let gap = Some(self.gap(from)).filter(|gap| *gap > 0.0);
            gap.map(|gap| length(self.way(position, from)) / gap)
        };
        let speeds = [told(from), told(from + 1), from.checked_sub(1).and_then(beside), beside(from + 1)];
        let (known, gap) = (speeds.into_iter().flatten().reduce(f64::max), self.gap(from));
        let at_speed = |speed: f64| Correction::default().snaps_from(speed).max(1.5 * speed * gap);
        way > known.map_or(FASTEST * teleport_m * gap, at_speed)
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

    /// Writes what it is at the point into a row that is as in the second state.
    #[inline]
    fn write<const N: usize>(&self, values: &[f64; N], into: &mut RowBuffer) {
        let PlacedColumn { place, column } = self.of;
        set_finite_lanes(column, values, &mut into[place..place + column.words()]);
    }
}

#[cfg(test)]
mod tests;
