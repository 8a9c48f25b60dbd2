//! One entity that a client has authority over: from the request to the end.

use super::captures::{Capture, Captures};
use crate::rollback::INPUTS_KEPT;
use crate::session::authority_codec::{HeldRow, Request};
use crate::session::curves::RowBuffer;
use crate::time::Tick;
use crate::world::{ComponentId, Entity, ROW_WORDS_MAX, RowKey};
use alloc::collections::VecDeque;

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

/// Whether the server has the row of an entity as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowProgress {
    /// Not every datagram since it is so has carried it.
    Unsent,
    /// Every datagram from this one on has.
    SentSince(u16),
    /// One of these has come.
    Arrived,
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
    pub captures: Captures,
    /// What is shown, and whether the game says it.
    pub shown: RowBuffer,
    pub shows: bool,
    pub progress: RowProgress,
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
            captures: Captures::new(),
            shown: [0; ROW_WORDS_MAX],
            shows: false,
            progress: RowProgress::Unsent,
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
            Some(again) => {
                (self.phase, self.request, self.progress) = (Phase::Asked, again.number, RowProgress::Unsent);
            }
            None => self.phase = Phase::Ended(tick),
        }
    }

    /// What goes up of it with the inputs up to `newest`: a capture.
    pub(crate) fn held_row(&self, capture: &Capture, newest: Tick) -> HeldRow {
        let back = newest.since(capture.tick).min(INPUTS_KEPT);
        let key = RowKey { component: self.component, entity: self.entity };
        HeldRow { key, request: self.request, back, rests: self.captures.rests(), words: capture.row }
    }

    /// The server has this datagram.
    pub(crate) fn note_heard(&mut self, sequence: u16) {
        if matches!(self.progress, RowProgress::SentSince(since) if sequence.wrapping_sub(since).cast_signed() >= 0) {
            self.progress = RowProgress::Arrived;
        }
    }

    /// It is asked for again, by the request of this number, after it was given back or was over.
    pub(crate) fn ask_again(&mut self, request: u16) {
        (self.request, self.phase, self.told) = (request, Phase::Asked, false);
        self.captures.wake();
        self.progress = RowProgress::Unsent;
    }

    /// The game gives it back, as it was captured last.
    pub(crate) fn leave(&mut self) {
        self.phase = Phase::Leaving;
        if self.captures.finish() {
            self.progress = RowProgress::Unsent;
            self.show_newest();
        }
    }

    /// From now on the game moves it, from this row.
    pub(crate) fn begin(&mut self, row: &RowBuffer) {
        (self.begun, self.told, self.shows) = (true, true, false);
        self.captures.begin(row);
        self.shown = *row;
    }

    /// The tick is about to be simulated: its captures are in it.
    pub(crate) fn run(&mut self, tick: Tick) {
        if self.captures.run(tick) {
            self.progress = RowProgress::Unsent;
        }
        self.show_newest();
    }

    /// What is shown is as it was captured, unless the game says otherwise.
    fn show_newest(&mut self) {
        if !self.shows {
            self.shown = self.captures.newest().row;
        }
    }
}
