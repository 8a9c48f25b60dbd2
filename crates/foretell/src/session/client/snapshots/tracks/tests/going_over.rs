//! What goes over from predicted to told is shown as what it was predicted to be.

use super::*;
use crate::session::test_states::PURSE;

/// Of two components, the second from state 8 on; the first until then, or all the time.
fn changes_in_8(is_first_gone: bool) -> Tracks {
    let (mut tracks, RowKey { entity, .. }) = (tracks(), key(0));
    (3..=if is_first_gone { 7 } else { 9 }).for_each(|tick| _ = put(&mut tracks, tick, 0, tick, false));
    if is_first_gone {
        end(&mut tracks, 8, 0);
    }
    for tick in [8, 9] {
        let row = Row { component: PURSE, entity, owner: OTHER, words: &[10 * tick] };
        tracks.put(Tick::new(tick), row, false);
    }
    tracks
}

/// The rows of these components of the entity, as they were predicted.
fn predicted(components: &[ComponentId]) -> Rows {
    let mut rows = Rows::new(&test_states::schema());
    components.iter().for_each(|component| test_states::set(&mut rows, RowKey { component: *component, ..key(0) }, 0));
    rows.settle();
    rows
}

#[test]
fn what_goes_over_as_something_else_than_it_is_at_a_point_is_that_from_there_on() {
    let (mut tracks, entity) = (changes_in_8(true), key(0).entity);
    let at = look(&tracks, 5.5, 9);
    assert!(tracks.has(key(0), &at) && !tracks.has(test_states::key(PURSE, entity), &at));
    tracks.go_over(entity, &predicted(&[PURSE]), &at);
    assert!(!tracks.has(key(0), &at), "what it was is shown no more");
    let (mut samples, nth) = ([None; 4], tracks.find(test_states::key(PURSE, entity)).expect("it is known"));
    tracks.around(PURSE, nth, &at, &mut samples).expect("it is there");
    assert_eq!(samples[1], Some((Tick::new(8), &[80][..])));
    assert!(!put(&mut tracks, 6, 0, 60, false) && !tracks.has(key(0), &at), "nor where a state of before comes late");
}

#[test]
fn what_goes_over_as_what_it_is_at_a_point_goes_on_from_there_whatever_else_it_has() {
    for components in [&[SHIP, PURSE][..], &[SHIP]] {
        let mut tracks = changes_in_8(false);
        let at = look(&tracks, 5.5, 9);
        let before = around(&tracks, 0, &at);
        tracks.go_over(key(0).entity, &predicted(components), &at);
        assert_eq!(around(&tracks, 0, &at), before);
        assert!(before.is_some_and(|of| of[1] == Some((5, 5))));
    }
}
