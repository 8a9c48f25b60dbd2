//! Exact sessions: who is told that their prediction is right by a digest alone, and who needs the whole state; the
//! canonical ticks, from which on a whole state is all that a client needs.

use super::peer::Peer;
use super::{Server, ServerEvent};
use crate::session::greeting::Refusal;
use crate::session::packet::CANONICAL_MAX;
use crate::session::row_codec::proof_of;
use crate::time::{Tick, TickRate};
use crate::world::{Rows, Schema, World};
use alloc::collections::VecDeque;
use core::time::Duration;

/// Canonical ticks are so far apart at least: each costs both ends the time to make derived state anew.
const APART: Duration = Duration::from_millis(500);
/// Whom a canonical tick has not helped waits twice as long for the next, so often.
const WAITS_MAX: u32 = 2;
/// Round trips count of those who were heard of so lately.
const HEARD_OF_LATE: Duration = Duration::from_secs(1);
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
    pub image_tick: Option<Tick>,
    /// The digest of the state that is being sent.
    pub digest: u32,
    /// The newest state that no client can have foreseen: somebody has joined or left, the server has changed its world
    /// outside of a step or skipped ticks.
    pub unforeseen: Option<Tick>,
    /// How many entities the smallest state had that was too large to be told to who joins.
    too_large: Option<usize>,
}

impl Exact {
    pub(super) fn new(schema: &Schema) -> Exact {
        let canonical = VecDeque::with_capacity(CANONICAL_MAX + 1);
        Exact { canonical, image: Rows::new(schema), image_tick: None, digest: 0, unforeseen: None, too_large: None }
    }

    pub(super) fn is_canonical(&self, tick: Tick) -> bool {
        self.canonical.contains(&tick)
    }

    /// Whether a state with this number of entities is too large to be sent.
    pub(super) fn is_too_large(&self, entities: usize) -> bool {
        self.too_large.is_some_and(|most| entities >= most)
    }

    /// The image could be told, or could not.
    pub(super) fn note_told(&mut self, told: bool) {
        let entities = self.image.len();
        self.too_large = if told {
            self.too_large.filter(|most| *most > entities)
        } else {
            Some(self.too_large.map_or(entities, |most| most.min(entities)))
        };
    }

    fn announce(&mut self, tick: Tick) {
        self.canonical.push_back(tick);
        let surplus = self.canonical.len().saturating_sub(CANONICAL_MAX);
        self.canonical.drain(..surplus);
    }
}

impl<I: Copy + Default> Peer<I> {
    /// What this client has cannot be right from the state `since` on: it is owed a canonical one. The last was of `image`.
    fn owe(&mut self, since: Tick, image: Option<Tick>) {
        if self.owed.is_none_or(|before| image >= Some(before)) {
            self.owed = Some(since);
        }
    }

    /// The client has told which state it has, and from which on it does not agree.
    pub(super) fn note_agreement(&mut self, asks: Option<Tick>, image: Option<Tick>, rate: TickRate) {
        let known = self.acknowledged;
        if self.owed.is_some_and(|since| image >= Some(since) && known >= image) {
            self.owed = None;
        }
        match asks.filter(|tick| Some(*tick) > known) {
            Some(tick) => {
                self.disagreed = Some(tick);
                // One that is on its way may help: it comes until it is acknowledged.
                if known >= image || self.owed.is_none() {
                    self.owe(tick, image);
                }
            }
            // One that never agrees has what it was sent of a canonical state, and asks no more until the next one.
            None => {
                let agrees_again = |since| known >= Some(since + rate.ticks_in(APART * (1 << WAITS_MAX)));
                self.disagreed = self.disagreed.filter(|since| !agrees_again(*since));
                if self.disagreed.is_none() && self.owed.is_none() {
                    self.canonical_waits = 0;
                }
            }
        }
    }

    /// Whether so long has passed since it was last sent a whole state that it may be sent the one of `tick`.
    fn is_due(&self, tick: Tick, rate: TickRate) -> bool {
        self.whole_sent.is_none_or(|sent| tick.since(sent) >= rate.ticks_in(WHOLE_APART))
    }
}

impl<W: World> Server<W> {
    /// How many entities one client may hold.
    pub(super) fn held_max(&self) -> u16 {
        if self.rules.exact { 0 } else { self.config.held_max }
    }

    /// Something has happened that no client can foresee, before or in the step to state `tick`: everybody is owed a
    /// canonical state from there on.
    pub(super) fn note_unforeseen(&mut self, tick: Tick) {
        let image = self.exact.image_tick;
        self.exact.unforeseen = Some(tick);
        self.peers.iter_mut().for_each(|peer| peer.owe(tick, image));
    }

    /// Turns away who can't join an exact session, as its state is too large to be told.
    pub(super) fn turn_away(&mut self) {
        for index in (0..self.peers.len()).rev() {
            let peer = &self.peers[index];
            if !(peer.is_crowded && peer.acknowledged.is_none()) {
                continue;
            }
            if let Some(nonce) = peer.nonce {
                self.admission.refuse(peer.address, nonce, Refusal::TooLarge);
            }
            self.remove(index);
            self.frame.note(ServerEvent::TooLargeToJoin { entities: self.published.len() });
        }
    }

    /// Announces a canonical tick when somebody waits for one: a round trip and their lead ahead of everybody who plays, so
    /// that nobody has simulated it by the time that they hear of it. Whom the last ones have not helped waits longer and
    /// longer, so that one client that never agrees costs the others little.
    pub(super) fn plan_canonical(&mut self) {
        let (next, image, awake) = (self.next, self.exact.image_tick, self.admission.awake);
        let apart = self.rules.tick_rate.ticks_in(APART);
        let since_last = self.exact.canonical.back().map_or(u32::MAX, |last| next.since(*last));
        let is_pending = self.exact.canonical.back().is_some_and(|last| *last > next);
        let waits = |peer: &Peer<W::Input>| {
            let is_owed = peer.lost.is_none() && peer.owed.is_some_and(|since| image < Some(since));
            is_owed && since_last >= apart << peer.canonical_waits
        };
        if is_pending || !self.peers.iter().any(waits) {
            return;
        }
        let waiting = self.peers.iter_mut().filter(|peer| waits(peer));
        waiting.for_each(|peer| peer.canonical_waits = (peer.canonical_waits + 1).min(WAITS_MAX));
        let heard = |peer: &&Peer<W::Input>| peer.lost.is_none() && awake - peer.heard_at < HEARD_OF_LATE;
        let ahead = self.peers.iter().filter(heard).filter_map(|peer| {
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
        // Nothing is told of the inputs of a player who has no entity: what they bring about nobody foresees.
        let rows = &self.published;
        if self.peers.iter().any(|peer| !rows.shows_others(&self.rules.schema, peer.player)) {
            self.exact.unforeseen = Some(tick);
        }
        if tick.get().is_multiple_of(self.config.snapshot_interval.max(1)) {
            self.exact.digest = proof_of(&self.published);
        }
    }

    /// The canonical state that a client is owed and has not acknowledged; `tick` is newer.
    pub(super) fn image_for(&mut self, index: usize, tick: Tick) -> Option<Tick> {
        let image = self.exact.image_tick.filter(|image| *image < tick)?;
        let peer = &mut self.peers[index];
        // Nothing is told to who is lost, and so nothing is known of whether it would fit.
        let waits =
            peer.lost.is_none() && peer.acknowledged < Some(image) && peer.owed.is_some_and(|since| since <= image);
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
}
