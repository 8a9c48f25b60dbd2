//! Reading the vectors of `vectors/`, whose numbers are exact.

use serde_json::Value;

/// The cases whose `key` says `value`; there is at least one.
pub fn cases(file: &str, key: &str, value: &Value) -> Vec<Value> {
    let file: Value = serde_json::from_str(&with_quoted_numbers(file)).expect("the vectors are JSON");
    let cases = file["cases"].as_array().expect("a list of cases");
    let found: Vec<Value> = cases.iter().filter(|case| case[key] == *value).cloned().collect();
    assert!(!found.is_empty(), "no case of {value}");
    found
}

/// The text with every number as a string: `serde_json` reads numbers to within a bit unless it is built with
/// `float_roundtrip`, and the vectors are exact.
pub fn with_quoted_numbers(json: &str) -> String {
    let of_number = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let starts_number = |c: char| c.is_ascii_digit() || c == '-';
    let mut quoted = String::new();
    // Outside of strings are the even parts: the vectors' strings escape nothing.
    for (part, text) in json.split('"').enumerate() {
        if part > 0 {
            quoted.push('"');
        }
        if part % 2 == 1 {
            quoted.push_str(text);
            continue;
        }
        for word in text.split_inclusive(|c| !of_number(c)) {
            let end = word.find(|c| !of_number(c)).unwrap_or(word.len());
            let (token, rest) = word.split_at(end);
            if token.starts_with(starts_number) {
                quoted.extend(["\"", token, "\"", rest]);
            } else {
                quoted.push_str(word);
            }
        }
    }
    quoted
}

pub fn number(value: &Value) -> f64 {
    let text = value.as_str().expect("a quoted number");
    text.parse().expect("a number")
}

pub fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    assert_eq!(value.as_array().map(Vec::len), Some(N), "{value}");
    core::array::from_fn(|i| number(&value[i]))
}

/// The bit patterns, as "0x........".
pub fn bits<const N: usize>(value: &Value) -> [u32; N] {
    core::array::from_fn(|i| pattern(&value[i]))
}

pub fn pattern(value: &Value) -> u32 {
    let text = value.as_str().expect("a bit pattern");
    u32::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal")
}

/// The articles' binary32 runs round every input first.
#[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the convention of the vectors")]
pub fn single(value: f64) -> f32 {
    value as f32
}
