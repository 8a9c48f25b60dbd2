//! What a server keeps for one player: who they are, where they play, and whether they are there.

use crate::session::datagram::DatagramKind;
use crate::session::handshake_messages::{Hello, Welcome};
use crate::session::{Outbox, PeerId};
use crate::time::TickTime;
use crate::wire::BitWriter;
use crate::world::{AccountName, Newcomer, PlayerId, Seat};
use alloc::vec::Vec;
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
struct PendingHello {
    from: PeerId,
    /// What it says of when it was sent.
    sent: u64,
    /// The ticket to tell.
    ticket: u8,
}

/// The place of one player. Times are those that the server was awake.
#[derive(Debug)]
pub(crate) struct Place {
    /// The connection over which its player plays, or has played last; `None` of who sits at the server.
    address: Option<PeerId>,
    /// Of the hello that it was admitted with: who it is.
    pub(super) nonce: Option<u64>,
    /// As what its player is here.
    seat: Seat,
    /// Whose account the connection was of when they joined.
    account: Option<AccountName>,
    /// What its client has said of the player, from when it has shown that it hears the server until they are in the session.
    asks: Option<Vec<u8>>,
    /// Stands in the datagrams of whoever has the place.
    ticket: u8,
    /// The ticket of who shows it next.
    offered: Option<u8>,
    former: Option<Former>,
    /// When something has last come.
    heard_at: Duration,
    /// Since when its player is lost.
    pub(super) lost: Option<Duration>,
    /// Whether its client has shown that it hears the server. Before that the world knows of nobody, and nothing but
    /// welcomes is sent.
    has_joined: bool,
    played: Played,
    /// When its client has last said hello.
    asked_at: Duration,
    hello: Option<PendingHello>,
}

impl Place {
    pub(super) fn new(address: Option<PeerId>, nonce: Option<u64>, ticket: u8, awake: Duration) -> Place {
        Place {
            address,
            nonce,
            seat: Seat::Player,
            account: None,
            asks: None,
            ticket,
            offered: None,
            former: None,
            heard_at: awake,
            lost: None,
            has_joined: false,
            played: Played::Never,
            asked_at: awake,
            hello: None,
        }
    }

    /// The same for who comes as something else.
    pub(super) fn seated(self, seat: Seat) -> Place {
        Place { seat, ..self }
    }

    /// As what its player is here.
    pub(crate) fn seat(&self) -> Seat {
        self.seat
    }

    /// Whose account the connection was of when they joined.
    pub(crate) fn account(&self) -> Option<&AccountName> {
        self.account.as_ref()
    }

    /// The connection over which its player plays, or has played last; `None` of who sits at the server.
    pub(crate) fn address(&self) -> Option<PeerId> {
        self.address
    }

    /// Whether its player sits at the server: nothing is sent to them, and nothing comes.
    pub(crate) fn is_local(&self) -> bool {
        self.address.is_none()
    }

    pub(crate) fn ticket(&self) -> u8 {
        self.ticket
    }

    /// Whether its player was silent for too long.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// For how long nothing has come; who sits at the server is always there.
    pub(super) fn silence(&self, awake: Duration) -> Duration {
        if self.is_local() { Duration::ZERO } else { awake - self.heard_at }
    }

    /// Whether its client hears the server, so that the player is in the session.
    pub(crate) fn has_joined(&self) -> bool {
        self.has_joined
    }

    /// The same, and the player is not lost.
    pub(super) fn is_present(&self) -> bool {
        self.has_joined && !self.is_lost()
    }

    /// Takes in a hello from there. Where it shows the ticket that the place was greeted with, its client hears the server, and asks
    /// to join.
    pub(super) fn note_asking(&mut self, hello: &mut Hello) {
        if !self.has_joined && hello.joins && hello.ticket == Some(self.ticket) {
            self.asks.get_or_insert(core::mem::take(&mut hello.data));
        }
    }

    /// Who asks to join here as `player`, over a connection of this account, if somebody does; once.
    pub(super) fn take_asking(&mut self, player: PlayerId, account: Option<AccountName>) -> Option<Newcomer> {
        let (seat, data) = (self.seat, self.asks.take()?);
        Some(Newcomer { player, seat, account, data })
    }

    /// Its client hears the server, over a connection of this account. It has anew as long as at first to send an input.
    pub(super) fn join(&mut self, awake: Duration, account: Option<AccountName>) {
        (self.has_joined, self.heard_at, self.account) = (true, awake, account);
    }

    /// For how long its client has not said hello.
    pub(super) fn asked_ago(&self, awake: Duration) -> Duration {
        awake - self.asked_at
    }

    /// A hello has come.
    pub(super) fn note_asked(&mut self, awake: Duration) {
        self.asked_at = awake;
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
        let before = self.address.filter(|before| *before != address);
        self.former = before.map(|address| Former { address, since: awake }).or(self.former);
        self.address = Some(address);
        self.ticket = self.offered.take().unwrap_or(self.ticket);
        if self.played == Played::Now {
            self.played = Played::Before;
        }
        before
    }

    /// A hello with its nonce has come: it is answered with its ticket, or with a new one where it comes from elsewhere, or
    /// the player is lost. Whether it comes from where the player plays.
    pub(super) fn greet(&mut self, from: PeerId, hello: &Hello, new_ticket: impl FnOnce() -> u8) -> bool {
        let is_here = self.address == Some(from) && self.lost.is_none();
        // Whoever has not played under the ticket may still be about to begin.
        let is_current = is_here && (hello.ticket == Some(self.ticket) || self.played != Played::Now);
        let ticket = if is_current { self.ticket } else { *self.offered.get_or_insert_with(new_ticket) };
        self.hello = Some(PendingHello { from, sent: hello.sent, ticket });
        is_here
    }

    /// Answers the hello that has come since this was called last, at a point of the server's clock.
    pub(super) fn answer_hello(&mut self, player: PlayerId, epoch: u8, clock: TickTime, outbox: &mut Outbox) {
        let (Some(nonce), Some(hello)) = (self.nonce, self.hello.take()) else { return };
        let PendingHello { from, sent, ticket } = hello;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction of 256")]
        let fraction = (clock.fraction() * 256.0) as u8;
        let (player, tick) = (player.get(), clock.tick().get());
        let mut welcome = Welcome { nonce, sent, epoch, ticket, player, tick, fraction };
        outbox.push(from, |bytes| {
            let mut writer = BitWriter::new(bytes);
            DatagramKind::Welcome.write(&mut writer);
            welcome.stream(&mut writer).expect("writing never fails");
        });
    }
}
