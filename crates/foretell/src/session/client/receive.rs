//! Datagrams from the server: checked, decoded and stored; nothing is simulated here.

use super::server_rate::Exchange;
use super::snapshots::Stored;
use super::{Client, ClientEvent, Phase};
use crate::session::greeting::{Refusal, Refused, Welcome};
use crate::session::packet::{Message, SnapshotHead};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::{BitReader, Malformed};
use crate::world::World;
use core::time::Duration;

/// What differs when it is a part of the rules that the server has and the client has not.
const UNKNOWN_PART: &str = "a fingerprint that this end does not have";

impl<W: World> Client<W> {
    /// Takes in a datagram from the server, which came at `now`. Bounded work and memory, whatever it holds.
    ///
    /// # Errors
    /// [`Malformed`] when it is not a message of this protocol; it is counted and changes nothing.
    pub fn receive(&mut self, now: Instant, datagram: &[u8]) -> Result<(), Malformed> {
        self.used = true;
        self.tell_tap(|tap, client| tap.receive(client, now, datagram));
        self.stats.datagrams_received += 1;
        self.stats.bytes_received += datagram.len() as u64;
        let now = self.clock.note(now);
        let result = self.read(now, datagram);
        self.stats.refused += u64::from(result.is_err());
        result
    }

    fn read(&mut self, now: Instant, datagram: &[u8]) -> Result<(), Malformed> {
        let mut reader = BitReader::new(datagram);
        match Message::read(&mut reader)? {
            Message::Welcome => {
                let mut welcome = Welcome::default();
                welcome.stream(&mut reader)?;
                reader.finish()?;
                self.take_welcome(now, welcome);
                Ok(())
            }
            Message::Refused => {
                let mut refused = Refused::default();
                refused.stream(&mut reader)?;
                reader.finish()?;
                self.take_refusal(&refused);
                Ok(())
            }
            Message::Snapshot => self.read_snapshot(now, reader),
            _ => Err(Malformed::OutOfRange("message")),
        }
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
            session.connection.note_offer(welcome.ticket);
        }
    }

    /// A client that asks may be refused until it is welcome. One that plays is told when its place is gone.
    fn take_refusal(&mut self, refused: &Refused) {
        let means_us = match &self.handshake {
            Some(handshake) => !handshake.is_welcome() || refused.why == Refusal::TooLarge,
            None => matches!(self.phase, Phase::Playing(_)) && refused.why == Refusal::Gone,
        };
        if means_us && self.origin.nonce() == Some(refused.nonce) {
            self.phase = Phase::Refused(refused.why);
            if refused.why == Refusal::Rules {
                let parts = self.rules.parts_with::<W::Input>();
                self.differing = Some(parts.get(usize::from(refused.part)).map_or(UNKNOWN_PART, |(name, _)| name));
            }
            self.handshake = None;
        }
    }

    fn read_snapshot(&mut self, now: Instant, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let mut head = core::mem::take(&mut self.head);
        let read = head.stream(&mut reader).and_then(|()| self.heard.read(&mut reader, &self.input_widths));
        let result = read.and_then(|()| {
            // Once another place was given, nothing is meant for the former one.
            let elsewhere =
                self.handshake.as_ref().is_some_and(|handshake| handshake.is_welcome() && !handshake.resumes);
            let session = self.session_mut().filter(|_| !elsewhere);
            if session.is_some_and(|session| session.connection.accepts(head.ticket)) {
                return self.take_snapshot(now, &head, reader);
            }
            match &mut self.handshake {
                Some(handshake) => handshake.store(now, &head, reader, &self.code),
                None => {
                    self.stats.refused += 1;
                    Ok(())
                }
            }
        });
        self.head = head;
        result
    }

    fn take_snapshot(&mut self, now: Instant, head: &SnapshotHead, reader: BitReader<'_>) -> Result<(), Malformed> {
        let Phase::Playing(session) = &mut self.phase else { return Ok(()) };
        let Some(tick) = session.tick_unwrap.widen(now, head.tick, self.rules.tick_rate) else {
            self.stats.refused += 1;
            return Ok(());
        };
        let stored = session.snapshots.store((now, tick), head, reader, (&self.code, session.timeline.predicted()))?;
        let outcomes = &mut self.stats.outcomes;
        match stored {
            Stored::Known => return Ok(()),
            Stored::Partial(pushed_out) => outcomes.superseded += pushed_out,
            Stored::Lacking(pushed_out) => {
                outcomes.superseded += pushed_out;
                self.stats.baselines_lacking += 1;
            }
            Stored::Complete(tick, pushed_out) => {
                outcomes.superseded += pushed_out;
                let snapshot = session.snapshots.completed(tick).expect("it has just been stored");
                outcomes.received += snapshot.samples;
                snapshot.canonical.iter().for_each(|canonical| session.timeline.announce(*canonical));
                // How late a state comes that is sent again says nothing of the way.
                let limits = self.config.playout_limits();
                if !snapshot.is_repeated() && session.playout.note_arrival(snapshot, &session.server_rate, limits) {
                    session.server_rate.note_new_route();
                }
                session.reconciler.note_told(snapshot);
                self.stats.effect_ticks_untold += u64::from(session.effects.note_told(snapshot));
                session.reconciler.note_contacts(snapshot, session.timeline.predicted());
                session.connection.note_snapshot(now);
            }
        }
        self.note_head(now, head, tick);
        self.note_relayed(now, tick);
        Ok(())
    }

    /// What a snapshot's head tells besides the state; told again with every snapshot, so old news are harmless.
    fn note_head(&mut self, now: Instant, head: &SnapshotHead, tick: Tick) {
        let Phase::Playing(session) = &mut self.phase else { return };
        if let Some((sequence, ago)) = head.heard {
            session.authority.note_heard(sequence);
            let is_news = session.connection.note_heard(now, sequence, Duration::from_micros(u64::from(ago) * 64));
            // What the server has held for long was held by a clock that runs otherwise.
            let server = head.held(tick, self.rules.tick_rate).filter(|_| is_news);
            if let (Some(sent), Some((arrived, answered))) = (session.connection.sent_at(sequence), server) {
                session.server_rate.note(Exchange { sent, arrived, answered, came: now });
            }
        }
        let unforeseen = head.unforeseen.and_then(|back| tick.back(back));
        let compared = session.reconciler.compared();
        if let (Some(at), Some(exact_causes)) = (unforeseen, session.reconciler.exact_causes()) {
            exact_causes.note_unforeseen(at, compared);
        }
        let acknowledged = head.newest_input.map(|input| Tick::widen(u32::from(input), 16, tick));
        session.connection.acknowledged_input = session.connection.acknowledged_input.max(acknowledged);
        if let Some(told) = session.reconciler.missed_inputs.note_substituted(tick, &head.substituted) {
            self.stats.substituted += u64::from(told.1);
            self.events_to_come.push(ClientEvent::Substituted { newest: told.0, ticks: told.1 });
        }
        self.note_arrivals(now, head, tick);
    }

    /// Steers the clock by what the server tells of the inputs that have come.
    fn note_arrivals(&mut self, now: Instant, head: &SnapshotHead, tick: Tick) {
        let Phase::Playing(session) = &mut self.phase else { return };
        let of_now = session.connection.is_of_now(head.heard.map(|(sequence, _)| sequence));
        let Some((oldest, newer)) = head.arrivals.split_last().filter(|_| of_now) else { return };
        let limits = self.config.limits(self.rules.tick_rate);
        let ticks_newer = newer.iter().fold(0_u32, |sum, arrival| sum.saturating_add(arrival.count));
        let arrived = Tick::widen(u32::from(head.arrived), 16, tick);
        let Some(mut newest) = arrived.back(ticks_newer) else { return };
        let (mut smallest, mut is_new_route) = (f64::INFINITY, false);
        for arrival in core::iter::once(oldest).chain(newer.iter().rev()) {
            if !core::ptr::eq(arrival, oldest) {
                newest = newest + arrival.count;
            }
            let margin = TickTime::from_millionths(i64::from(arrival.margin.cast_signed()) * 1_000_000 / 64);
            smallest = smallest.min(margin.as_ticks());
            if margin >= TickTime::default() {
                session.reconciler.missed_inputs.note_in_time(newest);
            }
            is_new_route |= session.pacing.note(now, (newest, arrival.count), margin, limits);
        }
        if is_new_route {
            session.server_rate.note_new_route();
        }
        session.pacing.steer(limits, is_new_route);
        self.stats.margin_ticks = smallest;
        self.stats.lead_ticks = session.lead_ticks(now);
        let was_limited = core::mem::replace(&mut self.stats.slack_limited, !session.pacing.asked().1);
        if self.stats.slack_limited && !was_limited {
            let asked_ticks = session.pacing.asked().0;
            self.events_to_come.push(ClientEvent::SlackLimited { asked_ticks });
        }
    }
}
