//! Which rows have changed since the last states were sent; computed once for all clients.

use super::optional_tick::OptionalTick;
use super::slot_set::{ChunkSlots, SlotSet};
use crate::session::row_send_rates::RowSendRates;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::shown_bases::BASE_AGE_MAX;
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
    /// The numbers of those that have changed since the state before, and the same of each of these two states.
    moved: [SlotSet; 3],
    /// Of these the ones that are told with each state.
    pub fresh: SlotSet,
    /// Those that are told with each state, have not changed since the state before, and had in that and in the one before it: they
    /// were moving.
    pub halted: SlotSet,
    /// Those that are told with each state, have not changed since the state before, and had in that, and not in the one before it.
    pub stopped: SlotSet,
    /// Those that are told less often, and have changed since `since`.
    pub paced: SlotSet,
    /// Where all of them stand, in their order.
    pub places: Vec<u32>,
    /// By the number of a row, the last two ticks in which it has changed: in between it was the same.
    last_changes: Vec<[OptionalTick; 2]>,
}

impl RecentChanges {
    pub fn new() -> RecentChanges {
        RecentChanges {
            of: Tick::ZERO,
            before: Tick::ZERO,
            since: Tick::ZERO,
            moved: Default::default(),
            fresh: SlotSet::default(),
            halted: SlotSet::default(),
            stopped: SlotSet::default(),
            paced: SlotSet::default(),
            places: Vec::with_capacity(ROOM),
            last_changes: Vec::new(),
        }
    }

    /// The state of `tick` is sent.
    pub fn update(&mut self, tick: Tick, state: &AuthoritativeState, row_send_rates: &RowSendRates) {
        if self.of == tick {
            return;
        }
        (self.of, self.before, self.since) = (tick, self.of, self.before);
        self.moved.rotate_right(1);
        let RecentChanges {
            before,
            since,
            moved: [moved, _, moved_until],
            fresh,
            halted,
            stopped,
            paced,
            places,
            last_changes,
            ..
        } = self;
        [&mut *moved, fresh, halted, stopped, paced].into_iter().for_each(SlotSet::clear);
        places.clear();
        last_changes.resize(last_changes.len().max(state.versions().slots()), [OptionalTick::NONE; 2]);
        if state.versions().last_change() <= *since {
            return;
        }
        for (version, place) in state.versions().versions().iter().zip(0..) {
            if version.changed <= *since {
                continue;
            }
            places.push(place);
            let has_moved = version.changed > *before;
            if has_moved {
                moved.insert(version.slot);
                let [former, latest] = &mut last_changes[version.slot as usize];
                *former = core::mem::replace(latest, OptionalTick::some(version.changed));
            }
            match row_send_rates.is_paced(version.key.component) {
                true => paced.insert(version.slot),
                false if has_moved => fresh.insert(version.slot),
                false if moved_until.contains(version.slot) => halted.insert(version.slot),
                false => stopped.insert(version.slot),
            }
        }
    }

    /// Which rows of a chunk are as they were in the state before; the lowest bit is the first.
    #[inline]
    pub fn resting(&self, first: u32) -> u64 {
        !self.moved[0].chunk(first).slots
    }

    /// Those of them that have changed since the state before, and had not in that.
    #[inline]
    pub fn started(&self, those: ChunkSlots) -> ChunkSlots {
        let [now, before, _] = &self.moved;
        ChunkSlots { slots: those.slots & now.chunk(those.first).slots & !before.chunk(those.first).slots, ..those }
    }

    /// Whether one was the same in all states from this one to the state before, and has changed since, and may be told against it.
    pub fn has_rested(&self, slot: u32, from: OptionalTick) -> bool {
        if self.started(ChunkSlots::one(slot)).is_empty() {
            return false;
        }
        let [former, _] = self.last_changes[slot as usize];
        let oldest = OptionalTick::some(self.of.back(BASE_AGE_MAX).unwrap_or_default());
        (former.max(oldest)..=OptionalTick::some(self.before)).contains(&from)
    }
}
