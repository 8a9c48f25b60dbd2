//! One-shot effects: told once, at their first simulation or when the cursor passes them, and confirmed or taken back by
//! the authority's list (DESIGN: things that appear).
//!
//! Of each effect the events are `Effect (EffectCancelled Effect)? EffectConfirmed` or `Effect EffectCancelled`. It is
//! told a second time only if the authority has it although a re-simulation did not.

use crate::session::client::snapshots::{Snapshot, Snapshots};
use crate::session::client::update_report::ClientEvent;
use crate::time::{Tick, TickTime};
use crate::world::{Effect, Entity, PredictionSet};
use alloc::vec::Vec;

/// How many effects without an answer are remembered; the newest.
const OPEN_MAX: usize = 1024;

/// How far an effect has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EffectProgress {
    /// Not reported yet.
    New,
    /// Reported, and not answered by the authority yet.
    Fired,
    /// Reported, and taken back by a re-simulation.
    Cancelled,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    effect: Effect,
    /// Whether the newest simulation of its tick has it.
    predicted: bool,
    /// Whether the authority has it.
    confirmed: bool,
    progress: EffectProgress,
}

/// Effects that are not settled between prediction and authority. Lives as long as the session.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    /// Ascending by name, `len <= OPEN_MAX` after a settlement.
    open: Vec<Open>,
    /// The authority has told all effects of the ticks before.
    known_until: Tick,
}

/// By what it is decided what is told now.
pub(crate) struct Now<'a> {
    /// The next tick to be simulated.
    pub present: Tick,
    /// Where the others are shown.
    pub cursor: Option<TickTime>,
    pub predicted: &'a PredictionSet,
    pub snapshots: &'a Snapshots,
}

impl Now<'_> {
    /// For how many ticks an effect could have been told; `None` when it is still to come.
    fn late(&self, effect: &Effect, is_predicted: bool) -> Option<u32> {
        let after = effect.tick.next();
        if is_predicted || self.predicts(effect.entity) {
            (after <= self.present).then(|| self.present.since(after))
        } else {
            self.cursor.filter(|at| TickTime::start_of(after) <= *at).map(|at| at.tick().since(after))
        }
    }

    fn predicts(&self, entity: Entity) -> bool {
        self.predicted.contains(self.snapshots.owned(entity))
    }
}

impl Effects {
    pub(crate) fn new() -> Effects {
        Effects { open: Vec::with_capacity(4 * crate::session::client::initial_capacity::FEW), known_until: Tick::ZERO }
    }

    /// The session begins with the authority's state of `tick`: what happened before is nobody's concern.
    pub(crate) fn begin(&mut self, tick: Tick) {
        self.known_until = tick;
    }

    /// The client starts again: what passed unseen, at the cursor or in ticks that are not simulated, is not told any
    /// more.
    pub(crate) fn skip(&mut self, now: &Now<'_>) {
        self.open
            .retain(|open| open.progress != EffectProgress::New || now.late(&open.effect, open.predicted).is_none());
    }

    /// Takes in what a complete snapshot tells. Returns of how many ticks it can't tell all.
    pub(crate) fn note_told(&mut self, snapshot: &Snapshot) -> u32 {
        let known = self.known_until;
        for effect in snapshot.lists.news.iter().filter_map(|news| news.effect()).filter(|effect| effect.tick >= known)
        {
            self.entry(&effect).confirmed = true;
        }
        self.known_until = known.max(snapshot.tick);
        if known < snapshot.news_from {
            // What the authority says of these is not known, and never will be.
            let untold = known..snapshot.news_from;
            self.open.retain(|open| {
                open.confirmed || open.progress == EffectProgress::New || !untold.contains(&open.effect.tick)
            });
        }
        snapshot.news_from.since(known)
    }

    /// Takes in what the newest simulation of a tick has said.
    pub(crate) fn note_run(&mut self, tick: Tick, effects: &[Effect]) {
        let first = self.open.partition_point(|open| open.effect.tick < tick);
        self.open[first..]
            .iter_mut()
            .take_while(|open| open.effect.tick == tick)
            .for_each(|open| open.predicted = false);
        for effect in effects {
            self.entry(effect).predicted = true;
        }
    }

    fn entry(&mut self, effect: &Effect) -> &mut Open {
        let at = self.open.binary_search_by_key(&effect.name(), |open| open.effect.name()).unwrap_or_else(|at| {
            let open = Open { effect: *effect, predicted: false, confirmed: false, progress: EffectProgress::New };
            self.open.insert(at, open);
            at
        });
        &mut self.open[at]
    }

    /// Tells what is to be told, and forgets what is settled. Returns how many were taken back.
    pub(crate) fn settle(&mut self, now: &Now<'_>, events: &mut Vec<ClientEvent>) -> u64 {
        let known_until = self.known_until;
        let mut cancelled = 0;
        self.open.retain_mut(|open| {
            let effect = open.effect;
            let late = now.late(&effect, open.predicted);
            let known = effect.tick < known_until;
            match (open.progress, open.confirmed) {
                (EffectProgress::Fired, true) => events.push(ClientEvent::EffectConfirmed(effect)),
                (_, true) => {
                    let Some(late) = late else { return true };
                    events.extend([ClientEvent::Effect { effect, late }, ClientEvent::EffectConfirmed(effect)]);
                }
                (EffectProgress::Fired, false) if known || !open.predicted => {
                    cancelled += 1;
                    open.progress = EffectProgress::Cancelled;
                    events.push(ClientEvent::EffectCancelled(effect));
                    return !known;
                }
                (EffectProgress::New, false) if open.predicted && !known => {
                    open.progress = EffectProgress::Fired;
                    events.push(ClientEvent::Effect { effect, late: late.unwrap_or(0) });
                    return true;
                }
                (EffectProgress::New, false) => {}
                (_, false) => return !known,
            }
            false
        });
        let surplus = self.open.len().saturating_sub(OPEN_MAX);
        self.open.drain(..surplus);
        cancelled
    }
}
