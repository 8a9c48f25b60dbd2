//! What a session asks of a network: datagrams that may be lost, one reliable stream of messages, and facts of the path.
//!
//! Invariants: nothing here waits. What can't be sent now is not sent; what has come waits in an [`Inbox`](crate::inbox::Inbox) of bounded size.

use foretell::Instant;
use foretell::session::Refusal;
use std::time::Duration;

/// One connection, whichever protocol carries it.
pub trait Transport: Send {
    /// Hands a datagram to the network. It may be lost.
    ///
    /// # Errors
    /// [`Unsent`] when it was not handed over: another datagram is the better answer to it than a repetition.
    fn send(&mut self, datagram: &[u8]) -> Result<(), Unsent>;

    /// Appends a message to the reliable stream: it arrives, in order, or the connection ends.
    ///
    /// # Errors
    /// [`Unsent`] when the other end takes nothing, and too much waits for it already.
    fn tell(&mut self, message: &[u8]) -> Result<(), Unsent>;

    /// Takes out what has come since the last call: each kind in its order.
    fn drain(&mut self, each: &mut dyn FnMut(Came<'_>));

    /// What is known of the path by now.
    fn path(&self) -> PathFacts;

    /// Why the connection is over, if it is.
    fn closed(&self) -> Option<Closed>;

    /// Ends the connection, and tells the other end why. Nothing is sent after it.
    fn close(&mut self, why: Closed);
}

/// Something that has come over a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came<'a> {
    /// A datagram, and when it came.
    Datagram(Instant, &'a [u8]),
    /// The next message of the reliable stream.
    Message(&'a [u8]),
}

/// What is known of the path to the other end. Counters begin with the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathFacts {
    /// The smoothed round-trip time.
    pub rtt: Duration,
    /// The longest datagram that fits, in bytes.
    pub datagram_max: usize,
    /// Packets that were sent.
    pub sent: u64,
    /// Those of them that count as lost.
    pub lost: u64,
    /// Acknowledgements that have come.
    pub acks: u64,
}

/// Why a datagram or message was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unsent {
    /// It is longer than the path takes.
    #[error("longer than the path takes")]
    TooLong,
    /// Too much waits already, or the rate limit holds it back.
    #[error("held back")]
    HeldBack,
    /// The connection is over.
    #[error("the connection is over")]
    Closed,
}

/// Why a connection is over. The numbers are the codes on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, thiserror::Error)]
pub enum Closed {
    /// One end has said good-bye. Browsers send the same when a page is closed.
    #[error("good-bye")]
    Goodbye = 0,
    /// The same player plays over a newer connection.
    #[error("the player has come over another connection")]
    Replaced = 1,
    /// The other end was not admitted; the reason was sent before.
    #[error("not admitted")]
    Refused = 2,
    /// The server has ended.
    #[error("the server has ended")]
    ServerEnded = 3,
    /// The server has removed the player; the session says why, if the game has ([`Refusal::Removed`]). Or the session has refused
    /// the hello, as its player has left or asks for another seat ([`Refusal::Gone`]).
    #[error("removed by the server")]
    Removed = 4,
    /// The other end does not keep to the protocol.
    #[error("protocol violated")]
    Violation = 5,
    /// Nobody has said so: the network is gone, or the other end's machine or program.
    #[error("connection lost")]
    Lost = 6,
    /// The other end plays by other rules, or speaks another version of the session's protocol: another game, or another
    /// build of it.
    #[error("another game, or another build of it")]
    Incompatible = 7,
    /// The player has not come into play in time. A [`Player`](crate::Player) whose program has stood still meanwhile comes back by
    /// itself.
    #[error("joining took too long")]
    TimedOut = 8,
    /// There is more to be told to this player than fits into a snapshot.
    #[error("there is more in the session than this player can be told")]
    TooLarge = 9,
    /// The session has no place left for players, or none for spectators. The [ticket](crate::Player::ticket) stays good, to try again.
    #[error("the server is full")]
    Full = 10,
    /// The session takes nobody new any more.
    #[error("the server takes no new players any more")]
    Draining = 11,
    /// The game does not let the player in; the session says why ([`Refusal::ByGame`]).
    #[error("not let in by the game")]
    ByGame = 12,
}

impl From<Refusal> for Closed {
    /// Why a connection is over whose player the session has refused.
    fn from(why: Refusal) -> Closed {
        match why {
            Refusal::Version | Refusal::Rules => Closed::Incompatible,
            Refusal::Full => Closed::Full,
            Refusal::Gone | Refusal::Removed(_) => Closed::Removed,
            Refusal::ByGame(_) => Closed::ByGame,
            Refusal::TooLarge => Closed::TooLarge,
            Refusal::Draining => Closed::Draining,
            Refusal::TimedOut | Refusal::Unanswered => Closed::TimedOut,
        }
    }
}

impl Closed {
    /// The reason that a code of the wire stands for; an unknown one is [`Closed::Lost`].
    pub fn from_code(code: u64) -> Closed {
        const ALL: [Closed; 12] = [
            Closed::Goodbye,
            Closed::Replaced,
            Closed::Refused,
            Closed::ServerEnded,
            Closed::Removed,
            Closed::Violation,
            Closed::Incompatible,
            Closed::TimedOut,
            Closed::TooLarge,
            Closed::Full,
            Closed::Draining,
            Closed::ByGame,
        ];
        ALL.into_iter().find(|why| why.code() == code).unwrap_or(Closed::Lost)
    }

    /// Its code on the wire.
    pub fn code(self) -> u64 {
        self as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_means_the_reason_that_it_was_made_of() {
        for code in 0..=7 {
            assert_eq!(Closed::from_code(code).code(), code);
        }
        assert_eq!(Closed::from_code(1 << 40), Closed::Lost);
    }
}
