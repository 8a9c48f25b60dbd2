//! What one client has of the rows of others, and what of them it is to be told next.
//!
//! A row has to be told when it has changed since it was told last, when it comes into view, and when it leaves the view.

use super::acked_rows::{AckedRows, RowName};
use super::gone_rows::{Follower, GoneRows};
use super::interest_set::GoneKey;
use super::rate_limited_rows::RateLimitedRows;
use super::recent_changes::RecentChanges;
use super::row_send_queue::RowSendQueue;
use super::shown_context::{Limits, ShownContext};
use super::slot_set::{ChunkSlots, SlotSet};
use crate::session::server::row_versions::RowVersion;
use crate::session::shown_row_header::SLOTS_MAX;
use crate::time::Tick;
use crate::world::{RemovedRow, RowKey};

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
        match of.state.is_exact_own(key, of.player) {
            true => End::Own,
            false if of.hides(key.entity) => End::Hidden,
            false => End::Gone,
        }
    }
}

/// Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct DirtyTracker {
    pub(super) rows: AckedRows,
    pub(super) waiting: RowSendQueue,
    /// Those that were told with the state before and are as they were then: it is to be told that they rest.
    pub(super) stopped: SlotSet,
    /// Whether something has become the client's own since the state before, or is told exactly: that is not among the rows that are
    /// told, and may not have stopped.
    pub(super) has_taken: bool,
    pub(super) paced: RateLimitedRows,
    pub(super) gone: GoneRows,
    /// The numbers of rows that were the client's own until lately, or told exactly, or another variant: they are told with each state
    /// until they are there, so that they are never nowhere.
    pub(super) given: SlotSet,
    /// Up to which state it is known what has changed.
    noted: Option<Tick>,
}

impl DirtyTracker {
    pub(super) fn new() -> DirtyTracker {
        DirtyTracker {
            rows: AckedRows::default(),
            waiting: RowSendQueue::new(),
            stopped: SlotSet::default(),
            has_taken: false,
            paced: RateLimitedRows::new(),
            gone: GoneRows::new(),
            given: SlotSet::default(),
            noted: None,
        }
    }

    /// Nothing of what was told so far may be there, or all of it.
    pub(super) fn begin_anew(&mut self) {
        let DirtyTracker { rows, waiting, stopped, gone, .. } = self;
        rows.tell_anew();
        stopped.clear();
        waiting.add_both(rows.present(), rows.present());
        gone.tell_anew();
    }

    /// Takes in what has changed up to the state that is sent.
    pub(super) fn note(&mut self, of: &ShownContext<'_>) {
        self.tell_stopped();
        self.has_taken = false;
        let noted = self.noted.replace(of.tick);
        if let Some(noted) = noted {
            self.note_removed(noted, of);
        }
        self.rows.resize(of.state.versions().slots());
        of.limits.into_iter().for_each(|limits| self.note_exact(limits, of));
        // Whether it was noted what was to be told with the state before.
        let is_next = noted.is_some_and(|noted| noted >= of.changes.before);
        let versions = of.state.versions();
        match of.limits {
            Some(limits) => {
                self.drop_unseen(limits);
                let in_view = limits.interest.rows();
                if is_next && noted == limits.view.told() {
                    self.note_entered(in_view, of);
                    self.note_changes(of);
                } else {
                    in_view.iter().for_each(|slot| self.note_row(versions.place(slot), of));
                }
            }
            None if is_next && of.changes.places.is_empty() => {}
            None if is_next => {
                [&of.changes.fresh, &of.changes.halted, &of.changes.stopped]
                    .into_iter()
                    .for_each(|changed| self.note_entered(changed, of));
                self.note_changes(of);
            }
            None => (0..versions.versions().len()).for_each(|place| self.note_row(place, of)),
        }
        self.gone.release(&self.rows, |entity| of.hides(entity));
        self.tell_given_again();
        self.paced.follow(&self.rows, of.row_send_rates, of.tick, |slot| self.waiting.add(slot));
        if !self.stopped.is_empty() {
            self.stopped.remove_all(self.waiting.slots());
        }
    }

    /// Those of these rows that were not to be seen are now.
    fn note_entered(&mut self, rows: &SlotSet, of: &ShownContext<'_>) {
        let mut next = 0;
        while let Some(slot) = rows.next_not_in(self.rows.present(), next) {
            self.note_row(of.state.versions().place(slot), of);
            next = slot + 1;
        }
    }

    /// What has changed of what is to be seen. What has changed since the last state was sent waits, whatever was sent of it before.
    fn note_changes(&mut self, of: &ShownContext<'_>) {
        let RecentChanges { fresh, paced, halted, stopped: have_stopped, .. } = of.changes;
        let DirtyTracker { rows, waiting, stopped, .. } = self;
        waiting.add_both(fresh, rows.present());
        // It was noted with the state before, in which these had changed: they were told with that, or wait still.
        waiting.add_both_but(halted, rows.present(), rows.resting());
        stopped.add_both_but(have_stopped, rows.present(), rows.resting());
        for slot in paced.iter() {
            if of.limits.is_none() || self.rows.present().contains(slot) {
                self.note_row(of.state.versions().place(slot), of);
            }
        }
    }

    /// A row is to be seen: it waits, if it was not told as it is.
    fn note_row(&mut self, place: usize, of: &ShownContext<'_>) {
        let version = &of.state.versions().versions()[place];
        let RowVersion { key, owner, slot, changed, .. } = *version;
        // What is in view is for them, also where that is up to the game's rules.
        let is_for_them = || of.limits.is_some() || of.includes(key, owner);
        if !of.may_show(version) || slot >= SLOTS_MAX || of.is_exact(slot) || !is_for_them() {
            return;
        }
        let DirtyTracker { rows, gone, waiting, stopped, paced, .. } = self;
        match rows.name(slot) {
            None => rows.insert(slot, RowName { key, owner }, of.tick, gone.forget(key)),
            Some(name) if name.owner != owner => rows.give(slot, owner, of.tick),
            Some(_) => {}
        }
        let before = of.changes.before;
        if of.changes.stopped.contains(slot) && rows.may_move_since(slot, before) {
            stopped.insert(slot);
        } else if rows.has_news(slot, changed, before) && paced.is_due(slot, rows, of.row_send_rates, of.tick) {
            waiting.add(slot);
        }
    }

    /// Whether anything is to be told.
    pub(super) fn has_any(&self) -> bool {
        !self.waiting.is_empty() || self.gone.has_news(&self.rows)
    }

    /// Of each that has stopped this is to be told.
    pub(super) fn tell_stopped(&mut self) {
        if !self.stopped.is_empty() {
            self.waiting.add_all(&self.stopped);
            self.stopped.clear();
        }
    }

    /// What is told exactly is not shown by itself; what was and is not any more is, or is gone.
    fn note_exact(&mut self, Limits { exact, interest, .. }: Limits<'_>, of: &ShownContext<'_>) {
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
                Some(_) if of.state.is_exact_own(*key, of.player) => self.gone.take(*key),
                // A client that has missed that it was told exactly may have it from before.
                _ => {
                    self.gone.tell_once(GoneKey { key: *key, is_hidden: of.hides(key.entity) });
                    self.note_follower(*key, of);
                }
            }
        }
    }

    /// What was there in the state `noted`, and is not any more, or another's.
    fn note_removed(&mut self, noted: Tick, of: &ShownContext<'_>) {
        let versions = of.state.versions();
        let Some(removed) = versions.removed_since(noted) else { return self.note_missing(of) };
        // What has ended first: other rows may have its numbers.
        for removed in removed {
            let (key, slot) = (removed.row.key, removed.slot);
            // It may be there again under another number.
            let has_ended = versions.get(key).is_none_or(|there| there.slot != slot || !of.may_show(there));
            if has_ended && self.rows.has_row(slot, key) {
                self.end(slot, End::of_removed(key, of));
            }
        }
        let was_shown = |row: &RemovedRow| row.owner != of.player || of.state.is_shown_to_owner(row.key);
        for removed in versions.removed_since(noted).into_iter().flatten() {
            let key = removed.row.key;
            let there = versions.get(key).filter(|there| of.may_show(there));
            match there {
                Some(there) if !was_shown(&removed.row) => self.note_given(there, of),
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
        for there in variants.filter(|there| of.may_show(there)) {
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
                Some(there) if there.slot == slot && of.may_show(there) => self.note_row(versions.place(slot), of),
                _ => self.end(slot, End::of_removed(key, of)),
            }
        }
        let is_over = |taken| versions.get(taken).is_none_or(|there| of.may_show(there));
        self.gone.end_taken(is_over, |taken| of.hides(taken.entity));
    }

    /// What was the client's own, or told exactly, or another variant, is told until it is there.
    fn tell_given_again(&mut self) {
        let DirtyTracker { rows, waiting, given, .. } = self;
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
    fn drop_unseen(&mut self, limits: Limits<'_>) {
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
