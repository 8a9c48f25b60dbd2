//! The last states of each row of one component: a ring of them for each, by which it is shown.

use crate::time::Tick;
use crate::world::{Entity, PlayerId};
use alloc::vec::Vec;

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
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackEntry {
    pub tick: Tick,
    pub owner: PlayerId,
    pub status: Status,
    /// In which update it was known first.
    pub known_in: u32,
}

impl TrackEntry {
    pub fn is_there(&self) -> bool {
        matches!(self.status, Status::There | Status::Rests)
    }
}

/// What a row in a state is to what is known of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum News {
    /// Nothing new, or too old.
    None,
    /// It goes on as what it was.
    GoesOn,
    /// It begins, ends or changes hands.
    Turns,
}

/// The states of one row.
#[derive(Clone, Copy, Debug)]
struct Track {
    /// Which of the rings is its.
    ring: u32,
    /// Where in it the oldest is, and how many there are: one at least.
    start: u32,
    len: u32,
}

/// Of one row: which ring it has, and in which update something new was known of it. That changes whenever the row does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Revision {
    pub ring: usize,
    pub known_in: u32,
}

/// What is known of the rows of a component, ascending by entity.
#[derive(Debug)]
pub(crate) struct TrackTable {
    words: usize,
    /// Each ring has so many places, a power of two.
    places: usize,
    entities: Vec<Entity>,
    tracks: Vec<Track>,
    /// In which update something new was known of each.
    revised: Vec<u32>,
    /// The rings, one after the other, and the words in them.
    entries: Vec<TrackEntry>,
    data: Vec<u32>,
    /// Rings that nobody has.
    free: Vec<u32>,
    /// Where the next row mostly is.
    next: usize,
}

impl TrackTable {
    /// Rows of so many words, of which so many states are kept.
    pub fn new(words: usize, states: usize) -> TrackTable {
        TrackTable {
            words,
            places: states.next_power_of_two(),
            entities: Vec::new(),
            tracks: Vec::new(),
            revised: Vec::new(),
            entries: Vec::new(),
            data: Vec::new(),
            free: Vec::new(),
            next: 0,
        }
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.entities.clear();
        self.tracks.clear();
        self.revised.clear();
        self.entries.clear();
        self.data.clear();
        self.free.clear();
    }

    pub fn len(&self) -> usize {
        self.entities.len()
    }

    pub fn entity(&self, nth: usize) -> Entity {
        self.entities[nth]
    }

    pub fn revision(&self, nth: usize) -> Revision {
        Revision { ring: self.tracks[nth].ring as usize, known_in: self.revised[nth] }
    }

    pub fn find(&self, entity: Entity) -> Option<usize> {
        self.entities.binary_search(&entity).ok()
    }

    /// The same of one after another, ascending: `next` is where it mostly is, and becomes where the one after it is.
    #[inline]
    pub fn find_near(&self, entity: Entity, next: &mut usize) -> Option<usize> {
        let found = self.find_from(*next, entity);
        let (Ok(nth) | Err(nth)) = found;
        *next = nth + usize::from(found.is_ok());
        found.ok()
    }

    #[inline]
    fn find_from(&self, next: usize, entity: Entity) -> Result<usize, usize> {
        if self.entities.get(next) == Some(&entity) { Ok(next) } else { self.entities.binary_search(&entity) }
    }

    /// The newest state of which anything is known of a row, which is mostly the one that came last.
    pub fn newest_tick(&self, entity: Entity) -> Option<Tick> {
        let nth = self.find_from(self.next.wrapping_sub(1), entity).ok()?;
        self.newest_first(nth).next().map(|(newest, _)| newest.tick)
    }

    /// The states of a row with their words, from the newest back.
    #[inline]
    pub fn newest_first(&self, nth: usize) -> impl Iterator<Item = (&TrackEntry, &[u32])> + Clone {
        let track = self.tracks[nth];
        (0..track.len).rev().map(move |back| {
            let place = self.place(track, back);
            (&self.entries[place], &self.data[place * self.words..(place + 1) * self.words])
        })
    }

    /// Takes in a row as it is in a state, or that it is gone, where that is not known.
    pub fn put(&mut self, entity: Entity, entry: TrackEntry, words: &[u32]) -> News {
        let found = self.find_from(self.next, entity);
        let (Ok(nth) | Err(nth)) = found;
        self.next = nth + 1;
        if found.is_err() {
            self.insert(nth, entity);
        }
        let news = self.put_at(nth, entry, words);
        if news != News::None {
            self.revised[nth] = entry.known_in;
        }
        news
    }

    fn put_at(&mut self, nth: usize, entry: TrackEntry, words: &[u32]) -> News {
        let track = self.tracks[nth];
        let at = self.count_until(track, entry.tick);
        let state = |at: u32| (at < track.len).then(|| self.entries[self.place(track, at)]);
        let [earlier, before] = [2, 1].map(|back| at.checked_sub(back).and_then(state));
        let is_gone = |of: Option<TrackEntry>| of.is_some_and(|of| !of.is_there());
        let is_same_state = before.is_some_and(|before| before.tick == entry.tick);
        if is_same_state && before.is_some_and(|before| !entry.says_more_than(before)) {
            return News::None;
        }
        let is_given_to = entry.is_there() && state(at).is_some_and(|later| later.status == Status::GivenAway);
        // That it is gone is told again and again: the first time and the last one count.
        let is_gone_still = state(at).is_none() && [Some(entry), before, earlier].into_iter().all(is_gone);
        let place = match (is_same_state || is_gone_still, is_given_to) {
            (true, _) => Some(self.place(track, at - 1)),
            (false, true) => Some(self.place(track, at)),
            (false, false) => self.make_room(nth, at),
        };
        let Some(place) = place else { return News::None };
        let known_in =
            before.filter(|before| is_same_state && before.is_there()).map_or(entry.known_in, |of| of.known_in);
        self.entries[place] = TrackEntry { known_in, ..entry };
        if entry.is_there() {
            self.data[place * self.words..(place + 1) * self.words].copy_from_slice(words);
        }
        let is_as = |before: TrackEntry| before.owner == entry.owner || !entry.is_there();
        let goes_on = before.is_some_and(|before| before.is_there() == entry.is_there() && is_as(before));
        if goes_on { News::GoesOn } else { News::Turns }
    }

    /// How many states of a row are known up to this one.
    fn count_until(&self, track: Track, tick: Tick) -> u32 {
        let is_later = |at: &u32| self.entries[self.place(track, at - 1)].tick > tick;
        track.len - u32::try_from((1..=track.len).rev().take_while(is_later).count()).unwrap_or(0)
    }

    /// Makes room for a state where so many are before it; where there is none, the oldest goes. `None` where that is this one.
    fn make_room(&mut self, nth: usize, mut at: u32) -> Option<usize> {
        let mut track = self.tracks[nth];
        if track.len as usize == self.places {
            at = at.checked_sub(1)?;
            track.start = (track.start + 1) % track.len;
            track.len -= 1;
        }
        track.len += 1;
        self.tracks[nth] = track;
        for at in (at + 1..track.len).rev() {
            let (source, to) = (self.place(track, at - 1), self.place(track, at));
            self.entries[to] = self.entries[source];
            self.data.copy_within(source * self.words..(source + 1) * self.words, to * self.words);
        }
        Some(self.place(track, at))
    }

    /// Where the state is that comes so many after the oldest.
    #[inline]
    fn place(&self, track: Track, nth: u32) -> usize {
        track.ring as usize * self.places + ((track.start + nth) as usize & (self.places - 1))
    }

    /// Gives a row that is not there a ring, in which there is nothing yet.
    fn insert(&mut self, nth: usize, entity: Entity) {
        let ring = self.free.pop().unwrap_or_else(|| {
            let ring = self.entries.len() / self.places;
            let nothing = TrackEntry { tick: Tick::ZERO, owner: PlayerId::SERVER, status: Status::Gone, known_in: 0 };
            self.entries.resize(self.entries.len() + self.places, nothing);
            self.data.resize(self.entries.len() * self.words, 0);
            u32::try_from(ring).unwrap_or(u32::MAX)
        });
        self.entities.insert(nth, entity);
        self.tracks.insert(nth, Track { ring, start: 0, len: 0 });
        self.revised.insert(nth, 0);
    }

    /// Forgets rows that are gone since before the state `until`.
    pub fn forget_gone(&mut self, until: Tick) {
        let is_forgotten = |table: &TrackTable, nth: usize| {
            let newest = table.newest_first(nth).next();
            newest.is_none_or(|(newest, _)| !newest.is_there() && newest.tick < until)
        };
        for nth in (0..self.len()).rev() {
            if is_forgotten(self, nth) {
                self.free.push(self.tracks.remove(nth).ring);
                self.entities.remove(nth);
                self.revised.remove(nth);
            }
        }
    }
}

impl TrackEntry {
    /// Whether this one says more of its state than what is known of it.
    fn says_more_than(&self, known: TrackEntry) -> bool {
        match self.status {
            Status::There => !known.is_there(),
            Status::Rests => known.status != Status::Rests,
            Status::Gone => known.status == Status::GivenAway,
            Status::GivenAway => false,
        }
    }
}
