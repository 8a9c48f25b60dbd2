//! Who is in the session: hellos and good-byes, silence, and places that wait for their players.

mod awake_time;
mod capacity;
mod joins_and_leaves;
mod members;
mod place;
mod player_numbers;
mod refusals;
mod roster;
#[cfg(test)]
mod tests;

pub(super) use capacity::Capacity;
pub(super) use joins_and_leaves::Change;
pub(super) use members::Member;
pub(super) use roster::Roster;
