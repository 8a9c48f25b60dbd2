//! Which states of a timeline are remembered, and which of those are saved.
//!
//! Rows are remembered of every tick. A saved state takes long to copy where the world is large, so that there are few: one
//! every so many ticks, and one where the next re-simulation will probably begin. The world takes that one as its own when the
//! re-simulation does begin there, and copies the next: one copy, no ticks that are repeated to get there.

use super::World;
use super::timeline::Timeline;
use crate::time::Tick;

/// Where re-simulations have begun.
#[derive(Default)]
pub(super) struct Beginnings {
    last: Tick,
    /// How far apart the last four were, in ticks; the newest first.
    apart: [u32; 3],
}

impl Beginnings {
    pub(super) fn note(&mut self, tick: Tick) {
        let apart = tick.since(self.last);
        if apart > 0 {
            self.apart = [apart, self.apart[0], self.apart[1]];
        }
        self.last = tick;
    }

    /// Where the next one probably begins: as far from the last as those before from each other. The shortest distance
    /// counts: from a saved state that is too old the ticks up to the beginning are repeated, one that is too new is of no use.
    fn next(&self) -> Tick {
        self.last + self.apart.into_iter().min().unwrap_or(0)
    }
}

impl<W: World> Timeline<W> {
    /// Remembers the world's state as state `tick`.
    pub(super) fn keep(&mut self, world: &W, tick: Tick) {
        world.publish(&mut self.published);
        self.published.settle();
        let index = self.index(tick);
        self.slots[index].rows.copy_predicted(&self.published, &self.predicted);
        self.slots[index].rewritten = false;
        self.checkpoints.forget(tick);
        self.world_at = tick;
        self.present = self.present.max(tick);
    }

    /// Saves the state of `tick`, which the world holds and with which a re-simulation begins, where no saved one is left that it
    /// could be made of soon. Those from before a switch don't count: others were predicted then.
    pub(super) fn save_first(&mut self, world: &W, tick: Tick) {
        if self.oldest <= tick && self.checkpoints.is_bare(tick, self.oldest.max(self.switched)) {
            world.save(self.checkpoints.place(tick));
        }
        self.forget_old();
    }

    /// Saves the state of `tick`, which a step has just made, where the next re-simulation is expected to begin, or where it is
    /// due. States that are simulated `again` are due a quarter of the horizon after the last one: most of them will be simulated
    /// yet again, but with the end of the horizon all goes that lies before the next saved state.
    pub(super) fn save_next(&mut self, world: &W, tick: Tick, again: bool) {
        let has_all = self.checkpoints.has_all();
        let at_least = if again && !has_all { self.horizon() / 4 } else { 0 };
        if !has_all && tick == self.beginnings.next() {
            world.save(self.checkpoints.place_expected(tick));
        } else if self.checkpoints.is_due(tick, self.oldest, at_least) {
            world.save(self.checkpoints.place(tick));
        }
        self.forget_old();
    }

    /// What lies before the first saved state within the horizon can't be gone back to.
    fn forget_old(&mut self) {
        let oldest = self.oldest.max(self.present.back(self.horizon()).unwrap_or(Tick::ZERO));
        self.oldest = self.checkpoints.first_from(oldest, self.present).unwrap_or(self.present);
    }
}
