//! How a client fares in numbers, by what they are about: the network, the clock, its inputs, its predictions, and what it shows of
//! others. Counters count since the client was made; everything else is the newest measurement.

use super::snapshots::Outcomes;
use core::time::Duration;

/// Counters since the client was made, over all of its sessions, and the newest measurements.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ClientStats {
    /// The way to the server, and what travels on it.
    pub network: NetworkStats,
    /// The client's clock by the server's.
    pub clock: ClockStats,
    /// Whether the client's inputs come in time.
    pub inputs: InputStats,
    /// Whether its predictions were right, and what was done where they were not.
    pub prediction: PredictionStats,
    /// How others are shown.
    pub playout: PlayoutStats,
}

/// The way to the server, and what travels on it. Bytes are those of the session's datagrams, without the headers of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NetworkStats {
    /// The smoothed round trip, without the time the server held the datagram. Zero until it is measured.
    pub rtt: Duration,
    /// Datagrams that were sent.
    pub datagrams_sent: u64,
    /// Bytes in them.
    pub bytes_sent: u64,
    /// Datagrams that were received.
    pub datagrams_received: u64,
    /// Bytes in them.
    pub bytes_received: u64,
    /// Datagrams that were malformed, or of another session.
    pub refused: u64,
    /// Datagrams of snapshots that were told against one that the client does not have, and were dropped. The server tells
    /// everything then.
    pub baselines_lacking: u64,
}

/// The client's clock by the server's.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ClockStats {
    /// How far the client's clock leads the server's, in ticks, as estimated.
    pub lead_ticks: f64,
    /// The speed of the client's ticks by that of the server's: 1 where nothing is steered.
    pub speed: f64,
    /// How much the server's clock gains on the client's, in parts per million, as estimated; negative where it loses.
    pub drift_ppm: f64,
}

/// Whether the client's inputs come in time: what its clock is steered by.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct InputStats {
    /// Inputs that were sent, with repetitions.
    pub sent: u64,
    /// Own ticks whose input the server substituted, as far as it has told.
    pub substituted: u64,
    /// The smallest margin in the server's last report, in ticks; negative for late. Zero until it is reported.
    pub margin_ticks: f64,
    /// How much earlier than just in time an input comes that nothing delays, in ticks: what the clock's lead has to spare
    /// for losses and jitter. Zero until it is measured.
    pub slack_ticks: f64,
    /// How much of that recent losses and jitter ask for, in ticks, whether it is allowed or not. Zero until it is
    /// measured.
    pub slack_asked_ticks: f64,
    /// Whether they ask for more than is allowed.
    pub slack_limited: bool,
}

/// Whether predictions were right, and what was done where they were not.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PredictionStats {
    /// What became of the authority's samples.
    pub outcomes: Outcomes,
    /// The largest distance between the authority and the stored predictions in the newest compared snapshot, in
    /// metres.
    pub misprediction_m: f64,
    /// Corrections of entities; more than `outcomes.corrected` where an entity ceased to exist or a resync moved it.
    pub corrections: u64,
    /// Corrections that were shown at once: too large to hide, or of who was [put elsewhere](crate::Meaning::Teleports).
    pub teleports: u64,
    /// Rollbacks, whatever number of entities each corrected.
    pub rollbacks: u64,
    /// The deepest rollback, in ticks.
    pub rollback_ticks_max: u32,
    /// Ticks that were simulated again.
    pub resimulated: u64,
    /// Starts from a full state after the first.
    pub resyncs: u64,
    /// Predicted entities that the authority never had.
    pub withdrawn: u64,
    /// Effects that were told and did not happen.
    pub effects_cancelled: u64,
    /// Ticks of which the server could not tell all effects: there were more than 256 since the snapshot that it knows the
    /// client to have, or that was too long ago. Predicted effects of these ticks stay as they are.
    pub effect_ticks_untold: u64,
}

/// How others are shown.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PlayoutStats {
    /// How far behind the newest possible information other entities are shown, in ticks.
    pub delay_ticks: f64,
    /// The speed of the playout cursor by that of the server's ticks: 1 where nothing is steered, 0 until a session begins.
    pub speed: f64,
    /// Rows of others that have come, and are not shown yet, as the first component of their entity has not: as of the newest
    /// snapshot. There are at most as many as a client shows, 65,536.
    pub orphans: u64,
}
