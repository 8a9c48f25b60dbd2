//! What a server believes of a client, and what it writes down of the rest.

mod ledger;

pub use ledger::{Ledger, Offence};
