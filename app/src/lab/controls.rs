//! The controls of the lab: what each is called, what it does and where it comes from.

use super::control::{Control, Group, Range};

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
    Bots,
    Scene,
    Others,
}

/// How many controls there are.
pub const CONTROLS_LEN: usize = 24;

/// What the page shows of the one session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scene {
    /// The person's own cube, and what becomes of its predictions.
    Prediction,
    /// The others, as the person's client shows them.
    Remote,
}

impl Scene {
    /// Both, in the order of their codes.
    pub const ALL: [Scene; 2] = [Scene::Prediction, Scene::Remote];

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Scene::Prediction => "prediction",
            Scene::Remote => "remote",
        }
    }
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

    /// The scene that it counts in; `None` for all.
    pub fn scene(self) -> Option<Scene> {
        match self {
            Key::Other => Some(Scene::Prediction),
            Key::Bots | Key::Others => Some(Scene::Remote),
            _ => None,
        }
    }

    /// Whether it is one of those that a preset sets.
    pub fn is_network(self) -> bool {
        self.control().group == Group::Network
    }
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
        range: slider(1, 32, 2, ""),
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
        label: "most inputs",
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
    Control {
        key: Key::Bots,
        name: "bots",
        label: "bots",
        group: Group::Methods,
        range: slider(1, 7, 1, ""),
        default: 2,
        explain: "How many other players there are, each on a network like yours, with the keys of a person.",
        source: "Q20, D29",
    },
    Control {
        key: Key::Scene,
        name: "scene",
        label: "scene",
        group: Group::Scene,
        range: Range::Words(&[("prediction", "Prediction"), ("remote", "Remote players")]),
        default: 0,
        explain: "What the page shows of the session: your own cube, or the others.",
        source: "Q20",
    },
    Control {
        key: Key::Others,
        name: "others",
        label: "others",
        group: Group::Methods,
        range: Range::Words(&[("interpolated", "interpolated"), ("predicted", "predicted from inputs")]),
        default: 0,
        explain: "Whether others are shown late, between snapshots, or ahead, by the inputs that the server relays and guesses.",
        source: "Q20",
    },
];
