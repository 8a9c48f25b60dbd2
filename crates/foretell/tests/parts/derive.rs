//! The derives: what they describe, and that what is written is what is read, bit for bit.

use foretell::{Audience, Column, ComponentSchema, Flatten, Group, Input, Meaning, SendRate, State, Writer};
use proptest::prelude::*;

/// Every type of field.
#[derive(Input, Clone, Copy, PartialEq, Debug, Default)]
struct Everything {
    yes: bool,
    bytes: [u8; 3],
    half: u16,
    word: u32,
    long: u64,
    signed_byte: i8,
    signed_half: i16,
    signed_words: [i32; 2],
    signed_long: i64,
    single: f32,
    doubles: [[f64; 2]; 2],
    flags: [bool; 5],
}

/// 1 + 3 + 1 + 1 + 2 + 1 + 1 + 2 + 2 + 1 + 8 + 5.
const EVERYTHING_WORDS: usize = 28;

/// By its bits, so that every value occurs, NaN included.
fn any_single() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits)
}

/// As [`any_single`].
fn any_double() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits)
}

prop_compose! {
    fn everything()(
        (yes, bytes, half, word, long) in any::<(bool, [u8; 3], u16, u32, u64)>(),
        (signed_byte, signed_half, signed_words, signed_long) in any::<(i8, i16, [i32; 2], i64)>(),
        single in any_single(),
        doubles in prop::array::uniform2(prop::array::uniform2(any_double())),
        flags in any::<[bool; 5]>(),
    ) -> Everything {
        Everything {
            yes, bytes, half, word, long, signed_byte, signed_half, signed_words, signed_long, single, doubles, flags,
        }
    }
}

/// Equal in all bits: a NaN is equal to itself, and 0.0 is not equal to -0.0.
fn same_bits(a: &Everything, b: &Everything) -> bool {
    let doubles = |of: &Everything| of.doubles.map(|pair| pair.map(f64::to_bits));
    let rest = |of: &Everything| Everything { single: 0.0, doubles: [[0.0; 2]; 2], ..*of };
    a.single.to_bits() == b.single.to_bits() && doubles(a) == doubles(b) && rest(a) == rest(b)
}

/// The names of its fields are those that generated code uses itself.
#[derive(State, PartialEq, Debug)]
struct Body {
    #[state(position)]
    words: [f64; 3],
    #[state(rotation)]
    r#type: [f32; 4],
    #[state(velocity)]
    field_0: [f64; 3],
    #[state(angular_velocity)]
    kind: [f32; 3],
    other: u8,
}

#[derive(State, PartialEq, Debug)]
enum Thing {
    Ship {
        #[state(position)]
        position: [f32; 2],
        #[state(rotation)]
        rotation: [f64; 4],
        fuel: u16,
    },
    #[state(audience = owner)]
    Purse(u64, [i8; 2]),
    Flag,
    Shot(#[state(position)] f64, #[state(velocity)] f64),
    Empty {},
}

fn numbers<const N: usize>() -> impl Strategy<Value = [f64; N]> {
    prop::collection::vec(-1e9..1e9, N).prop_map(|numbers| numbers.try_into().expect("N were asked for"))
}

fn thing() -> impl Strategy<Value = Thing> {
    prop_oneof![
        (any::<[i16; 2]>(), numbers(), any::<u16>()).prop_map(|(position, rotation, fuel)| Thing::Ship {
            position: position.map(f32::from),
            rotation,
            fuel
        }),
        any::<(u64, [i8; 2])>().prop_map(|(coins, marks)| Thing::Purse(coins, marks)),
        Just(()).prop_map(|()| Thing::Flag),
        (-1e9..1e9, -1e9..1e9).prop_map(|(position, velocity)| Thing::Shot(position, velocity)),
        Just(()).prop_map(|()| Thing::Empty {}),
    ]
}

/// The words of one of its components; `None` where it does not have it.
fn written<S: State>(state: &S, nth: usize) -> Option<Vec<u32>> {
    let mut row = vec![0; S::components()[nth].words()];
    state.write(nth, &mut row).then_some(row)
}

fn columns<S: State>(nth: usize) -> Vec<Column> {
    S::components()[nth].columns().cloned().collect()
}

fn described(columns: &[Column]) -> Vec<(&str, usize, Meaning)> {
    columns.iter().map(|column| (column.name.as_ref(), column.words(), column.meaning)).collect()
}

proptest! {
    #[test]
    fn an_input_of_every_type_of_field_comes_back_with_all_its_bits(input in everything()) {
        let mut words = [0; EVERYTHING_WORDS];
        input.write(&mut words);
        prop_assert!(same_bits(&Everything::read(&words), &input));
    }

    #[test]
    fn an_input_leaves_the_words_behind_it_alone(input in everything()) {
        let mut words = [0xdead_beef; EVERYTHING_WORDS + 2];
        input.write(&mut words);
        prop_assert_eq!(&words[EVERYTHING_WORDS..], &[0xdead_beef; 2]);
        prop_assert!(same_bits(&Everything::read(&words), &input));
    }

    #[test]
    fn a_struct_state_comes_back_as_it_was(
        position in numbers(),
        turn in any::<[i16; 4]>(),
        velocity in numbers(),
        spin in any::<[i16; 3]>(),
        other in any::<u8>(),
    ) {
        let (r#type, kind) = (turn.map(f32::from), spin.map(f32::from));
        let body = Body { words: position, r#type, field_0: velocity, kind, other };
        let mut row = [0; 20];
        prop_assert!(State::write(&body, 0, &mut row));
        prop_assert_eq!(<Body as State>::read(0, &row), Some(body));
    }

    #[test]
    fn an_enum_state_comes_back_as_the_variant_it_was(thing in thing()) {
        let had: Vec<_> = (0..Thing::COMPONENTS).filter_map(|nth| written(&thing, nth).map(|row| (nth, row))).collect();
        let [(nth, row)] = had.as_slice() else { panic!("a value has one variant: {had:?}") };
        let read = Thing::read(*nth, row);
        prop_assert_eq!(read.as_ref(), Some(&thing));
        let mut other = Thing::Flag;
        other.adopt(*nth, row);
        prop_assert_eq!(other, thing);
    }
}

#[test]
fn an_input_describes_its_fields_in_the_order_of_their_declaration() {
    let columns = Everything::columns();
    let expected = [
        ("yes", 1),
        ("bytes", 3),
        ("half", 1),
        ("word", 1),
        ("long", 2),
        ("signed_byte", 1),
        ("signed_half", 1),
        ("signed_words", 2),
        ("signed_long", 2),
        ("single", 1),
        ("doubles", 8),
        ("flags", 5),
    ];
    assert_eq!(described(&columns), expected.map(|(name, words)| (name, words, Meaning::Plain)));
}

#[test]
fn fields_lie_one_after_another_and_the_low_half_comes_first() {
    #[derive(Input, Clone, Copy, PartialEq, Default)]
    struct Mixed(bool, u64, [i8; 2], f32);
    let mut words = [0; 6];
    Mixed(true, 0x0123_4567_89ab_cdef, [-1, 2], 1.0).write(&mut words);
    assert_eq!(words, [1, 0x89ab_cdef, 0x0123_4567, 0xff, 2, 0x3f80_0000]);
}

#[test]
fn an_input_without_fields_has_no_words() {
    #[derive(Input, Clone, Copy, PartialEq, Debug, Default)]
    struct Nothing;
    #[derive(Input, Clone, Copy, PartialEq, Debug, Default)]
    struct Neither {}
    Nothing.write(&mut []);
    Neither {}.write(&mut []);
    assert_eq!(Nothing::read(&[]), Nothing);
    assert_eq!(Neither::read(&[]), Neither {});
    assert!(Nothing::columns().is_empty() && Neither::columns().is_empty());
}

#[test]
fn an_input_may_fill_all_64_words() {
    #[derive(Input, Clone, Copy, PartialEq, Debug, Default)]
    struct Full([u64; 31], bool, i8);
    let full = Full([u64::MAX; 31], true, -3);
    let mut words = [0; 64];
    full.write(&mut words);
    assert_eq!(Full::read(&words), full);
}

#[test]
#[should_panic(expected = "range end index 28 out of range for slice of length 27")]
fn an_input_is_not_written_into_too_few_words() {
    Everything::default().write(&mut [0; EVERYTHING_WORDS - 1]);
}

#[test]
fn a_struct_of_one_audience_is_one_component_and_its_fields_mean_what_they_say() {
    const { assert!(!Body::IS_CHOICE) };
    let [body]: [ComponentSchema; Body::COMPONENTS] = Body::components().try_into().expect("as many as it says");
    assert_eq!((body.name(), body.words(), body.audience()), ("Body", 20, Audience::All));
    let expected = [
        ("words", 6, Meaning::Position),
        ("type", 4, Meaning::Rotation),
        ("field_0", 6, Meaning::Velocity),
        ("kind", 3, Meaning::AngularVelocity),
        ("other", 1, Meaning::Plain),
    ];
    assert_eq!(described(&columns::<Body>(0)), expected);
}

#[derive(State, PartialEq, Debug)]
struct Lantern {
    #[state(blended)]
    glow: f32,
    #[state(writer = owner, blended)]
    colours: [f64; 5],
    lit: bool,
}

#[test]
fn a_component_has_any_number_of_blended_fields() {
    let columns = columns::<Lantern>(0);
    let expected = [("glow", 1, Meaning::Blended), ("colours", 10, Meaning::Blended), ("lit", 1, Meaning::Plain)];
    assert_eq!(described(&columns), expected);
    assert_eq!(columns.iter().map(|column| column.writer == Writer::Owner).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn a_variant_is_a_component_of_its_own_with_its_own_audience() {
    const { assert!(Thing::IS_CHOICE) };
    let components = Thing::components();
    let of = |component: &ComponentSchema| (component.name().to_owned(), component.words(), component.audience());
    let components: Vec<_> = components.iter().map(of).collect();
    let expected = [
        ("Ship", 11, Audience::All),
        ("Purse", 4, Audience::Owner),
        ("Flag", 0, Audience::All),
        ("Shot", 4, Audience::All),
        ("Empty", 0, Audience::All),
    ];
    assert_eq!(components, expected.map(|(name, words, audience)| (name.to_owned(), words, audience)));
    assert_eq!(written(&Thing::Purse(1, [2, -1]), 1), Some(vec![1, 0, 2, 0xff]));
    assert_eq!(written(&Thing::Empty {}, 4), Some(vec![]));
    assert_eq!(described(&columns::<Thing>(3)), [("0", 2, Meaning::Position), ("1", 2, Meaning::Velocity)]);
}

#[test]
fn a_struct_may_belong_to_its_owner_alone() {
    #[derive(State)]
    #[state(audience = owner)]
    struct Hand([u8; 5]);
    assert!(written(&Hand([0; 5]), 0).is_some());
    assert_eq!(Hand::components()[0].audience(), Audience::Owner);
}

const RED: Group = Group(3);

#[derive(State, Clone, PartialEq, Debug)]
#[state(hz = 10, predict = never)]
struct Spy {
    #[state(audience = owner)]
    orders: [u8; 2],
    #[state(audience = group(RED))]
    place: u32,
    #[state(audience = all)]
    name: u16,
    #[state(audience = others)]
    rumour: u64,
    #[state(audience = group(RED))]
    contact: u16,
}

#[test]
fn fields_of_each_audience_are_a_component_and_what_all_see_is_the_first() {
    let components = Spy::components();
    let of = |component: &ComponentSchema| (component.name().to_owned(), component.words(), component.audience());
    let expected = [
        ("Spy", 1, Audience::All),
        ("Spy (owner)", 2, Audience::Owner),
        ("Spy (group RED)", 2, Audience::Group(RED)),
        ("Spy (others)", 2, Audience::Others),
    ];
    let expected = expected.map(|(name, words, audience)| (name.to_owned(), words, audience));
    assert_eq!(components.iter().map(of).collect::<Vec<_>>(), expected);
    assert!(components.iter().all(ComponentSchema::is_never_predicted));
    assert!(components.iter().all(|component| component.rate_max() == SendRate::Hz(10)));

    let spy = Spy { orders: [1, 2], place: 3, name: 4, rumour: 5, contact: 6 };
    let mut told = Spy::read(0, &written(&spy, 0).expect("it has all")).expect("by its first");
    assert_eq!(told, Spy { orders: [0; 2], place: 0, name: 4, rumour: 0, contact: 0 });
    (1..4).for_each(|nth| told.adopt(nth, &written(&spy, nth).expect("it has all")));
    assert_eq!(told, spy);
    // What is told no more is as if it had never been; without the first there is none.
    (0..3).for_each(|nth| told.forget(nth));
    assert_eq!(told, Spy { orders: [0; 2], place: 0, contact: 0, ..spy });
}

#[test]
fn a_variant_has_its_own_audience_rate_and_prediction() {
    #[derive(State, Clone, Copy)]
    enum Unit {
        Tank,
        #[state(audience = others)]
        Ghost,
        #[state(audience = group(RED), hz = 4)]
        Camp(u8),
        #[state(predict = never)]
        Turret,
    }
    let [tank, ghost, camp, turret] = &Unit::components()[..] else { panic!("four") };
    let audiences = [tank, ghost, camp, turret].map(ComponentSchema::audience);
    assert_eq!(audiences, [Audience::All, Audience::Others, Audience::Group(RED), Audience::All]);
    assert_eq!([tank, camp].map(ComponentSchema::rate_max), [SendRate::EveryTick, SendRate::Hz(4)]);
    assert_eq!([tank, turret].map(ComponentSchema::is_never_predicted), [false, true]);
    let units = [Unit::Tank, Unit::Ghost, Unit::Camp(1), Unit::Turret];
    assert_eq!(units.map(|unit| unit.is_never_predicted()), [false, false, false, true]);
}

#[test]
fn one_type_may_be_both_and_means_something_only_as_a_state() {
    #[derive(Input, State, Clone, Copy, PartialEq, Default)]
    struct Cursor {
        #[state(position)]
        at: [f32; 2],
    }
    assert_eq!(<Cursor as Input>::columns()[0].meaning, Meaning::Plain);
    assert_eq!(columns::<Cursor>(0)[0].meaning, Meaning::Position);
}

#[test]
#[should_panic(expected = "component 5 is none of `Thing`, which has 5")]
fn reading_a_component_that_an_enum_does_not_have_panics() {
    let _ = Thing::read(5, &[0; 64]);
}

#[test]
#[should_panic(expected = "component 1 is none of `Body`, which has 1")]
fn writing_a_component_that_a_struct_does_not_have_panics() {
    let kind = [0.0; 3];
    let body = Body { words: [0.0; 3], r#type: [0.0; 4], field_0: [0.0; 3], kind, other: 0 };
    State::write(&body, 1, &mut [0; 64]);
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Placed {
    #[state(position)]
    at: [f32; 3],
    awake: bool,
}

#[derive(State, PartialEq, Debug)]
enum Furniture {
    Chair {
        legs: u8,
        #[state(flatten)]
        placed: Placed,
        price: u64,
    },
    Table(#[state(flatten)] Placed),
}

#[test]
fn a_flattened_field_stands_as_its_own_fields_with_their_meanings() {
    let chair = columns::<Furniture>(0);
    let chair: Vec<_> = chair.iter().map(|column| (&*column.name, column.meaning)).collect();
    let plain = Meaning::Plain;
    assert_eq!(chair, [("legs", plain), ("at", Meaning::Position), ("awake", plain), ("price", plain)]);
    assert_eq!(Furniture::components()[1].words(), 4);

    let placed = Placed { at: [1.0, -0.0, 3.0], awake: true };
    for (nth, mut state) in
        [Furniture::Chair { legs: 3, placed, price: 1 << 40 }, Furniture::Table(placed)].into_iter().enumerate()
    {
        let words = written(&state, nth).expect("it is this one");
        assert_eq!(Furniture::read(nth, &words).as_ref(), Some(&state));
        assert_eq!(state.part_mut::<Placed>(), Some(&mut placed.clone()));
    }
}

#[test]
fn a_part_says_which_meanings_its_fields_have_and_those_of_another_may_stand_beside_it() {
    #[derive(State)]
    struct Moved {
        #[state(velocity)]
        velocity: [f32; 3],
        #[state(blended)]
        glow: f32,
    }
    #[derive(State)]
    struct Lamp {
        #[state(flatten)]
        placed: Placed,
        #[state(flatten)]
        moved: Moved,
        #[state(rotation)]
        facing: [f32; 4],
        #[state(blended)]
        heat: f32,
    }
    let bits = |meanings: &[Meaning]| meanings.iter().fold(0, |bits, meaning| bits | 1_u32 << *meaning as u32);
    assert_eq!(Placed::MEANINGS, bits(&[Meaning::Position]));
    assert_eq!(Moved::MEANINGS, bits(&[Meaning::Velocity]));
    assert_eq!(Lamp::MEANINGS, bits(&[Meaning::Position, Meaning::Velocity, Meaning::Rotation]));
    let lamp = columns::<Lamp>(0);
    assert_eq!(lamp.iter().filter(|column| column.meaning == Meaning::Blended).count(), 2);
}

#[test]
fn teleports_are_counted_beside_a_position_that_may_be_flattened() {
    #[derive(State)]
    struct Car {
        #[state(flatten)]
        placed: Placed,
        #[state(teleports)]
        teleports: u16,
    }
    let car = columns::<Car>(0);
    assert_eq!(car.last().map(|column| (column.meaning, column.lanes)), Some((Meaning::Teleports, 1)));
    assert_eq!(Car::MEANINGS, 1 << Meaning::Position as u32 | 1 << Meaning::Teleports as u32);
}

#[test]
#[should_panic(expected = "thing: teleports are counted beside a position")]
fn a_component_without_a_position_counts_no_teleports() {
    let columns = vec![Column::of::<u8>("teleports", Meaning::Teleports)];
    ComponentSchema::new("thing", columns, Audience::All);
}

#[test]
#[should_panic(expected = "thing: a component counts teleports once")]
fn a_component_counts_teleports_once() {
    let teleports = || Column::of::<u8>("teleports", Meaning::Teleports);
    let columns = vec![Column::of::<f32>("x", Meaning::Position), teleports(), teleports()];
    ComponentSchema::new("thing", columns, Audience::All);
}

#[test]
#[should_panic(expected = "teleports are a u8, u16 or u32")]
fn two_lanes_count_no_teleports() {
    let columns = vec![Column::of::<f32>("x", Meaning::Position), Column::of::<[u8; 2]>("n", Meaning::Teleports)];
    ComponentSchema::new("thing", columns, Audience::All);
}
