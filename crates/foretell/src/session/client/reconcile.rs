//! Reconciliation: the authority's samples against the stored predictions, and what follows from a difference.
//!
//! At most one comparison per update, with the newest sample whose tick is simulated; each sample gets exactly one
//! outcome (DESIGN 1.1).

use super::snapshots::Snapshot;
use super::{Causes, Client, ClientEvent, Corrected, Phase, Reconciliation, Session};
use crate::motion::vector::squared_distance;
use crate::rollback::{Difference, Entity, Meaning, Rows, Schema, World, compare_row};
use crate::session::packet::SubstitutedRange;
use crate::time::{Instant, Tick};
use std::collections::VecDeque;

/// A correction that is found, and shown when its re-simulation has reached the present.
#[derive(Clone, Copy, Debug)]
struct Pending {
    entity: Entity,
    tick: Tick,
    difference: Option<Difference>,
    causes: Causes,
    misprediction_m: f64,
}

/// What reconciliation remembers from one comparison to the next.
pub(crate) struct Reconciler {
    /// The tick of the last sample that was compared or adopted.
    compared: Tick,
    /// Whether something differed within the tolerance at that comparison.
    inexact: bool,
    /// Own ticks that the server substituted, ascending; none older than the last comparison.
    substituted: VecDeque<Tick>,
    newest_substituted: Option<Tick>,
    authority: Rows,
    pending: Vec<Pending>,
}

impl Reconciler {
    pub(crate) fn new(schema: &Schema) -> Reconciler {
        Reconciler {
            compared: Tick::ZERO,
            inexact: false,
            substituted: VecDeque::new(),
            newest_substituted: None,
            authority: Rows::new(schema),
            pending: Vec::new(),
        }
    }

    /// Starts at the authority's state of `tick`.
    pub(crate) fn begin(&mut self, tick: Tick) {
        self.compared = tick;
        self.inexact = false;
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

    fn own_input_between(&self, from: Tick, to: Tick) -> bool {
        self.substituted.iter().any(|missed| from <= *missed && *missed < to)
    }

    fn advance_to(&mut self, tick: Tick) {
        self.compared = tick;
        while self.substituted.front().is_some_and(|missed| *missed < tick) {
            self.substituted.pop_front();
        }
    }
}

/// What a comparison has found.
#[derive(Default)]
struct Compared {
    agreed: u64,
    different: u64,
    /// Entities that exist on this side only.
    surplus: u64,
    inexact: bool,
    misprediction_m: f64,
}

impl<W: World> Client<W> {
    /// Reconciles with the newest snapshot, and goes on with a re-simulation under way. Returns how many ticks were
    /// simulated again.
    pub(super) fn reconcile(&mut self, now: Instant, world: &mut W, due: u32) -> u32 {
        let Phase::Playing(session) = &mut self.phase else { return 0 };
        let settled = session.timeline.settled();
        let compared = session.reconciler.compared;
        let chosen = session.snapshots.open().rev().map(|snapshot| snapshot.tick).find(|tick| *tick <= settled);
        let mut superseded = 0;
        let chosen = chosen.filter(|tick| *tick > compared);
        for snapshot in session.snapshots.open() {
            let past = chosen.map_or(snapshot.tick <= compared, |chosen| snapshot.tick < chosen);
            if past {
                snapshot.settled = true;
                superseded += snapshot.samples;
            }
        }
        self.stats.outcomes.superseded += superseded;
        session.offsets.capture(&session.timeline, &self.rules.schema, (now, session.pacing.at()), &self.config);
        if let Some(tick) = chosen {
            if tick < session.timeline.oldest() {
                return self.resync(now, world, tick, session_present(&self.phase));
            }
            self.compare(world, tick);
        }
        self.resimulate(now, world, due)
    }

    fn compare(&mut self, world: &mut W, tick: Tick) {
        let Phase::Playing(session) = &mut self.phase else { return };
        let already = session.reconciler.pending.len();
        let found = session.compare(tick, &self.rules.schema, &self.config);
        session.snapshots.open().filter(|snapshot| snapshot.tick == tick).for_each(|snapshot| snapshot.settled = true);
        session.reconciler.advance_to(tick);
        session.reconciler.inexact = found.inexact;
        let outcomes = &mut self.stats.outcomes;
        outcomes.agreed += found.agreed;
        self.stats.misprediction_m = found.misprediction_m;
        let differs = found.different + found.surplus > 0;
        match self.config.reconciliation {
            Reconciliation::Off => {
                outcomes.left += found.different;
                session.reconciler.pending.truncate(already);
                return;
            }
            Reconciliation::Rollback if !differs => return,
            Reconciliation::Rollback | Reconciliation::AlwaysRollback => outcomes.corrected += found.different,
        }
        let depth = session.timeline.present().since(tick);
        self.stats.rollbacks += 1;
        self.stats.rollback_ticks_max = self.stats.rollback_ticks_max.max(depth);
        session.timeline.rewrite(world, tick, &session.reconciler.authority);
    }

    /// Simulates again within the budget, and lands what has reached the present.
    fn resimulate(&mut self, now: Instant, world: &mut W, due: u32) -> u32 {
        let Phase::Playing(session) = &mut self.phase else { return 0 };
        let budget = self.config.resimulation_budget.max(due + 2);
        let ran = session.timeline.resimulate(world, budget);
        self.stats.resimulated += u64::from(ran);
        if session.timeline.settled() == session.timeline.present() {
            self.land(now);
        }
        ran
    }

    /// Starts again from the full state of `tick`, and replays the stored inputs up to `until`: the snapshot is older
    /// than the horizon, or the client has slept.
    pub(super) fn resync(&mut self, now: Instant, world: &mut W, tick: Tick, until: Tick) -> u32 {
        let Phase::Playing(session) = &mut self.phase else { return 0 };
        let Some(snapshot) = session.snapshots.get(tick) else { return 0 };
        session.reconciler.authority.copy_owned(&snapshot.rows, session.player);
        let authority = &session.reconciler.authority;
        session.reconciler.pending.clear();
        for (entity, _) in authority.iter() {
            let pending = Pending { entity, tick, difference: None, causes: Causes::RESYNC, misprediction_m: 0.0 };
            session.reconciler.pending.push(pending);
        }
        let replayed = session.timeline.restart(world, tick, &snapshot.rows, until);
        for snapshot in session.snapshots.open().filter(|snapshot| snapshot.tick <= tick) {
            snapshot.settled = true;
            if snapshot.tick == tick {
                self.stats.outcomes.resync += snapshot.samples;
            } else {
                self.stats.outcomes.superseded += snapshot.samples;
            }
        }
        session.reconciler.advance_to(tick);
        session.reconciler.inexact = false;
        session.resyncing = false;
        self.stats.resyncs += 1;
        self.stats.resimulated += u64::from(replayed);
        self.events.push(ClientEvent::Resynced { tick, replayed });
        self.land(now);
        replayed
    }

    /// The corrections that have reached the present: their visual offsets, and their records.
    fn land(&mut self, now: Instant) {
        let Phase::Playing(session) = &mut self.phase else { return };
        if session.reconciler.pending.is_empty() {
            session.offsets.keep();
            return;
        }
        let until = session.timeline.present();
        let when = (now, session.pacing.at());
        session.offsets.land(&session.timeline, &self.rules.schema, when, &self.config);
        session.reconciler.pending.sort_unstable_by_key(|pending| pending.entity);
        for pending in session.reconciler.pending.drain(..) {
            let (shown_m, teleport) = session.offsets.landed(pending.entity);
            let Pending { entity, tick, difference, causes, misprediction_m } = pending;
            self.corrections.push(Corrected {
                entity,
                tick,
                until,
                difference,
                causes,
                misprediction_m,
                shown_m,
                teleport,
            });
            self.stats.corrections += 1;
            self.stats.teleports += u64::from(teleport);
        }
    }
}

fn session_present<W: World>(phase: &Phase<W>) -> Tick {
    match phase {
        Phase::Playing(session) => session.timeline.present(),
        _ => Tick::ZERO,
    }
}

impl<W: World> Session<W> {
    /// Compares every predicted entity of the authority's state of `tick` with its prediction; what differs is pending.
    fn compare(&mut self, tick: Tick, schema: &Schema, config: &super::ClientConfig) -> Compared {
        let snapshot = self.snapshots.get(tick).expect("the chosen snapshot is there");
        let reconciler = &mut self.reconciler;
        reconciler.authority.copy_owned(&snapshot.rows, self.player);
        let predicted = self.timeline.rows(tick).expect("the chosen snapshot is not older than the horizon");
        let mut found = Compared::default();
        let window = (reconciler.compared, tick);
        let own_input = reconciler.own_input_between(window.0, window.1);
        let inexact = reconciler.inexact;
        let causes_of = |entity: Entity, both: bool| causes(snapshot, entity, window, (own_input, inexact, both));
        for (entity, words) in reconciler.authority.iter() {
            let kind = schema.kind(entity.kind());
            let ours = predicted.words(entity);
            let distance = ours.map_or(0.0, |ours| distance_m(schema, entity, ours, words));
            found.misprediction_m = found.misprediction_m.max(distance);
            let difference = compare_row(kind, ours, Some(words), &config.tolerance);
            found.inexact |= difference.is_none() && ours != Some(words);
            if difference.is_some() {
                found.different += 1;
                let causes = causes_of(entity, ours.is_some());
                reconciler.pending.retain(|pending| pending.entity != entity);
                reconciler.pending.push(Pending { entity, tick, difference, causes, misprediction_m: distance });
            } else {
                found.agreed += 1;
            }
        }
        for (entity, words) in predicted.iter().filter(|(entity, _)| reconciler.authority.words(*entity).is_none()) {
            found.surplus += 1;
            let difference = compare_row(schema.kind(entity.kind()), Some(words), None, &config.tolerance);
            let causes = causes_of(entity, false);
            reconciler.pending.retain(|pending| pending.entity != entity);
            reconciler.pending.push(Pending { entity, tick, difference, causes, misprediction_m: 0.0 });
        }
        found
    }
}

/// Why an entity may differ at the end of `window`, given that it agreed at its start.
fn causes(
    snapshot: &Snapshot,
    entity: Entity,
    window: (Tick, Tick),
    (own_input, inexact, both): (bool, bool, bool),
) -> Causes {
    let touched = snapshot.touched.iter().any(|(touched, at)| *touched == entity && window.0 <= *at);
    [
        (own_input, Causes::OWN_INPUT),
        (touched, Causes::SERVER_EVENT),
        (inexact, Causes::TOLERANCE),
        (!both, Causes::EXISTENCE),
    ]
    .into_iter()
    .filter(|(holds, _)| *holds)
    .fold(Causes::default(), |set, (_, cause)| set.with(cause))
}

fn distance_m(schema: &Schema, entity: Entity, ours: &[u32], theirs: &[u32]) -> f64 {
    let kind = schema.kind(entity.kind());
    match (kind.field(Meaning::Position, ours), kind.field(Meaning::Position, theirs)) {
        (Some((column, ours)), Some((_, theirs))) => {
            squared_distance::<f64, 3>(column.lanes(ours), column.lanes(theirs)).sqrt()
        }
        _ => 0.0,
    }
}
