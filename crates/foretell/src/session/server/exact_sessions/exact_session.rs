//! What the server of an exact session does besides: canonical ticks, from which on a whole state is all that a client
//! needs, and in which form each client is told a state. In other sessions nothing of it does anything.

use super::digest_agreement::{Agreement, CANONICAL_APART};
use crate::session::Rules;
use crate::session::datagram::NAMED_TICKS_BACK;
use crate::session::exact_row_codec::proof_of;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::replication::Form;
use crate::session::snapshot_header::{CANONICAL_MAX, ExactReport};
use crate::time::{Tick, TickRate};
use crate::world::{PlayerId, Rows, Seat};
use alloc::collections::{BTreeMap, VecDeque};

/// How many ticks ahead a canonical tick is announced, at most.
const AHEAD_TICKS_MAX: u32 = 64;

/// How far ahead of what the server has heard a player who is here simulates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lead {
    pub player: PlayerId,
    /// Their round trip and lead, in ticks; `None` where they were not heard of lately.
    pub ticks: Option<u32>,
}

/// What the server of an exact session remembers besides.
pub(crate) struct ExactSession {
    /// Whether the session is exact.
    is_on: bool,
    rate: TickRate,
    /// Of everybody who is in the session.
    agreements: BTreeMap<PlayerId, Agreement>,
    /// Who sits at the server, and so agrees with it always.
    local: Option<PlayerId>,
    /// The canonical ticks that were announced, ascending; the last may be yet to come.
    canonical: VecDeque<Tick>,
    /// The published state of the newest canonical tick that has come.
    image: Rows,
    image_tick: Option<Tick>,
    /// The digest of the state that is being sent.
    digest: u32,
    /// The newest state that no client can have foreseen: somebody has joined or left, the server has changed its world
    /// outside of a step or skipped ticks.
    unforeseen: Option<Tick>,
    /// Whether nothing is told of the inputs of somebody who plays, around the newest state.
    was_any_untold: bool,
    /// How many rows of others the smallest state had that was too large to be told to who joins.
    too_large: Option<usize>,
}

impl ExactSession {
    pub(crate) fn new(rules: &Rules) -> ExactSession {
        ExactSession {
            is_on: rules.exact,
            rate: rules.tick_rate,
            agreements: BTreeMap::new(),
            local: None,
            canonical: VecDeque::with_capacity(CANONICAL_MAX + 1),
            image: Rows::new(&rules.schema),
            image_tick: None,
            digest: 0,
            unforeseen: None,
            was_any_untold: false,
            too_large: None,
        }
    }

    /// A player or spectator has come, before the step of `next`.
    pub(crate) fn admit(&mut self, player: PlayerId, seat: Seat, next: Tick) {
        if self.is_on {
            self.agreements.insert(player, Agreement::new(next).seated(seat));
        }
    }

    /// A player has come who sits at the server.
    pub(crate) fn admit_local(&mut self, player: PlayerId) {
        self.local = Some(player);
    }

    /// Somebody else has the place of a player, from before the step of `next` on.
    pub(crate) fn take_over(&mut self, player: PlayerId, next: Tick) {
        self.agreements.entry(player).and_modify(|agreement| agreement.take_over(next));
    }

    /// A player has said hello, and may have nothing of what was sent.
    pub(crate) fn note_hello(&mut self, player: PlayerId, next: Tick) {
        self.agreements.entry(player).and_modify(|agreement| agreement.note_hello(next));
    }

    /// A player has left.
    pub(crate) fn remove(&mut self, player: PlayerId) {
        self.agreements.remove(&player);
    }

    /// Whether this is a canonical tick.
    pub(crate) fn is_canonical(&self, tick: Tick) -> bool {
        self.canonical.contains(&tick)
    }

    /// Whether a state with this number of rows is too large to be sent to who comes.
    pub(crate) fn is_too_large(&self, rows: usize) -> bool {
        self.too_large.is_some_and(|most| rows >= most)
    }

    /// A client has told that it has the state `known`, and from which on it does not agree.
    pub(crate) fn note_agreement(&mut self, player: PlayerId, known: Option<Tick>, disagrees: Option<Tick>) {
        if let Some(agreement) = self.agreements.get_mut(&player) {
            agreement.note(known, disagrees, self.image_tick, self.rate);
        }
    }

    /// Something has happened that no client can foresee, before or in the step to state `tick`: everybody is owed a
    /// canonical state from there on.
    pub(crate) fn note_unforeseen(&mut self, tick: Tick) {
        if self.is_on {
            self.unforeseen = Some(tick);
            self.agreements.values_mut().for_each(|agreement| agreement.owe(tick, self.image_tick));
        }
    }

    /// Announces a canonical tick when somebody waits for one: a round trip and their lead ahead of everybody who plays, so
    /// that nobody has simulated it by the time that they hear of it. `interval` is the one of snapshots.
    pub(crate) fn plan(&mut self, next: Tick, interval: u32, here: impl Iterator<Item = Lead>) {
        if !self.is_on || self.canonical.back().is_some_and(|last| *last > next) {
            return;
        }
        let since_last = self.canonical.back().map_or(u32::MAX, |last| next.since(*last));
        let apart = self.rate.ticks_in(CANONICAL_APART);
        let (mut is_wanted, mut ahead) = (false, 0);
        for Lead { player, ticks } in here {
            ahead = ahead.max(ticks.unwrap_or(0));
            let Some(agreement) = self.agreements.get_mut(&player) else { continue };
            if agreement.waits(self.image_tick, since_last, apart) {
                agreement.note_announced();
                is_wanted = true;
            }
        }
        if is_wanted {
            let tick = next + ahead.min(AHEAD_TICKS_MAX) + 2;
            self.announce(Tick::new(tick.get().next_multiple_of(interval)));
        }
    }

    fn announce(&mut self, tick: Tick) {
        self.canonical.push_back(tick);
        let surplus = self.canonical.len().saturating_sub(CANONICAL_MAX);
        self.canonical.drain(..surplus);
    }

    /// Takes in the published state of `tick`, which is sent if `is_sent`.
    pub(crate) fn note_state(&mut self, tick: Tick, state: &AuthoritativeState, is_sent: bool) {
        if !self.is_on {
            return;
        }
        let rows = state.rows();
        if self.is_canonical(tick) {
            self.image.copy_rows(rows);
            self.image_tick = Some(tick);
        }
        // Nothing is told of the inputs of a player who has no entity: what they bring about in the next state nobody foresees.
        let playing = self.agreements.iter().filter(|(_, agreement)| agreement.has_inputs()).map(|(player, _)| player);
        let is_any_untold = playing.chain(&self.local).any(|player| !rows.shows_others(state.schema(), *player));
        if core::mem::replace(&mut self.was_any_untold, is_any_untold) || is_any_untold {
            self.unforeseen = Some(tick);
        }
        if is_sent {
            self.digest = proof_of(rows);
        }
    }

    /// Writes into the header of a snapshot of `tick` what a client that has the state `known` may not know.
    pub(crate) fn tell(&self, tick: Tick, known: Option<Tick>, report: &mut ExactReport) {
        let untold = self.canonical.iter().filter(|canonical| Some(**canonical) > known);
        report.canonical.clear();
        report.canonical.extend(untold.map(|canonical| canonical.low16()));
        let unforeseen = self.unforeseen.filter(|at| Some(*at) > known && *at <= tick);
        report.unforeseen = unforeseen.map(|at| tick.since(at)).filter(|back| *back <= NAMED_TICKS_BACK);
    }

    /// The canonical state that a client which is here is owed and has not acknowledged; `tick` is newer.
    pub(crate) fn image_for(&mut self, player: PlayerId, known: Option<Tick>, tick: Tick) -> Option<Tick> {
        let image = self.image_tick.filter(|image| *image < tick && known < Some(*image))?;
        let agreement = self.agreements.get_mut(&player)?;
        if !agreement.is_owed(image) || !agreement.is_due(tick, self.rate) {
            return None;
        }
        agreement.note_whole(tick);
        Some(image)
    }

    /// The rows of that state.
    pub(crate) fn image(&self) -> &Rows {
        &self.image
    }

    /// The image could be told to a player.
    pub(crate) fn note_told(&mut self, player: PlayerId) {
        let others = self.rows_of_others(player);
        self.too_large = self.too_large.filter(|most| *most > others);
    }

    /// Nothing could be told to a player, who has the state `known`. With what the header says to somebody who has acknowledged
    /// nothing for long, less has room: what counts is who has come and has none.
    pub(crate) fn note_too_large(&mut self, player: PlayerId, known: Option<Tick>) {
        if self.is_on && known.is_none() {
            let others = self.rows_of_others(player);
            self.too_large = Some(self.too_large.map_or(others, |most| most.min(others)));
        }
    }

    /// How many rows of the image somebody else would find who comes in the place of a player.
    fn rows_of_others(&self, player: PlayerId) -> usize {
        self.image.iter().filter(|row| row.owner != player).count()
    }

    /// How a client that has the state `known` is to be told the state of `tick`; `None` where nothing that it can be told of
    /// it helps it.
    pub(crate) fn form_for(&mut self, player: PlayerId, known: Option<Tick>, tick: Tick) -> Option<Form> {
        if !self.is_on {
            return Some(Form::Changes);
        }
        let agreement = self.agreements.get_mut(&player)?;
        let is_useful = self.image_tick == Some(tick) || known.is_some() && agreement.is_due(tick, self.rate);
        if agreement.is_wrong() && is_useful {
            agreement.note_whole(tick);
            return Some(Form::AllChanges);
        }
        known.map(|_| Form::Digest(self.digest))
    }
}
