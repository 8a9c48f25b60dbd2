//! The lists of a snapshot, as far as they are not written yet: each datagram takes as much of them as fits.

use super::interest_set::GoneKey;
use super::snapshot_source::SnapshotSource;
use crate::session::authority_codec::{ToldHolder, write_holder};
use crate::session::datagram::DATAGRAM_MAX;
use crate::session::exact_row_codec::ExactRowCodec;
use crate::session::step_events::StepEvent;
use crate::session::stopped_rows_codec::STOPPED_BITS;
use crate::time::Tick;
use crate::wire::BitWriter;
use alloc::collections::vec_deque;
use core::iter::Peekable;
use core::slice;

/// What a snapshot has to tell still.
pub(super) struct SnapshotPacker<'a> {
    /// What the client has and is not told exactly any more; `None` in a snapshot without a baseline.
    pub gone: Option<Peekable<slice::Iter<'a, GoneKey>>>,
    /// The places of rows.
    pub rows: Peekable<slice::Iter<'a, usize>>,
    pub events: Peekable<vec_deque::Iter<'a, StepEvent>>,
    pub holders: Peekable<slice::Iter<'a, ToldHolder>>,
}

/// How rows are written for a client that has the state `known`.
pub(super) struct RowWriter<'a> {
    pub codec: &'a ExactRowCodec,
    pub snapshot: &'a SnapshotSource<'a>,
    pub known: Tick,
}

impl RowWriter<'_> {
    fn write(&self, writer: &mut BitWriter<'_>, place: usize) {
        let SnapshotSource { rows, state, tick, .. } = *self.snapshot;
        let row = rows.nth(place);
        self.codec.write(writer, row, state.ages(row.entity, tick, self.known));
    }
}

impl SnapshotPacker<'_> {
    /// Writes as much as fits into the datagram.
    pub(super) fn write(&mut self, writer: &mut BitWriter<'_>, rows: &RowWriter<'_>) {
        // The bits that end the lists have to fit too, and those of the lists of what is shown.
        if let Some(gone) = &mut self.gone {
            write_list(writer, gone, 6 + STOPPED_BITS, |writer, gone| {
                rows.codec.write_gone(writer, gone.key, gone.is_hidden)
            });
        }
        write_list(writer, &mut self.rows, 5 + STOPPED_BITS, |writer, place| rows.write(writer, **place));
        write_list(writer, &mut self.events, 4 + STOPPED_BITS, |writer, event| event.write(writer, rows.snapshot.tick));
        write_list(writer, &mut self.holders, 3 + STOPPED_BITS, |writer, holder| write_holder(writer, **holder));
    }

    /// Whether nothing is left.
    pub(super) fn are_written(&mut self) -> bool {
        self.gone.as_mut().is_none_or(|gone| gone.peek().is_none())
            && self.rows.peek().is_none()
            && self.events.peek().is_none()
            && self.holders.peek().is_none()
    }
}

/// Writes as much of a list as fits into the datagram with `reserve` bits more: each item after a bit 1, then a bit 0.
fn write_list<T>(
    writer: &mut BitWriter<'_>,
    items: &mut Peekable<impl Iterator<Item = T>>,
    reserve: usize,
    mut write: impl FnMut(&mut BitWriter<'_>, &T),
) {
    while let Some(item) = items.peek() {
        let before = writer.bit_len();
        writer.put(1, 1);
        write(writer, item);
        if writer.bit_len() + reserve > DATAGRAM_MAX * 8 {
            writer.truncate(before);
            break;
        }
        items.next();
    }
    writer.put(0, 1);
}
