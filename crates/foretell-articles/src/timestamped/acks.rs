//! What a client has sent and waits to hear of: the positions that the server's are compared with (Q8, Q10).
//!
//! Invariants: ascending by time, `len <= WAITING_MAX`; every state that comes is counted once: compared, old, or of a
//! time that was never sent.

use super::Time;
use alloc::collections::VecDeque;

/// How many times of sending wait for an answer; of more, the oldest are forgotten. 256 are 12 s at 20 Hz.
pub const WAITING_MAX: usize = 256;

/// Counts of what came back.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckStats {
    /// States that were compared with what was stored for their time.
    pub compared: u64,
    /// Of these, those that differed.
    pub mismatched: u64,
    /// States of a time before all that wait: late, doubled, or of before the first datagram.
    pub ignored_old: u64,
    /// States that came while a resync was waited for.
    pub ignored_need: u64,
    /// States of a time that was never sent, or is forgotten (D4).
    pub missing_ack: u64,
    /// The largest squared distance, in m².
    pub max_sqr_err: f64,
}

/// What became of a state of the server's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acknowledged {
    /// Nothing waits for it.
    Ignored,
    /// It is where the client was at that time.
    Agreed,
    /// It is elsewhere.
    Differs,
}

/// The times at which a client has sent, each with what it was then.
#[derive(Clone, Debug)]
pub struct AckQueue<T, W> {
    waiting: VecDeque<(T, W)>,
    /// The squared distance in m² from which on two positions differ.
    pub sqr_tolerance: f64,
    /// What came back.
    pub stats: AckStats,
}

impl<T: Time, W: Copy> AckQueue<T, W> {
    /// An empty one. Positions differ from a squared distance of `sqr_tolerance` m² on, this one included (D1).
    pub fn new(sqr_tolerance: f64) -> AckQueue<T, W> {
        AckQueue { waiting: VecDeque::with_capacity(WAITING_MAX), sqr_tolerance, stats: AckStats::default() }
    }

    /// Something was sent at `at`, later than all before.
    pub fn push(&mut self, at: T, what: W) {
        if self.waiting.len() == WAITING_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back((at, what));
    }

    /// The server's state of time `at` has come, at the squared distance that `measure` finds: drops what was sent
    /// before, and compares with what was sent then. Returns that too. An unknown time drops only what is older (E1, D4).
    pub fn acknowledge(&mut self, at: T, measure: impl FnOnce(&W) -> f64) -> (Acknowledged, Option<W>) {
        let Some((head, _)) = self.waiting.front() else { return (Acknowledged::Ignored, None) };
        if at < *head {
            self.stats.ignored_old += 1;
            return (Acknowledged::Ignored, None);
        }
        while self.waiting.front().is_some_and(|(head, _)| *head < at) {
            self.waiting.pop_front();
        }
        let Some((_, what)) = self.waiting.pop_front_if(|(head, _)| *head == at) else {
            self.stats.missing_ack += 1;
            return (Acknowledged::Ignored, None);
        };
        let squared = measure(&what);
        self.stats.compared += 1;
        self.stats.max_sqr_err = self.stats.max_sqr_err.max(squared);
        // Not ">=": a distance that is not a number has to differ.
        let agrees = squared < self.sqr_tolerance;
        self.stats.mismatched += u64::from(!agrees);
        (if agrees { Acknowledged::Agreed } else { Acknowledged::Differs }, Some(what))
    }

    /// The times that wait, ascending.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = T> {
        self.waiting.iter().map(|(at, _)| *at)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Forgets all that wait.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}
