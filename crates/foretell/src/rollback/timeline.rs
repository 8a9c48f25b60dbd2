//! The predicting side of a world: states and inputs of the last ticks, and the re-simulation of them (R14, F2).

use super::checkpoint_schedule::Purpose;
use super::checkpoints::Checkpoints;
use super::input_history::{InputHistory, Outdated, others};
use super::optimistic_changes::{FoundChanges, OptimisticChanges};
use super::remote_inputs::RelayedInput;
use super::resimulation_progress::ResimulationProgress;
use super::state_history::StateHistory;
use super::step_messages::StepMessages;
use super::world_driver::{GivenStep, WorldDriver};
use crate::time::{Tick, TickRate};
use crate::world::{
    Effect, Entity, PlayerId, PlayerInput, PredictionSet, ReceivedMessage, RemovedRow, Rows, Schema, World,
};
use alloc::vec::Vec;

/// The states of the last ticks of one world, with the inputs that led from each to the next.
///
/// Invariants: each state is consistent with the one before it, but where a re-simulation is under way; the oldest to go back to
/// is saved, or the world holds it. The next re-simulated tick is not older, or lies on the side: one that takes long enough
/// may be left behind.
pub struct Timeline<W: World> {
    history: StateHistory,
    inputs: InputHistory<W::Input>,
    messages: StepMessages,
    checkpoints: Checkpoints<W::Saved>,
    /// Where the caller's world is.
    cursor: WorldDriver,
    resimulation: ResimulationProgress,
}

impl<W: World> Timeline<W> {
    /// A timeline of `player` that remembers the rows of the last `horizon` ticks, and saves the world where it was not saved
    /// for `checkpoint_every` ticks (0 counts as 1); of what is simulated again, up to four states where the next re-simulation may
    /// well begin, the more the fewer that is, and one in a quarter of the horizon. Empty until [`begin`](Timeline::begin). A state
    /// in between is made of the saved one before it: of as many ticks less can be gone back to as lie between two saved ones.
    pub fn new(schema: &Schema, player: PlayerId, rate: TickRate, horizon: u32, checkpoint_every: u32) -> Timeline<W> {
        let horizon = horizon.max(1);
        Timeline {
            history: StateHistory::new(schema, horizon),
            inputs: InputHistory::new(horizon, rate),
            messages: StepMessages::default(),
            checkpoints: Checkpoints::new(checkpoint_every, horizon),
            cursor: WorldDriver::new(schema, player, rate),
            resimulation: ResimulationProgress::none(),
        }
    }

    /// Starts with the world's state as state `tick`: forgets all older states, keeps the inputs.
    pub fn begin(&mut self, world: &mut W, tick: Tick) {
        self.history.begin(tick);
        self.resimulation.stop();
        self.checkpoints.schedule.begin(tick);
        self.cursor.begin(world, tick);
        self.record(tick);
        self.save_first(world, tick);
    }

    /// Takes over another timeline's world: what that has made of it, and the authority does not name, the next restart removes.
    pub fn follow(&mut self, former: &Timeline<W>) {
        self.cursor.follow(&former.cursor);
    }

    /// Starts again from an authority's full state of `tick` (with the names of what is gone), and replays the stored inputs up to
    /// state `until`, the neutral one where none is stored. Returns how many ticks it simulated: all at once, whatever their number.
    pub fn restart(&mut self, world: &mut W, tick: Tick, full: &Rows, until: Tick) -> u32 {
        self.cursor.adopt_all(world, full);
        self.begin(world, tick);
        for tick in tick.until(until) {
            self.history.proxies_mut(tick).clear();
            self.run(world, tick);
        }
        until.since(tick)
    }

    /// Nothing is simulated again from before state `tick` any more: the authority's is known, and what it tells later is of later ones.
    /// What that would take, of which there may be much, is forgotten; the rows of predicted entities stay.
    pub fn confirm(&mut self, tick: Tick) {
        let saved = self.checkpoints.schedule.newest_that_stays(tick.min(self.settled()), self.oldest());
        saved.into_iter().for_each(|saved| self.forget_before(saved));
    }

    /// The state that is newest; also the number of the next tick to run.
    pub fn present(&self) -> Tick {
        self.history.present()
    }

    /// The rate of the ticks.
    pub fn rate(&self) -> TickRate {
        self.cursor.rate()
    }

    /// How many ticks back states are remembered.
    pub fn horizon(&self) -> u32 {
        self.history.horizon()
    }

    /// The oldest state that can be gone back to.
    pub fn oldest(&self) -> Tick {
        self.history.oldest()
    }

    /// Whose entities are predicted.
    pub fn predicted(&self) -> &PredictionSet {
        self.cursor.predicted()
    }

    /// The predicted entities' rows of state `tick`; `None` before the horizon and where nothing has begun.
    pub fn rows(&self, tick: Tick) -> Option<&Rows> {
        self.history.rows(tick)
    }

    /// What of others the own player has changed ahead of the authority, as the next step finds it.
    pub(crate) fn changes(&self) -> FoundChanges<'_> {
        FoundChanges { changes: &self.cursor.changes, tick: self.present() }
    }

    pub(crate) fn changes_mut(&mut self) -> &mut OptimisticChanges {
        &mut self.cursor.changes
    }

    /// What happened in the step of `tick` when it was last simulated; nothing outside of what can be gone back to.
    pub fn effects(&self, tick: Tick) -> &[Effect] {
        self.history.effects(tick)
    }

    /// Adds the entities that others' touched here in the ticks before state `tick`, from `since` on.
    pub(crate) fn touched(&self, since: Tick, tick: Tick, into: &mut Vec<Entity>) {
        self.history.touched(since, tick, into);
    }

    /// The own stored input of `tick`; `None` where none was given.
    pub fn input(&self, tick: Tick) -> Option<&PlayerInput<W::Input>> {
        self.inputs.own(tick)
    }

    /// Remembers the own input of a tick that has not run.
    pub fn give(&mut self, tick: Tick, input: PlayerInput<W::Input>) {
        self.inputs.give(tick, input);
    }

    /// Remembers a message of the own player's, part of the step of `tick`, which has not run; `number` counts them.
    pub(crate) fn give_message(&mut self, tick: Tick, number: u32, message: ReceivedMessage) {
        self.messages.give(tick, number, message, self.history.oldest_restart());
    }

    /// The authority has the message of this number in a later step, that of `tick`: so has every simulation from now on.
    pub(crate) fn put_off_message(&mut self, number: u32, tick: Tick) {
        self.messages.put_off(number, tick);
    }

    /// Remembers what was told of another player's inputs. Up to tick `fresh_until` the last is the guess for the others; then it decays.
    pub fn tell(
        &mut self,
        player: PlayerId,
        fresh_until: Tick,
        told: impl Iterator<Item = (Tick, RelayedInput<W::Input>)>,
    ) {
        self.inputs.tell(self.history.present(), player, fresh_until, told);
    }

    /// Whether inputs of another player were told of late.
    pub fn knows_inputs_of(&self, player: PlayerId) -> bool {
        self.inputs.knows(player)
    }

    /// Forgets the inputs of players of whom nothing has been told for this many ticks since what was told was fresh.
    pub fn forget_silent_players(&mut self, ticks: u32) {
        self.inputs.forget_silent_players(self.present().back(ticks).unwrap_or(Tick::ZERO));
    }

    /// The authority's step of `tick` is [canonical](crate::world::Step::canonical): so is every simulation of it from now on.
    pub fn announce(&mut self, tick: Tick) {
        self.inputs.announce(tick, self.history.oldest_restart());
    }

    /// The canonical ticks that are known, ascending.
    pub fn canonical(&self) -> &[Tick] {
        self.inputs.canonical()
    }

    /// The others whose inputs in the ticks before state `tick`, from `since` on, were not what the authority applied, as
    /// far as it has told; or it has not.
    pub(crate) fn misguessed(&self, since: Tick, tick: Tick, into: &mut Vec<PlayerId>) {
        let is_misguessed = |player, tick| self.inputs.is_misguessed(player, tick);
        let is_ever = |player: &PlayerId| self.history.steps(since, tick).any(|tick| is_misguessed(*player, tick));
        into.clear();
        into.extend(others(self.predicted()).filter(is_ever));
    }

    /// The first tick from `since` on that was simulated otherwise than it would be now: with another input of another player, or of
    /// the own one that the authority has told; with a change that it has refused; or not as the canonical one that it is.
    pub fn outdated(&mut self, since: Tick) -> Option<Tick> {
        if !self.inputs.has_news() && !self.cursor.changes.are_outdated() {
            return None;
        }
        let found = self.history.steps(since, self.present()).find(|tick| self.outdated_in(*tick).any());
        self.inputs.note_compared(found.is_some());
        found
    }

    /// In what the ticks from `tick` on were simulated otherwise than they would be now.
    pub(crate) fn outdated_by(&self, tick: Tick) -> Outdated {
        self.history.steps(tick, self.present()).fold(Outdated::default(), |by, tick| by.or(self.outdated_in(tick)))
    }

    fn outdated_in(&self, tick: Tick) -> Outdated {
        let by_inputs = self.inputs.outdated(tick, self.predicted());
        Outdated { change: self.cursor.changes.outdates(tick), ..by_inputs }
    }

    /// The newest state that is consistent with everything before it: the present, or how far the re-simulation is.
    pub fn settled(&self) -> Tick {
        self.resimulation.next().unwrap_or(self.present())
    }

    /// Brings the caller's world to the present, where a re-simulation has left it in the past.
    pub fn seek_present(&mut self, world: &mut W) {
        self.seek(world, self.present(), Purpose::Visit);
    }

    /// Runs the next tick with the input that was [given](Timeline::give) for it, or the neutral one, after writing the rows of
    /// others: what differs from the call before is among their [`changed`](Rows::changed) and [`removed`](Rows::removed).
    pub fn advance(&mut self, world: &mut W, proxies: &Rows) {
        let tick = self.present();
        self.seek(world, tick, Purpose::Visit);
        self.history.proxies_mut(tick).clone_from(proxies);
        self.run(world, tick);
    }

    /// Replaces the predicted entities' state of `tick` by the authority's: those not in `authority` cease to exist. What follows
    /// `tick` is inconsistent until [`resimulate`](Timeline::resimulate) has reached the present. Call that before anything else, and
    /// with no smaller budget than was [allowed](Timeline::allow), or the last time: where not every tick is saved, the present one
    /// is kept only if that budget does not suffice.
    ///
    /// # Panics
    /// When that state can't be gone back to.
    pub fn rewrite(&mut self, world: &mut W, tick: Tick, authority: &Rows) {
        assert!(self.history.has(tick), "only a state that can be gone back to can be rewritten");
        self.seek(world, tick, Purpose::Rewrite);
        self.replace(world, tick, authority, &[]);
    }

    /// Puts the authority's state in the place of the one that the world is in, which is to be rid of what is `dropped` besides.
    fn replace(&mut self, world: &mut W, tick: Tick, authority: &Rows, dropped: &[RemovedRow]) {
        let present = self.present();
        self.cursor.replace(world, &self.history.slot(tick).rows, authority, dropped);
        self.checkpoints.schedule.note_rollback(tick, Some(present).filter(|present| *present != tick));
        self.record(tick);
        self.save_first(world, tick);
        self.history.slot_mut(tick).rewritten = true;
        self.resimulation.go_on_from(tick, present);
    }

    /// The own player has no inputs, not even neutral ones.
    pub(crate) fn have_no_inputs(&mut self) {
        self.inputs.have_none();
    }

    /// Predicts the entities of these players and no others, before anything is simulated.
    pub(crate) fn predict(&mut self, predicted: &PredictionSet) {
        self.cursor.predict(predicted);
    }

    /// Predicts the entities of other players than before, from the authority's full state of `tick` on, and simulates up to the
    /// present at once. Who is predicted no more goes on as a proxy where they were predicted to be, also in later re-simulations
    /// of these ticks. Returns how many ticks it simulated.
    ///
    /// # Panics
    /// When that state can't be gone back to, or the own player changes.
    pub fn switch(&mut self, world: &mut W, tick: Tick, predicted: &PredictionSet, full: &Rows) -> u32 {
        assert!(self.predicted().player() == predicted.player(), "the own player stays");
        assert!(self.history.has(tick), "only a state that can be gone back to can be rewritten");
        // As the ticks before it were simulated.
        self.seek(world, tick, Purpose::Rewrite);
        let dropped = self.history.hand_over(tick, predicted, full);
        self.cursor.predict(predicted);
        self.cursor.forget_proxies();
        self.checkpoints.schedule.switch(tick);
        let mut authority = full.clone();
        authority.copy_predicted(full, predicted);
        self.replace(world, tick, &authority, &dropped);
        self.simulate_again(world, self.present().since(tick))
    }

    /// Simulates the ticks from `tick` on again, from the stored state and with the inputs that are known by then: the next
    /// [`resimulate`](Timeline::resimulate) begins there, or before it. One that is under way and will come to `tick` goes on.
    ///
    /// # Panics
    /// When that state can't be gone back to.
    pub fn revisit(&mut self, tick: Tick) {
        let present = self.present();
        assert!(self.history.has(tick) && tick < present, "only a tick that can be gone back to is simulated again");
        self.cursor.changes.settle_outdated();
        if !self.resimulation.will_reach(tick) {
            self.checkpoints.schedule.note_rollback(tick, Some(present));
            self.resimulation.go_on_from(tick, present);
        }
    }

    /// How many ticks the next re-simulation may run at once.
    pub fn allow(&mut self, budget: u32) {
        self.resimulation.allow(budget);
    }

    /// Simulates again up to `budget` ticks of what a rewrite has made inconsistent. Returns how many it ran.
    pub fn resimulate(&mut self, world: &mut W, budget: u32) -> u32 {
        self.allow(budget);
        self.simulate_again(world, budget)
    }

    /// The same, whatever the next one may run.
    fn simulate_again(&mut self, world: &mut W, budget: u32) -> u32 {
        let Some(from) = self.resimulation.next() else { return 0 };
        if self.cursor.at() != from {
            self.seek(world, from, Purpose::Resimulate);
            self.save_first(world, from);
        }
        let present = self.present();
        let until = present.min(from + budget);
        from.until(until).for_each(|tick| self.run(world, tick));
        self.resimulation.go_on_from(until, present);
        if until == present {
            self.checkpoints.schedule.forget_aside();
        }
        until.since(from)
    }

    /// Whether the ticks from state `from` up to state `tick`, simulated once more from what is stored, come to what is stored; true
    /// where that can't be gone back to.
    pub(crate) fn repeats(&mut self, world: &mut W, from: Tick, tick: Tick) -> bool {
        if from < self.oldest() || from >= tick {
            return true;
        }
        assert!(tick <= self.present(), "only a tick that can be gone back to is simulated again");
        self.seek(world, from, Purpose::Visit);
        self.repeat(world, from, tick);
        self.cursor.has(&self.history.slot(tick).rows)
    }

    /// One tick, from the state `tick`, which the world holds, to the next.
    fn run(&mut self, world: &mut W, tick: Tick) {
        let again = tick < self.present();
        let inputs = self.inputs.gather(tick, self.cursor.predicted());
        let given = GivenStep { tick, inputs, messages: self.messages.of(tick) };
        self.cursor.step(world, &given, self.history.slot_mut(tick));
        self.record(tick.next());
        self.checkpoints.save_next(world, tick.next(), self.history.oldest(), again);
        self.forget_old();
    }

    /// The ticks from state `from` up to state `until` again, with everything that they were given before; what they come to is known.
    fn repeat(&mut self, world: &mut W, from: Tick, until: Tick) {
        for tick in from.until(until) {
            let given = GivenStep { tick, inputs: self.inputs.given(tick), messages: self.messages.of(tick) };
            self.cursor.repeat(world, &given, &self.history);
        }
    }

    /// Remembers what the world has just published as state `tick`.
    fn record(&mut self, tick: Tick) {
        self.history.record(tick, self.cursor.published(), self.cursor.predicted());
        self.checkpoints.schedule.forget(tick);
    }

    /// Saves the state of `tick`, with which a re-simulation begins, where that is worth it.
    fn save_first(&mut self, world: &W, tick: Tick) {
        self.checkpoints.save_first(world, tick, self.history.oldest());
        self.forget_old();
    }

    /// What lies before the first saved state within the horizon can't be gone back to.
    fn forget_old(&mut self) {
        let (oldest, present) = (self.history.oldest_in_reach(), self.present());
        self.forget_before(self.checkpoints.schedule.first_from(oldest, present).unwrap_or(present));
        self.cursor.changes.forget_before(self.history.oldest_rows(), present);
    }

    /// Nobody goes back to a state before that of `oldest`.
    fn forget_before(&mut self, oldest: Tick) {
        self.checkpoints.schedule.forget_between(self.history.oldest(), oldest);
        self.history.forget_before(oldest, self.settled());
    }

    /// Brings the caller's world to the state of `tick`: to a saved one before it, from where the ticks are repeated as they were.
    fn seek(&mut self, world: &mut W, tick: Tick, purpose: Purpose) {
        let (at, present) = (self.cursor.at(), self.present());
        if at == tick {
            return;
        }
        if self.resimulation.needs_again(at, tick, present) {
            self.checkpoints.save_aside(world, at, present);
        }
        let from =
            self.checkpoints.load(world, tick, self.history.oldest(), purpose).expect("the oldest state is saved");
        self.cursor.loaded(from, &self.history.slot(from).rows, self.checkpoints.schedule.proxies_in(from));
        self.repeat(world, from, tick);
    }
}
