//! The controls of the scene *Peek*.

use super::control::{Control, Group, Range};
use super::key::Key;

pub const OTHER_PLAYS: Control = Control {
    key: Key::OtherPlays,
    name: "other_plays",
    label: "the other",
    group: Group::Methods,
    range: Range::Words(&[
        ("runs", "runs past the doorway"),
        ("peeks", "peeks round the corner"),
        ("holds", "waits for you"),
    ]),
    default: 0,
    explain: "What the other player does: shows itself for a moment, comes out at the corner and shoots, or stands where it sees you \
              come out.",
    source: "",
};

pub const OTHER_LATENCY: Control = Control {
    key: Key::OtherLatency,
    name: "other_latency_ms",
    label: "their latency",
    group: Group::Network,
    range: Range::slider(0, 300, 1, "ms"),
    default: 40,
    explain: "How long every datagram between the server and the other player is under way, in each direction. Jitter, losses and the \
              rest are as on your link.",
    source: "",
};

pub const REWIND_MAX: Control = Control {
    key: Key::RewindMax,
    name: "rewind_max_ms",
    label: "rewind at most",
    group: Group::Methods,
    range: Range::slider(0, 500, 1, "ms"),
    default: 250,
    explain: "How far back the server goes at most for what a player saw (rewind_max); with 0 it judges by the present, and you have to \
              aim ahead.",
    source: "",
};

pub const GRACE: Control = Control {
    key: Key::Grace,
    name: "grace",
    label: "grace in cover",
    group: Group::Methods,
    range: Range::Toggle,
    default: 0,
    explain: "Whether who has been in cover on the server for more than 100 ms when the shot comes is spared: the shooter has seen a \
              hit, and it is taken back.",
    source: "",
};
