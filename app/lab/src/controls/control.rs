//! What a control is: which values it accepts, and how they are told.
//!
//! Every value is a *code*, an integer from 0 to [`Control::code_max`]: the step of a slider, the index of a choice, 0 or
//! 1 of a toggle. Settings are therefore exact, small and the same in a link as in a run.

use super::key::Key;
use serde_json::{Value, json};

/// Where a control stands on the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// The tabs, not a row among the others.
    Scene,
    Network,
    Rates,
    Methods,
}

/// What values a control has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Range {
    /// `0, 1 / per_unit, 2 / per_unit, ..., max`, above `min`; `code = (value - min) * per_unit`.
    Slider { min: u16, max: u16, per_unit: u16, unit: &'static str },
    /// Words, each with how it is shown.
    Words(&'static [(&'static str, &'static str)]),
    /// Numbers in a unit.
    Numbers(&'static [u16], &'static str),
    /// Off or on.
    Toggle,
}

impl Range {
    /// From `min` to `max` in steps of `1 / per_unit`.
    pub const fn slider(min: u16, max: u16, per_unit: u16, unit: &'static str) -> Range {
        Range::Slider { min, max, per_unit, unit }
    }
}

/// One control.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    pub key: Key,
    pub name: &'static str,
    pub label: &'static str,
    pub group: Group,
    pub range: Range,
    /// The code of its default; those of the network are a preset's.
    pub default: u16,
    /// One sentence.
    pub explain: &'static str,
    /// Numbers of the source articles' requirements and of the project's decisions; empty where there are none.
    pub source: &'static str,
}

impl Control {
    /// The largest code; 0 is the smallest.
    pub fn code_max(&self) -> u16 {
        match self.range {
            Range::Slider { min, max, per_unit, .. } => (max - min) * per_unit,
            Range::Words(words) => index_max(words.len()),
            Range::Numbers(numbers, _) => index_max(numbers.len()),
            Range::Toggle => 1,
        }
    }

    /// The value of a code, as the page gets it.
    pub fn value(&self, code: u16) -> Value {
        match self.range {
            Range::Slider { .. } => number_value(self.number(code)),
            Range::Words(words) => json!(words[usize::from(code)].0),
            Range::Numbers(numbers, _) => json!(numbers[usize::from(code)]),
            Range::Toggle => json!(code == 1),
        }
    }

    /// The value of a code as a number; of a word its index.
    pub fn number(&self, code: u16) -> f64 {
        match self.range {
            Range::Slider { min, per_unit, .. } => f64::from(min) + f64::from(code) / f64::from(per_unit),
            Range::Numbers(numbers, _) => f64::from(numbers[usize::from(code)]),
            Range::Words(_) | Range::Toggle => f64::from(code),
        }
    }

    /// The value of a code as a person reads it.
    pub fn tell(&self, code: u16) -> String {
        match self.range {
            Range::Slider { unit, .. } | Range::Numbers(_, unit) => {
                format!("{} {unit}", self.number(code)).trim_end().to_owned()
            }
            Range::Words(words) => words[usize::from(code)].1.to_owned(),
            Range::Toggle => if code == 1 { "on" } else { "off" }.to_owned(),
        }
    }

    /// The code of a value that the page has sent; of a slider the nearest one.
    ///
    /// # Errors
    /// A sentence that names what is accepted.
    pub fn code(&self, value: &Value) -> Result<u16, String> {
        let found = match self.range {
            Range::Slider { min, max, .. } => {
                let fits = value.as_f64().filter(|value| (f64::from(min)..=f64::from(max)).contains(value));
                fits.map(|value| self.nearest(value))
            }
            Range::Words(words) => words.iter().position(|(word, _)| value == word).map(to_code),
            Range::Numbers(numbers, _) => {
                let asked = value.as_f64().or_else(|| value.as_str()?.parse().ok());
                numbers.iter().position(|number| Some(f64::from(*number)) == asked).map(to_code)
            }
            Range::Toggle => value.as_bool().map(u16::from),
        };
        found.ok_or_else(|| format!("{} must be {}", self.name, self.accepted()))
    }

    /// The code of a slider nearest to a value; of a choice or toggle the code itself.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
    pub fn nearest(&self, value: f64) -> u16 {
        let code = match self.range {
            Range::Slider { min, per_unit, .. } => (value - f64::from(min)) * f64::from(per_unit),
            _ => value,
        };
        (code.round() as u16).min(self.code_max())
    }

    fn accepted(&self) -> String {
        match self.range {
            Range::Slider { min, max, unit, .. } => {
                format!("a number from {min} to {max} {unit}").trim_end().to_owned()
            }
            Range::Words(words) => one_of(words.iter().map(|(word, _)| (*word).to_owned())),
            Range::Numbers(numbers, unit) => format!("{} {unit}", one_of(numbers.iter().map(u16::to_string))),
            Range::Toggle => "true or false".to_owned(),
        }
    }

    /// How the page is told of it.
    pub fn describe(&self, code: u16) -> Value {
        let mut told = json!({
            "key": self.name,
            "label": self.label,
            "group": format!("{:?}", self.group),
            "value": self.value(code),
            "explain": self.explain,
            "source": self.source,
            "restarts": self.key.restarts(),
            "scenes": self.key.scenes().iter().map(|scene| scene.name()).collect::<Vec<_>>(),
            "in_sight": self.key.is_in_sight(),
        });
        let more = match self.range {
            Range::Slider { min, max, per_unit, unit } => {
                let step = number_value(1.0 / f64::from(per_unit));
                json!({ "kind": "slider", "min": min, "max": max, "step": step, "unit": unit })
            }
            Range::Words(words) => {
                let choices: Vec<_> =
                    words.iter().map(|(value, label)| json!({ "value": value, "label": label })).collect();
                json!({ "kind": "choice", "choices": choices, "unit": "" })
            }
            Range::Numbers(numbers, unit) => {
                let choice = |number: &u16| json!({ "value": number, "label": format!("{number} {unit}") });
                json!({ "kind": "choice", "choices": numbers.iter().map(choice).collect::<Vec<_>>(), "unit": unit })
            }
            Range::Toggle => json!({ "kind": "toggle", "unit": "" }),
        };
        if let (Value::Object(told), Value::Object(mut more)) = (&mut told, more) {
            told.append(&mut more);
        }
        told
    }
}

/// Whole numbers without a fraction, as a person writes them.
fn number_value(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "sliders are far below 2^53")]
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

fn one_of(words: impl Iterator<Item = String>) -> String {
    format!("one of {}", words.collect::<Vec<_>>().join(", "))
}

fn index_max(len: usize) -> u16 {
    to_code(len.saturating_sub(1))
}

fn to_code(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}
