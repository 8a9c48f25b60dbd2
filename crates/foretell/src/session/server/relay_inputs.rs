//! The inputs of other players in a snapshot: what a client needs to predict them.
//!
//! The state of tick n holds all inputs before tick n, so it is those that wait for tick n and later that make a correct
//! replay. The last applied ones are told besides: by them a client knows whether its guesses were right, also when a
//! snapshot or two were lost. Whatever it misses after that comes with the states.

use super::peer::Peer;
use crate::rollback::RelayedInput;
use crate::session::packet::DATAGRAM_MAX;
use crate::session::relay::{RELAYED_TICKS_MAX, RelayLine};
use crate::time::Tick;
use crate::wire::BitWriter;
use crate::world::{Input, InputStatus, PlayerId, Rows, Schema};

/// Relayed inputs take at most half of a datagram beside rows, and almost all of it beside a digest. Where they don't fit,
/// other players are told of in the next snapshot.
pub(super) const RELAYED_BITS_MAX: [usize; 2] = [DATAGRAM_MAX * 8 / 2, (DATAGRAM_MAX - 150) * 8];
/// The inputs of so many snapshots are told, as far as they are not acknowledged: with one of twenty lost, 1 in 8000 is
/// never told.
const SNAPSHOTS_COVERED: u32 = 3;

/// What the inputs of others for one receiver are written from.
pub(super) struct Others<'a, I> {
    /// Ascending by player.
    pub(super) peers: &'a [Peer<I>],
    /// Which of them gets the snapshot.
    pub(super) receiver: usize,
    pub(super) published: (&'a Rows, &'a Schema),
    /// How much of the datagram they may take.
    pub(super) bits_max: usize,
    /// Ticks between snapshots.
    pub(super) interval: u32,
    /// Whether the inputs of others are told.
    pub(super) of_others: bool,
    /// Whether all of them are told until they are acknowledged, and what the receiver's own were replaced by: nothing comes
    /// with the states.
    pub(super) is_exact: bool,
    pub(super) widths: &'a [u8],
    pub(super) line: &'a mut RelayLine<I>,
}

impl<I: Input> Others<'_, I> {
    /// Writes the inputs around the state `tick` of every other player of whom the receiver may see an entity. Returns
    /// with whom to begin the next time: the first who did not fit, so that everybody's turn comes.
    pub(super) fn write(&mut self, writer: &mut BitWriter<'_>, tick: Tick) -> PlayerId {
        let start = writer.bit_len();
        let acknowledged = self.peers[self.receiver].acknowledged.unwrap_or(Tick::ZERO);
        let covered = if self.is_exact { RELAYED_TICKS_MAX } else { SNAPSHOTS_COVERED * self.interval };
        let since = acknowledged.max(tick.back(covered).unwrap_or(Tick::ZERO));
        let mut begin = self.peers[self.receiver].relay_from;
        let first = self.peers.partition_point(|peer| peer.player < begin);
        for index in (first..self.peers.len()).chain(0..first) {
            let (published, schema) = self.published;
            if !self.is_to_be_told(index, since, tick) || !published.shows_others(schema, self.peers[index].player) {
                continue;
            }
            self.gather(index, tick, since);
            let before = writer.bit_len();
            self.put_line(writer);
            // One that is too long by itself is cut; others wait for their turn.
            while writer.bit_len() - start > self.bits_max && before == start && self.shorten() {
                writer.truncate(before);
                self.put_line(writer);
            }
            if writer.bit_len() - start > self.bits_max {
                writer.truncate(before);
                begin = self.peers[index].player;
                break;
            }
        }
        writer.put(0, 1);
        begin
    }

    fn put_line(&mut self, writer: &mut BitWriter<'_>) {
        writer.put(1, 1);
        self.line.stream(writer, self.widths).expect("a gathered line is in range");
    }

    /// Leaves out some of the line: what is far ahead first, then what is oldest. Whether there was any.
    fn shorten(&mut self) -> bool {
        let line = &mut *self.line;
        let (applied, all) = (line.back as usize, line.told.len());
        if all > applied {
            line.told.truncate(applied + (all - applied) / 2);
        } else {
            line.told.drain(..all.div_ceil(4));
            line.back = u32::try_from(line.told.len()).expect("at most 64 ticks");
        }
        all > 0
    }

    fn is_to_be_told(&self, index: usize, since: Tick, tick: Tick) -> bool {
        if index != self.receiver {
            return self.of_others;
        }
        let buffer = &self.peers[index].buffer;
        let is_replaced = |tick| buffer.told(tick).is_some_and(|told| told.status != InputStatus::Received);
        self.is_exact && since.until(tick).any(is_replaced)
    }

    fn gather(&mut self, index: usize, tick: Tick, since: Tick) {
        let Peer { player, buffer, .. } = &self.peers[index];
        let line = &mut *self.line;
        line.player = *player;
        line.told.clear();
        let oldest = since.max(tick.back(RELAYED_TICKS_MAX).unwrap_or(Tick::ZERO));
        let applied = oldest.until(tick).skip_while(|tick| buffer.told(*tick).is_none());
        // Nothing was applied in ticks that were skipped.
        let none = RelayedInput { input: None, status: InputStatus::Repeated };
        line.told.extend(applied.map(|tick| buffer.told(tick).or(Some(none))));
        line.back = u32::try_from(line.told.len()).expect("at most 64 ticks");
        // Its own it knows.
        let newest = buffer.newest().filter(|_| index != self.receiver);
        let ahead = newest.map_or(0, |newest| newest.next().since(tick)).min(RELAYED_TICKS_MAX);
        line.told.extend(tick.until(tick + ahead).map(|tick| buffer.told(tick)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::PeerId;
    use crate::session::plain::{self, PURSE, SHIP};
    use crate::session::server::GapPolicy;
    use crate::wire::BitReader;
    use crate::world::{Column, Entity, Field, Meaning};
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    struct Aim([u32; 4]);

    impl Input for Aim {
        fn columns() -> Vec<Column> {
            vec![Column::of::<[u32; 4]>("aim", Meaning::Plain)]
        }
        fn write(&self, words: &mut [u32]) {
            self.0.put(words);
        }
        fn read(words: &[u32]) -> Aim {
            Aim(<[u32; 4]>::get(words))
        }
    }

    #[test]
    fn relayed_inputs_take_half_of_a_datagram_at_most_and_everybody_gets_their_turn() {
        let schema = plain::schema();
        let mut published = Rows::new(&schema);
        let mut peers: Vec<Peer<Aim>> =
            (1..=100).map(|nth| Peer::new(PeerId(0), PlayerId::new(nth), None, Tick::ZERO)).collect();
        for (nth, peer) in (0_u32..).zip(&mut peers) {
            // The last one has nothing that others may see.
            let component = if nth == 99 { PURSE } else { SHIP };
            plain::set(&mut published, plain::key(component, Entity::new(peer.player, Tick::ZERO, 0)), 0);
            for tick in Tick::ZERO.until(Tick::new(60)) {
                peer.buffer.offer(tick, Aim([tick.get(), nth, 7, 7]), None);
                peer.buffer.take(peer.player, GapPolicy::Hold);
            }
        }
        let mut heard = BTreeSet::new();
        for _ in 0..12 {
            let (mut line, published) = (RelayLine::with_room(), (&published, &schema));
            let mut others = Others {
                peers: &peers,
                receiver: 0,
                published,
                bits_max: RELAYED_BITS_MAX[0],
                interval: 1,
                of_others: true,
                is_exact: false,
                widths: &[32; 4],
                line: &mut line,
            };
            let mut bytes = Vec::new();
            let begin = others.write(&mut BitWriter::new(&mut bytes), Tick::new(60));
            peers[0].relay_from = begin;
            assert!(bytes.len() <= DATAGRAM_MAX / 2 + 1, "{}", bytes.len());
            let mut reader = BitReader::new(&bytes);
            while reader.take(1) == Ok(1) {
                line.stream(&mut reader, &[32; 4]).expect("well-formed");
                heard.insert(line.player.get());
            }
        }
        let everybody_else: BTreeSet<u16> = (2..100).collect();
        assert_eq!(heard, everybody_else);
    }

    /// One who is far ahead, and presses something else in every tick.
    #[test]
    fn a_line_that_is_too_long_by_itself_is_cut_and_the_others_are_told() {
        let schema = plain::schema();
        let mut published = Rows::new(&schema);
        let mut peers: Vec<Peer<Aim>> =
            (1..=3).map(|nth| Peer::new(PeerId(0), PlayerId::new(nth), None, Tick::ZERO)).collect();
        for peer in &mut peers {
            plain::set(&mut published, plain::key(SHIP, Entity::new(peer.player, Tick::ZERO, 0)), 0);
            for tick in Tick::ZERO.until(Tick::new(63)) {
                peer.buffer.offer(tick, Aim([tick.get(), 1, tick.get() * 7, 7]), None);
            }
        }
        let mut heard = BTreeSet::new();
        for _ in 0..4 {
            let (mut line, mut bytes) = (RelayLine::with_room(), Vec::new());
            let mut others = Others {
                peers: &peers,
                receiver: 0,
                published: (&published, &schema),
                bits_max: RELAYED_BITS_MAX[0],
                interval: 1,
                of_others: true,
                is_exact: false,
                widths: &[32; 4],
                line: &mut line,
            };
            peers[0].relay_from = others.write(&mut BitWriter::new(&mut bytes), Tick::ZERO);
            assert!(bytes.len() <= DATAGRAM_MAX / 2 + 1, "{}", bytes.len());
            let mut reader = BitReader::new(&bytes);
            while reader.take(1) == Ok(1) {
                line.stream(&mut reader, &[32; 4]).expect("well-formed");
                assert!(!line.told.is_empty());
                heard.insert(line.player.get());
            }
        }
        assert_eq!(heard, BTreeSet::from([2, 3]));
    }
}
