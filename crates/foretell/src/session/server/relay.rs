//! The inputs of other players in a snapshot: what a client needs to predict them.
//!
//! The state of tick n holds all inputs before tick n, so it is those that wait for tick n and later that make a correct
//! replay. The last applied ones are told besides: by them a client knows whether its guesses were right, also when a
//! snapshot or two were lost. Whatever it misses after that comes with the states.

use super::peer::Peer;
use crate::rollback::{Input, Rows, Schema};
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
    pub(super) widths: &'a [u8],
    pub(super) line: &'a mut RelayLine<I>,
}

impl<I: Input> Others<'_, I> {
    /// Writes the inputs around the state `tick` of every other player of whom the receiver may see an entity.
    pub(super) fn write(&mut self, writer: &mut BitWriter<'_>, tick: Tick) {
        let start = writer.bit_len();
        let acknowledged = self.peers[self.receiver].acknowledged.unwrap_or(Tick::ZERO);
        let since = acknowledged.max(tick.back(SNAPSHOTS_COVERED * self.interval).unwrap_or(Tick::ZERO));
        // Begins with another one each time, so that everybody's turn comes where not all fit.
        let nth = (tick.get() / self.interval) as usize % self.peers.len();
        for index in (nth..self.peers.len()).chain(0..nth) {
            let (published, schema) = self.published;
            if index == self.receiver || !published.shows_others(schema, self.peers[index].player) {
                continue;
            }
            self.gather(index, tick, since);
            let before = writer.bit_len();
            writer.put(1, 1);
            self.line.stream(writer, self.widths).expect("a gathered line is in range");
            if writer.bit_len() - start > RELAYED_BITS_MAX {
                writer.truncate(before);
                break;
            }
        }
        writer.put(0, 1);
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
        let ahead = buffer.newest().map_or(0, |newest| newest.next().since(tick)).min(RELAYED_TICKS_MAX);
        line.told.extend(tick.until(tick + ahead).map(|tick| buffer.told(tick)));
    }
}
