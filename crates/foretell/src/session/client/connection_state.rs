//! Where in its life a client is: it asks for a place in a session, plays, or was refused. Where the server has fallen silent
//! it asks again: then either the session goes on, or another one starts.

use super::client_session::{ClientSession, SnapshotDatagram};
use super::client_settings::{ClientSettings, Game, Moment};
use super::handshake::Handshake;
use super::join_request::JoinRequest;
use super::link::DatagramTiming;
use super::recordable_calls::{ClientOrigin, Joined};
use super::snapshots::InputRelayReader;
use super::snapshots::Snapshots;
use super::update_log::UpdateLog;
use super::update_report::{ClientEvent, ClientState};
use crate::session::datagram::{DatagramKind, ShownHeader};
use crate::session::good_bye::GoodBye;
use crate::session::handshake_messages::Welcome;
use crate::session::messages::MessagesDatagram;
use crate::session::refusal_message::Refused;
use crate::session::snapshot_header::SnapshotHeader;
use crate::session::{Outbox, PeerId, Refusal, Rules};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::{BitReader, BitWriter, Malformed};
use crate::world::{Reason, World};
use alloc::boxed::Box;
use core::time::Duration;

/// What differs when it is a part of the rules that the server has and the client has not.
const UNKNOWN_PART: &str = "a fingerprint that this end does not have";
/// A client that waits for a snapshot after a sleep runs no ticks and sends no inputs. When none comes for so long, the server
/// may have lost it.
const UNSENT: Duration = Duration::from_millis(100);

/// Lives as long as the client.
pub(super) struct ConnectionState<W: World> {
    origin: ClientOrigin,
    phase: Phase<W>,
    /// It asks for a place, or for the one that it had.
    handshake: Option<Box<Handshake>>,
    differing: Option<&'static str>,
    /// The header of the snapshot that is being read, and the inputs of others in it.
    header: SnapshotHeader,
    relayed: InputRelayReader<W::Input>,
}

enum Phase<W: World> {
    Joining,
    Refused(Refusal),
    Playing(Box<ClientSession<W>>),
}

impl<W: World> ConnectionState<W> {
    /// It asks to join.
    pub(super) fn asking(rules: &Rules, request: JoinRequest) -> ConnectionState<W> {
        let handshake = Box::new(Handshake::new::<W::Input>(rules, &request, None));
        let connection = ConnectionState::with(ClientOrigin::New(request), Phase::Joining);
        ConnectionState { handshake: Some(handshake), ..connection }
    }

    /// It has joined already, and its world is in state 0.
    pub(super) fn joined(settings: &ClientSettings, joined: Joined, world: &mut W) -> ConnectionState<W> {
        let Joined { player, epoch, now } = joined;
        let snapshots = Snapshots::new(&settings.rules);
        let moment = Moment { now, at: TickTime::default(), settings };
        let mut session = ClientSession::new(moment, player, DatagramTiming::new(epoch, epoch, now), snapshots);
        session.local.begin(world, settings);
        ConnectionState::with(ClientOrigin::Joined(joined), Phase::Playing(Box::new(session)))
    }

    fn with(origin: ClientOrigin, phase: Phase<W>) -> ConnectionState<W> {
        let (handshake, differing) = (None, None);
        ConnectionState {
            origin,
            phase,
            handshake,
            differing,
            header: SnapshotHeader::default(),
            relayed: InputRelayReader::new(),
        }
    }

    pub(super) fn origin(&self) -> &ClientOrigin {
        &self.origin
    }

    /// Which part of the rules is not the server's, where that is why it was refused.
    pub(super) fn differing(&self) -> Option<&'static str> {
        self.differing
    }

    pub(super) fn session(&self) -> Option<&ClientSession<W>> {
        match &self.phase {
            Phase::Playing(session) => Some(session),
            _ => None,
        }
    }

    pub(super) fn session_mut(&mut self) -> Option<&mut ClientSession<W>> {
        match &mut self.phase {
            Phase::Playing(session) => Some(session),
            _ => None,
        }
    }

    /// How it fares.
    pub(super) fn state(&self, now: Instant) -> ClientState {
        match &self.phase {
            Phase::Joining => ClientState::Joining,
            Phase::Refused(why) => ClientState::Refused(*why),
            Phase::Playing(session) => session.state(now),
        }
    }

    /// Takes in a datagram, which came now.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        datagram: &[u8],
        settings: &ClientSettings,
        log: &mut UpdateLog,
    ) -> Result<(), Malformed> {
        let mut reader = BitReader::new(datagram);
        match DatagramKind::read(&mut reader)? {
            DatagramKind::Welcome => {
                let mut welcome = Welcome::default();
                welcome.stream(&mut reader)?;
                reader.finish()?;
                self.take_welcome(now, welcome);
                Ok(())
            }
            DatagramKind::Refused => {
                let mut refused = Refused::default();
                refused.stream(&mut reader)?;
                reader.finish()?;
                self.take_refusal(&refused, &settings.rules, log);
                Ok(())
            }
            DatagramKind::Snapshot => {
                self.header.stream(&mut reader)?;
                self.relayed.read(&mut reader, &settings.input_widths)?;
                self.take_snapshot(now, reader, settings, log)
            }
            DatagramKind::Messages => self.take_messages(now, MessagesDatagram::read(reader)?, settings, log),
            DatagramKind::Shown => {
                let mut header = ShownHeader::default();
                header.stream(&mut reader)?;
                self.take_shown(now, header, reader, log)
            }
            _ => Err(Malformed::OutOfRange("message")),
        }
    }

    /// Messages are of a session that has begun.
    fn take_messages(
        &mut self,
        now: Instant,
        datagram: MessagesDatagram<'_>,
        settings: &ClientSettings,
        log: &mut UpdateLog,
    ) -> Result<(), Malformed> {
        let Phase::Playing(session) = &mut self.phase else { return Ok(()) };
        let ClientSession { link, messages, .. } = &mut **session;
        if !link.datagrams.accepts(datagram.header.ticket) {
            return Ok(());
        }
        messages.receive(now, datagram, &settings.rules.messages, &mut log.coming_messages)
    }

    fn take_welcome(&mut self, now: Instant, welcome: Welcome) {
        let Some(handshake) = &mut self.handshake else { return };
        if !handshake.note_welcome(now, welcome) {
            return;
        }
        handshake.resumes = false;
        if let Phase::Playing(session) = &mut self.phase
            && session.goes_on_with(&welcome)
        {
            handshake.resumes = true;
            session.link.datagrams.note_offer(welcome.ticket);
            session.link.tick_unwrap.note(Tick::new(welcome.tick), now);
        }
    }

    /// A client that asks may be refused until it is welcome, and after that when its join can't come to an end. One that plays is
    /// told when its place is gone, or there is too much to tell it.
    fn take_refusal(&mut self, refused: &Refused, rules: &Rules, log: &mut UpdateLog) {
        let Refused { nonce, why, part } = *refused;
        let is_end = matches!(why, Refusal::TooLarge | Refusal::TimedOut | Refusal::ByGame(_) | Refusal::Removed(_));
        let means_us = match &self.handshake {
            Some(handshake) => is_end || !handshake.is_welcome(),
            None => matches!(self.phase, Phase::Playing(_)) && (is_end || why == Refusal::Gone),
        };
        if !means_us || self.origin.request().map(JoinRequest::nonce) != Some(nonce) {
            return;
        }
        if why == Refusal::Rules {
            let parts = rules.parts_with::<W::Input>();
            self.differing = Some(parts.get(usize::from(part)).map_or(UNKNOWN_PART, |(name, _)| name));
        }
        self.end(why, log);
        log.coming.push(ClientEvent::Refused(why));
    }

    /// It asks and plays no more.
    fn end(&mut self, why: Refusal, log: &mut UpdateLog) {
        if let Some(session) = self.session() {
            log.stats.prediction.outcomes = session.local.snapshots.outcomes().at_end();
        }
        (self.phase, self.handshake) = (Phase::Refused(why), None);
    }

    /// Takes in the rest of a snapshot's datagram.
    fn take_snapshot(
        &mut self,
        now: Instant,
        lists: BitReader<'_>,
        settings: &ClientSettings,
        log: &mut UpdateLog,
    ) -> Result<(), Malformed> {
        // Once another place was given, nothing is meant for the former one.
        let is_elsewhere = self.is_elsewhere();
        let ConnectionState { phase, handshake, header, relayed, .. } = self;
        if let Phase::Playing(session) = phase
            && !is_elsewhere
            && session.link.datagrams.accepts(header.ticket)
        {
            return session.receive(now, SnapshotDatagram { header, relayed, lists }, settings, log);
        }
        let Some(handshake) = handshake else {
            log.stats.network.refused += 1;
            return Ok(());
        };
        handshake.store(now, header, lists)
    }

    /// Takes in the rest of a datagram that tells rows of others.
    fn take_shown(
        &mut self,
        now: Instant,
        header: ShownHeader,
        records: BitReader<'_>,
        log: &mut UpdateLog,
    ) -> Result<(), Malformed> {
        let is_elsewhere = self.is_elsewhere();
        let ConnectionState { phase, handshake, .. } = self;
        if let Phase::Playing(session) = phase
            && !is_elsewhere
            && session.link.datagrams.accepts(header.ticket)
        {
            return session.receive_shown(now, header, records, log);
        }
        let Some(handshake) = handshake else {
            log.stats.network.refused += 1;
            return Ok(());
        };
        handshake.store_shown(header, records)
    }

    /// An update: asks for a place where there is none, or where the server has fallen silent; starts, goes on, and plays.
    pub(super) fn update(
        &mut self,
        now: Instant,
        settings: &ClientSettings,
        game: &mut Game<'_, W>,
        log: &mut UpdateLog,
    ) {
        self.join(now, settings, game, log);
        let is_elsewhere = self.is_elsewhere();
        if let Phase::Playing(session) = &mut self.phase {
            let before = game.outbox.len();
            session.update(now, settings, game, log);
            if is_elsewhere {
                // Another server would take it for the session's that is going to begin there, if it happens to have the same ticket.
                game.outbox.truncate(before);
            }
        }
    }

    /// Whether another server has answered than that of the session.
    fn is_elsewhere(&self) -> bool {
        self.handshake.as_ref().is_some_and(|handshake| handshake.is_elsewhere())
    }

    fn join(&mut self, now: Instant, settings: &ClientSettings, game: &mut Game<'_, W>, log: &mut UpdateLog) {
        let waits = self.session().is_some_and(|session| session.has_waited(now, UNSENT));
        let is_lost = waits || self.state(now) == ClientState::Lost;
        if let (true, None, Some(request), Phase::Playing(session)) =
            (is_lost, &self.handshake, self.origin.request(), &mut self.phase)
        {
            session.link.tick_unwrap.note_asked();
            let ticket = Some(session.link.datagrams.ticket);
            self.handshake = Some(Box::new(Handshake::new::<W::Input>(&settings.rules, request, ticket)));
        }
        let Some(handshake) = &mut self.handshake else { return };
        handshake.note_update(now);
        let is_first = matches!(self.phase, Phase::Joining);
        if let Some(why) = handshake.gives_up(settings.config.join_timeout).filter(|_| is_first) {
            self.end(why, log);
            log.events.push(ClientEvent::Refused(why));
            return;
        }
        if handshake.resumes && !is_lost {
            self.handshake = None;
            log.events.extend(self.session().map(|session| ClientEvent::Rejoined(session.local.player)));
            return;
        }
        handshake.write_hello(now, game.outbox);
        if !handshake.resumes {
            self.start(now, settings, game.world, log);
        }
    }

    /// Starts a session, as soon as enough has come for it.
    fn start(&mut self, now: Instant, settings: &ClientSettings, world: &mut W, log: &mut UpdateLog) {
        let start = self.handshake.as_mut().and_then(|handshake| handshake.start(now, settings.rules.tick_rate));
        let Some(start) = start else { return };
        let Some(handshake) = self.handshake.take() else { return };
        let mut datagrams = DatagramTiming::new(start.epoch, start.ticket, now);
        datagrams.round_trips.start_with(now, start.rtt);
        let moment = Moment { now, at: start.at, settings };
        let mut session = ClientSession::new(moment, start.player, datagrams, handshake.into_snapshots());
        session.start(world, self.session_mut(), settings, log);
        self.phase = Phase::Playing(Box::new(session));
        log.events.push(ClientEvent::Joined(start.player));
    }

    /// Writes the datagram that tells the server good-bye, if there is a session.
    pub(super) fn leave(&self, reason: Reason, outbox: &mut Outbox) {
        let Some(session) = self.session() else { return };
        let (ticket, player) = (session.link.datagrams.ticket, session.local.player.get());
        outbox.push(PeerId::default(), |bytes| {
            let mut writer = BitWriter::new(bytes);
            DatagramKind::Leave.write(&mut writer);
            GoodBye { ticket, player, reason }.stream(&mut writer).expect("writing never fails");
        });
    }
}
