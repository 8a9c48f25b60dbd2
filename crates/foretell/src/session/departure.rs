//! How a player has come to leave a session, and the message by which a client says good-bye.

use super::reason::stream_reason;
use super::refusal::Refusal;
use crate::wire::{Malformed, Stream};
use crate::world::Reason;

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
    /// They could not be kept: [`ServerEvent::Refused`](super::server::ServerEvent::Refused) has just said why.
    Refused(Refusal),
    /// Another player has come over the same connection.
    Replaced,
}

/// Client to server: "good-bye".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct GoodBye {
    pub ticket: u8,
    pub player: u16,
    pub reason: Reason,
}

impl GoodBye {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u8(&mut self.ticket)?;
        stream.u16(&mut self.player)?;
        stream_reason(stream, &mut self.reason)
    }
}
