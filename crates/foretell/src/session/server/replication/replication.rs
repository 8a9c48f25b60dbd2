//! Snapshots out: the whole state that a player may see, as exact bits, in one to eight datagrams.
//!
//! Every snapshot makes the whole state, by itself or with one that the client has said to have, so that a join, a resync
//! and a correction need nothing but the newest one.

use super::delta::{DeltaSet, Limits, Perspective};
use super::event_log::ToldEvents;
use super::interest::{InterestQuery, Viewer};
use super::outgoing_snapshot::{Form, Snapshot};
use super::replica::Replica;
use super::snapshot_packing::{RowWriter, SnapshotLists};
use super::spatial_index::SpatialIndex;
use crate::session::authority::HeldEntity;
use crate::session::baseline::{Baseline, baselines_max};
use crate::session::packet::{DATAGRAM_MAX, Message, PARTS_MAX, SnapshotHead};
use crate::session::row_codec::RowCodec;
use crate::session::{Outbox, PeerId};
use crate::time::Tick;
use crate::wire::{BitWriter, EncodedBits};
use crate::world::{PlayerId, Schema};
use alloc::vec::Vec;

/// Who gets it.
pub(crate) struct Receiver<'a> {
    pub player: PlayerId,
    pub address: PeerId,
    /// The newest state that it has.
    pub known: Tick,
    pub replica: &'a mut Replica,
    /// What the head says of this client, and of the state.
    pub head: &'a mut SnapshotHead,
    /// The inputs of others, before the rows of the first part.
    pub relayed: Option<&'a EncodedBits>,
}

/// What has become of a snapshot.
pub(crate) struct SendReport {
    /// How many bytes it takes; `None` where it was too large to be sent.
    pub bytes: Option<u64>,
    /// Whether not all has fitted, other than the last time.
    pub is_newly_crowded: bool,
}

/// Writes snapshots, for one client after the other. Its memory is used again.
pub(crate) struct Replication {
    codec: RowCodec,
    /// What the snapshot that is being written tells.
    delta: DeltaSet,
    holders: Vec<HeldEntity>,
    /// Where the entities of the state are, and which of them are in view of the client that it is written for.
    spatial: SpatialIndex,
    interest: InterestQuery,
}

impl Replication {
    pub(crate) fn new(schema: &Schema) -> Replication {
        Replication {
            codec: RowCodec::new(schema),
            delta: DeltaSet::default(),
            holders: Vec::new(),
            spatial: SpatialIndex::default(),
            interest: InterestQuery::default(),
        }
    }

    /// Sends a state to one client, with the news if they fit too.
    pub(crate) fn send(&mut self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>, outbox: &mut Outbox) -> SendReport {
        let Snapshot { form, rows, .. } = *snapshot;
        to.head.proof = None;
        match form {
            Form::Changes => {}
            Form::AllChanges => self.select(to, snapshot),
            Form::Image => self.delta.choose_all(rows, snapshot.state.schema(), to.player),
            Form::Digest(digest) => {
                to.head.proof = Some(digest);
                self.delta.choose_none();
            }
        }
        let bytes = match form {
            Form::Changes => self.send_what_fits(to, snapshot, outbox),
            _ => self.write(to, snapshot, true, outbox),
        };
        let bytes = bytes.or_else(|| self.write(to, snapshot, false, outbox));
        let is_crowded = bytes.is_none() || form == Form::Changes && self.interest.has_shed();
        SendReport { bytes, is_newly_crowded: to.replica.note_crowded(is_crowded) }
    }

    /// Writes all that a client sees; where that does not fit, without the farthest. `None` where it can't.
    fn send_what_fits(&mut self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>, outbox: &mut Outbox) -> Option<u64> {
        let is_crowded = to.replica.is_crowded();
        self.look(to, snapshot, snapshot.nearest.is_some() || is_crowded);
        let parts_max = if is_crowded { PARTS_MAX - 1 } else { PARTS_MAX };
        (0..=parts_max).rev().find_map(|parts| {
            if parts < PARTS_MAX {
                self.shed(to, snapshot, u64::from(parts) * 8 * DATAGRAM_MAX as u64);
            }
            self.select(to, snapshot);
            self.write(to, snapshot, true, outbox)
        })
    }

    /// Finds out what a client sees of the state, if that is limited, or was.
    fn look(&mut self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>, is_limited: bool) {
        let Snapshot { tick, rows, state, authority, nearest, .. } = *snapshot;
        self.interest.clear();
        if is_limited {
            to.replica.limit_view(state, to.player);
        }
        if let Some(view) = to.replica.view.as_ref() {
            self.spatial.update(rows, state.schema(), tick);
            let viewer = Viewer { player: to.player, authority, spatial: &self.spatial, view };
            self.interest.look(viewer, nearest.map_or(usize::MAX, usize::from));
        }
    }

    /// Leaves the farthest out of view, so that what is told of the others takes so many bits.
    fn shed(&mut self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>, bits_max: u64) {
        if to.replica.view.is_none() {
            self.look(to, snapshot, true);
        }
        let Replication { codec, spatial, interest, .. } = self;
        let (base, versions) = (to.replica.sent.baseline(), snapshot.state.versions().versions());
        interest.shed(spatial, to.player, bits_max, |key, row, since| {
            let is_known = since.is_some_and(|since| Some(since.max(versions[row].changed)) <= base);
            if is_known { 0 } else { codec.bits_max(key.component) }
        });
    }

    /// Chooses what of the rows is told.
    fn select(&mut self, to: &Receiver<'_>, snapshot: &Snapshot<'_>) {
        let limits = to.replica.view.as_ref().map(|view| Limits { view, interest: &self.interest });
        let perspective = Perspective { player: to.player, state: snapshot.state, limits };
        self.delta.choose(to.replica.sent.baseline(), perspective);
    }

    /// Writes a snapshot of what was chosen; `None` where it is too large.
    fn write(
        &mut self,
        to: &mut Receiver<'_>,
        snapshot: &Snapshot<'_>,
        with_events: bool,
        outbox: &mut Outbox,
    ) -> Option<u64> {
        let Replication { interest, spatial, holders, .. } = self;
        let held = snapshot.authority.seen_by(snapshot.state.schema(), to.player);
        holders.clear();
        holders.extend(held.filter(|held| !interest.hides(spatial, held.key)));
        let first = outbox.len();
        let Some(bytes) = self.write_parts(to, snapshot, with_events, outbox) else {
            outbox.truncate(first);
            return None;
        };
        let last_part = to.head.part;
        outbox.edit_from(first, |datagram| SnapshotHead::set_last_part(datagram, last_part));
        self.note_sent(to, snapshot);
        Some(bytes)
    }

    /// Writes part after part, until all is told; `None` where that are too many.
    fn write_parts(
        &self,
        to: &mut Receiver<'_>,
        snapshot: &Snapshot<'_>,
        with_events: bool,
        outbox: &mut Outbox,
    ) -> Option<u64> {
        let Receiver { head, replica, address, known, relayed, .. } = to;
        let DeltaSet { baseline, check, told, gone } = &self.delta;
        let baseline = baseline.map(|base| Baseline { back: snapshot.tick.since(base), check: *check });
        let ToldEvents { complete_ticks, events } = replica.events.told(snapshot.tick);
        let are_left_out = !with_events && events.len() > 0;
        head.baseline = baseline;
        head.news_ticks = if are_left_out { Some(0) } else { complete_ticks };
        let mut lists = SnapshotLists {
            gone: baseline.map(|_| gone.iter().peekable()),
            rows: told.iter().peekable(),
            events: if are_left_out { Default::default() } else { events }.peekable(),
            holders: self.holders.iter().peekable(),
        };
        let rows = RowWriter { codec: &self.codec, snapshot, known: *known };
        let mut bytes = 0;
        for part in 0..PARTS_MAX {
            head.part = part;
            bytes += outbox.push(*address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                Message::Snapshot.write(&mut writer);
                head.stream(&mut writer).expect("writing never fails");
                let relayed = relayed.filter(|_| part == 0);
                writer.put(u64::from(relayed.is_some()), 1);
                relayed.into_iter().for_each(|relayed| relayed.append_to(&mut writer));
                lists.write(&mut writer, &rows);
            }) as u64;
            if lists.are_written() {
                return Some(bytes);
            }
        }
        None
    }

    /// Remembers what a client was sent.
    fn note_sent(&self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>) {
        if snapshot.form == Form::Changes {
            to.replica.note_view(&self.interest, &self.spatial, snapshot.tick, snapshot.nearest.is_some());
        }
        if snapshot.form != Form::Image {
            to.replica.sent.note(snapshot.tick, baselines_max(snapshot.rate));
        }
    }
}
