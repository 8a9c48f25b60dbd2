//! Snapshots: the whole state that a player may see, as exact bits, in one to eight datagrams.
//!
//! Every snapshot is complete, so that a join, a resync and a correction need nothing but the newest one.

use super::peer::Peer;
use super::relay::Others;
use super::{Server, ServerEvent, Stepping};
use crate::rollback::{Entity, World};
use crate::session::Outbox;
use crate::session::packet::{DATAGRAM_MAX, Message, PARTS_MAX, SnapshotHead};
use crate::session::rowcode::Ages;
use crate::time::{Instant, Tick, TickTime};
use crate::wire::BitWriter;

/// How many snapshots are sent after a hello before an input has come: a second of them at 64 Hz. Hellos come every 50
/// ms, so that a client that is there gets as many as it takes.
const UNHEARD_MAX: u32 = 64;

impl<W: World> Server<W> {
    /// Sends the published state as state `tick` to one player.
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
        let Peer { address, player, mut relay_from, .. } = self.peers[index];
        let acknowledged = self.peers[index].acknowledged.unwrap_or(Tick::ZERO);
        let (touched, contacts) = (&self.touched, &self.contacts);
        let last_contact = |entity: Entity| {
            let found = contacts.binary_search_by_key(&entity, |(to, _)| *to).ok()?;
            Some(contacts[found].1).filter(|at| *at >= acknowledged)
        };
        let ages = |entity: Entity| Ages {
            event: touched.iter().find(|(to, _)| *to == entity).map(|(_, at)| tick.since(*at)),
            contact: last_contact(entity).map(|at| tick.since(at)),
        };
        let first = outbox.len();
        let mut rows = self.published.seen_by(&self.rules.schema, player);
        let relayed = self.config.relay_inputs && self.rules.stepping == Stepping::Clock;
        let mut pending = rows.next();
        for part in 0..PARTS_MAX {
            self.head.part = part;
            let (head, code) = (&mut self.head, &self.code);
            let mut others = Others {
                peers: &self.peers,
                receiver: index,
                published: (&self.published, &self.rules.schema),
                interval: self.config.snapshot_interval.max(1),
                widths: &self.input_widths,
                line: &mut self.line,
            };
            let len = outbox.push(address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                Message::Snapshot.write(&mut writer);
                head.stream(&mut writer).expect("writing never fails");
                let relays = relayed && part == 0;
                writer.put(u64::from(relays), 1);
                if relays {
                    relay_from = others.write(&mut writer, tick);
                }
                while let Some((entity, words)) = pending {
                    let before = writer.bit_len();
                    writer.put(1, 1);
                    code.write(&mut writer, entity, ages(entity), words);
                    if writer.bit_len() >= DATAGRAM_MAX * 8 {
                        writer.truncate(before);
                        break;
                    }
                    pending = rows.next();
                }
                writer.put(0, 1);
            });
            let peer = &mut self.peers[index];
            peer.relay_from = relay_from;
            peer.stats.bytes += len as u64;
            if pending.is_none() {
                outbox.edit_from(first, |datagram| SnapshotHead::set_last_part(datagram, part));
                peer.stats.snapshots += 1;
                return;
            }
        }
        outbox.truncate(first);
        self.frame.events.push(ServerEvent::SnapshotTooLarge(player));
    }

    fn write_head(&mut self, now: Instant, index: usize, tick: Tick) {
        let peer = &mut self.peers[index];
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
        head.arrived = peer.tell_arrivals(&mut head.arrivals).low16();
        head.newest_input = peer.buffer.newest().map(Tick::low16);
        peer.buffer.ranges(tick, &mut head.substituted);
    }
}
