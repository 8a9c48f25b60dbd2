//! How far others are drawn beyond the places at which they stop.

use crate::past::Past;
use crate::peer::At;
use crate::scene::TICK_HZ;

/// Who has moved as far within [`BEFORE`] has stopped, in metres; who trembles has not.
const MOVED_M: f64 = 0.3;
/// A fifth of a second, in states.
const BEFORE: u32 = TICK_HZ as u32 / 5;
/// Who stands for a quarter of a second has stopped.
const STANDS: u32 = TICK_HZ as u32 / 4;
/// It is not looked at the last eighth of a second before somebody sets off: who is drawn to do so too early is not beyond a stop.
const SET_OFF: u32 = TICK_HZ as u32 / 8;
/// From so long before a stop on it is looked where they are drawn, in states.
const LOOK_BEFORE: f64 = 8.0;

/// A stop.
struct Stop {
    /// The first state in which the body stands.
    state: u32,
    /// The last one that is looked at.
    until: u32,
    /// Where.
    place: [f64; 2],
    /// Which way it went, as a vector of length 1.
    way: [f64; 2],
}

/// For each stop of a body that was shown, how far beyond its place it is drawn at most, in metres; 0 where it never is.
pub fn overshoots(past: &Past, body: usize, drawn: &[At]) -> Vec<f64> {
    let of_stop = |stop: Stop| {
        let seen = |at: &&At| (f64::from(stop.state) - LOOK_BEFORE..=f64::from(stop.until)).contains(&at.state);
        let beyond = |at: &At| (0..2).map(|axis| (at.position[axis] - stop.place[axis]) * stop.way[axis]).sum::<f64>();
        let mut shown = drawn.iter().filter(seen).peekable();
        shown.peek().is_some().then(|| shown.map(beyond).fold(0.0, f64::max))
    };
    stops(past, body).filter_map(of_stop).collect()
}

fn stops(past: &Past, body: usize) -> impl Iterator<Item = Stop> + '_ {
    let stands = move |number: u32| past.body(body, number).is_some_and(|body| body.speed() < 1e-3);
    let begins = past.numbers().skip(BEFORE as usize).filter(move |number| stands(*number) && !stands(number - 1));
    begins.filter_map(move |state| {
        let until = (state..).take_while(|number| stands(*number)).last()?;
        let [from, place] = [state - BEFORE, state].map(|number| past.position(body, f64::from(number)));
        let ([x, y], place) = (from?, place?);
        let before = past.position(body, f64::from(state - 2))?;
        let [way_x, way_y] = [place[0] - before[0], place[1] - before[1]];
        let (moved, length) = ((place[0] - x).hypot(place[1] - y), way_x.hypot(way_y));
        let is_stop = until - state >= STANDS && moved > MOVED_M && length > 0.0;
        is_stop.then(|| Stop { state, until: until - SET_OFF, place, way: [way_x / length, way_y / length] })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Body, PLAYERS};

    #[test]
    fn a_stop_is_overshot_by_what_is_drawn_beyond_its_place() {
        let mut past = Past::default();
        for number in 0..100_u32 {
            let (x, speed) = if number < 50 { (number as f32 * 0.1, 6.4) } else { (5.0, 0.0) };
            past.push(number, 0, [Body { position: [x, 0.0], velocity: [speed, 0.0] }; PLAYERS]);
        }
        let at = |state: f64, x: f64| At { state, position: [x, 0.3] };
        let near = |drawn: &[At], expected: f64| {
            let [beyond] = overshoots(&past, 0, drawn)[..] else { panic!("it stops once") };
            assert!((beyond - expected).abs() < 1e-6, "{beyond}");
        };
        near(&[at(49.0, 4.9), at(52.0, 5.2), at(53.0, 5.0)], 0.2);
        near(&[at(49.0, 4.9), at(52.0, 4.95)], 0.0);
        assert!(overshoots(&past, 0, &[at(12.0, 9.0)]).is_empty(), "the stop was not shown");
    }
}
