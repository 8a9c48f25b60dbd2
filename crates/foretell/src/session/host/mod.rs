//! A server in a player's own program, whose player plays without a network and without prediction; and one type for every way in
//! which a game may start.
//!
//! The player who sits at the server is asked for the input of a tick when the tick is stepped, and sees the truth itself between its
//! last two states: nothing is predicted, so nothing is corrected. Everybody else plays as on any server. What the host's player is
//! shown is what their client would be told, by the same audiences and [rules](crate::InterestRules); but all of it is in their
//! program's memory, and who changes their program sees it: as in every game in which a player is the host.

mod any_session;
mod host_endpoint;
mod local_player;
mod seen_states;

pub use any_session::{Session, SessionConfig, Start};
pub use host_endpoint::Host;
pub use local_player::{LocalPlayer, ServerSide};
