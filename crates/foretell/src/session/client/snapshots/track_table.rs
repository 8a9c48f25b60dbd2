//! The last states of each row of one component: a ring of them for each, by which it is shown.

use super::known_state::{KnownState, Look, Sample};
use super::state_rings::{Ring, StateRings, Status, TrackEntry};
use crate::time::{Tick, TickTime};
use crate::world::{Entity, PlayerId};
use alloc::vec::Vec;

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

/// Of one row: which ring it has, and in which update something new was known of it. That changes whenever the row does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Revision {
    pub ring: usize,
    pub known_in: u32,
}

/// What is known of the rows of a component, ascending by entity.
#[derive(Debug)]
pub(crate) struct TrackTable {
    entities: Vec<Entity>,
    /// The last states of each.
    rings: Vec<Ring>,
    /// In which update something new was known of each.
    revised: Vec<u32>,
    states: StateRings,
    /// Where the next row mostly is.
    next: usize,
    /// The last state that is shown: what was known before that is not needed any more.
    shown: Tick,
}

impl TrackTable {
    /// Rows of so many words, of which up to so many states are kept.
    pub fn new(words: usize, states: usize) -> TrackTable {
        TrackTable {
            entities: Vec::new(),
            rings: Vec::new(),
            revised: Vec::new(),
            states: StateRings::new(words, states),
            next: 0,
            shown: Tick::ZERO,
        }
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.entities.clear();
        self.rings.clear();
        self.revised.clear();
        self.states.clear();
        self.shown = Tick::ZERO;
    }

    /// Others are shown in this state by now.
    pub fn note_shown(&mut self, shown: Tick) {
        self.shown = shown;
    }

    pub fn len(&self) -> usize {
        self.entities.len()
    }

    pub fn entity(&self, nth: usize) -> Entity {
        self.entities[nth]
    }

    #[inline]
    pub fn revision(&self, nth: usize) -> Revision {
        Revision { ring: self.states.number(self.rings[nth]), known_in: self.revised[nth] }
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

    /// The newest state of which anything is known of the nth row.
    pub fn newest_tick(&self, nth: usize) -> Tick {
        let ring = self.rings[nth];
        self.states.state(ring, ring.len - 1).0.tick
    }

    /// What most rows that are seen are, soon found: where everything counts that is known of the nth row, and it moves in the two
    /// states up to a point and the two after it, as far as they are known, writes these. Returns whose it is; `None` where it is none
    /// of that.
    #[inline]
    pub fn moving<'a>(&'a self, nth: usize, look: &Look, samples: &mut [Option<Sample<'a>>; 4]) -> Option<PlayerId> {
        let ring = self.rings[nth];
        let mut before = ring.len - 1;
        while TickTime::start_of(self.states.tick(ring, before)) > look.at {
            before = before.checked_sub(1)?;
        }
        if self.revised[nth] > look.known.update {
            return None;
        }
        for (at, sample) in (before.checked_sub(1)?..).zip(samples) {
            *sample = if at < ring.len { Some(self.states.moving(ring, at)?) } else { None };
        }
        Some(self.states.state(ring, before).0.owner)
    }

    /// The states of a row from the newest back.
    #[inline]
    pub fn newest_first(&self, nth: usize) -> impl Iterator<Item = KnownState<'_>> + Clone {
        let ring = self.rings[nth];
        (0..ring.len).rev().map(move |at| {
            let (entry, words) = self.states.state(ring, at);
            KnownState { entry, words, is_cut: ring.is_cut && at == 0 }
        })
    }

    /// Takes in a row as it is in a state, or that it is gone; `None` where that is known, or too long ago.
    pub fn put(&mut self, entity: Entity, entry: TrackEntry, words: &[u32]) -> Option<News> {
        let found = self.find_from(self.next, entity);
        let (Ok(nth) | Err(nth)) = found;
        self.next = nth + 1;
        if found.is_err() {
            self.entities.insert(nth, entity);
            self.rings.insert(nth, self.states.take());
            self.revised.insert(nth, 0);
        }
        let news = self.put_at(nth, entry, words)?;
        self.revised[nth] = entry.known_in;
        Some(news)
    }

    fn put_at(&mut self, nth: usize, entry: TrackEntry, words: &[u32]) -> Option<News> {
        let mut ring = self.rings[nth];
        let state = |at: u32| self.states.state(ring, at).0;
        let later = (1..=ring.len).rev().take_while(|at| state(at - 1).tick > entry.tick).count();
        let at = ring.len - u32::try_from(later).unwrap_or(0);
        let [earlier, before] = [2, 1].map(|back| at.checked_sub(back).map(state));
        let later = (at < ring.len).then(|| state(at));
        let is_same_state = before.is_some_and(|before| before.tick == entry.tick);
        if is_same_state && before.is_some_and(|before| !entry.says_more_than(before)) {
            return None;
        }
        let is_gone = |of: Option<TrackEntry>| of.is_some_and(|of| !of.is_there());
        // That it is gone is told again and again: the first time and the last one count.
        let is_gone_still = later.is_none() && [Some(entry), before, earlier].into_iter().all(is_gone);
        let is_given_to = entry.is_there() && later.is_some_and(|later| later.status == Status::GivenAway);
        let place = if is_same_state || is_gone_still {
            at.checked_sub(1)
        } else if is_given_to {
            Some(at)
        } else {
            self.states.make_room(&mut ring, at, self.shown)
        };
        self.rings[nth] = ring;
        let place = place?;
        let known = before.filter(|before| is_same_state && before.is_there());
        let known_in = known.map_or(entry.known_in, |known| known.known_in);
        self.states.set(ring, place, TrackEntry { known_in, ..entry }, words);
        let later = (place + 1 < ring.len).then(|| self.states.state(ring, place + 1).0);
        let turns_later = later.filter(|later| !later.goes_on_from(entry)).map(|later| later.tick);
        let turns = !before.is_some_and(|before| entry.goes_on_from(before));
        Some(News { turns, turns_later, is_newest: later.is_none() })
    }

    /// Forgets rows that are gone in the newest state that is known of them, if that is before `until`. Returns the first of those
    /// states of the others that are gone.
    pub fn forget_gone(&mut self, until: Tick) -> Option<Tick> {
        let mut since: Option<Tick> = None;
        for nth in (0..self.len()).rev() {
            let is_gone = self.newest_first(nth).next().is_none_or(|newest| !newest.is_there());
            let tick = self.newest_tick(nth);
            if is_gone && tick < until {
                self.states.give_back(self.rings.remove(nth));
                self.entities.remove(nth);
                self.revised.remove(nth);
            } else if is_gone {
                since = Some(since.map_or(tick, |since| since.min(tick)));
            }
        }
        since
    }
}
