//! Tables: what is published, adopted, saved and loaded of them is what is in them, whatever was done to them before.

use foretell::{
    ComponentId, Entity, Field, Input, Owned, PlayerId, RowKey, Rows, Schema, Simulate, State, Step, Table, Text, Tick,
    TickRate, World,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// With a part that its owner alone sees.
#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Walker {
    at: u8,
    #[state(audience = owner)]
    coins: u8,
}

/// One or the other.
#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Thing {
    Ball {
        at: u8,
    },
    #[state(audience = owner)]
    Secret(u8),
    Flag,
}

#[derive(World, Clone, Default, PartialEq, Debug)]
struct Yard {
    walkers: Table<Walker>,
    things: Table<Thing>,
    #[world(saved)]
    steps: u32,
    #[world(constant)]
    level: Vec<u8>,
}

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Nothing(bool);

impl Simulate for Yard {
    type Input = Nothing;

    fn step(&mut self, _step: &mut Step<'_, Nothing>) {
        self.steps += 1;
    }
}

/// What may be done to a table; entities are few, so that they meet.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Walker(Owned, u8),
    Thing(Owned, u8),
    Move(Entity, u8),
    Give(Entity, u16),
    Remove(Entity),
    RemoveThing(Entity),
    Spawn(u16),
    /// Without a change: it is written what there is.
    Touch(Entity),
}

fn entity() -> impl Strategy<Value = Entity> {
    (0..3u32, 1..3u16, 0..3u16)
        .prop_map(|(tick, player, counter)| Entity::new(PlayerId::new(player), Tick::new(tick), counter))
}

fn owned() -> impl Strategy<Value = Owned> {
    (entity(), 0..4u16).prop_map(|(entity, owner)| Owned { entity, owner: PlayerId::new(owner) })
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        3 => (owned(), any::<u8>()).prop_map(|(of, at)| Turn::Walker(of, at)),
        3 => (owned(), any::<u8>()).prop_map(|(of, at)| Turn::Thing(of, at)),
        3 => (entity(), any::<u8>()).prop_map(|(entity, at)| Turn::Move(entity, at)),
        2 => (entity(), 0..4u16).prop_map(|(entity, owner)| Turn::Give(entity, owner)),
        2 => entity().prop_map(Turn::Remove),
        2 => entity().prop_map(Turn::RemoveThing),
        1 => (0..3u16).prop_map(Turn::Spawn),
        1 => entity().prop_map(Turn::Touch),
    ]
}

/// The turns of each of several ticks.
fn ticks() -> impl Strategy<Value = Vec<Vec<Turn>>> {
    vec(vec(turn(), 0..8), 1..8)
}

fn thing(at: u8) -> Thing {
    [Thing::Ball { at }, Thing::Secret(at), Thing::Flag][usize::from(at % 3)]
}

impl Yard {
    fn take_turn(&mut self, turn: Turn, step: &mut Step<'_, Nothing>) {
        match turn {
            Turn::Walker(of, at) => self.walkers.insert(of, Walker { at, coins: at / 2 }),
            Turn::Thing(of, at) => self.things.insert(of, thing(at)),
            Turn::Move(entity, at) => {
                self.walkers.get_mut(entity).into_iter().for_each(|mut walker| walker.at = at);
                self.things.get_mut(entity).into_iter().for_each(|mut known| *known = thing(at));
            }
            Turn::Give(entity, owner) => {
                let (owner, before) = (PlayerId::new(owner), self.walkers.get(entity).is_some());
                assert_eq!(self.walkers.set_owner(entity, owner), before);
                self.things.set_owner(entity, owner);
            }
            Turn::Remove(entity) => drop(self.walkers.remove(entity)),
            Turn::RemoveThing(entity) => drop(self.things.remove(entity)),
            Turn::Spawn(player) => {
                let spawned = self.walkers.spawn(step, PlayerId::new(player), Walker { at: 1, coins: 2 });
                self.things.insert(Owned { entity: spawned, owner: PlayerId::new(player) }, Thing::Flag);
            }
            Turn::Touch(entity) => {
                let walker = self.walkers.get(entity).map(|walker| *walker);
                self.walkers.get_mut(entity).into_iter().zip(walker).for_each(|(mut known, same)| *known = same);
            }
        }
    }

    /// The same world whose rows were never published.
    fn unpublished(&self) -> Yard {
        let mut yard = Yard::default();
        self.walkers.iter().for_each(|walker| yard.walkers.insert(walker.owned(), *walker));
        self.things.iter().for_each(|known| yard.things.insert(known.owned(), *known));
        yard
    }
}

fn published(yard: &mut Yard) -> Rows {
    let mut rows = Rows::new(&Yard::schema());
    yard.publish(&mut rows);
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn what_is_published_is_all_there_is_and_what_changed_is_named(ticks in ticks()) {
        let mut yard = Yard::default();
        let mut there = Yard::default();
        let (mut rows, schema) = (Rows::new(&Yard::schema()), Yard::schema());
        for (nth, turns) in (10..).zip(ticks) {
            let before: Vec<_> = rows.iter().map(|row| (row.key(), row.owner, row.words.to_vec())).collect();
            let mut step = Step::new(Tick::new(nth), TickRate::default(), foretell::world::Side::Server, &[]);
            turns.into_iter().for_each(|turn| yard.take_turn(turn, &mut step));
            yard.publish(&mut rows);
            let all = published(&mut yard.unpublished());
            prop_assert!(rows.iter().eq(all.iter()), "{rows:?} {all:?}");
            prop_assert_eq!(rows.digest(), all.digest());
            // Named as changed or removed is what is, and nothing else.
            for (key, owner, words) in &before {
                let row = rows.get(*key);
                let is_same = row.is_some_and(|row| row.owner == *owner && row.words == &words[..]);
                prop_assert_eq!(!is_same && row.is_some(), rows.changed().contains(key));
                prop_assert!(row.is_some() || rows.removed().iter().any(|removed| removed.key == *key));
            }
            let is_new = |key| before.iter().all(|(known, ..)| *known != key);
            prop_assert!(rows.iter().all(|row| !is_new(row.key()) || rows.changed().contains(&row.key())));
            // The other end.
            there.adopt(&rows);
            prop_assert_eq!((&there.walkers, &there.things), (&yard.walkers, &yard.things));
            let again = published(&mut there);
            prop_assert!(again.iter().eq(rows.iter()));
            // Somebody who sees but a part of it.
            let me = PlayerId::new(1);
            let mut seen = Rows::new(&schema);
            rows.seen_by(&schema, me).for_each(|row| seen.set_words(row));
            let mut mine = Yard::default();
            mine.adopt(&seen);
            prop_assert_eq!(mine.walkers.len(), yard.walkers.len());
            for (walker, known) in yard.walkers.iter().zip(mine.walkers.iter()) {
                let coins = if walker.owner() == me { walker.coins } else { 0 };
                prop_assert_eq!((*known, known.owned()), (Walker { coins, ..*walker }, walker.owned()));
            }
            rows.settle();
        }
    }

    #[test]
    fn what_is_adopted_overwrites_creates_and_removes_and_the_rest_stays(
        known in vec(turn(), 0..12), first in vec(turn(), 0..12), second in vec(turn(), 0..12),
    ) {
        let mut step = Step::new(Tick::new(9), TickRate::default(), foretell::world::Side::Server, &[]);
        let (mut yard, mut there, mut rows) = (Yard::default(), Yard::default(), Rows::new(&Yard::schema()));
        known.into_iter().for_each(|turn| there.take_turn(turn, &mut step));
        for turns in [first, second] {
            rows.settle();
            turns.into_iter().for_each(|turn| yard.take_turn(turn, &mut step));
            yard.publish(&mut rows);
        }
        // By hand, of what everybody has one row of.
        let mut by_hand: BTreeMap<Owned, Walker> = there.walkers.iter().map(|walker| (walker.owned(), *walker)).collect();
        let is_gone = |entity| rows.removed().iter().any(|row| row.key == RowKey { component: ComponentId(0), entity });
        by_hand.retain(|of, _| !is_gone(of.entity) && rows.state::<Walker>(of.entity).is_none());
        by_hand.extend(rows.states::<Walker>());
        there.adopt(&rows);
        prop_assert_eq!(there.walkers.iter().map(|walker| (walker.owned(), *walker)).collect::<BTreeMap<_, _>>(), by_hand);
    }

    #[test]
    fn what_was_adopted_as_known_is_published_when_it_is_changed_after_that(shown in ticks(), own in vec(turn(), 0..12)) {
        let (mut yard, mut there) = (Yard::default(), Yard::default());
        let (schema, mut rows) = (Yard::schema(), Rows::new(&Yard::schema()));
        let (mut seen, mut known) = (rows.clone(), rows.clone());
        for (nth, turns) in (10..).zip(shown) {
            let mut step = Step::new(Tick::new(nth), TickRate::default(), foretell::world::Side::Server, &[]);
            turns.into_iter().for_each(|turn| yard.take_turn(turn, &mut step));
            yard.publish(&mut rows);
            // Who sees but a part of it.
            let me = PlayerId::new(1);
            seen.settle();
            seen.retain(|key, _| rows.seen_by(&schema, me).any(|row| row.key() == key));
            rows.seen_by(&schema, me).for_each(|row| seen.set_words(row));
            there.adopt_known(&seen);
            seen.removed().iter().for_each(|gone| known.remove(gone.key));
            seen.iter().for_each(|row| known.set_words(row));
            there.publish(&mut known);
            known.settle();
            let all = published(&mut there.unpublished());
            prop_assert!(known.iter().eq(all.iter()), "{known:?} {all:?}");
            rows.settle();
            // Back in a state of which no more is known.
            let mut saved = <Yard as World>::Saved::default();
            there.save(&mut saved);
            there.load(&saved);
            known.copy_rows(&seen);
            there.publish(&mut known);
            prop_assert!(known.iter().eq(all.iter()), "{known:?} {all:?}");
            known.settle();
        }
        let mut step = Step::new(Tick::new(40), TickRate::default(), foretell::world::Side::Server, &[]);
        own.into_iter().for_each(|turn| there.take_turn(turn, &mut step));
        there.publish(&mut known);
        let all = published(&mut there.unpublished());
        prop_assert!(known.iter().eq(all.iter()), "{known:?} {all:?}");
    }

    #[test]
    fn what_was_saved_is_there_again_and_goes_on_to_be_published_as_if_nothing_had_been(
        first in ticks(), second in ticks(), takes: bool,
    ) {
        let mut yard = Yard { level: vec![7], ..Yard::default() };
        let play = |yard: &mut Yard, rows: &mut Rows, ticks: &[Vec<Turn>]| {
            for (nth, turns) in (10..).zip(ticks) {
                let mut step = Step::new(Tick::new(nth), TickRate::default(), foretell::world::Side::Server, &[]);
                turns.iter().for_each(|turn| yard.take_turn(*turn, &mut step));
                yard.step(&mut step);
                yard.publish(rows);
                rows.settle();
            }
        };
        let mut rows = Rows::new(&Yard::schema());
        play(&mut yard, &mut rows, &first);
        let (mut saved, at_save, rows_at_save) = (<Yard as World>::Saved::default(), yard.clone(), rows.clone());
        yard.save(&mut saved);
        play(&mut yard, &mut rows, &second);
        let (straight, straight_rows) = (yard.clone(), rows.clone());
        yard.level = vec![9];
        if takes { yard.take(&mut saved) } else { yard.load(&saved) }
        prop_assert_eq!(&yard, &Yard { level: vec![9], ..at_save });
        rows = rows_at_save;
        play(&mut yard, &mut rows, &second);
        prop_assert_eq!(&yard, &Yard { level: vec![9], ..straight });
        prop_assert!(rows.iter().eq(straight_rows.iter()));
    }

    #[test]
    fn publishing_and_adopting_what_comes_and_goes_allocates_nothing(turns in vec(turn(), 0..24)) {
        let (mut rows, mut yard, mut there) = (Rows::new(&Yard::schema()), Yard::default(), Yard::default());
        let mut saved = <Yard as World>::Saved::default();
        let mut cycle = || {
            let mut step = Step::new(Tick::new(10), TickRate::default(), foretell::world::Side::Server, &[]);
            for turn in turns.iter().filter(|turn| !matches!(turn, Turn::Spawn(_))) {
                yard.take_turn(*turn, &mut step);
            }
            for last in [false, true] {
                if last {
                    yard.walkers.retain(|_| false);
                    yard.things.retain(|_| false);
                }
                yard.publish(&mut rows);
                there.adopt(&rows);
                yard.save(&mut saved);
                there.load(&saved);
                rows.settle();
            }
        };
        cycle();
        cycle();
        prop_assert_eq!(allocation_counter::measure(&mut cycle).count_total, 0);
    }
}

#[test]
fn the_schema_of_a_world_is_that_of_its_tables_in_their_order() {
    let schema = Yard::schema();
    let names: Vec<_> = schema.components().iter().map(|component| component.name()).collect();
    assert_eq!(names, ["Walker", "Walker (owner)", "Ball", "Secret", "Flag"]);
    assert_eq!(schema, Schema::of::<Walker>().with::<Thing>());
}

#[test]
#[should_panic(expected = "stands twice in the schema")]
fn a_type_of_state_has_one_table() {
    let _ = Schema::of::<Walker>().with::<Walker>();
}

#[test]
fn what_is_left_as_it_was_is_not_published_again() {
    let mut yard = Yard::default();
    let names: Vec<_> = (0..100).map(|nth| Entity::new(PlayerId::SERVER, Tick::ZERO, nth)).collect();
    for entity in &names {
        yard.walkers.insert(Owned { entity: *entity, owner: PlayerId::SERVER }, Walker { at: 0, coins: 0 });
    }
    let mut rows = published(&mut yard);
    rows.settle();
    yard.walkers.iter_mut().filter(|walker| walker.at > 0).for_each(|mut walker| walker.at = 3);
    yard.walkers.get_mut(names[40]).expect("there").at = 5;
    yard.publish(&mut rows);
    let changed: Vec<_> = rows.changed().iter().map(|key| (key.component, key.entity)).collect();
    assert_eq!(changed, [(ComponentId(0), names[40])], "the coins are as they were");
}

/// Five walkers of different owners, of whom every second was written to since they were published.
fn five_walkers() -> (Yard, Rows) {
    let mut yard = Yard::default();
    for nth in 0..5_u8 {
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, nth.into());
        let owner = PlayerId::new(10 - u16::from(nth));
        yard.walkers.insert(Owned { entity, owner }, Walker { at: 0, coins: nth });
    }
    let mut rows = published(&mut yard);
    rows.settle();
    yard.walkers.iter_mut().step_by(2).for_each(|mut walker| walker.at += 100);
    (yard, rows)
}

#[test]
fn to_retain_some_is_to_remove_the_others_one_after_the_other() {
    for kept in 0..32_u32 {
        let (mut retained, mut rows) = five_walkers();
        let (mut removed, mut rows_of_removed) = five_walkers();
        let mut nth = 0..5;
        retained.walkers.retain(|_| nth.next().is_some_and(|nth| kept >> nth & 1 == 1));
        assert_eq!(nth.next(), None, "each is asked for once");
        let gone = (0..5).filter(|nth| kept >> nth & 1 == 0);
        gone.for_each(|nth| assert!(removed.walkers.remove(Entity::new(PlayerId::SERVER, Tick::ZERO, nth)).is_some()));
        assert_eq!(retained.walkers, removed.walkers, "{kept:05b}");
        retained.publish(&mut rows);
        removed.publish(&mut rows_of_removed);
        assert_eq!(rows, rows_of_removed, "{kept:05b}: also what has changed and what is gone, in that order");
    }
}

#[test]
fn a_table_that_is_put_back_from_a_copy_is_published_as_it_was() {
    for puts_back in [
        (|table, copy| *table = copy) as fn(&mut Table<Walker>, Table<Walker>),
        |table, copy| table.clone_from(&copy),
        |table, mut copy| std::mem::swap(table, &mut copy),
    ] {
        let (mut yard, mut rows) = five_walkers();
        let mut publish = |yard: &mut Yard| {
            yard.publish(&mut rows);
            rows.settle();
            assert!(rows.iter().eq(published(&mut yard.unpublished()).iter()), "{rows:?}");
        };
        publish(&mut yard);
        let copy = yard.walkers.clone();
        // Others are there meanwhile, as many, and one of those who stay has moved.
        let gone = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);
        assert!(yard.walkers.remove(gone).is_some());
        let other = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 9), owner: PlayerId::SERVER };
        yard.walkers.insert(other, Walker { at: 1, coins: 2 });
        yard.walkers.iter_mut().take(1).for_each(|mut walker| walker.at += 1);
        publish(&mut yard);
        puts_back(&mut yard.walkers, copy.clone());
        publish(&mut yard);
        assert_eq!(yard.walkers, copy);
    }
}

#[test]
#[should_panic(expected = "is there from the beginning")]
fn what_is_spawned_in_tick_0_does_not_take_the_place_of_what_a_level_begins_with() {
    let (mut yard, _) = five_walkers();
    let mut step: Step<'_, Nothing> = Step::new(Tick::ZERO, TickRate::default(), foretell::world::Side::Server, &[]);
    yard.walkers.spawn(&mut step, PlayerId::SERVER, Walker { at: 9, coins: 9 });
}

/// What games may well call a state.
#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Saved {
    at: u8,
}

#[derive(World, Default)]
struct Harbour {
    crews: Table<Saved>,
    #[world(saved)]
    last: Option<Saved>,
}

impl Simulate for Harbour {
    type Input = Nothing;

    fn step(&mut self, _step: &mut Step<'_, Nothing>) {}
}

#[test]
fn a_world_may_have_tables_and_fields_of_what_is_called_saved() {
    let mut harbour = Harbour { last: Some(Saved { at: 3 }), ..Harbour::default() };
    let of = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0), owner: PlayerId::SERVER };
    harbour.crews.insert(of, Saved { at: 5 });
    let mut saved = <Harbour as World>::Saved::default();
    harbour.save(&mut saved);
    harbour.last = None;
    assert_eq!(harbour.crews.remove(of.entity), Some(Saved { at: 5 }));
    harbour.load(&saved);
    assert_eq!((harbour.last, harbour.crews.len()), (Some(Saved { at: 3 }), 1));
}

/// Which side.
#[derive(Field, Clone, Copy, PartialEq, Default, Debug)]
enum Side {
    #[default]
    Nobodys,
    Red,
    Blue,
}

/// Fields of all kinds that are not numbers.
#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Marked {
    by: PlayerId,
    target: Option<Entity>,
    name: Text<9>,
    side: Side,
    sides: [Option<Side>; 2],
    at: Option<[f32; 3]>,
}

#[test]
fn texts_that_read_the_same_are_the_same_whatever_came_behind_them() {
    for bytes in [[b'a', 0xff, b'b', b'c'], [b'a', 0, b'b', 0xff], [b'a', 0, 0, 0]] {
        let read = Text::<5>::get(&[u32::from_le_bytes(bytes), u32::from(b'd')]);
        assert_eq!((&*read, read), ("a", Text::new("a")), "{bytes:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_field_comes_back_as_it_went_by_rows_and_by_tables(
        by: u16, target in proptest::option::of(any::<u64>()), name in "[a-z\u{e4}\u{20ac}]{0,5}", side in 0..3usize,
        at in proptest::option::of(prop::array::uniform3(-1e6..1e6_f32)),
    ) {
        let side = [Side::Nobodys, Side::Red, Side::Blue][side];
        let target = target.map(Entity::from_bits);
        let (by, name) = (PlayerId::new(by), Text::new(&name));
        let marked = Marked { by, target, name, side, sides: [None, Some(side)], at };
        let of = Owned { entity: Entity::new(by, Tick::new(7), 9), owner: by };
        let mut rows = Rows::new(&Schema::of::<Marked>());
        rows.set(of, &marked);
        prop_assert_eq!(rows.state::<Marked>(of.entity), Some(marked));
        let back: Vec<_> = rows.states::<Marked>().collect();
        prop_assert_eq!(back, vec![(of, marked)]);
    }
}
