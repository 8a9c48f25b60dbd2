//! What is known of a row in one state, and what follows from that and its neighbours at a point between.

use super::state_rings::{Status, TrackEntry};
use crate::session::curves::Sample;
use crate::time::{Tick, TickTime};

/// What was known in an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KnownIn {
    pub update: u32,
    /// The newest state: what rests is known to be so in it.
    pub newest: Tick,
}

/// Where a row is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub at: TickTime,
    pub known: KnownIn,
    /// How many ticks one state of it comes after the other while it moves.
    pub interval: u32,
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
pub(super) struct KnownState<'a> {
    pub entry: TrackEntry,
    pub words: &'a [u32],
    /// Whether it is the oldest that is known, and was not the first: it takes the place of those before.
    pub is_cut: bool,
}

impl<'a> KnownState<'a> {
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

    /// The last state in which it is known to be as in this one, of which that was told, before the next one that is known.
    pub(super) fn rests_until(&self, next: Option<KnownState<'_>>, look: &Look) -> Tick {
        let last = match next {
            Some(next) if next.is_there() => next.entry.tick.back(look.interval),
            Some(next) => next.entry.tick.back(1),
            None => Some(look.known.newest),
        };
        last.map_or(self.entry.tick, |last| last.max(self.entry.tick))
    }

    /// Writes this state and its neighbours: the one before, and the two after it. Between two states in which it rests it is in all.
    /// Returns whether it does.
    pub(super) fn around(
        self,
        [earlier, next, last]: [Option<KnownState<'a>>; 3],
        look: &Look,
        samples: &mut [Option<Sample<'a>>; 4],
    ) -> Rest {
        let KnownState { entry, words, .. } = self;
        let mut before = entry.tick;
        let mut first = earlier.and_then(|earlier| {
            let rested = earlier.rests().then(|| earlier.rests_until(Some(self), look));
            earlier.sample().map(|(tick, words)| (rested.unwrap_or(tick), words))
        });
        if self.rests() {
            let (until, now) = (self.rests_until(next, look), look.at.tick());
            if now < until || next.is_none_or(|next| !next.is_there()) {
                let from = now.min(until);
                let after = (from < until).then(|| (from.next(), words));
                *samples = [None, Some((from, words)), after, None];
                return if next.is_some() { Rest::ForNow } else { Rest::Stays };
            }
            let rested = until.back(look.interval).filter(|rested| *rested >= before);
            first = rested.map(|rested| (rested, words)).or(first);
            before = until;
        }
        let after = next.and_then(KnownState::sample);
        let mut second = last.filter(|_| after.is_some()).and_then(KnownState::sample);
        if let Some(next) = next.filter(KnownState::rests) {
            let until = next.rests_until(last, look).min(next.entry.tick + look.interval);
            second = (until > next.entry.tick).then_some((until, next.words)).or(second);
        }
        *samples = [first, Some((before, words)), after, second];
        Rest::No
    }
}
