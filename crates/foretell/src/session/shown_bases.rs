//! The rounded rows of the last states: on the server what anybody may have been told, on a client what it was told. Rows are told
//! against them.

use crate::time::Tick;
use alloc::vec::Vec;

/// What is told against a row that is older than this is told by itself: a second at 64 Hz.
pub(crate) const BASE_AGE_MAX: u32 = 63;
/// How many ticks they are kept: a datagram that comes by as many ticks later than the newest as this is longer finds its base.
pub(crate) const KEPT_TICKS: usize = 96;

/// So much of memory is fetched at once; most rows are not longer.
const CACHE_LINE_WORDS: usize = 16;

/// The rows of one state.
#[derive(Clone, Debug)]
struct BaseState {
    tick: Tick,
    /// By the number of a row: behind which word it begins; 0 where it is not there.
    places: Vec<u32>,
    words: Vec<u32>,
}

/// Its memory is used again; it takes four bytes for each number of a row and each of 96 ticks, and the words that were told in
/// these.
#[derive(Clone, Debug)]
pub(crate) struct ShownBases {
    states: Vec<BaseState>,
}

impl ShownBases {
    pub(crate) fn new() -> ShownBases {
        let state = BaseState { tick: Tick::ZERO, places: Vec::new(), words: Vec::new() };
        ShownBases { states: alloc::vec![state; KEPT_TICKS] }
    }

    pub(crate) fn clear(&mut self) {
        self.states.iter_mut().for_each(BaseState::clear);
    }

    /// The rounded row with this number, of `words` words, in the state of `tick`.
    pub(crate) fn get(&self, tick: Tick, slot: u32, words: usize) -> Option<&[u32]> {
        let state = &self.states[tick.get() as usize % KEPT_TICKS];
        let end = *state.places.get(slot as usize).filter(|_| state.tick == tick)? as usize;
        state.words.get(end.checked_sub(words)?..end)
    }

    /// Whether a later state has the place of this one.
    pub(crate) fn has_forgotten(&self, tick: Tick) -> bool {
        self.states[tick.get() as usize % KEPT_TICKS].tick > tick
    }

    /// The newest state before that of `tick` in which the row with this number is, as far back as rows are told against one, and all
    /// is remembered.
    pub(crate) fn newest_before(&self, tick: Tick, slot: u32) -> Option<Tick> {
        let has = |tick: &Tick| {
            let state = &self.states[tick.get() as usize % KEPT_TICKS];
            state.tick == *tick && state.places.get(slot as usize).is_some_and(|place| *place > 0)
        };
        let before = (1..=BASE_AGE_MAX).map_while(|age_ticks| tick.back(age_ticks));
        before.take_while(|tick| !self.has_forgotten(*tick)).find(has)
    }

    /// The numbers of the rows of the state of `tick`, ascending.
    pub(crate) fn slots(&self, tick: Tick) -> impl Iterator<Item = u32> {
        let state = &self.states[tick.get() as usize % KEPT_TICKS];
        let places = if state.tick == tick { &state.places[..] } else { &[] };
        places.iter().zip(0..).filter(|(place, _)| **place > 0).map(|(_, slot)| slot)
    }

    /// Some words of the row with this number, or of others; worthless, but that reading them brings them near.
    #[inline]
    pub(crate) fn touch(&self, tick: Tick, slot: u32) -> u32 {
        let state = &self.states[tick.get() as usize % KEPT_TICKS];
        let end = state.places.get(slot as usize).map_or(0, |end| *end as usize);
        let word = |before: usize| state.words.get(end.wrapping_sub(before)).copied().unwrap_or(0);
        word(1) ^ word(CACHE_LINE_WORDS)
    }

    /// Keeps a row; makes it with `fill`. Not where it is there already, or a later state has the place of this one.
    pub(crate) fn set(&mut self, tick: Tick, slot: u32, words: usize, fill: impl FnOnce(&mut [u32])) {
        let state = &mut self.states[tick.get() as usize % KEPT_TICKS];
        if state.tick > tick {
            return;
        }
        if state.tick < tick {
            state.clear();
            state.tick = tick;
        }
        let slot = slot as usize;
        if state.places.len() <= slot {
            state.places.resize(slot + 1, 0);
        }
        if state.places[slot] > 0 {
            return;
        }
        let start = state.words.len();
        state.words.resize(start + words, 0);
        fill(&mut state.words[start..]);
        state.places[slot] = u32::try_from(state.words.len()).unwrap_or(0);
    }
}

impl BaseState {
    fn clear(&mut self) {
        self.tick = Tick::ZERO;
        self.places.fill(0);
        self.words.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_there_until_ninety_six_ticks_later_another_state_is_and_an_older_one_does_not_replace_it() {
        let mut ring = ShownBases::new();
        let mut set = |tick, slot, value| ring.set(Tick::new(tick), slot, 2, |words| words.fill(value));
        [(100, 3, 7), (100, 5, 8), (101, 3, 9), (5, 3, 1)]
            .into_iter()
            .for_each(|(tick, slot, value)| set(tick, slot, value));
        let get = |ring: &ShownBases, tick, slot| ring.get(Tick::new(tick), slot, 2).map(|words| words[1]);
        assert_eq!(
            [(100, 3), (100, 5), (101, 3), (101, 5), (100, 4), (5, 3), (4, 3), (100, 6)]
                .map(|(tick, slot)| get(&ring, tick, slot)),
            [Some(7), Some(8), Some(9), None, None, None, None, None]
        );
        let slots = |ring: &ShownBases, tick| ring.slots(Tick::new(tick)).collect::<Vec<_>>();
        assert_eq!([100, 101, 5, 102].map(|tick| slots(&ring, tick)), [vec![3, 5], vec![3], vec![], vec![]]);
        ring.set(Tick::new(196), 3, 2, |words| words.fill(2));
        assert_eq!([100, 101, 196].map(|tick| get(&ring, tick, 3)), [None, Some(9), Some(2)]);
        ring.clear();
        assert_eq!(get(&ring, 196, 3), None);
    }
}
