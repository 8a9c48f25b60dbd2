//! Snapshots out: what a client predicts of a state as exact bits, in one to eight datagrams, and row by row what it shows.
//!
//! What is exact makes all of that of one state, by itself or with a snapshot that the client has said to have, so that a join, a
//! resync and a correction need nothing but the newest one.

use super::chosen_records::ChosenRecords;
use super::entity_grid::EntityGrid;
use super::exact_choice::{ExactChoice, ExactTerms};
use super::exact_lane::{ExactLane, ExactScope};
use super::interest_query::{InterestQuery, Viewer};
use super::interest_set::InterestSet;
use super::priority::Prioritizer;
use super::recent_changes::RecentChanges;
use super::replica::Replica;
use super::row_encoding_cache::RowEncodingCache;
use super::shown_context::{Limits, ShownContext};
use super::shown_datagram::{Room, ShownDatagram};
use super::snapshot_packer::{RowWriter, SnapshotPacker};
use super::snapshot_source::{Form, SnapshotSource};
use super::step_event_log::ToldEvents;
use crate::session::authority_codec::{HeldEntity, ToldHolder};
use crate::session::baseline_ref::{BaselineRef, baselines_max};
use crate::session::datagram::{DATAGRAM_MAX, DatagramKind, PARTS_MAX, ShownHeader};
use crate::session::exact_row_codec::ExactRowCodec;
use crate::session::row_send_rates::RowSendRates;
use crate::session::snapshot_header::SnapshotHeader;
use crate::session::{Outbox, PeerId};
use crate::time::{Tick, TickRate};
use crate::wire::{BitWriter, EncodedBits};
use crate::world::{PlayerId, Schema};
use alloc::vec::Vec;

/// How long all that is told exactly of others may be: where the client's own rows are few, all of it has room in the parts of a
/// snapshot, beside headers, news and what is left over at the ends of datagrams.
const EXACT_BITS_MAX: u64 = (PARTS_MAX as u64 - 2) * DATAGRAM_MAX as u64 * 8;

/// Who gets it.
pub(crate) struct Receiver<'a> {
    pub player: PlayerId,
    pub address: PeerId,
    /// The newest state that it has.
    pub known: Tick,
    pub replica: &'a mut Replica,
    /// What the header says of this client, and of the state.
    pub header: &'a mut SnapshotHeader,
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
    codec: ExactRowCodec,
    /// What the snapshot that is being written tells.
    delta: ExactLane,
    holders: Vec<ToldHolder>,
    /// Where the entities of the state are, and which of them are in view of the client that it is written for.
    grid: EntityGrid,
    interest: InterestQuery,
    /// What of them that client is told exactly.
    exact: ExactChoice,
    changes: RecentChanges,
    encoded: RowEncodingCache,
    /// Rows that are told next.
    chosen: ChosenRecords,
    row_send_rates: RowSendRates,
    prioritizer: Prioritizer,
}

impl Replication {
    pub(crate) fn new(schema: &Schema, rate: TickRate) -> Replication {
        Replication {
            codec: ExactRowCodec::new(schema),
            delta: ExactLane::default(),
            holders: Vec::new(),
            grid: EntityGrid::default(),
            interest: InterestQuery::default(),
            exact: ExactChoice::default(),
            changes: RecentChanges::new(),
            encoded: RowEncodingCache::new(schema, rate),
            chosen: ChosenRecords::default(),
            row_send_rates: RowSendRates::new(schema, rate),
            prioritizer: Prioritizer::default(),
        }
    }

    /// Sends a state to one client, with the news if they fit too.
    pub(crate) fn send(
        &mut self,
        to: &mut Receiver<'_>,
        snapshot: &SnapshotSource<'_>,
        outbox: &mut Outbox,
    ) -> SendReport {
        let SnapshotSource { form, rows, state, .. } = *snapshot;
        (to.header.proof, to.header.is_crowded) = (None, false);
        self.note_holders(to, snapshot);
        match form {
            Form::Changes => self.choose(to, snapshot),
            Form::AllChanges => self.delta.choose_changes(to.replica.sent.baseline(), to.player, state),
            Form::Image => self.delta.choose_all(rows, state.schema(), to.player),
            Form::Digest(digest) => {
                to.header.proof = Some(digest);
                self.delta.choose_none();
            }
        }
        self.holders.clear();
        self.holders.extend(to.replica.holders.since(self.delta.baseline));
        let bytes = self.write(to, snapshot, true, outbox).or_else(|| self.write(to, snapshot, false, outbox));
        // A digest says nothing of whether the state has room.
        let is_newly_crowded = !matches!(form, Form::Digest(_))
            && to.replica.note_told(snapshot.tick, bytes.is_some(), to.header.is_crowded);
        SendReport { bytes, is_newly_crowded }
    }

    /// Chooses what is told exactly, and finds out what of the others the client is to be told.
    fn choose(&mut self, to: &mut Receiver<'_>, snapshot: &SnapshotSource<'_>) {
        let Replica { sent, exact, .. } = &mut *to.replica;
        let (player, state) = (to.player, snapshot.state);
        // Without a baseline all has to be told that is chosen: that is to be known before.
        let is_remembered = |base: &Tick| state.versions().removed_since(*base).is_some();
        let base = sent.baseline().filter(is_remembered).filter(|base| exact.remembers(*base));
        self.choose_exact(to, snapshot, base);
        to.replica.allowance.spend_on_others(self.exact.bits_to_tell());
        to.header.is_crowded = self.exact.is_cut();
        to.replica.exact.note(snapshot.tick, base, self.exact.rows(), self.exact.lost());
        let Replica { exact: had, holders, .. } = &*to.replica;
        self.delta.choose(base, ExactScope { player, state, chosen: &self.exact, had, held: holders.len() });
        let Replication { changes, interest, exact, prioritizer, encoded, row_send_rates, .. } = self;
        encoded.begin(snapshot.tick, state.versions().slots());
        let Replica { shown: lane, allowance, view, .. } = &mut *to.replica;
        let shown = shown_in(player, snapshot, changes, row_send_rates, limits(view, interest, exact));
        lane.note(&shown);
        if lane.fits(encoded, |bits| allowance.has_room_for(bits)) {
            lane.sort();
        } else {
            lane.rank(&shown, prioritizer, allowance.count_max(encoded.bits_at_least()));
        }
    }

    /// Chooses what of others is told exactly: as much as may be, and has room beside the own rows.
    fn choose_exact(&mut self, to: &Receiver<'_>, snapshot: &SnapshotSource<'_>, base: Option<Tick>) {
        let Replication { codec, grid, interest, exact, .. } = self;
        let Replica { view, allowance, exact: before, .. } = &*to.replica;
        let state = snapshot.state;
        let within_m = to.replica.exact_within_m().filter(|_| view.is_some());
        let terms = within_m.map(|within_m| {
            let own = state.exact_own_places(to.player).map(|place| state.versions().versions()[place].key.component);
            let own: u64 = own.map(|component| codec.bits_max(component)).sum();
            let bits_max = EXACT_BITS_MAX.saturating_sub(own).min(allowance.bits_of_others());
            ExactTerms { base, state, grid, interest, codec, within_m, bits_max }
        });
        exact.choose(terms, before);
    }

    /// Finds out who holds what of all that the client sees or holds.
    fn note_holders(&self, to: &mut Receiver<'_>, snapshot: &SnapshotSource<'_>) {
        let interest = &self.interest;
        let Replica { sent, holders: known, .. } = &mut *to.replica;
        let held = snapshot.authority.seen_by(snapshot.state.schema(), to.player);
        // A client that is told nothing of what it holds would take it as returned, and never move it to its rest.
        let is_told =
            |held: &HeldEntity| held.holder.player == to.player || !interest.hides(snapshot.state, to.player, held.key);
        known.update(held.filter(is_told), sent.oldest());
    }

    /// Writes as much of what is shown as is left of what may be sent, in datagrams of their own.
    fn write_shown(&mut self, to: &mut Receiver<'_>, snapshot: &SnapshotSource<'_>, outbox: &mut Outbox) -> u64 {
        let Replication { changes, interest, exact, codec, encoded, chosen, row_send_rates, .. } = self;
        let Receiver { player, address, replica, header, .. } = to;
        let shown = shown_in(*player, snapshot, changes, row_send_rates, limits(&replica.view, interest, exact));
        let mut sent = 0;
        while replica.allowance.is_left() && replica.shown.has_news() {
            let number = replica.shown.next_number();
            let mut header = ShownHeader { ticket: header.ticket, number, tick: snapshot.tick.low16() };
            let bytes = outbox.push(*address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                DatagramKind::Shown.write(&mut writer);
                header.stream(&mut writer).expect("writing never fails");
                let bits_max = replica.allowance.bits_max(0);
                // Whatever is left, it takes one row.
                let room = Room::new(bits_max, true);
                let mut rows = ShownDatagram { codec, encoded, chosen, writer, room, is_last: true };
                replica.shown.write(&shown, number, &mut rows);
            });
            replica.allowance.spend(bytes);
            replica.shown.note_sent(number, bytes, snapshot.now);
            sent += bytes as u64;
        }
        sent
    }

    /// Finds out what a client sees of the state that is sent next, if that is limited, or was, or some of it is told exactly.
    pub(crate) fn look(&mut self, player: PlayerId, replica: &mut Replica, snapshot: &SnapshotSource<'_>) {
        let SnapshotSource { tick, state, authority, interest_settings, form, .. } = *snapshot;
        self.interest.clear();
        self.changes.update(tick, state, &self.row_send_rates);
        if form == Form::Changes && (interest_settings.are_limited() || replica.exact_within_m().is_some()) {
            replica.limit_view(state, player);
        }
        let Some(view) = &mut replica.view else { return };
        view.follow(state, player);
        let Replication { grid, interest, changes, .. } = self;
        let changed = changes.places.iter().map(|place| *place as usize);
        grid.update(state, tick, changes.since, changed);
        interest.look(Viewer { player, seat: replica.seat, state, authority, settings: interest_settings, view }, grid);
    }

    /// Whether anything of another player's is seen by the client that was looked for last.
    pub(crate) fn shows_player(&self, snapshot: &SnapshotSource<'_>, player: PlayerId) -> bool {
        self.interest.shows_player(snapshot.state, player)
    }

    /// Writes a snapshot of what was chosen; `None` where it is too large.
    fn write(
        &mut self,
        to: &mut Receiver<'_>,
        snapshot: &SnapshotSource<'_>,
        with_events: bool,
        outbox: &mut Outbox,
    ) -> Option<u64> {
        let first = outbox.len();
        let Some(bytes) = self.write_parts(to, snapshot, with_events, outbox) else {
            outbox.truncate(first);
            to.replica.shown.take_back(PARTS_MAX);
            return None;
        };
        let last_part = to.header.part;
        outbox.edit_from(first, |datagram| SnapshotHeader::set_last_part(datagram, last_part));
        let mut shown = 0;
        if snapshot.form == Form::Changes {
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
        snapshot: &SnapshotSource<'_>,
        with_events: bool,
        outbox: &mut Outbox,
    ) -> Option<u64> {
        let Replication { codec, delta, holders, changes, interest, exact, encoded, chosen, row_send_rates, .. } = self;
        let Receiver { player, header, replica, address, known, relayed } = to;
        let Replica { events, shown, view, allowance, holders: known_holders, .. } = &mut **replica;
        let are_shown = snapshot.form == Form::Changes;
        let shown_rows = shown_in(*player, snapshot, changes, row_send_rates, limits(view, interest, exact));
        let ExactLane { baseline, check, told, gone } = delta;
        let check = check.wrapping_add(known_holders.check());
        let baseline = baseline.map(|base| BaselineRef { back: snapshot.tick.since(base), check });
        let ToldEvents { complete_ticks, events } = events.told(snapshot.tick);
        let are_left_out = !with_events && events.len() > 0;
        header.baseline = baseline;
        header.news_ticks = if are_left_out { Some(0) } else { complete_ticks };
        let mut packer = SnapshotPacker {
            gone: baseline.map(|_| gone.iter().peekable()),
            rows: told.iter().peekable(),
            events: if are_left_out { Default::default() } else { events }.peekable(),
            holders: holders.iter().peekable(),
        };
        let rows = RowWriter { codec, snapshot, known: *known };
        let mut bytes = 0;
        for part in 0..PARTS_MAX {
            header.part = part;
            header.number = shown.next_number();
            let size = outbox.push(*address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                DatagramKind::Snapshot.write(&mut writer);
                header.stream(&mut writer).expect("writing never fails");
                let relayed = relayed.filter(|_| part == 0);
                writer.put(u64::from(relayed.is_some()), 1);
                relayed.into_iter().for_each(|relayed| relayed.append_to(&mut writer));
                packer.write(&mut writer, &rows);
                if !are_shown {
                    return writer.put(0, 3);
                }
                let is_last = packer.are_written();
                let bits_max = if is_last { allowance.bits_max(writer.bit_len()) } else { 0 };
                let room = Room::new(bits_max, is_last && allowance.trickles(snapshot.now));
                let mut rows = ShownDatagram { codec, encoded, chosen, writer, room, is_last };
                shown.write(&shown_rows, header.number, &mut rows);
            });
            bytes += size as u64;
            if are_shown {
                shown.note_sent(header.number, size, snapshot.now);
            }
            if packer.are_written() {
                return Some(bytes);
            }
        }
        None
    }

    /// Remembers what a client was sent.
    fn note_sent(&self, to: &mut Receiver<'_>, snapshot: &SnapshotSource<'_>) {
        if snapshot.form == Form::Changes {
            to.replica.note_view(&self.interest, snapshot);
        }
        to.replica.holders.note_sent(snapshot.tick);
        if snapshot.form != Form::Image {
            to.replica.sent.note(snapshot.tick, baselines_max(snapshot.rate));
        }
    }
}

/// What of a state a client sees, where that is not everything, or some of it is told exactly.
fn limits<'a>(
    view: &'a Option<InterestSet>,
    interest: &'a InterestQuery,
    exact: &'a ExactChoice,
) -> Option<Limits<'a>> {
    view.as_ref().map(|view| Limits { view, interest, exact })
}

/// What of a state is shown to a client.
fn shown_in<'a>(
    player: PlayerId,
    snapshot: &'a SnapshotSource<'_>,
    changes: &'a RecentChanges,
    row_send_rates: &'a RowSendRates,
    limits: Option<Limits<'a>>,
) -> ShownContext<'a> {
    let SnapshotSource { tick, state, .. } = *snapshot;
    ShownContext { player, tick, state, changes, row_send_rates, limits }
}
