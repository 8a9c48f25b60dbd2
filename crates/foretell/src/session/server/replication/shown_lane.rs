//! What one client shows of others, row by row: what of each it was told last, and what it is to be told next.
//!
//! Each row is told by itself, as it is in the state that is sent, and counts as soon as its datagram comes. A row is told
//! when it has changed, and again when a datagram that told it is lost. That it has come to rest is told of all together that were
//! told with the state before, if everything has room, and otherwise of each. Where there is more to tell than fits, what is near and
//! what was told long ago comes first.

use super::client_rows::{ClientRows, RowName};
use super::encoded_rows::EncodedRows;
use super::gone_rows::GoneRows;
use super::priority::{Claims, Prioritizer};
use super::rate_limited_rows::RateLimitedRows;
use super::recent_changes::RecentChanges;
use super::sent_datagrams::{SentDatagrams, SettledDatagram};
use super::shown_context::ShownContext;
use super::shown_datagram::ShownDatagram;
use super::shown_row_writer::ShownRowWriter;
use super::slot_set::SlotSet;
use super::waiting_rows::WaitingRows;
use crate::session::ack_bits::AckBits;
use crate::session::congestion_window::Fates;
use crate::session::resting_rows_codec::write_resting;
use crate::session::server::row_versions::RowVersion;
use crate::session::shown_bases::BASE_AGE_MAX;
use crate::session::shown_row_header::SLOTS_MAX;
use crate::time::{Instant, Tick};

mod ends;

/// Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct ShownLane {
    rows: ClientRows,
    waiting: WaitingRows,
    /// Those that were told with the state before and are as they were then: it is to be told that they rest.
    stopped: SlotSet,
    /// Whether something has become the client's own since the state before, or is told exactly: that is not among the rows that are
    /// told, and may not have stopped.
    has_taken: bool,
    paced: RateLimitedRows,
    gone: GoneRows,
    /// The numbers of rows that were the client's own until lately, or told exactly, or another variant: they are told with each state
    /// until they are there, so that they are never nowhere.
    given: SlotSet,
    sent: SentDatagrams,
    /// Up to which state it is known what has changed.
    noted: Option<Tick>,
}

impl ShownLane {
    pub(super) fn new() -> ShownLane {
        ShownLane {
            rows: ClientRows::default(),
            waiting: WaitingRows::new(),
            stopped: SlotSet::default(),
            has_taken: false,
            paced: RateLimitedRows::new(),
            gone: GoneRows::new(),
            given: SlotSet::default(),
            sent: SentDatagrams::new(),
            noted: None,
        }
    }

    /// Nothing of what was told so far may be there, or all of it.
    pub(super) fn begin_anew(&mut self) {
        let ShownLane { rows, waiting, stopped, gone, sent, .. } = self;
        rows.tell_anew();
        stopped.clear();
        waiting.add_both(rows.present(), rows.present());
        gone.tell_anew();
        sent.forget();
    }

    /// The client has told which datagrams have come. Returns what has become of those of which it was not known.
    pub(super) fn acknowledge(&mut self, received: AckBits, now: Instant) -> Fates {
        let ShownLane { rows, waiting, gone, sent, .. } = self;
        sent.settle(received, now, |datagram| {
            let SettledDatagram { tick, has_come, runs, gone: told_gone, stopped } = datagram;
            for told in runs.flat_map(|run| run.chunks()) {
                if has_come {
                    rows.note_come(told, tick);
                } else {
                    told.iter().filter(|slot| rows.note_lost(*slot, tick)).for_each(|slot| waiting.add(slot));
                }
            }
            if let Some(told) = stopped.filter(|_| !has_come) {
                rows.note_rest_lost(told, |slot| waiting.add(slot));
            }
            gone.settle(tick, has_come, told_gone);
        })
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
        self.paced.follow(&self.rows, of.row_rates, of.tick, |slot| self.waiting.add(slot));
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
        let ShownLane { rows, waiting, stopped, .. } = self;
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
        if owner == of.player || slot >= SLOTS_MAX || of.is_exact(slot) || !is_for_them() {
            return;
        }
        let ShownLane { rows, gone, waiting, stopped, paced, .. } = self;
        match rows.name(slot) {
            None => rows.insert(slot, RowName { key, owner }, of.tick, gone.forget(key)),
            Some(name) if name.owner != owner => rows.give(slot, owner, of.tick),
            Some(_) => {}
        }
        let before = of.changes.before;
        if of.changes.stopped.contains(slot) && rows.may_move_since(slot, before) {
            stopped.insert(slot);
        } else if rows.has_news(slot, changed, before) && paced.is_due(slot, rows, of.row_rates, of.tick) {
            waiting.add(slot);
        }
    }

    /// Whether there is anything to tell.
    pub(super) fn has_news(&self) -> bool {
        self.has_more() && !self.sent.is_full()
    }

    fn has_more(&self) -> bool {
        !self.waiting.is_empty() || self.gone.has_news(&self.rows)
    }

    /// Whether all that waits mostly has room together.
    pub(super) fn fits(&self, encoded: &EncodedRows, has_room: impl Fn(u64) -> bool) -> bool {
        self.waiting.fit(&self.rows, encoded, has_room)
    }

    /// All that waits has room.
    pub(super) fn sort(&mut self) {
        self.waiting.sort();
    }

    /// What matters most is told first; at most `most` are told.
    pub(super) fn rank(&mut self, of: &ShownContext<'_>, prioritizer: &mut Prioritizer, most: usize) {
        self.tell_stopped();
        let ShownLane { rows, waiting, given, .. } = self;
        rows.read_ahead();
        let (waiting, ranking) = waiting.ranking_of_all();
        prioritizer.rank(of, Claims { waiting, rows, given }, most, ranking);
    }

    /// The number of the next datagram.
    pub(super) fn next_number(&mut self) -> u16 {
        self.sent.next_number()
    }

    /// The datagram with this number is sent, and takes this many bytes.
    pub(super) fn note_sent(&mut self, number: u16, bytes: usize, now: Instant) {
        self.sent.note_sent(number, bytes, now);
    }

    /// The last datagrams, `count` of them, are not sent after all; no row had room in them.
    pub(super) fn take_back(&mut self, count: u8) {
        self.sent.take_back(count);
    }

    /// How many bytes are under way.
    pub(super) fn under_way(&self) -> u64 {
        self.sent.under_way()
    }

    /// Writes what fits into the datagram with this number.
    pub(super) fn write(&mut self, of: &ShownContext<'_>, number: u16, to: &mut ShownDatagram<'_, '_>) {
        let is_full = self.sent.is_full();
        if !is_full {
            self.sent.begin(number, of.tick);
            self.gone.write(of.tick, &self.rows, to, |key| self.sent.note_gone(key));
        }
        to.writer.put(0, 1);
        let ShownLane { rows, waiting, paced, sent, .. } = self;
        let mut row_writer = ShownRowWriter { rows, paced, sent, of, to: to.rows() };
        if !is_full {
            waiting.write(&mut row_writer);
        }
        row_writer.to.finish();
        self.write_resting(of, to);
    }

    /// Tells of all together that they have stopped, where everything else is told; otherwise each of them waits for that.
    fn write_resting(&mut self, of: &ShownContext<'_>, to: &mut ShownDatagram<'_, '_>) {
        let age_ticks = of.tick.since(of.changes.before);
        let are_any = to.is_last && !self.stopped.is_empty();
        let are_all = !self.has_taken && !self.has_more() && !self.sent.is_full();
        let are_told = are_any && are_all && age_ticks <= BASE_AGE_MAX;
        write_resting(&mut to.writer, are_told.then_some(age_ticks));
        if are_told {
            self.rows.note_rest(&self.stopped);
            self.stopped.clear();
            self.sent.note_stopped(of.changes.before);
        } else if are_any {
            self.tell_stopped();
        }
    }

    /// Of each that has stopped this is to be told.
    fn tell_stopped(&mut self) {
        if !self.stopped.is_empty() {
            self.waiting.add_all(&self.stopped);
            self.stopped.clear();
        }
    }
}

#[cfg(test)]
mod tests;
