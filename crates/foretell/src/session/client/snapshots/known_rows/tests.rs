//! Whatever order datagrams come in, the newest counts of each row.

use super::*;
use crate::session::client::snapshots::shown_row_reader::ShownRow;
use crate::session::test_states::{self, PURSE, SHIP};
use crate::time::{TickRate, TickTime};
use crate::world::{ComponentId, Entity, PredictionSet};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use foretell::State;
use proptest::prelude::*;

mod late;

const ME: PlayerId = PlayerId::new(1);
const OTHER: PlayerId = PlayerId::new(2);
const KEYS: u16 = 4;
const NOTHING: Gone<'static> = Gone { keys: &[], hidden: &[] };
const STATES: usize = 8;

/// What a row is in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Truth {
    Gone,
    Another(u32),
    Own(u32),
}

fn key(nth: u16) -> RowKey {
    test_states::key(SHIP, Entity::new(PlayerId::SERVER, Tick::ZERO, nth))
}

fn known() -> KnownRows {
    KnownRows::new(&test_states::schema(), STATES, TickRate::hz(64))
}

/// A row of another, or that it is gone.
fn tell(known: &mut KnownRows, tick: u32, nth: u16, word: Option<u32>) -> bool {
    tell_resting(known, tick, nth, word, false)
}

fn tell_resting(known: &mut KnownRows, tick: u32, nth: u16, word: Option<u32>, rests: bool) -> bool {
    let row = word.map(|_| ShownRow { owner: OTHER, rests });
    let record = ShownRecord { key: key(nth), row, is_hidden: false };
    known.take_in(Tick::new(tick), &record, word.as_slice())
}

fn rows_of(list: &[(u16, PlayerId, u32)]) -> Rows {
    let mut rows = Rows::new(&test_states::schema());
    for (nth, owner, word) in list {
        let RowKey { component, entity } = key(*nth);
        rows.set_words(Row { component, entity, owner: *owner, words: &[*word] });
    }
    rows.settle();
    rows
}

fn take_own(known: &mut KnownRows, tick: u32, own: &[(u16, u32)]) {
    let own: Vec<_> = own.iter().map(|(nth, word)| (*nth, ME, *word)).collect();
    known.take_in_exact(Tick::new(tick), ME, &rows_of(&own), NOTHING);
}

fn truth_of(known: &KnownRows, nth: u16) -> Truth {
    match known.rows().get(key(nth)) {
        None => Truth::Gone,
        Some(row) if row.owner == ME => Truth::Own(row.words[0]),
        Some(row) => Truth::Another(row.words[0]),
    }
}

fn truths() -> impl Strategy<Value = Vec<Vec<Truth>>> {
    let truth =
        prop_oneof![Just(Truth::Gone), (0_u32..256).prop_map(Truth::Another), (0_u32..256).prop_map(Truth::Own)];
    prop::collection::vec(prop::collection::vec(truth, usize::from(KEYS)), 12)
}

proptest! {
    /// Each event is of a state: 0 tells the client's own rows, another number that row of others.
    #[test]
    fn in_whatever_order_and_however_often_they_come_the_newest_counts_and_nothing_gone_comes_back(
        truths in truths(), events in prop::collection::vec((0_usize..12, 0..=KEYS), 0..80),
    ) {
        let mut known = known();
        let mut told = BTreeMap::new();
        let (mut newest_own, mut own_in) = (None, BTreeMap::new());
        for (tick, nth) in events {
            let of = &truths[tick];
            let ticks = u32::try_from(tick).expect("small") + 1;
            if let Some(nth) = nth.checked_sub(1) {
                let word = match of[usize::from(nth)] {
                    Truth::Own(_) => continue,
                    Truth::Another(word) => Some(word),
                    Truth::Gone => None,
                };
                tell(&mut known, ticks, nth, word);
                let newest = told.entry(nth).or_insert(tick);
                *newest = tick.max(*newest);
            } else if newest_own < Some(tick) {
                // An older snapshot changes nothing.
                let own = of.iter().zip(0..).filter_map(|(truth, nth)| match truth {
                    Truth::Own(word) => Some((nth, *word)),
                    _ => None,
                });
                let own: Vec<_> = own.collect();
                take_own(&mut known, ticks, &own);
                newest_own = Some(tick);
                own_in.extend(own.iter().map(|(nth, _)| (*nth, tick)));
            }
            for nth in 0..KEYS {
                let (shown, own) = (told.get(&nth).copied(), own_in.get(&nth).copied());
                let of = |tick: usize| truths[tick][usize::from(nth)];
                let expected = match (shown, own) {
                    (Some(shown), own) if Some(shown) > own => of(shown),
                    (_, Some(own)) if Some(own) == newest_own => of(own),
                    _ => Truth::Gone,
                };
                let found = truth_of(&known, nth);
                // That the client's own is gone since, the next snapshot says, too.
                let is_own = |own: usize| Some(own) == newest_own && found == of(own) && expected == Truth::Gone;
                prop_assert!(found == expected || own.is_some_and(is_own), "{}: {:?}, not {:?}", nth, found, expected);
            }
        }
    }
}

#[test]
fn what_was_the_clients_own_is_not_brought_back_by_what_was_told_before() {
    let mut known = known();
    assert!(tell(&mut known, 1, 0, Some(5)));
    take_own(&mut known, 2, &[(0, 6)]);
    assert!(!tell(&mut known, 1, 0, Some(5)) && !tell(&mut known, 2, 0, None));
    take_own(&mut known, 4, &[]);
    assert!(!tell(&mut known, 2, 0, Some(5)));
    assert_eq!(truth_of(&known, 0), Truth::Gone);
    assert!(tell(&mut known, 3, 0, Some(7)), "it was given away after state 2");
    assert_eq!(truth_of(&known, 0), Truth::Another(7));
}

#[test]
fn what_is_anothers_by_now_does_not_become_the_clients_own_by_an_older_snapshot() {
    let mut known = known();
    take_own(&mut known, 1, &[(0, 6), (1, 8)]);
    assert!(tell(&mut known, 3, 0, Some(7)));
    take_own(&mut known, 2, &[(0, 6), (1, 9)]);
    assert_eq!([0, 1].map(|nth| truth_of(&known, nth)), [Truth::Another(7), Truth::Own(9)]);
    take_own(&mut known, 4, &[(1, 9)]);
    assert_eq!([0, 1].map(|nth| truth_of(&known, nth)), [Truth::Another(7), Truth::Own(9)]);
}

/// The client's own rows, as they were in a state that comes late.
fn take_own_late(known: &mut KnownRows, tick: u32, own: &[(u16, u32)]) {
    let own: Vec<_> = own.iter().map(|(nth, word)| (*nth, ME, *word)).collect();
    known.take_in_exact_late(Tick::new(tick), ME, &rows_of(&own), Tick::new(7));
}

#[test]
fn a_late_state_says_how_the_clients_own_was_between_those_that_are_known_and_not_what_there_is() {
    let mut known = known();
    take_own(&mut known, 3, &[(0, 3)]);
    take_own(&mut known, 7, &[(0, 7)]);
    take_own_late(&mut known, 5, &[(0, 5), (1, 5)]);
    let last = |until: u32| known.tracks().last(key(0), Tick::new(until)).map(|(tick, words)| (tick.get(), words[0]));
    assert_eq!([4, 6, 8].map(last), [Some((3, 3)), Some((5, 5)), Some((7, 7))]);
    assert_eq!([0, 1].map(|nth| truth_of(&known, nth)), [Truth::Own(7), Truth::Gone]);
    assert_eq!(known.tracks().find(key(1)), None, "it was gone before anything was known of it");
}

#[test]
fn a_late_state_does_not_bring_back_what_was_the_clients_own_and_ended() {
    let mut known = known();
    take_own(&mut known, 3, &[(0, 3)]);
    take_own(&mut known, 7, &[]);
    take_own_late(&mut known, 5, &[(0, 5)]);
    let tracks = known.tracks();
    let is_there = |tick: u32| tracks.has(key(0), &tracks.in_state(Tick::new(tick)));
    assert_eq!([4, 6, 8].map(is_there), [true, true, false]);
}

#[test]
fn a_late_state_does_not_bring_back_what_was_the_clients_own_for_that_state_alone() {
    let mut known = known();
    take_own(&mut known, 3, &[(0, 3)]);
    take_own(&mut known, 4, &[]);
    take_own(&mut known, 7, &[]);
    take_own_late(&mut known, 6, &[(0, 6)]);
    let tracks = known.tracks();
    let is_there = |tick: u32| tracks.has(key(0), &tracks.in_state(Tick::new(tick)));
    assert_eq!([3, 5, 6, 7].map(is_there), [true, false, true, false]);
    assert_eq!(truth_of(&known, 0), Truth::Gone);
}

#[test]
fn what_everybody_but_its_owner_sees_is_gone_where_the_entity_is_the_clients_own_by_now() {
    let schema = test_states::schema_of_others();
    let mut known = KnownRows::new(&schema, STATES, TickRate::hz(64));
    let [rumour, purse] = [SHIP, PURSE].map(|component| [0, 1].map(|nth| RowKey { component, ..key(nth) }));
    for key in rumour {
        let record = ShownRecord { key, row: Some(ShownRow { owner: OTHER, rests: false }), is_hidden: false };
        assert!(known.take_in(Tick::new(1), &record, &[1]));
    }
    let mut own = Rows::new(&schema);
    let RowKey { component, entity } = purse[0];
    own.set_words(Row { component, entity, owner: ME, words: &[2] });
    known.take_in_exact(Tick::new(2), ME, &own, NOTHING);
    assert_eq!(rumour.map(|key| known.rows().words(key).is_some()), [false, true]);
    let tracks = known.tracks();
    let has = |tick: u32| rumour.map(|key| tracks.has(key, &tracks.in_state(Tick::new(tick))));
    assert_eq!([1, 2].map(has), [[true, true], [false, true]]);
}

#[test]
fn what_is_told_exactly_of_others_stays_as_it_was_until_it_is_told_by_itself_or_gone() {
    let mut known = known();
    for (nth, tick) in [(0, 3), (1, 7)] {
        tell(&mut known, tick, nth, Some(u32::from(nth)));
    }
    let mut exact = |tick: u32, of: &[(u16, PlayerId, u32)], gone: &[u16], hidden: &[u16]| {
        let keys: Vec<_> = gone.iter().map(|nth| key(*nth)).collect();
        let hidden: Vec<_> = hidden.iter().map(|nth| key(*nth).entity).collect();
        known.take_in_exact(Tick::new(tick), ME, &rows_of(of), Gone { keys: &keys, hidden: &hidden });
        [0, 1, 2, 3].map(|nth| truth_of(&known, nth))
    };
    let of_others = [(0, OTHER, 50), (1, OTHER, 51), (2, OTHER, 52), (3, OTHER, 53)];
    let [newer, first, second, third] = [1, 50, 52, 53].map(Truth::Another);
    assert_eq!(exact(6, &of_others, &[], &[]), [first, newer, second, third]);
    // One is not told exactly any more, another is not there.
    assert_eq!(exact(8, &of_others[..1], &[1, 2], &[1]), [first, newer, Truth::Gone, third]);
    assert!(tell_resting(&mut known, 8, 0, Some(50), true), "that it rests is news");
    assert!(!tell(&mut known, 7, 2, Some(9)) && tell(&mut known, 8, 3, Some(9)));
    known.take_in_exact_late(Tick::new(7), ME, &rows_of(&[(0, OTHER, 49), (2, OTHER, 49)]), Tick::new(8));
    assert_eq!([0, 2].map(|nth| truth_of(&known, nth)), [first, Truth::Gone]);
}

#[test]
fn what_may_bring_back_a_row_whose_end_is_forgotten_is_too_old() {
    let mut known = known();
    assert!(tell(&mut known, 10, 0, None) && tell(&mut known, 11, 1, Some(1)));
    known.tracks_mut().end_update(TickTime::default(), 1);
    assert!(!known.is_too_old(Tick::new(1)) && !tell(&mut known, 9, 0, Some(1)));
    // Long after, the row that is gone is forgotten, and the other is not.
    assert!(tell(&mut known, 100, 2, Some(1)));
    known.tracks_mut().end_update(TickTime::default(), 1);
    assert!(known.is_too_old(Tick::new(10)) && !known.is_too_old(Tick::new(100)));
    assert_eq!([0, 1].map(|nth| known.tracks().find(key(nth)).is_some()), [false, true]);
}

/// Everybody sees one of its components, and its owner the other, which is nothing without the first.
#[derive(State, Clone, Copy)]
struct Wagon {
    seen: u8,
    #[state(audience = owner)]
    load: u8,
}

/// Tells of a wagon of another one of its components, or that it is gone.
fn tell_wagon(known: &mut KnownRows, nth: u16, component: u8, is_there: bool) {
    let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, nth);
    let key = RowKey { component: ComponentId(component), entity };
    let row = is_there.then_some(ShownRow { owner: OTHER, rests: false });
    let tick = Tick::new(u32::from(nth) / 64 + 1 + u32::from(!is_there));
    known.take_in(tick, &ShownRecord { key, row, is_hidden: false }, &[1][..usize::from(is_there)]);
}

#[test]
fn rows_that_wait_for_the_first_of_their_entity_are_not_shown_and_are_counted_until_it_comes() {
    let schema = Schema::of::<Wagon>();
    let mut known = KnownRows::new(&schema, STATES, TickRate::hz(64));
    let counts = |known: &mut KnownRows| {
        let own = Rows::new(&schema);
        known.take_in_exact(Tick::new(2), ME, &own, NOTHING);
        (known.state_with(Tick::new(2), &PredictionSet::own(ME), &own).len(), known.orphans())
    };
    (0..100).for_each(|nth| tell_wagon(&mut known, nth, 1, true));
    assert_eq!(counts(&mut known), (0, 100));
    (0..40).for_each(|nth| tell_wagon(&mut known, nth, 0, true));
    assert_eq!(counts(&mut known), (80, 60));
    (40..100).for_each(|nth| tell_wagon(&mut known, nth, 0, true));
    assert_eq!(counts(&mut known), (200, 0));
}

#[test]
fn however_many_rows_of_unknown_entities_come_and_go_they_take_no_memory_beside_the_rows() {
    let mut known = KnownRows::new(&Schema::of::<Wagon>(), STATES, TickRate::hz(64));
    let mut tell_all = || {
        for nth in 0..20_000 {
            tell_wagon(&mut known, nth, 1, true);
            tell_wagon(&mut known, nth, 1, false);
        }
    };
    tell_all();
    let used = allocation_counter::measure(tell_all);
    assert_eq!(used.bytes_current, 0, "{used:?}");
}

/// A door is one of these at a time.
#[derive(State, Clone, Copy)]
enum Door {
    Shut { since: u8 },
    Ajar,
    Open { until: u8 },
}

const DOOR: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);

fn tell_door(known: &mut KnownRows, tick: u32, door: &Door, is_there: bool) {
    let (nth, words): (usize, &[u32]) = match door {
        Door::Shut { since } => (0, &[u32::from(*since)]),
        Door::Ajar => (1, &[]),
        Door::Open { until } => (2, &[u32::from(*until)]),
    };
    let key = RowKey { component: ComponentId::nth(nth), entity: DOOR };
    let row = is_there.then_some(ShownRow { owner: OTHER, rests: false });
    known.take_in(Tick::new(tick), &ShownRecord { key, row, is_hidden: false }, if is_there { words } else { &[] });
}

/// The variants that are there in a state.
fn variants(known: &KnownRows, tick: u32) -> Vec<u8> {
    let look = known.tracks().in_state(Tick::new(tick));
    let keys = (0..3).map(|nth| RowKey { component: ComponentId(nth), entity: DOOR });
    keys.filter(|key| known.tracks().has(*key, &look)).map(|key| key.component.0).collect()
}

proptest! {
    /// A door changes in each of some ticks; the rows of these come in any order, and more than once.
    #[test]
    fn an_enum_is_one_variant_at_a_time_in_whatever_order_they_are_told(
        doors in prop::collection::vec(0_u8..3, 6), events in prop::collection::vec((0_usize..6, any::<bool>()), 1..30),
    ) {
        let mut known = KnownRows::new(&Schema::of::<Door>(), STATES, TickRate::hz(64));
        let all = [Door::Shut { since: 3 }, Door::Ajar, Door::Open { until: 9 }];
        let mut told = Vec::new();
        for (at, is_end) in events {
            let (tick, door) = (u32::try_from(at).expect("small") + 1, doors[at]);
            let before = at.checked_sub(1).map(|before| doors[before]).filter(|before| *before != door);
            match before.filter(|_| is_end) {
                // That the one before is over is told by itself.
                Some(before) => tell_door(&mut known, tick, &all[usize::from(before)], false),
                None => {
                    tell_door(&mut known, tick, &all[usize::from(door)], true);
                    told.push(at);
                }
            }
            prop_assert!((1..8).all(|tick| variants(&known, tick).len() <= 1), "{:?}", known.tracks());
            if let Some(newest) = told.iter().max() {
                let rows: Vec<_> = known.rows().iter().map(|row| row.component.0).collect();
                prop_assert_eq!(rows.len().min(1), rows.len());
                if variants(&known, 7).is_empty() {
                    // It has been told that this is over, and of nothing since.
                    prop_assert!(doors[newest + 1..].iter().any(|door| *door != doors[*newest]));
                } else {
                    prop_assert_eq!(rows, vec![doors[*newest]]);
                }
            }
        }
    }
}

#[test]
fn a_variant_that_another_has_followed_is_there_until_that_is_and_one_that_none_has_followed_ends() {
    let mut known = KnownRows::new(&Schema::of::<Door>(), STATES, TickRate::hz(64));
    tell_door(&mut known, 1, &Door::Shut { since: 3 }, true);
    tell_door(&mut known, 4, &Door::Open { until: 9 }, true);
    tell_door(&mut known, 3, &Door::Shut { since: 3 }, false);
    assert_eq!([1, 2, 3, 4].map(|tick| variants(&known, tick)), [vec![0], vec![0], vec![0], vec![2]]);
    tell_door(&mut known, 6, &Door::Open { until: 9 }, false);
    tell_door(&mut known, 5, &Door::Open { until: 9 }, true);
    assert_eq!([5, 6].map(|tick| variants(&known, tick)), [vec![2], vec![]]);
    assert!(known.rows().is_empty());
}
