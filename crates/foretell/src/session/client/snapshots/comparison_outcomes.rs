//! What becomes of the authority's samples: the books that have to balance.

use crate::session::client::correction_causes::Causes;

/// What became of the authoritative samples of predicted entities: one outcome for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcomes {
    /// How many samples came, each in a complete snapshot.
    pub received: u64,
    /// Compared with the stored prediction of their tick, and equal within the tolerance.
    pub agreed: u64,
    /// Compared, different, and corrected.
    pub corrected: u64,
    /// A newer one was compared in the same or an earlier update, or adopted as the present, so that it can't be compared.
    pub superseded: u64,
    /// Older than the horizon, or waiting when the session ended: the client started again from the full state, or not at all.
    pub resync: u64,
    /// Their digest was not the one of the prediction of their tick, and the whole state was asked for
    /// ([exact](crate::session::Rules::exact) sessions; the digest of a state counts as one sample).
    pub asked: u64,
    /// Their tick is not simulated yet; they are compared when it is.
    pub waiting: u64,
}

impl Outcomes {
    /// The books of a session that is over: nothing waits any more.
    pub(crate) fn at_end(self) -> Outcomes {
        Outcomes { resync: self.resync + self.waiting, waiting: 0, ..self }
    }

    /// Whether every sample has exactly one outcome.
    pub fn add_up(&self) -> bool {
        let Outcomes { received, agreed, corrected, superseded, resync, asked, waiting } = *self;
        received == agreed + corrected + superseded + resync + asked + waiting
    }
}

/// What a comparison has found.
#[derive(Default)]
pub(crate) struct Compared {
    pub agreed: u64,
    pub different: u64,
    /// Entities that exist on this side only.
    pub surplus: u64,
    /// The authority's samples of what was handed over, and so was not predicted.
    pub handed: u64,
    pub misprediction_m: f64,
    /// What explains the differences that stay: within the tolerance.
    pub stayed: Causes,
}
