//! The ground of the duel, seen from above: a wall with a doorway, which ends in a corner.

use foretell::hits::{Cast, Shape};
use foretell::motion::Pose;
use foretell::motion::vector::{length, scale, sub};

/// The players are cubes with edges of one metre, as everywhere in the lab.
pub const HALF_M: f64 = 0.5;
/// What can be hit of one of them.
pub const BODY: Shape = Shape::Box { half: [HALF_M; 3] };
/// How far the room goes to each side of its middle, x and z in metres; the page draws as much.
const ROOM_M: [f64; 2] = [8.3, 5.8];
/// How far beside its middle a player is aimed at who is seen in part: less than the half edge, so that it is hit there.
const BESIDE_M: f64 = 0.4;

/// A piece of the wall, x and z in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wall {
    pub min: [f64; 2],
    pub max: [f64; 2],
}

/// From the left edge of the room to the doorway, and from there to the corner.
pub const WALLS: [Wall; 2] =
    [Wall { min: [-8.3, -0.2], max: [-4.0, 0.2] }, Wall { min: [-2.0, -0.2], max: [2.0, 0.2] }];

impl Wall {
    fn shape(&self) -> (Shape, Pose) {
        let half = |axis: usize| (self.max[axis] - self.min[axis]) / 2.0;
        let middle = |axis: usize| (self.max[axis] + self.min[axis]) / 2.0;
        (Shape::Box { half: [half(0), 1.0, half(1)] }, Pose::at([middle(0), 0.0, middle(1)]))
    }

    fn overlaps(&self, [x, _, z]: [f64; 3]) -> bool {
        let within = |at: f64, axis: usize| at > self.min[axis] - HALF_M && at < self.max[axis] + HALF_M;
        within(x, 0) && within(z, 1)
    }
}

fn has_room(at: [f64; 3]) -> bool {
    let is_inside = at[0].abs() <= ROOM_M[0] - HALF_M && at[2].abs() <= ROOM_M[1] - HALF_M;
    is_inside && !WALLS.iter().any(|wall| wall.overlaps(at))
}

/// Where somebody comes to who goes that way: along the wall where it is in the way.
pub fn walk(from: [f64; 3], way: [f64; 2]) -> [f64; 3] {
    let [x, y, z] = from;
    let along_x = Some([x + way[0], y, z]).filter(|at| has_room(*at)).unwrap_or(from);
    Some([along_x[0], y, z + way[1]]).filter(|at| has_room(*at)).unwrap_or(along_x)
}

/// How far it is to the end of the room that way, in metres.
fn room_left(from: [f64; 3], way: [f64; 3]) -> f64 {
    let far = length(way);
    let until = |axis: usize, half: f64| match way[axis] / far {
        along if along > 0.0 => (half - from[axis]) / along,
        along if along < 0.0 => (-half - from[axis]) / along,
        _ => f64::INFINITY,
    };
    if far > 0.0 { until(0, ROOM_M[0]).min(until(2, ROOM_M[1])).max(0.0) } else { 0.0 }
}

/// How far a shot goes towards a place and beyond it, until the wall or the end of the room, in metres.
pub fn reach(from: [f64; 3], towards: [f64; 3]) -> f64 {
    let way = sub(towards, from);
    let most = room_left(from, way);
    let ray = Cast::ray(from, way, most);
    let wall = ray.first(WALLS.iter().map(|wall| {
        let (shape, pose) = wall.shape();
        ((), shape, pose)
    }));
    wall.map_or(most, |hit| hit.contact.distance)
}

/// Whether no wall stands between two places.
pub fn is_open(from: [f64; 3], to: [f64; 3]) -> bool {
    reach(from, to) >= length(sub(to, from))
}

/// What is seen of somebody from a place: their middle, else what is left or right of it; `None` where they are in cover.
pub fn seen_part(from: [f64; 3], body: [f64; 3]) -> Option<[f64; 3]> {
    let line = sub(body, from);
    let far = length(line);
    let beside = if far > 0.0 { scale([line[2], 0.0, -line[0]], BESIDE_M / far) } else { [0.0; 3] };
    [0.0, 1.0, -1.0]
        .map(|side| [0, 1, 2].map(|axis| body[axis] + side * beside[axis]))
        .into_iter()
        .find(|part| is_open(from, *part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_walks_along_a_wall_slides_and_goes_through_the_doorway_alone() {
        let up = |x: f64| (0..200).fold([x, 0.0, -3.0], |at, _| walk(at, [0.0, 0.05]));
        assert!(up(0.0)[2] < -0.6 && up(-6.0)[2] < -0.6, "the wall");
        assert!(up(-3.0)[2] > 5.0 && up(5.0)[2] > 5.0, "the doorway, and round the corner");
        let slides = (0..200).fold([0.0, 0.0, -0.75], |at, _| walk(at, [0.05, 0.05]));
        assert!(slides[0] > 2.0 && slides[2] > 1.0, "{slides:?}");
    }

    #[test]
    fn a_shot_goes_to_the_wall_or_to_the_end_of_the_room() {
        let near = |far: f64, wanted: f64| assert!((far - wanted).abs() < 1e-9, "{far}");
        near(reach([0.0, 0.0, -4.0], [0.0, 0.0, -3.0]), 3.8);
        near(reach([-3.0, 0.0, -4.0], [-3.0, 0.0, -3.0]), 9.8);
        near(reach([3.0, 0.0, 1.0], [4.0, 0.0, 1.0]), 5.3);
        near(reach([3.0, 0.0, 1.0], [3.0, 0.0, 1.0]), 0.0);
    }

    #[test]
    fn a_wall_hides_who_is_behind_it_and_the_corner_shows_a_part_of_them_first() {
        let from = [1.0, 0.0, -4.0];
        assert_eq!(seen_part(from, [0.0, 0.0, 2.0]), None);
        assert_eq!(seen_part([-3.0, 0.0, -4.0], [-3.0, 0.0, 4.0]), Some([-3.0, 0.0, 4.0]));
        let x = (0..100).map(|nth| 1.0 + 0.04 * f64::from(nth)).find(|x| seen_part(from, [*x, 0.0, 2.0]).is_some());
        let x = x.expect("it comes out");
        assert!(!is_open(from, [x, 0.0, 2.0]) && is_open(from, [x + BESIDE_M, 0.0, 2.0]), "{x}");
    }
}
