//! Shared mode: what this client has authority over, and how that begins and ends.

mod grant;
mod handoff;
mod table;

pub(super) use handoff::AuthorityHandoff;
pub(super) use table::{AuthorityTable, Carried};
