//! Tests of how a row is found that steps have changed and that goes on as it is told.

use super::*;
use crate::world::{Owned, Rows, Schema};
use crate::{Entity, State};

const OF: Owned = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 1), owner: PlayerId::SERVER };
const DEPOT: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 2);

#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Tram {
    #[state(position)]
    at: [f32; 1],
    #[state(velocity)]
    velocity: [f32; 1],
    #[state(parent)]
    within: Option<Entity>,
    #[state(blended)]
    fuel: f32,
    #[state(blended)]
    heat: f32,
    bell: u8,
    doors: u8,
}

const BEFORE: Tram = Tram { at: [1.0], velocity: [5.0], within: None, fuel: 9.0, heat: 2.0, bell: 0, doors: 0 };
const TOLD: Tram = Tram { at: [3.0], velocity: [4.0], within: Some(DEPOT), fuel: 8.0, heat: 3.0, bell: 0, doors: 7 };

fn rows(tram: &Tram) -> Rows {
    let mut rows = Rows::new(&Schema::of::<Tram>());
    rows.set(OF, tram);
    rows
}

/// A row that a step has made of another, or has not found.
fn made(found: Option<&Tram>, made: &Tram) -> ChangedRow {
    let found = found.map(|found| padded(rows(found).iter().next().expect("one").words));
    ChangedRow::made(rows(made).iter().next().expect("one"), found.as_ref())
}

/// How it is found beside what is told, by changes of which the last is the first; and whether it stays where it is.
fn found(by: &[ChangedRow]) -> (Tram, bool) {
    let motion = Schema::of::<Tram>().components()[0].motion_words();
    let found = FoundRow::of(by.iter(), motion).expect("there are some");
    let (told, mut words) = (rows(&TOLD), [0; ROW_WORDS_MAX]);
    let row = found.over(told.iter().next().map(|row| row.words), &mut words).expect("it is there");
    (Tram::read(0, row.words).expect("a tram"), found.stays())
}

#[test]
fn what_no_step_has_put_elsewhere_goes_on_with_all_that_moves() {
    let rung = Tram { bell: 1, ..BEFORE };
    assert_eq!(found(&[made(Some(&BEFORE), &rung)]), (Tram { bell: 1, doors: 0, ..TOLD }, false));
}

#[test]
fn what_is_blended_goes_on_where_no_step_has_made_another_of_it() {
    let fuelled = Tram { fuel: 20.0, ..BEFORE };
    assert_eq!(found(&[made(Some(&BEFORE), &fuelled)]), (Tram { fuel: 20.0, doors: 0, ..TOLD }, false));
}

#[test]
fn what_a_step_has_put_elsewhere_or_made_as_fast_is_as_the_last_step_has_made_it() {
    let stopped = Tram { velocity: [0.0], ..BEFORE };
    let rung = Tram { bell: 1, ..stopped };
    let by = [made(Some(&stopped), &rung), made(Some(&BEFORE), &stopped)];
    assert_eq!(found(&by), (rung, true));
    assert_eq!(found(&by[..1]), (Tram { bell: 1, doors: 0, ..TOLD }, false), "when the first is over it goes on");
    let entered = Tram { within: Some(DEPOT), ..BEFORE };
    assert_eq!(found(&[made(Some(&BEFORE), &entered)]), (entered, true));
}

#[test]
fn what_a_step_has_not_found_is_given_and_stays_whatever_a_later_one_makes_of_it() {
    let rung = Tram { bell: 1, ..BEFORE };
    let by = [made(Some(&BEFORE), &rung), made(None, &BEFORE)];
    assert_eq!(found(&by), (rung, true));
    let motion = Schema::of::<Tram>().components()[0].motion_words();
    let found = FoundRow::of(by.iter(), motion).expect("two");
    let mut words = [0; ROW_WORDS_MAX];
    let later = FoundRow::of(by[..1].iter(), motion).expect("one");
    assert!(later.over(None, &mut words).is_none(), "when what gave it is over and it is not told it is not there");
    assert_eq!(found.over(None, &mut words).and_then(|row| Tram::read(0, row.words)), Some(rung), "nothing is told");
}

#[test]
fn what_the_last_step_has_removed_is_not_found() {
    let gone = ChangedRow::gone(rows(&BEFORE).iter().next().expect("one").removed());
    let by = [gone, made(Some(&BEFORE), &Tram { bell: 1, ..BEFORE })];
    let found = FoundRow::of(by.iter(), Schema::of::<Tram>().components()[0].motion_words()).expect("two");
    assert!(found.row().is_none() && found.put_over(&mut [0; ROW_WORDS_MAX]).is_none());
}
