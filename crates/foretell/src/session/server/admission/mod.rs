//! Who is in the session: hellos and good-byes, silence, and places that wait for their players.

mod capacity;
mod members;
mod place;
mod player_numbers;
mod refusals;
mod roster;
mod roster_change;
#[cfg(test)]
mod tests;
mod turnover;
mod uptime;

pub(super) use capacity::Capacity;
pub(super) use members::Member;
pub(super) use roster::Roster;
pub(super) use roster_change::RosterChange;
