//! The user's world with an ear at the door: what its steps were told, and what followed from them.

use super::check::{HeardStep, Letter};
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use foretell::time::Tick;
use foretell::world::{InterestRules, Messages, Newcomer, PlayerInput, Reason, Rows, Schema, Simulate, Step, World};

/// For how many ticks the truth is remembered: four horizons at 64 Hz.
const TICKS_KEPT: usize = 512;

/// A world whose steps are written down. It does what `W` does.
pub struct Spied<W: World> {
    /// The user's world.
    pub world: W,
    /// Which kinds of messages its steps may have.
    kinds: Messages,
    notes: Shared<W::Input>,
}

/// Notes, shared between a world and who reads them.
pub(super) type Shared<I> = Rc<RefCell<Notes<I>>>;

/// What was written down.
pub(super) struct Notes<I> {
    /// The steps since the notes were last taken, in order.
    pub steps: Vec<Tick>,
    /// Their inputs, in order; kept on the server alone.
    pub inputs: Vec<(Tick, PlayerInput<I>)>,
    /// The messages of all steps since the notes were last taken, those that were simulated again too, in their order.
    pub heard: Vec<HeardStep>,
    /// The published state of every step; kept on the server alone.
    pub truth: Option<Truth>,
    /// The state that is to be published next.
    state: Option<Tick>,
}

/// The states of the server, by tick; the last 512 of them.
pub struct Truth {
    /// By tick, modulo its length.
    kept: Vec<(Option<Tick>, Rows)>,
    newest: Tick,
}

impl Truth {
    pub(super) fn new(schema: &Schema) -> Truth {
        Truth { kept: (0..TICKS_KEPT).map(|_| (None, Rows::new(schema))).collect(), newest: Tick::ZERO }
    }

    /// The state `tick`; `None` when it is forgotten, or has not come yet.
    pub fn rows(&self, tick: Tick) -> Option<&Rows> {
        let (of, rows) = &self.kept[tick.get() as usize % TICKS_KEPT];
        (*of == Some(tick)).then_some(rows)
    }

    /// The newest state.
    pub fn newest(&self) -> Tick {
        self.newest
    }

    /// A state, to be tampered with.
    #[cfg(test)]
    pub(super) fn rows_mut(&mut self, tick: Tick) -> &mut Rows {
        &mut self.kept[tick.get() as usize % TICKS_KEPT].1
    }

    fn keep(&mut self, tick: Tick, published: &Rows) {
        let (of, rows) = &mut self.kept[tick.get() as usize % TICKS_KEPT];
        rows.copy_rows(published);
        (*of, self.newest) = (Some(tick), tick);
    }
}

impl<W: World> Spied<W> {
    /// The world, and where it is written down what happens to it.
    pub(super) fn new(world: W, kinds: &Messages, truth: Option<Truth>) -> (Spied<W>, Shared<W::Input>) {
        let notes = Notes { steps: Vec::new(), inputs: Vec::new(), heard: Vec::new(), truth, state: None };
        let notes = Rc::new(RefCell::new(notes));
        (Spied { world, kinds: kinds.clone(), notes: notes.clone() }, notes)
    }
}

impl<W: World> Simulate for Spied<W> {
    type Input = W::Input;

    fn step(&mut self, step: &mut Step<'_, W::Input>) {
        self.world.step(step);
        let mut notes = self.notes.borrow_mut();
        if step.first_time() {
            notes.steps.push(step.tick());
            if notes.truth.is_some() {
                notes.inputs.extend(step.inputs().iter().map(|input| (step.tick(), *input)));
            }
        }
        if !self.kinds.kinds().is_empty() {
            let messages = step.all_messages().iter().filter_map(|message| Letter::of(message, &self.kinds));
            notes.heard.push(HeardStep { tick: step.tick(), messages: messages.collect() });
        }
        notes.state = Some(step.tick().next());
    }

    fn admit(&self, newcomer: &Newcomer) -> Result<(), Reason> {
        self.world.admit(newcomer)
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        self.world.interest_rules()
    }
}

impl<W: World> World for Spied<W> {
    type Saved = W::Saved;

    fn schema() -> Schema {
        W::schema()
    }

    fn save(&self, into: &mut W::Saved) {
        self.world.save(into);
    }

    fn load(&mut self, from: &W::Saved) {
        self.world.load(from);
    }

    fn take(&mut self, from: &mut W::Saved) {
        self.world.take(from);
    }

    fn publish(&mut self, rows: &mut Rows) {
        self.world.publish(rows);
        let mut notes = self.notes.borrow_mut();
        if let (Some(state), Some(truth)) = (notes.state.take(), &mut notes.truth) {
            truth.keep(state, rows);
        }
    }

    fn adopt(&mut self, rows: &Rows) {
        self.world.adopt(rows);
    }

    fn adopt_known(&mut self, rows: &Rows) {
        self.world.adopt_known(rows);
    }
}
