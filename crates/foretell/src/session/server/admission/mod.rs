//! Who is in the session: hellos and good-byes, silence, and places that wait for their players.

mod awake_clock;
mod capacity;
mod join_leave_log;
mod members;
mod pending_refusals;
mod place;
mod player_numbers;
mod roster;
mod roster_change;
#[cfg(test)]
mod tests;

pub(super) use capacity::Capacity;
pub(super) use members::Member;
pub(super) use roster::Roster;
pub(super) use roster_change::RosterChange;
