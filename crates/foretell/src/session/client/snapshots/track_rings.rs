//! Histories of rows: the last states of each, as many as what is shown of it is behind what is known.

use crate::time::Tick;
use crate::world::PlayerId;
use alloc::vec::Vec;

/// How many states the smallest rings have room for.
const SMALLEST: usize = 8;
/// Before its words a state has as many for its tick; for how long it has moved, its owner and its status; and when it was known.
const HEADER: usize = 3;
/// The longest that can be remembered, in ticks: what has moved for longer counts as this.
const MOVED_TICKS_MAX: u32 = 0x3fff;

/// What a state says of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// It is there.
    There,
    /// It is there, and so until it is told anew.
    Rests,
    /// It is not there.
    Gone,
    /// It was the client's own, and is not any more: it is gone, if no other's since.
    GivenAway,
}

/// A row in one state, without its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TrackEntry {
    pub tick: Tick,
    pub owner: PlayerId,
    pub status: Status,
    /// In which update it was known first.
    pub known_in: u32,
    /// For how many ticks it may have moved by then that rested before; 0 where it did not, or nothing is known of that.
    pub moved_ticks: u32,
}

impl TrackEntry {
    #[inline]
    pub fn is_there(&self) -> bool {
        matches!(self.status, Status::There | Status::Rests)
    }

    /// Whether this one says more of its state than what is known of it.
    pub fn says_more_than(&self, known: TrackEntry) -> bool {
        match self.status {
            Status::There => !known.is_there(),
            Status::Rests => known.status != Status::Rests,
            Status::Gone => known.status == Status::GivenAway,
            Status::GivenAway => false,
        }
    }

    /// Whether a row is in this state as in the one before: there as the same player's, or not there.
    pub fn goes_on_from(&self, before: TrackEntry) -> bool {
        self.is_there() == before.is_there() && (self.owner == before.owner || !self.is_there())
    }

    #[inline]
    fn header(&self) -> [u32; HEADER] {
        let moved = self.moved_ticks.min(MOVED_TICKS_MAX) << 18;
        [self.tick.get(), moved | u32::from(self.owner.get()) << 2 | self.status as u32, self.known_in]
    }

    #[inline]
    fn of_header(header: &[u32]) -> TrackEntry {
        let status = [Status::There, Status::Rests, Status::Gone, Status::GivenAway][(header[1] & 3) as usize];
        #[expect(clippy::cast_possible_truncation, reason = "it was made of 16 bits")]
        let owner = PlayerId::new((header[1] >> 2) as u16);
        TrackEntry { tick: Tick::new(header[0]), owner, status, known_in: header[2], moved_ticks: header[1] >> 18 }
    }
}

/// That a state of a row was not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct News {
    /// Whether the row begins, ends or changes hands with it.
    pub turns: bool,
    /// The state after it, where the row does so with that, and did not as far as was known.
    pub turns_later: Option<Tick>,
    /// Whether nothing newer is known.
    pub is_newest: bool,
}

/// One ring: where it is, and what of it is in use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// Which length it has, and which one of these it is.
    class: u32,
    nth: u32,
    /// Where in it the oldest state is, and how many there are.
    start: u32,
    pub len: u32,
    /// Whether older states have given way.
    pub is_cut: bool,
}

/// Rings of one length, one after the other.
#[derive(Debug)]
struct RingsOfLength {
    /// A power of two.
    places: usize,
    data: Vec<u32>,
    /// Those that nobody has.
    free: Vec<u32>,
}

/// The rings of a component: of several lengths, each twice as long as the one before.
#[derive(Debug)]
pub(super) struct TrackRings {
    /// How many words a state takes.
    stride: usize,
    classes: Vec<RingsOfLength>,
    /// The last state that is shown: what was known before that is not needed any more.
    shown: Tick,
}

/// The states of one ring, each with its number from the oldest, which is 0.
#[derive(Clone, Copy)]
pub(super) struct RingStates<'a> {
    data: &'a [u32],
    stride: usize,
    start: u32,
    /// The last place of the ring, by which numbers are taken modulo its length.
    last: usize,
}

impl<'a> RingStates<'a> {
    #[inline]
    fn whole(&self, at: u32) -> &'a [u32] {
        let place = ((self.start + at) as usize & self.last) * self.stride;
        &self.data[place..place + self.stride]
    }

    /// One of them, and its words.
    #[inline]
    pub fn state(&self, at: u32) -> (TrackEntry, &'a [u32]) {
        let (header, words) = self.whole(at).split_at(HEADER);
        (TrackEntry::of_header(header), words)
    }

    /// The same of a row that is there and may move; `None` where it is not, or rests.
    #[inline]
    pub fn moving(&self, at: u32) -> Option<(Tick, &'a [u32])> {
        let (header, words) = self.whole(at).split_at(HEADER);
        (header[1] & 3 == Status::There as u32).then(|| (Tick::new(header[0]), words))
    }

    /// Its tick.
    #[inline]
    pub fn tick(&self, at: u32) -> Tick {
        Tick::new(self.whole(at)[0])
    }

    /// In which update it was known first.
    #[inline]
    pub fn known_in(&self, at: u32) -> u32 {
        self.whole(at)[2]
    }
}

impl TrackRings {
    /// Of rows of this number of words, for up to `states` of each.
    pub fn new(words: usize, states: usize) -> TrackRings {
        let longest = states.next_power_of_two().max(SMALLEST);
        let lengths = core::iter::successors(Some(SMALLEST), |places| Some(places * 2));
        let new = |places| RingsOfLength { places, data: Vec::new(), free: Vec::new() };
        TrackRings {
            stride: HEADER + words,
            classes: lengths.take_while(|places| *places <= longest).map(new).collect(),
            shown: Tick::ZERO,
        }
    }

    /// Rows are shown in this state by now.
    pub fn note_shown(&mut self, shown: Tick) {
        self.shown = shown;
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        for class in &mut self.classes {
            class.data.clear();
            class.free.clear();
        }
        self.shown = Tick::ZERO;
    }

    /// An empty ring of the smallest length.
    pub fn take(&mut self) -> Ring {
        self.take_of(0)
    }

    fn take_of(&mut self, class: u32) -> Ring {
        let RingsOfLength { places, data, free } = &mut self.classes[class as usize];
        let words = *places * self.stride;
        let nth = free.pop().unwrap_or_else(|| {
            let nth = data.len() / words;
            data.resize(data.len() + words, 0);
            u32::try_from(nth).unwrap_or(u32::MAX)
        });
        Ring { class, nth, start: 0, len: 0, is_cut: false }
    }

    pub fn give_back(&mut self, ring: Ring) {
        self.classes[ring.class as usize].free.push(ring.nth);
    }

    /// A number that no other ring has.
    #[inline]
    pub fn number(&self, ring: Ring) -> usize {
        ring.nth as usize * self.classes.len() + ring.class as usize
    }

    /// The states of a ring.
    #[inline]
    pub fn states(&self, Ring { class, nth, start, .. }: Ring) -> RingStates<'_> {
        let RingsOfLength { places, data, .. } = &self.classes[class as usize];
        let from = nth as usize * places * self.stride;
        RingStates { data: &data[from..from + places * self.stride], stride: self.stride, start, last: *places - 1 }
    }

    /// The state with this number from the oldest, which is 0, and its words.
    #[inline]
    pub fn state(&self, ring: Ring, at: u32) -> (TrackEntry, &[u32]) {
        self.states(ring).state(at)
    }

    /// Takes in a row as it is in a state, or that it is gone; `None` where that is known, or too long ago. `moved_ticks` is asked with
    /// the words of a row that rested before, and is another now.
    pub fn put(
        &mut self,
        ring: &mut Ring,
        mut entry: TrackEntry,
        words: &[u32],
        moved_ticks: impl Fn(&[u32]) -> u32,
    ) -> Option<News> {
        let is_there = entry.is_there();
        let moved = |(before, rested): (TrackEntry, &[u32])| {
            let moves = is_there && before.status == Status::Rests && rested != words;
            if moves { moved_ticks(rested) } else { 0 }
        };
        if let Some((newest, rested)) = ring.len.checked_sub(1).map(|at| self.state(*ring, at)) {
            // Mostly it just goes on.
            if newest.tick < entry.tick && entry.is_there() && entry.goes_on_from(newest) {
                entry.moved_ticks = moved((newest, rested));
                let place = self.make_room(ring, ring.len)?;
                self.set(*ring, place, entry, words);
                return Some(News { turns: false, turns_later: None, is_newest: true });
            }
        }
        let state = |at: u32| self.state(*ring, at).0;
        let later = (0..ring.len).rev().take_while(|at| state(*at).tick > entry.tick).count();
        let at = ring.len - u32::try_from(later).unwrap_or(0);
        let [earlier, before] = [2, 1].map(|back| at.checked_sub(back).map(state));
        let later = (at < ring.len).then(|| state(at));
        let same = before.filter(|before| before.tick == entry.tick);
        if same.is_some_and(|known| !entry.says_more_than(known)) {
            return None;
        }
        let is_gone = |of: Option<TrackEntry>| of.is_some_and(|of| !of.is_there());
        // That it is gone is told again and again: the first time and the last one count.
        let is_gone_still = later.is_none() && [Some(entry), before, earlier].into_iter().all(is_gone);
        let is_given = |later: TrackEntry| later.status == Status::GivenAway && later.owner != entry.owner;
        let is_given_to = entry.is_there() && later.is_some_and(is_given);
        entry.moved_ticks = at.checked_sub(1).map_or(0, |before| moved(self.state(*ring, before)));
        let place = if same.is_some() || is_gone_still {
            at.checked_sub(1)?
        } else if is_given_to {
            at
        } else {
            self.make_room(ring, at)?
        };
        let TrackEntry { known_in, moved_ticks, .. } = same.filter(TrackEntry::is_there).unwrap_or(entry);
        self.set(*ring, place, TrackEntry { known_in, moved_ticks, ..entry }, words);
        let later = (place + 1 < ring.len).then(|| self.state(*ring, place + 1).0);
        let turns_later = later.filter(|later| !later.goes_on_from(entry)).map(|later| later.tick);
        let turns = !before.is_some_and(|before| entry.goes_on_from(before));
        Some(News { turns, turns_later, is_newest: later.is_none() })
    }

    /// Forgets the states before the last one up to `tick`, which counts in their place; but not where a predicted row is not in it.
    pub fn forget_before(&self, ring: &mut Ring, tick: Tick, is_predicted: bool) {
        let states = self.states(*ring);
        let last = (0..ring.len).rev().find(|at| states.tick(*at) <= tick);
        if let Some(last) = last.filter(|last| !is_predicted || states.state(*last).0.is_there()) {
            (ring.start, ring.len, ring.is_cut) = (ring.start + last, ring.len - last, true);
        }
    }

    /// Writes the state with this number from the oldest; the words of one that is not there do not count.
    #[inline]
    fn set(&mut self, ring: Ring, at: u32, entry: TrackEntry, words: &[u32]) {
        let place = self.place(ring, at);
        let state = &mut self.classes[ring.class as usize].data[place..place + self.stride];
        state[..HEADER].copy_from_slice(&entry.header());
        if entry.is_there() {
            state[HEADER..].copy_from_slice(words);
        }
    }

    /// Makes room for a state behind `at` others: where there is none, the oldest goes if the third was shown, else the ring becomes a
    /// longer one, while there are longer ones. Returns how many are before it; `None` where it is to go, or those before it have gone.
    fn make_room(&mut self, ring: &mut Ring, mut at: u32) -> Option<u32> {
        let places = self.classes[ring.class as usize].places;
        at.checked_sub(u32::from(ring.is_cut))?;
        if ring.len as usize == places {
            let is_needed = self.state(*ring, 2).0.tick > self.shown;
            if is_needed && (ring.class as usize) + 1 < self.classes.len() {
                self.lengthen(ring);
            } else {
                ring.is_cut = true;
                at = at.checked_sub(1)?;
                ring.start = (ring.start + 1) & (ring.len - 1);
                ring.len -= 1;
            }
        }
        ring.len += 1;
        for at in (at + 1..ring.len).rev() {
            let (from, to) = (self.place(*ring, at - 1), self.place(*ring, at));
            self.classes[ring.class as usize].data.copy_within(from..from + self.stride, to);
        }
        Some(at)
    }

    fn lengthen(&mut self, ring: &mut Ring) {
        let longer = Ring { len: ring.len, is_cut: ring.is_cut, ..self.take_of(ring.class + 1) };
        let (shorter, from) = self.classes.split_at_mut(longer.class as usize);
        let shorter = &mut shorter[ring.class as usize];
        let (start, words) = (longer.nth as usize * from[0].places * self.stride, self.stride);
        for at in 0..ring.len as usize {
            let place = ring.nth as usize * shorter.places + ((ring.start as usize + at) & (shorter.places - 1));
            let (to, of) = (start + at * words, place * words);
            from[0].data[to..to + words].copy_from_slice(&shorter.data[of..of + words]);
        }
        shorter.free.push(ring.nth);
        *ring = longer;
    }

    /// Where the words of the state with this number from the oldest begin.
    #[inline]
    fn place(&self, ring: Ring, at: u32) -> usize {
        let places = self.classes[ring.class as usize].places;
        (ring.nth as usize * places + ((ring.start + at) as usize & (places - 1))) * self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts states one after the other, where others are shown `behind` ticks behind. Returns the ring with them.
    fn ring_of(rings: &mut TrackRings, ticks: u32, behind: u32) -> Ring {
        let mut ring = rings.take();
        for tick in 0..ticks {
            rings.note_shown(Tick::new(tick.saturating_sub(behind)));
            let tick = Tick::new(tick);
            let entry =
                TrackEntry { tick, owner: PlayerId::new(0x3fff), status: Status::Rests, known_in: 7, moved_ticks: 0 };
            let news = rings.put(&mut ring, entry, &[tick.get() * 2; 3], |_| 9);
            assert!(news.is_some_and(|news| news.is_newest));
        }
        ring
    }

    #[test]
    fn a_ring_is_as_long_as_what_is_shown_is_behind_and_has_the_newest_states() {
        let mut rings = TrackRings::new(3, 32);
        for (ticks, behind, expected) in
            [(5, 0, 5), (100, 0, 8), (100, 6, 8), (100, 7, 16), (100, 15, 32), (100, 90, 32)]
        {
            let ring = ring_of(&mut rings, ticks, behind);
            assert_eq!((ring.len, ring.is_cut), (expected, expected < ticks), "{behind} behind");
            for at in 0..ring.len {
                let tick = ticks - ring.len + at;
                let (entry, words) = rings.state(ring, at);
                let (owner, status) = (PlayerId::new(0x3fff), Status::Rests);
                let moved_ticks = if tick > 0 { 9 } else { 0 };
                let expected = TrackEntry { tick: Tick::new(tick), owner, status, known_in: 7, moved_ticks };
                assert_eq!((entry, words), (expected, &[tick * 2; 3][..]));
            }
        }
    }

    #[test]
    fn rings_that_nobody_has_are_taken_again_and_no_two_have_one_number() {
        let mut rings = TrackRings::new(3, 32);
        let mut numbers: Vec<_> = [0, 7, 15, 0, 7, 15].map(|behind| ring_of(&mut rings, 100, behind)).into();
        let words = |rings: &TrackRings| rings.classes.iter().map(|class| class.data.len()).sum::<usize>();
        let before = words(&rings);
        numbers.drain(..3).for_each(|ring| rings.give_back(ring));
        numbers.extend([15, 0, 7].map(|behind| ring_of(&mut rings, 100, behind)));
        assert_eq!(words(&rings), before);
        let mut numbers: Vec<_> = numbers.into_iter().map(|ring| rings.number(ring)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 6);
    }
}
