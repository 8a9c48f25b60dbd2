//! The start of a session: hello until three answers have come, then the first snapshot, then a clock that leads. And
//! the same again where the server has fallen silent: then either it goes on, or another session starts.

use super::connection::Connection;
use super::snapshots::Snapshots;
use super::{Client, ClientEvent, ClientState, Phase, Session};
use crate::rollback::INPUTS_KEPT;
use crate::session::greeting::{Hello, Welcome};
use crate::session::packet::{Message, PROTOCOL_VERSION, SnapshotHead};
use crate::session::{Outbox, PeerId};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::{BitReader, BitWriter, Malformed};
use crate::world::{Predicted, World};
use alloc::boxed::Box;
use core::time::Duration;

/// How often a hello is repeated.
const REPEAT: Duration = Duration::from_millis(50);
/// And how often when nobody has answered for a while.
const REPEAT_LATER: Duration = Duration::from_millis(250);
const LATER: Duration = Duration::from_secs(2);
/// A client that waits for a snapshot after a sleep runs no ticks and sends no inputs. When none comes for so long, the server
/// may have lost it.
const UNSENT: Duration = Duration::from_millis(100);
/// How many answers are waited for; the one with the shortest round trip counts.
const ANSWERS: u32 = 3;
/// Started without all answers after this long, when one has come.
const PATIENCE: Duration = Duration::from_millis(500);
/// A frame that took longer was a stall.
const LONGEST_FRAME: Duration = Duration::from_millis(100);
/// An answer older than this says nothing of where the server is now.
const STALE: Duration = Duration::from_secs(2);
/// Beyond the round trip and a frame, the clock starts this far ahead of the server's (FIELD: Netcode for Entities).
const START_AHEAD_TICKS: f64 = 2.0;

/// A server whose ticks are so far before a state that it sent has begun again.
const BEGUN_AGAIN_TICKS: u32 = 1024;

/// An answer to a hello.
#[derive(Clone, Copy, Debug)]
struct Answer {
    welcome: Welcome,
    rtt: Duration,
    came: Instant,
}

/// Lives from the first hello to the start of the session, or to where it goes on.
pub(crate) struct Handshake {
    hello: Hello,
    first_hello: Option<Instant>,
    next_hello: Option<Instant>,
    /// Whether the last answer says that the session under way goes on.
    pub(crate) resumes: bool,
    first_answer: Option<Instant>,
    answers: u32,
    best: Option<Answer>,
    snapshots: Snapshots,
    last_update: Option<Instant>,
    /// The longest time between two updates: inputs are sent by so much later than their tick begins.
    longest_frame: Duration,
}

impl Handshake {
    fn new(hello: Hello, snapshots: Snapshots) -> Handshake {
        Handshake {
            hello,
            first_hello: None,
            next_hello: None,
            resumes: false,
            first_answer: None,
            answers: 0,
            best: None,
            snapshots,
            last_update: None,
            longest_frame: Duration::ZERO,
        }
    }

    fn note_update(&mut self, now: Instant) {
        let frame = self.last_update.map_or(Duration::ZERO, |last| now.since(last));
        self.longest_frame = self.longest_frame.max(frame).min(LONGEST_FRAME);
        self.last_update = Some(now);
    }

    /// Whether an answer has come that still counts.
    pub(crate) fn is_welcome(&self) -> bool {
        self.best.is_some()
    }

    /// Takes an answer; says whether it is one to a hello of this handshake.
    pub(crate) fn note_welcome(&mut self, now: Instant, welcome: Welcome) -> bool {
        let asked = self.first_hello.is_some_and(|first| first.micros() <= welcome.sent);
        if welcome.nonce != self.hello.nonce || !asked {
            return false;
        }
        let rtt = now.since(Instant::from_micros(welcome.sent));
        let another = |best: &Answer| (best.welcome.epoch, best.welcome.player) != (welcome.epoch, welcome.player);
        if self.best.as_ref().is_some_and(another) {
            // The server has started anew, or has admitted us anew: what came before is of another session.
            self.forget();
            self.snapshots.clear();
        }
        if self.hello.ticket.is_some_and(|shown| shown != welcome.ticket) {
            // It has to be shown before anything else comes.
            self.next_hello = None;
        }
        self.hello.ticket = Some(welcome.ticket);
        self.answers += 1;
        self.first_answer = self.first_answer.or(Some(now));
        if self.best.is_none_or(|best| rtt < best.rtt) {
            self.best = Some(Answer { welcome, rtt, came: now });
        }
        true
    }

    /// Waits for answers as at the beginning.
    fn forget(&mut self) {
        (self.answers, self.first_answer, self.best, self.resumes) = (0, None, None, false);
    }

    /// Keeps a snapshot that comes before the start.
    pub(crate) fn store(
        &mut self,
        now: Instant,
        head: &SnapshotHead,
        reader: BitReader<'_>,
        code: &super::RowCodec,
    ) -> Result<(), Malformed> {
        let Some(best) = self.best.filter(|_| self.hello.ticket == Some(head.ticket)) else { return Ok(()) };
        let tick = Tick::widen(u32::from(head.tick), 16, Tick::new(best.welcome.tick));
        self.snapshots.store((now, tick), head, reader, (code, &Predicted::own(best.welcome.player()))).map(|_| ())
    }

    fn is_ready(&self, now: Instant) -> bool {
        let waited = self.first_answer.is_some_and(|first| now.since(first) >= PATIENCE);
        (self.answers >= ANSWERS || waited) && self.snapshots.newest().is_some()
    }

    fn write_hello(&mut self, now: Instant, outbox: &mut Outbox) {
        let early = self.next_hello.is_some_and(|next| now < next);
        if early || self.answers >= ANSWERS && self.snapshots.newest().is_some() {
            return;
        }
        let first = *self.first_hello.get_or_insert(now);
        let unanswered = self.best.is_none() && now.since(first) > LATER;
        self.next_hello = Some(now + if unanswered { REPEAT_LATER } else { REPEAT });
        self.hello.sent = now.micros();
        outbox.push(PeerId::default(), |bytes| {
            let mut writer = BitWriter::new(bytes);
            Message::Hello.write(&mut writer);
            self.hello.stream(&mut writer).expect("writing never fails");
        });
    }
}

impl<W: World> Client<W> {
    /// Begins to say hello.
    pub(super) fn ask(&mut self, nonce: u64, ticket: Option<u8>) {
        let parts = self.rules.parts_with::<W::Input>().into_iter().map(|(_, hash)| hash).collect();
        let hello = Hello { version: PROTOCOL_VERSION, nonce, parts, sent: 0, ticket };
        let snapshots = Snapshots::new(&self.rules.schema, self.rules.tick_rate);
        self.handshake = Some(Box::new(Handshake::new(hello, snapshots)));
    }

    /// Asks for a place where there is none, or where the server has fallen silent; starts, or goes on.
    pub(super) fn join(&mut self, now: Instant, world: &mut W, outbox: &mut Outbox) {
        let waits =
            self.session().and_then(|session| session.resyncing).is_some_and(|since| now.since(since) >= UNSENT);
        let lost = waits || self.state(now) == ClientState::Lost;
        if let (true, None, Some(nonce), Some(session)) = (lost, &self.handshake, self.origin.nonce(), self.session()) {
            let ticket = Some(session.connection.ticket);
            self.ask(nonce, ticket);
        }
        let Some(handshake) = &mut self.handshake else { return };
        handshake.note_update(now);
        if handshake.best.is_some_and(|best| now.since(best.came) > STALE) {
            handshake.forget();
        }
        if handshake.resumes {
            if !lost {
                self.handshake = None;
                self.events.extend(self.player().map(ClientEvent::Rejoined));
                return;
            }
            handshake.write_hello(now, outbox);
        } else {
            handshake.write_hello(now, outbox);
            if handshake.is_ready(now) {
                self.start(now, world);
            }
        }
    }

    /// Writes the datagram that tells the server good-bye, if there is a session. A lost one is made good by nothing:
    /// send it two or three times.
    pub fn leave(&self, outbox: &mut Outbox) {
        let Phase::Playing(session) = &self.phase else { return };
        outbox.push(PeerId::default(), |bytes| {
            let mut writer = BitWriter::new(bytes);
            Message::Leave.write(&mut writer);
            writer.put(u64::from(session.connection.ticket), 8);
            writer.put(u64::from(session.player.get()), 16);
        });
    }

    /// Adopts the newest snapshot and simulates up to where the clock is to stand. The server has no inputs for these
    /// ticks either, and uses the neutral one as the client does. What there was of an earlier session ends.
    fn start(&mut self, now: Instant, world: &mut W) {
        let Some(handshake) = &mut self.handshake else { return };
        let (Some(best), Some(newest)) = (handshake.best, handshake.snapshots.newest()) else { return };
        let tick = newest.tick;
        let at = best.start(now + handshake.longest_frame, self.rules.tick_rate);
        let at = at.max(TickTime::start_of(tick));
        if at.tick().since(tick) >= INPUTS_KEPT {
            handshake.forget();
            return;
        }
        let Some(handshake) = self.handshake.take() else { return };
        let ticket = handshake.hello.ticket.unwrap_or(best.welcome.ticket);
        let connection = Connection::new((best.welcome.epoch, ticket), now);
        let player = best.welcome.player();
        let mut session = Session::new(&self.rules, &self.config, (player, connection), (at, now), handshake.snapshots);
        session.connection.start_with_rtt(now, best.rtt);
        for snapshot in session.snapshots.complete() {
            session.playout.note_arrival(snapshot, &session.server_rate, self.config.playout_limits());
        }
        session.snapshots.open().for_each(|snapshot| snapshot.settled = true);
        if let Phase::Playing(former) = &mut self.phase {
            self.stats.outcomes.resync += former.waiting();
            self.stats.withdrawn += former.lifecycles.end_all(&mut self.events);
            session.timeline.follow(&former.timeline);
        }
        let full = session.snapshots.newest().expect("it was there a moment ago").rows.clone();
        session.predict_everything(&self.rules, &full);
        for canonical in session.snapshots.complete().flat_map(|snapshot| &snapshot.canonical) {
            session.timeline.announce(*canonical);
        }
        session.timeline.restart(world, tick, &full, at.tick());
        session.reconciler.begin(tick, at.tick());
        session.note_derived(tick);
        session.effects.begin(tick);
        session.note_runs(tick, at.tick());
        self.phase = Phase::Playing(Box::new(session));
        self.events.push(ClientEvent::Joined(player));
    }
}

impl Answer {
    /// Where the client's clock is to stand: what the server's will show when a datagram sent now gets there, and two
    /// ticks more.
    fn start(&self, now: Instant, rate: crate::time::TickRate) -> TickTime {
        let welcome = &self.welcome;
        let fraction = TickTime::from_millionths(i64::from(welcome.fraction) * 1_000_000 / 256);
        let told = TickTime::start_of(Tick::new(welcome.tick)) + fraction;
        let passed = (now.since(self.came) + self.rtt).as_secs_f64() * f64::from(rate.get());
        told + TickTime::ticks(passed + START_AHEAD_TICKS)
    }
}

impl<W: World> Session<W> {
    /// Whether the server that has answered knows this session: it is the same, with the same player, and has not begun
    /// again. An answer may be older than what has been compared since.
    pub(super) fn goes_on_with(&self, welcome: &Welcome) -> bool {
        let back = self.reconciler.compared().since(Tick::new(welcome.tick));
        (welcome.epoch, welcome.player()) == (self.connection.epoch, self.player) && back <= BEGUN_AGAIN_TICKS
    }
}
