//! The predicting side of a world: states and inputs of the last ticks, and the re-simulation of them (R14, F2).

use super::checkpoints::Checkpoints;
use super::relayed::Relayed;
use super::rollback_predictor::RollbackPredictor;
use crate::time::{Tick, TickRate, TickRing};
use crate::world::{
    Effect, InputStatus, PlayerId, PlayerInput, Predicted, RemovedRow, RowKey, Rows, Schema, Side, Step, StepOutput,
    World,
};
use alloc::vec::Vec;
use core::time::Duration;

/// How many of its own inputs a client remembers at least: 16 s at 64 Hz, the article's ring (R14). Never fewer than
/// states.
pub const INPUTS_KEPT: u32 = 1024;

/// In how long a guessed input decays to the neutral one when nothing is told any more.
const GUESS_DECAYS_IN: Duration = Duration::from_millis(150);

/// One tick of history. Slot `n` holds state `n` and what makes state `n + 1` of it.
pub(super) struct Slot<W: World> {
    /// The predicted entities' rows of this state.
    pub(super) rows: Rows,
    /// The rows of other entities that were written before the step.
    pub(super) proxies: Rows,
    /// The inputs that the step was given, ascending by player.
    pub(super) inputs: Vec<PlayerInput<W::Input>>,
    /// Whether the step was [canonical](Step::canonical).
    pub(super) canonical: bool,
    /// Whether this state was put in the place of the one that the step before had made.
    pub(super) rewritten: bool,
    /// What the step said.
    pub(super) output: StepOutput,
}

/// The states of the last ticks of one world, with the inputs that led from each to the next.
///
/// Invariants: slots exist for every state from `oldest` to `present`; each is consistent with the one before it, but where a
/// re-simulation is under way; state `oldest` is saved, or the world holds it. The next re-simulated tick is not older, or lies
/// on the side: one that takes long enough may be left behind.
pub struct Timeline<W: World> {
    pub(super) predicted: Predicted,
    pub(super) rate: TickRate,
    pub(super) slots: Vec<Slot<W>>,
    pub(super) checkpoints: Checkpoints<W::Saved>,
    /// The canonical ticks that are known, ascending, of about two horizons.
    pub(super) canonical: Vec<Tick>,
    /// How many ticks the next re-simulation is allowed.
    pub(super) budget: u32,
    pub(super) predictor: RollbackPredictor,
    /// The last state that was switched in, or begun with: what is saved of the time before is of other entities.
    pub(super) switched: Tick,
    /// The own ones, by tick.
    inputs: TickRing<PlayerInput<W::Input>>,
    /// Those of the others.
    pub(super) relayed: Relayed<W::Input>,
    pub(super) oldest: Tick,
    pub(super) present: Tick,
    /// The first tick that was never simulated.
    unseen: Tick,
    /// The state that the caller's world holds.
    pub(super) world_at: Tick,
    /// Of which tick the rows of other entities are that it holds, where that is known.
    pub(super) proxies_at: Option<Tick>,
    /// Rows of other entities that the last step has changed, though it was not to.
    strays: Vec<RowKey>,
    /// The next tick to simulate again, when a re-simulation is under way.
    pub(super) again_from: Option<Tick>,
    /// The rows that the world has published up to `world_at`.
    pub(super) published: Rows,
    pub(super) adopting: Rows,
}

impl<W: World> Timeline<W> {
    /// A timeline of `player` that remembers the rows of the last `horizon` ticks, and saves the world where it was not saved
    /// for `checkpoint_every` ticks (0 counts as 1); of what is simulated again, up to four states where the next re-simulation may
    /// well begin, the more the fewer that is, and one in a quarter of the horizon. Empty until [`begin`](Timeline::begin). A state in between is made of the saved one before it, so that as
    /// many ticks less may be remembered as lie between two saved ones, and a rewrite may end what is remembered before it.
    pub fn new(schema: &Schema, player: PlayerId, rate: TickRate, horizon: u32, checkpoint_every: u32) -> Timeline<W> {
        let slot = |_| Slot {
            rows: Rows::new(schema),
            proxies: Rows::new(schema),
            inputs: Vec::with_capacity(1),
            canonical: false,
            rewritten: false,
            output: StepOutput::with_room(),
        };
        Timeline {
            predicted: Predicted::own(player),
            rate,
            slots: (0..=horizon.max(1)).map(slot).collect(),
            checkpoints: Checkpoints::new(checkpoint_every.min(horizon.max(1)), horizon.max(1)),
            canonical: Vec::new(),
            budget: u32::MAX,
            predictor: RollbackPredictor::new(checkpoint_every, horizon / 4),
            switched: Tick::ZERO,
            inputs: TickRing::new(INPUTS_KEPT.max(horizon + 1) as usize),
            relayed: Relayed::new(horizon.max(1), rate.ticks_in(GUESS_DECAYS_IN)),
            oldest: Tick::ZERO,
            present: Tick::ZERO,
            unseen: Tick::ZERO,
            world_at: Tick::ZERO,
            proxies_at: None,
            strays: Vec::new(),
            again_from: None,
            published: Rows::new(schema),
            adopting: Rows::new(schema),
        }
    }

    /// Starts with the world's state as state `tick`: forgets all older states, keeps the inputs.
    pub fn begin(&mut self, world: &mut W, tick: Tick) {
        (self.oldest, self.present, self.world_at, self.again_from) = (tick, tick, tick, None);
        self.proxies_at = None;
        self.published.clear();
        self.switched = tick;
        self.checkpoints.forget_aside(None);
        self.predictor.restart(tick);
        self.keep(world, tick);
        self.save_first(world, tick);
    }

    /// Takes over the caller's world from another timeline: what that one has made of it is gone with the next
    /// [`restart`](Timeline::restart), where the authority does not name it.
    pub fn follow(&mut self, former: &Timeline<W>) {
        self.published.copy_rows(&former.published);
    }

    /// Starts again from an authority's full state of `tick` (with the names of what is gone), and replays the stored
    /// inputs up to state `until`; where none is stored the neutral one is used. Returns how many ticks it simulated:
    /// all of them at once, whatever their number.
    pub fn restart(&mut self, world: &mut W, tick: Tick, full: &Rows, until: Tick) -> u32 {
        self.adopting.clone_from(full);
        missing(&self.published, full).for_each(|row| self.adopting.name_removed(row));
        world.adopt(&self.adopting);
        self.begin(world, tick);
        for tick in tick.until(until) {
            let slot = self.index(tick);
            self.slots[slot].proxies.clear();
            self.run(world, tick);
        }
        until.since(tick)
    }

    /// The state that is newest; also the number of the next tick to run.
    pub fn present(&self) -> Tick {
        self.present
    }

    /// The rate of the ticks.
    pub fn rate(&self) -> TickRate {
        self.rate
    }

    /// How many ticks back states are remembered.
    pub fn horizon(&self) -> u32 {
        u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
    }

    /// The oldest state that is remembered.
    pub fn oldest(&self) -> Tick {
        self.oldest
    }

    /// Whose entities are predicted.
    pub fn predicted(&self) -> &Predicted {
        &self.predicted
    }

    /// The predicted entities' rows of state `tick`; `None` outside of what is remembered.
    pub fn rows(&self, tick: Tick) -> Option<&Rows> {
        (self.oldest <= tick && tick <= self.present).then(|| &self.slots[self.index(tick)].rows)
    }

    /// The own stored input of `tick`; `None` where none was given.
    pub fn input(&self, tick: Tick) -> Option<&PlayerInput<W::Input>> {
        self.inputs.get(tick)
    }

    /// The newest state that is consistent with everything before it: the present, or how far the re-simulation is.
    pub fn settled(&self) -> Tick {
        self.again_from.unwrap_or(self.present)
    }

    /// Remembers the own input of a tick that has not run.
    pub fn give(&mut self, tick: Tick, input: PlayerInput<W::Input>) {
        self.inputs.set(tick, input);
    }

    /// Runs the next tick with the input that was [given](Timeline::give) for it, or the neutral one, after writing the
    /// rows of other entities. What differs from those of the call before is among their [`changed`](Rows::changed) and
    /// [`removed`](Rows::removed).
    pub fn advance(&mut self, world: &mut W, proxies: &Rows) {
        self.seek(world, self.present);
        let slot = self.index(self.present);
        self.slots[slot].proxies.clone_from(proxies);
        self.run(world, self.present);
    }

    /// Replaces the predicted entities' state of `tick` by the authority's: those not in `authority` cease to exist.
    /// What follows `tick` is inconsistent until [`resimulate`](Timeline::resimulate) has reached the present. Call that
    /// before anything else, and with no smaller budget than was [allowed](Timeline::allow), or the last time: where not every
    /// tick is saved, the present one is kept only if that budget does not suffice.
    ///
    /// # Panics
    /// When `tick` is not remembered.
    pub fn rewrite(&mut self, world: &mut W, tick: Tick, authority: &Rows) {
        self.rewrite_with(world, tick, authority, None);
    }

    /// The same; the world is told of entities that are gone without ever having been predicted.
    pub(super) fn rewrite_with(&mut self, world: &mut W, tick: Tick, authority: &Rows, dropped: Option<&[RemovedRow]>) {
        assert!(self.oldest <= tick && tick <= self.present, "only a remembered state can be rewritten");
        self.seek_to_rewrite(world, tick);
        if dropped.is_some() {
            self.proxies_at = None;
        }
        let slot = self.index(tick);
        self.adopting.copy_rows(authority);
        missing(&self.slots[slot].rows, authority).for_each(|row| self.adopting.name_removed(row));
        dropped.into_iter().flatten().for_each(|row| self.adopting.name_removed(*row));
        world.adopt(&self.adopting);
        self.published.copy_rows(authority);
        self.checkpoints.forget_aside(Some(self.present).filter(|present| *present != tick));
        self.predictor.note(tick);
        self.keep(world, tick);
        self.save_first(world, tick);
        self.slots[slot].rewritten = true;
        self.again_from = (tick < self.present).then_some(tick);
    }

    /// The next re-simulation may run so many ticks at once.
    pub fn allow(&mut self, budget: u32) {
        self.budget = budget;
    }

    /// Simulates again up to `budget` ticks of what a rewrite has made inconsistent. Returns how many it ran.
    pub fn resimulate(&mut self, world: &mut W, budget: u32) -> u32 {
        self.allow(budget);
        self.simulate_again(world, budget)
    }

    /// The same, whatever the next one may run.
    pub(super) fn simulate_again(&mut self, world: &mut W, budget: u32) -> u32 {
        let Some(from) = self.again_from else { return 0 };
        if self.world_at != from {
            self.seek_again(world, from);
            self.save_first(world, from);
        }
        let until = self.present.min(from + budget);
        for tick in from.until(until) {
            self.run(world, tick);
        }
        self.again_from = (until < self.present).then_some(until);
        if self.again_from.is_none() {
            self.checkpoints.forget_aside(None);
        }
        until.since(from)
    }

    /// What happened in the step of `tick` when it was last simulated; nothing outside of what is remembered.
    pub fn effects(&self, tick: Tick) -> &[Effect] {
        let is_remembered = self.oldest <= tick && tick < self.present;
        if is_remembered { &self.slots[self.index(tick)].output.effects } else { &[] }
    }

    /// One tick, from the state `tick`, which the world holds, to the next.
    pub(super) fn run(&mut self, world: &mut W, tick: Tick) {
        let first_time = tick >= self.unseen;
        self.unseen = self.unseen.max(tick.next());
        let index = self.index(tick);
        self.gather_inputs(tick);
        let output = core::mem::take(&mut self.slots[index].output);
        self.slots[index].canonical = self.canonical.binary_search(&tick).is_ok();
        self.adopt_proxies(world, tick);
        let Slot { inputs, canonical, .. } = &self.slots[index];
        let step = Step::new(tick, self.rate, Side::Client(self.predicted.player()), inputs);
        let step = step.predicting(&self.predicted).with_output(output).on_canonical(*canonical);
        let mut step = if first_time { step } else { step.again() };
        world.step(&mut step);
        self.slots[index].output = step.into_output();
        let again = tick < self.present;
        world.publish(&mut self.published);
        self.note_strays(tick);
        self.remember(tick.next());
        self.save_next(world, tick.next(), again);
    }

    /// Writes the rows of other entities for the step of `tick`: all of them, or what differs from those of the tick before,
    /// where the world has these.
    pub(super) fn adopt_proxies(&mut self, world: &mut W, tick: Tick) {
        let proxies = &self.slots[self.index(tick)].proxies;
        let has_those_before = self.proxies_at.is_some_and(|at| at.next() == tick);
        self.proxies_at = Some(tick);
        if !has_those_before {
            if !proxies.is_empty() || !proxies.removed().is_empty() {
                world.adopt(proxies);
            }
            return;
        }
        self.adopting.clear();
        let rows = proxies.changed().iter().chain(&self.strays).filter_map(|key| proxies.get(*key));
        rows.for_each(|row| self.adopting.set_words(row));
        proxies.removed().iter().for_each(|gone| self.adopting.name_removed(*gone));
        if !self.adopting.is_empty() || !self.adopting.removed().is_empty() {
            world.adopt(&self.adopting);
        }
    }

    /// Remembers what the step of `tick` has made of rows that were written before it: they are written again.
    pub(super) fn note_strays(&mut self, tick: Tick) {
        let proxies = &self.slots[tick.get() as usize % self.slots.len()].proxies;
        let published = &self.published;
        let removed = published.removed().iter().map(|gone| &gone.key);
        let named = published.changed().iter().chain(removed);
        let is_stray = |key: &&RowKey| proxies.get(**key).is_some_and(|told| published.get(**key) != Some(told));
        self.strays.clear();
        self.strays.extend(named.filter(is_stray));
    }

    /// The inputs of `tick` as they are known now.
    fn gather_inputs(&mut self, tick: Tick) {
        let index = self.index(tick);
        let mut inputs = core::mem::take(&mut self.slots[index].inputs);
        inputs.clear();
        inputs.extend(self.predicted.stepped().iter().filter_map(|player| self.input_of(*player, tick)));
        self.slots[index].inputs = inputs;
    }

    /// The input of a predicted player as it is known now: the own one, or what was told or is guessed of another's.
    pub(super) fn input_of(&self, player: PlayerId, tick: Tick) -> Option<PlayerInput<W::Input>> {
        let neutral = PlayerInput { player, input: W::Input::default(), status: InputStatus::Neutral, presented: None };
        match player {
            PlayerId::SERVER => None,
            own if own == self.predicted.player() => match self.relayed.told(own, tick) {
                // The authority had none in time.
                Some(told) => told.input.map(|input| PlayerInput { input, status: told.status, ..neutral }),
                None => Some(self.input(tick).copied().unwrap_or(neutral)),
            },
            other => self.relayed.input(other, tick),
        }
    }

    pub(super) fn index(&self, tick: Tick) -> usize {
        tick.get() as usize % self.slots.len()
    }
}

/// The rows of `before` that are not in `after`, ascending; mostly none, which is soon seen.
fn missing(before: &Rows, after: &Rows) -> impl Iterator<Item = RemovedRow> {
    let are_same = before.iter().map(|row| row.key()).eq(after.iter().map(|row| row.key()));
    let gone = before.iter().filter(move |row| !are_same && after.words(row.key()).is_none());
    gone.map(|row| RemovedRow { key: row.key(), owner: row.owner })
}
