//! The inputs of other players in a snapshot: what a client needs to predict them.
//!
//! The state of tick n holds all inputs before tick n, so it is those that wait for tick n and later that make a correct
//! replay. The last applied ones are told besides: by them a client knows whether its guesses were right, also when a
//! snapshot or two were lost. Whatever it misses after that comes with the states.

use super::peer::Peer;
use crate::rollback::{Input, InputStatus, PlayerId, Rows, Schema};
use crate::session::packet::DATAGRAM_MAX;
use crate::session::relay::{RELAYED_TICKS_MAX, RelayLine};
use crate::time::Tick;
use crate::wire::BitWriter;

/// Relayed inputs take at most half of a datagram. Where they don't fit, other players are told of in the next snapshot.
const RELAYED_BITS_MAX: usize = DATAGRAM_MAX * 8 / 2;
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
            writer.put(1, 1);
            self.line.stream(writer, self.widths).expect("a gathered line is in range");
            if writer.bit_len() - start > RELAYED_BITS_MAX {
                writer.truncate(before);
                begin = self.peers[index].player;
                break;
            }
        }
        writer.put(0, 1);
        begin
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
        line.told.extend(applied.map(|tick| buffer.told(tick)));
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
    use crate::rollback::{Audience, Column, Entity, Field, Kind, KindSchema, Meaning};
    use crate::session::PeerId;
    use crate::session::server::GapPolicy;
    use crate::time::TickTime;
    use crate::wire::BitReader;
    use std::collections::BTreeSet;

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
        let kinds = [("ship", Audience::All), ("purse", Audience::Owner)];
        let kinds =
            kinds.map(|(name, audience)| KindSchema::new(name, vec![Column::of::<u8>("it", Meaning::Plain)], audience));
        let schema = Schema::new(kinds.to_vec());
        let mut published = Rows::new(&schema);
        let (start, admitted) = ((Tick::ZERO, 64), TickTime::default());
        let mut peers: Vec<Peer<Aim>> =
            (1..=100).map(|nth| Peer::new(PeerId(0), PlayerId::new(nth), None, start, admitted)).collect();
        for (nth, peer) in (0_u32..).zip(&mut peers) {
            // The last one has nothing that others may see.
            published.set_words(Entity::new(Kind(u8::from(nth == 99)), peer.player, Tick::ZERO, 0), &[0]);
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
}
