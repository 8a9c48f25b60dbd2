//! Authority that clients have over entities (shared mode): who gets it, and how their rows get into the world.

mod authority_arbiter;
mod authority_hold;
mod authority_holds;
mod authority_requests;
mod travel_budget;

pub(super) use authority_arbiter::{AuthorityArbiter, OffencesByPlayer, Sender};
