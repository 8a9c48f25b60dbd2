//! What a caller can read of a client between its updates.

use super::{Client, ClientState, ClientStats, Frame, Phase, Session};
use crate::time::{Instant, Tick, TickTime};
use crate::world::{PlayerId, Rows, World};

impl<W: World> Client<W> {
    /// What the last update did, with the state at `now`.
    pub fn frame(&self, now: Instant) -> Frame<'_> {
        Frame {
            state: self.state(now),
            tick: self.tick(),
            ticks: self.done.ticks,
            resimulated: self.done.resimulated,
            corrections: &self.corrections,
            events: &self.events,
        }
    }

    /// How it fares at `now`.
    pub fn state(&self, now: Instant) -> ClientState {
        match &self.phase {
            Phase::Joining => ClientState::Joining,
            Phase::Refused(why) => ClientState::Refused(*why),
            Phase::Playing(session) => session.state(self.clock.at(now)),
        }
    }

    /// Which part of the [`Rules`](crate::session::Rules) is not the server's, where that is why it
    /// [refused](crate::session::Refusal::Rules) this client: `tick rate`, `exact`, `kinds of entity`, `input`, or the
    /// name of a [`Fingerprint`](crate::session::Fingerprint).
    pub fn differing(&self) -> Option<&'static str> {
        self.differing
    }

    /// The next tick to run; tick 0 before the session begins.
    pub fn tick(&self) -> Tick {
        self.session().map_or(Tick::ZERO, |session| session.timeline.present())
    }

    /// How much of the running tick has passed at `now`, from 0 to 1: where between the last two states predicted
    /// entities are shown. 0 before the session begins.
    pub fn tick_fraction(&self, now: Instant) -> f64 {
        let Some(session) = self.session() else { return 0.0 };
        let newest = TickTime::start_of(session.timeline.present());
        (1.0 - (newest - session.pacing.at_instant(self.clock.at(now))).as_ticks()).clamp(0.0, 1.0)
    }

    /// Where the playout cursor stands at `now`: the state in which others are shown that are not shown ahead of it
    /// ([`Curve::leads`](super::Curve::leads)). `None` before the first snapshot.
    pub fn playout_cursor(&self, now: Instant) -> Option<TickTime> {
        self.session()?.playout.at_instant(self.clock.at(now))
    }

    /// The local player; `None` before the session begins.
    pub fn player(&self) -> Option<PlayerId> {
        self.session().map(|session| session.player)
    }

    /// Counters and measurements since the session began.
    pub fn stats(&self) -> ClientStats {
        let mut stats = self.stats;
        if let Some(session) = self.session() {
            stats.outcomes.waiting = session.waiting();
            stats.rtt = session.connection.rtt();
            stats.clock_drift_ppm = session.server_rate.drift_ppm();
            stats.speed = session.pacing.speed() / session.server_rate.speed();
            stats.slack_ticks = session.pacing.slack_ticks().unwrap_or(0.0);
            stats.slack_asked_ticks = session.pacing.asked().0;
            stats.playout_speed = session.playout.speed() / session.server_rate.speed();
            stats.playout_delay_ticks = session.playout.delay_ticks();
        }
        stats
    }

    /// The predicted rows of state `tick`, as far back as the horizon: what the authority is compared with.
    pub fn predicted(&self, tick: Tick) -> Option<&Rows> {
        self.session()?.timeline.rows(tick)
    }

    /// The newest complete snapshot: its tick and its rows.
    pub fn newest_snapshot(&self) -> Option<(Tick, &Rows)> {
        self.session()?.snapshots.newest().map(|snapshot| (snapshot.tick, &snapshot.rows))
    }

    /// How much it keeps of what has come and is not done with: substituted ticks, changes outside of steps, corrections
    /// and events under way. A measure of memory: everything else is a ring of fixed length, or one for each entity.
    pub fn kept(&self) -> usize {
        let session = self.session().map_or(0, |session| session.reconciler.kept());
        self.events.len() + self.events_to_come.len() + self.corrections.len() + session
    }

    pub(super) fn session_mut(&mut self) -> Option<&mut Session<W>> {
        match &mut self.phase {
            Phase::Playing(session) => Some(session),
            _ => None,
        }
    }

    pub(super) fn session(&self) -> Option<&Session<W>> {
        match &self.phase {
            Phase::Playing(session) => Some(session),
            _ => None,
        }
    }
}

impl<W: World> Session<W> {
    pub(super) fn state(&self, now: Instant) -> ClientState {
        let silent = now.since(self.connection.last_snapshot());
        let interval = u64::from(self.playout.interval_ticks());
        let starved = 250_000 + 3 * interval * 1_000_000 / u64::from(self.pacing.rate().get());
        if silent.as_secs() >= 5 {
            ClientState::Lost
        } else if self.resyncing.is_some() || self.pacing.is_waiting() || self.beyond_horizon > 1 {
            ClientState::Resyncing
        } else if silent.as_micros() > u128::from(starved) {
            ClientState::Starved
        } else if self.timeline.settled() < self.timeline.present() {
            ClientState::Behind
        } else {
            ClientState::Playing
        }
    }

    /// How many samples wait for their tick.
    pub(super) fn waiting(&self) -> u64 {
        let open = self.snapshots.waiting();
        open.map(|snapshot| snapshot.samples).sum()
    }
}
