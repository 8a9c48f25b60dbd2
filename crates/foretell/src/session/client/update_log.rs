//! What the next frame reports: counters, corrections and events.

use super::stats::{ClientStats, ClockStats};
use super::update_report::{ClientEvent, Corrected, TickCounts};
use crate::world::ReceivedMessage;
use alloc::vec::Vec;

/// Lives as long as the client.
pub(super) struct UpdateLog {
    pub stats: ClientStats,
    pub corrections: Vec<Corrected>,
    pub events: Vec<ClientEvent>,
    /// What has come between two updates; the next one reports it.
    pub coming: Vec<ClientEvent>,
    pub messages: Vec<ReceivedMessage>,
    /// Those that have come between two updates.
    pub coming_messages: Vec<ReceivedMessage>,
    pub ran: TickCounts,
}

impl UpdateLog {
    pub(super) fn new() -> UpdateLog {
        UpdateLog {
            stats: ClientStats { clock: ClockStats { speed: 1.0, ..ClockStats::default() }, ..ClientStats::default() },
            corrections: Vec::with_capacity(super::initial_capacity::FEW),
            events: Vec::with_capacity(super::initial_capacity::FEW),
            coming: Vec::with_capacity(super::initial_capacity::FEW),
            messages: Vec::new(),
            coming_messages: Vec::new(),
            ran: TickCounts::default(),
        }
    }

    /// An update begins.
    pub(super) fn begin(&mut self) {
        self.corrections.clear();
        self.events.clear();
        self.events.append(&mut self.coming);
        self.messages.clear();
        self.messages.append(&mut self.coming_messages);
        self.ran = TickCounts::default();
    }

    /// A correction has reached the present.
    pub(super) fn correct(&mut self, corrected: Corrected) {
        self.stats.prediction.corrections += 1;
        self.stats.prediction.teleports += u64::from(corrected.teleport);
        self.corrections.push(corrected);
    }

    /// The ticks from one that lies so far back are simulated again.
    pub(super) fn roll_back(&mut self, depth: u32) {
        let prediction = &mut self.stats.prediction;
        prediction.rollbacks += 1;
        prediction.rollback_ticks_max = prediction.rollback_ticks_max.max(depth);
    }

    /// So many ticks were simulated again.
    pub(super) fn resimulate(&mut self, ticks: u32) {
        self.stats.prediction.resimulated += u64::from(ticks);
        self.ran.resimulated += ticks;
    }

    /// How much it keeps.
    pub(super) fn kept(&self) -> usize {
        let messages = self.messages.len() + self.coming_messages.len();
        self.events.len() + self.coming.len() + self.corrections.len() + messages
    }
}
