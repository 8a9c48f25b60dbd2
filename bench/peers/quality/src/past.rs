//! Where the server had everybody: what all that is drawn is compared with.

use crate::peer::At;
use crate::scene::{Body, PLAYERS, TICK_US};

/// The server's states, one after the other.
#[derive(Default)]
pub struct Past {
    /// The number of the first one.
    first: u32,
    states: Vec<State>,
}

struct State {
    at_us: u64,
    bodies: [Body; PLAYERS],
}

impl Past {
    /// Adds a state that was made then.
    ///
    /// # Panics
    /// When it is not the next one.
    pub fn push(&mut self, number: u32, at_us: u64, bodies: [Body; PLAYERS]) {
        if self.states.is_empty() {
            self.first = number;
        }
        assert_eq!(number, self.end(), "a state of the server after the other");
        self.states.push(State { at_us, bodies });
    }

    /// The number of the state after the last one.
    pub fn end(&self) -> u32 {
        self.first + self.states.len() as u32
    }

    /// The numbers of all states.
    pub fn numbers(&self) -> core::ops::Range<u32> {
        self.first..self.end()
    }

    /// A body in a state.
    pub fn body(&self, player: usize, number: u32) -> Option<Body> {
        let nth = number.checked_sub(self.first)?;
        Some(self.states.get(nth as usize)?.bodies[player])
    }

    /// Where a body was; between two states on a straight line. `None` outside of what there is.
    pub fn position(&self, player: usize, state: f64) -> Option<[f64; 2]> {
        let from = self.body(player, state as u32)?.position.map(f64::from);
        let fraction = state.fract();
        if fraction == 0.0 {
            return Some(from);
        }
        let to = self.body(player, state as u32 + 1)?.position.map(f64::from);
        Some(core::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * fraction))
    }

    /// How far something that is drawn is from there.
    pub fn error(&self, player: usize, at: At) -> Option<f64> {
        let there = self.position(player, at.state)?;
        Some((at.position[0] - there[0]).hypot(at.position[1] - there[1]))
    }

    /// The fastest that a body was within a number of states around this one.
    pub fn fastest(&self, player: usize, state: f64, within: u32) -> f64 {
        let middle = state as u32;
        let numbers = middle.saturating_sub(within)..=middle + within;
        numbers.filter_map(|number| self.body(player, number)).map(|body| body.speed()).fold(0.0, f64::max)
    }

    /// In which state the server was then: the number of the newest one, and how much of a tick has passed since.
    pub fn state_at(&self, at_us: u64) -> Option<f64> {
        let after = self.states.partition_point(|state| state.at_us <= at_us);
        let newest = after.checked_sub(1)?;
        let passed = (at_us - self.states[newest].at_us) as f64 / TICK_US as f64;
        Some(f64::from(self.first) + newest as f64 + passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past() -> Past {
        let mut past = Past::default();
        for (number, x) in [(7, 0.0), (8, 1.0), (9, 3.0)] {
            let body = Body { position: [x, 0.0], velocity: [x, 0.0] };
            past.push(number, u64::from(number) * TICK_US, [body; PLAYERS]);
        }
        past
    }

    #[test]
    fn a_body_is_on_a_line_between_two_states_and_nowhere_outside_of_them() {
        let past = past();
        let positions = [6.9, 7.0, 8.5, 9.0, 9.1].map(|state| past.position(0, state));
        assert_eq!(positions, [None, Some([0.0, 0.0]), Some([2.0, 0.0]), Some([3.0, 0.0]), None]);
        assert_eq!(past.error(1, At { state: 8.5, position: [2.0, -0.5] }), Some(0.5));
        assert!((past.fastest(0, 7.4, 1) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_servers_state_goes_on_between_its_updates() {
        assert_eq!([0, 7, 8].map(|tick| past().state_at(tick * TICK_US)), [None, Some(7.0), Some(8.0)]);
        assert_eq!(past().state_at(8 * TICK_US + TICK_US / 5), Some(8.2));
    }
}
