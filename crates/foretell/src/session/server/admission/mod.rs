//! Who is in the session: hellos and good-byes, silence, and places that wait for their players.

mod members;
mod place;
mod refusals;
mod roster;
#[cfg(test)]
mod tests;
mod turnover;
mod uptime;

pub(super) use members::Member;
pub(super) use roster::{Change, Roster, Terms};
