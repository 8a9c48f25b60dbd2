//! What one client was told last of the entities of others that are somewhere, where it does not see everything.

use super::spatial_index::is_placed;
use crate::session::server::row_versions::{RowVersion, RowVersions};
use crate::time::Tick;
use crate::world::{PlayerId, RowKey, Schema};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How many that have left the view are remembered, the newest.
const LEFT_MAX: usize = 2048;

/// An entity that was in view from one state on, and not any more from another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub key: RowKey,
    pub since: Tick,
    pub at: Tick,
}

/// An entity in view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub key: RowKey,
    /// Which of the places it was.
    pub nth: usize,
    /// The state from which on it is in view.
    pub since: Tick,
}

/// What one client was told last of the entities of others that are somewhere. Lives until everything is in view again.
#[derive(Clone, Debug)]
pub(super) struct EntitiesInView {
    /// Ascending by key.
    seen: Vec<Seen>,
    /// Ascending by when they left.
    left: VecDeque<Left>,
    /// What has left later than this is all remembered.
    remembered: Tick,
    /// The state that it was told last.
    told: Tick,
}

impl EntitiesInView {
    /// Of a client that has seen everything.
    pub(super) fn of_all(row_versions: &RowVersions, schema: &Schema, player: PlayerId) -> EntitiesInView {
        let placed = |version: &&RowVersion| version.owner != player && is_placed(schema, version.key.component);
        let seen = |version: &RowVersion| Seen { key: version.key, nth: 0, since: version.created };
        let seen = row_versions.versions().iter().filter(placed).map(seen).collect();
        EntitiesInView { seen, left: VecDeque::new(), remembered: Tick::ZERO, told: Tick::ZERO }
    }

    /// Whether an entity that is somewhere, and was first there in the state `created`, was out of view when the client was
    /// told last. What is new may come into view.
    pub(super) fn hides(&self, key: RowKey, created: Option<Tick>) -> bool {
        let has = self.seen.binary_search_by_key(&key, |seen| seen.key).is_ok();
        !has && created.is_some_and(|created| created <= self.told)
    }

    /// What is in view, ascending by key.
    pub(super) fn seen(&self) -> &[Seen] {
        &self.seen
    }

    /// What has left since the state `base`, the oldest first; `None` where that is not remembered.
    pub(super) fn left_since(&self, base: Tick) -> Option<impl Iterator<Item = &Left>> {
        let first = self.left.partition_point(|left| left.at <= base);
        (self.remembered <= base).then(|| self.left.range(first..))
    }

    /// The client is told what it sees in the state `now`, against `base`: what was in view and is not any more, and what is.
    pub(super) fn note_told(
        &mut self,
        now: Tick,
        base: Option<Tick>,
        lost: impl Iterator<Item = Left>,
        seen: impl Iterator<Item = Seen>,
    ) {
        self.left.extend(lost);
        self.told = now;
        let told = self.left.partition_point(|left| Some(left.at) <= base);
        self.left.drain(..told);
        let surplus = self.left.len().saturating_sub(LEFT_MAX);
        self.remembered = self.left.drain(..surplus).next_back().map_or(self.remembered, |left| left.at);
        self.seen.clear();
        self.seen.extend(seen);
    }

    /// Whether nothing that has left is remembered.
    pub(super) fn has_told_all(&self) -> bool {
        self.left.is_empty()
    }
}
