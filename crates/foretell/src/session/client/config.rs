//! What a client decides by itself.

use crate::motion::Correction;
use crate::session::curves::Curve;
use crate::time::{SendRate, TickRate};
use crate::world::Tolerance;
use core::time::Duration;

/// Beyond the way up and, at a start, a frame, the clock leads the server's by so much where nothing is known of how inputs come: at
/// a start, and of who sends none (FIELD: Netcode for Entities).
pub(crate) const START_AHEAD_TICKS: f64 = 2.0;

/// What a client decides by itself; may change while it runs, but for the horizon.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClientConfig {
    /// How often a datagram of inputs is sent. Default in every tick.
    pub send_rate: SendRate,
    /// Which inputs a datagram repeats. Default those that are not acknowledged and can still be in time, at most 16 (D11): one that is
    /// late is worth nothing.
    pub redundancy: Redundancy,
    /// How far back a prediction can be corrected by comparison; beyond it the client resyncs. Default 2 s: longer than
    /// any round trip that is still playable. Shorter than the round trip every snapshot is a resync, and the state is
    /// [`Resyncing`](super::ClientState::Resyncing). Taken over when the session starts, in whole ticks, at least one, at most 60 s.
    pub horizon: Duration,
    /// The world is saved when it has not been for this number of ticks, and where the next correction may well begin; what lies between
    /// is stepped again from there when it is needed. Default 1, 0 counts as 1: right as long as saving is cheaper than a step. Where a
    /// save costs `c` steps the root of `32 c`, and that is what a save is taken to cost when it is decided where to save: for a physics
    /// engine 4 where most bodies move, 24 where most sleep, as its steps are cheap then and a saved state is not. Taken over
    /// when the session starts.
    pub checkpoint_interval: u32,
    /// When a prediction counts as wrong. Default: any difference.
    pub tolerance: Tolerance,
    /// How corrections are hidden; `None` shows them as jumps. Default [`Correction::default`] (D15): an offset that fades is seen less
    /// than a jump.
    pub correction: Option<Correction>,
    /// How many ticks one update may simulate again; the rest is done in later updates while the present goes on, and
    /// lands as one correction. At least 2 more than an update's new ticks are always done, so that it ends. Default
    /// 128.
    pub resimulation_budget: u32,
    /// Where between two ticks predicted entities are shown. Default [`Show::Between`]: smooth at any frame rate, and a tick late at most.
    pub show: Show,
    /// Whose entities are simulated here ahead of the authority. May be overridden for single players by
    /// [`Client::predict`](super::Client::predict). Default [`Predict::Own`]: of others a server tells no inputs by default, and
    /// what they do is a guess.
    pub predict: Predict,
    /// By which curve the entities are shown that are not predicted. May be overridden for single ones by
    /// [`Client::show_with`](super::Client::show_with). Default [`Curve::Hermite`], of those at the playout cursor the one with the least error
    /// (`docs/CURVES.md`).
    pub curve: Curve,
    /// How much later than the next tick an input counts. Default not at all: the own character answers at once.
    pub input_delay: InputDelay,
    /// The share of inputs that may come too late, 0 to 1: the clock leads the server's by so much more that no more of
    /// them do. With 0 it leads by the worst of late, as far as `lead_max` allows. Default 0.003:
    /// where losses are independent, a lead of four ticks is enough for it (plan `transpacific`).
    pub late_inputs_max: f64,
    /// The largest lead beyond the fastest way of an input, at most 10 s; losses and jitter that would need more are left to
    /// the server's gap policy, and told by [`ClientEvent::SlackLimited`](super::ClientEvent). With zero whatever is not as fast as the fastest is late. Default `None`: 100 ms, or twice the time from one datagram of inputs to
    /// the next where that is longer, as at 10 ticks per second, so that what was in a lost one still comes in time.
    pub lead_max: Option<Duration>,
    /// The share of snapshots that may come too late to show others between two of them, 0 to 1; what is later is
    /// extrapolated. Default 0.01.
    pub late_snapshots_max: f64,
    /// A client that asks to join gives up when nothing has come from the server for so long
    /// ([`Refusal::Unanswered`](crate::session::Refusal)), or when so long after the first answer it has no state to start from
    /// ([`Refusal::TimedOut`](crate::session::Refusal)). Default 10 s, as long as the server waits for it; less than a second
    /// counts as one. Pauses between updates count for a second at most. Who has played and is lost asks on for ever.
    pub join_timeout: Duration,
    /// The longest that others are shown later because snapshots come late or not at all, at most 10 s. With zero whatever
    /// is later than the fastest is extrapolated. Default 250 ms, as long as others go on beyond the newest state before they stand (D29).
    pub playout_wait_max: Duration,
    /// How many bytes per second of [messages](crate::Message) go up at most, however large they are; less where the way up
    /// does not take it without a queue, as inputs come first. Default 16,000, half of what a server
    /// [takes](crate::ServerConfig::message_rate_max). At most two datagrams of them go up in a tick, some 1,900 bytes: a server over
    /// `foretell-net` reads four of a client's in each of its updates, the inputs among them.
    pub message_rate: u32,
    /// How many bytes of messages may wait to go up, those under way included; one that has no room is
    /// [refused](crate::session::SendError::Full); a larger one has room where nothing else waits. Not so newest and unreliable ones, which take the place of older ones of their kind: up to two,
    /// and up to 64, of each kind wait in any case, and count. Give them a small [`BYTES_MAX`](crate::Message::BYTES_MAX). Default 4 MiB.
    pub message_queue_max: u32,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        ClientConfig {
            send_rate: SendRate::EveryTick,
            redundancy: Redundancy::default(),
            horizon: Duration::from_secs(2),
            checkpoint_interval: 1,
            tolerance: Tolerance::default(),
            correction: Some(Correction::default()),
            resimulation_budget: 128,
            show: Show::default(),
            predict: Predict::default(),
            curve: Curve::default(),
            input_delay: InputDelay::default(),
            late_inputs_max: 0.003,
            lead_max: None,
            late_snapshots_max: 0.01,
            join_timeout: Duration::from_secs(10),
            playout_wait_max: Duration::from_millis(250),
            message_rate: 16_000,
            message_queue_max: 4 << 20,
        }
    }
}

impl ClientConfig {
    /// What the clock keeps to at this tick rate.
    pub(super) fn limits(&self, rate: TickRate) -> Limits {
        let apart_ms = 1_000 * self.send_rate.interval_ticks(rate) / u32::from(rate.get());
        let apart = Duration::from_millis(u64::from(apart_ms)).min(LEAD_MAX_APART);
        let most = self.lead_max.unwrap_or(LEAD_MAX.max(2 * apart));
        Limits { late: share(self.late_inputs_max), most: micros(most) }
    }

    /// What the playout cursor keeps to.
    pub(super) fn playout_limits(&self) -> Limits {
        Limits { late: share(self.late_snapshots_max), most: micros(self.playout_wait_max) }
    }
}

/// The largest lead where nothing else is said.
const LEAD_MAX: Duration = Duration::from_millis(100);
/// Datagrams that are farther apart are no reason for a larger one.
const LEAD_MAX_APART: Duration = Duration::from_secs(1);
/// The longest lead and wait.
const LIMIT_MAX: Duration = Duration::from_secs(10);

/// From 0 to 1; what is not a number is 0.
fn share(of: f64) -> f64 {
    if of.is_nan() { 0.0 } else { of.clamp(0.0, 1.0) }
}

/// In microseconds, ten seconds at most.
fn micros(time: Duration) -> i64 {
    i64::try_from(time.min(LIMIT_MAX).as_micros()).unwrap_or(i64::MAX)
}

/// Which inputs a datagram carries besides the new ones, which it always carries, whatever the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Redundancy {
    /// None: a lost datagram's inputs are lost.
    None,
    /// Those that the server has not acknowledged and whose deadline can still be met, at most `limit`: to repeat an older
    /// one is in vain. The default, with a limit of 16 (D11).
    Unacknowledged {
        /// The most inputs in a datagram.
        limit: u32,
    },
}

impl Default for Redundancy {
    fn default() -> Redundancy {
        Redundancy::Unacknowledged { limit: 16 }
    }
}

/// Whose entities a client predicts; those of the others are interpolated, and so is what another player's client has
/// authority over.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Predict {
    /// Those of the own player. The default.
    #[default]
    Own,
    /// Those of everybody whose inputs the server relays
    /// ([`ServerConfig::relay_inputs`](crate::session::server::ServerConfig::relay_inputs)), and the server's own. Others
    /// are then shown where they are by their newest known input, rather than where they were; a guess that was wrong is
    /// corrected. Of more than [`ServerConfig::budget`](crate::session::server::ServerConfig::budget) and the link take, the nearest.
    Everyone,
    /// Those of the own player, and of what `Everyone` would predict the entities that are near one of them, by the first
    /// position of their kinds: what it may touch before the server's word comes. What is farther off is a proxy
    /// ([`Role::Proxy`](crate::world::Role::Proxy)). So a client can play in the middle of more bodies than it could
    /// simulate. With [`Tolerance::of_contacts`](crate::world::Tolerance::of_contacts), as what is near is pushed by what
    /// is not.
    Near {
        /// What comes as near as this is predicted, in metres.
        within_m: f64,
        /// Until it is farther off than this, in metres: more than `within_m`, so that nothing goes back and forth.
        until_m: f64,
    },
}

/// For how many ticks an input waits before it counts, on both ends. The player feels the delay, and so many ticks less
/// are predicted: what others do is seen sooner, and corrections are smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum InputDelay {
    /// Always this many ticks, at most [`INPUT_DELAY_MAX`]. Default 0: the own character answers at once.
    Ticks(u32),
    /// As many ticks as the round trip is longer than `rtt`, so that no more is predicted than with that one.
    AboveRtt {
        /// The round trip up to which there is no delay.
        rtt: Duration,
        /// The most ticks, at most [`INPUT_DELAY_MAX`].
        ticks_max: u32,
    },
}

/// The longest delay of inputs, in ticks: half of what a server takes ahead of time.
pub const INPUT_DELAY_MAX: u32 = 32;

impl Default for InputDelay {
    fn default() -> InputDelay {
        InputDelay::Ticks(0)
    }
}

impl InputDelay {
    /// The delay with this round trip, when it was `before`: one that hovers between two values changes nothing.
    pub(crate) fn ticks(self, rtt: Duration, rate: TickRate, before: u32) -> u32 {
        match self {
            InputDelay::Ticks(ticks) => ticks.min(INPUT_DELAY_MAX),
            InputDelay::AboveRtt { rtt: free, ticks_max } => {
                let wanted = rate.ticks_in(rtt.saturating_sub(free)).min(ticks_max).min(INPUT_DELAY_MAX);
                if wanted > before || wanted + 1 < before { wanted } else { before }
            }
        }
    }
}

/// Where between two ticks predicted entities are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Show {
    /// Between the last two states: smooth, and at most one tick late. The default.
    #[default]
    Between,
    /// At the newest state.
    Newest,
    /// Ahead of the newest state by the fraction of a tick that has passed, along its velocity.
    Ahead,
}

impl Show {
    /// All of them.
    pub const ALL: [Show; 3] = [Show::Between, Show::Newest, Show::Ahead];
}

/// What the clock, or the playout cursor, is to keep to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The share of inputs that may come late.
    pub late: f64,
    /// The largest slack, in microseconds.
    pub most: i64,
}
