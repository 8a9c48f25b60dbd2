//! A correction, its reason, and the datagrams that it is about.

use serde::Serialize;

/// A correction and its reason.
#[derive(Clone, Debug, Serialize)]
pub struct Correction {
    pub entity: String,
    /// Whether it is the person's.
    pub own: bool,
    /// The state that differed.
    pub tick: u32,
    /// The state up to which was simulated again.
    pub until: u32,
    /// The first field that differed.
    pub field: String,
    pub predicted: Vec<f64>,
    pub confirmed: Vec<f64>,
    /// The difference in that field's unit.
    pub size: f64,
    pub misprediction_m: f64,
    pub shown_m: f64,
    pub teleport: bool,
    pub causes: Vec<&'static str>,
    pub sentence: String,
    pub packets: InvolvedPackets,
}

/// The datagrams that a correction is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InvolvedPackets {
    /// The ticks whose inputs these datagrams carried: of those in question the ones that were not there in time, or else
    /// the last one.
    pub ticks: [u32; 2],
    /// When the last of these ticks was simulated by the server, in seconds; `None` where arriving inputs step it.
    pub due_s: Option<f64>,
    /// How many of all datagrams that carried them were lost, came too late, came in time, and only repeated what had
    /// come in time.
    pub lost: usize,
    pub late: usize,
    pub in_time: usize,
    pub repeated: usize,
    /// The last of them, in the order of sending.
    pub inputs: Vec<InputPacket>,
    /// The snapshot that told the client; `None` where it is too long ago.
    pub snapshot: Option<SnapshotPacket>,
}

/// A datagram that carried one of the inputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputPacket {
    /// The oldest and the newest tick in it.
    pub ticks: [u32; 2],
    pub sent_s: f64,
    /// `None` when it never comes.
    pub comes_s: Option<f64>,
    /// `lost`, `late`, `in time`, `repeated`, or `came` where there is no time for it.
    pub fate: &'static str,
    /// How much after the tick in question was simulated, or negative how much before.
    pub late_ms: Option<f64>,
}

/// A datagram that told of a state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotPacket {
    pub tick: u32,
    pub sent_s: f64,
    pub came_s: f64,
}
