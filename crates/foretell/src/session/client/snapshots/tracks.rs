//! What is known of each row in the last states: by this others are shown. Each row has its own states, in whatever datagrams they
//! came, and of others than other rows.

use super::component_tracks::{ComponentTracks, Revision};
use super::shown_row_reader::Stop;
use super::track_lookup::{KnownIn, Look, Neighbours, Rest, Since, TrackSample, moved_ticks};
use super::track_rings::{Status, TrackEntry};
use crate::session::curves::Sample;
use crate::session::shown_row_header::SLOTS_MAX;
use crate::time::{Tick, TickRate, TickTime};
use crate::world::{ComponentId, Entity, Owned, PlayerId, Row, RowKey, Schema};
use alloc::vec::Vec;

/// More rows are not shown.
const TRACKS_MAX: usize = SLOTS_MAX as usize;
/// How much longer than the states of a row it is remembered that it is gone: what is shown is behind.
const GONE_KEPT: u32 = 4;

/// Of all rows.
#[derive(Debug)]
pub(crate) struct Tracks {
    tables: Vec<ComponentTracks>,
    /// A row, while it is copied.
    words: Vec<u32>,
    schema: Schema,
    states: u32,
    /// What comes now is known from this update on.
    update: u32,
    /// The states with which anything begins, ends or changes hands that were not shown yet, ascending.
    turns: Vec<Tick>,
    /// The newest state of which anything is known.
    newest: Tick,
    /// How many ticks the states that are kept of a row cover at least.
    ticks: u32,
    /// How many rows there are.
    len: usize,
    /// The state since which a row is gone that is gone for longest, or one before it.
    gone_since: Option<Tick>,
    /// Not everything is remembered that was gone in states before this one.
    forgotten: Tick,
    /// How many ticks before the state whose rows are put the last one is of which all has come.
    gap: u32,
    rate: TickRate,
}

impl Tracks {
    /// Keeps up to `states` of each row.
    pub(super) fn new(schema: &Schema, states: usize, rate: TickRate) -> Tracks {
        Tracks {
            tables: schema
                .components()
                .iter()
                .map(|component| ComponentTracks::new(component.words(), states))
                .collect(),
            words: Vec::with_capacity(schema.components().iter().map(|component| component.words()).max().unwrap_or(0)),
            schema: schema.clone(),
            states: u32::try_from(states).unwrap_or(u32::MAX),
            update: 1,
            turns: Vec::new(),
            newest: Tick::ZERO,
            ticks: u32::try_from(states).unwrap_or(u32::MAX),
            len: 0,
            gone_since: None,
            forgotten: Tick::ZERO,
            gap: 0,
            rate,
        }
    }

    /// Forgets all, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.tables.iter_mut().for_each(ComponentTracks::clear);
        self.turns.clear();
        (self.newest, self.forgotten, self.len, self.gone_since, self.gap) = (Tick::ZERO, Tick::ZERO, 0, None, 0);
    }

    /// Not everything is remembered that was gone in states before this one.
    pub(super) fn forgotten(&self) -> Tick {
        self.forgotten
    }

    /// The rows of a state are put next: `gap` ticks before it is the last one of which all has come.
    pub(super) fn begin_state(&mut self, gap: u32) {
        self.gap = gap;
    }

    /// A row as it is in the state of `tick`. Whether that is new, and nothing newer is known.
    pub(super) fn put(&mut self, tick: Tick, row: Row<'_>, rests: bool) -> bool {
        let status = if rests { Status::Rests } else { Status::There };
        let entry = TrackEntry { tick, owner: row.owner, status, known_in: self.update, moved_ticks: 0 };
        self.put_entry(row.key(), entry, row.words)
    }

    /// A row is not there in the state of `tick`; or, where it was this player's own, is not theirs any more. Whether that is new, and
    /// nothing newer is known.
    pub(super) fn end(&mut self, tick: Tick, key: RowKey, was_own_of: Option<PlayerId>) -> bool {
        let status = if was_own_of.is_some() { Status::GivenAway } else { Status::Gone };
        let owner = was_own_of.unwrap_or(PlayerId::SERVER);
        let entry = TrackEntry { tick, owner, status, known_in: self.update, moved_ticks: 0 };
        self.gone_since = Some(self.gone_since.map_or(tick, |since| since.min(tick)));
        self.put_entry(key, entry, &[])
    }

    fn put_entry(&mut self, RowKey { component, entity }: RowKey, entry: TrackEntry, words: &[u32]) -> bool {
        let nth = usize::from(component.0);
        let table = &mut self.tables[nth];
        if self.len >= TRACKS_MAX && table.find_near(entity, &mut 0).is_none() {
            return false;
        }
        self.newest = self.newest.max(entry.tick);
        let before = table.len();
        let (schema, rate, longest) = (&self.schema.components()[nth], self.rate, self.gap);
        let moved_ticks = |rested: &[u32]| moved_ticks(schema, rate, [rested, words], longest);
        let Some(news) = table.put(entity, entry, words, moved_ticks) else { return false };
        self.len += table.len() - before;
        for tick in news.turns.then_some(entry.tick).into_iter().chain(news.turns_later) {
            if let Err(at) = self.turns.binary_search(&tick) {
                self.turns.insert(at, tick);
            }
        }
        news.is_newest
    }

    /// A row that moved when it was told last is known to have stopped, if that was in the state of which this is said.
    pub(super) fn stop(&mut self, key: RowKey, Stop { told, at }: Stop) {
        let Tracks { tables, words, update, .. } = self;
        let table = &tables[usize::from(key.component.0)];
        let Some(newest) = table.find_near(key.entity, &mut 0).and_then(|nth| table.newest_first(nth).next()) else {
            return;
        };
        if newest.entry.tick != told || newest.entry.status != Status::There {
            return;
        }
        let entry = TrackEntry { tick: at, status: Status::Rests, known_in: *update, moved_ticks: 0, ..newest.entry };
        words.clear();
        words.extend_from_slice(newest.words);
        let words = core::mem::take(words);
        self.put_entry(key, entry, &words);
        self.words = words;
    }

    /// The same as [`put`](Tracks::put) of one of a state that comes late, as far as anything newer is known of the row. Whether that is new, and nothing newer is known.
    pub(super) fn put_late(&mut self, tick: Tick, row: Row<'_>) -> bool {
        self.find(row.key()).is_some() && self.put(tick, row, false)
    }

    /// An update has taken in what is known, and shown it at this point: what comes from now on is known in the next one. States
    /// are `interval` ticks apart.
    pub(crate) fn end_update(&mut self, shown: TickTime, interval: u32) {
        self.update += 1;
        self.ticks = self.states.saturating_mul(interval);
        let until = self.newest.back(self.ticks.saturating_mul(GONE_KEPT)).unwrap_or_default();
        self.forget_turns(shown.max(TickTime::start_of(until)));
        for (table, component) in self.tables.iter_mut().zip(self.schema.components()) {
            let later = component.later_ticks(self.rate, interval);
            table.note_shown(shown.tick().back(later).unwrap_or_default());
        }
        if self.gone_since.is_some_and(|since| since < until) {
            self.gone_since = self.tables.iter_mut().filter_map(|table| table.forget_gone(until)).min();
            self.len = self.tables.iter().map(ComponentTracks::len).sum();
            self.forgotten = until;
        }
    }

    /// In which update what comes now is known.
    pub(crate) fn update(&self) -> u32 {
        self.update
    }

    /// Everything that is known in the state of `tick`.
    pub(crate) fn in_state(&self, tick: Tick) -> Look {
        Look { at: TickTime::start_of(tick), known: KnownIn { update: self.update, newest: tick }, interval: 1 }
    }

    /// From this state on all is remembered that is known.
    pub(crate) fn since(&self) -> Tick {
        self.newest.back(self.ticks).unwrap_or_default()
    }

    /// The states up to a point with which anything begins, ends or changes hands, ascending, but for those that were shown.
    pub(crate) fn turns(&self, until: TickTime) -> &[Tick] {
        &self.turns[..self.turns.partition_point(|tick| TickTime::start_of(*tick) <= until)]
    }

    fn forget_turns(&mut self, until: TickTime) {
        let count = self.turns(until).len();
        self.turns.drain(..count);
    }

    /// In which state a row was told last.
    pub(super) fn newest_tick(&self, key: RowKey) -> Option<Tick> {
        Some(self.tables[usize::from(key.component.0)].newest_tick(self.find(key)?))
    }

    /// The first state after that of `tick` in which a row was told so; `None` is one that is not there.
    pub(super) fn first_after(&self, key: RowKey, tick: Tick, is_so: impl Fn(Option<&[u32]>) -> bool) -> Option<Tick> {
        let known = KnownIn { update: self.update, newest: tick };
        let states = self.states(key.component, self.find(key)?, known);
        let later = states.take_while(|state| state.entry.tick > tick);
        later.filter(|state| is_so(state.sample().map(|(_, words)| words))).last().map(|state| state.entry.tick)
    }

    /// How many ticks before a point the rows of a component are shown at it.
    pub(super) fn later_ticks(&self, component: ComponentId, look: &Look) -> u32 {
        self.schema.component(component).later_ticks(self.rate, look.interval)
    }

    /// A row as it is in the last state up to a point.
    pub(crate) fn words(&self, key: RowKey, look: &Look) -> Option<&[u32]> {
        let found = self.tables[usize::from(key.component.0)].neighbours(self.find(key)?, look)?;
        found.before.sample().map(|(_, words)| words)
    }

    /// Forgets how a row was before the last state up to `tick`, which counts in its place from now on; but where it was predicted and is
    /// not there in that state, nothing is forgotten.
    pub(super) fn forget_before(&mut self, key: RowKey, tick: Tick, is_predicted: bool) {
        self.tables[usize::from(key.component.0)].forget_before(key.entity, tick, is_predicted);
    }

    /// How many rows of a component are known, some of which may be gone.
    pub(crate) fn count(&self, component: ComponentId) -> usize {
        self.tables[usize::from(component.0)].len()
    }

    pub(crate) fn entity(&self, component: ComponentId, nth: usize) -> Entity {
        self.tables[usize::from(component.0)].entity(nth)
    }

    /// In which update something new was known of a row.
    #[inline]
    pub(crate) fn revised(&self, component: ComponentId, nth: usize) -> u32 {
        self.tables[usize::from(component.0)].revised(nth)
    }

    /// Of which rows of a component something new is known since this update, ascending.
    pub(crate) fn revised_since(&self, component: ComponentId, update: u32) -> impl Iterator<Item = usize> {
        self.tables[usize::from(component.0)].revised_since(update)
    }

    /// The same, but for those of which it is soon seen that they go to a point as they were known to.
    pub(crate) fn perhaps_bent_since(
        &self,
        component: ComponentId,
        look: Look,
        since: Since,
    ) -> impl Iterator<Item = usize> {
        self.tables[usize::from(component.0)].perhaps_bent_since(look, since)
    }

    /// The revisions of the rows of a component, in their order.
    pub(crate) fn revisions(&self, component: ComponentId) -> impl Iterator<Item = Revision> {
        self.tables[usize::from(component.0)].revisions()
    }

    pub(crate) fn find(&self, key: RowKey) -> Option<usize> {
        self.find_near(key, &mut 0)
    }

    /// The same, looked for at `next` first, which becomes the place of the one after it.
    pub(crate) fn find_near(&self, key: RowKey, next: &mut usize) -> Option<usize> {
        self.tables[usize::from(key.component.0)].find_near(key.entity, next)
    }

    /// Whose a row is at a point; `None` where it is not there. `next` is where it mostly is, and becomes where the one after it is.
    #[inline]
    pub(crate) fn owner_near(&self, key: RowKey, look: &Look, next: &mut usize) -> Option<PlayerId> {
        let nth = self.tables[usize::from(key.component.0)].find_near(key.entity, next)?;
        self.owner_of(key.component, nth, look)
    }

    /// Whether a row is there at a point.
    pub(crate) fn has(&self, key: RowKey, look: &Look) -> bool {
        self.owner_near(key, look, &mut 0).is_some()
    }

    /// Whose an entity is at a point; `None` where it is not there.
    pub(crate) fn owner(&self, entity: Entity, look: &Look) -> Option<PlayerId> {
        let mut keys = self.schema.ids().map(|component| RowKey { component, entity });
        keys.find_map(|key| self.owner_near(key, look, &mut 0))
    }

    /// The entities that have a component at a point, ascending.
    pub(crate) fn owned(&self, component: ComponentId, look: &Look) -> impl Iterator<Item = Owned> {
        let of = move |nth| {
            let owner = self.owner_of(component, nth, look)?;
            Some(Owned { entity: self.entity(component, nth), owner })
        };
        (0..self.count(component)).filter_map(of)
    }

    /// The entities of all states at a point, with the component that is the first of each; those of one state ascending.
    pub(crate) fn first_components(&self, look: &Look) -> impl Iterator<Item = Owned> {
        self.schema.ids().filter(|id| self.schema.is_first(*id)).flat_map(|id| self.owned(id, look))
    }

    #[inline]
    fn owner_of(&self, component: ComponentId, nth: usize, look: &Look) -> Option<PlayerId> {
        let Neighbours { before, .. } = self.tables[usize::from(component.0)].neighbours(nth, look)?;
        before.is_there().then_some(before.entry.owner)
    }

    /// Whether by what has come since, a row is elsewhere at a point than it was known to be, and does not just go on from a state that
    /// was known already.
    pub(crate) fn is_bent(&self, component: ComponentId, nth: usize, look: &Look, since: &Since) -> bool {
        let table = &self.tables[usize::from(component.0)];
        // Mostly what has come is further on.
        if table.goes_on_as_known(nth, look, since) {
            return false;
        }
        let Some(found) = table.neighbours(nth, look) else { return false };
        let Neighbours { before, next, .. } = found;
        let is_new = |state: &TrackSample<'_>| state.entry.known_in > since.known.update;
        // It was known to rest here, at least until what has come since.
        let was_there = |known| Neighbours::among(self.states(component, nth, known), look.at);
        let rested = || was_there(since.known).is_some_and(|was| was.rest(look).is_some());
        let rests = next.is_none_or(|next| next.is_there()) && found.rest(look).is_some();
        if !is_new(&before) && rests && rested() {
            return false;
        }
        // From a state to which it was known to go it goes on wherever it does.
        let up_to = self.states(component, nth, look.known).skip_while(|state| !state.is_up_to(look.at));
        let mut passed = up_to.take_while(|state| !state.is_up_to(since.at));
        passed.all(|state| is_new(&state))
    }

    /// Writes the states of the nth row of a component around a point: two up to it, of which the second is there, and two after it.
    /// Returns whose it is, and whether it rests; `None` where it is not there.
    #[inline]
    pub(crate) fn around<'a>(
        &'a self,
        component: ComponentId,
        nth: usize,
        look: &Look,
        samples: &mut [Option<Sample<'a>>; 4],
    ) -> Option<(PlayerId, Rest)> {
        if let Some(owner) = self.tables[usize::from(component.0)].moving(nth, look, samples) {
            return Some((owner, Rest::No));
        }
        let found = self.tables[usize::from(component.0)].neighbours(nth, look)?;
        let rest = found.before.is_there().then(|| found.sample(look, samples))?;
        Some((found.before.entry.owner, rest))
    }

    /// The first state of the stretch in which a row is there that is there at a point.
    pub(crate) fn began(&self, component: ComponentId, nth: usize, look: &Look) -> Option<Tick> {
        let states = self.states(component, nth, look.known).skip_while(|state| !state.is_up_to(look.at));
        states.take_while(TrackSample::is_there).last().map(|state| state.entry.tick)
    }

    /// The newest state in which a row is there, and the one before it.
    pub(crate) fn newest(&self, component: ComponentId, nth: usize, look: &Look) -> Option<[Option<Sample<'_>>; 2]> {
        let mut states = self.states(component, nth, look.known).skip_while(|state| !state.is_there());
        let newest = states.next()?;
        if newest.entry.status != Status::Rests {
            return Some([states.next().and_then(TrackSample::sample), newest.sample()]);
        }
        let until = newest.rests_until(None, look);
        let before = until.back(look.interval).filter(|before| *before >= newest.entry.tick);
        Some([before.map(|before| (before, newest.words)), Some((until, newest.words))])
    }

    /// The last state up to this one in which a row is there that was told; or the first, where it is not remembered so long.
    pub(crate) fn last(&self, key: RowKey, until: Tick) -> Option<Sample<'_>> {
        let known = KnownIn { update: self.update, newest: until };
        let states = self.states(key.component, self.find(key)?, known);
        let mut first = None;
        for state in states.filter(TrackSample::is_there) {
            if state.entry.tick <= until {
                return state.sample();
            }
            first = state.sample();
        }
        first
    }

    /// What is known of a row, from the newest state back.
    #[inline]
    fn states(&self, component: ComponentId, nth: usize, known: KnownIn) -> impl Iterator<Item = TrackSample<'_>> {
        let states = self.tables[usize::from(component.0)].newest_first(nth);
        states.filter(move |state| known.has(state))
    }
}

#[cfg(test)]
impl Tracks {
    /// Of rows that were told, each in a state.
    pub(crate) fn of_rows(schema: &Schema, rows: &[(Tick, Row<'_>)]) -> Tracks {
        let mut tracks = Tracks::new(schema, rows.len(), TickRate::default());
        rows.iter().for_each(|(tick, row)| tracks.tell(*tick, *row));
        tracks
    }

    pub(crate) fn tell(&mut self, tick: Tick, row: Row<'_>) {
        assert!(self.put(tick, row, false));
    }
}

#[cfg(test)]
mod tests;
