//! What is known of the caller's world: which state of a timeline it is in, and with which rows; and its steps.

use super::history::{History, Slot};
use super::shown_others::ShownOthers;
use crate::time::{Tick, TickRate};
use crate::world::{PlayerId, Predicted, ReceivedMessage, RemovedRow, RowKey, Rows, Schema, Side, Step, World};
use alloc::vec::Vec;

/// Which state the caller's world is in, and what of it is known.
///
/// Invariant: `published` are the rows that the world has published up to state `at`, settled.
pub(super) struct WorldCursor {
    schema: Schema,
    rate: TickRate,
    /// Whose entities its steps move.
    predicted: Predicted,
    /// The state that it is in.
    at: Tick,
    /// The first tick that was never simulated.
    unseen: Tick,
    /// Of which tick the rows of other entities are that it holds, where that is known.
    proxies_at: Option<Tick>,
    /// Rows of other entities that the last step has changed, though it was not to.
    strays: Vec<RowKey>,
    published: Rows,
    /// What it is told to adopt next; kept for its memory.
    adopting: Rows,
}

impl WorldCursor {
    /// Of a world in which the entities of `player` alone are predicted.
    pub(super) fn new(schema: &Schema, player: PlayerId, rate: TickRate) -> WorldCursor {
        WorldCursor {
            schema: schema.clone(),
            rate,
            predicted: Predicted::own(player),
            at: Tick::ZERO,
            unseen: Tick::ZERO,
            proxies_at: None,
            strays: Vec::new(),
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
    pub(super) fn predicted(&self) -> &Predicted {
        &self.predicted
    }

    /// Its steps move other entities from now on.
    pub(super) fn predict(&mut self, predicted: &Predicted) {
        self.predicted.clone_from(predicted);
    }

    /// The rows that it has published.
    pub(super) fn published(&self) -> &Rows {
        &self.published
    }

    /// Takes over what another cursor knows of the same world.
    pub(super) fn follow(&mut self, former: &WorldCursor) {
        self.published.copy_rows(&former.published);
    }

    /// The world, whatever it has done before, is in state `tick`.
    pub(super) fn begin<W: World>(&mut self, world: &mut W, tick: Tick) {
        self.at = tick;
        self.proxies_at = None;
        self.published.clear();
        self.publish(world);
    }

    /// The world has been brought to the state of `tick`, of which these are the predicted rows, and with the rows of other
    /// entities of the tick `proxies_at`, where that is known.
    pub(super) fn loaded(&mut self, tick: Tick, rows: &Rows, proxies_at: Option<Tick>) {
        self.at = tick;
        self.proxies_at = proxies_at;
        self.published.copy_rows(rows);
    }

    /// The rows of other entities that the world holds are to be written anew before the next step.
    pub(super) fn forget_proxies(&mut self) {
        self.proxies_at = None;
    }

    /// Gives the world all rows of an authority's state, and takes the others away.
    pub(super) fn adopt_all<W: World>(&mut self, world: &mut W, full: &Rows) {
        self.adopting.clone_from(full);
        missing(&self.published, full).for_each(|row| self.adopting.name_removed(row));
        world.adopt(&self.adopting);
    }

    /// Puts `after` in the place of the predicted rows `before` of the state that the world is in; it is told of what is
    /// `dropped` besides.
    pub(super) fn replace<W: World>(&mut self, world: &mut W, before: &Rows, after: &Rows, dropped: &[RemovedRow]) {
        self.adopting.copy_rows(after);
        missing(before, after).for_each(|row| self.adopting.name_removed(row));
        dropped.iter().for_each(|row| self.adopting.name_removed(*row));
        world.adopt(&self.adopting);
        self.published.copy_rows(after);
        self.publish(world);
    }

    /// The step of `tick`, which makes the next state of the one that the world is in; fills in what it has said.
    pub(super) fn step<W: World>(
        &mut self,
        world: &mut W,
        tick: Tick,
        slot: &mut Slot<W::Input>,
        messages: &[ReceivedMessage],
    ) {
        let first_time = tick >= self.unseen;
        self.unseen = self.unseen.max(tick.next());
        self.adopt_proxies(world, tick, &slot.proxies);
        let output = core::mem::take(&mut slot.output);
        let others = self.others(&slot.proxies);
        let step = Step::new(tick, self.rate, Side::Client(self.predicted.player()), &slot.given.inputs);
        let step = step.with_messages(messages).predicting(&self.predicted).looking_back(&others, &[]);
        let step = step.with_output(output).on_canonical(slot.given.canonical);
        let mut step = if first_time { step } else { step.again() };
        world.step(&mut step);
        slot.output = step.into_output();
        self.take_step(world, tick, &slot.proxies);
    }

    /// The step of `tick` again, with everything that it was simulated with before; what it comes to is known.
    pub(super) fn repeat<W: World>(
        &mut self,
        world: &mut W,
        tick: Tick,
        history: &History<W::Input>,
        messages: &[ReceivedMessage],
    ) {
        let Slot { given, proxies, .. } = history.slot(tick);
        self.adopt_proxies(world, tick, proxies);
        let others = self.others(proxies);
        let step = Step::new(tick, self.rate, Side::Client(self.predicted.player()), &given.inputs);
        let step = step.with_messages(messages).predicting(&self.predicted).looking_back(&others, &[]);
        world.step(&mut step.on_canonical(given.canonical).again());
        self.take_step(world, tick, proxies);
        let next = history.slot(tick.next());
        if next.rewritten {
            self.rewrite_again(world, &next.rows);
        }
    }

    /// What the next step finds of others, before which these rows of them are written.
    fn others<'a>(&'a self, proxies: &'a Rows) -> ShownOthers<'a> {
        ShownOthers { proxies, published: &self.published, predicted: &self.predicted, schema: &self.schema }
    }

    /// Whether the predicted rows that the world has published are these.
    pub(super) fn has(&mut self, rows: &Rows) -> bool {
        self.adopting.copy_predicted(&self.published, &self.predicted);
        self.adopting.iter().eq(rows.iter())
    }

    /// Puts the rows of a state that was rewritten in the place of those that the step before has made, once more.
    fn rewrite_again<W: World>(&mut self, world: &mut W, rows: &Rows) {
        self.adopting.copy_rows(rows);
        let predicted = self.published.predicted(&self.predicted);
        for row in predicted.filter(|row| rows.words(row.key()).is_none()) {
            self.adopting.name_removed(row.removed());
        }
        world.adopt(&self.adopting);
        self.published.copy_rows(rows);
        self.publish(world);
    }

    /// Writes the rows of other entities for the step of `tick`: all of them, or what differs from those of the tick before, where
    /// the world has these and that is less.
    fn adopt_proxies<W: World>(&mut self, world: &mut W, tick: Tick, proxies: &Rows) {
        let has_those_before = self.proxies_at.is_some_and(|at| at.next() == tick);
        self.proxies_at = Some(tick);
        // Where most are other ones, all are given at once.
        if !has_those_before || proxies.changed().len() > proxies.len() / 2 {
            if !proxies.is_empty() || !proxies.removed().is_empty() {
                world.adopt(proxies);
            }
            return;
        }
        self.adopting.clear();
        let mut next = 0;
        let rows = proxies.changed().iter().chain(&self.strays).filter_map(|key| proxies.get_near(*key, &mut next));
        rows.for_each(|row| self.adopting.set_words(row));
        proxies.removed().iter().for_each(|gone| self.adopting.name_removed(*gone));
        if !self.adopting.is_empty() || !self.adopting.removed().is_empty() {
            world.adopt(&self.adopting);
        }
    }

    /// Takes in what the step of `tick` has made, before which these rows of other entities were written. What it has made of
    /// those is remembered: they are written again. What it has made anew of a kind that is never predicted is taken away.
    fn take_step<W: World>(&mut self, world: &mut W, tick: Tick, proxies: &Rows) {
        world.publish(&mut self.published);
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
        self.adopting.clear();
        let is_made = |key: &&RowKey| published.is_never_predicted(key.component) && proxies.words(**key).is_none();
        for RowKey { component, entity } in published.changed().iter().filter(is_made) {
            // With all that it was spawned with.
            let is_new = entity.tick() == tick;
            let rows = published.of(*entity).filter(|row| is_new || row.component == *component);
            rows.for_each(|row| self.adopting.name_removed(row.removed()));
        }
        self.published.settle();
        if !self.adopting.removed().is_empty() {
            world.adopt(&self.adopting);
            self.publish(world);
        }
        self.at = tick.next();
    }

    fn publish<W: World>(&mut self, world: &mut W) {
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
mod tests {
    use super::*;
    use crate::rollback::inputs::Inputs;
    use crate::rollback::test_world::{ME, MINE, Marble, Marbles, Push, THEIRS, places, rows};
    use crate::world::{InputStatus, Owned, PlayerInput};

    const HORIZON: u32 = 16;

    /// A world, what is known of it, and its history.
    struct Played {
        world: Marbles,
        cursor: WorldCursor,
        history: History<Push>,
        /// The rows of others, with what has changed since the tick before.
        proxies: Rows,
    }

    impl Played {
        /// Ten ticks with my marble pushed ahead by one, and theirs beside it.
        fn new() -> Played {
            let schema = Marbles::schema();
            let mut world = Marbles::default();
            world.marbles.insert(MINE, Marble { at: 0 });
            let cursor = WorldCursor::new(&schema, ME, TickRate::default());
            let (history, proxies) = (History::new(&schema, HORIZON), Rows::new(&schema));
            let mut played = Played { world, cursor, history, proxies };
            played.history.begin(Tick::ZERO);
            played.cursor.begin(&mut played.world, Tick::ZERO);
            played.record(Tick::ZERO);
            (0..10).for_each(|tick| played.step(tick, Some(100 + tick.cast_signed())));
            played
        }

        fn record(&mut self, tick: Tick) {
            self.history.record(tick, self.cursor.published(), self.cursor.predicted());
        }

        /// The step of a tick, before which their marble is said to be there, or where it was.
        fn step(&mut self, tick: u32, theirs: Option<i32>) {
            let tick = Tick::new(tick);
            let mut inputs = Inputs::new(HORIZON, TickRate::default());
            let input = PlayerInput { player: ME, input: Push::of(1), status: InputStatus::Received, presented: None };
            inputs.give(tick, input);
            let slot = self.history.slot_mut(tick);
            inputs.gather(tick, self.cursor.predicted(), &mut slot.given);
            self.proxies.settle();
            theirs.into_iter().for_each(|at| self.proxies.set(THEIRS, &Marble { at }));
            slot.proxies.clone_from(&self.proxies);
            self.cursor.step(&mut self.world, tick, slot, &[]);
            self.record(tick.next());
        }

        /// Brings the world to a state that was played, as a saved one would.
        fn load(&mut self, tick: Tick) {
            let rows = &self.history.slot(tick).rows;
            self.world.marbles = Marbles::default().marbles;
            self.world.adopt(rows);
            self.cursor.loaded(tick, rows, None);
        }

        fn places(&self) -> Vec<(Owned, i32)> {
            self.world
                .marbles
                .iter()
                .map(|marble| (Owned { entity: marble.entity(), owner: marble.owner() }, marble.at))
                .collect()
        }
    }

    #[test]
    fn a_step_moves_what_is_predicted_and_the_rows_of_others_are_written_before_it() {
        let played = Played::new();
        assert_eq!(played.cursor.at(), Tick::new(10));
        assert_eq!(played.places(), [(MINE, 20), (THEIRS, 109)], "a push and one other marble, ten times");
        assert_eq!(places(&played.history.slot(Tick::new(10)).rows), [(MINE, 20)]);
    }

    #[test]
    fn what_a_step_has_made_of_the_rows_of_others_is_undone_before_the_next() {
        let mut played = Played::new();
        played.step(10, Some(-1));
        assert_eq!(played.places(), [(MINE, 22)], "the step has put it out");
        played.step(11, None);
        assert_eq!(played.places(), [(MINE, 24)], "there were two marbles before it all the same");
    }

    #[test]
    fn steps_that_are_repeated_come_to_what_they_came_to_before() {
        let mut played = Played::new();
        played.load(Tick::new(3));
        for tick in Tick::new(3).until(Tick::new(10)) {
            played.cursor.repeat(&mut played.world, tick, &played.history, &[]);
            let next = tick.next();
            assert_eq!(played.cursor.at(), next);
            assert!(played.cursor.has(&played.history.slot(next).rows), "{next}");
        }
        assert_eq!(played.places(), [(MINE, 20), (THEIRS, 109)]);
    }

    #[test]
    fn a_state_that_was_rewritten_is_rewritten_again_when_the_step_before_it_is_repeated() {
        let mut played = Played::new();
        let rewritten = rows(&[(MINE, 50)]);
        let present = Tick::new(10);
        let before = played.history.slot(present).rows.clone();
        played.cursor.replace(&mut played.world, &before, &rewritten, &[]);
        played.record(present);
        played.history.slot_mut(present).rewritten = true;
        assert_eq!(played.places(), [(MINE, 50), (THEIRS, 109)]);
        played.load(Tick::new(9));
        played.cursor.repeat(&mut played.world, Tick::new(9), &played.history, &[]);
        assert!(played.cursor.has(&rewritten));
        assert_eq!(played.places(), [(MINE, 50), (THEIRS, 109)]);
    }

    #[test]
    fn what_the_authority_does_not_have_is_taken_out_of_the_world() {
        let mut played = Played::new();
        let before = played.history.slot(Tick::new(10)).rows.clone();
        let dropped = rows(&[(THEIRS, 0)]).iter().map(|row| row.removed()).collect::<Vec<_>>();
        played.cursor.replace(&mut played.world, &before, &rows(&[]), &dropped);
        assert_eq!(played.places(), []);
        assert!(played.cursor.published().is_empty());
    }

    #[test]
    fn a_full_state_takes_the_place_of_all_that_the_world_has_published() {
        let mut played = Played::new();
        played.cursor.adopt_all(&mut played.world, &rows(&[(THEIRS, 7)]));
        assert_eq!(played.places(), [(THEIRS, 7)]);
    }
}
