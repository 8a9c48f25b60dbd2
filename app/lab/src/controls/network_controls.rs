//! The controls of the network, which presets set: what each is called, what it does and where it comes from.

use super::control::{Control, Group, Range};
use super::key::Key;

pub const LATENCY: Control = Control {
    key: Key::Latency,
    name: "latency_ms",
    label: "one-way latency",
    group: Group::Network,
    range: Range::slider(0, 1000, 1, "ms"),
    default: 0,
    explain: "How long every datagram is under way, in each direction; the round trip is twice this.",
    source: "R9, R12, D24",
};

pub const JITTER: Control = Control {
    key: Key::Jitter,
    name: "jitter_ms",
    label: "jitter",
    group: Group::Network,
    range: Range::slider(0, 300, 1, "ms"),
    default: 0,
    explain: "Each datagram takes up to this much longer, drawn anew for each.",
    source: "D31",
};

pub const ORDERING: Control = Control {
    key: Key::Ordering,
    name: "ordering",
    label: "ordering",
    group: Group::Network,
    range: Range::Words(&[("independent", "may overtake"), ("fifo", "in order")]),
    default: 0,
    explain: "Whether jitter lets a datagram overtake an earlier one, or it queues behind it.",
    source: "R9, D31",
};

pub const LOSS: Control = Control {
    key: Key::Loss,
    name: "loss_percent",
    label: "loss",
    group: Group::Network,
    range: Range::slider(0, 100, 10, "%"),
    default: 0,
    explain: "How many datagrams never arrive, in each direction.",
    source: "R9, R21",
};

pub const BURST_LENGTH: Control = Control {
    key: Key::BurstLength,
    name: "burst_length",
    label: "burst length",
    group: Group::Network,
    range: Range::slider(1, 32, 2, ""),
    default: 0,
    explain: "How many datagrams in a row are lost on average; 1 loses each by its own chance. Longer where the loss \
              leaves no other way.",
    source: "D31",
};

pub const DUPLICATES: Control = Control {
    key: Key::Duplicates,
    name: "duplicates_percent",
    label: "duplicates",
    group: Group::Network,
    range: Range::slider(0, 100, 10, "%"),
    default: 0,
    explain: "How many datagrams arrive twice.",
    source: "E5, D31",
};

pub const REORDERING: Control = Control {
    key: Key::Reordering,
    name: "reordering_percent",
    label: "reordering",
    group: Group::Network,
    range: Range::slider(0, 100, 10, "%"),
    default: 0,
    explain: "How many datagrams are held back by 70 ms, so that later ones overtake them.",
    source: "E5, E14, D31",
};

pub const RATE: Control = Control {
    key: Key::Rate,
    name: "rate_kbps",
    label: "rate limit",
    group: Group::Network,
    range: Range::slider(0, 10_000, 1, "kbit/s"),
    default: 0,
    explain: "How much passes in each direction before datagrams queue and are dropped; 0 is no limit.",
    source: "R22",
};

pub const CELLULAR: Control = Control {
    key: Key::Cellular,
    name: "cellular",
    label: "mobile network",
    group: Group::Network,
    range: Range::Words(&[("none", "none"), ("lte", "LTE"), ("umts", "UMTS"), ("evdo", "EV-DO")]),
    default: 0,
    explain: "In the place of the rate limit a made-up link as a car has it, in each direction: its rate wanders, and for \
              moments nothing passes.",
    source: "R9, D31",
};
