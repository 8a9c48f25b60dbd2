//! What a server decides by itself, and what it has agreed on with its clients.

use super::rewind_history::RewindTerms;
use crate::session::curves::Curve;
use crate::session::{GapPolicy, Rules};
use crate::time::{SendRate, Tick};
use crate::world::Interest;
use core::time::Duration;

/// Nobody is judged by what was longer ago.
const REWIND_MOST: Duration = Duration::from_millis(500);

/// What a server decides by itself; may change while it runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServerConfig {
    /// How often a snapshot is sent: when the tick of the state is divisible by the distance in ticks that the rate comes to
    /// (D25). Default in every tick.
    pub snapshot_rate: SendRate,
    /// What happens in a tick for which a player's input is missing. Default [`GapPolicy::RepeatLast`] for 16 ticks.
    pub gap: GapPolicy,
    /// Whether clients that predict other players are told their newest inputs. Default false: an input tells intentions.
    pub relay_inputs: bool,
    /// How many players may be in the session, 0 to 65,535; with 0 nobody comes. Default 64. Those who are there already stay. Lost ones count,
    /// but who is admitted to a full session gets the place of who was lost first. Over `foretell-net` raising it
    /// while the server runs lets nobody more in.
    pub players_max: u16,
    /// How many [spectators](crate::Seat::Spectator) may be there besides, 0 to 65,535. Default 0: a game has to know of them first, as
    /// they are among those who [join](crate::Step::joined). Lost ones count as lost players do.
    pub spectators_max: u16,
    /// Whether nobody new is taken: who asks is refused ([`Refusal::Draining`](crate::session::Refusal)). Who has a place
    /// keeps it, and comes back to it. Default false.
    pub draining: bool,
    /// A player of whom nothing has come for so long is lost: no snapshots are sent any more, and the gap policy plays. Who has
    /// not sent an input by then has not come into play, and is refused ([`Refusal::TimedOut`](crate::session::Refusal)).
    /// Default 10 s: a client that gets nothing asks again after 5 s, so that by then it has asked for 5 s in vain. Less than
    /// a second counts as one: pauses of that length are ordinary, and each would be a loss.
    pub timeout: Duration,
    /// For so long the place and the entities of a lost player wait; then they have left, as they have when a session is
    /// full and somebody else is admitted. Zero is at once. Default 60 s:
    /// a program that is started again, a tunnel, a change of networks.
    pub keep_lost: Duration,
    /// How many entities one player's client may have authority over. Default 8; 0 for none. What it may write is up to
    /// the schema: [`Writer`](crate::world::Writer).
    pub held_max: u16,
    /// Which entities of others a client is told about, by where they are; rules of the game's own say more for single players
    /// and entities: [`Simulate::interest_rules`](crate::Simulate::interest_rules). Default [`Interest::Everything`]. Not in an exact
    /// session: there everybody needs everything.
    ///
    /// What leaves its view is hidden to the client ([`ClientEvent::Hidden`](crate::session::client::ClientEvent::Hidden)),
    /// and shown when it comes back.
    pub interest: Interest,
    /// How many bytes per second each client is sent at most, in the mean of a few states; headers of the network come
    /// besides. What is predicted comes first and always; of what is shown, what is near, what was told long ago, and what is new of players. Default
    /// 128,000. Of what a client predicts of others at most three quarters of it are told, the nearest first; the rest it shows.
    pub budget: u32,
    /// How many bytes per second each client may be sent however much is lost or waits for a little: below the
    /// [`budget`](ServerConfig::budget), what is sent follows what the link takes without a queue, but not below this. Default
    /// 5,000, less than any link takes over which a game can be played, so that a small game never waits for what jitter is
    /// mistaken for. While nothing comes through, or all of it late though the link has as much as it takes, only what is predicted
    /// is sent: more would wait behind the rest.
    pub budget_min: u32,
    /// How many bytes per second of messages may come from one client; what is beyond is as if it were lost, and noted in its
    /// [offences](crate::session::Offences). More than [`ClientConfig::message_rate`](crate::ClientConfig::message_rate) of honest ones;
    /// two seconds of it may come at once. With 0 none come, and as nothing is known of those that were sent, those stop too. Default 32,000.
    pub message_rate_max: u32,
    /// How many bytes of messages may wait for one client, those under way included; one that has no room is
    /// [refused](crate::session::SendError::Full); a larger one has room where nothing else waits. Not so newest and unreliable ones, which take the place of older ones of their kind: up to two,
    /// and up to 64, of each kind wait in any case, and count. Give them a small [`BYTES_MAX`](crate::Message::BYTES_MAX). Default 4 MiB.
    pub message_queue_max: u32,
    /// How far back the server goes at most for what a player saw ([`Step::rewound`](crate::Step::rewound)), whatever its client claims
    /// and however slow its link is. Default 250 ms: of who plays with a round trip of up to about 150 ms and states at 30 Hz or more,
    /// what was aimed at is hit; beyond that the victim pays more than the shooter gains. At 15 Hz over a link that loses one in twenty
    /// others are shown 330 ms behind what is predicted: such a game raises it to 400 ms, or sends more often. More than 500 ms count as that. What changes is kept for so long; zero
    /// keeps nothing, and judges by the present. Another value forgets what is kept.
    pub rewind_max: Duration,
    /// By which curve clients show others ([`ClientConfig::curve`](crate::ClientConfig)), by which the server finds them again. Default
    /// [`Curve::Hermite`], as there. Where clients show others ahead of the playout cursor, what they saw can't be found again: then by
    /// the default one at the cursor.
    pub rewind_curve: Curve,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            snapshot_rate: SendRate::EveryTick,
            gap: GapPolicy::default(),
            relay_inputs: false,
            players_max: 64,
            spectators_max: 0,
            draining: false,
            timeout: Duration::from_secs(10),
            keep_lost: Duration::from_secs(60),
            held_max: 8,
            interest: Interest::Everything,
            budget: 128_000,
            budget_min: 5_000,
            message_rate_max: 32_000,
            message_queue_max: 4 << 20,
            rewind_max: Duration::from_millis(250),
            rewind_curve: Curve::Hermite,
        }
    }
}

/// What a server goes by: the rules that it has agreed on, and what it decides by itself.
pub(super) struct Settings {
    pub rules: Rules,
    pub config: ServerConfig,
}

impl Settings {
    /// How many ticks a snapshot is after the one before.
    pub fn snapshot_interval_ticks(&self) -> u32 {
        self.config.snapshot_rate.interval_ticks(self.rules.tick_rate)
    }

    /// Whether the state of `tick` is sent.
    pub fn is_sent(&self, tick: Tick) -> bool {
        tick.get().is_multiple_of(self.snapshot_interval_ticks())
    }

    /// How much of the past is kept. In an exact session nobody is shown in the past.
    pub fn past(&self) -> RewindTerms {
        let rate = self.rules.tick_rate;
        let ticks = if self.rules.exact { 0 } else { rate.ticks_in(self.config.rewind_max.min(REWIND_MOST)) };
        RewindTerms { ticks, sent: self.snapshot_interval_ticks(), rate, curve: self.config.rewind_curve }
    }

    /// How many entities one client may hold.
    pub fn held_max(&self) -> usize {
        if self.rules.exact { 0 } else { usize::from(self.config.held_max) }
    }
}
