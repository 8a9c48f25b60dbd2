//! Reconciliation: the authority's samples against the stored predictions, and what follows from a difference.
//!
//! At most one comparison per update, with the newest sample whose tick is simulated; each sample gets exactly one
//! outcome.

use super::reconciler::Pending;
use super::update::Update;
use super::{Causes, ClientEvent, Corrected, Predict};
use crate::time::Tick;
use crate::world::{Tolerance, World};

impl<W: World> Update<'_, W> {
    /// Reconciles with the newest snapshot, and goes on with a re-simulation under way. Returns how many ticks were
    /// simulated again.
    pub(super) fn reconcile(&mut self, world: &mut W) -> u32 {
        let budget = self.budget();
        self.session.timeline.allow(budget);
        if !self.rules.exact {
            return self.reconcile_whole(world);
        }
        let told = self.simulate_told(world);
        let whole = self.reconcile_whole(world);
        self.prove(world);
        told + whole
    }

    /// The same with the newest snapshot whose rows are known.
    fn reconcile_whole(&mut self, world: &mut W) -> u32 {
        let session = &mut *self.session;
        let settled = session.timeline.settled();
        let compared = session.reconciler.compared();
        let whole = session.snapshots.open().rev().filter(|snapshot| snapshot.proof.is_none());
        let chosen = whole.map(|snapshot| snapshot.tick).find(|tick| *tick <= settled);
        let mut superseded = 0;
        let chosen = chosen.filter(|tick| *tick > compared);
        for snapshot in session.snapshots.open() {
            let known = snapshot.tick <= compared;
            let past = chosen.map_or(known, |chosen| snapshot.tick < chosen);
            if past {
                snapshot.settled = true;
                superseded += snapshot.samples;
            }
        }
        self.stats.outcomes.superseded += superseded;
        self.capture();
        let mut switched = 0;
        if let Some(tick) = chosen {
            let is_beyond = tick < self.session.timeline.oldest();
            self.session.beyond_horizon = if is_beyond { self.session.beyond_horizon + 1 } else { 0 };
            if is_beyond {
                let until = self.session.replay_until(tick);
                return self.resync(world, tick, until);
            }
            self.compare(world, tick);
            switched = self.switch(world, tick);
        }
        self.revise();
        switched + self.resimulate(world)
    }

    /// Remembers what is shown, before anything is corrected.
    pub(super) fn capture(&mut self) {
        let (visual, offsets) = self.session.visual_state(self.now, (&self.rules.schema, self.config));
        offsets.capture(&visual);
    }

    fn compare(&mut self, world: &mut W, tick: Tick) {
        let session = &mut *self.session;
        let snapshot = session.snapshots.get(tick).expect("the chosen snapshot is there");
        let predicted = session.timeline.rows(tick).expect("the chosen snapshot is not older than the horizon");
        session.owners.note(&snapshot.rows);
        let reconciler = &mut session.reconciler;
        reconciler.authority.copy_predicted(&snapshot.rows, session.timeline.predicted());
        session.timeline.misguessed(reconciler.compared(), tick, &mut reconciler.misguessed);
        reconciler.met.clear();
        session.timeline.touched(reconciler.compared(), tick, &mut reconciler.met);
        let compared = reconciler.compared();
        let is_canonical = session.timeline.is_canonical(tick);
        let tolerance = if is_canonical { Tolerance::default() } else { self.config.tolerance };
        reconciler.handed.clear();
        // Where everything is predicted, whose it is does not matter for that.
        if !self.rules.exact {
            reconciler.handed.extend_from_slice(session.owners.just_handed());
        }
        let found = reconciler.compare(tick, predicted, &self.rules.schema, &tolerance);
        session.asks = session.asks.filter(|asked| !is_canonical || *asked > tick);
        reconciler.exact_causes().into_iter().for_each(|exact_causes| exact_causes.note_whole(tick, is_canonical));
        session.tick_unwrap.note(tick, snapshot.came);
        session.snapshots.open().filter(|snapshot| snapshot.tick == tick).for_each(|snapshot| snapshot.settled = true);
        session.reconciler.advance_to(tick);
        let outcomes = &mut self.stats.outcomes;
        outcomes.agreed += found.agreed;
        outcomes.received -= found.handed;
        self.stats.misprediction_m = found.misprediction_m;
        if found.different + found.surplus == 0 {
            return;
        }
        outcomes.corrected += found.different;
        self.blame(world, (compared, tick));
        let session = &mut *self.session;
        let depth = session.timeline.present().since(tick);
        self.stats.rollbacks += 1;
        self.stats.rollback_ticks_max = self.stats.rollback_ticks_max.max(depth);
        session.reconciler.note_again(tick, Causes::default());
        session.timeline.rewrite(world, tick, &session.reconciler.authority);
        session.reconciler.note_rewritten();
    }

    /// Finds a cause for what nothing known explains of the differences between the states of `since` and `tick`.
    fn blame(&mut self, world: &mut W, (since, tick): (Tick, Tick)) {
        let session = &mut *self.session;
        if session.reconciler.has_unexplained() && self.rules.exact {
            let cause = session.cause_of_unexplained(world, (since, tick));
            session.reconciler.blame(cause);
            self.note_apart(cause, (since, tick));
        } else if session.reconciler.has_unexplained() && !session.timeline.repeats(world, since, tick) {
            session.reconciler.blame(Causes::NONDETERMINISM);
        } else if matches!(self.config.predict, Predict::Near { .. }) {
            session.reconciler.blame(session.reconciler.cause_in_part());
        }
    }

    /// How many ticks this update simulates again at most.
    fn budget(&self) -> u32 {
        self.config.resimulation_budget.max(self.session.due() + 2)
    }

    /// Simulates again within the budget, and lands what has reached the present.
    pub(super) fn resimulate(&mut self, world: &mut W) -> u32 {
        let budget = self.budget();
        let session = &mut *self.session;
        let from = session.timeline.settled();
        let ran = session.timeline.resimulate(world, budget);
        session.note_runs(from, from + ran);
        self.stats.resimulated += u64::from(ran);
        if session.timeline.settled() == session.timeline.present() {
            self.land();
        }
        ran
    }

    /// Starts again from the full state of `tick`, and replays the stored inputs up to `until`: the snapshot is older
    /// than the horizon, or the client has slept.
    pub(super) fn resync(&mut self, world: &mut W, tick: Tick, until: Tick) -> u32 {
        let session = &mut *self.session;
        let Some(snapshot) = session.snapshots.get(tick) else { return 0 };
        session.reconciler.authority.copy_predicted(&snapshot.rows, session.timeline.predicted());
        let authority = &session.reconciler.authority;
        session.reconciler.pending.clear();
        let since = session.reconciler.compared();
        let causes = session.reconciler.causes_of_resync(until);
        for row in authority.iter() {
            if session.reconciler.pending.iter().any(|pending| pending.entity == row.entity) {
                continue;
            }
            session.reconciler.pending.push(Pending {
                entity: row.entity,
                owner: row.owner,
                since,
                tick,
                difference: None,
                causes,
                misprediction_m: 0.0,
            });
        }
        session.tick_unwrap.note(tick, snapshot.came);
        let replayed = session.timeline.restart(world, tick, &snapshot.rows, until);
        for snapshot in session.snapshots.open().filter(|snapshot| snapshot.tick <= tick) {
            snapshot.settled = true;
            if snapshot.tick == tick {
                self.stats.outcomes.resync += snapshot.samples;
            } else {
                self.stats.outcomes.superseded += snapshot.samples;
            }
        }
        session.skip_effects(session.playout.at_instant(self.now));
        session.note_runs(tick, until);
        session.reconciler.begin(tick, session.blind_until(tick, until));
        session.note_derived(tick);
        session.resyncing = None;
        self.stats.resyncs += 1;
        self.stats.resimulated += u64::from(replayed);
        self.events.push(ClientEvent::Resynced { tick, replayed });
        self.land();
        replayed
    }

    /// The corrections that have reached the present: their visual offsets, and their records.
    fn land(&mut self) {
        let session = &mut *self.session;
        if session.reconciler.pending.is_empty() && session.reconciler.again.is_none() {
            session.offsets.keep();
            return;
        }
        let until = session.timeline.present();
        let (visual, offsets) = session.visual_state(self.now, (&self.rules.schema, self.config));
        offsets.land(&visual);
        let tolerated = |moved_m: f64| moved_m * moved_m <= self.config.tolerance.position_sqr_m;
        session.reconciler.follow(session.offsets.moved().filter(|(_, moved_m)| !tolerated(*moved_m)));
        session.reconciler.pending.sort_unstable_by_key(|pending| pending.entity);
        for pending in session.reconciler.pending.drain(..) {
            let (shown_m, teleport) = session.offsets.landed(pending.entity);
            let Pending { entity, owner, since, tick, difference, causes, misprediction_m } = pending;
            self.corrections.push(Corrected {
                entity,
                owner,
                since,
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
