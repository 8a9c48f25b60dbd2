//! The start of a session: hello until three answers have come, then the first snapshot, then a clock that leads.

use super::config::START_AHEAD_TICKS;
use super::join_request::JoinRequest;
use super::snapshots::{SnapshotPart, Snapshots};
use crate::rollback::INPUTS_KEPT;
use crate::session::datagram::{DatagramKind, PROTOCOL_VERSION, ShownHeader};
use crate::session::handshake_messages::{Hello, Welcome};
use crate::session::snapshot_header::SnapshotHeader;
use crate::session::{Outbox, PeerId, Refusal, Rules};
use crate::time::{Instant, Tick, TickRate, TickTime};
use crate::wire::{BitReader, BitWriter, Malformed};
use crate::world::{Input, PlayerId, PredictionSet};
use core::time::Duration;

/// How often a hello is repeated.
const REPEAT: Duration = Duration::from_millis(50);
/// And how often when nobody has answered for a while.
const REPEAT_LATER: Duration = Duration::from_millis(250);
const LATER: Duration = Duration::from_secs(2);
/// How many answers are waited for; the one with the shortest round trip counts.
const ANSWERS: u32 = 3;
/// Started without all answers after this long, when one has come.
const PATIENCE: Duration = Duration::from_millis(500);
/// A frame that took longer was a stall.
const LONGEST_FRAME: Duration = Duration::from_millis(100);
/// A longer time between two updates is a pause of the program's own, and no silence of the server.
const PAUSE: Duration = Duration::from_secs(1);
/// It does not give up sooner.
const TIMEOUT_MIN: Duration = Duration::from_secs(1);
/// An answer older than this says nothing of where the server is now.
const STALE: Duration = Duration::from_secs(2);

/// An answer to a hello.
#[derive(Clone, Copy, Debug)]
struct AnsweredHello {
    welcome: Welcome,
    rtt: Duration,
    came: Instant,
}

/// What a session starts with.
pub(super) struct Start {
    pub player: PlayerId,
    pub epoch: u8,
    /// The ticket to show from now on.
    pub ticket: u8,
    /// Where the client's clock is to stand.
    pub at: TickTime,
    pub rtt: Duration,
}

/// Lives from the first hello to the start of the session, or to where it goes on.
pub(super) struct Handshake {
    hello: Hello,
    first_hello: Option<Instant>,
    next_hello: Option<Instant>,
    /// Whether the last answer says that the session under way goes on.
    pub(super) resumes: bool,
    /// Whether any answer has come.
    has_heard: bool,
    first_answer: Option<Instant>,
    answers: u32,
    best: Option<AnsweredHello>,
    snapshots: Snapshots,
    last_update: Option<Instant>,
    /// For how long it has asked, or has waited for a state since the first answer, without its own pauses.
    waited: Duration,
    /// The longest time between two updates: inputs are sent by so much later than their tick begins.
    longest_frame: Duration,
}

impl Handshake {
    /// Of a client that shows the ticket that it has, if it has one.
    pub(super) fn new<I: Input>(rules: &Rules, request: &JoinRequest, ticket: Option<u8>) -> Handshake {
        let parts = rules.parts_with::<I>().into_iter().map(|(_, hash)| hash).collect();
        Handshake {
            hello: Hello {
                version: PROTOCOL_VERSION,
                nonce: request.nonce(),
                parts,
                sent: 0,
                ticket,
                seat: request.seat(),
                joins: false,
                data: request.data().to_vec(),
            },
            first_hello: None,
            next_hello: None,
            resumes: false,
            has_heard: false,
            first_answer: None,
            answers: 0,
            best: None,
            snapshots: Snapshots::new(rules),
            last_update: None,
            waited: Duration::ZERO,
            longest_frame: Duration::ZERO,
        }
    }

    /// An update: what has come too long ago counts no more.
    pub(super) fn note_update(&mut self, now: Instant) {
        let frame = self.last_update.map_or(Duration::ZERO, |last| now.since(last));
        self.waited += frame.min(PAUSE);
        self.longest_frame = self.longest_frame.max(frame).min(LONGEST_FRAME);
        self.last_update = Some(now);
        if self.best.is_some_and(|best| now.since(best.came) > STALE) {
            self.forget();
        }
    }

    /// Why it is no use to ask on, after so long.
    pub(super) fn gives_up(&self, timeout: Duration) -> Option<Refusal> {
        let why = if self.has_heard { Refusal::TimedOut } else { Refusal::Unanswered };
        (self.waited >= timeout.max(TIMEOUT_MIN)).then_some(why)
    }

    /// Whether an answer has come that still counts.
    pub(super) fn is_welcome(&self) -> bool {
        self.best.is_some()
    }

    /// Takes an answer; says whether it is one to a hello of this handshake.
    pub(super) fn note_welcome(&mut self, now: Instant, welcome: Welcome) -> bool {
        let asked = self.first_hello.is_some_and(|first| first.micros() <= welcome.sent);
        if welcome.nonce != self.hello.nonce || !asked {
            return false;
        }
        if !core::mem::replace(&mut self.has_heard, true) {
            self.waited = Duration::ZERO;
        }
        let rtt = now.since(Instant::from_micros(welcome.sent));
        let another =
            |best: &AnsweredHello| (best.welcome.epoch, best.welcome.player) != (welcome.epoch, welcome.player);
        if self.best.as_ref().is_some_and(another) {
            // The server has started anew, or has admitted us anew: what came before is of another session.
            self.forget();
            self.snapshots.clear();
        }
        if self.hello.ticket != Some(welcome.ticket) {
            // It has to be shown before anything else comes.
            self.next_hello = None;
        }
        self.hello.ticket = Some(welcome.ticket);
        self.answers += 1;
        self.first_answer = self.first_answer.or(Some(now));
        if self.best.is_none_or(|best| rtt < best.rtt) {
            self.best = Some(AnsweredHello { welcome, rtt, came: now });
        }
        true
    }

    /// Waits for answers as at the beginning.
    fn forget(&mut self) {
        (self.answers, self.first_answer, self.best, self.resumes) = (0, None, None, false);
    }

    /// Whether a snapshot that comes now is of the session that is about to start, and of none under way.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.is_welcome() && !self.resumes
    }

    /// Keeps a snapshot that comes before the start.
    pub(super) fn store(
        &mut self,
        now: Instant,
        header: &SnapshotHeader,
        lists: BitReader<'_>,
    ) -> Result<(), Malformed> {
        let Some(best) = self.best.filter(|_| self.hello.ticket == Some(header.ticket)) else { return Ok(()) };
        let tick = Tick::widen(u32::from(header.timing.tick), 16, Tick::new(best.welcome.tick));
        let part = SnapshotPart { tick, came: now, header, lists };
        self.snapshots.store(part, &PredictionSet::own(best.welcome.player())).map(|_| ())
    }

    /// The same of rows that are shown.
    pub(super) fn store_shown(&mut self, header: ShownHeader, records: BitReader<'_>) -> Result<(), Malformed> {
        let Some(best) = self.best.filter(|_| self.hello.ticket == Some(header.ticket)) else { return Ok(()) };
        let tick = Tick::widen(u32::from(header.tick), 16, Tick::new(best.welcome.tick));
        self.snapshots.store_shown(tick, header.number, records)
    }

    /// What a session starts with, as soon as there is enough. Where what has come is too old for that, it waits for answers
    /// as at the beginning.
    pub(super) fn start(&mut self, now: Instant, rate: TickRate) -> Option<Start> {
        let (true, Some(best), Some(newest)) = (self.is_ready(now), self.best, self.snapshots.newest()) else {
            return None;
        };
        let at = best.start(now + self.longest_frame, rate).max(TickTime::start_of(newest.tick));
        if at.tick().since(newest.tick) >= INPUTS_KEPT {
            self.forget();
            return None;
        }
        let ticket = self.hello.ticket.unwrap_or(best.welcome.ticket);
        Some(Start { player: best.welcome.player(), epoch: best.welcome.epoch, ticket, at, rtt: best.rtt })
    }

    /// The snapshots that have come, for the session that starts.
    pub(super) fn into_snapshots(self) -> Snapshots {
        self.snapshots
    }

    fn is_ready(&self, now: Instant) -> bool {
        let waited = self.first_answer.is_some_and(|first| now.since(first) >= PATIENCE);
        (self.answers >= ANSWERS || waited) && self.snapshots.newest().is_some()
    }

    /// Says hello, when it is time.
    pub(super) fn write_hello(&mut self, now: Instant, outbox: &mut Outbox) {
        let early = self.next_hello.is_some_and(|next| now < next);
        if early || self.answers >= ANSWERS && self.snapshots.newest().is_some() {
            return;
        }
        let first = *self.first_hello.get_or_insert(now);
        let unanswered = self.best.is_none() && now.since(first) > LATER;
        self.next_hello = Some(now + if unanswered { REPEAT_LATER } else { REPEAT });
        self.hello.sent = now.micros();
        // Also where a session goes on: the server may have begun anew, and know nobody.
        self.hello.joins = self.is_welcome();
        outbox.push(PeerId::default(), |bytes| {
            let mut writer = BitWriter::new(bytes);
            DatagramKind::Hello.write(&mut writer);
            self.hello.stream(&mut writer).expect("writing never fails");
        });
    }
}

impl AnsweredHello {
    /// Where the client's clock is to stand: what the server's will show when a datagram sent now gets there, and two
    /// ticks more.
    fn start(&self, now: Instant, rate: TickRate) -> TickTime {
        let welcome = &self.welcome;
        let fraction = TickTime::from_millionths(i64::from(welcome.fraction) * 1_000_000 / 256);
        let told = TickTime::start_of(Tick::new(welcome.tick)) + fraction;
        let passed = (now.since(self.came) + self.rtt).as_secs_f64() * f64::from(rate.get());
        told + TickTime::ticks(passed + START_AHEAD_TICKS)
    }
}
