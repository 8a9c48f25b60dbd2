//! Exact sessions: the digests of the authority's states against those of the predictions (`Rules::exact`).
//!
//! What the server has told of inputs is simulated first. What comes of it is what the server has, or it is asked for.

use super::Session;
use super::play::Turn;
use crate::rollback::{Rows, World};
use crate::session::Rules;
use crate::session::rowcode::proof_of;

impl<W: World> Turn<'_, W> {
    /// Simulates again what is known to have been otherwise, and holds the newest digest of a state against what has come
    /// of it. Returns how many ticks were simulated again.
    pub(super) fn prove(&mut self, world: &mut W) -> u32 {
        self.capture();
        self.revise();
        let ran = self.resimulate(world);
        let session = &mut *self.session;
        let (settled, compared) = (session.timeline.settled(), session.reconciler.compared());
        let first = compared.next().max(session.comparable).max(session.timeline.oldest());
        let open = session.snapshots.open().filter(|snapshot| snapshot.proof.is_some()).map(|snapshot| snapshot.tick);
        let chosen = open.filter(|tick| *tick >= first && *tick <= settled).max();
        let past = chosen.unwrap_or(first);
        for old in session.snapshots.open().filter(|snapshot| snapshot.proof.is_some() && snapshot.tick < past) {
            old.settled = true;
            self.stats.outcomes.superseded += old.samples;
        }
        let Some(tick) = chosen else { return ran };
        let predicted = session.timeline.rows(tick).expect("a remembered state was chosen");
        let digest = proof_of(predicted);
        let snapshot = session.snapshots.open().find(|snapshot| snapshot.tick == tick).expect("it was chosen");
        snapshot.settled = true;
        if snapshot.proof == Some(digest) {
            snapshot.proof = None;
            snapshot.rows.copy_rows(predicted);
            self.stats.outcomes.agreed += snapshot.samples;
            session.anchor.note(tick, snapshot.came);
            session.reconciler.agree(tick, session.timeline.canonical());
            session.asks = None;
        } else {
            self.stats.outcomes.asked += snapshot.samples;
            session.asks = Some(tick);
        }
        ran
    }
}

impl<W: World> Session<W> {
    /// In an exact session everything is predicted from the start.
    pub(super) fn predict_everything(&mut self, rules: &Rules, full: &Rows) {
        if rules.is_exact() {
            self.reconciler.be_exact();
            self.wanted.insert_all();
            full.iter().for_each(|(entity, _)| self.wanted.insert(entity.player()));
            self.timeline.predict(&self.wanted);
        }
    }
}
