//! The saved states of a timeline, to which its world can go back.

use super::checkpoint_schedule::{CheckpointSchedule, GoBack, Purpose};
use super::checkpoint_slots::SavedSlot;
use crate::time::Tick;
use crate::world::World;
use alloc::vec::Vec;

/// Saved states, and which they are.
pub(super) struct Checkpoints<S> {
    pub schedule: CheckpointSchedule,
    /// By slot.
    saved: Vec<S>,
}

impl<S: Default> Checkpoints<S> {
    /// None is saved yet. Of the states of `horizon` ticks one in `every` is saved at least.
    pub(super) fn new(every: u32, horizon: u32) -> Checkpoints<S> {
        Checkpoints { schedule: CheckpointSchedule::new(every, horizon), saved: Vec::new() }
    }

    /// Saves the state of `tick`, with which a re-simulation begins, where [that is worth it](CheckpointSchedule::save_first).
    pub(super) fn save_first<W: World<Saved = S>>(&mut self, world: &W, tick: Tick, oldest: Tick) {
        let slot = self.schedule.save_first(tick, oldest);
        self.save(world, slot);
    }

    /// Saves the state of `tick`, which a step has just made, where [that is worth it](CheckpointSchedule::save_next).
    pub(super) fn save_next<W: World<Saved = S>>(&mut self, world: &W, tick: Tick, oldest: Tick, again: bool) {
        let slot = self.schedule.save_next(tick, oldest, again);
        self.save(world, slot);
    }

    /// Saves the state of `tick` [aside](CheckpointSchedule::save_aside).
    pub(super) fn save_aside<W: World<Saved = S>>(&mut self, world: &W, tick: Tick, present: Tick) {
        let slot = self.schedule.save_aside(tick, present);
        self.save(world, slot);
    }

    /// Saves the state that the world holds, where there is a slot for it.
    fn save<W: World<Saved = S>>(&mut self, world: &W, slot: Option<SavedSlot>) {
        let Some(slot) = slot else { return };
        if slot >= self.saved.len() {
            self.saved.resize_with(slot + 1, S::default);
        }
        world.save(&mut self.saved[slot]);
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
        let GoBack { to, slot, takes } = self.schedule.go_back(tick, oldest, purpose)?;
        let saved = &mut self.saved[slot];
        if takes {
            world.take(saved)
        } else {
            world.load(saved)
        }
        Some(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::test_world::Push;
    use crate::world::{Rows, Schema, Simulate, Step};

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
        checkpoints.schedule.begin(Tick::ZERO);
        checkpoints.save_first(&Counter(0), Tick::ZERO, Tick::ZERO);
        for state in 1..=present {
            let oldest = Tick::new(state.saturating_sub(HORIZON));
            checkpoints.schedule.forget(Tick::new(state));
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
        assert_eq!(checkpoints.schedule.first_from(Tick::new(9), Tick::new(36)), Some(Tick::new(16)));
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
        [12, 16, 20].into_iter().for_each(|state| checkpoints.schedule.note_rollback(Tick::new(state), None));
        for state in 21..=36 {
            checkpoints.schedule.forget(Tick::new(state));
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
        checkpoints.schedule.forget_aside();
        assert_eq!(loaded(&mut checkpoints, 35, Purpose::Visit), Some(32));
    }

    #[test]
    fn the_state_of_a_switch_stays_saved_when_a_re_simulation_begins_soon_after_it() {
        let mut checkpoints = played(8, 36);
        // So far apart that the state with which one begins is saved.
        [4, 20].into_iter().for_each(|state| checkpoints.schedule.note_rollback(Tick::new(state), None));
        checkpoints.schedule.switch(Tick::new(20));
        for begins_with in [20, 22] {
            checkpoints.save_first(&Counter(begins_with), Tick::new(begins_with), Tick::new(4));
            (begins_with + 1..=36).for_each(|state| checkpoints.schedule.forget(Tick::new(state)));
        }
        assert_eq!([21, 36].map(|state| loaded(&mut checkpoints, state, Purpose::Visit)), [Some(20); 2]);
    }

    #[test]
    fn what_is_saved_from_before_a_switch_holds_the_rows_of_other_entities() {
        let mut checkpoints = played(8, 36);
        checkpoints.schedule.switch(Tick::new(20));
        let of = [0, 20, 21].map(|state| checkpoints.schedule.proxies_in(Tick::new(state)));
        assert_eq!(of, [None, None, Some(Tick::new(20))]);
    }
}
