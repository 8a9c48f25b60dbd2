//! Who leaves a session, and how that has come.

use super::{PlayerId, Reason, Refusal};

/// Somebody who has left, as the world hears of them, once: in [`Step::left`](crate::Step::left).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaver {
    /// By which number they were known; it may be given again.
    pub player: PlayerId,
    /// How that has come. What a client has said of it is only *said*.
    pub why: Departure,
}

impl Leaver {
    /// Somebody who has said good-bye without a word.
    pub fn new(player: PlayerId) -> Leaver {
        Leaver { player, why: Departure::GoodBye(Reason::EMPTY) }
    }
}

/// How a player has come to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Departure {
    /// Their client has said good-bye, in these words, if any ([`Client::leave_with`](crate::Client::leave_with)); or the transport has
    /// heard it do so.
    GoodBye(Reason),
    /// The game has removed them, for this reason, if it has said one: [`Server::remove`](crate::Server::remove).
    Removed(Reason),
    /// They were lost, and their place was not [kept](crate::ServerConfig::keep_lost) any longer.
    Lost,
    /// They could not be kept: [`ServerEvent::Refused`](crate::session::server::ServerEvent::Refused) has just said why.
    Refused(Refusal),
    /// Another player has come over the same connection.
    Replaced,
}
