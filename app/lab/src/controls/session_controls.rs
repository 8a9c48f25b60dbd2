//! The controls of the session: rates, and what either end does by which method.

use super::control::{Control, Group, Range};
use super::key::Key;

/// Datagrams per second in either direction; 20 and 5 are the first article's (Q18), 64, 16 and 2 the second's (R22).
const RATES: Range = Range::Numbers(&[128, 64, 32, 20, 16, 5, 2], "Hz");

pub const TICK_RATE: Control = Control {
    key: Key::TickRate,
    name: "tick_rate",
    label: "tick rate",
    group: Group::Rates,
    range: Range::Numbers(&[20, 30, 60, 64, 128], "Hz"),
    default: 3,
    explain: "Fixed steps of the simulation per second, on both ends; a change starts the run again.",
    source: "R5, D2",
};

pub const SEND_RATE: Control = Control {
    key: Key::SendRate,
    name: "send_rate",
    label: "send rate",
    group: Group::Rates,
    range: RATES,
    default: 1,
    explain: "Datagrams of inputs per second, rounded to whole ticks and at most one per tick.",
    source: "Q18, D26",
};

pub const SNAPSHOT_RATE: Control = Control {
    key: Key::SnapshotRate,
    name: "snapshot_rate",
    label: "snapshot rate",
    group: Group::Rates,
    range: RATES,
    default: 4,
    explain: "Snapshots per second, rounded to whole ticks and at most one per tick; fewer cost less and correct later.",
    source: "Q18, R22, D25",
};

pub const REDUNDANCY: Control = Control {
    key: Key::Redundancy,
    name: "redundancy",
    label: "repeated inputs",
    group: Group::Methods,
    range: Range::Words(&[("unacknowledged", "unacknowledged"), ("none", "none")]),
    default: 0,
    explain: "Which earlier inputs each datagram repeats, so that a lost one loses nothing; in the second article's system \
              those since the last state that came.",
    source: "R16, E18, D11",
};

pub const REDUNDANCY_CAP: Control = Control {
    key: Key::RedundancyCap,
    name: "redundancy_cap",
    label: "most inputs",
    group: Group::Methods,
    range: Range::slider(0, 64, 1, "ticks"),
    default: 16,
    explain: "The most inputs in a datagram; 0 is as many as fit.",
    source: "R17, D11",
};

pub const GAP: Control = Control {
    key: Key::Gap,
    name: "gap_policy",
    label: "missing input",
    group: Group::Methods,
    range: Range::Words(&[
        ("repeat_last", "repeat the last for 250 ms"),
        ("neutral", "no keys"),
        ("hold", "leave the cube"),
    ]),
    default: 0,
    explain: "What the server does in a tick for which it has no input of yours.",
    source: "R19, E20, D9",
};

pub const TOLERANCE: Control = Control {
    key: Key::Tolerance,
    name: "tolerance",
    label: "tolerance",
    group: Group::Methods,
    range: Range::Words(&[("exact", "none"), ("article", "0.3 mm")]),
    default: 0,
    explain: "How far a prediction may be off before it counts as wrong: not a bit, or the second article's 1e-7 m².",
    source: "R14, D1, D14",
};

pub const CORRECTION: Control = Control {
    key: Key::Correction,
    name: "correction",
    label: "hide corrections",
    group: Group::Methods,
    range: Range::Toggle,
    default: 1,
    explain: "Whether a correction is shown as an offset that vanishes, or as a jump.",
    source: "R23, R25",
};

pub const DECAY: Control = Control {
    key: Key::Decay,
    name: "correction_decay",
    label: "they vanish",
    group: Group::Methods,
    range: Range::Words(&[("by_size", "faster when large"), ("article", "to 0.9 per 1/60 s")]),
    default: 0,
    explain: "How the hidden offset vanishes: by its size and along the motion, or at the second article's one rate.",
    source: "R24, E17, D15",
};

pub const SHOW: Control = Control {
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
};

pub const OTHER: Control = Control {
    key: Key::Other,
    name: "other_player",
    label: "another player",
    group: Group::Methods,
    range: Range::Toggle,
    default: 1,
    explain: "A second player, moved by a bot and shown between the snapshots that came.",
    source: "Q20, D29",
};

pub const BOTS: Control = Control {
    key: Key::Bots,
    name: "bots",
    label: "bots",
    group: Group::Methods,
    range: Range::slider(1, 7, 1, ""),
    default: 2,
    explain: "How many other players there are, each on a network like yours, with the keys of a person.",
    source: "Q20, D29",
};

pub const SCENE: Control = Control {
    key: Key::Scene,
    name: "scene",
    label: "scene",
    group: Group::Scene,
    range: Range::Words(&[
        ("prediction", "Prediction"),
        ("remote", "Remote players"),
        ("styles", "Styles"),
        ("qiita", "Architectures"),
        ("stepping", "Stepping"),
        ("shared", "Shared"),
        ("physics", "Physics"),
        ("crowd", "Crowd"),
        ("peek", "Peek"),
    ]),
    default: 0,
    explain: "What the page shows: your own cube, the others, one owner by many curves, the first article, the \
              second one's server, shared mode, or rigid bodies.",
    source: "Q2, Q20, F5, R4, R8",
};

pub const OTHERS: Control = Control {
    key: Key::Others,
    name: "others",
    label: "others",
    group: Group::Methods,
    range: Range::Words(&[("interpolated", "interpolated"), ("predicted", "predicted from inputs")]),
    default: 0,
    explain: "Whether others are shown late, between snapshots, or ahead, by the inputs that the server relays and guesses.",
    source: "Q20",
};

/// In the order of `Curve::ALL`.
pub const CURVE: Control = Control {
    key: Key::Curve,
    name: "curve",
    label: "their curve",
    group: Group::Methods,
    range: Range::Words(&[
        ("hold", "held"),
        ("linear", "straight"),
        ("extrapolated", "straight, and on"),
        ("hermite", "Hermite"),
        ("catmull_rom", "Catmull-Rom"),
        ("dead_reckoning", "dead reckoning"),
        ("combined", "combined"),
        ("velocity_blending", "velocity blending"),
    ]),
    default: 3,
    explain: "How others are shown between and beyond the snapshots: late by the first five, by the last three where they \
              would be by now.",
    source: "P1-P10, D18, D29",
};

pub const PREDICTION: Control = Control {
    key: Key::Prediction,
    name: "prediction",
    label: "prediction",
    group: Group::Methods,
    range: Range::Toggle,
    default: 1,
    explain: "Whether your client simulates your own cube at once, or waits for what the server says of it, as of the \
              others.",
    source: "Q1, Q2",
};
