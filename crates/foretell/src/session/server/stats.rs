//! Counters: of one player, of the inputs of all, and of who has joined or was refused.

use crate::session::{HitReceipt, Offences, Refusal};
use crate::world::RewindBound;
use core::time::Duration;

/// Counters of one player, since their admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PeerStats {
    /// Datagrams of inputs that were received.
    pub datagrams_received: u64,
    /// Snapshots that were sent.
    pub snapshots_sent: u64,
    /// Bytes that were sent, of states and messages.
    pub bytes_sent: u64,
    /// What has become of the player's inputs.
    pub inputs: InputTotals,
    /// What was refused, or held to what is allowed, by its [kind](crate::session::Offence).
    pub offences: Offences,
}

/// Counters of a server, since its start, of all who are or were here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServerTotals {
    /// Datagrams that were malformed. Of inputs and messages from nobody known the header alone is read.
    pub malformed: u64,
    /// Who has joined, and who was refused for which reason.
    pub joins: JoinTotals,
    /// What has become of the inputs of all players. What a player has missed since they were last heard counts once they are heard
    /// again, or are lost: then as absent.
    pub inputs: InputTotals,
    /// What was hit.
    pub hits: HitTotals,
}

/// What has become of the inputs of a player, or of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InputTotals {
    /// Inputs that were applied in their tick.
    pub applied: u64,
    /// Ticks whose input was missing when they were simulated, or jumped over. When a player is lost, those since they were
    /// last heard become absent.
    pub missed: u64,
    /// Ticks in which a player was not there: lost, from when they were last heard.
    pub absent: u64,
    /// Inputs that came after their tick was simulated and had not been there before.
    pub late: u64,
}

impl InputTotals {
    /// Adds those of a player who is here: what was missed since they were last heard is neither missed nor absent yet.
    pub(super) fn add(&mut self, counters: &PeerCounters) {
        self.add_past(counters.stats.inputs);
        self.missed -= counters.missed_unheard;
    }

    /// Adds those of a player who has left.
    pub(super) fn add_past(&mut self, inputs: InputTotals) {
        self.applied += inputs.applied;
        self.missed += inputs.missed;
        self.absent += inputs.absent;
        self.late += inputs.late;
    }
}

/// The hits of all steps since the start ([`Step::hit`](crate::Step::hit)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HitTotals {
    /// How many.
    pub hits: u64,
    /// How many of them were judged by another moment than the shooter's client has said.
    pub bounded: u64,
    /// How far back they were judged, all together.
    pub rewound: Duration,
    /// And the one that was judged furthest back.
    pub rewound_max: Duration,
    /// How long after they were safe on their own screens those who were hit may have been hit, all together
    /// ([`HitReceipt::after_cover`]).
    pub after_cover: Duration,
}

impl HitTotals {
    /// Counts a hit.
    pub(super) fn note(&mut self, receipt: &HitReceipt) {
        let is_bounded = !matches!(receipt.rewind.bound, RewindBound::Claim | RewindBound::Present);
        self.hits += 1;
        self.bounded += u64::from(is_bounded);
        self.rewound += receipt.rewound();
        self.rewound_max = self.rewound_max.max(receipt.rewound());
        self.after_cover += receipt.after_cover();
    }
}

/// What has become of those who wanted to join, since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JoinTotals {
    /// Players who have joined.
    pub joined: u64,
    refused: [u64; Refusal::ALL.len()],
}

impl JoinTotals {
    /// How many were refused for this reason, whatever its words, those who had joined and could not be kept among them. Who asks again and again
    /// counts once.
    #[must_use]
    pub fn refused(&self, why: Refusal) -> u64 {
        self.refused[why.number()]
    }

    /// How many were refused, for whatever reason.
    #[must_use]
    pub fn refused_in_all(&self) -> u64 {
        self.refused.iter().sum()
    }

    /// Somebody was refused.
    pub(super) fn note_refused(&mut self, why: Refusal) {
        self.refused[why.number()] += 1;
    }
}

/// The counters of one player as they are kept: an input that is missing is missed while its player is here, and absent
/// where nothing was heard of the player until they were lost.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerCounters {
    pub stats: PeerStats,
    /// How many inputs were missed since the player was last heard; none while they are lost.
    missed_unheard: u64,
    is_lost: bool,
}

impl PeerCounters {
    /// The inputs of `ticks` ticks are missing.
    pub fn note_missing(&mut self, ticks: u64) {
        if self.is_lost {
            self.stats.inputs.absent += ticks;
        } else {
            self.stats.inputs.missed += ticks;
            self.missed_unheard += ticks;
        }
    }

    /// The player is there.
    pub fn note_heard(&mut self) {
        (self.missed_unheard, self.is_lost) = (0, false);
    }

    /// Nothing has come for too long. What was missed meanwhile was not late: nobody was there.
    pub fn note_lost(&mut self) {
        self.is_lost = true;
        let absent = core::mem::take(&mut self.missed_unheard);
        self.stats.inputs.missed -= absent;
        self.stats.inputs.absent += absent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_missed_before_a_loss_is_absent_and_what_was_heard_of_later_is_missed() {
        let mut counters = PeerCounters::default();
        let seen = |counters: &PeerCounters| (counters.stats.inputs.missed, counters.stats.inputs.absent);
        counters.note_missing(3);
        counters.note_heard();
        counters.note_missing(4);
        assert_eq!(seen(&counters), (7, 0));
        let mut totals = InputTotals::default();
        totals.add(&counters);
        assert_eq!((totals.missed, totals.absent), (3, 0), "of four it is not known yet");
        counters.note_lost();
        counters.note_lost();
        counters.note_missing(5);
        assert_eq!(seen(&counters), (3, 9));
        counters.note_heard();
        counters.note_missing(1);
        assert_eq!(seen(&counters), (4, 9));
    }
}
