//! The controls that only one of the scenes beside the session has: *Styles*, *Architectures*, *Stepping*, *Shared*,
//! *Physics* or *Crowd*.

use super::control::{Control, Group, Range};
use super::key::Key;

pub const MOTION: Control = Control {
    key: Key::Motion,
    name: "motion",
    label: "the owner moves",
    group: Group::Methods,
    range: Range::Words(&[
        ("keys", "by your keys"),
        ("inertial", "with inertia"),
        ("stop_and_go", "stop and go"),
        ("circle", "in a circle"),
    ]),
    default: 0,
    explain: "Your keys (or the bot's), or what docs/CURVES.md measures: a ship's curves, 5 m/s with abrupt stops, a circle of 3 m.",
    source: "P4, P6",
};

pub const UPDATE_RATE: Control = Control {
    key: Key::UpdateRate,
    name: "update_rate",
    label: "update rate",
    group: Group::Rates,
    range: Range::Numbers(&[60, 20, 10, 5, 2], "Hz"),
    default: 2,
    explain: "How often the owner sends position and velocity to all lanes at once; the articles' 10 Hz, and others.",
    source: "P1, E24",
};

pub const CURVES: Control = Control {
    key: Key::Curves,
    name: "curves",
    label: "lanes",
    group: Group::Methods,
    range: Range::Words(&[
        ("selection", "a selection"),
        ("articles", "from update to update"),
        ("buffered", "between updates, later"),
        ("pun", "PUN's views"),
    ]),
    default: 0,
    explain: "Which curves stand side by side: one of each sort, those that start where they are, those that wait for \
              the next update, or what Photon's users have.",
    source: "P1-P11",
};

pub const PUN_EXTRAPOLATION: Control = Control {
    key: Key::PunExtrapolation,
    name: "pun_extrapolation",
    label: "PUN extrapolates",
    group: Group::Methods,
    range: Range::Words(&[
        ("disabled", "not at all"),
        ("synchronized", "synchronized values"),
        ("estimated", "estimated speed"),
        ("fixed", "fixed speed"),
    ]),
    default: 0,
    explain: "The classic view's extrapolate option, with the round trip included, as is its default.",
    source: "P4, P5",
};

pub const PUN_SPEED: Control = Control {
    key: Key::PunSpeed,
    name: "pun_speed",
    label: "PUN speed",
    group: Group::Methods,
    range: Range::slider(1, 20, 1, ""),
    default: 7,
    explain: "The classic view's fixed speeds in m/s and its lerp speed per second; PUN's own default is 1, your cube \
              moves at up to 8.",
    source: "P2",
};

pub const PUN_TELEPORT: Control = Control {
    key: Key::PunTeleport,
    name: "pun_teleport",
    label: "PUN teleports at",
    group: Group::Methods,
    range: Range::slider(0, 10, 2, "m"),
    default: 6,
    explain: "From which distance on the classic and the rigidbody view jump; 0 is never, 3 m is PUN's default.",
    source: "P3",
};

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

pub const STEPPING_LANES: Control = Control {
    key: Key::SteppingLanes,
    name: "stepping_lanes",
    label: "compare",
    group: Group::Methods,
    range: Range::Words(&[
        ("systems", "both systems"),
        ("reconciliation", "reconciliation"),
        ("gaps", "lost inputs"),
        ("repetition", "repeated inputs"),
        ("seats", "client or host"),
    ]),
    default: 0,
    explain: "What stands side by side: the article's system and a session, the article's by one of its choices, or you as a client \
              and as the host. A change begins the lanes anew.",
    source: "R8, R14, R16, R19, D10, F2",
};

pub const RECONCILIATION: Control = Control {
    key: Key::Reconciliation,
    name: "reconciliation",
    label: "reconciliation",
    group: Group::Methods,
    range: Range::Words(&[
        ("rollback", "replay where it differs"),
        ("always", "replay at every state"),
        ("snap", "snap to the state"),
        ("off", "none"),
    ]),
    default: 0,
    explain: "What a state of the server's does in the article's lanes: your inputs since then are run again, or it is taken \
              as the present one, or nothing.",
    source: "R2, R14, F2, D30",
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

pub const BUDGET: Control = Control {
    key: Key::Budget,
    name: "budget_kbytes",
    label: "budget",
    group: Group::Rates,
    range: Range::slider(6, 128, 1, "kB/s"),
    default: 58,
    explain: "How much the server may send to you in a second. Where that is not enough for all, what is near you and what you were \
              told long ago comes first.",
    source: "",
};

pub const ENTITIES: Control = Control {
    key: Key::Entities,
    name: "entities",
    label: "crowd",
    group: Group::Methods,
    range: Range::slider(50, 1000, 1, ""),
    default: 250,
    explain: "How many wander around you; all of them move all the time.",
    source: "",
};

pub const INTEREST: Control = Control {
    key: Key::Interest,
    name: "interest",
    label: "you are told of",
    group: Group::Methods,
    range: Range::Words(&[
        ("everything", "everything"),
        ("nearest_150", "the nearest 150"),
        ("nearest_50", "the nearest 50"),
        ("within_20", "within 20 m"),
        ("within_10", "within 10 m"),
    ]),
    default: 0,
    explain: "Which entities the server tells you of at all; the budget is then for them alone. You see the others as faint outlines: \
              the lab knows where they are, your client does not.",
    source: "",
};
