//! The state that is sent, and what of it one client shows.

use super::delta::Limits;
use super::encoded_rows::RowToTell;
use super::paces::Paces;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::row_versions::RowVersion;
use crate::time::Tick;
use crate::world::{PlayerId, RowKey};

/// A row that has changed lately.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangedRow {
    /// Where it stands in the state.
    pub place: u32,
    pub slot: u32,
    pub owner: PlayerId,
    /// The first state that has it as it is.
    pub changed: Tick,
}

impl ChangedRow {
    /// All that have changed since the state of `since`, in their order.
    pub fn all(state: &AuthoritativeState, since: Tick) -> impl Iterator<Item = ChangedRow> {
        let changed = state.versions().versions().iter().zip(0..).filter(move |(version, _)| version.changed > since);
        changed.map(|(version, place)| {
            let RowVersion { slot, owner, changed, .. } = *version;
            ChangedRow { place, slot, owner, changed }
        })
    }
}

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
    /// The rows that have changed since that one, in their order.
    pub changed: &'a [ChangedRow],
    /// How often each component is told.
    pub paces: &'a Paces,
    /// What of the state is to be seen, where that is not everything.
    pub limits: Option<Limits<'a>>,
}

impl<'a> Shown<'a> {
    /// Whether the player gets a row that belongs to `owner`, whatever the game's rules say.
    pub fn includes(&self, key: RowKey, owner: PlayerId) -> bool {
        self.state.schema().component(key.component).audience().includes(self.player, owner)
    }

    /// The row with this number.
    pub fn row_to_tell(&self, slot: u32) -> RowToTell<'a> {
        let versions = self.state.versions();
        let place = versions.place(slot);
        RowToTell { row: self.state.rows().nth(place), rests: versions.versions()[place].changed <= self.before }
    }
}
