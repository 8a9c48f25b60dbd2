//! The last states of each row of one component: a ring of them for each, by which it is shown.

use super::track_lookup::{Look, Neighbours, Since, TrackSample};
use super::track_rings::{News, Ring, RingStates, TrackEntry, TrackRings};
use crate::session::curves::Sample;
use crate::time::{Tick, TickTime};
use crate::world::{Entity, EntityMap, PlayerId};

/// Of one row: which ring it has, and in which update something new was known of it. That changes whenever the row does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Revision {
    pub ring: usize,
    pub known_in: u32,
}

/// What is known of one row.
#[derive(Clone, Copy, Debug)]
struct Track {
    ring: Ring,
    /// In which update something new was known.
    revised: u32,
}

/// What is known of the rows of a component, ascending by entity.
#[derive(Debug)]
pub(crate) struct ComponentTracks {
    tracks: EntityMap<Track>,
    states: TrackRings,
    /// Where the next row mostly is.
    next: usize,
    /// In which update something new was known of any of them.
    revised: u32,
}

impl ComponentTracks {
    /// Of rows of this number of words; at most `states` are kept of each.
    pub fn new(words: usize, states: usize) -> ComponentTracks {
        ComponentTracks { tracks: EntityMap::new(), states: TrackRings::new(words, states), next: 0, revised: 0 }
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.tracks.clear();
        self.states.clear();
        self.revised = 0;
    }

    /// Others are shown in this state by now.
    pub fn note_shown(&mut self, shown: Tick) {
        self.states.note_shown(shown);
    }

    pub fn len(&self) -> usize {
        self.tracks.len()
    }

    #[inline]
    pub fn entity(&self, nth: usize) -> Entity {
        self.tracks.entities()[nth]
    }

    /// In which update something new was known of the nth row.
    #[inline]
    pub fn revised(&self, nth: usize) -> u32 {
        self.tracks.values()[nth].revised
    }

    /// Of which rows something new is known since this update, ascending.
    pub fn revised_since(&self, update: u32) -> impl Iterator<Item = usize> {
        let tracks = if self.revised > update { self.tracks.values() } else { &[] };
        tracks.iter().enumerate().filter(move |(_, track)| track.revised > update).map(|(nth, _)| nth)
    }

    /// The same, but for those of which it is [soon seen](Self::goes_on_as_known) that they go to a point as they were known to.
    pub fn perhaps_bent_since(&self, look: Look, since: Since) -> impl Iterator<Item = usize> {
        self.revised_since(since.known.update).filter(move |nth| !self.goes_on_as_known(*nth, &look, &since))
    }

    /// The revisions of all rows, in their order.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        let revision = |track: &Track| Revision { ring: self.states.number(track.ring), known_in: track.revised };
        self.tracks.values().iter().map(revision)
    }

    /// Where a row is, looked for at `next` first, which becomes the place of the one after it.
    #[inline]
    pub fn find_near(&self, entity: Entity, next: &mut usize) -> Option<usize> {
        self.tracks.index_near(entity, next)
    }

    /// The newest state of which anything is known of the nth row.
    pub fn newest_tick(&self, nth: usize) -> Tick {
        let Track { ring, .. } = self.tracks.values()[nth];
        self.states.states(ring).tick(ring.len - 1)
    }

    /// What most rows that are seen are, soon found: where everything counts that is known of the nth row, and it moves in the two
    /// states up to a point and the two after it, as far as they are known, writes these. Returns whose it is; `None` where it is none
    /// of that.
    #[inline]
    pub fn moving<'a>(&'a self, nth: usize, look: &Look, samples: &mut [Option<Sample<'a>>; 4]) -> Option<PlayerId> {
        let Track { ring, revised } = self.tracks.values()[nth];
        if revised > look.known.update {
            return None;
        }
        let states = self.states.states(ring);
        let before = last_up_to(ring, states, look.at)?;
        for (at, sample) in (before.checked_sub(1)?..).zip(samples) {
            *sample = if at < ring.len { Some(states.moving(at)?) } else { None };
        }
        Some(states.state(before).0.owner)
    }

    /// What is known of the nth row around a point, the last state up to it and its neighbours: the one before, and the two after it.
    /// `None` where no state up to the point is known.
    pub fn neighbours(&self, nth: usize, look: &Look) -> Option<Neighbours<'_>> {
        let Track { ring, revised } = self.tracks.values()[nth];
        if revised > look.known.update {
            return Neighbours::among(self.newest_first(nth).filter(|state| look.known.has(state)), look.at);
        }
        let states = self.states.states(ring);
        let before = last_up_to_or_cut(ring, states, look.at)?;
        let state = |at: u32| (at < ring.len).then(|| track_state(ring, states, at));
        Some(Neighbours {
            before: state(before)?,
            earlier: before.checked_sub(1).and_then(state),
            next: state(before + 1),
            last: state(before + 2),
        })
    }

    /// Whether it is soon seen that the nth row goes to a point as it was known to: the last state up to it was known, and is one that it
    /// has come to since, or in which it rested until a point since, or those after it were known as well.
    #[inline]
    pub fn goes_on_as_known(&self, nth: usize, look: &Look, since: &Since) -> bool {
        let Track { ring, .. } = self.tracks.values()[nth];
        let states = self.states.states(ring);
        let Some(before) = last_up_to_or_cut(ring, states, look.at) else { return false };
        let was_known = |at: u32| at < ring.len && states.known_in(at) <= since.known.update;
        let goes_on = || was_known(before + 1) && (!since.by_neighbours || was_known(before + 2));
        let is_cut = ring.is_cut && before == 0;
        let next = || was_known(before + 1).then(|| track_state(ring, states, before + 1));
        let left = || TickTime::start_of(track_state(ring, states, before).left(next(), look));
        let has_come_to_it = || !is_cut && left() > since.at;
        was_known(before) && (has_come_to_it() || goes_on())
    }

    /// The states of a row from the newest back.
    #[inline]
    pub fn newest_first(&self, nth: usize) -> impl Iterator<Item = TrackSample<'_>> + Clone {
        let Track { ring, .. } = self.tracks.values()[nth];
        let states = self.states.states(ring);
        (0..ring.len).rev().map(move |at| track_state(ring, states, at))
    }

    /// Takes in a row as it is in a state, or that it is gone; `None` where that is known, or too long ago. `moved_ticks` is asked with
    /// the words of a row that rested before, and is another now.
    pub fn put(
        &mut self,
        entity: Entity,
        entry: TrackEntry,
        words: &[u32],
        moved_ticks: impl Fn(&[u32]) -> u32,
    ) -> Option<News> {
        let ComponentTracks { tracks, states, next, revised } = self;
        let track = tracks.get_or_insert_near(entity, next, || Track { ring: states.take(), revised: 0 });
        let news = states.put(&mut track.ring, entry, words, moved_ticks)?;
        (track.revised, *revised) = (entry.known_in, entry.known_in);
        Some(news)
    }

    /// Forgets how an entity was before the last state up to `tick`, which counts in its place from now on; but where its row was
    /// predicted and is not there in that state, nothing is forgotten.
    pub fn forget_before(&mut self, entity: Entity, tick: Tick, is_predicted: bool) {
        let ComponentTracks { tracks, states, .. } = self;
        let track = tracks.get_mut(entity).into_iter();
        track.for_each(|track| states.forget_before(&mut track.ring, tick, is_predicted));
    }

    /// Forgets rows that are gone in the newest state that is known of them, if that is before `until`. Returns the first of those
    /// states of the others that are gone.
    pub fn forget_gone(&mut self, until: Tick) -> Option<Tick> {
        let (states, mut since) = (&mut self.states, None::<Tick>);
        self.tracks.retain(|_, Track { ring, .. }| {
            let (newest, _) = states.state(*ring, ring.len - 1);
            let is_over = !newest.is_there() && newest.tick < until;
            if is_over {
                states.give_back(*ring);
            } else if !newest.is_there() {
                since = Some(since.map_or(newest.tick, |since| since.min(newest.tick)));
            }
            !is_over
        });
        since
    }
}

/// The number of the last state of a ring up to a point.
#[inline]
fn last_up_to(ring: Ring, states: RingStates<'_>, at: TickTime) -> Option<u32> {
    let mut last = ring.len - 1;
    while TickTime::start_of(states.tick(last)) > at {
        last = last.checked_sub(1)?;
    }
    Some(last)
}

/// The same, or of a ring that is cut the first where none is up to the point: it takes the place of those before.
#[inline]
fn last_up_to_or_cut(ring: Ring, states: RingStates<'_>, at: TickTime) -> Option<u32> {
    last_up_to(ring, states, at).or(ring.is_cut.then_some(0))
}

#[inline]
fn track_state(ring: Ring, states: RingStates<'_>, at: u32) -> TrackSample<'_> {
    let (entry, words) = states.state(at);
    TrackSample { entry, words, is_cut: ring.is_cut && at == 0 }
}
