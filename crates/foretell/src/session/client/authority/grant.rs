//! One entity that a client has authority over: from the request to the end.

use crate::rollback::INPUTS_KEPT;
use crate::session::authority::{HeldRow, REST_TICKS, Request};
use crate::session::curves::RowBuffer;
use crate::time::Tick;
use crate::world::{ComponentId, Entity, ROW_WORDS_MAX, RowKey};
use alloc::collections::VecDeque;

/// How many captures of an entity wait for their ticks, at most: the newest.
const CAPTURES_MAX: usize = 64;
/// How many captures a datagram brings up of an entity besides the newest, at most: the newest of them.
const BETWEEN_MAX: usize = 7;

/// Where in its life a hold is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Asked for, not answered.
    Asked,
    Held,
    /// Given back, not answered.
    Leaving,
    /// Over, by the snapshot of this tick.
    Ended(Tick),
}

/// An entity that this client has authority over, has asked for, or has just had.
#[derive(Clone, Debug)]
pub(crate) struct AuthorityGrant {
    pub entity: Entity,
    /// Which of its components its rows are of, from when it has begun.
    pub component: ComponentId,
    /// Under which number its rows go up.
    pub request: u16,
    pub phase: Phase,
    /// Whether it is shown as the game says: from when it is no longer predicted.
    pub begun: bool,
    /// Whether the game was told that it moves it.
    pub told: bool,
    /// Captures that wait for their ticks, ascending.
    pub captured: VecDeque<(Tick, RowBuffer)>,
    /// The capture of the newest tick that has run.
    pub row: RowBuffer,
    pub row_at: Tick,
    /// What is shown, and whether the game says it.
    pub shown: RowBuffer,
    pub shows: bool,
    /// Captures that have run since the last datagram, without the newest; ascending, `len <= BETWEEN_MAX`.
    pub between: VecDeque<(Tick, RowBuffer)>,
    /// For how many ticks it has not changed.
    pub still: u32,
    /// Every datagram from this one on has carried the row as it is.
    pub carried_since: Option<u16>,
}

impl AuthorityGrant {
    /// One that is asked for by the request of this number.
    pub(crate) fn new(entity: Entity, request: u16) -> AuthorityGrant {
        AuthorityGrant {
            entity,
            component: ComponentId::default(),
            request,
            phase: Phase::Asked,
            begun: false,
            told: false,
            captured: VecDeque::with_capacity(CAPTURES_MAX),
            row: [0; ROW_WORDS_MAX],
            row_at: Tick::ZERO,
            shown: [0; ROW_WORDS_MAX],
            shows: false,
            between: VecDeque::with_capacity(BETWEEN_MAX),
            still: 0,
            carried_since: None,
        }
    }

    /// Whether what it says of this row is what is shown.
    pub(crate) fn writes(&self, key: RowKey) -> bool {
        self.begun && (self.component, self.entity) == (key.component, key.entity)
    }

    /// Whether the game moves it.
    pub(crate) fn is_moved(&self) -> bool {
        self.told && self.wants()
    }

    /// Whether the client has it, or has asked for it.
    pub(crate) fn wants(&self) -> bool {
        matches!(self.phase, Phase::Asked | Phase::Held)
    }

    /// It is not this client's by the snapshot of `tick`. If it was asked for again meanwhile that counts now.
    pub(crate) fn give_up(&mut self, tick: Tick, open: &VecDeque<Request>) {
        let last = open.iter().rev().find(|request| request.entity == self.entity);
        match last.filter(|request| request.claim.is_some()) {
            Some(again) => (self.phase, self.request, self.carried_since) = (Phase::Asked, again.number, None),
            None => self.phase = Phase::Ended(tick),
        }
    }

    /// What goes up of it: as it was captured at a tick.
    pub(crate) fn row_at(&self, tick: Tick, newest: Tick, words: &RowBuffer) -> HeldRow {
        let back = newest.since(tick).min(INPUTS_KEPT);
        let rests = self.still >= REST_TICKS;
        let key = RowKey { component: self.component, entity: self.entity };
        HeldRow { key, request: self.request, back, rests, words: *words }
    }

    /// It is asked for again, by the request of this number, after it was given back or was over.
    pub(crate) fn ask_again(&mut self, request: u16) {
        (self.request, self.phase, self.told) = (request, Phase::Asked, false);
        (self.still, self.carried_since) = (0, None);
    }

    /// The game gives it back, as it was captured last.
    pub(crate) fn leave(&mut self) {
        self.phase = Phase::Leaving;
        if let Some((tick, row)) = self.captured.pop_back() {
            self.captured.clear();
            (self.row, self.row_at, self.carried_since) = (row, tick, None);
            if !self.shows {
                self.shown = row;
            }
        }
    }

    /// The state that it has at the start of `tick`. Of one tick, and of a clock that was set back, the last counts.
    pub(crate) fn capture(&mut self, tick: Tick, words: &[u32]) {
        while self.captured.back().is_some_and(|(known, _)| *known >= tick) {
            self.captured.pop_back();
        }
        if self.captured.len() == CAPTURES_MAX {
            self.captured.pop_front();
        }
        let mut row = [0; ROW_WORDS_MAX];
        row[..words.len()].copy_from_slice(words);
        self.captured.push_back((tick, row));
    }

    /// From now on the game moves it, from this row.
    pub(crate) fn begin(&mut self, row: &RowBuffer) {
        (self.begun, self.told, self.shows) = (true, true, false);
        (self.row, self.shown) = (*row, *row);
        self.between.clear();
    }

    /// The tick is about to be simulated: its captures are in it.
    pub(crate) fn run(&mut self, tick: Tick) {
        let before = (self.row_at, self.row);
        while let Some((_, row)) = self.captured.pop_front_if(|(captured, _)| *captured <= tick) {
            self.row = row;
        }
        self.row_at = tick;
        if self.row == before.1 {
            self.still = self.still.saturating_add(1);
        } else {
            self.still = 0;
            if self.between.len() == BETWEEN_MAX {
                self.between.pop_front();
            }
            self.between.push_back(before);
        }
        if self.still == 0 || self.still == REST_TICKS {
            self.carried_since = None;
        }
        if !self.shows {
            self.shown = self.row;
        }
    }
}
