//! What of the state a snapshot has to tell one client: all of it, or what differs from a snapshot that the client has.

use super::interest::{InterestQuery, View, is_placed};
use super::row_versions::RowVersions;
use crate::time::Tick;
use crate::world::{PlayerId, RowKey, Rows, Schema};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The states of which one client was last sent snapshots. Lives as long as the peer.
#[derive(Clone, Debug)]
pub(crate) struct SentHistory {
    /// Ascending; none before the one that the client names.
    kept: VecDeque<Tick>,
    /// Whether the client names the first.
    is_named: bool,
}

impl SentHistory {
    pub(crate) fn new() -> SentHistory {
        SentHistory { kept: VecDeque::with_capacity(128), is_named: false }
    }

    /// Nothing that was sent so far is there.
    pub(crate) fn forget(&mut self) {
        self.kept.clear();
        self.is_named = false;
    }

    /// Of the last `most`.
    pub(super) fn note(&mut self, tick: Tick, most: usize) {
        if self.kept.back().is_some_and(|last| *last >= tick) {
            self.forget();
        }
        if self.kept.len() >= most {
            self.kept.pop_front();
            self.is_named = false;
        }
        self.kept.push_back(tick);
    }

    /// The client says which is the newest that it has.
    pub(crate) fn name(&mut self, tick: Option<Tick>) {
        let found = tick.and_then(|tick| self.kept.binary_search(&tick).ok());
        self.is_named = found.is_some();
        self.kept.drain(..found.unwrap_or(0));
    }

    /// The one that the client has named last, if it is not too long ago.
    pub(super) fn baseline(&self) -> Option<Tick> {
        self.kept.front().copied().filter(|_| self.is_named)
    }
}

/// Who is told, and of what.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    pub rows: &'a Rows,
    pub schema: &'a Schema,
    pub player: PlayerId,
    pub row_versions: &'a RowVersions,
    /// What the client is told last and now, where it does not see everything.
    pub interest: Option<(&'a View, &'a InterestQuery)>,
}

/// What one snapshot tells of the published rows. Its memory is used again.
pub(super) struct DeltaSet {
    pub baseline: Option<Tick>,
    /// The check of all rows that the client may see.
    pub check: u32,
    /// The places of the rows to tell.
    pub told: Vec<usize>,
    /// What the client has and is gone, ascending.
    pub gone: Vec<RowKey>,
}

impl DeltaSet {
    pub(super) fn new() -> DeltaSet {
        DeltaSet { baseline: None, check: 0, told: Vec::new(), gone: Vec::new() }
    }

    /// These, by themselves.
    pub(super) fn choose_all_of(&mut self, seen: impl Iterator<Item = usize>) {
        self.baseline = None;
        self.gone.clear();
        self.told.clear();
        self.told.extend(seen);
    }

    /// What has changed since `base`; or all, where that is not longer.
    pub(super) fn choose(&mut self, base: Option<Tick>, of: Of<'_>) {
        let Some(base) = base.filter(|base| self.note_gone(*base, of).is_some()) else {
            return self.choose_all_of(of.seen().map(|(at, _)| at));
        };
        self.told.clear();
        // In words, about: what it takes to name an entity is one.
        let (mut check, mut left_out) = (0_u32, 0);
        for (at, entered) in of.seen() {
            let version = &of.row_versions.versions()[at];
            check = check.wrapping_add(version.hash);
            if version.changed > base || entered.is_some_and(|since| since.is_none_or(|since| since > base)) {
                self.told.push(at);
            } else {
                left_out += 1 + of.schema.component(version.key.component).words();
            }
        }
        if left_out == 0 || left_out < self.gone.len() {
            return self.choose_all_of(of.seen().map(|(at, _)| at));
        }
        (self.baseline, self.check) = (Some(base), check);
    }

    /// `None` where it is not known any more.
    fn note_gone(&mut self, state: Tick, of: Of<'_>) -> Option<()> {
        let Of { rows, schema, player, row_versions, interest } = of;
        self.gone.clear();
        let removed = row_versions.removed_since(state)?.filter(|row| match interest {
            // Those come from there.
            Some(_) if row.owner != player && is_placed(schema, row.key.component) => false,
            _ => schema.component(row.key.component).audience().includes(player, row.owner),
        });
        let is_seen = |key: RowKey| {
            let row = rows.get(key)?;
            let is_there = interest.is_none_or(|(_, interest)| row.owner == player || interest.may_show(schema, key));
            Some(is_there && schema.component(key.component).audience().includes(player, row.owner))
        };
        self.gone.extend(removed.map(|row| row.key).filter(|key| is_seen(*key) != Some(true)));
        if let Some((view, interest)) = interest {
            self.gone.extend(interest.gone_since(view, state)?);
        }
        self.gone.sort_unstable();
        self.gone.dedup();
        Some(())
    }
}

impl Of<'_> {
    /// The places of the rows that are seen, ascending; of those that might not be, since when they are, if they were
    /// before.
    fn seen(self) -> impl Iterator<Item = (usize, Option<Option<Tick>>)> {
        let all = || self.rows.places_seen_by(self.schema, self.player).map(|at| (at, None));
        let all = self.interest.is_none().then(all);
        self.interest.into_iter().flat_map(|(_, interest)| interest.rows()).chain(all.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_what_the_client_has_named_if_it_was_sent_and_not_long_ago() {
        let mut sent = SentHistory::new();
        (1..=5).for_each(|tick| sent.note(Tick::new(tick), 4));
        assert_eq!(sent.baseline(), None, "nothing is named");
        for (named, found) in [(3, Some(3)), (1, None), (4, Some(4)), (9, None), (4, Some(4))] {
            sent.name(Some(Tick::new(named)));
            assert_eq!(sent.baseline(), found.map(Tick::new), "{named}");
        }
        (6..=7).for_each(|tick| sent.note(Tick::new(tick), 4));
        assert_eq!(sent.baseline(), Some(Tick::new(4)));
        sent.note(Tick::new(8), 4);
        assert_eq!(sent.baseline(), None, "too long ago");
        sent.name(Some(Tick::new(8)));
        sent.name(None);
        assert_eq!(sent.baseline(), None, "the client says that it has nothing");
        sent.name(Some(Tick::new(8)));
        sent.forget();
        assert_eq!(sent.baseline(), None);
    }
}
