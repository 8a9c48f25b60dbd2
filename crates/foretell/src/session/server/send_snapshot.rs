//! Snapshots: the whole state that a player may see, as exact bits, in one to eight datagrams.
//!
//! Every snapshot makes the whole state, by itself or with one that the client has said to have, so that a join, a resync
//! and a correction need nothing but the newest one.

use super::delta::{DeltaSet, Of};
use super::exact_session::Form;
use super::interest::View;
use super::peer::Peer;
use super::relay_inputs::{Others, RELAYED_BITS_MAX};
use super::{Server, ServerEvent};
use crate::session::Outbox;
use crate::session::authority::write_holder;
use crate::session::baseline::{Baseline, baselines_max};
use crate::session::packet::{DATAGRAM_MAX, Message, NAMED_TICKS_BACK, PARTS_MAX, SnapshotHead};
use crate::session::row_codec::Ages;
use crate::time::{Instant, Tick, TickTime};
use crate::wire::BitWriter;
use crate::world::{Entity, World};
use core::iter::Peekable;

/// How many snapshots are sent after a hello before an input has come: a second of them at 64 Hz. Hellos come every 50
/// ms, so that a client that is there gets as many as it takes.
const UNHEARD_MAX: u32 = 64;

impl<W: World> Server<W> {
    /// Sends the published state as state `tick` to one player; in an exact session its digest, where that is enough, and the
    /// last canonical one, where it is owed.
    pub(super) fn send_state(&mut self, now: Instant, index: usize, tick: Tick, outbox: &mut Outbox) {
        if !self.rules.exact {
            return self.send_snapshot(now, index, tick, outbox);
        }
        if let Some(image) = self.image_for(index, tick) {
            self.swap_image();
            self.head.proof = None;
            self.send_snapshot(now, index, image, outbox);
            self.swap_image();
            self.exact.note_told(!self.peers[index].is_crowded);
        }
        if let Some(form) = self.form_for(index, tick) {
            self.head.proof = (form == Form::Proof).then_some(self.exact.digest);
            self.send_snapshot(now, index, tick, outbox);
        }
    }

    /// Whether a state that is sent is not the present one: nothing else is told against it, nor it against anything.
    fn is_image(&self, tick: Tick) -> bool {
        self.rules.exact && tick != self.next
    }

    fn swap_image(&mut self) {
        core::mem::swap(&mut self.published, &mut self.exact.image);
    }

    /// Sends the published state as state `tick` to one player, with the news if they fit too.
    pub(super) fn send_snapshot(&mut self, now: Instant, index: usize, tick: Tick, outbox: &mut Outbox) {
        let peer = &mut self.peers[index];
        if peer.lost.is_some() {
            return;
        }
        if peer.heard.is_none() {
            // Whoever has not sent an input may not be there at all.
            peer.unheard += 1;
            if peer.unheard > UNHEARD_MAX {
                return;
            }
        }
        self.write_head(now, index, tick);
        let told = if self.rules.exact {
            self.select_exactly(index, tick);
            self.write_snapshot(index, (tick, true), outbox) || self.write_snapshot(index, (tick, false), outbox)
        } else {
            let is_limited = self.config.nearest.is_some() || self.peers[index].is_crowded;
            self.look(index, is_limited);
            self.send_what_fits(index, tick, outbox)
        };
        let peer = &mut self.peers[index];
        let is_crowded = !told || !self.rules.exact && self.interest.has_shed();
        if is_crowded && !peer.is_crowded {
            self.frame.events.push(ServerEvent::SnapshotTooLarge(peer.player));
        }
        peer.is_crowded = is_crowded;
    }

    /// Chooses what of the published rows is told in an exact session: nothing beside their digest; all of an image; else what
    /// the client has not.
    fn select_exactly(&mut self, index: usize, tick: Tick) {
        if self.head.proof.is_some() {
            self.delta_set.choose_all_of(core::iter::empty());
        } else if self.is_image(tick) {
            let seen = self.published.places_seen_by(&self.rules.schema, self.peers[index].player);
            self.delta_set.choose_all_of(seen);
        } else {
            self.select(index);
        }
    }

    /// Finds out what a client sees of the state, if that is limited, or was.
    fn look(&mut self, index: usize, is_limited: bool) {
        let Server { peers, published, rules, config, spatial, interest, authority, row_versions, .. } = self;
        let Peer { view, player, .. } = &mut peers[index];
        interest.clear();
        if is_limited {
            view.get_or_insert_with(|| View::of_all(row_versions, &rules.schema, *player));
        }
        if let Some(view) = view {
            spatial.update(published, &rules.schema, self.next);
            interest.look(view, spatial, (*player, authority), config.nearest.map_or(usize::MAX, usize::from));
        }
    }

    /// Writes all that a client sees; where that does not fit, without the farthest, and at last without news.
    fn send_what_fits(&mut self, index: usize, tick: Tick, outbox: &mut Outbox) -> bool {
        let parts = if self.peers[index].is_crowded { PARTS_MAX - 1 } else { PARTS_MAX };
        for parts in (0..=parts).rev() {
            if parts < PARTS_MAX {
                self.shed(index, u64::from(parts) * 8 * DATAGRAM_MAX as u64);
            }
            self.select(index);
            if self.write_snapshot(index, (tick, true), outbox) {
                return true;
            }
        }
        self.write_snapshot(index, (tick, false), outbox)
    }

    /// Leaves the farthest out of view, so that what is told of the others takes so many bits.
    fn shed(&mut self, index: usize, most: u64) {
        if self.peers[index].view.is_none() {
            self.look(index, true);
        }
        let base = self.peers[index].sent.baseline();
        let (code, versions, player) = (&self.code, self.row_versions.versions(), self.peers[index].player);
        self.interest.shed((&self.spatial, player), most, |key, row, since| {
            let is_known = since.is_some_and(|since| Some(since.max(versions[row].changed)) <= base);
            if is_known { 0 } else { code.bits_max(key.component) }
        });
    }

    /// Chooses what of the published rows is told.
    fn select(&mut self, index: usize) {
        let Server { peers, delta_set, published: rows, rules, row_versions, interest, .. } = self;
        let Peer { player, view, sent, .. } = &peers[index];
        let interest = view.as_ref().map(|view| (view, &*interest));
        let of = Of { rows, schema: &rules.schema, player: *player, row_versions, interest };
        delta_set.choose(sent.baseline(), of);
    }

    /// Says whether it was not too large.
    fn write_snapshot(&mut self, index: usize, (tick, with_news): (Tick, bool), outbox: &mut Outbox) -> bool {
        let Server { peers, head, code, published, rules, config, line, input_widths, authority, delta_set, .. } = self;
        let (interest, spatial) = (&self.interest, &self.spatial);
        let of_others = config.relay_inputs;
        let relays = of_others || rules.exact;
        let known = peers[index].acknowledged.unwrap_or(Tick::ZERO);
        let ages = |entity: Entity| Ages::of(entity, tick, (&self.touched, &self.contacts), known);
        let Peer { address, player, mut relay_from, .. } = peers[index];
        let (first, mut bytes, mut is_whole) = (outbox.len(), 0, false);
        let DeltaSet { baseline, check, told, gone } = &*delta_set;
        let named = baseline.map(|base| Baseline { back: tick.since(base), check: *check });
        head.baseline = named;
        let mut rows = told.iter().map(|at| published.nth(*at)).peekable();
        let mut gone = gone.iter().peekable();
        let (news_ticks, news) = peers[index].news.told(tick);
        let mut news = news.peekable();
        let holders = authority.seen_by(&rules.schema, player);
        let mut holders = holders.filter(|held| !interest.hides(spatial, held.key)).peekable();
        head.news_ticks = news_ticks;
        if !with_news && news.peek().is_some() {
            head.news_ticks = Some(0);
            news.by_ref().for_each(drop);
        }
        let (published, interval) = ((&*published, &rules.schema), config.snapshot_interval.max(1));
        let (is_exact, is_image) = (rules.exact, rules.exact && tick != self.next);
        let (receiver, widths) = (index, &**input_widths);
        let bits_max = RELAYED_BITS_MAX[usize::from(head.proof.is_some())];
        let mut others = Others { peers, receiver, published, bits_max, interval, of_others, is_exact, widths, line };
        for part in 0..PARTS_MAX {
            head.part = part;
            bytes += outbox.push(address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                Message::Snapshot.write(&mut writer);
                head.stream(&mut writer).expect("writing never fails");
                writer.put(u64::from(relays && part == 0), 1);
                if relays && part == 0 {
                    relay_from = others.write(&mut writer, tick);
                }
                // The bits that end the lists have to fit too.
                if named.is_some() {
                    write_list(&mut writer, &mut gone, 4, |writer, key| code.write_key(writer, **key));
                }
                write_list(&mut writer, &mut rows, 3, |writer, row| {
                    code.write(writer, *row, ages(row.entity));
                });
                write_list(&mut writer, &mut news, 2, |writer, news| news.write(writer, tick));
                write_list(&mut writer, &mut holders, 1, write_holder);
            }) as u64;
            is_whole = gone.peek().is_none() && rows.peek().is_none() && news.peek().is_none();
            is_whole &= holders.peek().is_none();
            if is_whole {
                break;
            }
        }
        drop((news, holders));
        if !is_whole {
            outbox.truncate(first);
            return false;
        }
        let last_part = head.part;
        outbox.edit_from(first, |datagram| SnapshotHead::set_last_part(datagram, last_part));
        let peer = &mut peers[index];
        peer.relay_from = relay_from;
        if !is_exact {
            peer.note_seen((interest, spatial), self.next, config.nearest);
        }
        if !is_image {
            peer.sent.note(tick, baselines_max(rules.tick_rate));
        }
        peer.stats.snapshots += 1;
        peer.stats.bytes += bytes;
        true
    }

    fn write_head(&mut self, now: Instant, index: usize, tick: Tick) {
        let peer = &mut self.peers[index];
        let head = &mut self.head;
        head.ticket = peer.ticket;
        head.tick = tick.low16();
        head.repeat = peer.note_sending(tick);
        head.heard = peer.heard.map(|(sequence, came)| {
            let ago = now.since(came).as_micros() / 64;
            (sequence, u16::try_from(ago).unwrap_or(u16::MAX))
        });
        let began = TickTime::start_of(tick.back(1).unwrap_or(Tick::ZERO));
        let passed = (self.clock.at() - began).millionths().max(0);
        head.fraction = u8::try_from(passed * 256 / 1_000_000).unwrap_or(u8::MAX);
        head.arrived = peer.tell_arrivals(&mut head.arrivals).low16();
        head.newest_input = peer.buffer.newest().map(Tick::low16);
        peer.buffer.ranges(tick, &mut head.substituted);
        peer.requests.told(peer.acknowledged, &mut head.answers);
        let known = peer.acknowledged;
        head.canonical.clear();
        let untold = self.exact.canonical.iter().filter(|canonical| Some(**canonical) > known);
        head.canonical.extend(untold.map(|canonical| canonical.low16()));
        let unforeseen = self.exact.unforeseen.filter(|at| Some(*at) > known && *at <= tick);
        head.unforeseen = unforeseen.map(|at| tick.since(at)).filter(|back| *back <= NAMED_TICKS_BACK);
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
