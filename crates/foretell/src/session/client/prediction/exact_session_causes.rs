//! What a client of an exact session knows of how its states and the server's come to differ, besides inputs.

use crate::session::client::correction_causes::Causes;
use crate::time::Tick;
use alloc::vec::Vec;

/// So many states are remembered that no client can have foreseen: each snapshot tells one at most.
const UNFORESEEN_MAX: usize = 256;

/// What may explain that a state is not the predicted one, where everything is predicted.
#[derive(Default)]
pub(crate) struct ExactSessionCauses {
    /// The last whole state that was compared and was not a canonical one, until there is a canonical one.
    derived: Option<Tick>,
    /// The states that no client can have foreseen; none that is older than the last comparison, and of too many the last told.
    unforeseen: Vec<Tick>,
    /// The cause of what nothing else has explained, until the ends agree again.
    apart: Causes,
}

impl ExactSessionCauses {
    /// The state of `tick` is the predicted one, in every bit.
    pub(crate) fn agree(&mut self, tick: Tick, canonical: &[Tick]) {
        self.derived = self.derived.filter(|from| !canonical.iter().any(|at| (*from..=tick).contains(at)));
        if self.derived.is_none() {
            self.apart = Causes::default();
        }
    }

    /// A whole state has been compared, and taken over where it differed.
    pub(crate) fn note_whole(&mut self, tick: Tick, is_canonical: bool) {
        self.derived = Some(tick).filter(|_| !is_canonical);
    }

    /// State `at` is one that no client can have foreseen; that of `compared` has been compared.
    pub(crate) fn note_unforeseen(&mut self, at: Tick, compared: Tick) {
        if at > compared && !self.unforeseen.contains(&at) {
            let surplus = (self.unforeseen.len() + 1).saturating_sub(UNFORESEEN_MAX);
            self.unforeseen.drain(..surplus);
            self.unforeseen.push(at);
        }
    }

    /// How much it remembers.
    pub(crate) fn kept(&self) -> usize {
        self.unforeseen.len()
    }

    pub(crate) fn forget_until(&mut self, tick: Tick) {
        self.unforeseen.retain(|at| *at > tick);
    }

    /// What differs from here on has this cause, until the ends agree again.
    pub(crate) fn part(&mut self, cause: Causes) {
        self.apart = cause;
    }

    /// Why the state of `tick` may differ, where the one of `since` did not.
    pub(crate) fn causes(&self, since: Tick, tick: Tick) -> Causes {
        let mut causes = self.apart;
        if self.derived.is_some() {
            causes = causes.with(Causes::DERIVED);
        }
        if self.unforeseen.iter().any(|at| (since.next()..=tick).contains(at)) {
            causes = causes.with(Causes::SERVER_EVENT);
        }
        causes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_whatever_many_states_a_server_calls_unforeseen_the_last_are_remembered() {
        let mut exact_causes = ExactSessionCauses::default();
        for at in 1..10_000 {
            exact_causes.note_unforeseen(Tick::new(at), Tick::ZERO);
        }
        assert_eq!(exact_causes.kept(), UNFORESEEN_MAX);
        assert_eq!(exact_causes.causes(Tick::new(9_998), Tick::new(9_999)), Causes::SERVER_EVENT);
    }
}
