//! The controls of the lab: what each is called, which values it accepts, what it does and where it comes from.
//!
//! Every value is a *code*, an integer from 0 to [`Control::code_max`]: the step of a slider, the index of a choice, 0 or
//! 1 of a toggle. Settings are therefore exact, small and the same in a link as in a run.

use serde_json::{Value, json};

/// Every control, in the order of [`CONTROLS`]. The order is part of a link's format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Key {
    Latency,
    Jitter,
    Ordering,
    Loss,
    BurstLength,
    Duplicates,
    Reordering,
    Rate,
    TickRate,
    SendRate,
    SnapshotRate,
    Stepping,
    Redundancy,
    RedundancyCap,
    Gap,
    Reconciliation,
    Tolerance,
    Correction,
    Decay,
    Show,
    Other,
}

/// How many controls there are.
pub const CONTROLS_LEN: usize = 21;

/// Where a control stands on the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
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
    /// Numbers of the source articles' requirements and of the project's decisions.
    pub source: &'static str,
}

impl Key {
    /// Its control.
    pub fn control(self) -> &'static Control {
        &CONTROLS[self as usize]
    }

    /// The key of this name.
    pub fn named(name: &str) -> Result<Key, String> {
        let known = CONTROLS.iter().find(|control| control.name == name);
        known.map(|control| control.key).ok_or_else(|| {
            let names: Vec<_> = CONTROLS.iter().map(|control| control.name).collect();
            format!("there is no control of this name; accepted are {}", names.join(", "))
        })
    }

    /// Whether a change of it needs a new session: both ends must agree on it from the start.
    pub fn restarts(self) -> bool {
        matches!(self, Key::TickRate | Key::Stepping)
    }
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

const fn slider(min: u16, max: u16, per_unit: u16, unit: &'static str) -> Range {
    Range::Slider { min, max, per_unit, unit }
}

/// Datagrams per second in either direction; 20 and 5 are the first article's (Q18), 64, 16 and 2 the second's (R22).
const RATES: Range = Range::Numbers(&[128, 64, 32, 20, 16, 5, 2], "Hz");

/// All controls, in the order of [`Key`].
pub const CONTROLS: [Control; CONTROLS_LEN] = [
    Control {
        key: Key::Latency,
        name: "latency_ms",
        label: "one-way latency",
        group: Group::Network,
        range: slider(0, 1000, 1, "ms"),
        default: 0,
        explain: "How long every datagram is under way, in each direction; the round trip is twice this.",
        source: "R9, R12, D24",
    },
    Control {
        key: Key::Jitter,
        name: "jitter_ms",
        label: "jitter",
        group: Group::Network,
        range: slider(0, 300, 1, "ms"),
        default: 0,
        explain: "Each datagram takes up to this much longer, drawn anew for each.",
        source: "D31",
    },
    Control {
        key: Key::Ordering,
        name: "ordering",
        label: "ordering",
        group: Group::Network,
        range: Range::Words(&[("independent", "may overtake"), ("fifo", "in order")]),
        default: 0,
        explain: "Whether jitter lets a datagram overtake an earlier one, or it queues behind it.",
        source: "R9, D31",
    },
    Control {
        key: Key::Loss,
        name: "loss_percent",
        label: "loss",
        group: Group::Network,
        range: slider(0, 100, 10, "%"),
        default: 0,
        explain: "How many datagrams never arrive, in each direction.",
        source: "R9, R21",
    },
    Control {
        key: Key::BurstLength,
        name: "burst_length",
        label: "burst length",
        group: Group::Network,
        range: slider(1, 32, 2, "datagrams"),
        default: 0,
        explain: "How many datagrams in a row are lost on average; 1 loses each by its own chance. Longer where the loss \
                  leaves no other way.",
        source: "D31",
    },
    Control {
        key: Key::Duplicates,
        name: "duplicates_percent",
        label: "duplicates",
        group: Group::Network,
        range: slider(0, 100, 10, "%"),
        default: 0,
        explain: "How many datagrams arrive twice.",
        source: "E5, D31",
    },
    Control {
        key: Key::Reordering,
        name: "reordering_percent",
        label: "reordering",
        group: Group::Network,
        range: slider(0, 100, 10, "%"),
        default: 0,
        explain: "How many datagrams are held back by 70 ms, so that later ones overtake them.",
        source: "E5, E14, D31",
    },
    Control {
        key: Key::Rate,
        name: "rate_kbps",
        label: "rate limit",
        group: Group::Network,
        range: slider(0, 10_000, 1, "kbit/s"),
        default: 0,
        explain: "How much passes in each direction before datagrams queue and are dropped; 0 is no limit.",
        source: "R22",
    },
    Control {
        key: Key::TickRate,
        name: "tick_rate",
        label: "tick rate",
        group: Group::Rates,
        range: Range::Numbers(&[20, 30, 60, 64, 128], "Hz"),
        default: 3,
        explain: "Fixed steps of the simulation per second, on both ends; a change starts the run again.",
        source: "R5, D2",
    },
    Control {
        key: Key::SendRate,
        name: "send_rate",
        label: "send rate",
        group: Group::Rates,
        range: RATES,
        default: 1,
        explain: "Datagrams of inputs per second, rounded to whole ticks and at most one per tick.",
        source: "Q18, D26",
    },
    Control {
        key: Key::SnapshotRate,
        name: "snapshot_rate",
        label: "snapshot rate",
        group: Group::Rates,
        range: RATES,
        default: 4,
        explain: "Snapshots per second, rounded to whole ticks and at most one per tick; fewer cost less and correct later.",
        source: "Q18, R22, D25",
    },
    Control {
        key: Key::Stepping,
        name: "stepping",
        label: "server steps by",
        group: Group::Methods,
        range: Range::Words(&[("clock", "its own clock"), ("arrivals", "arriving inputs")]),
        default: 0,
        explain: "Who decides when the server simulates: its clock, or each input that arrives; a change starts the run \
                  again.",
        source: "R8, D10",
    },
    Control {
        key: Key::Redundancy,
        name: "redundancy",
        label: "repeated inputs",
        group: Group::Methods,
        range: Range::Words(&[
            ("unacknowledged", "unacknowledged"),
            ("since_state", "since the last state"),
            ("none", "none"),
        ]),
        default: 0,
        explain: "Which earlier inputs each datagram repeats, so that a lost one loses nothing.",
        source: "R16, E18, D11",
    },
    Control {
        key: Key::RedundancyCap,
        name: "redundancy_cap",
        label: "inputs per datagram",
        group: Group::Methods,
        range: slider(0, 64, 1, "ticks"),
        default: 16,
        explain: "The most inputs in a datagram; 0 is as many as fit, as in the second article's demo.",
        source: "R17, D11",
    },
    Control {
        key: Key::Gap,
        name: "gap_policy",
        label: "missing input",
        group: Group::Methods,
        range: Range::Words(&[
            ("repeat_last", "repeat the last for 250 ms"),
            ("neutral", "no keys"),
            ("hold", "leave the cube"),
            ("skip", "skip the tick"),
        ]),
        default: 0,
        explain: "What the server does in a tick for which it has no input of yours.",
        source: "R19, E20, D9",
    },
    Control {
        key: Key::Reconciliation,
        name: "reconciliation",
        label: "reconciliation",
        group: Group::Methods,
        range: Range::Words(&[("rollback", "when it differs"), ("always", "at every snapshot"), ("off", "never")]),
        default: 0,
        explain: "When the client goes back to the server's state and simulates your inputs again from there.",
        source: "R2, R14, F2, D30",
    },
    Control {
        key: Key::Tolerance,
        name: "tolerance",
        label: "tolerance",
        group: Group::Methods,
        range: Range::Words(&[("exact", "none"), ("article", "0.3 mm")]),
        default: 0,
        explain: "How far a prediction may be off before it counts as wrong: not a bit, or the second article's 1e-7 m².",
        source: "R14, D1, D14",
    },
    Control {
        key: Key::Correction,
        name: "correction",
        label: "hide corrections",
        group: Group::Methods,
        range: Range::Toggle,
        default: 1,
        explain: "Whether a correction is shown as an offset that vanishes, or as a jump.",
        source: "R23, R25",
    },
    Control {
        key: Key::Decay,
        name: "correction_decay",
        label: "they vanish",
        group: Group::Methods,
        range: Range::Words(&[("by_size", "faster when large"), ("article", "to 0.9 per 1/60 s")]),
        default: 0,
        explain: "How the hidden offset vanishes: by its size and along the motion, or at the second article's one rate.",
        source: "R24, E17, D15",
    },
    Control {
        key: Key::Show,
        name: "show",
        label: "show your cube",
        group: Group::Methods,
        range: Range::Words(&[
            ("between", "between the last two ticks"),
            ("newest", "at the newest tick"),
            ("ahead", "ahead along its velocity"),
        ]),
        default: 0,
        explain: "Where between ticks your cube is drawn, in the local lane as well: smooth and up to a tick late, or not.",
        source: "F5, F7",
    },
    Control {
        key: Key::Other,
        name: "other_player",
        label: "another player",
        group: Group::Methods,
        range: Range::Toggle,
        default: 1,
        explain: "A second player, moved by a bot and shown between the snapshots that came.",
        source: "Q20, D29",
    },
];
