//! A line into all that is within a radius of what up to four half axes span: a point, a line, a box, or a box drawn along a line.
//!
//! Whatever is swept along a line without turning meets a shape where its middle enters the shape with it around (their Minkowski
//! sum), which is such a body. Its surface is made of thick faces and of round edges; those that lie inside of it are in nobody's way.

use crate::math::f64::sqrt;
use crate::motion::vector::{add, cross, dot, length, scale, sub};

/// Axes, and normals of faces, that are shorter than this are none, in metres.
const NOTHING: f64 = 1e-12;

/// A line from a point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Line {
    pub from: [f64; 3],
    /// Of length 1, or 0.
    pub along: [f64; 3],
    pub length: f64,
}

/// How far along a line a body begins, and which way its surface faces there.
pub(super) type Entry = (f64, [f64; 3]);

/// All within the radius of `middle + s1 axis1 + s2 axis2 ...`, each s in [-1, 1].
#[derive(Clone, Copy, Debug)]
pub(super) struct MinkowskiSum {
    middle: [f64; 3],
    /// Those that are not zero come first.
    axes: [[f64; 3]; 4],
    count: usize,
    radius: f64,
}

impl MinkowskiSum {
    pub fn new(middle: [f64; 3], axes: [[f64; 3]; 4], radius: f64) -> MinkowskiSum {
        let mut body = MinkowskiSum { middle, axes: [[0.0; 3]; 4], count: 0, radius };
        for axis in axes.into_iter().filter(|axis| length(*axis) > NOTHING) {
            body.axes[body.count] = axis;
            body.count += 1;
        }
        body
    }

    /// Where a line enters it; `None` where it does not.
    pub fn entered_by(&self, line: &Line) -> Option<Entry> {
        if !self.may_be_met_by(line) {
            return None;
        }
        let mut nearest: Option<Entry> = None;
        let mut note = |entry: Option<Entry>| {
            let is_nearer = |entry: &Entry| nearest.is_none_or(|nearest| entry.0 < nearest.0);
            nearest = entry.filter(is_nearer).or(nearest);
        };
        if self.count == 0 {
            note(enter_sphere(line, self.middle, self.radius));
        }
        let is_flat = self.is_flat();
        if !is_flat {
            note(self.enter_inside(line));
        }
        for one in 0..self.count {
            let edges = if self.radius > 0.0 { 1 << (self.count - 1) } else { 0 };
            (0..edges).for_each(|signs| {
                note(enter_capsule(line, self.corner([one, one], signs), self.axes[one], self.radius))
            });
            // What is flat has faces alone.
            for other in (one + 1..self.count).filter(|_| self.radius > 0.0 || is_flat) {
                (0..1 << (self.count - 2)).for_each(|signs| note(self.enter_face(line, [one, other], signs)));
            }
        }
        if self.count == 1 && self.radius == 0.0 {
            note(enter_capsule(line, self.middle, self.axes[0], NOTHING));
        }
        nearest.filter(|(distance, _)| *distance <= line.length)
    }

    /// Whether the line comes as near to the middle as anything of it goes.
    fn may_be_met_by(&self, line: &Line) -> bool {
        let reach = self.radius + self.axes[..self.count].iter().map(|axis| length(*axis)).sum::<f64>();
        let to_middle = sub(self.middle, line.from);
        let nearest = dot(to_middle, line.along).clamp(0.0, line.length);
        length(sub(to_middle, scale(line.along, nearest))) <= reach * (1.0 + 1e-9)
    }

    /// The middle of an edge or a face that two axes span, or one: the others go to either side, by the bits of `signs`.
    fn corner(&self, spans: [usize; 2], signs: u32) -> [f64; 3] {
        let others = (0..self.count).filter(|nth| !spans.contains(nth)).enumerate();
        others.fold(
            self.middle,
            |at, (bit, nth)| {
                if signs >> bit & 1 == 0 { add(at, self.axes[nth]) } else { sub(at, self.axes[nth]) }
            },
        )
    }

    /// The normals of its faces, and how far to either side of the middle what the axes span goes along each.
    fn normals(&self) -> impl Iterator<Item = ([f64; 3], f64)> + '_ {
        let axes = &self.axes[..self.count];
        let pairs = axes.iter().enumerate().flat_map(|(nth, one)| axes[nth + 1..].iter().map(|other| (*one, *other)));
        pairs.filter_map(|(one, other)| {
            let normal = cross(one, other);
            let size = length(normal);
            let normal = scale(normal, 1.0 / size);
            (size > NOTHING).then(|| (normal, axes.iter().map(|axis| dot(*axis, normal).abs()).sum()))
        })
    }

    /// Whether its axes span no more than a plane, in which no face bounds it to the sides.
    fn is_flat(&self) -> bool {
        self.count < 3 || self.normals().any(|(_, half)| half <= NOTHING)
    }

    /// What the axes span, without what is around it.
    fn enter_inside(&self, line: &Line) -> Option<Entry> {
        let mut slabs = Slabs::new(line);
        self.normals().for_each(|(normal, half)| slabs.cut(self.middle, normal, half));
        slabs.entry()
    }

    /// A face, as thick to either side as the radius.
    fn enter_face(&self, line: &Line, [one, other]: [usize; 2], signs: u32) -> Option<Entry> {
        let (a, b) = (self.axes[one], self.axes[other]);
        let normal = cross(a, b);
        let size = length(normal);
        if size <= NOTHING {
            return None;
        }
        let (middle, normal) = (self.corner([one, other], signs), scale(normal, 1.0 / size));
        let mut slabs = Slabs::new(line);
        slabs.cut(middle, normal, self.radius);
        for (axis, side) in [(a, cross(b, normal)), (b, cross(a, normal))] {
            let side = scale(side, 1.0 / length(side));
            slabs.cut(middle, side, dot(axis, side).abs());
        }
        slabs.entry()
    }
}

/// Where a line is between pairs of planes.
struct Slabs<'a> {
    line: &'a Line,
    enters: f64,
    leaves: f64,
    normal: [f64; 3],
}

impl Slabs<'_> {
    fn new(line: &Line) -> Slabs<'_> {
        Slabs { line, enters: f64::NEG_INFINITY, leaves: f64::INFINITY, normal: [0.0; 3] }
    }

    /// Only what is not farther than `half` from the middle along the normal.
    fn cut(&mut self, middle: [f64; 3], normal: [f64; 3], half: f64) {
        let (at, speed) = (dot(sub(self.line.from, middle), normal), dot(self.line.along, normal));
        if speed.abs() < NOTHING {
            if at.abs() > half {
                self.leaves = f64::NEG_INFINITY;
            }
            return;
        }
        let facing = if speed > 0.0 { -1.0 } else { 1.0 };
        let enters = (facing * half - at) / speed;
        if enters > self.enters {
            (self.enters, self.normal) = (enters, scale(normal, facing));
        }
        self.leaves = self.leaves.min((-facing * half - at) / speed);
    }

    fn entry(self) -> Option<Entry> {
        let Slabs { line, enters, leaves, normal } = self;
        if enters > leaves || leaves < 0.0 || enters.is_nan() {
            return None;
        }
        Some(if enters >= 0.0 { (enters, normal) } else { (0.0, scale(line.along, -1.0)) })
    }
}

fn enter_sphere(line: &Line, middle: [f64; 3], radius: f64) -> Option<Entry> {
    let from = sub(line.from, middle);
    let (towards, outside) = (dot(from, line.along), dot(from, from) - radius * radius);
    if outside <= 0.0 {
        return Some((0.0, scale(line.along, -1.0)));
    }
    let under = towards * towards - outside;
    if towards >= 0.0 || under < 0.0 || under.is_nan() {
        return None;
    }
    let distance = -towards - sqrt(under);
    let at = add(from, scale(line.along, distance));
    Some((distance, scale(at, 1.0 / length(at).max(NOTHING))))
}

fn enter_capsule(line: &Line, middle: [f64; 3], half_axis: [f64; 3], radius: f64) -> Option<Entry> {
    let half = length(half_axis);
    let axis = scale(half_axis, 1.0 / half);
    let from = sub(line.from, middle);
    let (height, rises) = (dot(from, axis), dot(line.along, axis));
    // Across the axis.
    let (away, goes) = (sub(from, scale(axis, height)), sub(line.along, scale(axis, rises)));
    let (speed, towards, outside) = (dot(goes, goes), dot(away, goes), dot(away, away) - radius * radius);
    if outside <= 0.0 && height.abs() <= half {
        return Some((0.0, scale(line.along, -1.0)));
    }
    let under = towards * towards - speed * outside;
    let mut nearest = None;
    if outside > 0.0 && towards < 0.0 && under >= 0.0 && speed > NOTHING * NOTHING {
        let distance = (-towards - sqrt(under)) / speed;
        if (height + rises * distance).abs() <= half {
            let at = add(away, scale(goes, distance));
            nearest = Some((distance, scale(at, 1.0 / length(at).max(NOTHING))));
        }
    }
    let ends = [add(middle, half_axis), sub(middle, half_axis)].map(|end| enter_sphere(line, end, radius));
    let nearer = |one: Option<Entry>, other: Option<Entry>| match (one, other) {
        (Some(one), Some(other)) => Some(if other.0 < one.0 { other } else { one }),
        (one, other) => one.or(other),
    };
    ends.into_iter().fold(nearest, nearer)
}
