//! What is known of a row in one state, and what follows from that and its neighbours at a point between.

use super::track_rings::{Status, TrackEntry};
use crate::motion::Correction;
use crate::motion::vector::{length, sub};
use crate::session::curves::{Sample, velocity_of};
use crate::time::{Tick, TickRate, TickTime};
use crate::world::ComponentSchema;

/// What was known in an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KnownIn {
    pub update: u32,
    /// The newest state: what rests is known to be so in it.
    pub newest: Tick,
}

impl KnownIn {
    /// Whether what is known of a row in a state was known then.
    #[inline]
    pub(super) fn has(&self, state: &TrackSample<'_>) -> bool {
        state.entry.known_in <= self.update
    }
}

/// Where a row is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub at: TickTime,
    pub known: KnownIn,
    /// How many ticks one state of it comes after the other while it moves.
    pub interval: u32,
}

/// Until when a row was looked at before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    pub known: KnownIn,
    /// Where it was looked at.
    pub at: TickTime,
    /// Whether the neighbours of the states around it count.
    pub by_neighbours: bool,
}

/// Whether a row rests at a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rest {
    No,
    /// Until a state that is known.
    ForNow,
    /// Until anything new is known of it.
    Stays,
}

/// What is known of a row in one state.
#[derive(Clone, Copy)]
pub(super) struct TrackSample<'a> {
    pub entry: TrackEntry,
    pub words: &'a [u32],
    /// Whether it is the oldest that is known, and was not the first: it takes the place of those before.
    pub is_cut: bool,
}

impl<'a> TrackSample<'a> {
    #[inline]
    pub(super) fn is_up_to(&self, at: TickTime) -> bool {
        self.is_cut || TickTime::start_of(self.entry.tick) <= at
    }

    #[inline]
    pub(super) fn is_there(&self) -> bool {
        self.entry.is_there()
    }

    /// `None` where it is not there.
    #[inline]
    pub(super) fn sample(self) -> Option<Sample<'a>> {
        self.is_there().then_some((self.entry.tick, self.words))
    }

    pub(super) fn rests(&self) -> bool {
        self.entry.status == Status::Rests
    }

    /// The state from which it goes on to the next one that is known: this one, or that until which it rests.
    #[inline]
    pub(super) fn left(&self, next: Option<TrackSample<'_>>, look: &Look) -> Tick {
        match next.filter(|next| self.rests() && next.is_there()) {
            Some(next) => self.rests_until(Some(next), look),
            None => self.entry.tick,
        }
    }

    /// The last state in which it is known to be as in this one, of which that was told, before the next one that is known.
    pub(super) fn rests_until(&self, next: Option<TrackSample<'_>>, look: &Look) -> Tick {
        let last = match next {
            // In states that have not come it may have moved already.
            Some(next) if next.is_there() => next.entry.tick.back(look.interval.max(next.entry.moved_ticks)),
            Some(next) => next.entry.tick.back(1),
            None => Some(look.known.newest),
        };
        last.map_or(self.entry.tick, |last| last.max(self.entry.tick))
    }
}

/// What is known of a row around a point.
#[derive(Clone, Copy)]
pub(super) struct Neighbours<'a> {
    /// The last state up to the point.
    pub before: TrackSample<'a>,
    pub earlier: Option<TrackSample<'a>>,
    pub next: Option<TrackSample<'a>>,
    /// The one after the next.
    pub last: Option<TrackSample<'a>>,
}

impl<'a> Neighbours<'a> {
    /// Around a point, of these states from the newest back; `None` where none is up to it.
    pub(super) fn among(
        mut newest_first: impl Iterator<Item = TrackSample<'a>>,
        at: TickTime,
    ) -> Option<Neighbours<'a>> {
        let (mut next, mut last) = (None, None);
        loop {
            let before = newest_first.next()?;
            if before.is_up_to(at) {
                return Some(Neighbours { before, earlier: newest_first.next(), next, last });
            }
            (next, last) = (Some(before), next);
        }
    }

    /// How it rests at the point, and until when, where it does.
    pub(super) fn rest(&self, look: &Look) -> Option<(Rest, Tick)> {
        let Neighbours { before, next, .. } = self;
        let until = before.rests().then(|| before.rests_until(*next, look))?;
        let is_over = next.is_some_and(|next| next.is_there()) && look.at.tick() >= until;
        let rest = if next.is_some() { Rest::ForNow } else { Rest::Stays };
        (!is_over).then_some((rest, until))
    }

    /// Writes the two states up to the point and the two after it. Between two states in which it rests it is in all. Returns whether it
    /// does.
    pub(super) fn sample(&self, look: &Look, samples: &mut [Option<Sample<'a>>; 4]) -> Rest {
        let Neighbours { before: state, earlier, next, last } = *self;
        if let Some((rest, until)) = self.rest(look) {
            let from = look.at.tick().min(until);
            let after = (from < until).then(|| (from.next(), state.words));
            *samples = [None, Some((from, state.words)), after, None];
            return rest;
        }
        let mut before = state.entry.tick;
        let mut first = earlier.and_then(|earlier| {
            let rested = earlier.rests().then(|| earlier.rests_until(Some(state), look));
            earlier.sample().map(|(tick, words)| (rested.unwrap_or(tick), words))
        });
        if state.rests() {
            let until = state.rests_until(next, look);
            let rested = until.back(look.interval).filter(|rested| *rested >= before);
            first = rested.map(|rested| (rested, state.words)).or(first);
            before = until;
        }
        let after = next.and_then(TrackSample::sample);
        let mut second = last.filter(|_| after.is_some()).and_then(TrackSample::sample);
        if let Some(next) = next.filter(TrackSample::rests) {
            let until = next.rests_until(last, look).min(next.entry.tick + look.interval);
            second = (until > next.entry.tick).then_some((until, next.words)).or(second);
        }
        *samples = [first, Some((before, state.words)), after, second];
        Rest::No
    }
}

/// For how many ticks a row has moved that rested before: as long as it takes at its speed, which it mostly has at once, but no longer
/// than the `longest` that can be. Without a velocity as long as that. What is further away than it can be hidden to be has jumped.
pub(super) fn moved_ticks(
    component: &ComponentSchema,
    rate: TickRate,
    [rested, now]: [&[u32]; 2],
    longest: u32,
) -> u32 {
    let [from, to] = [rested, now].map(|words| component.pose(words).position);
    let (way, speed) = (length(sub(to, from)), length(velocity_of(component, now)));
    if way > Correction::default().snaps_from(speed) {
        return 0;
    }
    let seconds = way / speed;
    let ticks = (seconds * f64::from(rate.get())).min(f64::from(longest));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the longest")]
    let whole = ticks as u32;
    whole + u32::from(f64::from(whole) < ticks)
}
