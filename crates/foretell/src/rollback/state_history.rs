//! The states of the last ticks of a timeline, with what the steps between them find of others and say.

use crate::time::Tick;
use crate::world::{Effect, Entity, PredictionSet, RemovedRow, Row, Rows, Schema, StepOutput};
use alloc::vec::Vec;

/// One tick of history. Slot `n` holds state `n`, and what the step to state `n + 1` finds of others and has said.
pub(super) struct Slot {
    /// The predicted entities' rows of this state.
    pub rows: Rows,
    /// The rows of other entities that were written before the step; a placeholder where nobody goes back.
    pub proxies: Rows,
    /// Whether this state was put in the place of the one that the step before had made.
    pub rewritten: bool,
    /// What the step said.
    pub output: StepOutput,
}

/// A ring of slots for the states of the horizon and the present one. Rows of other entities, which may be many, are remembered only
/// for the states that somebody may go back to, from `oldest` on, or that are simulated again.
///
/// Invariant: `first <= oldest <= present <= oldest + horizon`.
pub(super) struct StateHistory {
    schema: Schema,
    slots: Vec<Slot>,
    /// The state that this has begun with.
    first: Tick,
    oldest: Tick,
    present: Tick,
    /// From which tick on the rows of other entities are remembered.
    oldest_proxies: Tick,
    /// Rows of other entities that nobody goes back to, whose memory is used again: first what was used last, which a processor still
    /// has at hand.
    spare: Vec<Rows>,
}

impl StateHistory {
    /// Room for the states of `horizon` ticks and the present one, and for what was written before the step to the oldest.
    pub(super) fn new(schema: &Schema, horizon: u32) -> StateHistory {
        let slot = |_| Slot {
            rows: Rows::new(schema),
            proxies: Rows::placeholder(),
            rewritten: false,
            output: StepOutput::with_room(),
        };
        StateHistory {
            schema: schema.clone(),
            slots: (0..horizon + 2).map(slot).collect(),
            first: Tick::ZERO,
            oldest: Tick::ZERO,
            present: Tick::ZERO,
            oldest_proxies: Tick::ZERO,
            spare: Vec::new(),
        }
    }

    /// Forgets all states; the first that is recorded is that of `tick`.
    pub(super) fn begin(&mut self, tick: Tick) {
        (0..self.slots.len()).for_each(|index| self.spare_proxies(index));
        self.first = tick;
        self.oldest = tick;
        self.present = tick;
        self.oldest_proxies = tick;
    }

    /// Remembers the predicted ones among these rows as state `tick`, as a step has made it.
    pub(super) fn record(&mut self, tick: Tick, rows: &Rows, predicted: &PredictionSet) {
        let slot = self.slot_mut(tick);
        slot.rows.copy_predicted(rows, predicted);
        slot.rewritten = false;
        self.present = self.present.max(tick);
    }

    /// How many ticks back states are remembered.
    pub(super) fn horizon(&self) -> u32 {
        u32::try_from(self.slots.len() - 2).unwrap_or(u32::MAX)
    }

    /// The oldest state that somebody may go back to.
    pub(super) fn oldest(&self) -> Tick {
        self.oldest
    }

    /// The newest state.
    pub(super) fn present(&self) -> Tick {
        self.present
    }

    /// The oldest state that somebody may go back to and that is within the horizon.
    pub(super) fn oldest_in_reach(&self) -> Tick {
        self.oldest.max(self.oldest_rows())
    }

    /// The oldest state of the horizon.
    pub(super) fn oldest_rows(&self) -> Tick {
        self.first.max(self.present.back(self.horizon()).unwrap_or(Tick::ZERO))
    }

    /// From which state on it is known what somebody who starts again may need: they do it from before the horizon.
    pub(super) fn oldest_restart(&self) -> Tick {
        self.present.back(2 * self.horizon()).unwrap_or(Tick::ZERO)
    }

    /// Nobody goes back to a state before that of `oldest` from now on; what was simulated again is consistent up to that of `settled`.
    pub(super) fn forget_before(&mut self, oldest: Tick, settled: Tick) {
        self.oldest = oldest;
        // What was written before the step to the oldest state is in the world still.
        let oldest_proxies = oldest.back(1).unwrap_or(Tick::ZERO).min(settled);
        let in_ring = self.present.back(self.horizon() + 1).unwrap_or(Tick::ZERO);
        for tick in self.oldest_proxies.max(in_ring).until(oldest_proxies) {
            self.spare_proxies(self.index(tick));
        }
        self.oldest_proxies = self.oldest_proxies.max(oldest_proxies);
    }

    /// Whether somebody may go back to a state.
    pub(super) fn has(&self, tick: Tick) -> bool {
        (self.oldest..=self.present).contains(&tick)
    }

    /// The predicted entities' rows of a state of the horizon.
    pub(super) fn rows(&self, tick: Tick) -> Option<&Rows> {
        (self.oldest_rows()..=self.present).contains(&tick).then(|| &self.slot(tick).rows)
    }

    /// The ticks whose steps lie between the states `from` and `until`, from the oldest on that somebody may go back to.
    pub(super) fn steps(&self, from: Tick, until: Tick) -> impl DoubleEndedIterator<Item = Tick> + use<> {
        from.max(self.oldest).until(until.min(self.present))
    }

    /// The slot of a tick, whatever it holds now.
    pub(super) fn slot(&self, tick: Tick) -> &Slot {
        &self.slots[self.index(tick)]
    }

    /// The same, to be changed.
    pub(super) fn slot_mut(&mut self, tick: Tick) -> &mut Slot {
        let index = self.index(tick);
        &mut self.slots[index]
    }

    /// The rows of other entities that are written before the step of a tick, to be written whole: they may be those of another.
    pub(super) fn proxies_mut(&mut self, tick: Tick) -> &mut Rows {
        let index = self.index(tick);
        let proxies = &mut self.slots[index].proxies;
        if proxies.is_placeholder() {
            *proxies = self.spare.pop().unwrap_or_else(|| Rows::new(&self.schema));
        }
        proxies
    }

    /// What happened in the step of a tick when it was last simulated; nothing where that is not remembered.
    pub(super) fn effects(&self, tick: Tick) -> &[Effect] {
        if self.has(tick) && tick < self.present { &self.slot(tick).output.effects } else { &[] }
    }

    /// Adds the entities that those of other players touched in the steps between the states `from` and `until`.
    pub(super) fn touched(&self, from: Tick, until: Tick, into: &mut Vec<Entity>) {
        self.steps(from, until).for_each(|tick| into.extend_from_slice(&self.slot(tick).output.contacts));
    }

    /// Moves rows between what is predicted and what is written before each step, from state `tick` on, of which `full` are
    /// the authority's rows. Returns the rows that the world may hold in state `tick` and that are not to be there.
    pub(super) fn hand_over(&mut self, tick: Tick, predicted: &PredictionSet, full: &Rows) -> Vec<RemovedRow> {
        let dropped = self.dropped(tick, predicted, full);
        let mut handed: Vec<RemovedRow> = Vec::new();
        for tick in tick.until(self.present.next()) {
            self.proxies_mut(tick).drop_predicted(predicted);
            let slot = self.slot_mut(tick);
            let mut kept = Vec::new();
            for row in slot.rows.iter().filter(|row| !predicted.contains(row.owned())) {
                if !dropped.contains(&row.removed()) {
                    slot.proxies.set_words(row);
                    kept.push(row.removed());
                }
            }
            // What had ceased to exist in the prediction ceases to exist as a proxy too.
            handed.iter().filter(|row| !kept.contains(row)).for_each(|row| slot.proxies.name_removed(*row));
            slot.rows.retain(|_, of| predicted.contains(of));
            slot.rows.settle();
            handed = kept;
        }
        dropped
    }

    /// The rows that the world may hold in state `tick`, are predicted on one side of it alone, and that the authority does not
    /// have.
    fn dropped(&self, tick: Tick, predicted: &PredictionSet, full: &Rows) -> Vec<RemovedRow> {
        // What was written before the step to this state is in the world still.
        let written = tick.back(1).into_iter().flat_map(|before| self.slot(before).proxies.iter());
        let arriving = written.filter(|row| predicted.contains(row.owned()));
        let leaving = self.slot(tick).rows.iter().filter(|row| !predicted.contains(row.owned()));
        let is_gone = |row: &Row<'_>| full.words(row.key()).is_none();
        arriving.chain(leaving).filter(is_gone).map(Row::removed).collect()
    }

    fn spare_proxies(&mut self, index: usize) {
        let proxies = core::mem::replace(&mut self.slots[index].proxies, Rows::placeholder());
        self.spare.extend(Some(proxies).filter(|proxies| !proxies.is_placeholder()));
    }

    fn index(&self, tick: Tick) -> usize {
        tick.get() as usize % self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::test_world::{ME, MINE, Marbles, THEIRS, THEM, places, rows};
    use crate::world::{Owned, World};

    const HORIZON: u32 = 8;

    fn both() -> PredictionSet {
        let mut both = PredictionSet::own(ME);
        both.insert(THEM);
        both
    }

    /// The states up to that of tick 12, in which both marbles are at the number of the state; of mine alone they say it.
    fn recorded() -> StateHistory {
        let mut history = StateHistory::new(&Marbles::schema(), HORIZON);
        history.begin(Tick::ZERO);
        for tick in Tick::ZERO.until(Tick::new(13)) {
            let at = tick.get().cast_signed();
            history.slot_mut(tick).proxies = rows(&[(THEIRS, at)]);
            history.record(tick, &rows(&[(MINE, at), (THEIRS, at)]), &PredictionSet::own(ME));
            history.forget_before(history.oldest_in_reach(), history.present());
        }
        history
    }

    fn at(history: &StateHistory, tick: u32) -> [Vec<(Owned, i32)>; 2] {
        let slot = history.slot(Tick::new(tick));
        [places(&slot.rows), places(&slot.proxies)]
    }

    #[test]
    fn the_states_of_the_horizon_are_remembered_and_of_predicted_entities_alone() {
        let history = recorded();
        assert_eq!((history.oldest(), history.present()), (Tick::new(4), Tick::new(12)));
        assert_eq!([3, 4, 12, 13].map(|tick| history.has(Tick::new(tick))), [false, true, true, false]);
        assert_eq!(at(&history, 4), [vec![(MINE, 4)], vec![(THEIRS, 4)]]);
        let steps = |from, until| history.steps(Tick::new(from), Tick::new(until)).map(Tick::get).collect::<Vec<_>>();
        assert_eq!([steps(2, 6), steps(10, 20)], [vec![4, 5], vec![10, 11]]);
    }

    #[test]
    fn who_is_predicted_no_more_goes_on_as_a_proxy_where_they_were_predicted_to_be() {
        let mut history = recorded();
        for tick in Tick::new(4).until(Tick::new(13)) {
            let at = tick.get().cast_signed();
            history.proxies_mut(tick).clear();
            history.record(tick, &rows(&[(MINE, at), (THEIRS, 2 * at)]), &both());
        }
        let dropped = history.hand_over(Tick::new(10), &PredictionSet::own(ME), &rows(&[(MINE, 10), (THEIRS, 20)]));
        assert_eq!(dropped, [], "the authority has it");
        assert_eq!(at(&history, 9), [vec![(MINE, 9), (THEIRS, 18)], vec![]], "nothing changes before the tick");
        for tick in 10_u32..=12 {
            let here = tick.cast_signed();
            assert_eq!(at(&history, tick), [vec![(MINE, here)], vec![(THEIRS, 2 * here)]]);
        }
    }

    #[test]
    fn who_is_predicted_from_now_on_is_written_before_no_step_and_dropped_where_the_authority_does_not_have_them() {
        let mut history = recorded();
        let dropped = history.hand_over(Tick::new(10), &both(), &rows(&[(MINE, 10)]));
        assert_eq!(dropped.iter().map(RemovedRow::owned).collect::<Vec<_>>(), [THEIRS]);
        assert_eq!(at(&history, 9)[1], [(THEIRS, 9)]);
        assert_eq!([10, 11, 12].map(|tick| at(&history, tick)[1].clone()), [vec![], vec![], vec![]]);
    }

    #[test]
    fn what_had_ceased_to_exist_in_the_prediction_ceases_to_exist_as_a_proxy_too() {
        let mut history = recorded();
        history.record(Tick::new(10), &rows(&[(MINE, 10), (THEIRS, 10)]), &both());
        for tick in [10, 11, 12].map(Tick::new) {
            history.proxies_mut(tick).clear();
        }
        history.hand_over(Tick::new(10), &PredictionSet::own(ME), &rows(&[(THEIRS, 10)]));
        let removed = |tick| -> Vec<Owned> {
            let slot = history.slot(Tick::new(tick));
            slot.proxies.removed().iter().map(RemovedRow::owned).collect()
        };
        assert_eq!([10, 11, 12].map(removed), [vec![], vec![THEIRS], vec![]]);
    }
}
