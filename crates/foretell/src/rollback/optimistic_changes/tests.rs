//! Tests of changes ahead of the authority, by themselves and in a timeline.

use super::*;
use crate::rollback::Timeline;
use crate::{Input, InputStatus, PlayerId, PlayerInput, Simulate, State, Step, Table, World};
use crate::{Tick, TickRate};

const ME: PlayerId = PlayerId::new(1);
const MINE: Owned = Owned { entity: Entity::new(ME, Tick::ZERO, 0), owner: ME };
const DOOR: Owned = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0), owner: PlayerId::SERVER };

#[derive(Input, Clone, Copy, Default, PartialEq)]
struct Keys {
    opens: bool,
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Walker {
    at: u32,
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Door {
    open: bool,
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Lock {
    keys: u8,
}

/// Who walks goes on while the door is open.
#[derive(World, Clone, Default)]
struct House {
    walkers: Table<Walker>,
    doors: Table<Door>,
    locks: Table<Lock>,
}

impl Simulate for House {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for mut walker in self.walkers.simulated(step) {
            let opens = step.input(walker.owner()).is_some_and(|player| player.input.opens);
            if opens && let Some(mut door) = self.doors.change(step, walker.owned(), DOOR.entity) {
                door.open = true;
                self.locks.remove(DOOR.entity);
            }
            walker.at += u32::from(self.doors.iter().any(|door| door.open));
        }
    }
}

fn tick(tick: u32) -> Tick {
    Tick::new(tick)
}

/// A house in which somebody opens the door in tick 2, and goes on up to state 8; and the rows of the door as it is told.
fn played() -> (House, Timeline<House>, Rows) {
    let mut told = Rows::new(&House::schema());
    told.set(DOOR, &Door { open: false });
    told.set(DOOR, &Lock { keys: 3 });
    let mut house = House::default();
    house.walkers.insert(MINE, Walker { at: 0 });
    let mut timeline = Timeline::new(&House::schema(), ME, TickRate::default(), 32, 1);
    timeline.begin(&mut house, tick(0));
    for now in (0..8).map(tick) {
        let input = Keys { opens: now == tick(2) };
        timeline.give(now, PlayerInput { player: ME, input, status: InputStatus::Received, presented: None });
        timeline.advance(&mut house, &told);
        told.settle();
    }
    (house, timeline, told)
}

fn walked(house: &House) -> u32 {
    house.walkers.get(MINE.entity).expect("there").at
}

#[test]
fn what_a_step_has_changed_or_taken_out_of_a_table_stays_so_in_those_that_follow() {
    let (house, timeline, told) = played();
    assert_eq!(walked(&house), 6, "in ticks 2 to 7");
    assert!(house.locks.is_empty(), "though the door is there still");
    let keys: Vec<_> = told.iter().map(|row| row.key()).collect();
    let found: Vec<_> = keys.iter().map(|key| timeline.changes().get(*key).map(|row| row.row().is_some())).collect();
    assert_eq!(found, [Some(true), Some(false)], "the door is another one, the lock is gone");
    assert!(
        timeline.changes().changes.has(tick(2), DOOR.entity) && !timeline.changes().changes.has(tick(3), DOOR.entity)
    );
}

#[test]
fn what_is_refused_is_found_by_no_step_any_more_and_those_that_found_it_are_outdated() {
    let (mut house, mut timeline, told) = played();
    assert_eq!(timeline.outdated(tick(0)), None);
    let mut refused = Vec::new();
    timeline.changes_mut().answer(tick(2), |_, _| false, |change| refused.push(change.tick));
    assert_eq!(refused, [], "of tick 2 nothing is known before state 3");
    timeline.changes_mut().answer(tick(4), |_, _| false, |change| refused.push(change.tick));
    assert_eq!(refused, [tick(2)]);
    assert_eq!([0, 4].map(|since| timeline.outdated(tick(since))), [Some(tick(2)), Some(tick(4))]);
    assert!(timeline.outdated_by(tick(4)).change);
    timeline.advance(&mut house, &told);
    assert_eq!(walked(&house), 6, "the next step finds it closed");
    // State 4 was compared and agrees: the world that is saved of it has the door open all the same.
    timeline.revisit(tick(4));
    timeline.resimulate(&mut house, 100);
    assert_eq!((walked(&house), timeline.outdated(tick(0))), (2, None), "in ticks 2 and 3 alone");
    assert_eq!((house.doors.get(DOOR.entity).map(|door| door.open), house.locks.len()), (Some(false), 1));
}

#[test]
fn what_is_refused_is_not_allowed_again_before_it_is_shown_as_it_was_then() {
    let (_, mut timeline, _) = played();
    let changes = timeline.changes_mut();
    changes.answer(tick(6), |_, _| false, |_| {});
    let refused_in = |changes: &mut OptimisticChanges, now: u32| {
        changes.begin_step(tick(now));
        !changes.refused().is_empty()
    };
    assert_eq!([1, 2, 8].map(|now| refused_in(changes, now)), [false, true, true]);
    // No newer row of it has come: state 6 was the answer.
    changes.end(tick(9), |change| change.has_ended(|_| Some(tick(1)), |_, state| state <= tick(5)));
    assert!(refused_in(changes, 9));
    changes.end(tick(10), |change| change.has_ended(|_| Some(tick(1)), |_, state| state <= tick(6)));
    assert_eq!([9, 10].map(|now| refused_in(changes, now)), [true, false]);
}

#[test]
fn all_of_a_change_ends_when_the_last_of_it_is_shown_as_new() {
    let (_, mut timeline, told) = played();
    let door = told.iter().next().expect("the door").key();
    let predicted = PredictionSet::own(ME);
    let simulated = Simulated { predicted: &predicted, published: &told };
    let changes = timeline.changes_mut();
    changes.answer(tick(6), |_, _| true, |_| {});
    let of_door = |row: &ChangedRow| (row.key == door).then_some(tick(3));
    changes.end(tick(8), |change| change.has_ended(of_door, |_, _| true));
    assert_eq!(changes.keys(tick(8), simulated).count(), 2, "of the lock nothing is told");
    changes.end(tick(9), |change| change.has_ended(|_| Some(tick(4)), |_, state| state < tick(4)));
    assert_eq!(changes.keys(tick(9), simulated).count(), 2, "it is not shown");
    changes.end(tick(10), |change| change.has_ended(|_| Some(tick(4)), |_, _| true));
    assert_eq!([9, 10].map(|now| changes.keys(tick(now), simulated).count()), [2, 0]);
}

#[test]
fn a_change_is_forgotten_with_the_steps_that_may_find_it() {
    let (_, mut timeline, _) = played();
    let changes = timeline.changes_mut();
    changes.forget_before(tick(2), tick(9));
    assert_eq!(changes.len(), 1);
    changes.answer(tick(6), |_, _| true, |_| {});
    changes.end(tick(9), |_| true);
    changes.forget_before(tick(9), tick(12));
    assert_eq!(changes.len(), 1, "the saved state of tick 9 may have it");
    changes.forget_before(tick(10), tick(13));
    assert!(changes.is_empty());
}

#[test]
fn what_is_not_answered_within_the_horizon_stays_and_is_refused_when_nobody_can_answer_any_more() {
    let (mut house, mut timeline, told) = played();
    let asked = 2 + OPEN_TICKS_MAX;
    for now in (8..=asked + 1).map(tick) {
        timeline.advance(&mut house, &told);
        let is_waited_for = now < tick(asked);
        let answer = ChangeAnswer { tick: tick(2), entity: DOOR.entity, is_refused: true };
        let expected = if now == tick(asked) { vec![answer] } else { vec![] };
        assert_eq!(timeline.changes_mut().take_answers().collect::<Vec<_>>(), expected, "after the step of {now:?}");
        assert_eq!(timeline.changes().changes.has(tick(2), DOOR.entity), is_waited_for, "after the step of {now:?}");
    }
    timeline.advance(&mut house, &told);
    assert_eq!((house.doors.get(DOOR.entity).map(|door| door.open), house.locks.len()), (Some(false), 1));
}

#[test]
fn the_game_hears_an_answer_though_everything_begins_anew() {
    let (_, mut timeline, _) = played();
    let changes = timeline.changes_mut();
    changes.answer(tick(4), |_, _| true, |_| {});
    changes.clear();
    let answer = ChangeAnswer { tick: tick(2), entity: DOOR.entity, is_refused: false };
    assert_eq!(changes.take_answers().collect::<Vec<_>>(), [answer]);
    assert_eq!(changes.take_answers().count(), 0, "once");
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Cart {
    #[state(position)]
    at: [f32; 1],
    bell: u8,
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Wreck {
    since: u32,
}

const CART: Owned = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 3), owner: PlayerId::SERVER };

fn cart_key(component: u8) -> RowKey {
    RowKey { component: ComponentId(component), entity: CART.entity }
}

/// What steps have made of a cart.
struct Carts {
    changes: OptimisticChanges,
    told: Rows,
}

impl Carts {
    fn new() -> Carts {
        let schema = Schema::of::<Cart>().with::<Wreck>();
        let mut told = Rows::new(&schema);
        told.set(CART, &Cart { at: [0.0], bell: 0 });
        told.settle();
        Carts { changes: OptimisticChanges::new(&schema), told }
    }

    /// The step of `now` has made this of it; or nothing.
    fn step(&mut self, now: u32, makes: Option<impl FnOnce(&mut Rows)>) {
        let mut published = self.told.clone();
        let change = Change { by: MINE, of: CART };
        let changes = if makes.is_some() { &[change][..] } else { &[] };
        makes.into_iter().for_each(|makes| makes(&mut published));
        self.changes.end_step(tick(now), changes, &published, &self.told);
    }

    fn step_as(&mut self, now: u32, cart: Cart) {
        self.step(now, Some(|rows: &mut Rows| rows.set(CART, &cart)));
    }

    fn step_without(&mut self, now: u32) {
        self.step(now, None::<fn(&mut Rows)>);
    }
}

const MOVED: Cart = Cart { at: [7.0], bell: 0 };
const RUNG: Cart = Cart { at: [7.0], bell: 1 };

#[test]
fn what_was_found_before_something_was_refused_is_without_what_was_refused_earlier() {
    let mut carts = Carts::new();
    carts.step_as(2, MOVED);
    carts.step_as(3, RUNG);
    let before = |carts: &Carts| carts.changes.before_refusal(cart_key(0)).map(FoundRow::stays);
    assert_eq!(before(&carts), Some(true), "it was put there");
    carts.changes.answer(tick(3), |_, _| false, |_| {});
    assert_eq!(before(&carts), Some(true), "until now");
    assert_eq!(carts.changes.take_answers().count(), 1);
    assert_eq!(before(&carts), Some(false), "it has rung");
    carts.changes.answer(tick(4), |_, _| false, |_| {});
    assert_eq!(
        (before(&carts), carts.changes.entities(), carts.changes.undone(true)),
        (Some(false), vec![CART.entity], vec![CART.entity])
    );
    assert_eq!(carts.changes.take_answers().count(), 1);
    assert_eq!((before(&carts), carts.changes.entities(), carts.changes.undone(true)), (None, vec![], vec![]));
}

#[test]
fn what_a_step_does_not_make_again_is_undone_until_it_is_forgotten_unless_another_has_made_anything_of_the_same() {
    let mut carts = Carts::new();
    carts.step_as(2, MOVED);
    carts.step_as(3, RUNG);
    carts.step_without(3);
    assert!(carts.changes.undone(true).is_empty(), "it is moved still");
    carts.step_as(2, RUNG);
    assert!(carts.changes.undone(true).is_empty());
    carts.step_without(2);
    assert!(carts.changes.undone(false).is_empty(), "a later step may make it yet");
    assert_eq!((carts.changes.entities(), carts.changes.undone(true)), (vec![], vec![CART.entity]));
    let rows: Vec<_> =
        carts.changes.rows_undone(CART.entity).filter_map(|row| Cart::read(0, row.row()?.words)).collect();
    assert_eq!(rows, [RUNG, RUNG]);
    carts.changes.forget_withdrawn();
    assert!(carts.changes.undone(true).is_empty() && carts.changes.rows_undone(CART.entity).next().is_none());
}

#[test]
fn what_had_ended_before_its_step_did_not_make_it_again_is_not_undone() {
    let mut carts = Carts::new();
    carts.step_as(2, MOVED);
    carts.changes.end(tick(9), |_| true);
    carts.step_without(2);
    assert!(carts.changes.undone(true).is_empty());
}

#[test]
fn what_an_entity_was_given_and_then_lost_is_not_given() {
    let mut carts = Carts::new();
    let given =
        |carts: &Carts, now| FoundChanges { changes: &carts.changes, tick: tick(now) }.given(ComponentId(1)).count();
    carts.step(2, Some(|rows: &mut Rows| rows.set(CART, &Wreck { since: 2 })));
    assert_eq!([2, 3].map(|now| given(&carts, now)), [0, 1]);
    carts.step(3, Some(|rows: &mut Rows| rows.remove_entity(CART.entity)));
    assert_eq!([3, 4].map(|now| given(&carts, now)), [1, 0]);
}
