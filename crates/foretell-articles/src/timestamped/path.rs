//! The path that a player has gone, reconstructed from inputs with timestamps (Q9).
//!
//! Invariant: what [`Path::check`] has passed never makes [`Path::follow`] go backwards in time, or beyond the limit.

use super::{Mover, Time};
use foretell::session::Offence;
use foretell::time::Instant;

/// An input, and since when it is held.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stamped<T, I> {
    /// On the client's own clock.
    pub at: T,
    /// What is held from then on.
    pub input: I,
}

/// Why a path can't be followed (D3, E5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// An input is before the one before it, or before what was followed already.
    InputNotMonotonic,
    /// It ends before it begins.
    TargetBeforeLast,
    /// An input is later than its end.
    InputAfterTarget,
    /// It ends later than the player's time budget allows.
    TargetAfterBudget,
}

impl Refused {
    /// Which offence is noted for it: all of them are about time.
    pub fn offence(self) -> Offence {
        Offence::Time
    }
}

/// How far a player's path has been followed: when, where, and with which input in effect.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path<M: Mover, T: Time = Instant> {
    /// On the player's own clock.
    pub at: T,
    /// The state there.
    pub state: M::State,
    /// The input that is held from there on.
    pub held: M::Input,
}

impl<M: Mover, T: Time> Path<M, T> {
    /// Whether a path over `inputs` to `target` is one that a player can have gone, who may not be later than `limit`.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn check(&self, inputs: &[Stamped<T, M::Input>], target: T, limit: Option<T>) -> Result<(), Refused> {
        let mut last = self.at;
        for input in inputs {
            if input.at < last {
                return Err(Refused::InputNotMonotonic);
            }
            last = input.at;
        }
        if target < self.at {
            return Err(Refused::TargetBeforeLast);
        }
        if target < last {
            return Err(Refused::InputAfterTarget);
        }
        if limit.is_some_and(|limit| target > limit) {
            return Err(Refused::TargetAfterBudget);
        }
        Ok(())
    }

    /// Goes on to `target`, each input held from its timestamp on. Believes what it is given, as the article does:
    /// [`check`](Path::check) it first.
    pub fn follow(&mut self, mover: &M, inputs: &[Stamped<T, M::Input>], target: T) {
        for input in inputs {
            self.advance(mover, input.at);
            self.held = input.input;
        }
        self.advance(mover, target);
    }

    fn advance(&mut self, mover: &M, to: T) {
        mover.advance(&mut self.state, self.held, to.seconds_since(self.at));
        self.at = to;
    }
}
