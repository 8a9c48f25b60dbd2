//! How often rows are told, where that is not in each state.
//!
//! Each row has a turn once per interval, in which it is told at most once. When, goes by its number: so not all have theirs in
//! the same state, and all clients are told the same row in the same state, for which it is encoded once.

use crate::time::{Tick, TickRate};
use crate::world::{ComponentId, Schema};
use alloc::vec::Vec;

/// How many ticks apart the turns are of the rows of each component.
#[derive(Debug)]
pub(crate) struct RowSendRates {
    ticks: Vec<u32>,
}

impl RowSendRates {
    pub(crate) fn new(schema: &Schema, rate: TickRate) -> RowSendRates {
        RowSendRates { ticks: schema.components().iter().map(|component| component.interval_ticks(rate, 1)).collect() }
    }

    /// The same of all components.
    #[cfg(test)]
    pub(crate) fn every(ticks: u32) -> RowSendRates {
        RowSendRates { ticks: vec![ticks; 256] }
    }

    /// Whether rows of this component are told less often than with each state.
    pub(crate) fn is_paced(&self, component: ComponentId) -> bool {
        self.ticks[usize::from(component.0)] > 1
    }

    /// Whether the row with this number was not told yet in the turn that it has in the state of `now`.
    pub(crate) fn are_due(&self, component: ComponentId, slot: u32, told: Option<Tick>, now: Tick) -> bool {
        let ticks = u64::from(self.ticks[usize::from(component.0)]);
        let turn = |tick: Tick| (u64::from(tick.get()) + u64::from(slot)) / ticks;
        !self.is_paced(component) || told.is_none_or(|told| turn(told) < turn(now))
    }
}
