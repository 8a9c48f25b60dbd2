//! Snapshots: the whole state that a player may see, as exact bits, in one to eight datagrams.
//!
//! Every snapshot is complete, so that a join, a resync and a correction need nothing but the newest one.

use super::peer::Peer;
use super::{Server, ServerEvent, Stepping};
use crate::rollback::{Entity, World};
use crate::session::Outbox;
use crate::session::packet::{DATAGRAM_MAX, Message, PARTS_MAX, SnapshotHead};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::BitWriter;
use core::iter::Peekable;

/// How many snapshots are sent after a hello before an input has come: a second of them at 64 Hz. Hellos come every 50
/// ms, so that a client that is there gets as many as it takes.
const UNHEARD_MAX: u32 = 64;

impl<W: World> Server<W> {
    /// Sends the published state as state `tick` to one player, with the news if they fit too.
    pub(super) fn send_snapshot(&mut self, now: Instant, index: usize, tick: Tick, outbox: &mut Outbox) {
        let peer = &mut self.peers[index];
        if peer.heard.is_none() {
            // Whoever has not sent an input may not be there at all.
            peer.unheard += 1;
            if peer.unheard > UNHEARD_MAX {
                return;
            }
        }
        self.write_head(now, index, tick);
        if !self.write_snapshot(index, (tick, true), outbox) && !self.write_snapshot(index, (tick, false), outbox) {
            self.frame.events.push(ServerEvent::SnapshotTooLarge(self.peers[index].player));
        }
    }

    /// Says whether it was not too large.
    fn write_snapshot(&mut self, index: usize, (tick, with_news): (Tick, bool), outbox: &mut Outbox) -> bool {
        let Server { peers, head, code, touched, published, .. } = self;
        let Peer { address, player, news, stats, .. } = &mut peers[index];
        let age =
            |entity: Entity| touched.iter().find(|(touched, _)| *touched == entity).map(|(_, at)| tick.since(*at));
        let (first, mut bytes) = (outbox.len(), 0);
        let mut rows = published.seen_by(&self.rules.schema, *player).peekable();
        let (news_ticks, news) = news.told(tick);
        let mut news = news.peekable();
        head.news_ticks = news_ticks;
        if !with_news && news.peek().is_some() {
            head.news_ticks = Some(0);
            news.by_ref().for_each(drop);
        }
        for part in 0..PARTS_MAX {
            head.part = part;
            let len = outbox.push(*address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                Message::Snapshot.write(&mut writer);
                head.stream(&mut writer).expect("writing never fails");
                // The two bits that end the lists have to fit too.
                write_list(&mut writer, &mut rows, 2, |writer, (entity, words)| {
                    code.write(writer, *entity, age(*entity), words);
                });
                write_list(&mut writer, &mut news, 1, |writer, news| news.write(writer, code, tick));
            });
            bytes += len as u64;
            if rows.peek().is_none() && news.peek().is_none() {
                outbox.edit_from(first, |datagram| SnapshotHead::set_last_part(datagram, part));
                stats.snapshots += 1;
                stats.bytes += bytes;
                return true;
            }
        }
        outbox.truncate(first);
        false
    }

    fn write_head(&mut self, now: Instant, index: usize, tick: Tick) {
        let peer = &self.peers[index];
        let head = &mut self.head;
        head.epoch = self.epoch;
        head.tick = tick.low16();
        head.heard = peer.heard.map(|(sequence, came)| {
            let ago = now.since(came).as_micros() / 64;
            (sequence, u16::try_from(ago).unwrap_or(u16::MAX))
        });
        head.fraction = match self.rules.stepping {
            Stepping::Arrivals => 0,
            Stepping::Clock => {
                let began = TickTime::start_of(tick.back(1).unwrap_or(Tick::ZERO));
                let passed = (self.clock.at() - began).millionths().max(0);
                u8::try_from(passed * 256 / 1_000_000).unwrap_or(u8::MAX)
            }
        };
        head.margins = peer
            .margins()
            .map(|margins| (margin_bits(margins.smallest), margins.tick.low16(), margin_bits(margins.largest)));
        head.newest_input = peer.buffer.newest().map(Tick::low16);
        peer.buffer.ranges(tick, &mut head.substituted);
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

/// A margin in 1/64 tick, limited to what 16 bits hold.
fn margin_bits(margin: TickTime) -> u16 {
    let units = (margin.millionths() * 64 / 1_000_000).clamp(i64::from(i16::MIN), i64::from(i16::MAX));
    #[expect(clippy::cast_possible_truncation, reason = "clamped to the range")]
    let units = units as i16;
    units.cast_unsigned()
}
