//! What one client shows of others, row by row: what of each it was told last, and what it is to be told next.
//!
//! Each row is told by itself, as it is in the state that is sent, and counts as soon as its datagram comes. A row is told
//! when it has changed, and once more when it has come to rest; again, when a datagram that told it is lost. Where there is
//! more to tell than fits, what is near and what was told long ago comes first.

use super::delta::Limits;
use super::encoded_rows::EncodedRows;
use super::entities_in_view::GoneKey;
use super::gone_rows::GoneRows;
use super::interest::Visible;
use super::paced_rows::PacedRows;
use super::sent_datagrams::{Fates, SentDatagrams, SettledDatagram};
use super::shown_state::{ChangedRow, Shown};
use super::shown_writer::ShownWriter;
use super::told_row::ToldRow;
use super::viewpoint::Viewpoint;
use super::waiting_rows::WaitingRows;
use crate::session::received::Received;
use crate::session::server::row_versions::RowVersion;
use crate::session::shown_record::SLOTS_MAX;
use crate::time::{Instant, Tick};
use crate::world::RowKey;
use alloc::vec::Vec;

/// For so many rows there is room from the start.
const ROOM: usize = 64;

/// Why a row is not shown any more: it is not there, not in view, or the client's own.
#[derive(Clone, Copy, Debug)]
enum End {
    Gone,
    Hidden,
    Own,
}

/// Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct ShownLane {
    /// By the number of the row; what the client is not to be told has none.
    rows: Vec<Option<ToldRow>>,
    /// The numbers of all that have one, in no order.
    present: Vec<u32>,
    waiting: WaitingRows,
    paced: PacedRows,
    gone: GoneRows,
    /// The numbers of rows that were the client's own until lately.
    given: Vec<u32>,
    sent: SentDatagrams,
    /// Up to which state it is known what has changed.
    noted: Option<Tick>,
    /// Since this state whole ones were told, and no row by itself.
    whole: Option<Tick>,
}

impl ShownLane {
    pub(super) fn new() -> ShownLane {
        ShownLane {
            rows: Vec::new(),
            present: Vec::with_capacity(ROOM),
            waiting: WaitingRows::new(),
            paced: PacedRows::new(),
            gone: GoneRows::new(),
            given: Vec::new(),
            sent: SentDatagrams::new(),
            noted: None,
            whole: None,
        }
    }

    /// Nothing of what was told so far may be there, or all of it.
    pub(super) fn begin_anew(&mut self) {
        let ShownLane { rows, present, waiting, gone, sent, .. } = self;
        for slot in present.iter().copied() {
            let Some(row) = &mut rows[slot as usize] else { continue };
            (row.told, row.has, row.rests) = (None, None, false);
            waiting.add(slot, row);
        }
        gone.tell_anew();
        sent.forget();
    }

    /// The client was told whole states until now, the newest that it is known to have is the one of `known`: all of that may
    /// be there.
    pub(super) fn follow_whole(&mut self, known: Tick) {
        self.begin_anew();
        self.whole = Some(known);
    }

    fn row(&self, slot: u32, key: RowKey) -> Option<&ToldRow> {
        self.rows.get(slot as usize)?.as_ref().filter(|row| row.key == key)
    }

    /// The client has told which datagrams have come. Returns what has become of those of which it was not known.
    pub(super) fn acknowledge(&mut self, received: Received, now: Instant) -> Fates {
        let ShownLane { rows, waiting, gone, sent, .. } = self;
        sent.settle(received, now, |datagram| {
            let SettledDatagram { tick, has_come, slots, gone: told_gone } = datagram;
            for slot in slots {
                let row = rows.get_mut(*slot as usize).and_then(Option::as_mut);
                // Before that it was another's, or another row with the same number.
                let Some(row) = row.filter(|row| row.since <= tick) else { continue };
                if has_come {
                    (row.has, row.was_own) = (row.has.max(Some(tick)), false);
                    continue;
                }
                if row.told != Some(tick) {
                    continue;
                }
                (row.told, row.rests) = (row.has, false);
                waiting.add(*slot, row);
            }
            gone.settle(tick, has_come, told_gone);
        })
    }

    /// Takes in what has changed up to the state that is sent.
    pub(super) fn note(&mut self, of: &Shown<'_>) {
        let noted = self.noted.replace(of.tick);
        if let Some(noted) = noted {
            self.note_removed(noted, of);
        }
        self.rows.resize(of.state.versions().slots(), None);
        let whole = self.whole.take();
        whole.into_iter().for_each(|whole| self.note_whole(whole, of));
        // Whether it was noted what was to be told with the state before.
        let is_next = whole.is_none() && noted.is_some_and(|noted| noted >= of.before);
        match of.limits {
            Some(limits) if is_next && noted == limits.view.told() => self.note_view(limits, of),
            Some(limits) => {
                limits.interest.rows().for_each(|seen| self.note_row(seen.row, of));
                self.drop_unseen(limits);
            }
            None if is_next => of.changed.iter().for_each(|changed| self.note_changed(changed, of)),
            None => (0..of.state.rows().len()).for_each(|place| self.note_row(place, of)),
        }
        self.tell_given_again();
        self.paced.follow(&mut self.rows, &mut self.waiting, of.paces, of.tick);
    }

    /// What has come into view, has left it, or has changed in it.
    fn note_view(&mut self, limits: Limits<'_>, of: &Shown<'_>) {
        let versions = of.state.versions();
        for seen in limits.interest.rows() {
            if seen.visible == Visible::Entered || versions.versions()[seen.row].changed > of.since {
                self.note_row(seen.row, of);
            }
        }
        for key in limits.interest.lost() {
            let there = versions.get(key).filter(|there| self.row(there.slot, key).is_some());
            there.map(|there| there.slot).into_iter().for_each(|slot| self.end(slot, End::Hidden));
        }
    }

    /// The same as `note_row`; fast, where the client was told of the row before.
    #[inline]
    fn note_changed(&mut self, row: &ChangedRow, of: &Shown<'_>) {
        let ShownLane { rows, waiting, paced, .. } = self;
        match rows.get_mut(row.slot as usize) {
            Some(Some(told)) if told.owner == row.owner => {
                if told.has_news(row.changed, of.before) && paced.is_due(told, row.slot, of.paces, of.tick) {
                    waiting.add(row.slot, told);
                }
            }
            _ => self.note_row(row.place as usize, of),
        }
    }

    /// A row is to be seen: it waits, if it was not told as it is.
    fn note_row(&mut self, place: usize, of: &Shown<'_>) {
        let version = &of.state.versions().versions()[place];
        let RowVersion { key, owner, slot, changed, .. } = *version;
        // What is in view is for them, also where that is up to the game's rules.
        let is_for_them = || of.limits.is_some() || of.includes(key, owner);
        if owner == of.player || slot >= SLOTS_MAX || !is_for_them() {
            return;
        }
        let ShownLane { rows, present, gone, waiting, paced, .. } = self;
        let row = rows[slot as usize].get_or_insert_with(|| {
            present.push(slot);
            ToldRow { may_be_there: gone.forget(key), nth: present.len() - 1, ..ToldRow::new(key, owner, of.tick) }
        });
        if row.owner != owner {
            (row.owner, row.since, row.has) = (owner, of.tick, None);
        }
        if row.has_news(changed, of.before) && paced.is_due(row, slot, of.paces, of.tick) {
            waiting.add(slot, row);
        }
    }

    /// Whole states were told since the one of `whole`: what was in any of them may be there.
    fn note_whole(&mut self, whole: Tick, of: &Shown<'_>) {
        let versions = of.state.versions();
        match of.limits {
            Some(Limits { view, interest }) => {
                interest.rows().for_each(|seen| self.note_row(seen.row, of));
                let gone = interest.gone_after(view, whole).filter(|gone| !of.state.is_own(gone.key, of.player));
                gone.for_each(|gone| self.gone.tell_once(gone));
            }
            None => {
                (0..of.state.rows().len()).for_each(|place| self.note_row(place, of));
                for removed in versions.removed_after(whole).into_iter().flatten() {
                    let (key, owner) = (removed.row.key, removed.row.owner);
                    // One that is there still may have become the client's own, which it is not to see.
                    let is_over = versions.get(key).is_none_or(|there| !of.includes(key, there.owner));
                    if of.includes(key, owner) && is_over {
                        self.gone.tell_once(GoneKey { key, is_hidden: false });
                    }
                }
            }
        }
        self.rows.iter_mut().flatten().for_each(|row| row.may_be_there = true);
        self.gone.take_all(of.state.own_places(of.player).map(|place| versions.versions()[place].key));
    }

    /// What was there in the state `noted`, and is not any more, or another's.
    fn note_removed(&mut self, noted: Tick, of: &Shown<'_>) {
        let versions = of.state.versions();
        let Some(removed) = versions.removed_since(noted) else { return self.note_missing(of) };
        for removed in removed {
            let (key, slot) = (removed.row.key, removed.slot);
            let there = versions.get(key);
            // It may be there again under another number.
            let has_ended = there.is_none_or(|there| there.slot != slot || there.owner == of.player);
            if has_ended && self.row(slot, key).is_some() {
                self.end(slot, if of.state.is_own(key, of.player) { End::Own } else { End::Gone });
            }
            if removed.row.owner != of.player {
                continue;
            }
            match there {
                Some(there) if there.owner != of.player => self.note_given(there, of),
                Some(_) => {}
                None => self.gone.end_taken(|taken| taken == key),
            }
        }
    }

    /// It was the client's own.
    fn note_given(&mut self, of_row: &RowVersion, of: &Shown<'_>) {
        if of.limits.is_some_and(|limits| !limits.interest.shows(of_row.key)) {
            return;
        }
        let versions = of.state.versions();
        self.rows.resize(versions.slots(), None);
        versions.find_place(of_row.key).into_iter().for_each(|place| self.note_row(place, of));
        self.rows[of_row.slot as usize].iter_mut().for_each(|row| row.was_own = true);
        self.given.push(of_row.slot);
    }

    /// The same, where it is not remembered what was removed.
    fn note_missing(&mut self, of: &Shown<'_>) {
        let versions = of.state.versions();
        for (nth, slot) in (0..self.rows.len()).zip(0..) {
            let Some(ToldRow { key, .. }) = self.rows[nth] else { continue };
            let there = versions.get(key);
            if there.is_none_or(|there| there.slot != slot || there.owner == of.player) {
                self.end(slot, if of.state.is_own(key, of.player) { End::Own } else { End::Gone });
            }
        }
        self.gone.end_taken(|taken| versions.get(taken).is_none());
    }

    /// What was the client's own is told until it is there.
    fn tell_given_again(&mut self) {
        let ShownLane { rows, waiting, given, .. } = self;
        given.retain(|slot| {
            let row = rows.get_mut(*slot as usize).and_then(Option::as_mut).filter(|row| row.was_own);
            let Some(row) = row else { return false };
            waiting.add(*slot, row);
            true
        });
    }

    /// What is not in view is hidden from this client.
    fn drop_unseen(&mut self, limits: Limits<'_>) {
        let mut nth = 0;
        while let Some(slot) = self.present.get(nth).copied() {
            if self.rows[slot as usize].as_ref().is_some_and(|row| !limits.interest.shows(row.key)) {
                self.end(slot, End::Hidden);
            } else {
                nth += 1;
            }
        }
    }

    fn end(&mut self, slot: u32, end: End) {
        let Some(row) = self.rows[slot as usize].take() else { return };
        self.present.swap_remove(row.nth);
        let moved = self.present.get(row.nth).and_then(|slot| self.rows[*slot as usize].as_mut());
        moved.into_iter().for_each(|moved| moved.nth = row.nth);
        if row.waits {
            self.waiting.remove(slot);
        }
        match end {
            _ if !row.may_be_there => {}
            End::Own => self.gone.take(row.key),
            End::Gone => self.gone.tell(GoneKey { key: row.key, is_hidden: false }),
            End::Hidden => self.gone.tell(GoneKey { key: row.key, is_hidden: true }),
        }
    }

    /// Whether there is anything to tell.
    pub(super) fn has_news(&self) -> bool {
        let any = !self.waiting.is_empty() || self.gone.has_news();
        any && !self.sent.is_full()
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
    pub(super) fn rank(&mut self, of: &Shown<'_>, viewpoint: &mut Viewpoint, most: usize) {
        self.waiting.rank(&self.rows, of, viewpoint, most);
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
    pub(super) fn write(&mut self, of: &Shown<'_>, number: u16, to: &mut ShownWriter<'_, '_>) {
        let is_full = self.sent.is_full();
        if !is_full {
            self.sent.begin(number, of.tick);
            self.gone.write(of.tick, to, |key| self.sent.note_gone(key));
        }
        to.writer.put(0, 1);
        let mut records = to.rows();
        if !is_full {
            self.waiting.write(&mut self.rows, of, &mut records, &mut self.sent);
        }
        records.finish();
    }
}

#[cfg(test)]
mod tests;
