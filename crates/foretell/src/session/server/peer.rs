//! What the server knows of one client. Lives from admission to leaving.

use super::buffer::InputBuffer;
use super::frame::PeerStats;
use crate::rollback::PlayerId;
use crate::session::PeerId;
use crate::time::{Instant, Tick, TickTime};

/// How many margins the extremes are taken of: a second at 64 Hz.
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
    /// The newest input, if it was refused for coming too early.
    too_early: Option<(TickTime, Tick)>,
    /// The newest input that ever was.
    refused_up_to: Option<Tick>,
}

/// What is reported of the margins of the last inputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Margins {
    pub smallest: TickTime,
    /// Of which input that is; of equal ones the newest.
    pub tick: Tick,
    pub largest: TickTime,
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
            too_early: None,
            refused_up_to: None,
        }
    }

    /// Remembers how long before its deadline the first copy of an input came; negative for late.
    pub(crate) fn note_margin(&mut self, margin: TickTime, tick: Tick) {
        self.too_early = None;
        if self.margins.len() < MARGINS_KEPT {
            self.margins.push((margin, tick));
        } else {
            self.margins[self.margin_at] = (margin, tick);
            self.margin_at = (self.margin_at + 1) % MARGINS_KEPT;
        }
    }

    /// The input of `tick` did not come: it counts as a tick late, unless it did and was refused for coming too early.
    pub(crate) fn note_missing(&mut self, tick: Tick) {
        if self.refused_up_to.is_none_or(|refused| refused < tick) {
            self.note_margin(TickTime::from_millionths(-1_000_000), tick);
        }
    }

    /// An input came so early that it was refused. Until one is taken, that is all there is to report.
    pub(crate) fn note_too_early(&mut self, margin: TickTime, tick: Tick) {
        self.too_early = Some((margin, tick));
        self.refused_up_to = self.refused_up_to.max(Some(tick));
    }

    /// What the margins of the last inputs say. Large ones are believed only when there are enough to know the worst, as
    /// a client that trusts the first few would come too late.
    pub(crate) fn margins(&self) -> Option<Margins> {
        if let Some((margin, tick)) = self.too_early {
            return Some(Margins { smallest: margin, tick, largest: margin });
        }
        let (smallest, tick) =
            self.margins.iter().copied().min_by_key(|(margin, tick)| (*margin, core::cmp::Reverse(*tick)))?;
        let largest = self.margins.iter().map(|(margin, _)| *margin).max()?;
        let enough = self.margins.len() == MARGINS_KEPT || smallest < TickTime::from_millionths(1_000_000);
        enough.then_some(Margins { smallest, tick, largest })
    }
}
