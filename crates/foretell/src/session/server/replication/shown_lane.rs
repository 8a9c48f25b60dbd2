//! What one client shows of others, and of its own where no client predicts it, row by row: what of each it was told last, and what it
//! is to be told next.
//!
//! Each row is told by itself, as it is in the state that is sent, and counts as soon as its datagram comes. A row is told
//! when it has changed, and again when a datagram that told it is lost. That it has come to rest is told of all together that were
//! told with the state before, if everything has room, and otherwise of each. Where there is more to tell than fits, what is near and
//! what was told long ago comes first. On a link that loses datagrams what nothing later repairs is told with two states, one after the
//! other: that a row is gone, and how it came to rest. Else it would be late by a round trip where the one is lost.

use super::dirty_tracker::DirtyTracker;
use super::priority::{Claims, Prioritizer};
use super::row_encoding_cache::RowEncodingCache;
use super::sent_datagrams::{SentDatagrams, SettledDatagram};
use super::shown_context::ShownContext;
use super::shown_datagram::ShownDatagram;
use super::shown_row_writer::ShownRowWriter;
use crate::session::ack_bits::AckBits;
use crate::session::congestion_window::Fates;
use crate::session::shown_bases::BASE_AGE_MAX;
use crate::session::stopped_rows_codec::write_stopped;
use crate::time::Instant;

/// Of how many that have come in a row a link is taken to lose none.
const COME_WITHOUT_LOSS: u32 = 256;

/// Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct ShownLane {
    to_tell: DirtyTracker,
    sent: SentDatagrams,
    /// Of how many datagrams more it must be known that they have come until the link is taken to lose none.
    loses_for: u32,
}

impl ShownLane {
    pub(super) fn new() -> ShownLane {
        ShownLane { to_tell: DirtyTracker::new(), sent: SentDatagrams::new(), loses_for: 0 }
    }

    /// Nothing of what was told so far may be there, or all of it.
    pub(super) fn begin_anew(&mut self) {
        self.to_tell.begin_anew();
        self.sent.forget();
    }

    /// The client has told which datagrams have come. Returns what has become of those of which it was not known.
    pub(super) fn acknowledge(&mut self, received: AckBits, now: Instant) -> Fates {
        let ShownLane { to_tell: DirtyTracker { rows, waiting, gone, .. }, sent, .. } = self;
        let fates = sent.settle(received, now, |datagram| {
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
        });
        let before = if fates.lost > 0 { COME_WITHOUT_LOSS } else { self.loses_for };
        self.loses_for = before.saturating_sub(fates.come);
        fates
    }

    /// Takes in what has changed up to the state that is sent.
    pub(super) fn note(&mut self, of: &ShownContext<'_>) {
        self.to_tell.note(of);
        if self.loses_for > 0 {
            self.to_tell.tell_stopped();
        }
    }

    /// Whether there is anything to tell.
    pub(super) fn has_news(&self) -> bool {
        self.to_tell.has_any() && !self.sent.is_full()
    }

    /// Whether all that waits mostly has room together.
    pub(super) fn fits(&self, encoded: &RowEncodingCache, has_room: impl Fn(u64) -> bool) -> bool {
        self.to_tell.waiting.fit(&self.to_tell.rows, encoded, has_room)
    }

    /// All that waits has room.
    pub(super) fn sort(&mut self) {
        self.to_tell.waiting.sort();
    }

    /// What matters most is told first; at most `most` are told.
    pub(super) fn rank(&mut self, of: &ShownContext<'_>, prioritizer: &mut Prioritizer, most: usize) {
        self.to_tell.tell_stopped();
        let DirtyTracker { rows, waiting, given, .. } = &mut self.to_tell;
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
            let DirtyTracker { rows, gone, .. } = &mut self.to_tell;
            gone.write(of.tick, rows, to, |key| self.sent.note_gone(key));
            if self.loses_for > 0 {
                gone.write_again(of.tick, to, |key| self.sent.note_gone(key));
            }
        }
        to.writer.put(0, 1);
        let ShownLane { to_tell: DirtyTracker { rows, waiting, paced, .. }, sent, .. } = self;
        let mut row_writer = ShownRowWriter { rows, paced, sent, of, to: to.rows() };
        if !is_full {
            waiting.write(&mut row_writer);
        }
        row_writer.to.finish();
        self.write_stopped(of, to);
    }

    /// Tells of all together that they have stopped, where everything else is told; otherwise each of them waits for that.
    fn write_stopped(&mut self, of: &ShownContext<'_>, to: &mut ShownDatagram<'_, '_>) {
        let age_ticks = of.tick.since(of.changes.before);
        let are_any = to.is_last && !self.to_tell.stopped.is_empty();
        let are_all = !self.to_tell.has_taken && !self.to_tell.has_any() && !self.sent.is_full();
        let are_told = are_any && are_all && age_ticks <= BASE_AGE_MAX;
        write_stopped(&mut to.writer, are_told.then_some(age_ticks));
        if are_told {
            self.to_tell.rows.note_rest(&self.to_tell.stopped);
            self.to_tell.stopped.clear();
            self.sent.note_stopped(of.changes.before);
        } else if are_any {
            self.to_tell.tell_stopped();
        }
    }
}

#[cfg(test)]
mod tests;
