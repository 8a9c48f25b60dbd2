//! `TickRing`: values of the last ticks, in a fixed amount of memory.

use super::Tick;
use alloc::vec::Vec;

/// One value for each of the last ticks. A tick's place is its number modulo the length: what is set for a tick takes the
/// place of the one that lies a length before it, or after it.
#[derive(Clone, Debug)]
pub(crate) struct TickRing<T> {
    /// Invariant: what stands at an index is of a tick that is congruent to it.
    places: Vec<Option<(Tick, T)>>,
}

impl<T> TickRing<T> {
    /// An empty ring with places for `ticks` ticks in a row.
    ///
    /// # Panics
    /// When `ticks` is 0.
    pub(crate) fn new(ticks: usize) -> TickRing<T> {
        assert!(ticks > 0, "a ring has a place for one tick at least");
        TickRing { places: (0..ticks).map(|_| None).collect() }
    }

    /// Stores the value of a tick, in place of what stood there.
    pub(crate) fn set(&mut self, tick: Tick, value: T) {
        let index = self.index(tick);
        self.places[index] = Some((tick, value));
    }

    /// The value of a tick; `None` where none is stored, or that of another tick is.
    pub(crate) fn get(&self, tick: Tick) -> Option<&T> {
        let (of, value) = self.places[self.index(tick)].as_ref()?;
        (*of == tick).then_some(value)
    }

    /// Takes the value of a tick out; `None` where none is stored, or that of another tick is.
    pub(crate) fn take(&mut self, tick: Tick) -> Option<T> {
        let index = self.index(tick);
        self.places[index].take_if(|(of, _)| *of == tick).map(|(_, value)| value)
    }

    /// Takes out what stands in a tick's place, whichever tick's it is: its memory may be used again for this one.
    pub(crate) fn evict(&mut self, tick: Tick) -> Option<T> {
        let index = self.index(tick);
        self.places[index].take().map(|(_, value)| value)
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.places.fill_with(|| None);
    }

    fn index(&self, tick: Tick) -> usize {
        tick.get() as usize % self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(ticks: impl IntoIterator<Item = u32>) -> TickRing<u32> {
        let mut ring = TickRing::new(4);
        ticks.into_iter().for_each(|tick| ring.set(Tick::new(tick), 10 * tick));
        ring
    }

    fn known(ring: &TickRing<u32>) -> Vec<u32> {
        (0..20).filter(|tick| ring.get(Tick::new(*tick)) == Some(&(10 * tick))).collect()
    }

    #[test]
    fn of_each_place_the_value_that_was_set_last_is_known_and_of_its_own_tick_alone() {
        assert_eq!(known(&ring(0..10)), [6, 7, 8, 9]);
        assert_eq!(known(&ring([9, 2, 5, 11])), [2, 5, 11], "an older tick takes the place of a newer one too");
        assert_eq!(ring(0..10).get(Tick::new(5)), None);
    }

    #[test]
    fn what_stands_in_a_tick_s_place_is_taken_out_whichever_tick_s_it_is() {
        let mut ring = ring(0..10);
        assert_eq!([13, 13].map(|tick| ring.evict(Tick::new(tick))), [Some(90), None]);
        assert_eq!(known(&ring), [6, 7, 8]);
    }

    #[test]
    fn a_value_is_taken_under_its_own_tick_alone() {
        let mut ring = ring(0..10);
        assert_eq!([4, 8, 8].map(|tick| ring.take(Tick::new(tick))), [None, Some(80), None]);
        assert_eq!(known(&ring), [6, 7, 9]);
    }

    #[test]
    fn nothing_is_known_to_a_ring_that_is_cleared() {
        let mut ring = ring(0..10);
        ring.clear();
        assert!(known(&ring).is_empty());
    }

    #[test]
    #[should_panic = "a place for one tick"]
    fn a_ring_without_places_is_refused() {
        let _ = TickRing::<u32>::new(0);
    }
}
