//! A list or a map of states is published and adopted as by hand: row by row, name by name.

use foretell::{Entity, Kind, PlayerId, Rows, State, Tick};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Thing {
    Ball { at: u8 },
    Box { at: u8, full: bool },
}

/// Few names, so that they meet.
fn thing() -> impl Strategy<Value = (Entity, Thing)> {
    (0..2u8, 1..4u16, 0..3u32, 0..3u8).prop_map(|(kind, player, tick, at)| {
        let thing = if kind == 0 { Thing::Ball { at } } else { Thing::Box { at, full: at == 1 } };
        (Entity::new(Kind(kind), PlayerId::new(player), Tick::new(tick), 0), thing)
    })
}

/// Each name once.
fn things() -> impl Strategy<Value = Vec<(Entity, Thing)>> {
    vec(thing(), 0..12).prop_map(distinct)
}

/// Each name once, in any order.
fn distinct(mut things: Vec<(Entity, Thing)>) -> Vec<(Entity, Thing)> {
    let mut known = Vec::new();
    things.retain(|(entity, _)| !known.contains(entity) && (known.push(*entity), true).1);
    things
}

/// Rows of `first` that were settled, then of `second`.
fn published(
    first: &[(Entity, Thing)],
    second: &[(Entity, Thing)],
    publish: impl Fn(&mut Rows, &[(Entity, Thing)]),
) -> Rows {
    let mut rows = Rows::new(&Thing::schema());
    publish(&mut rows, first);
    rows.settle();
    publish(&mut rows, second);
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_published_is_all_there_is_and_what_changed_is_named(first in things(), second in things()) {
        let by_hand = published(&first, &second, |rows, all| {
            rows.retain(|entity| all.iter().any(|(known, _)| *known == entity));
            all.iter().for_each(|(entity, thing)| rows.set(*entity, thing));
        });
        let by_reference = published(&first, &second, |rows, all| rows.publish_all(all));
        let by_value = published(&first, &second, |rows, all| rows.publish_all(all.iter().copied()));
        prop_assert_eq!(&by_reference, &by_hand);
        prop_assert_eq!(&by_value, &by_hand);
        let from_map = published(&first, &second, |rows, all| {
            let map: BTreeMap<_, _> = all.iter().copied().collect();
            rows.publish_all(&map);
        });
        prop_assert!(from_map.iter().eq(by_hand.iter()));
        prop_assert_eq!(from_map.removed(), by_hand.removed());
    }

    #[test]
    fn what_is_adopted_overwrites_creates_and_removes_and_the_rest_stays(
        known in things(), first in things(), second in things(),
    ) {
        let rows = published(&first, &second, |rows, all| rows.publish_all(all));
        let mut by_hand: BTreeMap<_, _> = known.iter().copied().collect();
        by_hand.retain(|entity, _| !rows.removed().contains(entity));
        by_hand.extend(rows.states::<Thing>());
        let (mut map, mut list) = (known.iter().copied().collect::<BTreeMap<_, _>>(), known);
        rows.adopt_into(&mut map);
        rows.adopt_into(&mut list);
        prop_assert_eq!(&map, &by_hand);
        prop_assert_eq!(list, by_hand.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn publishing_and_adopting_what_comes_and_goes_allocates_nothing(all in things(), fewer in 0..12usize) {
        let fewer = &all[..fewer.min(all.len())];
        let (mut rows, mut list) = (Rows::new(&Thing::schema()), Vec::<(Entity, Thing)>::new());
        let mut cycle = || {
            for now in [fewer, &all] {
                rows.publish_all(now);
                rows.adopt_into(&mut list);
                rows.settle();
            }
            list.len()
        };
        prop_assert_eq!(cycle(), all.len());
        prop_assert_eq!(cycle(), all.len());
        prop_assert_eq!(allocation_counter::measure(|| { cycle(); }).count_total, 0);
    }
}
