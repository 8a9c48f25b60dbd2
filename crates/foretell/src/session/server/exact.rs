//! Exact sessions: who is told that their prediction is right by a digest alone, and who needs the whole state; the
//! canonical ticks, from which on a whole state is all that a client needs.

use super::Server;
use super::peer::Peer;
use crate::rollback::{Rows, Schema, World};
use crate::session::packet::CANONICAL_MAX;
use crate::session::rowcode::proof_of;
use crate::time::{Tick, TickRate};
use core::time::Duration;
use std::collections::VecDeque;

/// Canonical ticks are so far apart at least: each costs both ends the time to make derived state anew.
const APART: Duration = Duration::from_millis(500);
/// Whole states go to one client so far apart at least.
const WHOLE_APART: Duration = Duration::from_millis(125);
/// A canonical tick is announced so many ticks ahead at most.
const AHEAD_TICKS_MAX: u32 = 64;

/// What a client is sent as the state of a tick.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// All rows.
    Whole,
    /// Their digest: the client is believed to have them.
    Proof,
}

/// What the server of an exact session remembers besides.
pub(super) struct Exact {
    /// The canonical ticks that were announced, ascending; the last may be yet to come.
    pub canonical: VecDeque<Tick>,
    /// The published state of the newest canonical tick that has come.
    pub image: Rows,
    image_tick: Option<Tick>,
    /// The digest of the state that is being sent.
    pub digest: u32,
}

impl Exact {
    pub(super) fn new(schema: &Schema) -> Exact {
        let canonical = VecDeque::with_capacity(CANONICAL_MAX + 1);
        Exact { canonical, image: Rows::new(schema), image_tick: None, digest: 0 }
    }

    pub(super) fn is_canonical(&self, tick: Tick) -> bool {
        self.canonical.contains(&tick)
    }

    fn announce(&mut self, tick: Tick) {
        self.canonical.push_back(tick);
        let surplus = self.canonical.len().saturating_sub(CANONICAL_MAX);
        self.canonical.drain(..surplus);
    }
}

impl<I: Copy + Default> Peer<I> {
    /// What this client has cannot be right from the state `since` on, or is not known: it is owed a canonical one.
    pub(super) fn owe(&mut self, since: Tick) {
        self.owed.get_or_insert(since);
    }

    /// The client has told which state it has, and from which on it does not agree.
    pub(super) fn note_agreement(&mut self, asks: Option<Tick>, image: Option<Tick>) {
        let known = self.acknowledged;
        if self.owed.is_some_and(|since| image >= Some(since) && known >= image) {
            self.owed = None;
        }
        if let Some(tick) = asks.filter(|tick| Some(*tick) > known) {
            self.owe(tick);
        }
    }

    /// Whether so long has passed since it was last sent a whole state that it may be sent the one of `tick`.
    fn is_due(&self, tick: Tick, rate: TickRate) -> bool {
        self.whole_sent.is_none_or(|sent| tick.since(sent) >= rate.ticks_in(WHOLE_APART))
    }
}

impl<W: World> Server<W> {
    /// Everybody is owed a canonical state from `tick` on: something has happened that no client can foresee.
    pub(super) fn owe_all(&mut self, tick: Tick) {
        self.peers.iter_mut().for_each(|peer| peer.owe(tick));
    }

    /// Announces a canonical tick when somebody waits for one: a round trip and their lead ahead of everybody who plays, so
    /// that nobody has simulated it by the time that they hear of it.
    pub(super) fn plan_canonical(&mut self) {
        let (next, image) = (self.next, self.exact.image_tick);
        let last = self.exact.canonical.back().copied();
        let waits =
            self.peers.iter().any(|peer| peer.lost.is_none() && peer.owed.is_some_and(|since| image < Some(since)));
        let is_early = last.is_some_and(|last| next.since(last) < self.rules.tick_rate.ticks_in(APART) || last > next);
        if !waits || is_early {
            return;
        }
        let playing = self.peers.iter().filter(|peer| peer.lost.is_none());
        let ahead = playing.filter_map(|peer| {
            let round_trip = next.since(peer.acknowledged?);
            Some(round_trip + peer.buffer.newest().map_or(0, |newest| newest.since(next)))
        });
        let ahead = ahead.max().unwrap_or(0).min(AHEAD_TICKS_MAX) + 2;
        let interval = self.config.snapshot_interval.max(1);
        let tick = (next + ahead).get().next_multiple_of(interval);
        self.exact.announce(Tick::new(tick));
    }

    /// Remembers the published state as the one of `tick`, when that is canonical.
    pub(super) fn keep_image(&mut self, tick: Tick) {
        if self.exact.is_canonical(tick) {
            self.exact.image.copy_rows(&self.published);
            self.exact.image_tick = Some(tick);
        }
        self.exact.digest = proof_of(&self.published);
    }

    /// The canonical state that a client is to be sent that joins; `tick` is newer.
    pub(super) fn image_for(&mut self, index: usize, tick: Tick) -> Option<Tick> {
        let image = self.exact.image_tick.filter(|image| *image < tick)?;
        let peer = &mut self.peers[index];
        let waits = peer.acknowledged.is_none() && peer.owed.is_some_and(|since| since <= image);
        if !waits || !peer.is_due(tick, self.rules.tick_rate) {
            return None;
        }
        peer.whole_sent = Some(tick);
        Some(image)
    }

    /// How a client is to be told the state of `tick`; `None` where nothing that it can be told of it helps it.
    pub(super) fn form_for(&mut self, index: usize, tick: Tick) -> Option<Form> {
        let (image, rate) = (self.exact.image_tick, self.rules.tick_rate);
        let peer = &mut self.peers[index];
        let is_useful = image == Some(tick) || peer.acknowledged.is_some() && peer.is_due(tick, rate);
        if peer.owed.is_some() && is_useful {
            peer.whole_sent = Some(tick);
            return Some(Form::Whole);
        }
        peer.acknowledged.map(|_| Form::Proof)
    }

    /// The state from which on a client has what it was sent.
    pub(super) fn image_tick(&self) -> Option<Tick> {
        self.exact.image_tick
    }
}
