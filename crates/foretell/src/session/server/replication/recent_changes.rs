//! Which rows have changed since the last states were sent; computed once for all clients.

use super::row_rates::RowRates;
use super::slot_set::SlotSet;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::time::Tick;
use alloc::vec::Vec;

/// Initial capacity in rows.
const ROOM: usize = 64;

/// What has changed since the two states that were sent last.
pub(super) struct RecentChanges {
    /// The state that is sent, and the two that were sent before it.
    of: Tick,
    pub before: Tick,
    pub since: Tick,
    /// The numbers of those that have changed since the state before, and are told with each state.
    pub fresh: SlotSet,
    /// And of those that are told less often.
    pub paced: SlotSet,
    /// Where those stand that had changed in the state before, and have not since.
    pub settled: Vec<u32>,
    /// Where all of them stand, in their order.
    pub places: Vec<u32>,
}

impl RecentChanges {
    pub fn new() -> RecentChanges {
        RecentChanges {
            of: Tick::ZERO,
            before: Tick::ZERO,
            since: Tick::ZERO,
            fresh: SlotSet::default(),
            paced: SlotSet::default(),
            settled: Vec::with_capacity(ROOM),
            places: Vec::with_capacity(ROOM),
        }
    }

    /// The state of `tick` is sent.
    pub fn update(&mut self, tick: Tick, state: &AuthoritativeState, row_rates: &RowRates) {
        if self.of == tick {
            return;
        }
        (self.of, self.before, self.since) = (tick, self.of, self.before);
        let RecentChanges { before, since, fresh, paced, settled, places, .. } = self;
        fresh.clear();
        paced.clear();
        settled.clear();
        places.clear();
        for (version, place) in state.versions().versions().iter().zip(0..) {
            if version.changed <= *since {
                continue;
            }
            places.push(place);
            if version.changed <= *before {
                settled.push(place);
            } else if row_rates.is_paced(version.key.component) {
                paced.insert(version.slot);
            } else {
                fresh.insert(version.slot);
            }
        }
    }

    /// Which rows of a block are as they were in the state before.
    #[inline]
    pub fn resting(&self, first: u32) -> u16 {
        !(self.fresh.block(first) | self.paced.block(first))
    }
}
