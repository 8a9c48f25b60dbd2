//! Shared mode: what this client has authority over, its requests, and what goes up of it.

mod authority_grant;
mod authority_grants;
mod captures;

pub(super) use authority_grants::{AuthorityGrants, Carried};
