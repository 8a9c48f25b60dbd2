//! What changes about who is here: the other parts of the server hear it.

use crate::session::{Departure, PeerId, Refusal};
use crate::world::PlayerId;
use alloc::boxed::Box;

/// One change of who is here.
pub(crate) enum RosterChange<P> {
    /// Somebody new is in the session: their client has shown that it hears the server, and the game lets them in.
    Joined(PlayerId),
    /// A hello of a player who has a place has come, from where they play if `is_here`.
    Greeted { player: PlayerId, is_here: bool },
    /// Somebody has the place who may know nothing of what was sent there; back from elsewhere if `has_returned`.
    TakenOver { player: PlayerId, has_returned: bool },
    /// Silent for too long; the place waits.
    Lost(PlayerId),
    /// A lost player is heard again.
    Returned(PlayerId),
    /// A player has left, was removed, or was lost for too long.
    Left { player: PlayerId, peer: Box<P>, was_lost: bool, why: Departure },
    /// Somebody was refused, who was not for this reason before; `player` had joined, and has left with the next change.
    Refused { peer: PeerId, player: Option<PlayerId>, why: Refusal },
}
