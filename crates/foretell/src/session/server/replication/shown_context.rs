//! The state that is sent, and what of it one client shows.

use super::exact_choice::ExactChoice;
use super::interest_query::InterestQuery;
use super::interest_set::InterestSet;
use super::recent_changes::RecentChanges;
use super::row_encoding_cache::RowToTell;
use crate::session::row_send_rates::RowSendRates;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::row_versions::RowVersion;
use crate::time::Tick;
use crate::world::{Entity, PlayerId, Row, RowKey};

/// What a client is told last and now, where it does not see everything, or is told some of it exactly.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    pub view: &'a InterestSet,
    pub interest: &'a InterestQuery,
    pub exact: &'a ExactChoice,
}

/// The state that is sent, and for whom.
#[derive(Clone, Copy)]
pub(super) struct ShownContext<'a> {
    pub player: PlayerId,
    pub tick: Tick,
    pub state: &'a AuthoritativeState,
    /// What of it has changed since the states before.
    pub changes: &'a RecentChanges,
    /// How often each component is told.
    pub row_send_rates: &'a RowSendRates,
    /// What of the state is to be seen, where that is not everything.
    pub limits: Option<Limits<'a>>,
}

impl<'a> ShownContext<'a> {
    /// Whether the player gets a row that belongs to `owner`, whatever the game's rules say.
    pub fn includes(&self, key: RowKey, owner: PlayerId) -> bool {
        self.state.schema().component(key.component).audience().includes(self.player, owner)
    }

    /// Whether a row may be told to the client by itself.
    pub fn may_show(&self, row: &RowVersion) -> bool {
        self.state.may_show(row, self.player)
    }

    /// Whether an entity is there still, for others, and none of its rows is in view.
    pub fn hides(&self, entity: Entity) -> bool {
        let rows = self.state.rows();
        let is_seen = |row: Row<'_>| match self.limits {
            Some(limits) => {
                let there = self.state.versions().get(row.key());
                there.is_some_and(|there| limits.interest.rows().contains(there.slot))
            }
            None => self.includes(row.key(), row.owner),
        };
        rows.owner(entity).is_some_and(|owner| owner != self.player) && !rows.of(entity).any(is_seen)
    }

    /// Whether the row with this number is told exactly, and so not by itself.
    pub fn is_exact(&self, slot: u32) -> bool {
        self.limits.is_some_and(|limits| limits.exact.has_number(slot))
    }

    /// The row with this number.
    pub fn row_to_tell(&self, slot: u32) -> RowToTell<'a> {
        let versions = self.state.versions();
        let place = versions.place(slot);
        let rests = versions.versions()[place].changed <= self.changes.before;
        RowToTell { row: self.state.rows().nth(place), rests }
    }
}
