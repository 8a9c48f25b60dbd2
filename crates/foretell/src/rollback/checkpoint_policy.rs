//! Which states of a timeline are remembered, and which of those are saved.
//!
//! Rows are remembered of every tick. A saved state takes long to copy where the world is large, so that there are few: one
//! at a fixed interval, and some where the next re-simulation may well begin. The world takes the newest of those that are not too
//! new as its own when that does begin, and copies others for the one after it.

use super::timeline::Timeline;
use crate::time::Tick;
use crate::world::World;

impl<W: World> Timeline<W> {
    /// Remembers the world's state as state `tick`.
    pub(super) fn keep(&mut self, world: &mut W, tick: Tick) {
        world.publish(&mut self.published);
        self.remember(tick);
    }

    /// Remembers what the world has just published as state `tick`.
    pub(super) fn remember(&mut self, tick: Tick) {
        self.published.settle();
        let index = self.index(tick);
        self.slots[index].rows.copy_predicted(&self.published, &self.predicted);
        self.slots[index].rewritten = false;
        self.checkpoints.forget(tick);
        self.world_at = tick;
        self.present = self.present.max(tick);
    }

    /// Saves the state of `tick`, which the world holds and with which a re-simulation begins, where the next one may well begin
    /// soon after it, or where no saved one is left that it could be made of soon. Those from before a switch don't count: others
    /// were predicted then.
    pub(super) fn save_first(&mut self, world: &W, tick: Tick) {
        let (since, bound) = (self.oldest.max(self.switched), self.bound());
        let is_missing = self.oldest <= tick && self.checkpoints.newest_until(tick, tick).is_none();
        if is_missing && (self.predictor.wants_first() || self.checkpoints.is_due(tick, since, bound)) {
            world.save(self.checkpoints.place(tick));
        }
        self.forget_old();
    }

    /// Saves the state of `tick`, which a step has just made, where the next re-simulation may well begin, or where it is
    /// due. States that are simulated `again` are due a quarter of the horizon after the last one: most of them will be simulated
    /// yet again, but with the end of the horizon all goes that lies before the next saved state.
    pub(super) fn save_next(&mut self, world: &W, tick: Tick, again: bool) {
        let at_least = if again { self.bound() } else { 0 };
        if !self.checkpoints.has_all() && self.predictor.expects(tick) {
            world.save(self.checkpoints.place_expected(tick));
        } else if self.checkpoints.is_due(tick, self.oldest, at_least) {
            world.save(self.checkpoints.place(tick));
        }
        self.forget_old();
    }

    /// How many ticks lie at most between two saved states where few are worth saving.
    fn bound(&self) -> u32 {
        if self.checkpoints.has_all() { 0 } else { self.horizon() / 4 }
    }

    /// What lies before the first saved state within the horizon can't be gone back to.
    fn forget_old(&mut self) {
        let oldest = self.oldest.max(self.present.back(self.horizon()).unwrap_or(Tick::ZERO));
        self.oldest = self.checkpoints.first_from(oldest, self.present).unwrap_or(self.present);
    }
}
