//! Of which ticks states are saved: a fixed interval apart, some where the next re-simulation may well begin, and two on the side.
//! The states themselves, whatever they are made of, lie elsewhere, each in a slot with a number.

use super::rollback_forecast::AHEAD;
use crate::time::Tick;
use alloc::vec;
use alloc::vec::Vec;

/// Where a saved state lies: slots are numbered from 0 on, and used again.
pub(super) type SavedSlot = usize;

/// A place for a saved state, which is that of a tick.
type Place = Option<(Tick, SavedSlot)>;

/// Saved states by tick. Ticks fall into stretches as long as saved states are apart; of each stretch one state is kept, the
/// one that was saved last.
///
/// Invariant: an entry of the ring is of a tick of the stretch that has its place, or of one that had it before.
pub(super) struct CheckpointSlots {
    /// The length of a stretch, in ticks.
    every: u32,
    ring: Vec<Place>,
    /// Where the next re-simulation was expected to begin, and where an earlier one was.
    expected: [Place; AHEAD + 1],
    /// The present and the settled state, while a re-simulation that takes several updates goes from one to the other.
    aside: [Place; 2],
    /// Slots that hold nothing that is needed; there are as many slots as places. The last is used first: its memory is one that a
    /// processor still has at hand, if any was used.
    spare: Vec<SavedSlot>,
}

impl CheckpointSlots {
    /// Room for the states of `horizon` ticks and the present one, when one in `every` ticks is saved.
    pub(super) fn new(every: u32, horizon: u32) -> CheckpointSlots {
        let every = every.max(1);
        let (ring, expected, aside) = (vec![None; (horizon / every + 2) as usize], [None; AHEAD + 1], [None; 2]);
        let spare = (0..ring.len() + expected.len() + aside.len()).rev().collect();
        CheckpointSlots { every, ring, expected, aside, spare }
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
    pub(super) fn place(&mut self, tick: Tick) -> SavedSlot {
        let at = self.at(tick);
        occupy(&mut self.ring[at], tick, &mut self.spare)
    }

    /// Whether the first saved state from `since` on lies in the place of the state of `tick`, which is newer.
    pub(super) fn is_place_of_first(&self, tick: Tick, since: Tick) -> bool {
        let of = tick_of(&self.ring[self.at(tick)]);
        of.is_some() && of == self.first_from(since, tick)
    }

    /// The place of the state of `tick` when the next re-simulation may well begin there: one that is free, or of what will be
    /// another state soon, or of the oldest one.
    pub(super) fn place_expected(&mut self, tick: Tick) -> SavedSlot {
        let worth = |place: &&mut Place| tick_of(place).filter(|of| *of < tick);
        let place = self.expected.iter_mut().min_by_key(worth).expect("there are some");
        occupy(place, tick, &mut self.spare)
    }

    /// Forgets the state of `tick`: it is another one now.
    pub(super) fn forget(&mut self, tick: Tick) {
        let at = self.at(tick);
        let places = self.expected.iter_mut().chain([&mut self.ring[at]]);
        places.for_each(|place| vacate(place, &mut self.spare, |of| of == tick));
    }

    /// Forgets the states from that of `from` on that lie before that of `until`.
    pub(super) fn forget_between(&mut self, from: Tick, until: Tick) {
        let (every, length) = (self.every, self.ring.len());
        for stretch in (from.get() / every..=until.get() / every).take(length) {
            vacate(&mut self.ring[stretch as usize % length], &mut self.spare, |of| of < until);
        }
    }

    /// A place on the side for the state of `tick`; that of `present` stays.
    pub(super) fn place_aside(&mut self, tick: Tick, present: Tick) -> SavedSlot {
        let [first, second] = &mut self.aside;
        let place = if tick_of(first) == Some(present) && tick != present { second } else { first };
        occupy(place, tick, &mut self.spare)
    }

    /// Forgets what is on the side, but the state of `present`.
    pub(super) fn forget_aside(&mut self, present: Option<Tick>) {
        self.aside.iter_mut().for_each(|place| vacate(place, &mut self.spare, |of| Some(of) != present));
    }

    /// Where the state of `tick` lies when it is on the side; no more from now on.
    pub(super) fn take_aside(&mut self, tick: Tick) -> Option<SavedSlot> {
        let place = self.aside.iter_mut().find(|place| tick_of(place) == Some(tick))?;
        take(place, &mut self.spare)
    }

    /// The newest saved state that is not newer than `tick`, nor older than `oldest`: of which tick it is, and where.
    pub(super) fn newest_until(&self, tick: Tick, oldest: Tick) -> Option<(Tick, SavedSlot)> {
        let of = self.newest(tick, oldest)?;
        let mut saved = self.expected.iter().chain([&self.ring[self.at(of)]]).flatten();
        saved.find(|(saved, _)| *saved == of).copied()
    }

    /// Whether that is one where a re-simulation was expected to begin.
    pub(super) fn expects(&self, tick: Tick, oldest: Tick) -> bool {
        let expected = self.expected_in(oldest, tick).max();
        expected.is_some() && expected > self.newest_in_ring(tick, oldest)
    }

    /// The same state; it is not saved from now on.
    pub(super) fn take_newest_until(&mut self, tick: Tick, oldest: Tick) -> Option<(Tick, SavedSlot)> {
        let of = self.newest(tick, oldest)?;
        let at = self.at(of);
        let mut places = self.expected.iter_mut().chain([&mut self.ring[at]]);
        let place = places.find(|place| tick_of(place) == Some(of))?;
        take(place, &mut self.spare).map(|slot| (of, slot))
    }

    /// The first tick from `tick` to `present` whose state is saved.
    pub(super) fn first_from(&self, tick: Tick, present: Tick) -> Option<Tick> {
        let stretches = tick.get() / self.every..=present.get() / self.every;
        let mut in_ring = stretches.filter_map(|stretch| self.of_stretch(stretch, tick, present));
        in_ring.next().into_iter().chain(self.expected_in(tick, present)).min()
    }

    /// The tick of the newest one that is not newer than `tick`, nor older than `oldest`.
    pub(super) fn newest(&self, tick: Tick, oldest: Tick) -> Option<Tick> {
        self.newest_in_ring(tick, oldest).max(self.expected_in(oldest, tick).max())
    }

    /// The same, but for those where a re-simulation was expected to begin.
    pub(super) fn newest_in_ring(&self, tick: Tick, oldest: Tick) -> Option<Tick> {
        let stretches = (oldest.get() / self.every..=tick.get() / self.every).rev();
        stretches.take(self.ring.len()).find_map(|stretch| self.of_stretch(stretch, oldest, tick))
    }

    /// The tick of the state of a stretch, when it is one from `first` to `last`.
    fn of_stretch(&self, stretch: u32, first: Tick, last: Tick) -> Option<Tick> {
        let of = tick_of(&self.ring[stretch as usize % self.ring.len()])?;
        (of.get() / self.every == stretch && (first..=last).contains(&of)).then_some(of)
    }

    fn expected_in(&self, first: Tick, last: Tick) -> impl Iterator<Item = Tick> {
        self.expected.iter().filter_map(tick_of).filter(move |of| (first..=last).contains(of))
    }

    fn at(&self, tick: Tick) -> usize {
        (tick.get() / self.every) as usize % self.ring.len()
    }
}

/// Of which tick the state is that has this place.
fn tick_of(place: &Place) -> Option<Tick> {
    place.map(|(of, _)| of)
}

/// Gives a place to the state of `tick`, in the slot of what had it, or in one that is spare.
fn occupy(place: &mut Place, tick: Tick, spare: &mut Vec<SavedSlot>) -> SavedSlot {
    let slot = place.map(|(_, slot)| slot).or_else(|| spare.pop()).expect("there is a slot for each place");
    *place = Some((tick, slot));
    slot
}

/// Takes the state out of a place, if it is one of such a tick; its slot is the last that was freed.
fn vacate(place: &mut Place, spare: &mut Vec<SavedSlot>, is_it: impl Fn(Tick) -> bool) {
    if tick_of(place).is_some_and(is_it) {
        take(place, spare);
    }
}

/// The same, whatever its tick is. Returns the slot, in which the state still is until another is saved.
fn take(place: &mut Place, spare: &mut Vec<SavedSlot>) -> Option<SavedSlot> {
    let (_, slot) = place.take()?;
    spare.push(slot);
    Some(slot)
}
