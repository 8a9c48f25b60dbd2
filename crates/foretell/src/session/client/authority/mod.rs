//! Shared mode: what this client has authority over, its requests, and what goes up of it.

mod authority_grant;
mod captures;
mod held_entities;

pub(super) use held_entities::{Carried, HeldEntities};
