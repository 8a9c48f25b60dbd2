//! The rows of one component in the last states: a ring for each of what it was whenever it changed.

use crate::time::Tick;
use crate::world::{Entity, EntityMap, PlayerId};
use alloc::vec::Vec;

/// Before its words an entry has as many for its tick and whose it is.
const HEADER: usize = 2;
/// So many rings lie together, entry by entry: what is written in a tick, of rows that change in all, lies side by side.
const RINGS_TOGETHER: u32 = 16;
/// Whose it is where it is gone.
const NOBODY: u32 = u32::MAX;

/// What a row was from a state on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RewindEntry<'a> {
    pub tick: Tick,
    pub owner: PlayerId,
    pub words: &'a [u32],
}

/// Where a row's ring is, and what of it is in use.
#[derive(Clone, Copy, Debug)]
struct Ring {
    nth: u32,
    /// Where the newest entry is, and how many there are.
    newest: u32,
    len: u32,
    /// The number of the row, by which it has its turn where it is told more rarely than states are sent.
    slot: u32,
}

/// Of all rows of a component, ascending by entity. Invariant: the entries of a ring ascend by tick.
#[derive(Debug)]
pub(super) struct ComponentRewindHistory {
    stride: usize,
    /// How many entries a ring has room for.
    places: u32,
    rings: EntityMap<Ring>,
    /// How many rings there are, in use or free.
    made: u32,
    data: Vec<u32>,
    free: Vec<u32>,
    /// Where the next row mostly is.
    next: usize,
}

impl ComponentRewindHistory {
    /// Of rows of this number of words, as they were in up to `ticks` states.
    pub fn new(words: usize, ticks: u32) -> ComponentRewindHistory {
        let (rings, data, free) = (EntityMap::new(), Vec::new(), Vec::new());
        ComponentRewindHistory { stride: HEADER + words, places: ticks.max(1), rings, made: 0, data, free, next: 0 }
    }

    pub fn len(&self) -> usize {
        self.rings.len()
    }

    pub fn entity(&self, nth: usize) -> Entity {
        self.rings.entities()[nth]
    }

    pub fn slot(&self, nth: usize) -> u32 {
        self.rings.values()[nth].slot
    }

    pub fn find(&self, entity: Entity) -> Option<usize> {
        self.rings.index_near(entity, &mut 0)
    }

    /// Takes in what a row is from a state on, which is not before the newest that is known of it; soonest for one after another,
    /// ascending. `slot` is its number, asked for when it comes.
    pub fn put(&mut self, entity: Entity, entry: RewindEntry<'_>, slot: impl Fn() -> u32) {
        let ComponentRewindHistory { stride, places, rings, made, data, free, next } = self;
        let ring = rings.get_or_insert_near(entity, next, || {
            let nth = free.pop().unwrap_or_else(|| {
                if made.is_multiple_of(RINGS_TOGETHER) {
                    data.resize(data.len() + (*places * RINGS_TOGETHER) as usize * *stride, 0);
                }
                *made += 1;
                *made - 1
            });
            Ring { nth, newest: 0, len: 0, slot: slot() }
        });
        let has_come_back = ring.len > 0 && data[begins(ring.nth, ring.newest, *places) * *stride + 1] == NOBODY;
        if has_come_back {
            ring.slot = slot();
        }
        let place = advance(ring, *places, data, *stride, entry.tick);
        data[place + 1] = u32::from(entry.owner.get());
        data[place + HEADER..place + *stride].copy_from_slice(entry.words);
    }

    /// A row is not there from a state on.
    pub fn end(&mut self, entity: Entity, tick: Tick) {
        let ComponentRewindHistory { stride, places, rings, data, .. } = self;
        if let Some(ring) = rings.get_mut(entity) {
            let place = advance(ring, *places, data, *stride, tick);
            data[place + 1] = NOBODY;
        }
    }

    /// Forgets rows, those that have been gone since the states of these ticks.
    pub fn forget_gone(&mut self, gone: impl Iterator<Item = (Tick, Entity)>) {
        let (mut count, mut last) = (0, None);
        for (tick, entity) in gone {
            let Some(nth) = self.find(entity) else { continue };
            let ring = self.rings.values()[nth];
            let place = self.place(ring, 0);
            if ring.len > 0 && self.data[place..place + HEADER] == [tick.get(), NOBODY] {
                self.free.push(ring.nth);
                // Nothing of it is in use.
                self.rings.values_mut()[nth].len = 0;
                (count, last) = (count + 1, Some(entity));
            }
        }
        // To take one out moves all that comes after: a crowd is taken out at once.
        if count > 1 {
            self.rings.retain(|_, ring| ring.len > 0);
        } else if let Some(entity) = last {
            self.rings.remove(entity);
        }
    }

    /// The nth row as it was in the state of `tick`; `None` where it was not there, or that is not known any more.
    #[inline]
    pub fn at(&self, nth: usize, tick: Tick) -> Option<RewindEntry<'_>> {
        let ring = self.rings.values()[nth];
        let place = (0..ring.len).map(|back| self.place(ring, back)).find(|place| self.data[*place] <= tick.get())?;
        self.entry(place)
    }

    /// The first state of the stretch in which it was there that holds the state of `tick`, as far as that is known.
    pub fn began(&self, nth: usize, tick: Tick) -> Option<Tick> {
        let ring = self.rings.values()[nth];
        let places =
            (0..ring.len).map(|back| self.place(ring, back)).skip_while(|place| self.data[*place] > tick.get());
        places.map_while(|place| self.entry(place)).last().map(|entry| entry.tick)
    }

    #[inline]
    fn entry(&self, place: usize) -> Option<RewindEntry<'_>> {
        let of = &self.data[place..place + self.stride];
        let owner = u16::try_from(of[1]).ok()?;
        Some(RewindEntry { tick: Tick::new(of[0]), owner: PlayerId::new(owner), words: &of[HEADER..] })
    }

    /// Where an entry begins that has this many newer ones.
    #[inline]
    fn place(&self, ring: Ring, back: u32) -> usize {
        let at = (ring.newest + self.places - back) % self.places;
        begins(ring.nth, at, self.places) * self.stride
    }
}

/// How many entries lie before this one of a ring.
#[inline]
fn begins(ring: u32, at: u32, places: u32) -> usize {
    let (block, within) = (ring / RINGS_TOGETHER, ring % RINGS_TOGETHER);
    ((block as usize * places as usize) + at as usize) * RINGS_TOGETHER as usize + within as usize
}

/// Makes the entry of `tick` the newest of a ring; the oldest goes where there is no room. Returns where it begins.
fn advance(ring: &mut Ring, places: u32, data: &mut [u32], stride: usize, tick: Tick) -> usize {
    let begin = |ring: &Ring| begins(ring.nth, ring.newest, places) * stride;
    let is_same = ring.len > 0 && data[begin(ring)] == tick.get();
    if !is_same {
        ring.newest = if ring.len == 0 { 0 } else { (ring.newest + 1) % places };
        ring.len = (ring.len + 1).min(places);
    }
    data[begin(ring)] = tick.get();
    begin(ring)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTITY: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);

    fn put(table: &mut ComponentRewindHistory, tick: u32, word: u32) {
        let entry = RewindEntry { tick: Tick::new(tick), owner: PlayerId::new(3), words: &[word, word] };
        table.put(ENTITY, entry, || 7);
    }

    fn at(table: &ComponentRewindHistory, tick: u32) -> Option<u32> {
        table.at(0, Tick::new(tick)).map(|entry| entry.words[1])
    }

    fn gone(tick: u32) -> impl Iterator<Item = (Tick, Entity)> {
        core::iter::once((Tick::new(tick), ENTITY))
    }

    /// One by one this would move half a terabyte.
    #[test]
    fn a_crowd_that_goes_at_once_is_forgotten_at_once_and_what_stays_is_as_it_was() {
        const LARGE: u32 = 200_000;
        let mut table = ComponentRewindHistory::new(1, 1);
        let entity = |nth: u32| Entity::new(PlayerId::SERVER, Tick::new(nth), 0);
        let put = |table: &mut ComponentRewindHistory, nth: u32| {
            let entry = RewindEntry { tick: Tick::new(5), owner: PlayerId::SERVER, words: &[nth] };
            table.put(entity(nth), entry, || nth);
        };
        let stays = |nth: &u32| nth.is_multiple_of(1000);
        (0..LARGE).for_each(|nth| put(&mut table, nth));
        let all = table.data.len();
        let goes: Vec<u32> = (0..LARGE).filter(|nth| !stays(nth)).collect();
        goes.iter().for_each(|nth| table.end(entity(*nth), Tick::new(6)));
        // What has come and gone in a step is named twice.
        table.forget_gone(goes.iter().chain(&goes).map(|nth| (Tick::new(6), entity(*nth))));
        assert_eq!(table.len(), (0..LARGE).filter(stays).count());
        goes.iter().for_each(|nth| put(&mut table, *nth));
        assert_eq!(table.data.len(), all, "their memory is used again, once");
        for nth in 0..LARGE {
            let at = table.find(entity(nth)).and_then(|at| table.at(at, Tick::new(5)));
            assert_eq!(at.map(|entry| entry.words), Some(&[nth][..]));
        }
    }

    #[test]
    fn a_row_is_what_it_was_in_each_state_that_has_room_and_nothing_before_it_came() {
        let mut table = ComponentRewindHistory::new(2, 4);
        [(5, 50), (6, 60), (6, 61), (9, 90)].into_iter().for_each(|(tick, word)| put(&mut table, tick, word));
        assert_eq!(
            [4, 5, 6, 7, 9, 20].map(|tick| at(&table, tick)),
            [None, Some(50), Some(61), Some(61), Some(90), Some(90)]
        );
        assert_eq!((table.slot(0), table.began(0, Tick::new(7))), (7, Some(Tick::new(5))));
        put(&mut table, 10, 100);
        put(&mut table, 11, 110);
        assert_eq!([5, 6, 11].map(|tick| at(&table, tick)), [None, Some(61), Some(110)], "the oldest has given way");
    }

    #[test]
    fn what_comes_back_has_its_turn_by_its_new_number() {
        let mut table = ComponentRewindHistory::new(1, 8);
        let put = |table: &mut ComponentRewindHistory, tick, slot| {
            table.put(ENTITY, RewindEntry { tick: Tick::new(tick), owner: PlayerId::SERVER, words: &[1] }, || slot);
            table.slot(0)
        };
        assert_eq!([put(&mut table, 5, 7), put(&mut table, 6, 8)], [7, 7]);
        table.end(ENTITY, Tick::new(7));
        assert_eq!([put(&mut table, 8, 9), put(&mut table, 9, 10)], [9, 9]);
    }

    #[test]
    fn what_is_gone_is_gone_from_its_state_on_and_is_forgotten_if_it_has_not_come_back() {
        let mut table = ComponentRewindHistory::new(2, 8);
        put(&mut table, 5, 50);
        table.end(ENTITY, Tick::new(7));
        assert_eq!([6, 7, 8].map(|tick| at(&table, tick)), [Some(50), None, None]);
        put(&mut table, 9, 90);
        table.forget_gone(gone(7));
        assert_eq!([6, 8, 9].map(|tick| at(&table, tick)), [Some(50), None, Some(90)]);
        assert_eq!(table.began(0, Tick::new(9)), Some(Tick::new(9)), "that was another life");
        table.end(ENTITY, Tick::new(10));
        table.forget_gone(gone(7));
        assert_eq!([6, 8, 9, 10].map(|tick| at(&table, tick)), [Some(50), None, Some(90), None], "it has ended again");
        table.forget_gone(gone(10));
        assert_eq!(table.len(), 0);
        let before = table.data.len();
        put(&mut table, 20, 1);
        assert_eq!((table.data.len(), at(&table, 19), at(&table, 20)), (before, None, Some(1)));
    }
}
