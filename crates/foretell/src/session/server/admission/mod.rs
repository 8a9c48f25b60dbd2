//! Who is in the session: hellos and good-byes, silence, and places that wait for their players.

mod awake_time;
mod joins_and_leaves;
mod members;
mod numbers;
mod place;
mod refusals;
mod roster;
mod terms;
#[cfg(test)]
mod tests;

pub(super) use joins_and_leaves::Change;
pub(super) use members::Member;
pub(super) use roster::Roster;
pub(super) use terms::Terms;
