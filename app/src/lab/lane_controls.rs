//! The controls of the scenes *Qiita*, *Shared* and *Physics*, and by which curve others are shown.

use super::control::{Control, Group, Range};
use super::key::Key;

pub const SYNC_RATE: Control = Control {
    key: Key::SyncRate,
    name: "sync_rate",
    label: "sync rate",
    group: Group::Rates,
    range: Range::Numbers(&[20, 5], "Hz"),
    default: 0,
    explain: "Datagrams per second in both directions; frames are drawn at 60 Hz. A change begins the lanes anew.",
    source: "Q18, D26",
};

pub const BELIEVES: Control = Control {
    key: Key::Believes,
    name: "server_believes",
    label: "server believes",
    group: Group::Methods,
    range: Range::Words(&[("nothing", "nothing to gain by"), ("everything", "everything, as in the article")]),
    default: 0,
    explain: "Whether times, directions and distances are held to what is allowed, or all is as in the article: lost \
              inputs too, and jumps.",
    source: "E4, E6, E10, D3",
};

pub const DETECT: Control = Control {
    key: Key::Detect,
    name: "resync_found_by",
    label: "resync found by",
    group: Group::Methods,
    range: Range::Words(&[("client", "the client"), ("server", "the server")]),
    default: 0,
    explain: "Who compares: the client what comes back, or the server a position that comes with the inputs, half a \
              round trip sooner.",
    source: "Q10, Q13, D8",
};

pub const CLOCK: Control = Control {
    key: Key::Clock,
    name: "client_clock",
    label: "client's clock",
    group: Group::Methods,
    range: Range::Words(&[("micros", "whole microseconds"), ("f32", "f32 seconds, added up")]),
    default: 0,
    explain: "The article adds frame times in f32: in an old session an honest client gets resyncs by rounding alone.",
    source: "E2, E3, D2",
};

pub const AGE: Control = Control {
    key: Key::Age,
    name: "session_age",
    label: "session's age",
    group: Group::Methods,
    range: Range::Numbers(&[0, 64, 256, 1024, 4096, 16384], "s"),
    default: 0,
    explain: "For how long the session has run already when the lanes begin.",
    source: "E3",
};

pub const OWNER_FRAMES: Control = Control {
    key: Key::OwnerFrames,
    name: "owner_frames",
    label: "owner's frames",
    group: Group::Rates,
    range: Range::Words(&[("60", "60 Hz"), ("30", "30 Hz"), ("144", "144 Hz"), ("jittery", "4 to 30 ms each")]),
    default: 0,
    explain: "How often the owner draws and moves; the ticks that capture it do not fall together with that.",
    source: "F6, E25",
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

pub const FIELD: Control = Control {
    key: Key::Field,
    name: "field",
    label: "small cubes",
    group: Group::Methods,
    range: Range::Numbers(&[30, 100, 901], ""),
    default: 1,
    explain: "How many there are to be pushed. 901 are too many for an exact session: of them what is near is predicted. A \
              change begins the session anew.",
    source: "R4, R13",
};

pub const SECOND: Control = Control {
    key: Key::Second,
    name: "second_player",
    label: "second player",
    group: Group::Methods,
    range: Range::Toggle,
    default: 0,
    explain: "Somebody who pushes the same pile from a machine and over a link of their own, with the screen beside yours: a bot, \
              until I, J, K, L or U is pressed.",
    source: "R4, R11",
};

pub const RELAY: Control = Control {
    key: Key::Relay,
    name: "relay_inputs",
    label: "relay inputs",
    group: Group::Methods,
    range: Range::Toggle,
    default: 1,
    explain: "Whether the server passes on what the other player presses, or their cube is predicted without: it then moves \
              by states alone.",
    source: "R13, Q20",
};

pub const PREDICTED: Control = Control {
    key: Key::Predicted,
    name: "predicted",
    label: "predicted",
    group: Group::Methods,
    range: Range::Words(&[("everything", "everything, bit by bit"), ("near", "what is near you")]),
    default: 0,
    explain: "The whole pile in an exact session, or what you may touch before the server's word comes; the rest is then \
              shown between snapshots. A change begins the session anew.",
    source: "R3, R13",
};
