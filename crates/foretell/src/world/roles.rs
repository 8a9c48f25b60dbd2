//! Where a step runs, and how each entity is simulated there.

use super::{Entity, Owned, PlayerId, Predicted};

/// Who runs a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Side {
    /// The authority.
    Server,
    /// The client of this player.
    Client(PlayerId),
}

/// How an entity is simulated where a step runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Role {
    /// `step` moves it, and the result is the truth.
    Authority,
    /// `step` moves it, and the result is compared with the authority's.
    Predicted,
    /// Its row is written before the step; `step` must not move it. On a client one that it does not predict, or moves
    /// by frame; on the server one that a client has authority over.
    Proxy,
}

/// How each entity is simulated in a step.
#[derive(Clone, Copy)]
pub struct Roles<'a> {
    pub(super) side: Side,
    /// `None` for the player of a client alone.
    pub(super) predicted: Option<&'a Predicted>,
    /// The entities that clients have authority over, ascending; on the server.
    pub(super) held: &'a [Entity],
}

impl Roles<'_> {
    /// How an entity is simulated here.
    pub fn of(&self, of: Owned) -> Role {
        match self.side {
            Side::Server if self.held.binary_search(&of.entity).is_ok() => Role::Proxy,
            Side::Server => Role::Authority,
            Side::Client(own) => match self.predicted {
                Some(predicted) if predicted.contains(of) => Role::Predicted,
                None if of.owner == own => Role::Predicted,
                _ => Role::Proxy,
            },
        }
    }
}
