//! What one client is not shown any more, and how that is told.

use super::ShownLane;
use crate::session::server::replication::client_rows::RowName;
use crate::session::server::replication::entities_in_view::GoneKey;
use crate::session::server::replication::gone_rows::Follower;
use crate::session::server::replication::shown_context::{Limits, ShownContext};
use crate::session::server::replication::slot_set::ChunkSlots;
use crate::session::server::row_versions::RowVersion;
use crate::time::Tick;
use crate::world::RowKey;

/// Why a row is not shown by itself any more: it is not there, not in view, the client's own, or told exactly.
#[derive(Clone, Copy, Debug)]
enum End {
    Gone,
    Hidden,
    Own,
    Exact,
}

impl End {
    /// Of a row that is not there any more, or not under its number, or the player's own.
    fn of_removed(key: RowKey, of: &ShownContext<'_>) -> End {
        match of.state.is_own(key, of.player) {
            true => End::Own,
            false if of.hides(key.entity) => End::Hidden,
            false => End::Gone,
        }
    }
}

impl ShownLane {
    /// What is told exactly is not shown by itself; what was and is not any more is, or is gone.
    pub(super) fn note_exact(&mut self, Limits { exact, interest, .. }: Limits<'_>, of: &ShownContext<'_>) {
        let versions = of.state.versions();
        for row in exact.rows().iter().filter(|row| row.since.is_none()) {
            self.end(row.slot, End::Exact);
            self.has_taken |= self.gone.forget(row.key);
        }
        for key in exact.lost() {
            match versions.get(*key) {
                Some(there) if interest.rows().contains(there.slot) => {
                    self.note_given(there, of);
                    self.rows.note_may_be_there(there.slot);
                }
                Some(there) if there.owner == of.player && of.state.is_for_owner(*key) => self.gone.take(*key),
                // A client that has missed that it was told exactly may have it from before.
                _ => self.gone.tell_once(GoneKey::new(*key, of.state, of.player)),
            }
        }
    }

    /// What was there in the state `noted`, and is not any more, or another's.
    pub(super) fn note_removed(&mut self, noted: Tick, of: &ShownContext<'_>) {
        let versions = of.state.versions();
        let Some(removed) = versions.removed_since(noted) else { return self.note_missing(of) };
        // What has ended first: other rows may have its numbers.
        for removed in removed {
            let (key, slot) = (removed.row.key, removed.slot);
            // It may be there again under another number.
            let has_ended = versions.get(key).is_none_or(|there| there.slot != slot || there.owner == of.player);
            if has_ended && self.rows.has_row(slot, key) {
                self.end(slot, End::of_removed(key, of));
            }
        }
        for removed in versions.removed_since(noted).into_iter().flatten() {
            let key = removed.row.key;
            let there = versions.get(key).filter(|there| there.owner != of.player);
            match there {
                Some(there) if removed.row.owner == of.player => self.note_given(there, of),
                Some(there) if self.rows.has_row(there.slot, key) => self.note_row(versions.place(there.slot), of),
                None if versions.get(key).is_none() => {
                    self.gone.end_taken(|taken| taken == key, |taken| of.hides(taken.entity));
                    self.note_follower(key, of);
                }
                _ => {}
            }
        }
    }

    /// A row is not there any more. Where the client shows another variant of the same enum instead, which ends it, that it is gone is
    /// not told before that is there: the entity is never nowhere.
    fn note_follower(&mut self, key: RowKey, of: &ShownContext<'_>) {
        let (schema, versions) = (of.state.schema(), of.state.versions());
        let variants = schema.other_variants(key).filter_map(|other| versions.get(other));
        for there in variants.filter(|there| there.owner != of.player) {
            self.note_given(there, of);
            if self.rows.has_row(there.slot, there.key) {
                self.gone.hold(there.key.entity, Follower { key: there.key, slot: there.slot }, |gone| {
                    schema.other_variants(there.key).any(|other| other == gone)
                });
            }
        }
    }

    /// It was the client's own, or told exactly, or another variant.
    fn note_given(&mut self, of_row: &RowVersion, of: &ShownContext<'_>) {
        if of.limits.is_some_and(|limits| !limits.interest.rows().contains(of_row.slot)) {
            // What the client may have of it from before it was its own is over.
            self.gone.end_taken(|taken| taken == of_row.key, |taken| of.hides(taken.entity));
            return;
        }
        let versions = of.state.versions();
        self.rows.resize(versions.slots());
        self.note_row(versions.place(of_row.slot), of);
        self.given.set(of_row.slot, self.rows.name(of_row.slot).is_some());
    }

    /// The same, where it is not remembered what was removed.
    fn note_missing(&mut self, of: &ShownContext<'_>) {
        let versions = of.state.versions();
        let mut next = 0;
        while let Some(slot) = self.rows.present().next_from(next) {
            next = slot + 1;
            let Some(RowName { key, .. }) = self.rows.name(slot) else { continue };
            match versions.get(key) {
                Some(there) if there.slot == slot && there.owner != of.player => {
                    self.note_row(versions.place(slot), of)
                }
                _ => self.end(slot, End::of_removed(key, of)),
            }
        }
        let is_over = |taken| versions.get(taken).is_none_or(|there| there.owner != of.player);
        self.gone.end_taken(is_over, |taken| of.hides(taken.entity));
    }

    /// What was the client's own, or told exactly, or another variant, is told until it is there.
    pub(super) fn tell_given_again(&mut self) {
        let ShownLane { rows, waiting, given, .. } = self;
        let mut next = 0;
        while let Some(slot) = given.next_from(next) {
            next = slot + 1;
            if rows.unknown().contains(slot) {
                waiting.add(slot);
            } else {
                given.remove(slot);
            }
        }
    }

    /// What is not in view is hidden from this client.
    pub(super) fn drop_unseen(&mut self, limits: Limits<'_>) {
        let mut next = 0;
        while let Some(slot) = self.rows.present().next_not_in(limits.interest.rows(), next) {
            next = slot + 1;
            self.end(slot, End::Hidden);
        }
    }

    fn end(&mut self, slot: u32, end: End) {
        let Some((RowName { key, .. }, may_be_there)) = self.rows.remove(slot) else { return };
        self.waiting.remove(slot);
        self.stopped.remove(slot);
        self.paced.note_told(ChunkSlots::one(slot));
        self.given.remove(slot);
        self.has_taken |= matches!(end, End::Own | End::Exact);
        match end {
            _ if !may_be_there => {}
            End::Exact => {}
            End::Own => self.gone.take(key),
            End::Gone => self.gone.tell(GoneKey { key, is_hidden: false }),
            End::Hidden => self.gone.tell(GoneKey { key, is_hidden: true }),
        }
    }
}
