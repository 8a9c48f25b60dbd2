//! The way to the server and back: numbers, round trips, and the clock that leads the server's by it.

use super::clock_drift::{ClockDrift, Exchange};
use super::datagram_timing::DatagramTiming;
use super::input_send_window::InputSendWindow;
use super::outgoing_step_messages::OutgoingStepMessages;
use super::pacing::{Arrived, Pacing};
use super::tick_unwrap::TickUnwrap;
use crate::session::client::config::{InputDelay, Limits, START_AHEAD_TICKS};
use crate::session::client::snapshots::Snapshot;
use crate::session::client::stats::ClientStats;
use crate::session::snapshot_header::SnapshotHeader;
use crate::time::{Instant, Tick, TickRate, TickTime};
use core::time::Duration;

/// A client that is further behind its own clock than this starts again from a snapshot instead of simulating what it
/// slept through.
pub(crate) const CATCH_UP: Duration = Duration::from_millis(500);
/// A client whose updates are further apart than this stood still, or its clock was set: longer than a frame at 5 per second.
const STOOD_STILL: Duration = Duration::from_millis(250);
/// However far apart they were, updates that are further apart than twice this are not those of slow frames.
const APART_MAX: Duration = Duration::from_secs(1);
/// Behind a snapshot's tick by more than this, the clock jumps.
const BEHIND_TICKS: u32 = 2;
/// Without a snapshot for so long, the clock is not steered any more.
const COAST_AFTER: Duration = Duration::from_millis(500);
/// The latest of the inputs is among those of so long: at 60 frames per second the ticks of 64 Hz begin later and later in their
/// frames, four times a second.
const LATEST_WITHIN: Duration = Duration::from_millis(250);

/// Who sends no inputs is not steered for less than this.
const LEAD_OFF_TICKS: f64 = 1.0;

/// The header of a snapshot that came now, and the tick of its state.
#[derive(Clone, Copy)]
pub(crate) struct ReceivedHeader<'a> {
    pub now: Instant,
    pub tick: Tick,
    pub header: &'a SnapshotHeader,
}

/// A datagram of the client's that the server has named.
#[derive(Clone, Copy)]
pub(crate) struct NamedDatagram {
    pub sent: Instant,
    /// For how long the server had it before it answered.
    pub held: Duration,
}

/// Lives as long as a session.
pub(crate) struct Link {
    pub datagrams: DatagramTiming,
    pub clock_drift: ClockDrift,
    pub pacing: Pacing,
    pub inputs: InputSendWindow,
    pub step_messages: OutgoingStepMessages,
    pub tick_unwrap: TickUnwrap,
    /// When the last update was, and how long after the one before.
    updated: Instant,
    apart: Duration,
}

impl Link {
    /// One whose clock stands at `at`.
    pub(crate) fn new(datagrams: DatagramTiming, rate: TickRate, at: TickTime, now: Instant) -> Link {
        Link {
            datagrams,
            clock_drift: ClockDrift::new(rate, at, now),
            pacing: Pacing::new(rate, at, now),
            inputs: InputSendWindow::default(),
            step_messages: OutgoingStepMessages::new(at.tick()),
            tick_unwrap: TickUnwrap::new(at.tick(), now),
            updated: now,
            apart: Duration::ZERO,
        }
    }

    fn rate(&self) -> TickRate {
        self.pacing.rate()
    }

    /// The tick of a snapshot that comes now; `None` where it can't be true.
    pub(crate) fn widen(&mut self, now: Instant, low16: u16) -> Option<Tick> {
        self.tick_unwrap.widen(now, low16, self.rate())
    }

    /// Adds what is measured now.
    pub(crate) fn measure(&self, stats: &mut ClientStats) {
        let Link { datagrams, clock_drift, pacing, .. } = self;
        stats.network.rtt = datagrams.round_trips.smoothed();
        stats.clock.speed = pacing.speed() / clock_drift.speed();
        stats.clock.drift_ppm = clock_drift.drift_ppm();
        stats.inputs.slack_ticks = pacing.slack_ticks().unwrap_or(0.0);
        stats.inputs.slack_asked_ticks = pacing.asked().0;
    }

    /// This snapshot was compared or adopted: its tick is certain.
    pub(crate) fn note_compared(&mut self, snapshot: &Snapshot) {
        self.tick_unwrap.note(snapshot.tick, snapshot.came);
    }

    /// Moves the clock to `now`; `input_delay` is for how long inputs are to wait.
    pub(crate) fn advance(&mut self, now: Instant, input_delay: InputDelay) {
        self.pacing.advance(now, &self.clock_drift);
        if now.since(self.datagrams.last_snapshot()) > COAST_AFTER {
            self.pacing.coast();
        }
        self.inputs.set_delay(input_delay, self.datagrams.round_trips.smoothed(), &mut self.pacing);
    }

    /// A client whose ticks are behind those of a snapshot sends every input too late: its clock goes to where inputs come
    /// in time. So after a sleep while the clock waited, and when the caller's clock was set back. Whether it did.
    pub(crate) fn catch_up(&mut self, now: Instant, newest: Option<&Snapshot>) -> bool {
        let at = self.pacing.at();
        let is_behind = |tick: Tick| tick.since(at.tick() + self.inputs.delay()) > BEHIND_TICKS;
        let Some(newest) = newest.filter(|newest| is_behind(newest.tick)) else { return false };
        let lead = self.lead_ticks(now, Some(newest));
        self.restart_clock(at + TickTime::ticks(self.way_up_ticks() + f64::from(BEHIND_TICKS) - lead));
        true
    }

    /// An update begins: whether the last one was too long ago, or the caller's clock was set back.
    pub(crate) fn has_stood_still(&mut self, now: Instant) -> bool {
        let passed = now.since(self.updated);
        let stood_still = now < self.updated || passed > STOOD_STILL;
        self.note_gap(now);
        (self.updated, self.apart) = (now, passed.min(APART_MAX));
        stood_still
    }

    /// Where the last update is longer ago than the one before was then, nobody knows how long what is under way takes.
    fn note_gap(&mut self, now: Instant) {
        if now.since(self.updated) > STOOD_STILL.max(2 * self.apart) {
            self.datagrams.note_stood_still();
        }
    }

    /// Whether a clock that has come to `until` may have got the state of `tick` now: it is ahead of it by no more than a
    /// round trip and the largest slack, and what is slept through at once.
    pub(crate) fn fits(&self, tick: Tick, until: Tick, limits: Limits) -> bool {
        let most = self.datagrams.round_trips.shortest_of_newest()
            + Duration::from_micros(limits.most.unsigned_abs())
            + CATCH_UP;
        (tick..=tick + self.rate().ticks_in(most)).contains(&until)
    }

    /// The clock is to stand at `at` from now on, as it and the server's have not gone on alike.
    fn restart_clock(&mut self, at: TickTime) {
        self.pacing.restart(at);
        self.clock_drift.note_clock_set();
    }

    /// Sets the clock a round trip and two ticks ahead of `tick`, as at a start, and forgets what was known of the way.
    /// Returns up to where ticks are to run.
    pub(crate) fn place_anew(&mut self, tick: Tick) -> Tick {
        let until = tick + self.rate().ticks_in(self.datagrams.round_trips.shortest_of_newest()) + 2;
        self.restart_clock(TickTime::start_of(until) - TickTime::from_millionths(1));
        self.datagrams.begin_anew();
        self.inputs.begin_anew(until);
        until
    }

    /// How far the clock leads the server's, in ticks, as estimated from the newest snapshot and half a round trip.
    pub(crate) fn lead_ticks(&self, now: Instant, newest: Option<&Snapshot>) -> f64 {
        let Some(newest) = newest else { return 0.0 };
        let waited = now.since(newest.came).as_secs_f64() * f64::from(self.rate().get());
        (self.pacing.at_instant(now) - newest.sent).as_ticks() - waited - self.way_up_ticks()
    }

    /// How long a datagram takes to the server, in ticks: half of the shortest of the last round trips.
    fn way_up_ticks(&self) -> f64 {
        self.datagrams.round_trips.shortest().as_secs_f64() / 2.0 * f64::from(self.rate().get())
    }

    /// Steers the clock of a client that sends no inputs, and so is told nothing of when they come: it keeps to the server's, as
    /// the newest snapshot and the round trip say. Returns by how much it leads that, in ticks.
    pub(crate) fn steer_without_inputs(&mut self, now: Instant, newest: Option<&Snapshot>) -> f64 {
        let lead = self.lead_ticks(now, newest);
        let missing = self.way_up_ticks() + START_AHEAD_TICKS - lead;
        if newest.is_some() && missing.abs() > LEAD_OFF_TICKS {
            self.pacing.shift_by(missing);
        }
        lead
    }

    /// Takes in which of the client's datagrams and inputs the server has. Where it names a datagram that it has not named before, and
    /// it is known how long that took, returns that.
    pub(crate) fn note_header(
        &mut self,
        ReceivedHeader { now, tick, header }: ReceivedHeader<'_>,
    ) -> Option<NamedDatagram> {
        self.inputs.note_acknowledged(header.inputs.newest.map(|input| Tick::widen(u32::from(input), 16, tick)));
        let (sequence, held) = (header.timing.heard?.0, header.timing.held());
        self.note_gap(now);
        let sent = self.datagrams.note_heard(now, sequence, held)?;
        // What the server has held for long was held by a clock that runs otherwise.
        if let Some((arrived, answered)) = header.timing.arrived_and_answered(tick, self.rate()) {
            self.clock_drift.note(Exchange { sent, arrived, answered, came: now });
        }
        Some(NamedDatagram { sent, held: held? })
    }

    /// Steers the clock by what the server tells of the inputs that have come; `in_time` hears of those that were not late.
    /// Returns the smallest margin, in ticks; `None` where nothing is told.
    pub(crate) fn note_arrivals(
        &mut self,
        received: ReceivedHeader<'_>,
        limits: Limits,
        mut in_time: impl FnMut(Tick),
    ) -> Option<f64> {
        let ReceivedHeader { now, tick, header } = received;
        let of_now = self.datagrams.is_of_now(header.timing.heard.map(|(sequence, _)| sequence));
        let (oldest, newer) = header.inputs.arrivals.split_last().filter(|_| of_now)?;
        let ticks_newer = newer.iter().fold(0_u32, |sum, arrival| sum.saturating_add(arrival.count));
        let mut newest = Tick::widen(u32::from(header.inputs.arrived), 16, tick).back(ticks_newer)?;
        let (mut smallest, mut is_new_route) = (f64::INFINITY, false);
        for (nth, arrival) in core::iter::once(oldest).chain(newer.iter().rev()).enumerate() {
            if nth > 0 {
                newest = newest + arrival.count;
            }
            let margin = TickTime::from_millionths(i64::from(arrival.margin.cast_signed()) * 1_000_000 / 64);
            smallest = smallest.min(margin.as_ticks());
            if margin >= TickTime::default() {
                in_time(newest);
            }
            is_new_route |= self.pacing.note(now, Arrived { newest, count: arrival.count, margin }, limits);
        }
        if is_new_route {
            self.clock_drift.note_new_route();
        }
        let unknown = self.clock_drift.unknown_after(self.datagrams.round_trips.smoothed() + LATEST_WITHIN);
        self.pacing.steer(limits, is_new_route, unknown);
        Some(smallest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    fn link() -> Link {
        Link::new(DatagramTiming::new(0, 0, at(0)), TickRate::hz(60), TickTime::default(), at(0))
    }

    /// Sends a datagram in an update.
    fn update(link: &mut Link, ms: u64) -> u16 {
        link.has_stood_still(at(ms));
        link.datagrams.next_sequence(at(ms))
    }

    /// The server names it at once. Returns the smoothed round trip in milliseconds.
    fn name(link: &mut Link, sequence: u16, ms: u64) -> u128 {
        let mut header = SnapshotHeader::default();
        header.timing.heard = Some((sequence, 0));
        link.note_header(ReceivedHeader { now: at(ms), tick: Tick::ZERO, header: &header });
        link.datagrams.round_trips.smoothed().as_millis()
    }

    #[test]
    fn what_comes_stamped_a_little_before_the_last_update_is_measured() {
        let mut link = link();
        let mut sent = update(&mut link, 16);
        for nth in 2..50 {
            let next = update(&mut link, nth * 16);
            assert_eq!(name(&mut link, sent, nth * 16 - 1), 15);
            sent = next;
        }
    }

    #[test]
    fn at_three_frames_per_second_round_trips_are_measured_also_where_datagrams_are_read_by_frame() {
        let mut link = link();
        let mut sent = update(&mut link, 333);
        let mut last = 0;
        for nth in 2..50 {
            last = name(&mut link, sent, nth * 333);
            sent = update(&mut link, nth * 333);
        }
        assert_eq!(last, 333);
    }

    #[test]
    fn what_was_under_way_while_the_clock_was_set_is_not_measured() {
        let mut link = link();
        let mut set = 0;
        let mut sent = update(&mut link, 16);
        for nth in 2..50 {
            set += if nth == 20 { 5_000 } else { 0 };
            assert_eq!(name(&mut link, sent, nth * 16 + set), 16);
            sent = update(&mut link, nth * 16 + set);
        }
    }
}
