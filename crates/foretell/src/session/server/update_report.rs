//! What a server's update reports.

use crate::session::{Claim, Departure, HitReceipt, HoldRefusal, PeerId, Refusal};
use crate::time::{Offset, Tick};
use crate::world::{Entity, PlayerId, ReceivedMessage};
use alloc::vec::Vec;

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
        /// Why. The client is told the same.
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

/// How many events one frame tells.
const EVENTS_MAX: usize = 1024;
/// How many late inputs one frame tells.
const LATE_MAX: usize = 256;

/// What is reported of one update, and of what came before it. Its memory is used again.
#[derive(Debug)]
pub(super) struct UpdateLog {
    steps: u32,
    events: Vec<ServerEvent>,
    late: Vec<LateInput>,
    receipts: Vec<HitReceipt>,
    messages: Vec<ReceivedMessage>,
    /// How many events, late inputs and messages the last frame has shown.
    shown_events: usize,
    shown_late: usize,
    shown_messages: usize,
}

impl UpdateLog {
    /// Room from the start for what an ordinary update reports, so that a first late input does not allocate, and for all events that
    /// clients can bring about.
    pub fn with_room() -> UpdateLog {
        let (events, late) = (Vec::with_capacity(EVENTS_MAX), Vec::with_capacity(64));
        let (messages, receipts) = (Vec::new(), Vec::with_capacity(16));
        UpdateLog { steps: 0, events, late, messages, receipts, shown_events: 0, shown_late: 0, shown_messages: 0 }
    }

    /// Adds an event that a client brings about; of very many between two updates the last are not told.
    pub fn note(&mut self, event: ServerEvent) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        }
    }

    /// Adds an event of the server's own, however many there are.
    pub fn note_own(&mut self, event: ServerEvent) {
        self.events.push(event);
    }

    /// Adds a late input; of very many between two updates the last are not told.
    pub fn note_late(&mut self, late: LateInput) {
        if self.late.len() < LATE_MAX {
            self.late.push(late);
        }
    }

    /// Where messages are put that have come.
    pub fn messages_mut(&mut self) -> &mut Vec<ReceivedMessage> {
        &mut self.messages
    }

    /// What was hit in the steps of this update.
    pub fn receipts(&self) -> &[HitReceipt] {
        &self.receipts
    }

    /// Adds a hit of a step.
    pub fn note_receipt(&mut self, receipt: HitReceipt) {
        self.receipts.push(receipt);
    }

    /// A step was executed.
    pub fn note_step(&mut self) {
        self.steps += 1;
    }

    /// An update begins: what the last one has shown is told no more.
    pub fn begin(&mut self) {
        self.steps = 0;
        self.receipts.clear();
        self.events.drain(..self.shown_events);
        self.late.drain(..self.shown_late);
        self.messages.drain(..self.shown_messages);
    }

    /// The update is over.
    pub fn finish(&mut self) {
        (self.shown_events, self.shown_late) = (self.events.len(), self.late.len());
        self.shown_messages = self.messages.len();
    }

    /// What there is to tell; `tick` is the next to step.
    pub fn frame(&self, tick: Tick) -> ServerFrame<'_> {
        let UpdateLog { steps, events, late, messages, receipts, .. } = self;
        ServerFrame { tick, steps: *steps, events, late, messages, receipts }
    }

    /// How much it keeps.
    pub fn kept(&self) -> usize {
        self.events.len() + self.late.len() + self.messages.len()
    }
}
