//! How far the re-simulation of a timeline has come, and how many ticks it may run at once.

use crate::time::Tick;

/// A re-simulation that is under way, or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResimulationProgress {
    /// The next tick to simulate again.
    next: Option<Tick>,
    /// How many ticks the next part of it may run.
    budget: u32,
}

impl ResimulationProgress {
    /// None is under way, and there is no limit.
    pub(super) const fn none() -> ResimulationProgress {
        ResimulationProgress { next: None, budget: u32::MAX }
    }

    /// The next part may run `budget` ticks.
    pub(super) fn allow(&mut self, budget: u32) {
        self.budget = budget;
    }

    /// Nothing is to be simulated again.
    pub(super) fn stop(&mut self) {
        self.next = None;
    }

    /// The states after `tick` are to be simulated again up to `present`, if there are any.
    pub(super) fn go_on_from(&mut self, tick: Tick, present: Tick) {
        self.next = (tick < present).then_some(tick);
    }

    /// The next tick to simulate again; `None` when none is.
    pub(super) fn next(&self) -> Option<Tick> {
        self.next
    }

    /// Whether one is under way that will come to `tick`.
    pub(super) fn will_reach(&self, tick: Tick) -> bool {
        self.next.is_some_and(|next| next <= tick)
    }

    /// Whether the state `at`, which the world leaves for the state `goal`, is needed again before it is made anew: the
    /// present one where what it follows from takes more than one part to simulate again, and the one that this has come to.
    pub(super) fn needs_again(&self, at: Tick, goal: Tick, present: Tick) -> bool {
        if at == present {
            let from = self.next.map_or(goal, |next| next.min(goal));
            return at.since(from) > self.budget;
        }
        self.next == Some(at) && at < goal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESENT: Tick = Tick::new(100);

    fn from(next: u32, budget: u32) -> ResimulationProgress {
        let mut resimulation = ResimulationProgress::none();
        resimulation.go_on_from(Tick::new(next), PRESENT);
        resimulation.allow(budget);
        resimulation
    }

    #[test]
    fn the_present_is_needed_again_where_the_way_back_to_it_exceeds_the_budget() {
        let needed = |next, goal, budget| from(next, budget).needs_again(PRESENT, Tick::new(goal), PRESENT);
        assert!(!needed(100, 90, 10), "it is simulated again at once");
        assert!(needed(100, 89, 10));
        assert!(needed(80, 95, 10), "the one that is under way began before");
        assert!(!needed(0, 0, u32::MAX));
    }

    #[test]
    fn a_state_in_the_past_is_needed_again_where_the_resimulation_stands_and_the_world_goes_forward() {
        let needed = |next, at, goal| from(next, 5).needs_again(Tick::new(at), Tick::new(goal), PRESENT);
        assert!(needed(60, 60, 100));
        assert!(!needed(60, 60, 50), "it is made anew before it is needed");
        assert!(!needed(60, 70, 100), "that is none that it has come to");
    }

    #[test]
    fn a_resimulation_that_has_reached_the_present_is_over() {
        assert_eq!([99, 100, 101].map(|next| from(next, 1).next()), [Some(Tick::new(99)), None, None]);
        assert!(from(60, 1).will_reach(Tick::new(60)) && !from(60, 1).will_reach(Tick::new(59)));
        assert!(!from(100, 1).will_reach(PRESENT));
    }
}
