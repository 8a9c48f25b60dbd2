//! Exact sessions: the digests of the authority's states against those of the predictions (`Rules::exact`).
//!
//! What the server has told of inputs is simulated first. What comes of it is what the server has, or it is asked for.

use super::update::Update;
use super::{Causes, ClientEvent, Session};
use crate::session::Rules;
use crate::session::row_codec::proof_of;
use crate::time::Tick;
use crate::world::{Rows, World};

impl<W: World> Update<'_, W> {
    /// Simulates again what is known to have been otherwise. Returns how many ticks.
    pub(super) fn simulate_told(&mut self, world: &mut W) -> u32 {
        self.capture();
        self.revise();
        self.resimulate(world)
    }

    /// Compares the newest digest of a state with what was simulated from all relayed inputs; where that is no longer
    /// remembered, asks for the state.
    pub(super) fn prove(&mut self, world: &mut W) {
        let session = &mut *self.session;
        let (settled, compared) = (session.timeline.settled(), session.reconciler.compared());
        let outdated = session.timeline.outdated(compared);
        let until = outdated.map_or(settled, |tick| tick.min(settled));
        let first = compared.next();
        let open = session.snapshots.open().filter(|snapshot| snapshot.proof.is_some()).map(|snapshot| snapshot.tick);
        let chosen = open.filter(|tick| (first..=until).contains(tick)).max();
        let past = chosen.unwrap_or(first);
        for old in session.snapshots.open().filter(|snapshot| snapshot.proof.is_some() && snapshot.tick < past) {
            old.settled = true;
            self.stats.outcomes.superseded += old.samples;
        }
        let Some(tick) = chosen else { return };
        let snapshot = session.snapshots.open().find(|snapshot| snapshot.tick == tick).expect("it was chosen");
        snapshot.settled = true;
        let predicted = session.timeline.rows(tick);
        if let Some(predicted) = predicted.filter(|rows| snapshot.proof == Some(proof_of(rows))) {
            snapshot.proof = None;
            snapshot.rows.copy_rows(predicted);
            self.stats.outcomes.agreed += snapshot.samples;
            session.tick_unwrap.note(tick, snapshot.came);
            session.reconciler.agree(tick, session.timeline.canonical());
            session.asks = None;
        } else {
            self.stats.outcomes.asked += snapshot.samples;
            session.asks = Some(tick);
            self.look_for_cause(world, tick);
        }
    }

    /// The state of `tick` is another than was predicted. Says so where nothing explains that.
    fn look_for_cause(&mut self, world: &mut W, tick: Tick) {
        let session = &mut *self.session;
        let since = session.reconciler.compared();
        session.timeline.misguessed(since, tick, &mut session.reconciler.misguessed);
        if session.reconciler.is_explained(tick) {
            return;
        }
        let cause = session.cause_of_unexplained(world, (since, tick));
        self.note_apart(cause, (since, tick));
    }

    /// The ends have agreed in the state of `since`, and for this cause do not in that of `tick`.
    pub(super) fn note_apart(&mut self, cause: Causes, (since, tick): (Tick, Tick)) {
        self.session.reconciler.exact_causes().into_iter().for_each(|exact_causes| exact_causes.part(cause));
        if cause == Causes::ENDS_DIFFER {
            self.events.push(ClientEvent::EndsDiffer { since, tick });
        }
    }
}

impl<W: World> Session<W> {
    /// Why the state of `tick` is another than was predicted, where the one of `since` was not and nothing is known that
    /// explains it.
    pub(super) fn cause_of_unexplained(&mut self, world: &mut W, (since, tick): (Tick, Tick)) -> Causes {
        if self.timeline.repeats(world, since, tick) { Causes::ENDS_DIFFER } else { Causes::NONDETERMINISM }
    }

    /// What is not published is not known to be the authority's at the state of `tick`, but where that is canonical.
    pub(super) fn note_derived(&mut self, tick: Tick) {
        let is_canonical = self.timeline.is_canonical(tick);
        self.reconciler.exact_causes().into_iter().for_each(|exact_causes| exact_causes.note_whole(tick, is_canonical));
    }

    /// In an exact session everything is predicted from the start.
    pub(super) fn predict_everything(&mut self, rules: &Rules, full: &Rows) {
        if rules.exact {
            self.reconciler.be_exact();
            self.wanted.insert_all();
            full.iter().for_each(|row| self.wanted.insert(row.owner));
            self.timeline.predict(&self.wanted);
        }
    }
}
