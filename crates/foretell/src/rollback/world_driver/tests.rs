//! Tests of what is known of the caller's world.

use super::*;
use crate::rollback::input_history::InputHistory;
use crate::rollback::test_world::{ME, MINE, Marble, Marbles, Push, THEIRS, places, rows};
use crate::world::{InputStatus, Owned, PlayerInput};

const HORIZON: u32 = 16;

/// A world, what is known of it, and its history.
struct Played {
    world: Marbles,
    cursor: WorldDriver,
    history: StateHistory,
    inputs: InputHistory<Push>,
    /// The rows of others, with what has changed since the tick before.
    proxies: Rows,
}

impl Played {
    /// Ten ticks with my marble pushed ahead by one, and theirs beside it.
    fn new() -> Played {
        let schema = Marbles::schema();
        let mut world = Marbles::default();
        world.marbles.insert(MINE, Marble { at: 0 });
        let cursor = WorldDriver::new(&schema, ME, TickRate::default());
        let (history, proxies) = (StateHistory::new(&schema, HORIZON), Rows::new(&schema));
        let inputs = InputHistory::new(HORIZON, TickRate::default());
        let mut played = Played { world, cursor, history, inputs, proxies };
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
        let input = PlayerInput { player: ME, input: Push::of(1), status: InputStatus::Received, presented: None };
        self.inputs.give(tick, input);
        let slot = self.history.slot_mut(tick);
        self.proxies.settle();
        theirs.into_iter().for_each(|at| self.proxies.set(THEIRS, &Marble { at }));
        slot.proxies.clone_from(&self.proxies);
        let inputs = self.inputs.gather(tick, self.cursor.predicted());
        self.cursor.step(&mut self.world, &GivenStep { tick, inputs, messages: &[] }, slot);
        self.record(tick.next());
    }

    fn repeat(&mut self, tick: Tick) {
        let given = GivenStep { tick, inputs: self.inputs.given(tick), messages: &[] };
        self.cursor.repeat(&mut self.world, &given, &self.history);
    }

    /// Brings the world to a state that was played, as a saved one would.
    fn load(&mut self, tick: Tick) {
        let rows = &self.history.slot(tick).rows;
        self.world.marbles = Marbles::default().marbles;
        World::adopt(&mut self.world, rows);
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
        played.repeat(tick);
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
    played.repeat(Tick::new(9));
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
