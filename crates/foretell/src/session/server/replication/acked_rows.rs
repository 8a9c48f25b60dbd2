//! What one client knows of the rows that it is shown, by their numbers.
//!
//! What each datagram touches stands together: a state for each row, four bytes long.

use super::optional_tick::OptionalTick;
use super::slot_set::{BLOCK, CHUNK, ChunkSlots, SlotSet, block};
use crate::session::shown_row_header::{RecordHeader, RecordKind};
use crate::time::Tick;
use crate::world::{PlayerId, RowKey};
use alloc::vec::Vec;

/// A row with whose it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowName {
    pub key: RowKey,
    pub owner: PlayerId,
}

/// Lives as long as the place.
#[derive(Clone, Default, Debug)]
pub(super) struct AckedRows {
    /// Rows that are not shown to the client have none.
    names: Vec<Option<RowName>>,
    /// The first state in which it was to be told, as this player's.
    since: Vec<OptionalTick>,
    /// The newest state in which it was told, as far as that is not known to be lost.
    told: Vec<OptionalTick>,
    /// The newest state in which the client has it, with its name and whose it is.
    has: Vec<OptionalTick>,
    /// Those that have a name.
    present: SlotSet,
    /// Those of them that the client is not known to have.
    unknown: SlotSet,
    /// Those that were told to rest.
    rests: SlotSet,
    /// Those that were told at all, so that the client may have them.
    may_be_there: SlotSet,
}

impl AckedRows {
    /// Numbers are below `slots`; there is room for whole chunks of them.
    pub fn resize(&mut self, slots: usize) {
        let slots = slots.next_multiple_of(CHUNK as usize);
        let AckedRows { names, since, told, has, .. } = self;
        if names.len() < slots {
            names.resize(slots, None);
            [since, told, has].into_iter().for_each(|ticks| ticks.resize(slots, OptionalTick::NONE));
        }
    }

    /// The [ages](AckedRows::ages) of all blocks are read next. Since they were last, all other clients' were: they are far away in
    /// memory, and are fetched all at the same time.
    pub fn read_ahead(&self) {
        let cache_lines = self.told.iter().step_by(16);
        core::hint::black_box(cache_lines.fold(0, |all, OptionalTick(tick)| all ^ tick));
    }

    /// Those that the client is told.
    pub fn present(&self) -> &SlotSet {
        &self.present
    }

    pub fn name(&self, slot: u32) -> Option<RowName> {
        *self.names.get(slot as usize)?
    }

    /// Whether the client is told this row.
    pub fn has_row(&self, slot: u32, key: RowKey) -> bool {
        self.name(slot).is_some_and(|name| name.key == key)
    }

    /// Those of them that the client is not known to have.
    pub fn unknown(&self) -> &SlotSet {
        &self.unknown
    }

    /// Those that were last told to rest.
    pub fn resting(&self) -> &SlotSet {
        &self.rests
    }

    /// The newest state in which it was told, as far as that is not known to be lost.
    pub fn told(&self, slot: u32) -> Option<Tick> {
        self.told[slot as usize].get()
    }

    /// The newest state in which the client has it; none where it is [unknown](AckedRows::unknown).
    pub fn has(&self, slot: u32) -> OptionalTick {
        self.has[slot as usize]
    }

    /// For how many ticks up to the state of `now` those of a block wait for what is newer than that, at least one.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "to compare by")]
    pub fn ages(&self, first: u32, now: Tick) -> [f32; BLOCK as usize] {
        let mut from = *block(&self.told, first);
        if from.contains(&OptionalTick::NONE) {
            let never_told =
                from.iter_mut().zip(block(&self.since, first)).filter(|(from, _)| **from == OptionalTick::NONE);
            never_told.for_each(|(from, since)| *from = *since);
        }
        let OptionalTick(now) = OptionalTick::some(now);
        let mut ages = [1.0; BLOCK as usize];
        for (age, OptionalTick(from)) in ages.iter_mut().zip(from) {
            // Signed numbers become floating ones sooner.
            let ticks = now.wrapping_sub(from).cast_signed() as f32;
            *age = if ticks > *age { ticks } else { *age };
        }
        ages
    }

    /// A row is to be told from the state of `now` on.
    pub fn insert(&mut self, slot: u32, name: RowName, now: Tick, may_be_there: bool) {
        let nth = slot as usize;
        self.names[nth] = Some(name);
        (self.since[nth], self.told[nth], self.has[nth]) =
            (OptionalTick::some(now), OptionalTick::NONE, OptionalTick::NONE);
        self.present.insert(slot);
        self.unknown.insert(slot);
        self.rests.remove(slot);
        self.may_be_there.set(slot, may_be_there);
    }

    /// It is another player's from the state of `now` on.
    pub fn give(&mut self, slot: u32, owner: PlayerId, now: Tick) {
        let nth = slot as usize;
        self.names[nth].iter_mut().for_each(|name| name.owner = owner);
        (self.since[nth], self.has[nth]) = (OptionalTick::some(now), OptionalTick::NONE);
        self.unknown.insert(slot);
    }

    /// It is not told any more. Returns its name, and whether the client may have it.
    pub fn remove(&mut self, slot: u32) -> Option<(RowName, bool)> {
        let name = self.names[slot as usize].take()?;
        self.present.remove(slot);
        self.unknown.remove(slot);
        Some((name, self.may_be_there.contains(slot)))
    }

    /// The client may have it already.
    pub fn note_may_be_there(&mut self, slot: u32) {
        self.may_be_there.insert(slot);
    }

    /// Nothing of what was told counts.
    pub fn tell_anew(&mut self) {
        self.told.fill(OptionalTick::NONE);
        self.has.fill(OptionalTick::NONE);
        self.unknown.clone_from(&self.present);
        self.rests.clear();
    }

    /// Whether it is to be told, which is as it was in the state `changed`: it was not told so, or is not known to rest since the
    /// state `before`.
    #[inline]
    pub fn has_news(&self, slot: u32, changed: Tick, before: Tick) -> bool {
        self.told[slot as usize] < OptionalTick::some(changed) || changed <= before && !self.rests.contains(slot)
    }

    /// Those are told in the state of `tick`. Which of them rest, `resting` says by the bits of the chunk; bits of others don't count.
    #[inline]
    pub fn note_told(&mut self, those: ChunkSlots, tick: Tick, resting: u64) {
        let tick = OptionalTick::some(tick);
        if those.is_whole() {
            self.told[those.indices()].fill(tick);
        } else {
            those.iter().for_each(|slot| self.told[slot as usize] = tick);
        }
        self.rests.set_chunk(those, resting);
        self.may_be_there.set_chunk(those, !0);
    }

    /// The client has those as they were in the state of `tick`. Those that were another's before that state, or other rows with the
    /// same number, it does not.
    pub fn note_come(&mut self, those: ChunkSlots, tick: Tick) {
        let tick = OptionalTick::some(tick);
        let come =
            |has: &mut OptionalTick, since: OptionalTick| *has = if since <= tick { (*has).max(tick) } else { *has };
        let (has, since) = (&mut self.has[those.indices()], &self.since[those.indices()]);
        if those.is_whole() {
            has.iter_mut().zip(since).for_each(|(has, since)| come(has, *since));
        } else {
            those.iter().map(|slot| (slot % CHUNK) as usize).for_each(|nth| come(&mut has[nth], since[nth]));
        }
        let unknown = self.unknown.chunk(those.first).slots & those.slots;
        for slot in (ChunkSlots { slots: unknown, ..those }).iter() {
            if self.has[slot as usize] != OptionalTick::NONE {
                self.unknown.remove(slot);
            }
        }
    }

    /// What told a row in the state of `tick` is lost: whether it has to be told again.
    pub fn note_lost(&mut self, slot: u32, tick: Tick) -> bool {
        let (nth, tick) = (slot as usize, OptionalTick::some(tick));
        let is_newest = self.present.contains(slot) && self.since[nth] <= tick && self.told[nth] == tick;
        if is_newest {
            self.told[nth] = self.has[nth];
            self.rests.remove(slot);
        }
        is_newest
    }

    /// Whether it was told in this state, and it was not said since that it rests.
    pub fn may_move_since(&self, slot: u32, told: Tick) -> bool {
        self.told[slot as usize] == OptionalTick::some(told) && !self.rests.contains(slot)
    }

    /// It is told that those rest.
    pub fn note_rest(&mut self, those: &SlotSet) {
        self.rests.add_all(those);
    }

    /// What told that those rest that were told last in the state of `tick` is lost: calls `tell` with each.
    pub fn note_rest_lost(&mut self, tick: Tick, mut tell: impl FnMut(u32)) {
        let AckedRows { told, present, rests, .. } = self;
        let were_told = told.iter().zip(0..).filter(|(told, _)| **told == OptionalTick::some(tick));
        for (_, slot) in were_told.filter(|(_, slot)| present.contains(*slot)) {
            if rests.contains(slot) {
                rests.remove(slot);
                tell(slot);
            }
        }
    }

    /// In which states the client has those of a chunk.
    #[inline]
    pub fn chunk_has(&self, first: u32) -> &[OptionalTick; CHUNK as usize] {
        self.has[first as usize..].first_chunk().expect("there are whole chunks")
    }

    /// What stands before a row that is told against a state that is `age_ticks` older, or by itself.
    #[inline]
    pub fn header(&self, slot: u32, age_ticks: Option<u32>) -> RecordHeader {
        let kind = match age_ticks {
            Some(age_ticks) => RecordKind::Against { age_ticks },
            None if !self.unknown.contains(slot) => RecordKind::Whole,
            None => {
                let RowName { key, owner } = self.names[slot as usize].expect("it is to be told");
                RecordKind::Named { key, owner }
            }
        };
        RecordHeader { slot, kind }
    }
}
