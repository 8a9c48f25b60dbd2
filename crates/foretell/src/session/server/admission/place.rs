//! What a server keeps for one player: who they are, where they play, and whether they are there.

use crate::session::PeerId;
use crate::session::greeting::Hello;
use core::time::Duration;

/// Over one connection nonces follow each other so slowly: every join costs everybody something.
const ATTEMPTS_APART: Duration = Duration::from_secs(1);
/// For so long after a place was taken over, what comes from the connection before may have been under way.
const UNDER_WAY: Duration = Duration::from_secs(2);

/// Whether inputs have come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Played {
    Never,
    /// Under an earlier ticket.
    Before,
    /// Under this one.
    Now,
}

/// A connection that a player has left.
#[derive(Clone, Copy, Debug)]
struct Former {
    address: PeerId,
    since: Duration,
}

/// A hello that is to be answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingHello {
    pub from: PeerId,
    /// What it says of when it was sent.
    pub sent: u64,
    /// The ticket to tell.
    pub ticket: u8,
}

/// The place of one player. Times are those that the server was awake.
#[derive(Debug)]
pub(crate) struct Place {
    /// The connection over which its player plays, or has played last.
    address: PeerId,
    /// Of the hello that it was admitted with: who it is.
    pub(super) nonce: Option<u64>,
    /// Stands in the datagrams of whoever has the place.
    ticket: u8,
    /// The ticket of who shows it next.
    offered: Option<u8>,
    former: Option<Former>,
    /// When something has last come.
    heard_at: Duration,
    /// Since when its player is lost.
    pub(super) lost: Option<Duration>,
    played: Played,
    hello: Option<PendingHello>,
}

impl Place {
    pub(super) fn new(address: PeerId, nonce: Option<u64>, ticket: u8, awake: Duration) -> Place {
        Place {
            address,
            nonce,
            ticket,
            offered: None,
            former: None,
            heard_at: awake,
            lost: None,
            played: Played::Never,
            hello: None,
        }
    }

    pub(crate) fn address(&self) -> PeerId {
        self.address
    }

    pub(crate) fn ticket(&self) -> u8 {
        self.ticket
    }

    /// Whether its player was silent for too long.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// For how long nothing has come.
    pub(super) fn silence(&self, awake: Duration) -> Duration {
        awake - self.heard_at
    }

    /// Whether inputs have ever come.
    pub(super) fn has_played(&self) -> bool {
        self.played != Played::Never
    }

    /// Whether who was admitted here is still to begin, so that another nonce over the same connection has to wait.
    pub(super) fn is_beginning(&self, awake: Duration) -> bool {
        !self.has_played() && self.silence(awake) < ATTEMPTS_APART
    }

    /// Whether its player has moved away from a connection, so long ago that nothing of theirs is under way there.
    pub(super) fn has_left(&self, address: PeerId, awake: Duration) -> bool {
        self.former.is_some_and(|former| former.address == address && awake - former.since >= UNDER_WAY)
    }

    /// Inputs have come under its ticket.
    pub(super) fn note_played(&mut self) {
        self.played = Played::Now;
    }

    /// Its player is there. Whether they were lost.
    pub(super) fn note_alive(&mut self, awake: Duration) -> bool {
        self.heard_at = awake;
        self.lost.take().is_some()
    }

    /// Nothing has come for too long. Whether that is new.
    pub(super) fn lose(&mut self, awake: Duration) -> bool {
        let is_new = self.lost.is_none();
        self.lost = self.lost.or(Some(awake));
        is_new
    }

    /// Whether a hello shows the ticket that was offered, and so takes the place over.
    pub(super) fn is_claimed_by(&self, hello: &Hello) -> bool {
        hello.ticket.is_some() && hello.ticket == self.offered
    }

    /// Whoever has shown the offered ticket plays here from now on, from `address`. Returns the connection before, if that
    /// is another one.
    pub(super) fn take_over(&mut self, address: PeerId, awake: Duration) -> Option<PeerId> {
        let before = Some(self.address).filter(|before| *before != address);
        self.former = before.map(|address| Former { address, since: awake }).or(self.former);
        self.address = address;
        self.ticket = self.offered.take().unwrap_or(self.ticket);
        if self.played == Played::Now {
            self.played = Played::Before;
        }
        before
    }

    /// A hello with its nonce has come: it is answered with its ticket, or with a new one where it comes from elsewhere, or
    /// the player is lost. Whether it comes from where the player plays.
    pub(super) fn greet(&mut self, from: PeerId, hello: &Hello, new_ticket: impl FnOnce() -> u8) -> bool {
        let is_here = self.address == from && self.lost.is_none();
        // Whoever has not played under the ticket may still be about to begin.
        let is_current = is_here && (hello.ticket == Some(self.ticket) || self.played != Played::Now);
        let ticket = if is_current { self.ticket } else { *self.offered.get_or_insert_with(new_ticket) };
        self.hello = Some(PendingHello { from, sent: hello.sent, ticket });
        is_here
    }

    /// The hello to be answered.
    pub(super) fn take_hello(&mut self) -> Option<PendingHello> {
        self.hello.take()
    }
}
