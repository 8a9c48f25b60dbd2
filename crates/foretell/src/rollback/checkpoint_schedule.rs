//! Which states of a timeline are saved, and which saved one the world goes back to.
//!
//! Rows are remembered of every tick. A saved state takes long to copy where the world is large, so that there are few: one
//! at a fixed interval, and some where the next re-simulation may well begin. The world takes the newest of those that are not too
//! new as its own when that does begin, and copies others for the one after it.

use super::checkpoint_slots::{CheckpointSlots, SavedSlot};
use super::rollback_forecast::RollbackForecast;
use crate::time::Tick;

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

/// A saved state to which the world is brought.
pub(super) struct GoBack {
    /// Of which tick it is.
    pub to: Tick,
    pub slot: SavedSlot,
    /// Whether it is not needed again: the world may take it for its own.
    pub takes: bool,
}

/// Of which ticks of a timeline states are saved, and the rules for that.
pub(super) struct CheckpointSchedule {
    ring: CheckpointSlots,
    predictor: RollbackForecast,
    /// The last state that was switched in, or begun with: what is saved of the time before is of other entities.
    switched: Tick,
    /// How many ticks lie at most between two saved states where few are worth saving.
    bound: u32,
}

impl CheckpointSchedule {
    /// None is saved yet. Of the states of `horizon` ticks one in `every` is saved at least.
    pub(super) fn new(every: u32, horizon: u32) -> CheckpointSchedule {
        let ring = CheckpointSlots::new(every.min(horizon), horizon);
        let bound = if ring.has_all() { 0 } else { horizon / 4 };
        CheckpointSchedule { ring, predictor: RollbackForecast::new(every, horizon / 4), switched: Tick::ZERO, bound }
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

    /// Where to save the state of `tick`, which the world holds and with which a re-simulation begins: if the next one may well begin
    /// soon after it, or no saved one is left that it could be made of soon. Those from before a switch don't count: others
    /// were predicted then. So the first that does count keeps its place: what lies after it could be made of no other.
    pub(super) fn save_first(&mut self, tick: Tick, oldest: Tick) -> Option<SavedSlot> {
        let is_missing = oldest <= tick && self.ring.newest(tick, tick).is_none();
        let since = oldest.max(self.switched);
        let is_wanted = || self.predictor.wants_first() && !self.ring.is_place_of_first(tick, since);
        let is_saved = is_missing && (is_wanted() || self.ring.is_due(tick, since, self.bound));
        is_saved.then(|| self.ring.place(tick))
    }

    /// Where to save the state of `tick`, which a step has just made: if the next re-simulation may well begin there, or it is
    /// due. States that are simulated `again` are due a quarter of the horizon after the last one: most of them will be simulated
    /// yet again, but with the end of the horizon all goes that lies before the next saved state.
    pub(super) fn save_next(&mut self, tick: Tick, oldest: Tick, again: bool) -> Option<SavedSlot> {
        let at_least = if again { self.bound } else { 0 };
        if !self.ring.has_all() && self.predictor.expects(tick) {
            return Some(self.ring.place_expected(tick));
        }
        self.ring.is_due(tick, oldest, at_least).then(|| self.ring.place(tick))
    }

    /// Where to save the state of `tick` aside, which is needed again before it is made anew; that of `present` stays there. In the
    /// ring another one of its stretch may take its place.
    pub(super) fn save_aside(&mut self, tick: Tick, present: Tick) -> Option<SavedSlot> {
        (!self.ring.has_all()).then(|| self.ring.place_aside(tick, present))
    }

    /// How the world comes to the state of `tick`, or to the newest saved one that is not newer, nor older than `oldest`; `None`
    /// where there is none.
    pub(super) fn go_back(&mut self, tick: Tick, oldest: Tick, purpose: Purpose) -> Option<GoBack> {
        if let Some(slot) = self.ring.take_aside(tick) {
            return Some(GoBack { to: tick, slot, takes: true });
        }
        let takes = match purpose {
            Purpose::Visit => false,
            Purpose::Resimulate => self.ring.expects(tick, oldest),
            Purpose::Rewrite => true,
        };
        let found =
            if takes { self.ring.take_newest_until(tick, oldest) } else { self.ring.newest_until(tick, oldest) };
        found.map(|(to, slot)| GoBack { to, slot, takes })
    }

    /// Of which tick the rows of other entities are that the world holds in the saved state of `tick`; what was saved before
    /// a switch has others.
    pub(super) fn proxies_in(&self, tick: Tick) -> Option<Tick> {
        tick.back(1).filter(|_| tick > self.switched)
    }
}
