//! What one client has acknowledged, and the newest datagram that has come from it.

use crate::time::{Instant, Tick};
use core::time::Duration;

/// A datagram that is more datagrams ahead of the newest was not sent after it: 16 s at 64 Hz.
const SEQUENCE_AHEAD_MAX: i16 = 1024;
/// But after a silence of so long it may have been.
const SEQUENCE_ANEW: Duration = Duration::from_secs(1);
/// How many snapshots are sent after a hello before an input has come: a second of them at 64 Hz. Hellos come every 50
/// ms, so that a client that is there gets as many as it takes.
const UNHEARD_MAX: u32 = 64;

/// A datagram of inputs that has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub sequence: u16,
    pub at: Instant,
}

/// What is known of the way to one client. Lives as long as somebody has the place under one ticket.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerAcks {
    newest: Option<Heard>,
    acknowledged: Option<Tick>,
    /// How many snapshots were sent since the last hello without an input having come.
    unheard: u32,
}

impl PeerAcks {
    /// A datagram of inputs has come. Whether it was sent after all that came before.
    pub fn note(&mut self, sequence: u16, now: Instant) -> bool {
        let is_newer = self.newest.is_none_or(|newest| {
            let ahead = sequence.wrapping_sub(newest.sequence).cast_signed();
            // One that is far ahead would make all that follow old, for minutes.
            ahead > 0 && (ahead <= SEQUENCE_AHEAD_MAX || now.since(newest.at) >= SEQUENCE_ANEW)
        });
        if is_newer {
            self.newest = Some(Heard { sequence, at: now });
        }
        is_newer
    }

    /// The player was lost and is back: the next datagram is the newest, however many were not heard.
    pub fn forget_newest(&mut self) {
        self.newest = None;
    }

    /// The newest datagram under the ticket.
    pub fn newest(&self) -> Option<Heard> {
        self.newest
    }

    /// The client has the complete snapshot of `tick`.
    pub fn acknowledge(&mut self, tick: Tick) {
        self.acknowledged = self.acknowledged.max(Some(tick));
    }

    /// The newest complete snapshot that the client has named.
    pub fn acknowledged(&self) -> Option<Tick> {
        self.acknowledged
    }

    /// Whether another snapshot is worth sending; counts it. Whoever has not sent an input may not be there at all.
    pub fn may_send(&mut self) -> bool {
        self.unheard += u32::from(self.newest.is_none());
        self.newest.is_some() || self.unheard <= UNHEARD_MAX
    }

    /// A hello has come from there: somebody listens.
    pub fn note_hello(&mut self) {
        self.unheard = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_far_ahead_is_newer_after_a_silence_alone() {
        let mut acks = PeerAcks::default();
        let at = |millis: u64| Instant::from_micros(millis * 1000);
        assert!(acks.note(65_535, at(0)) && acks.note(3, at(1)));
        assert!(!acks.note(2, at(2)) && !acks.note(3, at(2)), "older, or a copy");
        assert!(!acks.note(2000, at(3)));
        assert!(acks.note(2000, at(1001)));
    }

    #[test]
    fn who_is_never_heard_is_sent_a_number_of_snapshots_after_each_hello() {
        let mut acks = PeerAcks::default();
        let count = |acks: &mut PeerAcks| (0..100).filter(|_| acks.may_send()).count();
        assert_eq!([count(&mut acks), count(&mut acks)], [64, 0]);
        acks.note_hello();
        assert_eq!(count(&mut acks), 64);
        assert!(acks.note(0, Instant::ZERO));
        assert_eq!(count(&mut acks), 100);
    }
}
