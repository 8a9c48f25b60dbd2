//! How the caller's world gets from one state of a timeline to another.

use super::checkpoints::Checkpoints;
use super::timeline::{Slot, Timeline};
use crate::time::Tick;
use crate::world::{RemovedRow, Side, Step, World};

impl<W: World> Timeline<W> {
    /// Brings the caller's world to the present, where a re-simulation has left it in the past.
    pub fn seek_present(&mut self, world: &mut W) {
        self.seek(world, self.present);
    }

    /// Brings the caller's world to the state of `tick`: loads the newest saved one that is not newer, and repeats the ticks
    /// from there as they were simulated.
    pub(super) fn seek(&mut self, world: &mut W, tick: Tick) {
        self.seek_by(world, tick, |checkpoints, world, oldest| {
            let (from, saved) = checkpoints.newest_until(tick, oldest)?;
            world.load(saved);
            Some(from)
        });
    }

    /// The same where a re-simulation begins or goes on: the world takes the state that was saved for it as its own.
    pub(super) fn seek_again(&mut self, world: &mut W, tick: Tick) {
        self.seek_by(world, tick, |checkpoints, world, oldest| {
            if checkpoints.expects(tick, oldest) {
                return take_newest(checkpoints, world, tick, oldest);
            }
            let (from, saved) = checkpoints.newest_until(tick, oldest)?;
            world.load(saved);
            Some(from)
        });
    }

    /// The same where the state of `tick` will be another: nobody goes back to before it, so that the world takes any saved
    /// state as its own.
    pub(super) fn seek_to_rewrite(&mut self, world: &mut W, tick: Tick) {
        self.seek_by(world, tick, |checkpoints, world, oldest| take_newest(checkpoints, world, tick, oldest));
    }

    /// `load` brings the world to a saved state that is not newer than `tick`, and says which.
    fn seek_by(
        &mut self,
        world: &mut W,
        tick: Tick,
        load: impl FnOnce(&mut Checkpoints<W::Saved>, &mut W, Tick) -> Option<Tick>,
    ) {
        if self.world_at == tick {
            return;
        }
        self.set_aside(world, tick);
        let from = match self.checkpoints.take_aside(tick) {
            Some(saved) => {
                world.take(saved);
                tick
            }
            None => load(&mut self.checkpoints, world, self.oldest).expect("the oldest state is saved"),
        };
        self.published.copy_rows(&self.slots[self.index(from)].rows);
        self.world_at = from;
        // What was saved before a switch has others.
        self.proxies_at = from.back(1).filter(|_| from > self.switched);
        for tick in from.until(tick) {
            self.repeat(world, tick);
        }
    }

    /// Before the world goes to the state of `next`: keeps the one that it is in, where it will be needed again and can't be
    /// made of a saved one. So the present if what it follows from is simulated again in several updates, and how far that
    /// has come.
    fn set_aside(&mut self, world: &W, next: Tick) {
        let at = self.world_at;
        let from = self.again_from.map_or(next, |settled| settled.min(next));
        let is_needed =
            if at == self.present { at.since(from) > self.budget } else { self.again_from == Some(at) && at < next };
        // In the ring another one of its stretch may take its place.
        if is_needed && !self.checkpoints.has_all() {
            world.save(self.checkpoints.place_aside(at, self.present));
        }
    }

    /// One tick again, with everything that it was simulated with before; what it comes to is known.
    pub(super) fn repeat(&mut self, world: &mut W, tick: Tick) {
        self.adopt_proxies(world, tick);
        let Slot { inputs, canonical, .. } = &self.slots[self.index(tick)];
        let step = Step::new(tick, self.rate, Side::Client(self.predicted.player()), inputs);
        world.step(&mut step.predicting(&self.predicted).on_canonical(*canonical).again());
        world.publish(&mut self.published);
        self.note_strays(tick);
        self.published.settle();
        self.world_at = tick.next();
        if self.slots[self.index(tick.next())].rewritten {
            self.rewrite_again(world, tick.next());
        }
    }

    /// Puts the rows of a state that was rewritten in the place of those that the step before has made, once more.
    fn rewrite_again(&mut self, world: &mut W, tick: Tick) {
        let rows = &self.slots[self.index(tick)].rows;
        self.adopting.copy_rows(rows);
        let predicted = self.published.iter().filter(|row| self.predicted.contains(row.owned()));
        for row in predicted.filter(|row| rows.words(row.key()).is_none()) {
            self.adopting.name_removed(RemovedRow { key: row.key(), owner: row.owner });
        }
        world.adopt(&self.adopting);
        self.published.copy_rows(rows);
        world.publish(&mut self.published);
        self.published.settle();
    }
}

fn take_newest<W: World>(
    checkpoints: &mut Checkpoints<W::Saved>,
    world: &mut W,
    tick: Tick,
    oldest: Tick,
) -> Option<Tick> {
    let (from, saved) = checkpoints.take_newest_until(tick, oldest)?;
    world.take(saved);
    Some(from)
}
