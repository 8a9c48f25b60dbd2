//! What a crowd came to.

use serde::Serialize;

/// What was measured of a crowd, with what was asked for. Times are those of the processor, in microseconds; ages and waits are of
/// virtual time, in milliseconds, and like the bytes a function of the options.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Figures {
    /// How many entities the server has besides those of its players.
    pub entities: u16,
    /// How many of them move.
    pub moving: u16,
    /// How many clients say hello.
    pub clients: u16,
    /// How many of them had come into play by the end of what was measured.
    pub clients_in_play: u16,
    /// The round trip.
    pub rtt_ms: u32,
    /// The share of datagrams that is lost on each way.
    pub loss: f64,
    /// How many bytes per second each client is sent at most.
    pub budget: u32,
    /// What losses and names are drawn from.
    pub seed: u64,
    /// A tick of the server: what has come, the game's step and what it sends.
    pub server_us_per_tick: f64,
    /// The game's own step in it.
    pub step_us_per_tick: f64,
    /// A frame of a client, of which there is one per tick: what has come, and the update. The mean of all clients.
    pub client_us_per_tick: f64,
    /// Presenting every entity of a client with its pose.
    pub present_us_per_frame: f64,
    /// What the server sends to each client, in datagrams without the headers of the network.
    pub bytes_per_client_per_s: f64,
    /// The same per tick, over how many entities changed in it; 0 where nothing moves.
    pub bytes_per_changed_entity: f64,
    /// How old what clients have of the entities of others is: the median over entities, clients and ticks. What rests is not
    /// old. `None`, as the three below, where no client had come into play.
    pub shown_age_ms_p50: Option<f64>,
    /// Their 99th percentile.
    pub shown_age_ms_p99: Option<f64>,
    /// The oldest.
    pub shown_age_ms_max: Option<f64>,
    /// The oldest of the twenty that were nearest to a client's own entity.
    pub nearest_20_age_ms_max: Option<f64>,
    /// How long after their first hello one who comes late plays, with their own entity predicted; `None` where it was not in
    /// time.
    pub joiner_plays_ms: Option<f64>,
    /// How long after it they have every entity; `None` where it was not in time.
    pub joiner_complete_ms: Option<f64>,
}
