//! What a server believes of a client, and what it writes down of the rest.
//!
//! Pure functions and small states of their arguments; which of them are asked is decided where datagrams are read.

mod budget;
mod direction;
mod distance;
mod ledger;
mod rate;

pub use budget::{TimeBudget, TimeSpent};
pub use direction::{clamped_direction, limit_direction};
pub use distance::{Checked, DistanceCheck, DistanceGuard};
pub use ledger::{Ledger, Offence};
pub use rate::RateLimit;
