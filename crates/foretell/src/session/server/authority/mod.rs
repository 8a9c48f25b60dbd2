//! Authority that clients have over entities (shared mode): who gets it, and how their rows get into the world.

mod authority_requests;
mod hold;
mod hold_table;
mod shared_mode;
mod travel_budget;

pub(super) use shared_mode::{OffencesByPlayer, Sender, SharedMode};
