//! What the server knows of one client. Lives from admission to leaving.

use super::buffer::InputBuffer;
use super::frame::PeerStats;
use super::news::NewsLog;
use crate::rollback::PlayerId;
use crate::session::PeerId;
use crate::time::{Instant, Tick, TickTime};

/// How many margins the extremes are taken of: a second at 64 Hz.
const MARGINS_KEPT: usize = 64;
/// So many late inputs in a row mean that the route has changed.
const ROUTE_CHANGED_AFTER: usize = 16;

pub(crate) struct Peer<I> {
    pub address: PeerId,
    pub player: PlayerId,
    /// Of the hello that it was admitted with.
    pub nonce: Option<u64>,
    /// Of earlier hellos over the same connection, newest first: late copies of them mean nothing.
    pub former: [Option<u64>; 4],
    /// How many snapshots were sent since the last hello without an input having come.
    pub unheard: u32,
    /// The hello to be answered, by its `sent`.
    pub hello: Option<u64>,
    pub buffer: InputBuffer<I>,
    /// What it has to be told besides states.
    pub news: NewsLog,
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
    margins: Vec<Margin>,
    margin_at: usize,
    /// How many inputs in a row have not come at all.
    missing: u32,
    /// The newest input, if it was refused for coming too early.
    too_early: Option<(TickTime, Tick)>,
    /// The newest input that ever was.
    refused_up_to: Option<Tick>,
}

/// How long before its deadline an input came.
#[derive(Clone, Copy, Debug)]
struct Margin {
    margin: TickTime,
    tick: Tick,
    /// Whether it came at all.
    came: bool,
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
        (start, ahead): (Tick, u32),
        admitted: TickTime,
    ) -> Peer<I> {
        Peer {
            address,
            player,
            nonce,
            hello: None,
            buffer: InputBuffer::new(start, ahead),
            news: NewsLog::new(),
            heard: None,
            acknowledged: None,
            admitted,
            planned: start,
            steps: 0,
            stats: PeerStats::default(),
            margins: Vec::with_capacity(MARGINS_KEPT),
            margin_at: 0,
            missing: 0,
            former: [None; 4],
            unheard: 0,
            too_early: None,
            refused_up_to: None,
        }
    }

    /// Remembers how long before its deadline the first copy of an input came; negative for late.
    pub(crate) fn note_margin(&mut self, margin: TickTime, tick: Tick) {
        (self.too_early, self.missing) = (None, 0);
        self.keep_margin(Margin { margin, tick, came: true });
    }

    /// The input of `tick` did not come: it counts as a tick late, unless it did and was refused for coming too early. A
    /// second without any says nothing of the clock.
    pub(crate) fn note_missing(&mut self, tick: Tick) {
        self.missing = self.missing.saturating_add(1);
        let silent = self.missing as usize > MARGINS_KEPT;
        if !silent && self.refused_up_to.is_none_or(|refused| refused < tick) {
            self.too_early = None;
            self.keep_margin(Margin { margin: TickTime::from_millionths(-1_000_000), tick, came: false });
        }
    }

    fn keep_margin(&mut self, margin: Margin) {
        if self.margins.len() < MARGINS_KEPT {
            self.margins.push(margin);
        } else {
            self.margins[self.margin_at] = margin;
            self.margin_at = (self.margin_at + 1) % MARGINS_KEPT;
        }
    }

    /// The last margins, newest first.
    fn newest_margins(&self) -> impl Iterator<Item = &Margin> {
        let (newer, older) = (&self.margins[..self.margin_at], &self.margins[self.margin_at..]);
        newer.iter().rev().chain(older.iter().rev())
    }

    /// An input came so early that it was refused. Until one is taken, that is all there is to report.
    pub(crate) fn note_too_early(&mut self, margin: TickTime, tick: Tick) {
        self.too_early = Some((margin, tick));
        self.refused_up_to = self.refused_up_to.max(Some(tick));
    }

    /// The newest input was not too early.
    pub(crate) fn note_in_time(&mut self) {
        self.too_early = None;
    }

    /// What the margins of the last inputs say. Large ones are believed only when there are enough to know the worst, as
    /// a client that trusts the first few would come too late.
    pub(crate) fn margins(&self) -> Option<Margins> {
        if let Some((margin, tick)) = self.too_early {
            return Some(Margins { smallest: margin, tick, largest: margin });
        }
        if self.missing as usize > MARGINS_KEPT {
            return None;
        }
        let by_margin = |a: &&Margin, b: &&Margin| (a.margin, b.tick).cmp(&(b.margin, a.tick));
        let Margin { margin: smallest, tick, .. } = *self.margins.iter().min_by(by_margin)?;
        let largest_of = |count: usize| {
            let came = self.newest_margins().take(count).filter(|margin| margin.came);
            came.map(|margin| margin.margin).max().unwrap_or(smallest)
        };
        // When the newest are all late the route has changed, and what came early before is of no use.
        let newest = largest_of(ROUTE_CHANGED_AFTER);
        let largest = if newest < TickTime::default() { newest } else { largest_of(MARGINS_KEPT) };
        let enough = self.margins.len() == MARGINS_KEPT || smallest < TickTime::from_millionths(1_000_000);
        enough.then_some(Margins { smallest, tick, largest })
    }
}
