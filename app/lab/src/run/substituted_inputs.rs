//! Inputs that were not there when they were due, and what has become of what the server put in their place.
//!
//! Whether that mattered is known once the client has compared a state that follows from them, so that is when it is told.

use foretell::Tick;
use foretell::session::client::{Causes, Corrected};

/// How many stretches wait for their outcome at most.
const WAITING: usize = 64;

/// A stretch of ticks whose inputs were replaced.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stretch {
    /// The newest of these ticks.
    pub newest: Tick,
    /// How many there are; at least 1.
    pub ticks: u32,
    /// By how much the latest of their inputs was late, in ms; `None` where none has come.
    pub late_ms: Option<f64>,
}

/// What it came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The player had pressed what the server assumed: nothing differed.
    Right,
    /// The player's cube was elsewhere, and corrected for it.
    Corrected,
    /// Nothing was compared, or something else was corrected in the same place.
    Unknown,
}

/// Those whose outcome is not known yet, oldest first.
#[derive(Clone, Debug, Default)]
pub struct SubstitutedInputs(Vec<Stretch>);

impl Stretch {
    fn first(&self) -> Tick {
        self.newest.back(self.ticks.saturating_sub(1)).unwrap_or_default()
    }

    /// Whether the two overlap, or one begins where the other ends.
    fn adjoins(&self, other: &Stretch) -> bool {
        let reaches = |a: &Stretch, b: &Stretch| a.first() <= b.newest || a.first().since(b.newest) == 1;
        reaches(self, other) && reaches(other, self)
    }

    fn with(&self, other: &Stretch) -> Stretch {
        let (newest, first) = (self.newest.max(other.newest), self.first().min(other.first()));
        let late_ms = self.late_ms.into_iter().chain(other.late_ms).reduce(f64::max);
        Stretch { newest, ticks: newest.since(first) + 1, late_ms }
    }
}

impl SubstitutedInputs {
    /// These were replaced; said of the same ticks again, or of ones next to them, it is one stretch.
    pub fn note(&mut self, stretch: Stretch) {
        let mut stretch = stretch;
        self.0.retain(|waiting| {
            let joins = waiting.adjoins(&stretch);
            if joins {
                stretch = stretch.with(waiting);
            }
            !joins
        });
        if self.0.len() < WAITING {
            self.0.push(stretch);
        }
    }

    /// Those whose outcome is known: the client has compared the state `compared`, or does not compare at all, and has
    /// corrected these of the player's own.
    pub fn settle(&mut self, compared: Option<Tick>, own: &[Corrected]) -> Vec<(Stretch, Outcome)> {
        let outcome = |stretch: &Stretch| {
            let Some(compared) = compared else { return Some(Outcome::Unknown) };
            let after = own.iter().find(|corrected| corrected.tick > stretch.first());
            match after {
                Some(corrected) if corrected.causes.contains(Causes::OWN_INPUT) => Some(Outcome::Corrected),
                Some(_) => Some(Outcome::Unknown),
                None => (compared > stretch.newest).then_some(Outcome::Right),
            }
        };
        let known = self.0.iter().filter_map(|stretch| Some((*stretch, outcome(stretch)?))).collect();
        self.0.retain(|stretch| outcome(stretch).is_none());
        known
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use foretell::{Entity, PlayerId};

    fn stretch(newest: u32, ticks: u32, late_ms: Option<f64>) -> Stretch {
        Stretch { newest: Tick::new(newest), ticks, late_ms }
    }

    /// A correction of player 1's cube by the state of `tick`.
    pub fn corrected(tick: u32, causes: Causes) -> Corrected {
        Corrected {
            entity: Entity::new(PlayerId::new(1), Tick::ZERO, 0),
            owner: PlayerId::new(1),
            since: Tick::new(tick - 1),
            tick: Tick::new(tick),
            until: Tick::new(tick + 10),
            difference: None,
            causes,
            misprediction_m: 0.0,
            shown_m: 0.0,
            teleport: false,
        }
    }

    #[test]
    fn what_is_said_twice_of_a_tick_or_of_neighbours_is_one_stretch() {
        let mut replaced = SubstitutedInputs::default();
        for one in [stretch(10, 1, None), stretch(20, 1, None), stretch(12, 2, Some(5.0)), stretch(11, 1, Some(7.0))] {
            replaced.note(one);
        }
        assert_eq!(replaced.0, [stretch(20, 1, None), stretch(12, 3, Some(7.0))]);
    }

    #[test]
    fn a_replacement_was_right_once_a_later_state_agrees_and_not_before() {
        let mut replaced = SubstitutedInputs::default();
        replaced.note(stretch(10, 1, Some(3.0)));
        assert_eq!(replaced.settle(Some(Tick::new(10)), &[]), []);
        assert_eq!(replaced.settle(Some(Tick::new(11)), &[]), [(stretch(10, 1, Some(3.0)), Outcome::Right)]);
        assert_eq!(replaced.settle(Some(Tick::new(12)), &[]), [], "it is told once");
    }

    #[test]
    fn a_correction_for_it_says_so_and_one_for_another_reason_or_none_at_all_leaves_it_open() {
        for (causes, compared, outcome) in [
            (Causes::OWN_INPUT, Some(Tick::new(12)), Outcome::Corrected),
            (Causes::SERVER_EVENT, Some(Tick::new(12)), Outcome::Unknown),
            (Causes::OWN_INPUT, None, Outcome::Unknown),
        ] {
            let mut replaced = SubstitutedInputs::default();
            replaced.note(stretch(10, 2, None));
            assert_eq!(replaced.settle(compared, &[corrected(11, causes)]), [(stretch(10, 2, None), outcome)]);
        }
        let mut replaced = SubstitutedInputs::default();
        replaced.note(stretch(10, 1, None));
        assert_eq!(replaced.settle(Some(Tick::new(10)), &[corrected(9, Causes::OWN_INPUT)]), [], "that was before it");
    }
}
