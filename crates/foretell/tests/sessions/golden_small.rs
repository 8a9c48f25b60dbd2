//! The reference's small functions, through the public ones (vectors/*.json).

use crate::common::Buttons;
use crate::common::f32_mass::Body as Body32;
use crate::common::f64_mass::Body as Body64;
use foretell::wire::{BitReader, BitWriter, read_change, write_change};
use foretell::world::word_bits;
use foretell::{Input, Tick};
use foretell_sim::netsim::SplitMix64;
use serde_json::Value;

fn cases(json: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(json).expect("the vectors are JSON");
    let cases = file["cases"].as_array().expect("a list of cases").clone();
    assert!(!cases.is_empty());
    cases
}

fn u32_of(value: &Value) -> u32 {
    value.as_u64().and_then(|value| u32::try_from(value).ok()).expect("a 32-bit number")
}

fn tick_of(value: &Value) -> Tick {
    Tick::new(u32_of(value))
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

/// A 64-bit number, which JSON holds as a string where it would lose bits.
fn u64_of(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).expect("a 64-bit number")
}

#[test]
fn ticks_widen_to_the_nearest_and_ties_go_to_the_future() {
    for case in cases(include_str!("../../../../vectors/tick_wrap.json")) {
        let widened = Tick::widen(u32_of(&case["low"]), u32_of(&case["nbits"]), tick_of(&case["reference"]));
        assert_eq!(widened, tick_of(&case["expect"]), "{case}");
    }
}

#[test]
fn every_16_bit_tick_widens_to_itself_within_half_a_span_of_the_anchor() {
    for anchor in [0, 1, 32_767, 32_768, 65_535, 65_536, 1_000_000] {
        for tick in (anchor - 32_767_i64).max(0)..=anchor + 32_768 {
            let tick = Tick::new(u32::try_from(tick).expect("not negative"));
            let anchor = Tick::new(u32::try_from(anchor).expect("not negative"));
            assert_eq!(Tick::widen(u32::from(tick.low16()), 16, anchor), tick);
        }
    }
}

#[test]
fn inputs_are_change_coded_bit_for_bit() {
    let widths = word_bits(Buttons::columns().iter());
    for case in cases(include_str!("../../../../vectors/input_delta.json")) {
        let inputs: Vec<_> = list(&case["buttons"]).iter().map(|bits| Buttons::from_bits(u64_of(bits))).collect();
        let words: Vec<[u32; 5]> = inputs
            .iter()
            .map(|input| {
                let mut words = [0; 5];
                input.write(&mut words);
                words
            })
            .collect();
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        for (nth, words_of_one) in words.iter().enumerate() {
            let before = nth.checked_sub(1).map(|before| &words[before][..]);
            write_change(&mut writer, &widths, before, words_of_one);
        }
        assert_eq!(writer.bit_len() as u64, u64_of(&case["nbits"]));
        let mut reader = BitReader::new(&bytes);
        let bits: String = (0..writer_bits(&case)).map(|_| if reader.take(1) == Ok(1) { '1' } else { '0' }).collect();
        assert_eq!(bits, case["bits"].as_str().expect("bits"));
        let mut reader = BitReader::new(&bytes);
        let mut read = [0; 5];
        for (nth, input) in inputs.iter().enumerate() {
            read_change(&mut reader, &widths, nth == 0, &mut read).expect("all of them are there");
            assert_eq!(Buttons::read(&read), *input);
        }
    }
}

fn writer_bits(case: &Value) -> u64 {
    u64_of(&case["nbits"])
}

/// FNV-1a over little-endian bytes, as the vectors' README defines it.
struct Fnv(u64);

impl Fnv {
    fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[test]
fn the_point_mass_moves_as_the_reference_does_in_both_precisions() {
    for case in cases(include_str!("../../../../vectors/world_step.json")) {
        let single = case["number"] == "f32";
        let mut random = SplitMix64::new(u64_of(&case["script_seed"]));
        let (mut wide, mut narrow, mut buttons) = (Body64::default(), Body32::default(), 0);
        let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
        let mut rows = list(&case["rows"]).iter();
        let mut row = rows.next();
        for k in 0..u64_of(&case["steps"]) {
            if k.is_multiple_of(16) {
                buttons = random.next_u64() & 31;
            }
            let numbers: Vec<f64> = if single {
                narrow.step(Buttons::from_bits(buttons), 1.0 / 64.0);
                let numbers = [narrow.position, narrow.velocity].concat();
                numbers.iter().for_each(|number| fnv.mix(&number.to_le_bytes()));
                numbers.iter().map(|number| f64::from(*number)).collect()
            } else {
                wide.step(Buttons::from_bits(buttons), 1.0 / 64.0);
                let numbers = [wide.position, wide.velocity].concat();
                numbers.iter().for_each(|number| fnv.mix(&number.to_le_bytes()));
                numbers
            };
            if let Some(expected) = row.filter(|row| u64_of(&row[0]) == k) {
                assert_eq!(u64_of(&expected[1]), buttons);
                for (nth, number) in numbers.iter().enumerate() {
                    assert_eq!(*number, number_of(&expected[nth + 2], single), "step {k}: {expected}");
                }
                row = rows.next();
            }
        }
        assert!(row.is_none(), "every row was reached");
        assert_eq!(format!("0x{:016x}", fnv.0), case["fnv1a64"].as_str().expect("a hash"));
    }
}

/// A number; in the f32 file its bits.
fn number_of(value: &Value, single: bool) -> f64 {
    match value.as_str() {
        Some(bits) if single => {
            let bits = u32::from_str_radix(bits.trim_start_matches("0x"), 16).expect("hexadecimal bits");
            f64::from(f32::from_bits(bits))
        }
        _ => value.as_f64().expect("a number"),
    }
}
