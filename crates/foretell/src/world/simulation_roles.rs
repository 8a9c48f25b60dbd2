//! Where a step runs, and how each entity is simulated there.

use super::{Entity, Owned, PlayerId, PredictionSet};
use alloc::vec::Vec;

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

/// How each entity is simulated in a step, and what it may change of what it does not simulate.
#[derive(Clone, Copy, Debug)]
pub struct Roles<'a> {
    pub(super) side: Side,
    /// `None` for the player of a client alone.
    pub(super) predicted: Option<&'a PredictionSet>,
    /// The entities that clients have authority over, ascending; on the server.
    pub(super) held: &'a [Entity],
    /// What the player of a client may not change for now.
    pub(super) refused: &'a [Entity],
}

impl Roles<'_> {
    pub(super) fn new(side: Side) -> Roles<'static> {
        Roles { side, predicted: None, held: &[], refused: &[] }
    }

    /// As [`Step::is_authority`](super::Step::is_authority).
    pub fn is_authority(&self) -> bool {
        self.side == Side::Server
    }

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

    /// As [`Step::simulates`](super::Step::simulates).
    pub fn simulates(&self, player: PlayerId) -> bool {
        match self.side {
            Side::Server => true,
            Side::Client(own) => self.predicted.map_or(own == player, |predicted| predicted.contains_all_of(player)),
        }
    }

    /// What [`Step::change`](super::Step::change) would say.
    pub fn may_change(&self, by: Owned, of: Owned) -> bool {
        let may_be_changed = match (self.side, self.of(of)) {
            (Side::Server, role) => role == Role::Authority,
            (Side::Client(_), Role::Predicted) => true,
            (Side::Client(own), _) => by.owner == own && !self.refused.contains(&of.entity),
        };
        may_be_changed && self.of(by) != Role::Proxy
    }
}

/// [`Roles`] that outlive their step, for a world whose step runs code that can't borrow it. By default a server's, on which nobody has
/// authority but it.
#[derive(Clone, Debug)]
pub struct KeptRoles {
    side: Side,
    predicted: Option<PredictionSet>,
    held: Vec<Entity>,
    refused: Vec<Entity>,
}

impl Default for KeptRoles {
    fn default() -> KeptRoles {
        KeptRoles { side: Side::Server, predicted: None, held: Vec::new(), refused: Vec::new() }
    }
}

impl KeptRoles {
    /// Keeps these. Its memory is used again.
    pub fn keep(&mut self, roles: Roles<'_>) {
        self.side = roles.side;
        match (&mut self.predicted, roles.predicted) {
            (Some(kept), Some(predicted)) => kept.clone_from(predicted),
            (kept, predicted) => *kept = predicted.cloned(),
        }
        self.held.clear();
        self.held.extend_from_slice(roles.held);
        self.refused.clear();
        self.refused.extend_from_slice(roles.refused);
    }

    /// Those that were kept last.
    pub fn get(&self) -> Roles<'_> {
        let KeptRoles { side, predicted, held, refused } = self;
        Roles { side: *side, predicted: predicted.as_ref(), held, refused }
    }
}
