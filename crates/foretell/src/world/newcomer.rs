//! Who joins a session: as what, for whose account, and what their client has said of them.

use super::{PlayerId, Text};
use alloc::vec::Vec;

/// How many bytes a client may say of its player with its hello ([`Newcomer::data`]).
pub const JOIN_DATA_MAX: usize = 1000;

/// Whose account a connection is of, in the words of whoever has checked it: at most 64 bytes of UTF-8.
pub type AccountName = Text<64>;

/// As what somebody is in a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub enum Seat {
    /// Plays: an input of theirs is in every step.
    #[default]
    Player,
    /// Looks on: sees what the game's rules [allow](crate::InterestRules), predicts nothing, and no input is asked of them,
    /// waited for or made up. In an [exact](crate::session::Rules::exact) session they see everything, and their client simulates it as everybody's does. There are none unless
    /// the server has places for them ([`ServerConfig::spectators_max`](crate::ServerConfig::spectators_max)).
    Spectator,
}

/// Somebody who joins, as the world hears of them: in [`Simulate::admit`](crate::Simulate::admit) before they have, and then once in
/// [`Step::joined`](crate::Step::joined).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Newcomer {
    /// By which number they are known as long as they are there.
    pub player: PlayerId,
    /// As what they come.
    pub seat: Seat,
    /// Whose account the connection is of; `None` where nobody has [said](crate::Server::identify). This is known of them, while the
    /// data is only said.
    pub account: Option<AccountName>,
    /// What their client says of them: a name, a team, a colour, in whatever form the game has agreed on with itself. At most
    /// [`JOIN_DATA_MAX`] bytes, empty where it says nothing. Any client may say anything: check it.
    pub data: Vec<u8>,
}

impl Newcomer {
    /// A player of whom nothing is said.
    pub fn new(player: PlayerId) -> Newcomer {
        Newcomer { player, seat: Seat::Player, account: None, data: Vec::new() }
    }
}
