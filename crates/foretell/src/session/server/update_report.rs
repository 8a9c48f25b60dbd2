//! What a server's update reports.

use crate::session::{Claim, Departure, HitReceipt, HoldRefusal, PeerId, Refusal};
use crate::time::{Offset, Tick};
use crate::world::{Entity, PlayerId, ReceivedMessage};

/// Something that happened in an update of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerEvent {
    /// A player or spectator has joined: their client hears the server, and the world's next step is told of them
    /// ([`Step::joined`](crate::Step::joined)). Should nothing come of the client then, `Refused` and `Left` follow within
    /// [`timeout`](crate::ServerConfig::timeout), and the world is told that they have left.
    Joined(PlayerId),
    /// Somebody is refused. Reported once, however often they ask.
    Refused {
        /// Over which connection they have come.
        peer: PeerId,
        /// Who it is, where they had joined: `Left` comes next.
        player: Option<PlayerId>,
        /// Why. The client is told the same, but where it was silent, or its connection broken, before it came into play.
        why: Refusal,
    },
    /// Nothing has come of a player for too long. The place waits.
    Lost(PlayerId),
    /// A lost player is back, or a player has come over another connection.
    Rejoined(PlayerId),
    /// A player is in the session no more; their number may be given again.
    Left {
        /// Who.
        player: PlayerId,
        /// How that has come.
        why: Departure,
    },
    /// The server stood still, and was too far behind: it skipped this many ticks, which are never simulated.
    SkippedTicks(u32),
    /// Not all that is to be told exactly to a player has room in a snapshot. Of what they predict of others the nearest is, and the
    /// rest is shown. Where their own rows have no room, and in an exact session, nothing is sent, and the
    /// player is refused ([`Refusal::TooLarge`]) when that has lasted for [`timeout`](crate::ServerConfig::timeout), at once
    /// where they have no state yet. Reported once, when it begins.
    SnapshotTooLarge(PlayerId),
    /// A player's program was started again, and plays on as this player: what was sent to it before is gone, as far as it had not
    /// come. Send again what it needs to have from the start.
    MessagesReset(PlayerId),
    /// A player's client has authority over an entity, or another right to it than before.
    Held {
        /// Which.
        entity: Entity,
        /// Whose client.
        player: PlayerId,
        /// By what right.
        claim: Claim,
    },
    /// A player's client has asked for authority over an entity and does not get it.
    HoldRefused {
        /// Which.
        entity: Entity,
        /// Whose client.
        player: PlayerId,
        /// Why.
        why: HoldRefusal,
    },
    /// The server has the authority over an entity again: it was given back, is at rest, is gone, or its holder is.
    Returned {
        /// Which.
        entity: Entity,
        /// Whose client has had it.
        player: PlayerId,
    },
}

/// An input that came after its tick was simulated, and was dropped (D9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LateInput {
    /// Whose.
    pub player: PlayerId,
    /// Of which tick.
    pub tick: Tick,
    /// How late.
    pub by: Offset,
}

/// What an update did: events in order, and inputs that came too late since the update before.
#[derive(Clone, Copy, Debug)]
pub struct ServerFrame<'a> {
    /// The next tick to step.
    pub tick: Tick,
    /// How many steps were executed.
    pub steps: u32,
    /// What happened, in order.
    pub events: &'a [ServerEvent],
    /// Inputs that came too late, in the order of their arrival.
    pub late: &'a [LateInput],
    /// Messages of players, in the order in which they are to be told.
    pub messages: &'a [ReceivedMessage],
    /// What was hit in its steps ([`Step::hit`](crate::Step::hit)), in order.
    pub receipts: &'a [HitReceipt],
}
