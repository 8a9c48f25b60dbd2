//! Where saved states lie: a fixed interval of ticks apart, some where the next re-simulation may well begin, and two on the side.

use super::expected_rollbacks::AHEAD;
use crate::time::Tick;
use alloc::vec::Vec;

/// A saved state, and of which tick it is.
type Saved<S> = (Option<Tick>, S);

/// Saved states by tick. Ticks fall into stretches as long as saved states are apart; of each stretch one state is kept, the
/// one that was saved last.
///
/// Invariant: an entry of the ring is of a tick of the stretch that has its place, or of one that had it before.
pub(super) struct CheckpointRing<S> {
    /// The length of a stretch, in ticks.
    every: u32,
    ring: Vec<Saved<S>>,
    /// Where the next re-simulation was expected to begin, and where an earlier one was.
    expected: [Saved<S>; AHEAD + 1],
    /// The present and the settled state, while a re-simulation that takes several updates goes from one to the other.
    aside: [Saved<S>; 2],
}

impl<S: Default> CheckpointRing<S> {
    /// Room for the states of `horizon` ticks and the present one, when one in `every` ticks is saved.
    pub(super) fn new(every: u32, horizon: u32) -> CheckpointRing<S> {
        let every = every.max(1);
        let ring = (0..horizon / every + 2).map(|_| Saved::default()).collect();
        CheckpointRing { every, ring, expected: Default::default(), aside: Default::default() }
    }

    /// Whether every state is saved.
    pub(super) fn has_all(&self) -> bool {
        self.every == 1
    }

    /// Whether the last saved state, of those that are not older than `oldest`, is so long before `tick`, and `at_least` so
    /// many ticks, that its own is to be saved.
    pub(super) fn is_due(&self, tick: Tick, oldest: Tick, at_least: u32) -> bool {
        self.newest(tick, oldest).is_none_or(|of| tick.since(of) >= self.every.max(at_least))
    }

    /// The place of the state of `tick`.
    pub(super) fn place(&mut self, tick: Tick) -> &mut S {
        let at = self.at(tick);
        self.ring[at].0 = Some(tick);
        &mut self.ring[at].1
    }

    /// Whether the first saved state from `since` on lies in the place of the state of `tick`, which is newer.
    pub(super) fn is_place_of_first(&self, tick: Tick, since: Tick) -> bool {
        let (of, _) = self.ring[self.at(tick)];
        of.is_some() && of == self.first_from(since, tick)
    }

    /// The place of the state of `tick` when the next re-simulation may well begin there: one that is free, or of what will be
    /// another state soon, or of the oldest one.
    pub(super) fn place_expected(&mut self, tick: Tick) -> &mut S {
        let worth = |(of, _): &&mut Saved<S>| of.filter(|of| *of < tick);
        let place = self.expected.iter_mut().min_by_key(worth).expect("there are some");
        place.0 = Some(tick);
        &mut place.1
    }

    /// Forgets the state of `tick`: it is another one now.
    pub(super) fn forget(&mut self, tick: Tick) {
        let at = self.at(tick);
        for (of, _) in self.expected.iter_mut().chain([&mut self.ring[at]]) {
            of.take_if(|of| *of == tick);
        }
    }

    /// A place on the side for the state of `tick`; that of `present` stays.
    pub(super) fn place_aside(&mut self, tick: Tick, present: Tick) -> &mut S {
        let [first, second] = &mut self.aside;
        let place = if first.0 == Some(present) && tick != present { second } else { first };
        place.0 = Some(tick);
        &mut place.1
    }

    /// Forgets what is on the side, but the state of `present`.
    pub(super) fn forget_aside(&mut self, present: Option<Tick>) {
        self.aside.iter_mut().filter(|(of, _)| *of != present).for_each(|(of, _)| *of = None);
    }

    /// The state of `tick` when it lies on the side; no more from now on.
    pub(super) fn take_aside(&mut self, tick: Tick) -> Option<&mut S> {
        let (of, saved) = self.aside.iter_mut().find(|(of, _)| *of == Some(tick))?;
        *of = None;
        Some(saved)
    }

    /// The newest saved state that is not newer than `tick`, nor older than `oldest`.
    pub(super) fn newest_until(&self, tick: Tick, oldest: Tick) -> Option<(Tick, &S)> {
        let of = self.newest(tick, oldest)?;
        let (_, saved) = self.expected.iter().chain([&self.ring[self.at(of)]]).find(|(saved, _)| *saved == Some(of))?;
        Some((of, saved))
    }

    /// Whether that is one where a re-simulation was expected to begin.
    pub(super) fn expects(&self, tick: Tick, oldest: Tick) -> bool {
        let expected = self.expected_in(oldest, tick).max();
        expected.is_some() && expected > self.newest_in_ring(tick, oldest)
    }

    /// The same state; it is not saved from now on.
    pub(super) fn take_newest_until(&mut self, tick: Tick, oldest: Tick) -> Option<(Tick, &mut S)> {
        let of = self.newest(tick, oldest)?;
        let at = self.at(of);
        let mut places = self.expected.iter_mut().chain([&mut self.ring[at]]);
        let (place, saved) = places.find(|(saved, _)| *saved == Some(of))?;
        *place = None;
        Some((of, saved))
    }

    /// The first tick from `tick` to `present` whose state is saved.
    pub(super) fn first_from(&self, tick: Tick, present: Tick) -> Option<Tick> {
        let stretches = tick.get() / self.every..=present.get() / self.every;
        let mut in_ring = stretches.filter_map(|stretch| self.of_stretch(stretch, tick, present));
        in_ring.next().into_iter().chain(self.expected_in(tick, present)).min()
    }

    /// The tick of the newest one that is not newer than `tick`, nor older than `oldest`.
    fn newest(&self, tick: Tick, oldest: Tick) -> Option<Tick> {
        self.newest_in_ring(tick, oldest).max(self.expected_in(oldest, tick).max())
    }

    fn newest_in_ring(&self, tick: Tick, oldest: Tick) -> Option<Tick> {
        let stretches = (oldest.get() / self.every..=tick.get() / self.every).rev();
        stretches.take(self.ring.len()).find_map(|stretch| self.of_stretch(stretch, oldest, tick))
    }

    /// The tick of the state of a stretch, when it is one from `first` to `last`.
    fn of_stretch(&self, stretch: u32, first: Tick, last: Tick) -> Option<Tick> {
        let of = self.ring[stretch as usize % self.ring.len()].0?;
        (of.get() / self.every == stretch && (first..=last).contains(&of)).then_some(of)
    }

    fn expected_in(&self, first: Tick, last: Tick) -> impl Iterator<Item = Tick> {
        self.expected.iter().filter_map(|(of, _)| *of).filter(move |of| (first..=last).contains(of))
    }

    fn at(&self, tick: Tick) -> usize {
        (tick.get() / self.every) as usize % self.ring.len()
    }
}
