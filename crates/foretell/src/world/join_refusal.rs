//! Why somebody does not get into a session, or not on with it.

use super::Reason;
use core::fmt;

/// Why a client does not get into a session, or not on with it. In words for a player by `Display`.
///
/// A server says it to the client, as often as that asks, and reports it once
/// ([`ServerEvent::Refused`](crate::session::server::ServerEvent::Refused)); a client reports it once
/// ([`ClientEvent::Refused`](crate::session::client::ClientEvent::Refused)) and ends with it. All come within the server's
/// [`timeout`](crate::ServerConfig::timeout) and the client's [`join_timeout`](crate::ClientConfig::join_timeout).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Refusal {
    /// It speaks another version of the protocol.
    #[default]
    Version,
    /// Its rules differ: another tick rate, schema or input, or something else that both ends have to share.
    /// [`Client::differing`](crate::Client::differing) names it.
    Rules,
    /// All places of their [seat](crate::Seat) are taken; for spectators there are none unless the
    /// [server has some](crate::ServerConfig::spectators_max).
    Full,
    /// The nonce has had its place: its player has said good-bye, or plays over another connection now, or asks for another seat now.
    Gone,
    /// What the client has to be told altogether, its own state or all of an [exact](crate::session::Rules::exact) session's, does not
    /// fit into the eight datagrams of a snapshot, which are 9,200 bytes or about 150 rigid bodies. Who joins is refused at
    /// once, who plays when nothing could be told for the server's [`timeout`](crate::ServerConfig::timeout).
    TooLarge,
    /// The server takes nobody new any more: [`ServerConfig::draining`](crate::ServerConfig::draining).
    Draining,
    /// The two ends have heard of each other, and the join has not come to an end in time: the client has not got its first
    /// state, or no input of it has come. Either end may say so.
    TimedOut,
    /// The game does not let them in, and says why: [`Simulate::admit`](crate::Simulate::admit).
    ByGame(Reason),
    /// The game has removed them from the session, and says why, if anything: [`Server::remove`](crate::Server::remove).
    Removed(Reason),
    /// Nothing has come from the server, so that the client has given up. Never sent.
    Unanswered,
}

impl Refusal {
    /// All of them, in the order of their numbers on the wire, without words.
    pub const ALL: [Refusal; 10] = [
        Refusal::Version,
        Refusal::Rules,
        Refusal::Full,
        Refusal::Gone,
        Refusal::TooLarge,
        Refusal::Draining,
        Refusal::TimedOut,
        Refusal::ByGame(Reason::EMPTY),
        Refusal::Removed(Reason::EMPTY),
        Refusal::Unanswered,
    ];

    /// What the game says of it; empty for those that it has no say in.
    pub(crate) fn words(self) -> Reason {
        match self {
            Refusal::ByGame(reason) | Refusal::Removed(reason) => reason,
            _ => Reason::EMPTY,
        }
    }

    /// Its place among [all](Refusal::ALL), whatever its words.
    pub(crate) fn number(self) -> usize {
        match self {
            Refusal::Version => 0,
            Refusal::Rules => 1,
            Refusal::Full => 2,
            Refusal::Gone => 3,
            Refusal::TooLarge => 4,
            Refusal::Draining => 5,
            Refusal::TimedOut => 6,
            Refusal::ByGame(_) => 7,
            Refusal::Removed(_) => 8,
            Refusal::Unanswered => 9,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Refusal::Version => "the two ends speak different versions of the protocol",
            Refusal::Rules => "the two ends play different games, or different builds of one",
            Refusal::Full => "the server is full",
            Refusal::Gone => "the place is taken over, or given up",
            Refusal::TooLarge => "there is more to be told to this player than fits into a snapshot",
            Refusal::Draining => "the server takes no new players any more",
            Refusal::TimedOut => "joining took too long",
            Refusal::ByGame(reason) if reason.is_empty() => "the game does not let this player in",
            Refusal::Removed(reason) if reason.is_empty() => "the game has removed this player",
            Refusal::ByGame(reason) | Refusal::Removed(reason) => reason,
            Refusal::Unanswered => "the server does not answer",
        })
    }
}
