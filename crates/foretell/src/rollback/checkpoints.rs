//! Which states of a timeline are saved, and which saved one the world goes back to.
//!
//! Rows are remembered of every tick. A saved state takes long to copy where the world is large, so that there are few: one
//! at a fixed interval, and some where the next re-simulation may well begin. The world takes the newest of those that are not too
//! new as its own when that does begin, and copies others for the one after it.

use super::checkpoint_ring::CheckpointRing;
use super::expected_rollbacks::ExpectedRollbacks;
use crate::time::Tick;
use crate::world::World;

/// What the world goes back for: whether the saved state that it goes back to is needed again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// To be in a state, all of which stays as it is: the saved one is copied.
    Visit,
    /// To begin a re-simulation, or to go on with one: the state that was saved for it is taken.
    Resimulate,
    /// To be given another state, before which nobody goes back: any saved one is taken.
    Rewrite,
}

/// The saved states of a timeline, and the rules by which they are saved.
pub(super) struct Checkpoints<S> {
    ring: CheckpointRing<S>,
    predictor: ExpectedRollbacks,
    /// The last state that was switched in, or begun with: what is saved of the time before is of other entities.
    switched: Tick,
    /// How many ticks lie at most between two saved states where few are worth saving.
    bound: u32,
}

impl<S: Default> Checkpoints<S> {
    /// None is saved yet. Of the states of `horizon` ticks one in `every` is saved at least.
    pub(super) fn new(every: u32, horizon: u32) -> Checkpoints<S> {
        let ring = CheckpointRing::new(every.min(horizon), horizon);
        let bound = if ring.has_all() { 0 } else { horizon / 4 };
        Checkpoints { ring, predictor: ExpectedRollbacks::new(every, horizon / 4), switched: Tick::ZERO, bound }
    }

    /// Simulation begins with the state of `tick`, after no other.
    pub(super) fn begin(&mut self, tick: Tick) {
        self.switched = tick;
        self.ring.forget_aside(None);
        self.predictor.restart(tick);
    }

    /// From the state of `tick` on other entities are predicted.
    pub(super) fn switch(&mut self, tick: Tick) {
        self.switched = tick;
    }

    /// What is simulated from the state of `tick` on will be simulated again; what is aside is of no use then, but for the
    /// state of `present`.
    pub(super) fn note_rollback(&mut self, tick: Tick, present: Option<Tick>) {
        self.ring.forget_aside(present);
        self.predictor.note(tick);
    }

    /// The re-simulation is over.
    pub(super) fn forget_aside(&mut self) {
        self.ring.forget_aside(None);
    }

    /// Forgets the state of `tick`: it is another one now.
    pub(super) fn forget(&mut self, tick: Tick) {
        self.ring.forget(tick);
    }

    /// The first tick from `oldest` to `present` whose state is saved.
    pub(super) fn first_from(&self, oldest: Tick, present: Tick) -> Option<Tick> {
        self.ring.first_from(oldest, present)
    }

    /// The newest state that is not newer than that of `tick`, nor older than `oldest`, of those that stay saved whatever is simulated
    /// again after it.
    pub(super) fn newest_that_stays(&self, tick: Tick, oldest: Tick) -> Option<Tick> {
        self.ring.newest_in_ring(tick, oldest)
    }

    /// Forgets the states from that of `from` on that lie before that of `until`: nobody goes back to them.
    pub(super) fn forget_between(&mut self, from: Tick, until: Tick) {
        self.ring.forget_between(from, until);
    }

    /// Saves the state of `tick`, which the world holds and with which a re-simulation begins, where the next one may well begin
    /// soon after it, or where no saved one is left that it could be made of soon. Those from before a switch don't count: others
    /// were predicted then. So the first that does count keeps its place: what lies after it could be made of no other.
    pub(super) fn save_first<W: World<Saved = S>>(&mut self, world: &W, tick: Tick, oldest: Tick) {
        let is_missing = oldest <= tick && self.ring.newest(tick, tick).is_none();
        let since = oldest.max(self.switched);
        let is_wanted = || self.predictor.wants_first() && !self.ring.is_place_of_first(tick, since);
        if is_missing && (is_wanted() || self.ring.is_due(tick, since, self.bound)) {
            world.save(self.ring.place(tick));
        }
    }

    /// Saves the state of `tick`, which a step has just made, where the next re-simulation may well begin, or where it is
    /// due. States that are simulated `again` are due a quarter of the horizon after the last one: most of them will be simulated
    /// yet again, but with the end of the horizon all goes that lies before the next saved state.
    pub(super) fn save_next<W: World<Saved = S>>(&mut self, world: &W, tick: Tick, oldest: Tick, again: bool) {
        let at_least = if again { self.bound } else { 0 };
        if !self.ring.has_all() && self.predictor.expects(tick) {
            world.save(self.ring.place_expected(tick));
        } else if self.ring.is_due(tick, oldest, at_least) {
            world.save(self.ring.place(tick));
        }
    }

    /// Saves the state of `tick` aside, which is needed again before it is made anew; that of `present` stays there. In the ring
    /// another one of its stretch may take its place.
    pub(super) fn save_aside<W: World<Saved = S>>(&mut self, world: &W, tick: Tick, present: Tick) {
        if !self.ring.has_all() {
            world.save(self.ring.place_aside(tick, present));
        }
    }

    /// Brings the world to the state of `tick`, or to the newest saved one that is not newer, nor older than `oldest`. Returns
    /// of which tick that is; `None` where there is none.
    pub(super) fn load<W: World<Saved = S>>(
        &mut self,
        world: &mut W,
        tick: Tick,
        oldest: Tick,
        purpose: Purpose,
    ) -> Option<Tick> {
        if let Some(saved) = self.ring.take_aside(tick) {
            world.take(saved);
            return Some(tick);
        }
        let takes = match purpose {
            Purpose::Visit => false,
            Purpose::Resimulate => self.ring.expects(tick, oldest),
            Purpose::Rewrite => true,
        };
        if takes {
            let (from, saved) = self.ring.take_newest_until(tick, oldest)?;
            world.take(saved);
            return Some(from);
        }
        let (from, saved) = self.ring.newest_until(tick, oldest)?;
        world.load(saved);
        Some(from)
    }

    /// Of which tick the rows of other entities are that the world holds in the saved state of `tick`; what was saved before
    /// a switch has others.
    pub(super) fn proxies_in(&self, tick: Tick) -> Option<Tick> {
        tick.back(1).filter(|_| tick > self.switched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::test_world::Push;
    use crate::world::{Rows, Schema, Simulate, Step};
    use alloc::vec::Vec;

    /// A world that is the number of its state. What is taken of a saved one is gone.
    #[derive(Default, PartialEq, Debug)]
    struct Counter(u32);

    impl Simulate for Counter {
        type Input = Push;
        fn step(&mut self, _step: &mut Step<'_, Push>) {
            self.0 += 1;
        }
    }

    impl World for Counter {
        type Saved = u32;
        fn schema() -> Schema {
            unreachable!("no rows are needed")
        }
        fn save(&self, into: &mut u32) {
            *into = self.0;
        }
        fn load(&mut self, from: &u32) {
            self.0 = *from;
        }
        fn take(&mut self, from: &mut u32) {
            self.0 = core::mem::take(from);
        }
        fn publish(&mut self, _rows: &mut Rows) {}
        fn adopt(&mut self, _rows: &Rows) {}
    }

    const HORIZON: u32 = 32;

    /// All states up to that of `present` were made one after the other.
    fn played(every: u32, present: u32) -> Checkpoints<u32> {
        let mut checkpoints = Checkpoints::new(every, HORIZON);
        checkpoints.begin(Tick::ZERO);
        checkpoints.save_first(&Counter(0), Tick::ZERO, Tick::ZERO);
        for state in 1..=present {
            let oldest = Tick::new(state.saturating_sub(HORIZON));
            checkpoints.forget(Tick::new(state));
            checkpoints.save_next(&Counter(state), Tick::new(state), oldest, false);
        }
        checkpoints
    }

    /// To which state the world comes, which says so itself.
    fn loaded(checkpoints: &mut Checkpoints<u32>, state: u32, purpose: Purpose) -> Option<u32> {
        let mut world = Counter(u32::MAX);
        let from = checkpoints.load(&mut world, Tick::new(state), Tick::new(4), purpose)?;
        assert_eq!(from, Tick::new(world.0), "the state is that of the tick");
        Some(world.0)
    }

    #[test]
    fn one_state_in_an_interval_is_saved_and_the_newest_that_is_not_too_new_is_loaded() {
        let mut checkpoints = played(8, 36);
        let from: Vec<_> = [7, 8, 20, 36].map(|state| loaded(&mut checkpoints, state, Purpose::Visit)).into();
        assert_eq!(from, [None, Some(8), Some(16), Some(32)], "none is left of before the oldest");
        assert_eq!(checkpoints.first_from(Tick::new(9), Tick::new(36)), Some(Tick::new(16)));
        assert_eq!(loaded(&mut played(1, 36), 35, Purpose::Visit), Some(35), "every state is saved");
    }

    #[test]
    fn a_state_that_is_visited_stays_saved_and_one_that_is_rewritten_is_taken() {
        let mut checkpoints = played(8, 36);
        assert_eq!([20, 20].map(|state| loaded(&mut checkpoints, state, Purpose::Visit)), [Some(16); 2]);
        assert_eq!([20, 20].map(|state| loaded(&mut checkpoints, state, Purpose::Rewrite)), [Some(16), Some(8)]);
    }

    #[test]
    fn a_resimulation_takes_the_state_that_was_saved_for_it_and_copies_any_other() {
        let mut checkpoints = played(8, 36);
        assert_eq!([20, 20].map(|state| loaded(&mut checkpoints, state, Purpose::Resimulate)), [Some(16); 2]);
        // They begin four ticks apart: the next will begin with state 24.
        [12, 16, 20].into_iter().for_each(|state| checkpoints.note_rollback(Tick::new(state), None));
        for state in 21..=36 {
            checkpoints.forget(Tick::new(state));
            checkpoints.save_next(&Counter(state), Tick::new(state), Tick::new(4), true);
        }
        let from = [25, 25].map(|state| loaded(&mut checkpoints, state, Purpose::Resimulate));
        assert_eq!(from, [Some(24), Some(16)], "it is not there any more, and the interval's was made anew");
    }

    #[test]
    fn a_state_that_is_saved_aside_is_taken_before_any_other_and_but_once() {
        let mut checkpoints = played(8, 36);
        checkpoints.save_aside(&Counter(35), Tick::new(35), Tick::new(36));
        checkpoints.save_aside(&Counter(36), Tick::new(36), Tick::new(36));
        assert_eq!(loaded(&mut checkpoints, 36, Purpose::Visit), Some(36));
        assert_eq!(loaded(&mut checkpoints, 36, Purpose::Visit), Some(32));
        checkpoints.forget_aside();
        assert_eq!(loaded(&mut checkpoints, 35, Purpose::Visit), Some(32));
    }

    #[test]
    fn the_state_of_a_switch_stays_saved_when_a_re_simulation_begins_soon_after_it() {
        let mut checkpoints = played(8, 36);
        // So far apart that the state with which one begins is saved.
        [4, 20].into_iter().for_each(|state| checkpoints.note_rollback(Tick::new(state), None));
        checkpoints.switch(Tick::new(20));
        for begins_with in [20, 22] {
            checkpoints.save_first(&Counter(begins_with), Tick::new(begins_with), Tick::new(4));
            (begins_with + 1..=36).for_each(|state| checkpoints.forget(Tick::new(state)));
        }
        assert_eq!([21, 36].map(|state| loaded(&mut checkpoints, state, Purpose::Visit)), [Some(20); 2]);
    }

    #[test]
    fn what_is_saved_from_before_a_switch_holds_the_rows_of_other_entities() {
        let mut checkpoints = played(8, 36);
        checkpoints.switch(Tick::new(20));
        let of = [0, 20, 21].map(|state| checkpoints.proxies_in(Tick::new(state)));
        assert_eq!(of, [None, None, Some(Tick::new(20))]);
    }
}
