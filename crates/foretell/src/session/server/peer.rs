//! What the server knows of one client. Lives from admission to leaving.

use super::buffer::InputBuffer;
use super::frame::PeerStats;
use crate::rollback::PlayerId;
use crate::session::PeerId;
use crate::time::{Instant, Tick, TickTime};

/// How many margins the smallest one is taken of: a second at 64 Hz.
const MARGINS_KEPT: usize = 64;

pub(crate) struct Peer<I> {
    pub address: PeerId,
    pub player: PlayerId,
    /// Of the hello that it was admitted with.
    pub nonce: Option<u64>,
    /// The hello to be answered, by its `sent`.
    pub hello: Option<u64>,
    pub buffer: InputBuffer<I>,
    /// The newest of its datagrams, and when it came.
    pub heard: Option<(u16, Instant)>,
    /// The newest complete snapshot that it has named.
    pub acknowledged: Option<Tick>,
    /// Where the session's clock stood at admission.
    pub admitted: TickTime,
    /// Where arriving inputs step the world: the tick after the newest input that was received.
    pub planned: Tick,
    /// Where arriving inputs step the world: how many steps were executed for this player.
    pub steps: u32,
    pub stats: PeerStats,
    margins: Vec<(TickTime, Tick)>,
    margin_at: usize,
}

impl<I: Copy + Default> Peer<I> {
    pub(crate) fn new(
        address: PeerId,
        player: PlayerId,
        nonce: Option<u64>,
        start: Tick,
        admitted: TickTime,
    ) -> Peer<I> {
        Peer {
            address,
            player,
            nonce,
            hello: None,
            buffer: InputBuffer::new(start),
            heard: None,
            acknowledged: None,
            admitted,
            planned: start,
            steps: 0,
            stats: PeerStats::default(),
            margins: Vec::with_capacity(MARGINS_KEPT),
            margin_at: 0,
        }
    }

    /// Remembers how long before its deadline the first copy of an input came; negative for late or never.
    pub(crate) fn note_margin(&mut self, margin: TickTime, tick: Tick) {
        if self.margins.len() < MARGINS_KEPT {
            self.margins.push((margin, tick));
        } else {
            self.margins[self.margin_at] = (margin, tick);
            self.margin_at = (self.margin_at + 1) % MARGINS_KEPT;
        }
    }

    /// The smallest margin of the last inputs, and of which tick; of equal ones the newest. Large ones are believed only
    /// when there are enough to know the worst, as a client that trusts the first few would come too late.
    pub(crate) fn smallest_margin(&self) -> Option<(TickTime, Tick)> {
        let smallest = self.margins.iter().copied().min_by_key(|(margin, tick)| (*margin, core::cmp::Reverse(*tick)));
        let enough = self.margins.len() == MARGINS_KEPT;
        smallest.filter(|(margin, _)| enough || *margin < TickTime::from_millionths(1_000_000))
    }
}
