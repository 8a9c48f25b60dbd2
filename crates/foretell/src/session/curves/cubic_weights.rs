//! The cubic between two of up to four states as what it is made of: how much each way from a state to the next counts, and each
//! velocity. That is the same for all whose states are of the same ticks.

use super::curve::Curve;
use crate::motion::rotation::{self, multiply, normalise};
use crate::motion::vector::{add, dot, scale, sub};
use crate::time::{Tick, TickRate, TickTime};

/// The states up to the point.
pub(crate) const BEFORE: usize = 1;
/// The first after it.
pub(crate) const AFTER: usize = 2;

/// States that are farther apart than this are joined by a line, in seconds: so long after, a velocity says nothing, and a
/// cubic would swing out by metres that nobody has made.
const TOLD_S: f64 = 0.5;

/// Angular velocities that turn by more than this from one state to the next, in half radians, are no small turns; squared.
const SMALL_TURN_SQR: f64 = 1e-3;

/// The ticks of the states around a point: two up to it, and two after it.
pub(crate) type Ticks = [Option<Tick>; 4];

/// A velocity in one of the middle states, times the time from the first to the second: how much the way to the state counts in it,
/// that from it, and the velocity that is told there.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Tangent {
    pub ways: [f64; 2],
    pub told: f64,
}

impl Tangent {
    /// By the parabola through the neighbours, from which it takes `gaps` seconds to the state and from it; 0 where one is not there.
    pub fn by_neighbours(gaps: [f64; 2], times: f64) -> Tangent {
        let [before, after] = gaps;
        let both = before + after;
        let ways = match (before > 0.0, after > 0.0) {
            (true, true) => [after / both / before, before / both / after],
            (true, false) => [1.0 / before, 0.0],
            (false, true) => [0.0, 1.0 / after],
            (false, false) => [0.0; 2],
        };
        Tangent { ways: ways.map(|way| way * times), told: 0.0 }
    }

    /// The same in a span of `gaps[inner]` seconds, times that. The way beside it counts once at most, however short it was, and the span's own
    /// for the rest, so that a steady motion is kept. By the parabola alone who is pushed aside in a tick, and is told next after 16 ticks,
    /// would swing out by twice as far as they went.
    fn in_span(gaps: [f64; 2], inner: usize) -> Tangent {
        let (outer, span) = (1 - inner, gaps[inner]);
        let mut tangent = Tangent::by_neighbours(gaps, span);
        if tangent.ways[outer] > 1.0 {
            tangent.ways[outer] = 1.0;
            tangent.ways[inner] = 1.0 - gaps[outer] / span;
        }
        tangent
    }

    /// The same where a velocity is told. A neighbour that is not there is taken to be as far on the other side as the one that is,
    /// with the velocity on the tangent (D19): the difference is the mean of the one side and of it.
    fn with_told(self, curve: Curve, gaps: [f64; 2], times: f64) -> Tangent {
        match curve {
            Curve::Hermite => Tangent { ways: [0.0; 2], told: times },
            _ if gaps.contains(&0.0) => Tangent { ways: self.ways.map(|way| way / 2.0), told: times / 2.0 },
            _ => self,
        }
    }
}

/// What a point of a cubic is made of, from the first of the middle states.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Cubic {
    pub tangents: [Tangent; 2],
    /// How much each way counts.
    pub ways: [f64; 3],
    /// How much the velocities in the middle states count.
    pub told: [f64; 2],
}

impl Cubic {
    /// Whether the state `at` counts, besides the middle ones.
    #[inline]
    pub fn needs(&self, at: usize) -> bool {
        at == 0 && self.ways[0] != 0.0 || at == 3 && self.ways[2] != 0.0
    }

    fn new(tangents: [Tangent; 2], t: f64) -> Cubic {
        let (square, cube) = (t * t, t * t * t);
        let whole = 3.0 * square - 2.0 * cube;
        let (first, second) = (cube - 2.0 * square + t, cube - square);
        let [from, to] = tangents;
        let ways = [first * from.ways[0], whole + first * from.ways[1] + second * to.ways[0], second * to.ways[1]];
        Cubic { tangents, ways, told: [first * from.told, second * to.told] }
    }

    /// Its point through these points, with these velocities in the middle ones.
    #[inline]
    pub fn point<const N: usize>(&self, points: &[[f64; N]; 4], velocities: &[[f64; N]; 2]) -> [f64; N] {
        let Cubic { ways, told, .. } = self;
        let way = |from: usize| scale(sub(points[from + 1], points[from]), ways[from]);
        let mut point = add(points[BEFORE], way(BEFORE));
        if ways[0] != 0.0 {
            point = add(point, way(0));
        }
        if ways[2] != 0.0 {
            point = add(point, way(2));
        }
        if told[0] != 0.0 || told[1] != 0.0 {
            point = add(point, add(scale(velocities[0], told[0]), scale(velocities[1], told[1])));
        }
        point
    }

    /// The same of rotations that are near each other, as most are from one state to the next: there the cubic through the quaternions is
    /// off by less than a hundred-thousandth of a radian, and takes a fifth of the time. `None` where they are not.
    pub fn slight_turn(&self, mut rotations: [[f64; 4]; 4], velocities: &[[f64; 3]; 2]) -> Option<[f64; 4]> {
        // Each as near to its neighbour as it can be told.
        for (from, of, to) in [(0, BEFORE, 0), (1, BEFORE, AFTER), (2, AFTER, 3)] {
            let cosine = dot(rotations[of], rotations[to]);
            if self.ways[from] != 0.0 && cosine.abs() < rotation::NEARLY_PARALLEL {
                return None;
            }
            if cosine < 0.0 {
                rotations[to] = rotations[to].map(|part| -part);
            }
        }
        let mut rates = [[0.0; 4]; 2];
        for (nth, [x, y, z]) in velocities.iter().copied().enumerate().filter(|(nth, _)| self.told[*nth] != 0.0) {
            let half = scale([x, y, z], self.tangents[nth].told / 2.0);
            if dot(half, half) > SMALL_TURN_SQR {
                return None;
            }
            rates[nth] = multiply([x / 2.0, y / 2.0, z / 2.0, 0.0], rotations[BEFORE + nth]);
        }
        Some(normalise(self.point(&rotations, &rates)))
    }
}

/// A point between two states.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Span {
    /// From 0, the first, to 1, the second.
    pub t: f64,
    /// For what has a velocity, and for what has none; `None` on a line.
    pub cubics: Option<SpanCubics>,
}

/// Both cubics of a span.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct SpanCubics {
    pub told: Cubic,
    pub untold: Cubic,
}

impl Span {
    /// `None` where there is no state after the point, or none before it.
    pub fn new(ticks: Ticks, at: TickTime, rate: TickRate, curve: Curve) -> Option<Span> {
        let (tick, next) = (ticks[BEFORE]?, ticks[AFTER]?);
        let since = (at - TickTime::start_of(tick)).as_ticks();
        let t = (since / f64::from(next.since(tick))).clamp(0.0, 1.0);
        let gap = |from: usize| {
            let pair = ticks[from].zip(ticks[from + 1]);
            pair.map_or(0.0, |(tick, next)| f64::from(next.since(tick)) * rate.seconds())
        };
        let gaps = [gap(0), gap(1), gap(2)];
        let is_curve = matches!(curve, Curve::Hermite | Curve::CatmullRom);
        let cubics = (t < 1.0 && is_curve && gaps[BEFORE] <= TOLD_S).then(|| {
            let around = [[gaps[0], gaps[1]], [gaps[1], gaps[2]]];
            let untold = [0, 1].map(|nth| Tangent::in_span(around[nth], 1 - nth));
            let told = [0, 1].map(|nth| untold[nth].with_told(curve, around[nth], gaps[BEFORE]));
            SpanCubics { told: Cubic::new(told, t), untold: Cubic::new(untold, t) }
        });
        Some(Span { t, cubics })
    }
}

/// The span of one row after another, which mostly is that of the one before.
#[derive(Clone, Copy, Default)]
pub(crate) struct LastSpan {
    of: Option<(Ticks, Curve, TickTime)>,
    span: Option<Span>,
}

impl LastSpan {
    /// The span around a point.
    #[inline]
    pub(crate) fn get(&mut self, ticks: Ticks, curve: Curve, at: TickTime, rate: TickRate) -> Option<&Span> {
        // Who is not between two states leaves the last span to the others.
        ticks[AFTER]?;
        let of = Some((ticks, curve, at));
        if self.of != of {
            (self.of, self.span) = (of, Span::new(ticks, at, rate, curve));
        }
        self.span.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::trajectory::{hermite, rotation_curve, tangent};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_a_cubic_is_made_of_adds_up_to_the_curve_through_the_states(
            points in prop::array::uniform4(-9.0..9.0), velocities in prop::array::uniform2(-9.0..9.0),
            gaps in prop::array::uniform3(1_u32..20), are_there in any::<[bool; 2]>(),
            part in 0.0..1.0, is_hermite: bool,
        ) {
            let (rate, curve) = (TickRate::hz(60), if is_hermite { Curve::Hermite } else { Curve::CatmullRom });
            let mut ticks = [10, 10 + gaps[0], 10 + gaps[0] + gaps[1], 10 + gaps[0] + gaps[1] + gaps[2]].map(|tick| Some(Tick::new(tick)));
            (ticks[0], ticks[3]) = (ticks[0].filter(|_| are_there[0]), ticks[3].filter(|_| are_there[1]));
            let at = TickTime::ticks(f64::from(10 + gaps[0]) + part * f64::from(gaps[1]));
            let span = Span::new(ticks, at, rate, curve).expect("both are there");
            let SpanCubics { told, untold } = span.cubics.expect("it is short");
            let ways: [f64; 3] = core::array::from_fn(|from| points[from + 1] - points[from]);
            let sum = |of: Cubic| {
                let way: f64 = of.ways.iter().zip(ways).map(|(share, way)| share * way).sum();
                let told: f64 = of.told.iter().zip(velocities).map(|(share, velocity)| share * velocity).sum();
                points[1] + way + told
            };
            // The same by slopes and tangents, one after the other.
            let mut seconds = gaps.map(|gap| f64::from(gap) / 60.0);
            (0..3).filter(|nth| nth % 2 == 0 && !are_there[nth / 2]).for_each(|nth| seconds[nth] = 0.0);
            let expected = |is_told: bool| {
                let tangents = [0, 1].map(|nth| {
                    let around = [seconds[nth], seconds[nth + 1]];
                    let [by_parabola] = tangent([0, 1, 2].map(|at| [points[nth + at]]), around);
                    let (outer, inner) = (2 * nth, 1);
                    let share = seconds[inner].powi(2) / (seconds[outer] * (seconds[outer] + seconds[inner]));
                    let slope = match seconds[outer] > 0.0 && share > 1.0 {
                        true => ways[outer] / seconds[inner] + ways[inner] * (seconds[inner] - seconds[outer]) / seconds[inner].powi(2),
                        false => by_parabola,
                    };
                    let slope = match is_told {
                        true if is_hermite => velocities[nth],
                        true if around.contains(&0.0) => f64::midpoint(slope, velocities[nth]),
                        _ => slope,
                    };
                    [slope * seconds[1]]
                });
                hermite([points[1]], [points[2]], tangents[0], tangents[1], span.t)[0]
            };
            prop_assert!((sum(told) - expected(true)).abs() < 1e-9);
            prop_assert!((sum(untold) - expected(false)).abs() < 1e-9);
        }
    }

    proptest! {
        #[test]
        fn beside_any_way_who_rests_swings_out_by_a_sixth_of_it_at_most_and_a_steady_motion_stays_as_it_is(
            gaps in prop::array::uniform3(1_u32..30), pushes in prop::array::uniform2(-9.0_f64..9.0), part in 0.0..1.0,
        ) {
            let ticks = [10, 10 + gaps[0], 10 + gaps[0] + gaps[1], 10 + gaps[0] + gaps[1] + gaps[2]].map(|tick| Some(Tick::new(tick)));
            let at = TickTime::ticks(f64::from(10 + gaps[0]) + part * f64::from(gaps[1]));
            let span = Span::new(ticks, at, TickRate::hz(60), Curve::CatmullRom).expect("both are there");
            let cubic = span.cubics.expect("it is short").untold;
            let point = |points: [f64; 4]| cubic.point(&points.map(|x| [x]), &[[0.0]; 2])[0];
            let out = point([-pushes[0], 0.0, 0.0, pushes[1]]).abs();
            prop_assert!(out <= (pushes[0].abs() + pushes[1].abs()) * 4.0 / 27.0 + 1e-9, "{out}");
            let steady = point(ticks.map(|tick| tick.map_or(0.0, |tick| f64::from(tick.get()))));
            prop_assert!((steady - at.as_ticks()).abs() < 1e-9, "{steady}");
        }
    }

    proptest! {
        #[test]
        fn a_slight_turn_is_the_curve_in_the_vectors_of_the_turn_to_a_hundred_thousandth_of_a_radian(
            first in prop::array::uniform3(-1.8..1.8), spins in prop::array::uniform3(prop::array::uniform3(-0.02..0.02)),
            part in 0.0..1.0, signs in any::<[bool; 4]>(), is_there in any::<[bool; 2]>(), is_told: bool,
        ) {
            let rate = TickRate::hz(60);
            let mut rotations = [rotation::from_vector(first); 4];
            for (nth, spin) in spins.iter().enumerate() {
                rotations[nth + 1] = multiply(rotation::from_vector(*spin), rotations[nth]);
            }
            let ticks = [is_there[0].then_some(8), Some(9), Some(10), is_there[1].then_some(11)].map(|tick| tick.map(Tick::new));
            let span = Span::new(ticks, TickTime::ticks(9.0 + part), rate, Curve::Hermite).expect("both are there");
            let cubics = span.cubics.expect("a tick is short");
            let cubic = if is_told { cubics.told } else { cubics.untold };
            let velocities = [scale(spins[0], 60.0), scale(spins[2], 60.0)];
            let ways = spins.map(|spin| spin);
            let [v1, v2] = [0, 1].map(|nth| {
                let Tangent { ways: [before, after], told } = cubic.tangents[nth];
                add(add(scale(ways[nth], before), scale(ways[nth + 1], after)), scale(velocities[nth], told))
            });
            let exact = rotation_curve::hermite_along(rotations[BEFORE], ways[BEFORE], v1, v2, part);
            (0..4).filter(|nth| signs[*nth]).for_each(|nth| rotations[nth] = rotations[nth].map(|part| -part));
            let slight = cubic.slight_turn(rotations, &velocities).expect("they are near");
            prop_assert!(rotation::angle(slight, exact) < 1e-5, "{}", rotation::angle(slight, exact));
            prop_assert!(dot(slight, rotations[BEFORE]) > 0.0, "it has the sign of the first");
        }
    }

    #[test]
    fn a_turn_that_is_not_slight_is_none() {
        let span = |of| {
            Span::new([8, 9, 10, 11].map(|tick| Some(Tick::new(tick))), TickTime::ticks(9.5), TickRate::hz(60), of)
        };
        let SpanCubics { told, untold } = span(Curve::Hermite).expect("there").cubics.expect("short");
        let turned = |by: f64| rotation::from_vector([0.0, by, 0.0]);
        let far = [0.0, 0.1, 0.2, 0.3].map(turned);
        assert_eq!(untold.slight_turn(far, &[[0.0; 3]; 2]), None);
        let near = [0.0, 0.01, 0.02, 0.03].map(turned);
        assert_eq!(told.slight_turn(near, &[[0.0, 6.0, 0.0]; 2]), None);
        assert!(told.slight_turn(near, &[[0.0, 0.6, 0.0]; 2]).is_some());
    }

    #[test]
    fn the_last_span_is_found_again_only_for_the_same_ticks_and_curve() {
        let (at, rate, mut last) = (TickTime::ticks(11.0), TickRate::hz(60), LastSpan::default());
        let ticks = |next| [None, Some(Tick::new(10)), Some(Tick::new(next)), None];
        for (next, curve) in [(12, Curve::Linear), (12, Curve::Linear), (14, Curve::Linear), (14, Curve::Hermite)] {
            assert_eq!(last.get(ticks(next), curve, at, rate), Span::new(ticks(next), at, rate, curve).as_ref());
        }
        assert_eq!(last.get([None; 4], Curve::Hermite, at, rate), None);
    }
}
