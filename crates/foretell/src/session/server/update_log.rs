//! What the next frame of the server reports, as it comes about.

use super::update_report::{LateInput, ServerEvent, ServerFrame};
use crate::session::HitReceipt;
use crate::time::Tick;
use crate::world::ReceivedMessage;
use alloc::vec::Vec;

/// How many events one frame tells.
const EVENTS_MAX: usize = 1024;
/// How many late inputs one frame tells.
const LATE_MAX: usize = 256;

/// What is reported of one update, and of what came before it. Its memory is used again.
#[derive(Debug)]
pub(super) struct UpdateLog {
    steps: u32,
    events: Vec<ServerEvent>,
    late: Vec<LateInput>,
    receipts: Vec<HitReceipt>,
    messages: Vec<ReceivedMessage>,
    /// How many events, late inputs and messages the last frame has shown.
    shown_events: usize,
    shown_late: usize,
    shown_messages: usize,
}

impl UpdateLog {
    /// Room from the start for what an ordinary update reports, so that a first late input does not allocate, and for all events that
    /// clients can bring about.
    pub fn with_room() -> UpdateLog {
        let (events, late) = (Vec::with_capacity(EVENTS_MAX), Vec::with_capacity(64));
        let (messages, receipts) = (Vec::new(), Vec::with_capacity(16));
        UpdateLog { steps: 0, events, late, messages, receipts, shown_events: 0, shown_late: 0, shown_messages: 0 }
    }

    /// Adds an event that a client brings about; of very many between two updates the last are not told.
    pub fn note(&mut self, event: ServerEvent) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        }
    }

    /// Adds an event of the server's own, however many there are.
    pub fn note_own(&mut self, event: ServerEvent) {
        self.events.push(event);
    }

    /// Adds a late input; of very many between two updates the last are not told.
    pub fn note_late(&mut self, late: LateInput) {
        if self.late.len() < LATE_MAX {
            self.late.push(late);
        }
    }

    /// Where messages are put that have come.
    pub fn messages_mut(&mut self) -> &mut Vec<ReceivedMessage> {
        &mut self.messages
    }

    /// Adds a hit of a step.
    pub fn note_receipt(&mut self, receipt: HitReceipt) {
        self.receipts.push(receipt);
    }

    /// A step was executed.
    pub fn note_step(&mut self) {
        self.steps += 1;
    }

    /// An update begins: what the last one has shown is told no more.
    pub fn begin(&mut self) {
        self.steps = 0;
        self.receipts.clear();
        self.events.drain(..self.shown_events);
        self.late.drain(..self.shown_late);
        self.messages.drain(..self.shown_messages);
    }

    /// The update is over.
    pub fn finish(&mut self) {
        (self.shown_events, self.shown_late) = (self.events.len(), self.late.len());
        self.shown_messages = self.messages.len();
    }

    /// What there is to tell; `tick` is the next to step.
    pub fn frame(&self, tick: Tick) -> ServerFrame<'_> {
        let UpdateLog { steps, events, late, messages, receipts, .. } = self;
        ServerFrame { tick, steps: *steps, events, late, messages, receipts }
    }

    /// How much it keeps.
    pub fn kept(&self) -> usize {
        self.events.len() + self.late.len() + self.messages.len()
    }
}
