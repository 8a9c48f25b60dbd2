//! Exact sessions: the digests of the authority's states against those of the predictions (`Rules::exact`).
//!
//! What the server has told of inputs is simulated first. What comes of it is what the server has, or it is asked for.

use super::play::Turn;
use super::{Reconciliation, Session};
use crate::rollback::{Rows, World};
use crate::session::Rules;
use crate::session::rowcode::proof_of;

impl<W: World> Turn<'_, W> {
    /// Simulates again what is known to have been otherwise. Returns how many ticks.
    pub(super) fn simulate_told(&mut self, world: &mut W) -> u32 {
        self.capture();
        self.revise();
        self.resimulate(world)
    }

    /// Holds the newest digest of a state against what was simulated with all that was told; of one that is older than
    /// everything that is remembered the state is asked for.
    pub(super) fn prove(&mut self) {
        let session = &mut *self.session;
        let (settled, compared) = (session.timeline.settled(), session.reconciler.compared());
        let outdated = session.timeline.outdated(compared);
        let until = outdated.map_or(settled, |tick| tick.min(settled));
        let first = compared.next().max(session.comparable);
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
            session.anchor.note(tick, snapshot.came);
            session.reconciler.agree(tick, session.timeline.canonical());
            session.asks = None;
        } else if self.config.reconciliation == Reconciliation::Off {
            self.stats.outcomes.left += snapshot.samples;
        } else {
            self.stats.outcomes.asked += snapshot.samples;
            session.asks = Some(tick);
        }
    }
}

impl<W: World> Session<W> {
    /// In an exact session everything is predicted from the start.
    pub(super) fn predict_everything(&mut self, rules: &Rules, full: &Rows) {
        if rules.exact {
            self.reconciler.be_exact();
            self.wanted.insert_all();
            full.iter().for_each(|(entity, _)| self.wanted.insert(entity.player()));
            self.timeline.predict(&self.wanted);
        }
    }
}
