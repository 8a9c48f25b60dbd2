//! How smoothly an entity was shown over virtual time: how long it stood still, and how far it jumped.
//!
//! What is shown of another entity is later than the truth by a delay that varies, so that the two are never compared
//! point by point: standing still is excused by the truth's having stayed there as long shortly before, a step by its speed
//! then.

/// Where an entity was, or was shown, at an instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Virtual time in seconds.
    pub at_s: f64,
    /// In metres.
    pub position: [f64; 3],
}

/// What is shown stands still while it stays within this distance of where it stopped, in metres.
const STILL_M: f64 = 0.005;
/// To excuse it the truth has to have stayed within this distance of a place, in metres: what is shown between two
/// snapshots cuts corners.
const STAYED_M: f64 = 0.01;
/// And that place within this distance of the one shown: something may still be hidden there.
const NEAR_M: f64 = 0.05;
/// The cursor of what is shown runs up to so much faster than time.
const PLAYOUT_SPEED_MAX: f64 = 1.1;

/// The distance between two positions, in metres.
pub fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]) * (a[axis] - b[axis])).sum::<f64>().sqrt()
}

/// The stretches of a path, ascending by time, in which it stays within [`STILL_M`] of where they begin: from when to
/// when, in seconds, and where.
fn rests(path: &[Point]) -> Vec<(f64, f64, [f64; 3])> {
    let mut rests = Vec::new();
    let mut first = 0;
    while first < path.len() {
        let Point { at_s, position } = path[first];
        let left = path[first..].iter().position(|point| distance(position, point.position) >= STILL_M);
        let next = left.map_or(path.len(), |len| first + len);
        if next - first > 1 {
            rests.push((at_s, path[next - 1].at_s, position));
        }
        first = next;
    }
    rests
}

/// The longest time, in seconds, that a path stayed where it was, within [`NEAR_M`] of a position, from the last point before
/// to the first after.
fn stay_s(path: &[Point], position: [f64; 3]) -> f64 {
    let stay = |first: usize| {
        let place = path[first].position;
        let stayed = path[first..].iter().take_while(|point| distance(point.position, place) < STAYED_M).count();
        path[(first + stayed).min(path.len() - 1)].at_s - path[first.saturating_sub(1)].at_s
    };
    let near = |index: &usize| distance(path[*index].position, position) < NEAR_M;
    (0..path.len()).filter(near).map(stay).fold(0.0, f64::max)
}

/// The longest time that `shown` stood still, in ms, less how long the `truth` did near there in the same time and `back_s`
/// seconds before.
pub fn frozen_ms(shown: &[Point], truth: &[Point], back_s: f64) -> f64 {
    let frozen = |(start, end, position): (f64, f64, [f64; 3])| {
        let from = truth.partition_point(|point| point.at_s < start - back_s);
        let to = truth.partition_point(|point| point.at_s <= end);
        (end - start - stay_s(&truth[from..to], position)).max(0.0)
    };
    rests(shown).into_iter().map(frozen).fold(0.0, f64::max) * 1000.0
}

/// The largest step of `shown` from one point to the next beyond what the highest speed of the `truth`, in that time and
/// `back_s` seconds before, allows; in metres.
pub fn jump_m(shown: &[Point], truth: &[Point], back_s: f64) -> f64 {
    let speed = |pair: &[Point]| distance(pair[0].position, pair[1].position) / (pair[1].at_s - pair[0].at_s);
    let speeds: Vec<_> = truth.windows(2).map(|pair| (pair[1].at_s, speed(pair))).collect();
    let beyond = |pair: &[Point]| {
        let from = speeds.partition_point(|(at_s, _)| *at_s < pair[0].at_s - back_s);
        let to = speeds.partition_point(|(at_s, _)| *at_s <= pair[1].at_s);
        let fastest = speeds[from..to].iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
        let allowed = fastest * PLAYOUT_SPEED_MAX * (pair[1].at_s - pair[0].at_s);
        (distance(pair[0].position, pair[1].position) - allowed).max(0.0)
    };
    shown.windows(2).map(beyond).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path along x at 1 m/s, 100 points per second, that stands still from one time to another.
    fn walk(still: (f64, f64), late_s: f64) -> Vec<Point> {
        let x = |at_s: f64| at_s.min(still.0) + (at_s - still.1).max(0.0);
        let times = (0..1000_u32).map(|n| f64::from(n) / 100.0);
        times.map(|at_s| Point { at_s, position: [x(at_s - late_s), 0.0, 0.0] }).collect()
    }

    #[test]
    fn a_freeze_is_as_long_as_it_is_and_a_rest_of_the_truth_excuses_it() {
        let (moving, resting) = (walk((20.0, 20.0), 0.0), walk((4.0, 4.5), 0.0));
        let shown = walk((4.0, 4.5), 0.3);
        assert!((frozen_ms(&shown, &moving, 1.0) - 500.0).abs() < 35.0);
        assert!(frozen_ms(&shown, &resting, 1.0) < 15.0);
        // Of a longer freeze only the rest of the truth is excused.
        assert!((frozen_ms(&walk((4.0, 5.5), 0.3), &resting, 1.0) - 1000.0).abs() < 35.0);
        // A rest elsewhere or long ago excuses nothing.
        assert!((frozen_ms(&shown, &walk((3.0, 3.5), 0.0), 1.5) - 500.0).abs() < 35.0);
        assert!((frozen_ms(&walk((4.0, 4.5), 2.0), &resting, 1.0) - 500.0).abs() < 35.0);
        assert_eq!(frozen_ms(&[], &moving, 1.0), 0.0);
        // Somewhere near is near enough, but slow is not still.
        let beside = |off_m: f64| {
            let mut shown = shown.clone();
            shown.iter_mut().for_each(|point| point.position[1] += off_m);
            shown
        };
        assert!(frozen_ms(&beside(0.04), &resting, 1.0) < 15.0);
        assert!((frozen_ms(&beside(0.06), &resting, 1.0) - 500.0).abs() < 35.0);
        let slow: Vec<_> = moving.iter().map(|point| Point { at_s: point.at_s * 10.0 - 36.0, ..*point }).collect();
        assert!(frozen_ms(&shown, &slow, 1.0) > 150.0);
    }

    #[test]
    fn a_jump_is_what_the_true_speed_does_not_allow() {
        let truth = walk((20.0, 20.0), 0.0);
        let mut shown = walk((20.0, 20.0), 0.2);
        assert_eq!(jump_m(&shown, &truth, 1.0), 0.0);
        shown[600..].iter_mut().for_each(|point| point.position[2] += 0.5);
        assert!((jump_m(&shown, &truth, 1.0) - 0.489).abs() < 0.001, "{}", jump_m(&shown, &truth, 1.0));
    }
}
