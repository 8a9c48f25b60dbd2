//! The fields of a plan file and what each accepts: for the checks, and for the sentences about what is wrong.

use core::fmt;

/// A key of a plan file.
pub struct Field {
    /// Its table; empty for the top of the file.
    pub table: &'static str,
    /// Its name.
    pub key: &'static str,
    /// What it accepts.
    pub accepted: Accepted,
}

/// What a field accepts.
#[derive(Clone, Copy)]
pub enum Accepted {
    /// Any text.
    Text,
    /// A number from the first to the second, of this unit.
    Number(f64, f64, &'static str),
    /// A whole number from the first to the second, of this unit.
    Whole(f64, f64, &'static str),
    /// 0 for none, or a whole number from the first to the second, of this unit.
    NoneOrWhole(f64, f64, &'static str),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list of whole numbers from 0 up.
    Seeds,
    /// A list of what this field of another table accepts.
    ListOf(&'static str, &'static str),
}

use Accepted::{ListOf, NoneOrWhole, Number, Seeds, Text, Whole, Words};

const fn field(table: &'static str, key: &'static str, accepted: Accepted) -> Field {
    Field { table, key, accepted }
}

/// Every field but the thresholds, whose keys are the figures' names.
pub const FIELDS: [Field; 33] = [
    field("", "name", Text),
    field("", "explain", Text),
    field("network", "latency_ms", Number(0.0, 10_000.0, "ms")),
    field("network", "latency_down_ms", Number(0.0, 10_000.0, "ms")),
    field("network", "jitter_ms", Number(0.0, 10_000.0, "ms")),
    field("network", "ordering", Words(&["fifo", "independent"])),
    field("network", "loss", Number(0.0, 1.0, "")),
    field("network", "burst_length", Number(1.0, 1000.0, "datagrams")),
    field("network", "duplicates", Number(0.0, 1.0, "")),
    field("network", "reordering", Number(0.0, 1.0, "")),
    field("network", "rate_kbps", NoneOrWhole(8.0, 1_000_000.0, "kbit/s")),
    field("network", "trace", Text),
    field("network", "trace_down", Text),
    field("network", "cellular", Words(&["lte", "umts", "evdo"])),
    field("network", "cellular_seed", Whole(0.0, 1_000_000.0, "")),
    field("network", "queue_bytes", Whole(1_500.0, 16_777_216.0, "bytes")),
    field("network", "queue_datagrams", Whole(1.0, 4_096.0, "datagrams")),
    field("network", "calm_s", Whole(0.0, 3600.0, "s")),
    field("session", "tick_rate", Whole(10.0, 240.0, "Hz")),
    field("session", "send_rate", Whole(1.0, 240.0, "Hz")),
    field("session", "snapshot_rate", Whole(1.0, 240.0, "Hz")),
    field("session", "seconds", Whole(1.0, 3600.0, "s")),
    field("session", "players", Whole(1.0, 16.0, "")),
    field("session", "seeds", Seeds),
    field("session", "input", Words(&["scripted", "recorded"])),
    field("session", "impulses_per_min", Number(0.0, 600.0, "per minute")),
    field("session", "lead_max_ms", Whole(0.0, 10_000.0, "ms")),
    field("session", "skew_ppm", Whole(-50_000.0, 50_000.0, "ppm")),
    field("grid", "latency_ms", ListOf("network", "latency_ms")),
    field("grid", "jitter_ms", ListOf("network", "jitter_ms")),
    field("grid", "loss", ListOf("network", "loss")),
    field("grid", "snapshot_rate", ListOf("session", "snapshot_rate")),
    field("grid", "skew_ppm", ListOf("session", "skew_ppm")),
];

/// The field of this table and key.
pub fn find(table: &str, key: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.table == table && field.key == key)
}

/// The field of this table and key, of which there is one.
pub fn known(table: &str, key: &str) -> &'static Field {
    find(table, key).expect("the field is listed")
}

/// The tables of a plan file.
pub fn tables() -> impl Iterator<Item = &'static str> {
    ["network", "session", "grid", "thresholds"].into_iter()
}

/// The keys of a table.
pub fn keys(table: &str) -> impl Iterator<Item = &'static str> {
    FIELDS.iter().filter(move |field| field.table == table).map(|field| field.key)
}

impl Accepted {
    /// Whether a number is accepted.
    pub fn accepts(&self, value: f64) -> bool {
        match self {
            Number(low, high, _) => (*low..=*high).contains(&value),
            Whole(low, high, _) => (*low..=*high).contains(&value) && value.fract() == 0.0,
            NoneOrWhole(low, high, unit) => value == 0.0 || Whole(*low, *high, unit).accepts(value),
            Text | Words(_) | Seeds | ListOf(..) => false,
        }
    }
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Text => write!(f, "a text in quotes"),
            Number(low, high, unit) => write!(f, "a number from {low} to {high} {unit}"),
            Whole(low, high, unit) => write!(f, "a whole number from {low} to {high} {unit}"),
            NoneOrWhole(low, high, unit) => write!(f, "0 for none, or a whole number from {low} to {high} {unit}"),
            Words(words) => {
                let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                write!(f, "{}", quoted.join(" or "))
            }
            Seeds => write!(f, "a list of 1 to 64 whole numbers from 0 up"),
            ListOf(table, key) => {
                write!(f, "a list in which each is {}", known(table, key).accepted)
            }
        }
    }
}
