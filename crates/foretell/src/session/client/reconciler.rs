//! What reconciliation knows: which states were compared, what may explain a difference, and which corrections are
//! under way.

use super::Causes;
use crate::motion::vector::squared_distance;
use crate::rollback::{
    Difference, Entity, KindSchema, Meaning, PlayerId, Predicted, Rows, Schema, Tolerance, compare_row,
};
use crate::session::packet::SubstitutedRange;
use crate::time::Tick;
use std::collections::VecDeque;

/// A correction that is found, and shown when its re-simulation has reached the present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub entity: Entity,
    pub tick: Tick,
    pub difference: Option<Difference>,
    pub causes: Causes,
    pub misprediction_m: f64,
}

/// What reconciliation remembers from one comparison to the next.
pub(crate) struct Reconciler {
    own: PlayerId,
    /// The tick of the last sample that was compared or adopted.
    compared: Tick,
    /// Whether something differed within the tolerance at that comparison.
    inexact: bool,
    /// Whether a difference was left at that comparison.
    left: bool,
    /// Own ticks that the server substituted, ascending; none older than the last comparison.
    substituted: VecDeque<Tick>,
    newest_substituted: Option<Tick>,
    /// Before which tick the server changed an entity outside of a step; none older than the last comparison.
    touched: Vec<(Entity, Tick)>,
    /// In which tick an entity of another player touched an entity on the server; none older than the last comparison.
    contacts: Vec<(Entity, Tick)>,
    /// The entities that those of other players touched here before the state that is compared.
    pub met: Vec<Entity>,
    /// The authority's rows of predicted entities, at the last comparison.
    pub authority: Rows,
    /// Other players whose inputs before the state that is compared were guessed, and wrong or not told.
    pub misguessed: Vec<PlayerId>,
    /// Corrections whose re-simulation has not reached the present.
    pub pending: Vec<Pending>,
    /// From which tick on something is simulated again that has not landed, and for what reasons besides those of the
    /// pending corrections.
    pub again: Option<(Tick, Causes)>,
}

impl Reconciler {
    pub(crate) fn new(schema: &Schema, own: PlayerId) -> Reconciler {
        Reconciler {
            own,
            compared: Tick::ZERO,
            inexact: false,
            left: false,
            substituted: VecDeque::with_capacity(64),
            newest_substituted: None,
            touched: Vec::with_capacity(super::FEW),
            contacts: Vec::with_capacity(super::FEW),
            met: Vec::with_capacity(super::FEW),
            authority: Rows::new(schema),
            misguessed: Vec::with_capacity(super::FEW),
            pending: Vec::with_capacity(super::FEW),
            again: None,
        }
    }

    /// How much it remembers.
    pub(crate) fn kept(&self) -> usize {
        self.substituted.len() + self.touched.len() + self.pending.len()
    }

    /// Starts at the authority's state of `tick`.
    pub(crate) fn begin(&mut self, tick: Tick) {
        self.advance_to(tick);
        self.inexact = false;
        self.left = false;
    }

    pub(crate) fn compared(&self) -> Tick {
        self.compared
    }

    /// Remembers what the head of the snapshot of `tick` says was substituted. Returns what was not known yet: the
    /// newest tick and how many.
    pub(crate) fn note_substituted(&mut self, tick: Tick, ranges: &[SubstitutedRange]) -> Option<(Tick, u32)> {
        let mut news = 0;
        // From the oldest to the newest.
        for range in ranges.iter().rev() {
            for back in (range.back..range.back + range.ticks).rev() {
                let Some(missed) = tick.back(back) else { continue };
                if self.newest_substituted.is_none_or(|newest| newest < missed) {
                    self.newest_substituted = Some(missed);
                    self.substituted.push_back(missed);
                    news += 1;
                }
            }
        }
        self.newest_substituted.filter(|_| news > 0).map(|newest| (newest, news))
    }

    /// Remembers what a snapshot says that the server changed outside of steps.
    pub(crate) fn note_touched(&mut self, touched: &[(Entity, Tick)]) {
        for event in touched.iter().filter(|(_, at)| *at >= self.compared) {
            if !self.touched.contains(event) {
                self.touched.push(*event);
            }
        }
    }

    /// Remembers what a snapshot says that was touched by others.
    pub(crate) fn note_contacts(&mut self, contacts: &[(Entity, Tick)], predicted: &Predicted) {
        let of_predicted = contacts.iter().filter(|(entity, _)| predicted.contains(entity.player()));
        for contact in of_predicted.filter(|(_, at)| *at >= self.compared) {
            if !self.contacts.contains(contact) {
                self.contacts.push(*contact);
            }
        }
    }

    /// What the last comparison has found is left as it is.
    pub(crate) fn leave(&mut self) {
        self.pending.retain(|pending| pending.tick != self.compared);
        self.left = true;
    }

    /// Ticks from `tick` on are simulated again, for these reasons.
    pub(crate) fn note_again(&mut self, tick: Tick, causes: Causes) {
        self.again = Some(match self.again {
            Some((first, before)) => (first.min(tick), before.with(causes)),
            None => (tick, causes),
        });
    }

    /// What was simulated elsewhere without a sample of its own follows from what has landed with it.
    pub(crate) fn follow(&mut self, moved: impl Iterator<Item = (Entity, f64)>) {
        let Some((tick, causes)) = self.again.take() else { return };
        let causes = self.pending.iter().fold(causes, |all, pending| all.with(pending.causes));
        let known = self.pending.len();
        for (entity, misprediction_m) in moved {
            if self.pending[..known].iter().all(|pending| pending.entity != entity) {
                self.pending.push(Pending { entity, tick, difference: None, causes, misprediction_m });
            }
        }
    }

    pub(crate) fn advance_to(&mut self, tick: Tick) {
        self.compared = tick;
        while self.substituted.front().is_some_and(|missed| *missed < tick) {
            self.substituted.pop_front();
        }
        self.touched.retain(|(_, at)| *at >= tick);
        self.contacts.retain(|(_, at)| *at >= tick);
    }

    /// Compares every predicted entity of the authority's state of `tick` with its prediction; what differs is pending.
    pub(crate) fn compare(&mut self, tick: Tick, predicted: &Rows, schema: &Schema, tolerance: &Tolerance) -> Compared {
        let mut found = Compared::default();
        let mut inexact = false;
        let mut pending = core::mem::take(&mut self.pending);
        let named = self.authority.iter().map(|(entity, words)| (entity, Some(words)));
        let unnamed = predicted.iter().map(|(entity, _)| (entity, None));
        let unnamed = unnamed.filter(|(entity, _)| self.authority.words(*entity).is_none());
        for (entity, theirs) in named.chain(unnamed) {
            let ours = predicted.words(entity);
            let misprediction_m = distance_m(schema.kind(entity.kind()), ours, theirs);
            found.misprediction_m = found.misprediction_m.max(misprediction_m);
            let difference = compare_row(schema.kind(entity.kind()), ours, theirs, tolerance);
            if difference.is_none() {
                found.agreed += 1;
                inexact |= ours != theirs;
                continue;
            }
            *if theirs.is_some() { &mut found.different } else { &mut found.surplus } += 1;
            let causes = self.causes(entity, tick, ours.is_some() && theirs.is_some());
            pending.retain(|known| known.entity != entity);
            pending.push(Pending { entity, tick, difference, causes, misprediction_m });
        }
        self.pending = pending;
        self.inexact = inexact;
        self.left = false;
        found
    }

    /// Why an entity may differ at `tick` from its prediction, given that it agreed at the last comparison.
    fn causes(&self, entity: Entity, tick: Tick, on_both_sides: bool) -> Causes {
        let window = self.compared..tick;
        let happened = |what: &[(Entity, Tick)]| what.iter().any(|(to, at)| *to == entity && window.contains(at));
        let met = happened(&self.contacts) || self.met.contains(&entity);
        [
            (
                entity.player() == self.own && self.substituted.iter().any(|missed| window.contains(missed)),
                Causes::OWN_INPUT,
            ),
            (self.misguessed.contains(&entity.player()), Causes::RELAYED_INPUT),
            (met, Causes::OTHERS),
            (happened(&self.touched), Causes::SERVER_EVENT),
            (self.inexact, Causes::TOLERANCE),
            (!on_both_sides, Causes::EXISTENCE),
            (self.left, Causes::LEFT),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(Causes::default(), |set, (_, cause)| set.with(cause))
    }
}

/// What a comparison has found.
#[derive(Default)]
pub(crate) struct Compared {
    pub agreed: u64,
    pub different: u64,
    /// Entities that exist on this side only.
    pub surplus: u64,
    pub misprediction_m: f64,
}

/// The distance between the positions in two rows, in metres; 0 where there are not two.
fn distance_m(kind: &KindSchema, ours: Option<&[u32]>, theirs: Option<&[u32]>) -> f64 {
    let position = |row| kind.field(Meaning::Position, row).map(|(column, words)| column.lanes::<3>(words));
    match (ours.and_then(position), theirs.and_then(position)) {
        (Some(ours), Some(theirs)) => squared_distance(ours, theirs).sqrt(),
        _ => 0.0,
    }
}
