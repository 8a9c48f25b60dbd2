//! What is known of the caller's world: which state of a timeline it is in, and with which rows; and its steps.

use super::client_rewind_source::ClientRewindSource;
use super::input_history::StepInputs;
use super::optimistic_changes::{OptimisticChanges, Simulated};
use super::state_history::{Slot, StateHistory};
use crate::time::{Tick, TickRate};
use crate::world::{
    PlayerId, PredictionSet, ReceivedMessage, RemovedRow, Row, RowKey, Rows, Schema, Side, Step, World,
};
use alloc::vec::Vec;
use core::mem;

/// What a world gives and takes besides its steps, whatever its inputs are: code that needs no more is compiled once, and not with each
/// game.
pub(super) trait ExchangesRows {
    /// As [`World::publish`].
    fn publish(&mut self, rows: &mut Rows);
    /// As [`World::adopt`].
    fn adopt(&mut self, rows: &Rows);
    /// As [`World::adopt_known`].
    fn adopt_known(&mut self, rows: &Rows);
}

impl<W: World> ExchangesRows for W {
    fn publish(&mut self, rows: &mut Rows) {
        World::publish(self, rows);
    }

    fn adopt(&mut self, rows: &Rows) {
        World::adopt(self, rows);
    }

    fn adopt_known(&mut self, rows: &Rows) {
        World::adopt_known(self, rows);
    }
}

/// A step, and what it is given.
pub(super) struct GivenStep<'a, I> {
    pub tick: Tick,
    pub inputs: &'a StepInputs<I>,
    pub messages: &'a [ReceivedMessage],
}

/// Which state the caller's world is in, and what of it is known.
///
/// Invariant: `published` are the rows that the world has published up to state `at`, and what it was given of others, settled.
pub(super) struct WorldDriver {
    schema: Schema,
    rate: TickRate,
    /// Whose entities its steps move.
    predicted: PredictionSet,
    /// The state that it is in.
    at: Tick,
    /// The first tick that was never simulated.
    unseen: Tick,
    /// Of which tick the rows of other entities are that it holds, where that is known.
    proxies_at: Option<Tick>,
    /// Rows of other entities that the last step has changed, though it was not to.
    strays: Vec<RowKey>,
    /// What of them its own player has changed ahead of the authority.
    pub(super) changes: OptimisticChanges,
    published: Rows,
    /// What it is told to adopt next; kept for its memory.
    adopting: Rows,
}

impl WorldDriver {
    /// Of a world in which the entities of `player` alone are predicted.
    pub(super) fn new(schema: &Schema, player: PlayerId, rate: TickRate) -> WorldDriver {
        WorldDriver {
            schema: schema.clone(),
            rate,
            predicted: PredictionSet::own(player),
            at: Tick::ZERO,
            unseen: Tick::ZERO,
            proxies_at: None,
            strays: Vec::new(),
            changes: OptimisticChanges::new(schema),
            published: Rows::new(schema),
            adopting: Rows::new(schema),
        }
    }

    /// The rate of the ticks.
    pub(super) fn rate(&self) -> TickRate {
        self.rate
    }

    /// The state that the world is in.
    pub(super) fn at(&self) -> Tick {
        self.at
    }

    /// Whose entities its steps move.
    pub(super) fn predicted(&self) -> &PredictionSet {
        &self.predicted
    }

    /// Its steps move other entities from now on.
    pub(super) fn predict(&mut self, predicted: &PredictionSet) {
        self.predicted.clone_from(predicted);
    }

    /// The rows that it has published.
    pub(super) fn published(&self) -> &Rows {
        &self.published
    }

    /// Takes over what another driver knows of the same world.
    pub(super) fn follow(&mut self, former: &WorldDriver) {
        self.published.copy_rows(&former.published);
    }

    /// The world, whatever it has done before, is in state `tick`.
    pub(super) fn begin(&mut self, world: &mut dyn ExchangesRows, tick: Tick) {
        self.at = tick;
        self.proxies_at = None;
        self.changes.clear();
        self.published.clear();
        self.publish(world);
    }

    /// The world has been brought to the state of `tick`, of which these are the predicted rows, and with the rows of other
    /// entities of the tick `proxies_at`, where that is known.
    pub(super) fn loaded(&mut self, tick: Tick, rows: &Rows, proxies_at: Option<Tick>) {
        self.at = tick;
        // What was saved may hold what its player has changed, and is taken back by now.
        self.proxies_at = proxies_at.filter(|_| self.changes.is_empty());
        self.published.copy_rows(rows);
    }

    /// The rows of other entities that the world holds are to be written anew before the next step.
    pub(super) fn forget_proxies(&mut self) {
        self.proxies_at = None;
    }

    /// Gives the world all rows of an authority's state, and takes the others away.
    pub(super) fn adopt_all(&mut self, world: &mut dyn ExchangesRows, full: &Rows) {
        self.adopting.clone_from(full);
        missing(&self.published, full).for_each(|row| self.adopting.name_removed(row));
        world.adopt(&self.adopting);
    }

    /// Puts `after` in the place of the predicted rows `before` of the state that the world is in; it is told of what is
    /// `dropped` besides.
    pub(super) fn replace(
        &mut self,
        world: &mut dyn ExchangesRows,
        before: &Rows,
        after: &Rows,
        dropped: &[RemovedRow],
    ) {
        self.adopting.copy_rows(after);
        missing(before, after).for_each(|row| self.adopting.name_removed(row));
        dropped.iter().for_each(|row| self.adopting.name_removed(*row));
        world.adopt(&self.adopting);
        self.published.copy_rows(after);
        self.publish(world);
    }

    /// A step, which makes the next state of the one that the world is in; fills in what it has said.
    pub(super) fn step<W: World>(&mut self, world: &mut W, given: &GivenStep<'_, W::Input>, slot: &mut Slot) {
        let tick = given.tick;
        let first_time = tick >= self.unseen;
        self.unseen = self.unseen.max(tick.next());
        self.begin_step(world, tick, &slot.proxies);
        let output = mem::take(&mut slot.output);
        let others = self.others(&slot.proxies);
        let step = Step::new(tick, self.rate, Side::Client(self.predicted.player()), &given.inputs.inputs);
        let step = step.with_messages(given.messages).predicting(&self.predicted).looking_back(&others, &[]);
        let step = step.with_output(output).on_canonical(given.inputs.canonical).refusing(self.changes.refused());
        let mut step = if first_time { step } else { step.again() };
        world.step(&mut step);
        slot.output = step.into_output();
        self.end_step(world, tick, slot);
    }

    /// A step again, with everything that it was given before; what it comes to is known.
    pub(super) fn repeat<W: World>(&mut self, world: &mut W, given: &GivenStep<'_, W::Input>, history: &StateHistory) {
        let (tick, proxies) = (given.tick, &history.slot(given.tick).proxies);
        self.begin_step(world, tick, proxies);
        let others = self.others(proxies);
        let step = Step::new(tick, self.rate, Side::Client(self.predicted.player()), &given.inputs.inputs);
        let step = step.with_messages(given.messages).predicting(&self.predicted).looking_back(&others, &[]);
        world.step(&mut step.on_canonical(given.inputs.canonical).refusing(self.changes.refused()).again());
        self.end_repeated(world, tick, history);
    }

    /// Before a step the rows of others are written.
    fn begin_step(&mut self, world: &mut dyn ExchangesRows, tick: Tick, proxies: &Rows) {
        self.adopt_others(world, tick, proxies);
        self.changes.begin_step(tick);
    }

    /// Takes in what a step has made.
    fn end_step(&mut self, world: &mut dyn ExchangesRows, tick: Tick, slot: &Slot) {
        world.publish(&mut self.published);
        self.take_back_owners(world, slot);
        self.changes.end_step(tick, &slot.output.changes, &self.published, &slot.proxies);
        self.take_published(world, tick, &slot.proxies);
    }

    /// The same of one that was repeated; where the state after it was rewritten, it is once more.
    fn end_repeated(&mut self, world: &mut dyn ExchangesRows, tick: Tick, history: &StateHistory) {
        world.publish(&mut self.published);
        self.take_back_owners(world, history.slot(tick));
        self.take_published(world, tick, &history.slot(tick).proxies);
        let next = history.slot(tick.next());
        if next.rewritten {
            self.rewrite_again(world, &next.rows);
        }
    }

    /// What the next step finds of others, before which these rows of them are written.
    fn others<'a>(&'a self, proxies: &'a Rows) -> ClientRewindSource<'a> {
        ClientRewindSource { proxies, published: &self.published, predicted: &self.predicted, schema: &self.schema }
    }

    /// Whether the predicted rows that the world has published are these.
    pub(super) fn has(&mut self, rows: &Rows) -> bool {
        self.adopting.copy_predicted(&self.published, &self.predicted);
        self.adopting.iter().eq(rows.iter())
    }

    /// Puts the rows of a state that was rewritten in the place of those that the step before has made, once more.
    fn rewrite_again(&mut self, world: &mut dyn ExchangesRows, rows: &Rows) {
        self.adopting.copy_rows(rows);
        let predicted = self.published.predicted(&self.predicted);
        for row in predicted.filter(|row| rows.words(row.key()).is_none()) {
            self.adopting.name_removed(row.removed());
        }
        world.adopt(&self.adopting);
        self.published.copy_rows(rows);
        self.publish(world);
    }

    /// Writes the rows of other entities for the step of `tick`, and over them what its player has changed.
    fn adopt_others(&mut self, world: &mut dyn ExchangesRows, tick: Tick, proxies: &Rows) {
        self.adopt_proxies(world, tick, proxies);
        if !self.changes.is_empty() {
            let simulated = Simulated { predicted: &self.predicted, published: &self.published };
            self.changes.write(tick, simulated, proxies, &mut self.adopting);
            Self::adopt_into(world, &mut self.published, &self.adopting);
        }
    }

    /// Writes the rows of other entities as they are shown: all of them, or what differs from those of the tick before, where the
    /// world has these and that is less.
    fn adopt_proxies(&mut self, world: &mut dyn ExchangesRows, tick: Tick, proxies: &Rows) {
        let has_those_before = self.proxies_at.is_some_and(|at| at.next() == tick);
        self.proxies_at = Some(tick);
        // Where most are other ones, all are given at once.
        if !has_those_before || proxies.changed().len() > proxies.len() / 2 {
            return Self::adopt_into(world, &mut self.published, proxies);
        }
        self.adopting.clear();
        let mut next = 0;
        let rows = proxies.changed().iter().chain(&self.strays).filter_map(|key| proxies.get_near(*key, &mut next));
        rows.for_each(|row| self.adopting.set_words(row));
        proxies.removed().iter().for_each(|gone| self.adopting.name_removed(*gone));
        Self::adopt_into(world, &mut self.published, &self.adopting);
    }

    /// Whose something is a client is told, but where everything is predicted: what a step has given to its own player or taken from
    /// them stays whose it was, in all rows that it had before.
    fn take_back_owners(&mut self, world: &mut dyn ExchangesRows, slot: &Slot) {
        if self.predicted.has_all() {
            return;
        }
        let WorldDriver { published, predicted, adopting, .. } = self;
        let own = predicted.player();
        adopting.clear();
        let (mut next, mut next_told, mut next_own) = (0, 0, 0);
        for key in published.changed() {
            let Some(row) = published.get_near(*key, &mut next) else { continue };
            let told = slot.proxies.get_near(*key, &mut next_told);
            let known = told.or_else(|| slot.rows.get_near(*key, &mut next_own)).map(|before| before.owner);
            // It may have this row from this step on.
            let of_another_row = || slot.proxies.owner(key.entity).or(slot.rows.owner(key.entity));
            let Some(owner) = known.or_else(of_another_row).filter(|owner| *owner != row.owner) else { continue };
            if owner == own || row.owner == own {
                adopting.set_words(Row { owner, ..row });
            }
        }
        Self::adopt_into(world, published, adopting);
    }

    /// Gives the world these rows, and takes them for published.
    fn adopt_into(world: &mut dyn ExchangesRows, published: &mut Rows, rows: &Rows) {
        if !rows.is_empty() || !rows.removed().is_empty() {
            world.adopt_known(rows);
            published.adopt(rows);
        }
    }

    /// Takes in what the step of `tick` has published, before which these rows of other entities were written. What it has made of
    /// those is remembered: they are written again. What it has spawned of a kind that is never predicted, or put beside what is, is taken away.
    fn take_published(&mut self, world: &mut dyn ExchangesRows, tick: Tick, proxies: &Rows) {
        let published = &self.published;
        let removed = published.removed().iter().map(|gone| &gone.key);
        let named = published.changed().iter().chain(removed);
        let (mut next, mut next_told) = (0, 0);
        let is_stray = |key: &&RowKey| {
            let told = proxies.get_near(**key, &mut next_told);
            told.is_some() && told != published.get_near(**key, &mut next)
        };
        self.strays.clear();
        self.strays.extend(named.filter(is_stray));
        let simulated = Simulated { predicted: &self.predicted, published: &self.published };
        self.strays.extend(self.changes.keys(tick, simulated));
        self.adopting.clear();
        let is_made = |key: &&RowKey| published.is_never_predicted(key.component) && proxies.words(**key).is_none();
        for made in published.changed().iter().filter(is_made) {
            // With all that it was spawned with; of another variant it stays.
            let is_new = made.entity.tick() == tick;
            let is_variant = || self.schema.other_variants(*made).next().is_some();
            let rows = published.of(made.entity).filter(|row| is_new || row.key() == *made && !is_variant());
            rows.for_each(|row| self.adopting.name_removed(row.removed()));
        }
        self.published.settle();
        if !self.adopting.removed().is_empty() {
            world.adopt(&self.adopting);
            self.publish(world);
        }
        self.at = tick.next();
    }

    fn publish(&mut self, world: &mut dyn ExchangesRows) {
        world.publish(&mut self.published);
        self.published.settle();
    }
}

/// The rows of `before` that are not in `after`, ascending; mostly none, which is soon seen.
fn missing(before: &Rows, after: &Rows) -> impl Iterator<Item = RemovedRow> {
    let are_same = before.iter().map(|row| row.key()).eq(after.iter().map(|row| row.key()));
    let gone = before.iter().filter(move |row| !are_same && after.words(row.key()).is_none());
    gone.map(|row| row.removed())
}

#[cfg(test)]
mod tests;
