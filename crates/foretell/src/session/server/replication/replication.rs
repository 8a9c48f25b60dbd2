//! Snapshots out: the whole state that a player may see, as exact bits, in one to eight datagrams.
//!
//! Every snapshot makes the whole state, by itself or with one that the client has said to have, so that a join, a resync
//! and a correction need nothing but the newest one.

use super::delta::{DeltaSet, Limits, Perspective};
use super::encoded_rows::EncodedRows;
use super::entities_in_view::EntitiesInView;
use super::entity_grid::EntityGrid;
use super::event_log::ToldEvents;
use super::interest::{InterestQuery, Viewer};
use super::outgoing_snapshot::{Form, Snapshot};
use super::paces::Paces;
use super::recent_changes::RecentChanges;
use super::replica::Replica;
use super::shown_state::Shown;
use super::shown_writer::{Room, ShownWriter};
use super::snapshot_packing::{RowWriter, SnapshotLists};
use super::viewpoint::Viewpoint;
use crate::session::authority::HeldEntity;
use crate::session::baseline::{Baseline, baselines_max};
use crate::session::packet::{DATAGRAM_MAX, Message, PARTS_MAX, ShownHead, SnapshotHead};
use crate::session::row_codec::RowCodec;
use crate::session::{Outbox, PeerId};
use crate::time::{Tick, TickRate};
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
    grid: EntityGrid,
    interest: InterestQuery,
    changes: RecentChanges,
    encoded: EncodedRows,
    paces: Paces,
    viewpoint: Viewpoint,
}

impl Replication {
    pub(crate) fn new(schema: &Schema, rate: TickRate) -> Replication {
        Replication {
            codec: RowCodec::new(schema),
            delta: DeltaSet::default(),
            holders: Vec::new(),
            grid: EntityGrid::default(),
            interest: InterestQuery::default(),
            changes: RecentChanges::new(),
            encoded: EncodedRows::new(schema, rate),
            paces: Paces::new(schema, rate),
            viewpoint: Viewpoint::default(),
        }
    }

    /// Sends a state to one client, with the news if they fit too.
    pub(crate) fn send(&mut self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>, outbox: &mut Outbox) -> SendReport {
        let Snapshot { form, rows, .. } = *snapshot;
        to.head.proof = None;
        to.head.is_whole = form != Form::Lanes;
        match form {
            Form::Lanes => self.select_lanes(to, snapshot),
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
        to.replica.note_told(bytes.is_some());
        let is_crowded = bytes.is_none() || form == Form::Changes && self.interest.has_shed();
        SendReport { bytes, is_newly_crowded: to.replica.note_crowded(is_crowded) }
    }

    /// Chooses what is told of the client's own rows, and finds out what of the others it is to be told.
    fn select_lanes(&mut self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>) {
        self.delta.choose_own(to.replica.sent.baseline(), to.player, snapshot.state);
        self.encoded.begin(snapshot.tick, snapshot.state.versions().slots());
        to.replica.allowance.add(snapshot.budget, to.replica.shown.under_way(), snapshot.now);
        let Replication { changes, interest, viewpoint, encoded, paces, .. } = self;
        let shown = shown_in(to.player, snapshot, changes, paces, limits(&to.replica.view, interest));
        let lane = &mut to.replica.shown;
        lane.note(&shown);
        let allowance = &to.replica.allowance;
        if lane.fits(encoded, |bits| allowance.has_room_for(bits)) {
            lane.sort();
        } else {
            lane.rank(&shown, viewpoint, allowance.count_max(encoded.bits_at_least()));
        }
    }

    /// Writes as much of what is shown as is left of what may be sent, in datagrams of their own.
    fn write_shown(&mut self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>, outbox: &mut Outbox) -> u64 {
        let Replication { changes, interest, codec, encoded, paces, .. } = self;
        let Receiver { player, address, replica, head, .. } = to;
        let shown = shown_in(*player, snapshot, changes, paces, limits(&replica.view, interest));
        let mut sent = 0;
        while replica.allowance.is_left() && replica.shown.has_news() {
            let number = replica.shown.next_number();
            let mut head = ShownHead { ticket: head.ticket, number, tick: snapshot.tick.low16() };
            let bytes = outbox.push(*address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                Message::Shown.write(&mut writer);
                head.stream(&mut writer).expect("writing never fails");
                let bits_max = replica.allowance.bits_max(0);
                // Whatever is left, it takes one row.
                let room = Room { bits_max, may_exceed: true };
                let mut rows = ShownWriter { codec, encoded, writer, room };
                replica.shown.write(&shown, number, &mut rows);
            });
            replica.allowance.spend(bytes);
            replica.shown.note_sent(number, bytes, snapshot.now);
            sent += bytes as u64;
        }
        sent
    }

    /// Writes all that a client sees; where that does not fit, without the farthest. `None` where it can't.
    fn send_what_fits(&mut self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>, outbox: &mut Outbox) -> Option<u64> {
        let is_crowded = to.replica.is_crowded();
        let parts_max = if is_crowded { PARTS_MAX - 1 } else { PARTS_MAX };
        (0..=parts_max).rev().find_map(|parts| {
            if parts < PARTS_MAX {
                self.shed(to, snapshot, u64::from(parts) * 8 * DATAGRAM_MAX as u64);
            }
            self.select(to, snapshot);
            self.write(to, snapshot, true, outbox)
        })
    }

    /// Finds out what a client sees of the state that is sent next, if that is limited, or was.
    pub(crate) fn look(&mut self, player: PlayerId, replica: &mut Replica, snapshot: &Snapshot<'_>) {
        let Snapshot { tick, state, sight, form, .. } = *snapshot;
        self.interest.clear();
        self.changes.update(tick, state, &self.paces);
        let is_crowded = form == Form::Changes && replica.is_crowded();
        if matches!(form, Form::Lanes | Form::Changes) && (sight.are_limited() || is_crowded) {
            replica.limit_view(state, player);
        }
        self.look_around(player, replica, snapshot);
    }

    /// The same, where something may be out of view.
    fn look_around(&mut self, player: PlayerId, replica: &Replica, snapshot: &Snapshot<'_>) {
        let Some(view) = &replica.view else { return };
        let Replication { grid, interest, changes, .. } = self;
        let changed = changes.places.iter().map(|place| *place as usize);
        grid.update(snapshot.state, snapshot.tick, changes.since, changed);
        interest.look(viewer(player, snapshot, view), grid);
    }

    /// Whether anything of another player's is seen by the client that was looked for last.
    pub(crate) fn shows_player(&self, snapshot: &Snapshot<'_>, player: PlayerId) -> bool {
        self.interest.shows_player(snapshot.rows, snapshot.state.schema(), player)
    }

    /// Leaves the farthest out of view, so that the changes of the others take at most `bits_max` bits.
    fn shed(&mut self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>, bits_max: u64) {
        if to.replica.view.is_none() {
            to.replica.limit_view(snapshot.state, to.player);
            self.look_around(to.player, to.replica, snapshot);
        }
        let Replication { codec, grid, interest, .. } = self;
        let (base, versions) = (to.replica.sent.baseline(), snapshot.state.versions().versions());
        let Some(view) = &to.replica.view else { return };
        interest.shed(viewer(to.player, snapshot, view), grid, bits_max, |key, row, since| {
            let is_known = since.is_some_and(|since| Some(since.max(versions[row].changed)) <= base);
            if is_known { 0 } else { codec.bits_max(key.component) }
        });
    }

    /// Chooses what of the rows is told.
    fn select(&mut self, to: &Receiver<'_>, snapshot: &Snapshot<'_>) {
        let limits = limits(&to.replica.view, &self.interest);
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
        let Replication { interest, holders, .. } = self;
        let held = snapshot.authority.seen_by(snapshot.state.schema(), to.player);
        holders.clear();
        holders.extend(held.filter(|held| !interest.hides(snapshot.state, to.player, held.key)));
        let first = outbox.len();
        let Some(bytes) = self.write_parts(to, snapshot, with_events, outbox) else {
            outbox.truncate(first);
            to.replica.shown.take_back(PARTS_MAX);
            return None;
        };
        let last_part = to.head.part;
        outbox.edit_from(first, |datagram| SnapshotHead::set_last_part(datagram, last_part));
        let mut shown = 0;
        if snapshot.form == Form::Lanes {
            to.replica.allowance.spend(usize::try_from(bytes).unwrap_or(usize::MAX));
            shown = self.write_shown(to, snapshot, outbox);
        }
        self.note_sent(to, snapshot);
        Some(bytes + shown)
    }

    /// Writes part after part, until all is told; `None` where that are too many.
    fn write_parts(
        &mut self,
        to: &mut Receiver<'_>,
        snapshot: &Snapshot<'_>,
        with_events: bool,
        outbox: &mut Outbox,
    ) -> Option<u64> {
        let Replication { codec, delta, holders, changes, interest, encoded, paces, .. } = self;
        let Receiver { player, head, replica, address, known, relayed } = to;
        let Replica { events, shown, view, allowance, .. } = &mut **replica;
        let shown_rows = shown_in(*player, snapshot, changes, paces, limits(view, interest));
        let DeltaSet { baseline, check, told, gone } = delta;
        let baseline = baseline.map(|base| Baseline { back: snapshot.tick.since(base), check: *check });
        let ToldEvents { complete_ticks, events } = events.told(snapshot.tick);
        let are_left_out = !with_events && events.len() > 0;
        head.baseline = baseline;
        head.news_ticks = if are_left_out { Some(0) } else { complete_ticks };
        let mut lists = SnapshotLists {
            gone: baseline.map(|_| gone.iter().peekable()),
            rows: told.iter().peekable(),
            events: if are_left_out { Default::default() } else { events }.peekable(),
            holders: holders.iter().peekable(),
        };
        let rows = RowWriter { codec, snapshot, known: *known };
        let mut bytes = 0;
        for part in 0..PARTS_MAX {
            head.part = part;
            head.number = shown.next_number();
            let size = outbox.push(*address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                Message::Snapshot.write(&mut writer);
                head.stream(&mut writer).expect("writing never fails");
                let relayed = relayed.filter(|_| part == 0);
                writer.put(u64::from(relayed.is_some()), 1);
                relayed.into_iter().for_each(|relayed| relayed.append_to(&mut writer));
                lists.write(&mut writer, &rows);
                if head.is_whole {
                    return;
                }
                let is_last = lists.are_written();
                let bits_max = if is_last { allowance.bits_max(writer.bit_len()) } else { 0 };
                let room = Room { bits_max, may_exceed: is_last && allowance.trickles(snapshot.now) };
                let mut rows = ShownWriter { codec, encoded, writer, room };
                shown.write(&shown_rows, head.number, &mut rows);
            });
            bytes += size as u64;
            if !head.is_whole {
                shown.note_sent(head.number, size, snapshot.now);
            }
            if lists.are_written() {
                return Some(bytes);
            }
        }
        None
    }

    /// Remembers what a client was sent.
    fn note_sent(&self, to: &mut Receiver<'_>, snapshot: &Snapshot<'_>) {
        if matches!(snapshot.form, Form::Changes | Form::Lanes) {
            to.replica.note_view(&self.interest, snapshot);
        }
        if snapshot.form != Form::Image {
            to.replica.sent.note(snapshot.tick, baselines_max(snapshot.rate));
        }
    }
}

/// Who looks at a state.
fn viewer<'a>(player: PlayerId, snapshot: &'a Snapshot<'_>, view: &'a EntitiesInView) -> Viewer<'a> {
    let Snapshot { tick, state, authority, sight, .. } = *snapshot;
    Viewer { player, tick, state, authority, terms: sight, view }
}

/// What of a state a client sees, where that is not everything.
fn limits<'a>(view: &'a Option<EntitiesInView>, interest: &'a InterestQuery) -> Option<Limits<'a>> {
    view.as_ref().map(|view| Limits { view, interest })
}

/// What of a state is shown to a client.
fn shown_in<'a>(
    player: PlayerId,
    snapshot: &'a Snapshot<'_>,
    changes: &'a RecentChanges,
    paces: &'a Paces,
    limits: Option<Limits<'a>>,
) -> Shown<'a> {
    let Snapshot { tick, state, .. } = *snapshot;
    Shown { player, tick, state, changes, paces, limits }
}
