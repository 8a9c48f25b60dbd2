//! What a server's update reports.

use crate::session::Ledger;
use crate::session::{Claim, HoldRefusal};
use crate::time::{Offset, Tick};
use crate::world::{Entity, PlayerId};
use alloc::vec::Vec;

/// Something that happened in an update of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerEvent {
    /// A player was admitted.
    Joined(PlayerId),
    /// Nothing has come of a player for too long. The place waits.
    Lost(PlayerId),
    /// A lost player is back, or a player has come over another connection.
    Rejoined(PlayerId),
    /// A player has left, was removed, or was lost for too long.
    Left(PlayerId),
    /// The server stood still, and was too far behind: it skipped so many ticks, which are never simulated.
    SkippedTicks(u32),
    /// What has changed for a player needs more datagrams than a snapshot may have: the farthest entities of others are left
    /// out, and come back when there is room; where that does not help, and in an exact session, nothing is sent. Reported
    /// once, when it begins.
    SnapshotTooLarge(PlayerId),
    /// A client of an [exact](crate::session::Rules::exact) session was turned away, as the state of all entities does not fit
    /// into the eight datagrams of a snapshot: nobody can join before there are fewer.
    TooLargeToJoin {
        /// How many there are.
        entities: usize,
    },
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
}

/// How many events one frame tells.
const EVENTS_MAX: usize = 1024;

/// The reused memory behind a [`ServerFrame`].
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    pub(super) steps: u32,
    pub(super) events: Vec<ServerEvent>,
    pub(super) late: Vec<LateInput>,
    /// How many events and late inputs the last frame has shown.
    shown: (usize, usize),
}

impl Served {
    /// Room from the start for what an ordinary update reports, so that a first late input does not allocate.
    pub(super) fn with_room() -> Served {
        Served { events: Vec::with_capacity(16), late: Vec::with_capacity(64), ..Served::default() }
    }

    /// Adds an event; of very many between two updates the last are not told.
    pub(super) fn note(&mut self, event: ServerEvent) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        }
    }

    pub(super) fn begin(&mut self) {
        self.steps = 0;
        self.events.drain(..self.shown.0);
        self.late.drain(..self.shown.1);
    }

    pub(super) fn finish(&mut self) {
        self.shown = (self.events.len(), self.late.len());
    }
}

impl<'a> ServerFrame<'a> {
    pub(super) fn of(tick: Tick, served: &'a Served) -> ServerFrame<'a> {
        ServerFrame { tick, steps: served.steps, events: &served.events, late: &served.late }
    }
}

/// What has become of the inputs of all players since the start, of those who have left too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InputTotals {
    /// Inputs that were applied in their tick.
    pub applied: u64,
    /// Ticks of players whose input was missing when they were simulated, or jumped over. Those since a player was last heard
    /// count once they are heard again, or are lost: then as absent.
    pub missed: u64,
    /// Ticks of players who were not there: lost, from when they were last heard.
    pub absent: u64,
    /// Inputs that came after their tick was simulated.
    pub late: u64,
}

impl InputTotals {
    /// Adds a player's, of whom `open` missed inputs are neither missed nor absent yet.
    pub(super) fn add(&mut self, stats: &PeerStats, open: u64) {
        self.applied += stats.inputs_applied;
        self.missed += stats.inputs_missed - open;
        self.absent += stats.inputs_absent;
        self.late += stats.inputs_late;
    }
}

/// Counters of one player, since their admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PeerStats {
    /// Datagrams that were received.
    pub datagrams: u64,
    /// Inputs that were applied in their tick.
    pub inputs_applied: u64,
    /// Ticks whose input was missing when they were simulated, or jumped over. When the player is lost, those since they were
    /// last heard become absent.
    pub inputs_missed: u64,
    /// Ticks in which the player was not there: lost, from when they were last heard.
    pub inputs_absent: u64,
    /// Inputs that came after their tick was simulated and had not been there before.
    pub inputs_late: u64,
    /// What was refused: inputs too far ahead or beyond the time budget ([`Offence::Time`](crate::session::Offence)),
    /// or with a number that is not finite; acknowledgements of snapshots that were never sent.
    pub ledger: Ledger,
    /// Snapshots that were sent.
    pub snapshots: u64,
    /// Bytes that were sent.
    pub bytes: u64,
}
