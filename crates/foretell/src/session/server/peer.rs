//! What the server knows of one client. Lives from admission to leaving.

use super::authority_requests::AuthorityRequests;
use super::delta::SentHistory;
use super::event_log::StepEventLog;
use super::frame::PeerStats;
use super::input_buffer::InputBuffer;
use super::interest::View;
use crate::session::PeerId;
use crate::session::packet::{ARRIVALS_MAX, InputArrival};
use crate::time::{Instant, Tick, TickTime};
use crate::world::PlayerId;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

pub(crate) struct Peer<I> {
    pub address: PeerId,
    pub player: PlayerId,
    /// Of the hello that it was admitted with: who it is.
    pub nonce: Option<u64>,
    /// Stands in the datagrams of whoever has the place.
    pub ticket: u8,
    /// The ticket of who shows it next.
    pub offered: Option<u8>,
    /// The connection that it had before, and since when it has another.
    pub former: Option<(PeerId, Duration)>,
    /// When something has last come, in the time that the server was awake.
    pub heard_at: Duration,
    /// Since when it is lost.
    pub lost: Option<Duration>,
    /// How many inputs were missed since it was last heard; none while it is lost.
    pub missed_unheard: u64,
    /// Whether inputs have ever come.
    pub has_played: bool,
    /// How many snapshots were sent since the last hello without an input having come.
    pub unheard: u32,
    /// The hello to be answered: where it came from, its `sent`, and the ticket to tell.
    pub hello: Option<(PeerId, u64, u8)>,
    pub buffer: InputBuffer<I>,
    /// What it has to be told besides states.
    pub news: StepEventLog,
    /// The newest of the datagrams under its ticket, and when it came.
    pub heard: Option<(u16, Instant)>,
    /// The newest complete snapshot that it has named.
    pub acknowledged: Option<Tick>,
    /// What it was sent.
    pub sent: SentHistory,
    /// The newest tick whose state was sent.
    newest_sent: Option<Tick>,
    /// How often a state was sent that was not newer; wraps.
    repeats: u8,
    /// What it sees, where that is not everything.
    pub view: Option<View>,
    /// Whether not all that it is to see fits into a snapshot.
    pub is_crowded: bool,
    /// With whom of the others the next relayed inputs begin.
    pub relay_from: PlayerId,
    /// In exact sessions: from which state on it may be wrong, and is owed a canonical one.
    pub owed: Option<Tick>,
    /// When it was last sent a whole state.
    pub whole_sent: Option<Tick>,
    /// How many canonical ticks in a row have not helped it.
    pub canonical_waits: u32,
    /// From which state on it last did not agree; none once it has agreed for so long that it waits no longer for that.
    pub disagreed: Option<Tick>,
    /// What it has asked for in shared mode.
    pub requests: AuthorityRequests,
    pub stats: PeerStats,
    /// The newest input of the newest datagram.
    newest: Option<Tick>,
    /// The datagrams with new inputs since the last snapshot, oldest first.
    arrivals: VecDeque<InputArrival>,
}

impl<I: Copy + Default> Peer<I> {
    pub(crate) fn new(address: PeerId, player: PlayerId, nonce: Option<u64>, start: Tick) -> Peer<I> {
        Peer {
            address,
            player,
            nonce,
            ticket: 0,
            offered: None,
            former: None,
            heard_at: Duration::ZERO,
            lost: None,
            missed_unheard: 0,
            has_played: false,
            hello: None,
            buffer: InputBuffer::new(start),
            news: StepEventLog::new(),
            heard: None,
            acknowledged: None,
            sent: SentHistory::new(),
            newest_sent: None,
            repeats: 0,
            view: None,
            is_crowded: false,
            relay_from: PlayerId::SERVER,
            owed: Some(start.next()),
            whole_sent: None,
            canonical_waits: 0,
            disagreed: None,
            requests: AuthorityRequests::new(),
            stats: PeerStats::default(),
            newest: None,
            arrivals: VecDeque::with_capacity(ARRIVALS_MAX),
            unheard: 0,
        }
    }

    /// Somebody has shown the offered ticket: the place is theirs. What waits there is of who had it before.
    pub(crate) fn take_over(&mut self, address: PeerId, awake: Duration) {
        (self.address, self.heard_at, self.heard, self.unheard) = (address, awake, None, 0);
        self.missed_unheard = 0;
        self.ticket = self.offered.take().unwrap_or(self.ticket);
        // Who comes may have nothing of what was sent.
        self.acknowledged = None;
        self.sent.forget();
        self.buffer.forget_waiting();
        self.requests.forget();
        self.forget_arrivals();
    }

    /// The state of `tick` is sent, perhaps again: returns what tells this time from those before, `None` for the first.
    pub(super) fn note_sending(&mut self, tick: Tick) -> Option<u8> {
        if self.newest_sent < Some(tick) {
            self.newest_sent = Some(tick);
            return None;
        }
        self.repeats = self.repeats.wrapping_add(1);
        Some(self.repeats)
    }

    /// What came before a silence says nothing of the time after it.
    pub(crate) fn forget_arrivals(&mut self) {
        self.arrivals.clear();
        self.newest = None;
    }

    /// A newer datagram than those before brought inputs up to `newest`, so long before the deadline of that one (negative
    /// for late). What is new in it and came not earlier counts as having come with it, whether it is in it or not.
    pub(crate) fn note_arrival(&mut self, newest: Tick, margin: TickTime) {
        let before = self.newest.replace(newest);
        if before == Some(newest) {
            return;
        }
        if before.is_some_and(|before| newest < before) {
            // It has set its clock back, and will send other inputs for ticks that it has sent.
            self.arrivals.clear();
        }
        let count = before.map_or(1, |before| newest.since(before).max(1));
        if self.arrivals.len() == ARRIVALS_MAX {
            self.arrivals.pop_front();
        }
        self.arrivals.push_back(InputArrival { count, margin: margin_bits(margin) });
    }

    /// The ticks before `first` will never be simulated.
    pub(crate) fn skip_to(&mut self, first: Tick) {
        let missed = self.buffer.skip_to(first);
        self.note_missed(u64::from(missed));
    }

    /// Counts missing inputs: those of a lost player are absent, those of others are so only if nothing is heard of them again.
    pub(crate) fn note_missed(&mut self, ticks: u64) {
        if self.lost.is_some() {
            self.stats.inputs_absent += ticks;
        } else {
            self.stats.inputs_missed += ticks;
            self.missed_unheard += ticks;
        }
    }

    /// Nothing has come for too long. What was missed meanwhile was not late: nobody was there.
    pub(crate) fn lose(&mut self, awake: Duration) {
        self.lost = Some(awake);
        let absent = core::mem::take(&mut self.missed_unheard);
        self.stats.inputs_missed -= absent;
        self.stats.inputs_absent += absent;
    }

    /// Hands over the arrivals since the last call, newest first, and the newest input of the newest. They are told once:
    /// of those in a snapshot that is lost, others say as much.
    pub(crate) fn tell_arrivals(&mut self, into: &mut Vec<InputArrival>) -> Tick {
        into.clear();
        into.extend(self.arrivals.drain(..).rev());
        self.newest.unwrap_or(Tick::ZERO)
    }
}

/// A margin in 1/64 tick, limited to what 16 bits hold.
fn margin_bits(margin: TickTime) -> u16 {
    let units = (margin.millionths() * 64 / 1_000_000).clamp(i64::from(i16::MIN), i64::from(i16::MAX));
    #[expect(clippy::cast_possible_truncation, reason = "clamped to the range")]
    let units = units as i16;
    units.cast_unsigned()
}
