//! The truth: where everybody is, by the motion of `foretell bench crowd`.

use crate::case::Case;
use foretell_crowd::{Body, Motion};
use foretell_sim::netsim::SplitMix64;

/// What has changed in a tick: the nth of the crowd is so.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Which one.
    pub nth: usize,
    /// How it is now.
    pub body: Body,
}

/// A crowd as it is in truth, the same in each run.
pub struct Crowd {
    /// How each of them is.
    pub bodies: Vec<Body>,
    /// How many steps each has made.
    steps: Vec<u32>,
    /// Everybody's number; those who advance in a tick are drawn to the front.
    drawn: Vec<u16>,
    changing: usize,
    random: SplitMix64,
    changes: Vec<Change>,
}

impl Crowd {
    /// Before anybody has moved.
    pub fn new(case: &Case) -> Crowd {
        Crowd {
            bodies: (0..case.entities).map(|nth| Body::first(nth, case.entities)).collect(),
            steps: vec![0; usize::from(case.entities)],
            drawn: (0..case.entities).collect(),
            changing: usize::from(case.changing()),
            random: SplitMix64::new(1),
            changes: Vec::new(),
        }
    }

    /// The next tick: who has advanced, in the order of their numbers.
    pub fn advance(&mut self) -> &[Change] {
        self.draw();
        self.changes.clear();
        for nth in &self.drawn[..self.changing] {
            let at = usize::from(*nth);
            Motion::of(*nth).advance(&mut self.bodies[at], self.steps[at]);
            self.steps[at] += 1;
            self.changes.push(Change { nth: at, body: self.bodies[at] });
        }
        &self.changes
    }

    /// Who advances; where all do, there is nothing to draw.
    fn draw(&mut self) {
        let count = self.drawn.len();
        if self.changing < count {
            for at in 0..self.changing {
                let left = (count - at) as u64;
                self.drawn.swap(at, at + (self.random.next_u64() % left) as usize);
            }
            self.drawn[..self.changing].sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Kind;

    #[test]
    fn so_many_advance_by_one_step_and_in_time_it_is_everybody() {
        let case = Case { kind: Kind::FivePercent, entities: 901, clients: 1, delay_ticks: 0 };
        let mut crowd = Crowd::new(&case);
        for _ in 0..400 {
            let before = crowd.bodies.clone();
            let changes = crowd.advance().to_vec();
            assert_eq!(changes.len(), 45);
            assert!(changes.windows(2).all(|two| two[0].nth < two[1].nth));
            let changed = before.iter().zip(&crowd.bodies).filter(|(before, after)| before != after).count();
            assert_eq!(changed, 45);
        }
        assert_eq!(crowd.steps.iter().sum::<u32>(), 400 * 45);
        assert!(crowd.steps.iter().all(|steps| *steps > 0));
    }
}
