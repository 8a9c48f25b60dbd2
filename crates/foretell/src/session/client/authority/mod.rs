//! Shared mode: what this client has authority over, its requests, and what goes up of it.

mod captures;
mod grant;
mod held_entities;

pub(super) use held_entities::{Carried, HeldEntities};
