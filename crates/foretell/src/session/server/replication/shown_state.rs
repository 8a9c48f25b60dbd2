//! The state that is sent, and what of it one client shows.

use super::delta::Limits;
use super::paces::Paces;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::time::Tick;
use crate::world::{PlayerId, RowKey};

/// The state that is sent, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub player: PlayerId,
    pub tick: Tick,
    pub state: &'a AuthoritativeState,
    /// The state that was sent before it.
    pub before: Tick,
    /// And the one before that.
    pub since: Tick,
    /// The places of the rows that have changed since that one.
    pub changed: &'a [u32],
    /// How often each component is told.
    pub paces: &'a Paces,
    /// What of the state is to be seen, where that is not everything.
    pub limits: Option<Limits<'a>>,
}

impl Shown<'_> {
    /// Whether the player gets a row that belongs to `owner`, whatever the game's rules say.
    pub fn includes(&self, key: RowKey, owner: PlayerId) -> bool {
        self.state.schema().component(key.component).audience().includes(self.player, owner)
    }

    /// Whether the row with this number is as it was in the state that was sent before.
    pub fn rests(&self, slot: u32) -> bool {
        let versions = self.state.versions();
        versions.versions()[versions.place(slot)].changed <= self.before
    }
}
