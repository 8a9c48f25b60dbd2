//! Where re-simulations have begun, and which states are saved for the next one.
//!
//! To save a state costs a copy of the world. A re-simulation that begins between two saved states costs the ticks from the
//! older one, which are repeated. Where the next one will begin is not known, but how far apart the last ones were: of all
//! choices that one is taken with which those would have cost least.

use crate::time::Tick;

/// How many distances are remembered.
const KNOWN: usize = 8;
/// For how many states after a beginning there is room.
pub(super) const AHEAD: usize = 3;
/// Costs are counted in so small parts of a step. A saved state in every `n` ticks and half of that repeated in every 16th
/// tick cost least together where a save costs `n * n / 32` steps: that is how dear it is where the user has chosen `n`.
const PARTS: u64 = 32;
/// Longer than any history that is kept.
const EVERY_MAX: u32 = 1 << 14;

/// Where re-simulations have begun.
pub(super) struct RollbackForecast {
    /// What a save costs, in parts of a step.
    save: u64,
    /// How many ticks a beginning may lie after the last saved state at most.
    bound: u64,
    last: Tick,
    /// How far apart the last ones were, in ticks; the newest first.
    apart: [u32; KNOWN],
    known: usize,
    plan: Plan,
}

/// Which states are saved after a beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Plan {
    /// The one with which it begins.
    first: bool,
    /// How many ticks after it; 0 where there is no further one.
    ahead: [u32; AHEAD],
}

/// What is saved from some distance on costs, in parts of a step, and the place of the next distance whose state is saved.
type Costs = (u64, usize);

impl RollbackForecast {
    /// Where a state is saved in one of `every` ticks otherwise, and no beginning is to lie more than `bound` ticks after one.
    pub(super) fn new(every: u32, bound: u32) -> RollbackForecast {
        let every = u64::from(every.min(EVERY_MAX));
        RollbackForecast {
            save: every * every,
            bound: u64::from(bound.max(1)),
            last: Tick::ZERO,
            apart: [0; KNOWN],
            known: 0,
            plan: Plan { first: true, ahead: [0; AHEAD] },
        }
    }

    /// Simulation begins with the state of `tick`, after no other.
    pub(super) fn restart(&mut self, tick: Tick) {
        self.last = tick;
    }

    /// A re-simulation begins with the state of `tick`. One that comes long after the last says nothing of the next one.
    pub(super) fn note(&mut self, tick: Tick) {
        let apart = tick.since(self.last);
        self.last = tick;
        if apart == 0 || u64::from(apart) > 2 * self.bound {
            return;
        }
        self.apart.rotate_right(1);
        self.apart[0] = apart;
        self.known = KNOWN.min(self.known + 1);
        let mut sorted = self.apart;
        let sorted = &mut sorted[..self.known];
        sorted.sort_unstable();
        self.plan = self.cheapest(sorted);
    }

    /// Whether the state with which the last one began is to be saved.
    pub(super) fn wants_first(&self) -> bool {
        self.plan.first
    }

    /// Whether the state of `tick` is to be saved: the next one may well begin there.
    pub(super) fn expects(&self, tick: Tick) -> bool {
        tick > self.last && self.plan.ahead.contains(&tick.since(self.last))
    }

    /// The plan with which the next ones at these distances, ascending, would cost least.
    fn cheapest(&self, apart: &[u32]) -> Plan {
        let count = apart.len() as u64;
        let save = self.save * count;
        let mut costs: [Costs; KNOWN + 1] = [(0, KNOWN); KNOWN + 1];
        for (nth, base) in apart.iter().enumerate().rev() {
            let (rest, next) = cheapest_rest(*base, &apart[nth + 1..], &costs[nth + 1..=apart.len()]);
            costs[nth] = (save + rest, nth + 1 + next);
        }
        let (rest, next) = cheapest_rest(0, apart, &costs[..=apart.len()]);
        let with_first = (save + rest, next);
        // The first is not saved every time: where the next one begins before all that is, it begins with one from earlier, half
        // as old as may be on average, and another is saved in its place; and it must not be too old.
        let miss = self.save + PARTS * self.bound / 2;
        let renewal = self.save * apart.iter().copied().map(u64::from).sum::<u64>() / self.bound;
        let without = (0..apart.len()).map(|next| (costs[next].0 + miss * next as u64 + renewal, next)).min();
        let first = without.is_none_or(|without| with_first.0 <= without.0);
        let mut at = without.filter(|_| !first).unwrap_or(with_first).1;
        let mut ahead = [0; AHEAD];
        for place in &mut ahead {
            *place = apart.get(at).copied().unwrap_or(0);
            at = costs.get(at).map_or(KNOWN, |costs| costs.1);
        }
        Plan { first, ahead }
    }
}

/// What the next re-simulations at these distances, ascending, cost least when a state is saved at `base`, which is before them,
/// and `costs` are those when the next saved one is at each of them, or at none; and which of them that is.
fn cheapest_rest(base: u32, apart: &[u32], costs: &[Costs]) -> Costs {
    let mut repeated = 0;
    let mut least = (costs[0].0, 0);
    for (nth, apart) in apart.iter().enumerate() {
        repeated += PARTS * u64::from(apart - base);
        least = least.min((repeated + costs[nth + 1].0, nth + 1));
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn plan_after(every: u32, apart: &[u32]) -> Plan {
        let mut predictor = RollbackForecast::new(every, 32);
        let mut tick = Tick::new(100);
        predictor.restart(tick);
        for apart in apart.iter().cycle().take(2 * KNOWN) {
            tick = tick + *apart;
            predictor.note(tick);
        }
        predictor.plan
    }

    #[test]
    fn where_all_are_as_far_apart_the_next_beginning_alone_is_saved() {
        for every in [2, 4, 8, 24] {
            for apart in [1, 4, 7, 16] {
                assert_eq!(plan_after(every, &[apart]), Plan { first: false, ahead: [apart, 0, 0] }, "{every} {apart}");
            }
        }
    }

    #[test]
    fn where_they_lie_anyhow_the_more_is_saved_the_cheaper_it_is() {
        let anyhow = [3, 11, 6, 25, 1, 14, 8];
        let saved = |every| {
            let plan = plan_after(every, &anyhow);
            usize::from(plan.first) + plan.ahead.iter().filter(|ahead| **ahead > 0).count()
        };
        assert_eq!([4, 8, 24].map(saved), [3, 2, 1]);
        assert!(plan_after(24, &anyhow).first, "from there each can be reached");
    }

    /// What the next beginnings at these distances cost by a plan, in parts of a step, as the plan's own sum has it.
    fn cost(predictor: &RollbackForecast, first: bool, ahead: &[u32], apart: &[u32]) -> u64 {
        let count = apart.len() as u64;
        let sum: u64 = apart.iter().map(|apart| u64::from(*apart)).sum();
        let of_each = apart.iter().map(|apart| match ahead.iter().rev().find(|ahead| *ahead <= apart) {
            Some(base) => PARTS * u64::from(apart - base),
            None if first => PARTS * u64::from(*apart),
            None => predictor.save + PARTS * predictor.bound / 2,
        });
        let of_first = if first { predictor.save * count } else { predictor.save * sum / predictor.bound };
        of_each.sum::<u64>() + of_first + predictor.save * count * ahead.len() as u64
    }

    #[test]
    fn no_choice_of_as_many_states_would_have_cost_less() {
        for every in [2, 4, 8, 16, 24] {
            for apart in [[1, 3, 8], [4, 8, 12], [2, 5, 30], [16, 17, 40], [4, 4, 4]] {
                let predictor = RollbackForecast::new(every, 32);
                let plan = predictor.cheapest(&apart);
                let ahead: Vec<u32> = plan.ahead.into_iter().filter(|ahead| *ahead > 0).collect();
                let chosen = cost(&predictor, plan.first, &ahead, &apart);
                for choice in 0..16_u32 {
                    let taken = (0..AHEAD).filter(|nth| choice >> nth & 1 == 1);
                    let mut other: Vec<u32> = taken.map(|nth| apart[nth]).collect();
                    other.dedup();
                    let first = choice >> AHEAD == 1;
                    if first || !other.is_empty() {
                        assert!(chosen <= cost(&predictor, first, &other, &apart), "{every}: {apart:?}, {other:?}");
                    }
                }
            }
        }
    }
}
