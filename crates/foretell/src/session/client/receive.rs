//! Datagrams from the server: checked, decoded and stored; nothing is simulated here.

use super::snapshots::Stored;
use super::{Client, ClientEvent, Phase};
use crate::rollback::World;
use crate::session::packet::{Message, Refused, SnapshotHead, Welcome};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::{BitReader, Malformed};
use core::time::Duration;

/// A snapshot is of no later tick than the server can have come to, by the last one that was compared; with room for
/// clocks that differ.
const TICKS_AHEAD_MAX: u32 = 1024;

impl<W: World> Client<W> {
    /// Takes in a datagram from the server, which came at `now`. Bounded work and memory, whatever it holds.
    ///
    /// # Errors
    /// [`Malformed`] when it is not a message of this protocol; it is counted and changes nothing.
    pub fn receive(&mut self, now: Instant, datagram: &[u8]) -> Result<(), Malformed> {
        self.stats.datagrams_received += 1;
        self.stats.bytes_received += datagram.len() as u64;
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
                if let Phase::Joining(handshake) = &mut self.phase
                    && handshake.nonce() == welcome.nonce
                {
                    handshake.note_welcome(now, welcome);
                }
                Ok(())
            }
            Message::Refused => {
                let mut refused = Refused::default();
                refused.stream(&mut reader)?;
                reader.finish()?;
                if let Phase::Joining(handshake) = &self.phase
                    && handshake.nonce() == refused.nonce
                {
                    self.phase = Phase::Refused(refused.why);
                }
                Ok(())
            }
            Message::Snapshot => self.read_snapshot(now, reader),
            _ => Err(Malformed::OutOfRange("message")),
        }
    }

    fn read_snapshot(&mut self, now: Instant, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let mut head = core::mem::take(&mut self.head);
        let result = head.stream(&mut reader).and_then(|()| match &mut self.phase {
            Phase::Joining(handshake) => handshake.store(now, &head, reader, &self.code),
            Phase::Refused(_) => Ok(()),
            Phase::Playing(_) => self.take_snapshot(now, &head, reader),
        });
        self.head = head;
        result
    }

    fn take_snapshot(&mut self, now: Instant, head: &SnapshotHead, reader: BitReader<'_>) -> Result<(), Malformed> {
        let Phase::Playing(session) = &mut self.phase else { return Ok(()) };
        if head.epoch != session.connection.epoch {
            self.stats.refused += 1;
            return Ok(());
        }
        let anchor = session.anchor(now, &self.rules);
        let tick = Tick::widen(u32::from(head.tick), 16, anchor);
        if tick.since(anchor) > TICKS_AHEAD_MAX {
            self.stats.refused += 1;
            return Ok(());
        }
        let stored = session.snapshots.store((now, tick), head, reader, (&self.code, session.player))?;
        let outcomes = &mut self.stats.outcomes;
        match stored {
            Stored::Known => return Ok(()),
            Stored::Partial(pushed_out) => outcomes.superseded += pushed_out,
            Stored::Complete(tick, pushed_out) => {
                outcomes.superseded += pushed_out;
                let snapshot = session.snapshots.get(tick).expect("it has just been stored");
                outcomes.received += snapshot.samples;
                session.playout.note_arrival(snapshot);
                session.reconciler.note_told(snapshot);
                self.stats.effect_ticks_untold += u64::from(session.effects.note_told(snapshot));
                session.connection.note_snapshot(now);
            }
        }
        self.note_head(now, head, tick);
        Ok(())
    }

    /// What a snapshot's head tells besides the state; told again with every snapshot, so old news are harmless.
    fn note_head(&mut self, now: Instant, head: &SnapshotHead, tick: Tick) {
        let Phase::Playing(session) = &mut self.phase else { return };
        if let Some((sequence, ago)) = head.heard {
            session.connection.note_heard(now, sequence, Duration::from_micros(u64::from(ago) * 64));
        }
        let acknowledged = head.newest_input.map(|input| Tick::widen(u32::from(input), 16, tick));
        session.connection.acknowledged_input = session.connection.acknowledged_input.max(acknowledged);
        if let Some(told) = session.reconciler.note_substituted(tick, &head.substituted) {
            self.stats.substituted += u64::from(told.1);
            self.events_to_come.push(ClientEvent::Substituted { newest: told.0, ticks: told.1 });
        }
        if let Some((smallest, of, largest)) = head.margins {
            let margin = |bits: u16| TickTime::from_millionths(i64::from(bits.cast_signed()) * 1_000_000 / 64);
            let most = f64::from(self.config.lead_max_ms) / 1000.0 * f64::from(self.rules.tick_rate.get());
            let of = Tick::widen(u32::from(of), 16, tick);
            session.pacing.steer((margin(smallest), of), margin(largest), most);
            session.early_ticks = margin(largest).as_ticks();
            self.stats.margin_ticks = margin(smallest).as_ticks();
            self.stats.lead_ticks = session.lead_ticks(now);
        }
    }
}
