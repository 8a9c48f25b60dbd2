//! What is rounded and written is read, whatever it is told against.

use super::*;
use alloc::vec;
use foretell::State;
use proptest::prelude::*;

#[derive(State, Clone, Copy, Default, Debug)]
struct Walker {
    #[state(position, precision = 0.001)]
    place: [f32; 3],
    #[state(rotation, precision = 0.001)]
    facing: [f32; 4],
    #[state(velocity, precision = 0.01)]
    velocity: [f32; 3],
    #[state(blended, precision = 0.5)]
    fuel: f64,
    lives: u16,
    charge: f32,
    name: u64,
}

fn schema() -> Schema {
    Schema::of::<Walker>()
}

const WALKER: ComponentId = ComponentId(0);

fn rounded(codec: &ShownRowCodec, walker: &Walker) -> (Vec<u32>, Vec<u32>) {
    let mut words = vec![0; schema().component(WALKER).words()];
    assert!(walker.write(0, &mut words));
    let mut rounded = vec![0; codec.form(WALKER).words()];
    codec.form(WALKER).round(&words, &mut rounded);
    codec.form(WALKER).restore(&rounded, &mut words);
    (rounded, words)
}

/// Writes and reads a row; returns what was read, and in how many bits.
fn sent(codec: &ShownRowCodec, row: &[u32], base: Base<'_>) -> (Vec<u32>, usize) {
    let mut bytes = Vec::new();
    let mut writer = BitWriter::new(&mut bytes);
    codec.write(&mut writer, WALKER, row, base);
    let bits = writer.bit_len();
    assert!(bits as u64 <= codec.bits_max());
    let mut passing = BitReader::new(&bytes);
    codec.form(WALKER).groups().iter().for_each(|group| ShownRowCodec::pass(&mut passing, group).expect("well-formed"));
    passing.finish().expect("all was passed");
    let mut reader = BitReader::new(&bytes);
    let mut read = vec![7; row.len()];
    codec.read(&mut reader, WALKER, base, &mut read).expect("well-formed");
    reader.finish().expect("nothing is left");
    let mut words = vec![0; schema().component(WALKER).words()];
    codec.form(WALKER).restore(&read, &mut words);
    (words, bits)
}

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![-10.0..10.0_f32, -1e4..1e4_f32, any::<f32>(), Just(f32::NAN), Just(f32::INFINITY), Just(-0.0)]
}

fn walker() -> impl Strategy<Value = Walker> {
    let lanes = (prop::array::uniform3(number()), prop::array::uniform4(number()), prop::array::uniform3(number()));
    let others = (any::<f64>(), any::<u16>(), any::<f32>(), any::<u64>());
    (lanes, others).prop_map(|((place, facing, velocity), (fuel, lives, charge, name))| Walker {
        place,
        facing,
        velocity,
        fuel,
        lives,
        charge,
        name,
    })
}

proptest! {
    #[test]
    fn any_row_is_read_as_it_was_rounded_whatever_it_is_told_against(
        one in walker(), other in walker(), age_ticks in 1_u32..64,
    ) {
        let codec = ShownRowCodec::new(&schema(), TickRate::default());
        let ((row, words), (base, _)) = (rounded(&codec, &one), rounded(&codec, &other));
        prop_assert_eq!(&sent(&codec, &row, Base::NONE).0, &words);
        prop_assert_eq!(&sent(&codec, &row, Base { rounded: &base, age_ticks }).0, &words);
    }

    #[test]
    fn what_is_told_is_off_by_half_a_step_at_most(place in -2e3..2e3_f32, turn in 0.0..6.3_f32, fuel in -1e9..1e9_f64) {
        let codec = ShownRowCodec::new(&schema(), TickRate::default());
        let half = [crate::math::f32::sin(turn / 2.0), crate::math::f32::cos(turn / 2.0)];
        let facing = [0.0, half[0], 0.0, half[1]];
        let (_, words) = rounded(&codec, &Walker { place: [place; 3], facing, fuel, ..Walker::default() });
        let told = Walker::read(0, &words).expect("whole");
        // An f32 of this size is itself exact to an eighth of a millimetre.
        prop_assert!(told.place.iter().all(|told| (told - place).abs() <= 0.000_63), "{:?}", told.place);
        let same: f32 = told.facing.iter().zip(facing).map(|(told, facing)| told * facing).sum();
        prop_assert!(same.abs() > 0.999_998, "{:?} is {:?}", told.facing, facing);
        prop_assert!((told.fuel - fuel).abs() <= 0.25 + 1e-6);
    }
}

#[test]
fn who_goes_on_as_before_takes_few_bits() {
    let codec = ShownRowCodec::new(&schema(), TickRate::default());
    let before = Walker {
        place: [10.0, 0.0, -5.0],
        facing: [0.0, 0.0, 0.0, 1.0],
        velocity: [3.2, 0.0, -1.6],
        ..Walker::default()
    };
    let now = Walker { place: [10.2, 0.0, -5.1], ..before };
    let ((base, _), (row, words)) = (rounded(&codec, &before), rounded(&codec, &now));
    // A 16th of a second at 64 Hz: the velocity explains it. Four codes of a group, a part of a rotation, three that are the same.
    assert_eq!(sent(&codec, &row, Base { rounded: &base, age_ticks: 4 }), (words.clone(), 4 * 4 + 2 + 3));
    // By itself a position of 10 m takes 15 bits in each lane, and so on.
    let (read, bits) = sent(&codec, &row, Base::NONE);
    assert_eq!((read, bits), (words, 16 + 2 + 3 * 15 + 3 * 10 + 3));
}

/// A rotation of twice as many words as it has parts.
#[derive(State, Clone, Copy, Debug)]
struct Turret {
    #[state(rotation, precision = 0.001)]
    facing: [f64; 4],
    ammunition: u16,
}

#[test]
fn a_rotation_of_f64_is_read_as_it_was_rounded() {
    let schema = Schema::of::<Turret>();
    let (codec, words) = (ShownRowCodec::new(&schema, TickRate::default()), schema.component(ComponentId(0)).words());
    let form = codec.form(ComponentId(0));
    let rounded = |facing: [f64; 4]| {
        let (mut row, mut rounded) = (vec![0; words], vec![0; form.words()]);
        assert!(Turret { facing, ammunition: 7 }.write(0, &mut row));
        form.round(&row, &mut rounded);
        rounded
    };
    let restored = |rounded: &[u32]| {
        let mut row = vec![0; words];
        form.restore(rounded, &mut row);
        row
    };
    let before = rounded([0.0, 0.6, 0.0, 0.8]);
    for facing in [[0.0, 0.0, 0.0, 1.0], [0.5, -0.5, 0.5, 0.5], [0.0, 0.61, 0.0, 0.79], [3.0; 4], [f64::NAN; 4]] {
        let row = rounded(facing);
        for base in [Base::NONE, Base { rounded: &before, age_ticks: 3 }] {
            let mut bytes = Vec::new();
            codec.write(&mut BitWriter::new(&mut bytes), ComponentId(0), &row, base);
            let mut read = vec![7; row.len()];
            codec.read(&mut BitReader::new(&bytes), ComponentId(0), base, &mut read).expect("well-formed");
            assert_eq!(restored(&read), restored(&row), "{facing:?}");
        }
    }
}
