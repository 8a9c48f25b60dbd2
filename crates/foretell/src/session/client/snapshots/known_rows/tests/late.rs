//! Exact states that come late, after newer ones.

use super::*;

const SHUT: Door = Door::Shut { since: 3 };
const OPEN: Door = Door::Open { until: 9 };

fn door_rows(list: &[(&Door, PlayerId)]) -> Rows {
    let mut rows = Rows::new(&Schema::of::<Door>());
    for (door, owner) in list {
        rows.set(crate::world::Owned { entity: DOOR, owner: *owner }, *door);
    }
    rows.settle();
    rows
}

fn now(known: &KnownRows) -> Vec<u8> {
    known.rows().iter().map(|row| row.component.0).collect()
}

/// A door that is told by itself is told exactly in one state, which comes late, as another variant, of which nothing was known.
#[test]
fn a_late_exact_variant_does_not_end_the_one_that_was_told_before_without_standing_in_its_place() {
    let mut known = KnownRows::new(&Schema::of::<Door>(), STATES, TickRate::hz(64));
    tell_door(&mut known, 5, &SHUT, true);
    known.take_in_exact(Tick::new(5), ME, &door_rows(&[]), NOTHING);
    known.take_in_exact(Tick::new(7), ME, &door_rows(&[]), NOTHING);
    known.take_in_exact_late(Tick::new(6), ME, &door_rows(&[(&OPEN, OTHER)]), Tick::new(7));
    assert_eq!(
        (now(&known).len(), variants(&known, 7).len()),
        (1, 1),
        "it was told in state 5 and in 6, and that it is gone in none"
    );
}

/// What is another's and was told exactly in a late state alone, and is gone in the newest.
#[test]
fn a_late_exact_state_does_not_bring_back_anothers_row_that_was_gone_before_and_is_not_in_the_newest() {
    let mut known = known();
    tell(&mut known, 3, 0, Some(1));
    tell(&mut known, 4, 0, None);
    known.take_in_exact(Tick::new(5), ME, &rows_of(&[]), NOTHING);
    known.take_in_exact(Tick::new(7), ME, &rows_of(&[]), NOTHING);
    known.take_in_exact_late(Tick::new(6), ME, &rows_of(&[(0, OTHER, 2)]), Tick::new(7));
    // The next ones do not have it either.
    for tick in 8..12 {
        known.take_in_exact(Tick::new(tick), ME, &rows_of(&[]), Gone { keys: &[key(0)], hidden: &[] });
    }
    assert_eq!(truth_of(&known, 0), Truth::Gone);
}

/// Another's, the client's own in a state that comes late, and not in the newest any more.
#[test]
fn what_was_the_clients_own_in_a_late_state_alone_is_gone_also_where_it_was_anothers_before() {
    let mut known = known();
    assert!(tell(&mut known, 3, 0, Some(5)));
    take_own(&mut known, 7, &[]);
    take_own_late(&mut known, 6, &[(0, 6)]);
    let tracks = known.tracks();
    let is_there = tracks.has(key(0), &tracks.in_state(Tick::new(7)));
    assert_eq!((is_there, truth_of(&known, 0)), (false, Truth::Gone), "tracks and rows say the same");
}

#[test]
fn no_second_variant_stands_beside_what_was_the_clients_own_in_a_late_state_alone() {
    let mut known = KnownRows::new(&Schema::of::<Door>(), STATES, TickRate::hz(64));
    tell_door(&mut known, 3, &Door::Ajar, true);
    known.take_in_exact(Tick::new(5), ME, &door_rows(&[]), NOTHING);
    known.take_in_exact_late(Tick::new(4), ME, &door_rows(&[(&Door::Ajar, ME)]), Tick::new(5));
    tell_door(&mut known, 5, &SHUT, true);
    assert_eq!(now(&known), [0], "an entity has one variant of an enum at a time");
}
