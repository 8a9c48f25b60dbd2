//! The rows of others that one client is told as it is told its own, exactly and all of one state: it predicts them, or may.

use super::slot_set::SlotSet;
use crate::time::Tick;
use crate::world::RowKey;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How many rows that are not among them any more are remembered, the newest: their names have room in two datagrams.
const LEFT_MAX: usize = 400;

/// A row of another's that is told exactly.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExactRow {
    /// Where it stands among all rows.
    pub place: usize,
    pub slot: u32,
    pub key: RowKey,
    /// From which state on it was among them; `None` for this one.
    pub since: Option<Tick>,
}

/// One of those of the state that was sent last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub key: RowKey,
    /// The state from which on it is.
    pub since: Tick,
}

/// One that was from one state on, and not any more from another.
#[derive(Clone, Copy, Debug)]
struct Left {
    key: RowKey,
    since: Tick,
    at: Tick,
}

/// Lives as long as the place.
#[derive(Clone, Default, Debug)]
pub(super) struct ExactRowSet {
    /// Ascending by key.
    rows: Vec<Member>,
    /// Their numbers.
    slots: SlotSet,
    /// Ascending by when they left.
    left: VecDeque<Left>,
    /// What has left later than this is all remembered.
    remembered: Tick,
}

impl ExactRowSet {
    /// Those of the state that was sent last, ascending by key.
    pub(super) fn rows(&self) -> &[Member] {
        &self.rows
    }

    /// The state from which on a row is among them.
    pub(super) fn since(&self, key: RowKey) -> Option<Tick> {
        let at = self.rows.binary_search_by_key(&key, |member| member.key).ok()?;
        Some(self.rows[at].since)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the row with this number was among them; of one that has got the number since, whether the one before it was.
    pub(super) fn has_number(&self, slot: u32) -> bool {
        self.slots.contains(slot)
    }

    /// In the state of `now`, which is told against `base`, it is these, ascending by key; those that are lost were before.
    pub(super) fn note(&mut self, now: Tick, base: Option<Tick>, rows: &[ExactRow], lost: &[RowKey]) {
        for key in lost {
            let since = self.since(*key);
            self.left.extend(since.map(|since| Left { key: *key, since, at: now }));
        }
        let ExactRowSet { rows: members, slots, left, .. } = self;
        let told = left.partition_point(|left| Some(left.at) <= base);
        left.drain(..told);
        let surplus = left.len().saturating_sub(LEFT_MAX);
        self.remembered = left.drain(..surplus).next_back().map_or(self.remembered, |left| left.at);
        members.clear();
        slots.clear();
        for ExactRow { key, slot, since, .. } in rows {
            members.push(Member { key: *key, since: since.unwrap_or(now) });
            slots.insert(*slot);
        }
    }

    /// What was among them in the state `base` and has left since, some of which may be among them again; `None` where that is not
    /// remembered.
    pub(super) fn left_since(&self, base: Tick) -> Option<impl Iterator<Item = RowKey>> {
        let first = self.left.partition_point(|left| left.at <= base);
        let left = self.left.range(first..).filter(move |left| left.since <= base);
        self.remembers(base).then_some(left.map(|left| left.key))
    }

    /// Whether it is remembered what has left since the state `base`.
    pub(super) fn remembers(&self, base: Tick) -> bool {
        self.remembered <= base
    }
}
