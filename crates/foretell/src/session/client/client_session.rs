//! A session from its start to its end, on the client: what comes from the server, and what an update makes of it.

use super::client_messages::ClientMessages;
use super::client_settings::{ClientSettings, Game, Moment};
use super::input_datagram::InputDatagram;
use super::link::DatagramTiming;
use super::link::{CATCH_UP, Link, ReceivedHeader};
use super::local_world::LocalWorld;
use super::prediction::Restart;
use super::snapshots::{InputRelayReader, SnapshotPart, Snapshots, Stored};
use super::stats::{ClientStats, PlayoutStats};
use super::update_log::UpdateLog;
use super::update_report::{ClientEvent, ClientState};
use crate::session::datagram::{InputHeader, ShownHeader};
use crate::session::handshake_messages::Welcome;
use crate::session::messages::check_size;
use crate::session::snapshot_header::SnapshotHeader;
use crate::session::{Outbox, SendError};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::{BitReader, Malformed};
use crate::world::{Delivery, InputStatus, PlayerId, PlayerInput, ReceivedMessage, World};
use alloc::sync::Arc;
use core::time::Duration;

/// After a sleep, the clock is trusted to have gone on as the server's has for so long without a snapshot that fits to it.
const CLOCK_TRUSTED: Duration = Duration::from_millis(250);
/// A server whose ticks are so far before a state that it sent has begun again.
const BEGUN_AGAIN_TICKS: u32 = 1024;

/// Lives from the start of a session to its end.
pub(super) struct ClientSession<W: World> {
    pub link: Link,
    pub local: LocalWorld<W>,
    pub messages: ClientMessages,
    /// Since when it waits for a snapshot to start again from, if it does.
    resyncing: Option<Instant>,
}

/// A datagram of a snapshot, as far as it has been read: its header, and the inputs of others.
pub(super) struct SnapshotDatagram<'a, W: World> {
    pub header: &'a SnapshotHeader,
    pub relayed: &'a InputRelayReader<W::Input>,
    pub lists: BitReader<'a>,
}

impl<W: World> ClientSession<W> {
    /// One of `player`, with what has come of it so far.
    pub(super) fn new(
        moment: Moment<'_>,
        player: PlayerId,
        datagrams: DatagramTiming,
        snapshots: Snapshots,
    ) -> ClientSession<W> {
        let link = Link::new(datagrams, moment.settings.rules.tick_rate, moment.at, moment.now);
        let messages = ClientMessages::new(&moment.settings.rules.messages, moment.at.tick());
        ClientSession { link, local: LocalWorld::new(moment, player, snapshots), messages, resyncing: None }
    }

    /// Begins at the newest snapshot, and simulates up to where the clock stands. What there was of an earlier session ends.
    pub(super) fn start(
        &mut self,
        world: &mut W,
        former: Option<&mut ClientSession<W>>,
        settings: &ClientSettings,
        log: &mut UpdateLog,
    ) {
        let (limits, playout) = (settings.config.playout_limits(), &mut self.local.presentation.remote.playout);
        for snapshot in self.local.snapshots.complete() {
            playout.note_arrival(snapshot, &self.link.clock_drift, limits);
        }
        let until = self.link.pacing.at().tick();
        self.local.follow(former.map(|former| &mut former.local), log);
        self.local.start(world, until, settings);
    }

    /// Whether the server that has answered knows this session: it is the same, with the same player, and has not begun
    /// again. An answer may be older than what has been compared since.
    pub(super) fn goes_on_with(&self, welcome: &Welcome) -> bool {
        let back = self.local.prediction.reconciler.compared().since(Tick::new(welcome.tick));
        (welcome.epoch, welcome.player()) == (self.link.datagrams.epoch, self.local.player) && back <= BEGUN_AGAIN_TICKS
    }

    /// Takes in a datagram of a snapshot, which came now.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        datagram: SnapshotDatagram<'_, W>,
        settings: &ClientSettings,
        log: &mut UpdateLog,
    ) -> Result<(), Malformed> {
        let SnapshotDatagram { header, relayed, lists } = datagram;
        let Some(tick) = self.link.widen(now, header.timing.tick) else {
            log.stats.network.refused += 1;
            return Ok(());
        };
        let LocalWorld { snapshots, prediction, .. } = &mut self.local;
        let part = SnapshotPart { tick, came: now, header, lists };
        match snapshots.store(part, prediction.timeline.predicted())? {
            Stored::Known => return Ok(()),
            Stored::Partial => {}
            Stored::Lacking => log.stats.network.baselines_lacking += 1,
            Stored::Complete => self.note_completed(now, tick, settings, log),
        }
        self.note_header(ReceivedHeader { now, tick, header }, settings, log);
        let LocalWorld { snapshots, prediction, presentation, .. } = &mut self.local;
        let (at, interval) = (self.link.pacing.at_instant(now).tick(), presentation.remote.playout.interval_ticks());
        let fresh_until = prediction.fresh_until(at, interval, settings);
        prediction.note_relayed(relayed.told(tick), snapshots, settings, fresh_until);
        Ok(())
    }

    /// Takes in a datagram that tells rows of others, which came now.
    pub(super) fn receive_shown(
        &mut self,
        now: Instant,
        header: ShownHeader,
        records: BitReader<'_>,
        log: &mut UpdateLog,
    ) -> Result<(), Malformed> {
        let Some(tick) = self.link.widen(now, header.tick) else {
            log.stats.network.refused += 1;
            return Ok(());
        };
        self.local.snapshots.store_shown(tick, header.number, records)
    }

    fn note_completed(&mut self, now: Instant, tick: Tick, settings: &ClientSettings, log: &mut UpdateLog) {
        let ClientSession { link, local: LocalWorld { snapshots, prediction, presentation, .. }, .. } = self;
        let snapshot = snapshots.completed(tick).expect("it has just been stored");
        log.stats.prediction.effect_ticks_untold += u64::from(prediction.note_snapshot(snapshot));
        let (limits, playout) = (settings.config.playout_limits(), &mut presentation.remote.playout);
        // How late a state comes that is sent again says nothing of the way.
        if !snapshot.is_repeated() && playout.note_arrival(snapshot, &link.clock_drift, limits) {
            link.clock_drift.note_new_route();
        }
        link.datagrams.note_snapshot(now);
    }

    /// What a snapshot's header tells besides the state; told again with every snapshot, so old news are harmless.
    fn note_header(&mut self, received: ReceivedHeader<'_>, settings: &ClientSettings, log: &mut UpdateLog) {
        let ReceivedHeader { now, tick, header } = received;
        let ClientSession { link, local: LocalWorld { snapshots, prediction, authority, .. }, messages, .. } = self;
        if let Some((sequence, _)) = header.timing.heard {
            authority.note_heard(sequence);
            link.step_messages.note_heard(sequence);
        }
        if let Some(named) = link.note_header(received) {
            messages.note_named(now, named);
        }
        prediction.reconciler.causes.note_unforeseen(header.exact.unforeseen.and_then(|back| tick.back(back)));
        let missed = &mut prediction.reconciler.causes.missed_inputs;
        if let Some((newest, ticks)) = missed.note_substituted(tick, &header.inputs.substituted) {
            log.stats.inputs.substituted += u64::from(ticks);
            log.coming.push(ClientEvent::Substituted { newest, ticks });
        }
        for late in &header.inputs.late_messages {
            let Some(in_tick) = tick.back(late.back) else { continue };
            prediction.timeline.put_off_message(late.number, in_tick);
            missed.note_put_off(in_tick);
        }
        if settings.spectates() {
            log.stats.clock.lead_ticks = link.steer_without_inputs(now, snapshots.newest());
            return;
        }
        let limits = settings.config.limits(settings.rules.tick_rate);
        let smallest = link.note_arrivals(received, limits, |tick| missed.note_in_time(tick));
        let Some(smallest) = smallest else { return };
        log.stats.inputs.margin_ticks = smallest;
        log.stats.clock.lead_ticks = link.lead_ticks(now, snapshots.newest());
        let (asked_ticks, is_allowed) = link.pacing.asked();
        let was_limited = core::mem::replace(&mut log.stats.inputs.slack_limited, !is_allowed);
        if !is_allowed && !was_limited {
            log.coming.push(ClientEvent::SlackLimited { asked_ticks });
        }
    }

    /// One update: clock, reconciliation, new ticks, datagrams.
    pub(super) fn update(
        &mut self,
        now: Instant,
        settings: &ClientSettings,
        game: &mut Game<'_, W>,
        log: &mut UpdateLog,
    ) {
        let compared = self.local.prediction.reconciler.compared();
        let catches_up = self.advance_clocks(now, settings);
        self.local.confirm(&mut log.events);
        self.local.ask_wanted(self.moment(now, settings));
        let asleep = self.local.due(self.link.pacing.at()) > settings.rules.tick_rate.ticks_in(CATCH_UP).max(1);
        if asleep || self.resyncing.is_some() {
            self.wake(now, settings, game.world, log);
        }
        self.reconcile(now, settings, game.world, log);
        self.note_compared(compared);
        self.local.follow_others(self.moment(now, settings), &mut log.events);
        let leaps = self.link.pacing.take_leap() || catches_up;
        if leaps {
            self.local.capture(self.moment(now, settings));
        }
        self.run_ticks(self.moment(now, settings), game, log);
        if leaps {
            self.local.hide_leap(self.moment(now, settings));
        }
        self.local.prediction.timeline.seek_present(game.world);
        self.local.tell(self.moment(now, settings), log);
        self.send(now, settings, game.outbox, log);
        self.send_messages(self.moment(now, settings), game.outbox, log);
    }

    fn moment<'a>(&self, now: Instant, settings: &'a ClientSettings) -> Moment<'a> {
        Moment { now, at: self.link.pacing.at(), settings }
    }

    /// Moves all clocks to now. Whether its own had fallen behind and was set.
    fn advance_clocks(&mut self, now: Instant, settings: &ClientSettings) -> bool {
        let ClientSession { link, local: LocalWorld { snapshots, prediction, presentation, .. }, .. } = self;
        link.advance(now, settings.config.input_delay);
        presentation.remote.playout.advance(now, &link.clock_drift, link.datagrams.round_trips.shortest() / 2);
        let catches_up = link.catch_up(now, snapshots.newest());
        // What follows from a clock that was set or stood still has that as a cause.
        if link.has_stood_still(now) || catches_up {
            prediction.reconciler.causes.note_off_clock(prediction.timeline.present());
        }
        catches_up
    }

    /// After a sleep: starts again from the newest snapshot, without simulating what it slept through. Waits for one that
    /// fits to how far the clock has gone on: others may have come before the sleep, or during it. When none comes soon
    /// the clock is what has not gone on as the server's has.
    fn wake(&mut self, now: Instant, settings: &ClientSettings, world: &mut W, log: &mut UpdateLog) {
        let waited = now.since(*self.resyncing.get_or_insert(now));
        let compared = self.local.prediction.reconciler.compared();
        let newest = self.local.snapshots.newest().map(|snapshot| snapshot.tick);
        let Some(tick) = newest.filter(|tick| *tick > compared) else { return };
        let running = self.link.pacing.at().tick();
        let fits = self.link.fits(tick, running.next(), settings.config.limits(settings.rules.tick_rate));
        if fits || waited >= CLOCK_TRUSTED {
            self.local.capture(self.moment(now, settings));
            // The tick that runs is left to be simulated as a new one: its input is asked for, and sent.
            let until = if fits { running.max(tick) } else { self.link.place_anew(tick) };
            self.local.restart(self.moment(now, settings), world, Restart { tick, until, cursor: None }, log);
            self.resyncing = None;
        }
    }

    /// Reconciles with the newest snapshot, and goes on with a re-simulation under way.
    fn reconcile(&mut self, now: Instant, settings: &ClientSettings, world: &mut W, log: &mut UpdateLog) {
        let state = self.local.begin_reconciliation(self.moment(now, settings), world, log);
        match state {
            Some(tick) if self.local.prediction.is_beyond_horizon(tick) => {
                let until = self.replay_until(tick);
                let from = Restart { tick, until, cursor: None };
                self.local.restart(self.moment(now, settings), world, from, log);
                self.resyncing = None;
            }
            _ => self.local.reconcile(self.moment(now, settings), world, state, log),
        }
        if settings.rules.exact {
            self.local.prediction.prove(world, &mut self.local.snapshots, log);
        }
    }

    /// Where another state was compared or adopted than the one of `before`, its tick is certain.
    fn note_compared(&mut self, before: Tick) {
        let compared = self.local.prediction.reconciler.compared();
        if let Some(snapshot) = self.local.snapshots.get(compared).filter(|_| compared > before) {
            self.link.note_compared(snapshot);
        }
    }

    /// Up to where a state older than the horizon is simulated: the present. But a client that is ahead by far more than
    /// a round trip, because the server stood still, goes back to where it would start: the server has refused its inputs
    /// anyway.
    fn replay_until(&mut self, tick: Tick) -> Tick {
        let timeline = &self.local.prediction.timeline;
        let (present, horizon) = (timeline.present(), timeline.horizon());
        let rtt = self.link.pacing.rate().ticks_in(self.link.datagrams.round_trips.smoothed());
        if present.since(tick) <= 2 * horizon + 2 * rtt { present } else { self.link.place_anew(tick) }
    }

    /// Runs the ticks that have begun.
    fn run_ticks(&mut self, moment: Moment<'_>, game: &mut Game<'_, W>, log: &mut UpdateLog) {
        self.local.note_predicted(moment, &mut log.events);
        while self.resyncing.is_none() && self.local.due(moment.at) > 0 {
            let tick = self.local.prediction.timeline.present();
            let presented = self.local.write_proxies(moment);
            for asked in self.link.inputs.ask_for(tick).filter(|_| !moment.settings.spectates()) {
                let (player, status, input) = (self.local.player, InputStatus::Received, (game.input)(asked));
                self.local.prediction.timeline.give(asked, PlayerInput { player, input, status, presented });
                self.link.pacing.note_tick(asked);
            }
            self.local.advance(game.world);
            self.local.note_predicted(moment, &mut log.events);
            log.ran.ticks += 1;
        }
    }

    /// Sends the inputs since the last datagram and those that the redundancy repeats, when it is time.
    fn send(&mut self, now: Instant, settings: &ClientSettings, outbox: &mut Outbox, log: &mut UpdateLog) {
        let ClientSession { link: Link { datagrams, inputs, pacing, step_messages, .. }, local, .. } = self;
        let LocalWorld { snapshots, prediction, authority, .. } = local;
        let timeline = &prediction.timeline;
        // After a start from a full state there is no input yet for the tick before the present. Who looks on has none to send, and
        // says what has come as often.
        let newest = inputs.newest().filter(|tick| settings.spectates() || timeline.input(*tick).is_some());
        let interval_ticks = settings.config.send_rate.interval_ticks(settings.rules.tick_rate);
        let Some(newest) = newest.filter(|newest| inputs.is_due(*newest, interval_ticks)) else { return };
        let sequence = datagrams.next_sequence(now);
        let header = InputHeader {
            ticket: datagrams.ticket,
            sequence,
            snapshot: snapshots.acknowledged().map(Tick::low16),
            received: snapshots.tell_received(),
            exact_within_m: prediction.exact_within_m(settings),
            newest: newest.low16(),
            count: if settings.spectates() { 0 } else { inputs.count(newest, settings.config.redundancy, pacing) },
            asks: prediction.asks.map(Tick::low16),
        };
        let written = InputDatagram { timeline, authority, step_messages, settings, header, newest }.write(outbox);
        inputs.note_sent(newest);
        authority.note_sent(sequence, written.carried);
        step_messages.note_sent(sequence, written.messages);
        log.stats.network.datagrams_sent += 1;
        log.stats.inputs.sent += u64::from(written.inputs);
        log.stats.network.bytes_sent += written.bytes as u64;
    }

    /// Takes a message of the game's: one that is part of a step is part of that of the next input, here and on the server.
    pub(super) fn push_message(
        &mut self,
        kind: usize,
        bytes: &Arc<[u8]>,
        settings: &ClientSettings,
    ) -> Result<(), SendError> {
        let known = &settings.rules.messages.kinds()[kind];
        check_size(known, bytes)?;
        if known.delivery() != Delivery::InStep {
            return self.messages.push(kind, bytes.clone(), settings);
        }
        if settings.spectates() {
            return Err(SendError::NotPlaying);
        }
        let ClientSession { link, local: LocalWorld { player, prediction, .. }, .. } = self;
        let timeline = &mut prediction.timeline;
        let tick = link.inputs.newest().map_or(timeline.present(), |newest| newest.next().max(timeline.present()));
        let content = known.decode(bytes).ok_or(SendError::Senseless)?;
        let (number, tick) = link.step_messages.push(tick, kind, bytes.clone())?;
        timeline.give_message(tick, number, ReceivedMessage::new(*player, known, content));
        Ok(())
    }

    fn send_messages(&mut self, moment: Moment<'_>, outbox: &mut Outbox, log: &mut UpdateLog) {
        let (before, ticket) = (outbox.len(), self.link.datagrams.ticket);
        log.stats.network.bytes_sent += self.messages.send(moment, ticket, outbox);
        log.stats.network.datagrams_sent += (outbox.len() - before) as u64;
    }

    /// How it fares.
    pub(super) fn state(&self, now: Instant) -> ClientState {
        let silent = now.since(self.link.datagrams.last_snapshot());
        let LocalWorld { prediction, presentation, .. } = &self.local;
        let interval = u64::from(presentation.remote.playout.interval_ticks());
        let starved = 250_000 + 3 * interval * 1_000_000 / u64::from(self.link.pacing.rate().get());
        let is_resyncing = self.resyncing.is_some() || prediction.is_always_beyond_horizon();
        if silent.as_secs() >= 5 {
            ClientState::Lost
        } else if is_resyncing || self.link.pacing.is_waiting() {
            ClientState::Resyncing
        } else if silent.as_micros() > u128::from(starved) {
            ClientState::Starved
        } else if prediction.timeline.settled() < prediction.timeline.present() {
            ClientState::Behind
        } else {
            ClientState::Playing
        }
    }

    /// Whether it has waited for so long for a snapshot to start again from.
    pub(super) fn has_waited(&self, now: Instant, long: Duration) -> bool {
        self.resyncing.is_some_and(|since| now.since(since) >= long)
    }

    /// Where its clock stands at an instant, between two updates too.
    pub(super) fn at(&self, now: Instant) -> TickTime {
        self.link.pacing.at_instant(now)
    }

    /// The same with what is measured now.
    pub(super) fn measured(&self, mut stats: ClientStats) -> ClientStats {
        let playout = &self.local.presentation.remote.playout;
        self.link.measure(&mut stats);
        stats.prediction.outcomes = self.local.snapshots.outcomes();
        stats.playout = PlayoutStats {
            delay_ticks: playout.delay_ticks(),
            speed: playout.speed() / self.link.clock_drift.speed(),
            orphans: self.local.snapshots.orphans() as u64,
        };
        stats
    }
}
