//! What a client asks for a place with.

use crate::world::{JOIN_DATA_MAX, Seat};
use alloc::vec::Vec;
use core::fmt;

/// What a client asks for a place with: who it is, as what it comes, and what it says of its player.
///
/// ```
/// use foretell::JoinRequest;
///
/// # fn main() -> Result<(), foretell::JoinDataTooLong> {
/// # let random = 4711;
/// let request = JoinRequest::new(random).with_data("Anna")?;
/// let onlooker = JoinRequest::new(random).as_spectator();
/// # Ok(())
/// # }
/// ```
///
/// A number alone is a player of whom nothing is said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JoinRequest {
    nonce: u64,
    seat: Seat,
    data: Vec<u8>,
}

impl JoinRequest {
    /// A player of whom nothing is said. `nonce` says who it is: a random number, known to it and the server alone. With the same
    /// one a program that was started again, or comes over another connection, gets the player back that it had, as long as the
    /// [server keeps the place](crate::ServerConfig::keep_lost). After a good-bye, for another player or for another seat, it has to
    /// be another one.
    #[must_use]
    pub fn new(nonce: u64) -> JoinRequest {
        JoinRequest { nonce, seat: Seat::Player, data: Vec::new() }
    }

    /// The same with what the game is to know of the player when they join: a name, a team, a colour, in a form of the game's own;
    /// it comes in [`Newcomer::data`](crate::Newcomer::data). Who comes back to a place that was kept is known already: then it is
    /// not looked at.
    ///
    /// # Errors
    /// When it is longer than [`JOIN_DATA_MAX`], 1000 bytes.
    pub fn with_data(self, data: impl Into<Vec<u8>>) -> Result<JoinRequest, JoinDataTooLong> {
        let data = data.into();
        if data.len() > JOIN_DATA_MAX { Err(JoinDataTooLong(data.len())) } else { Ok(JoinRequest { data, ..self }) }
    }

    /// The same of somebody who [looks on](Seat::Spectator).
    #[must_use]
    pub fn as_spectator(self) -> JoinRequest {
        JoinRequest { seat: Seat::Spectator, ..self }
    }

    /// The same of somebody else: for who learns late who they are.
    #[must_use]
    pub fn with_nonce(self, nonce: u64) -> JoinRequest {
        JoinRequest { nonce, ..self }
    }

    /// Who it is.
    #[must_use]
    pub fn nonce(&self) -> u64 {
        self.nonce
    }

    /// As what it comes.
    #[must_use]
    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// What it says of its player.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }
}

impl From<u64> for JoinRequest {
    fn from(nonce: u64) -> JoinRequest {
        JoinRequest::new(nonce)
    }
}

/// The data for the join is longer than [`JOIN_DATA_MAX`]; this is its length in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JoinDataTooLong(pub usize);

impl fmt::Display for JoinDataTooLong {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} bytes are to be said of a player with the join, and at most {JOIN_DATA_MAX} can be", self.0)
    }
}

impl core::error::Error for JoinDataTooLong {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_is_said_with_a_join_as_has_room_and_no_more() {
        let said = |bytes: usize| JoinRequest::new(1).with_data(vec![7; bytes]);
        assert_eq!(said(JOIN_DATA_MAX).map(|request| request.data().len()), Ok(JOIN_DATA_MAX));
        assert_eq!(said(JOIN_DATA_MAX + 1), Err(JoinDataTooLong(1001)));
    }
}
