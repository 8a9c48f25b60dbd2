//! Shared mode: what this client has authority over, its requests, and what goes up of it.

mod captures;
mod grant;
mod table;

pub(super) use table::{AuthorityTable, Carried};
