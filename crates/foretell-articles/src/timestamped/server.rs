//! The server's end of one player: follows the path that the inputs tell, and has the final word (Q6, Q9, Q11).
//!
//! Invariants, where nothing is believed ([`Trust::Bounded`]): the path never goes backwards in time; it is followed for at
//! most as long as the server's clock has run, and the budget; between the begin of a resync and its end the state does
//! not move. Whatever was believed, a client that goes on to be of no use is asked to begin anew, and nothing that was
//! believed before counts then but the state.

use super::budget::{TimeBudget, TimeSpent};
use super::divergence::Divergence;
use super::packet::{Code, Inputs, Message};
use super::requests::RateLimit;
use super::schedule::{Retry, Schedule};
use super::{Detect, Mover, Path, Refused, ServerConfig, Since, Time, Trust};
use alloc::vec::Vec;
use core::time::Duration;
use foretell::motion::vector::squared_distance;
use foretell::session::{Offence, Offences};
use foretell::time::Instant;
use foretell::wire::{BitReader, BitWriter, Malformed, Stream};

/// What a server has done and got of a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServerStats {
    /// Datagrams with inputs.
    pub packets: u64,
    /// Of these, those that came while a resync was not finished.
    pub discarded: u64,
    /// Of these, those of another epoch, or of a time that was followed already: late or doubled.
    pub stale: u64,
    /// Of these, those that nobody can have sent who plays by the rules; each is followed by a resync.
    pub rejected: u64,
    /// Inputs that were followed.
    pub inputs: u64,
    /// Datagrams whose state differs from the server's, where the server finds out.
    pub mismatched: u64,
    /// Requests of a resync that were answered.
    pub requests: u64,
    /// Resyncs that were begun.
    pub resyncs: u64,
    /// Resyncs that were finished.
    pub finished: u64,
    /// Datagrams that say nothing, from a client that waits for a resync.
    pub nothing: u64,
    /// States that were sent.
    pub states: u64,
    /// Datagrams that were malformed.
    pub malformed: u64,
}

/// A resync that is not finished.
#[derive(Clone, Copy, Debug)]
struct Resync {
    begun: Instant,
    sent: Option<Instant>,
    /// Whether it is to be sent with the next update, whenever it was sent.
    due: bool,
    /// Whether it was sent more than once, so that the answer tells no round trip.
    repeated: bool,
}

/// How many requests may begin a resync in a second, of a client that is not trusted blindly.
const REQUESTS_PER_SECOND: usize = 4;
/// A request within so long after the resync was sent is a copy, or was under way then.
const AGAIN_MIN: Duration = Duration::from_millis(250);
/// So many inputs may be missing between two datagrams: more than are pressed in a minute in which none gets through.
const MISSING_MAX: u32 = 1024;

/// The server's end of one player in timestamped mode: one for each connection. `T` is the client's clock: leave it out.
///
/// [`receive`](Server::receive) what comes, [`update`](Server::update) at least once per send interval;
/// [`state`](Server::state) is the truth, also for everybody else (Q14).
#[derive(Clone)]
pub struct Server<M: Mover, T: Time = Instant> {
    config: ServerConfig,
    mover: M,
    code: Code<M, T>,
    epoch: u8,
    path: Path<M, T>,
    /// The number of the next input of this epoch that it does not have.
    next_input: u32,
    resync: Option<Resync>,
    spent: TimeSpent,
    divergence: Divergence,
    requests: RateLimit,
    schedule: Schedule,
    retry: Retry,
    offences: Offences,
    stats: ServerStats,
    incoming: Inputs<M, T>,
    bytes: Vec<u8>,
}

impl<M: Mover, T: Time> Server<M, T> {
    /// The end of a player who begins at `now` with this state, in this epoch: the same as the client's (E9).
    ///
    /// # Panics
    /// When the state is an enum of several kinds.
    pub fn new(mover: M, state: M::State, config: ServerConfig, epoch: u8, now: Instant) -> Server<M, T> {
        let budget = match config.trust {
            Trust::Bounded { budget, .. } => budget,
            Trust::Blind => TimeBudget::default(),
        };
        Server {
            config,
            mover,
            code: Code::new(),
            epoch,
            path: Path { at: T::default(), state, held: M::Input::default() },
            next_input: 0,
            resync: None,
            spent: TimeSpent::new(now, budget),
            divergence: Divergence::default(),
            requests: RateLimit::new(REQUESTS_PER_SECOND),
            schedule: Schedule::new(now),
            retry: Retry::new(),
            offences: Offences::default(),
            stats: ServerStats::default(),
            incoming: Inputs::new(),
            bytes: Vec::with_capacity(super::DATAGRAM_MAX),
        }
    }

    /// Takes in a datagram that came at `now`, and follows the path in it at once (Q17).
    ///
    /// # Errors
    /// [`Malformed`] when it is not one of a client's; it is counted and changes nothing.
    pub fn receive(&mut self, now: Instant, datagram: &[u8]) -> Result<(), Malformed> {
        let result = self.read(now, BitReader::new(datagram));
        self.stats.malformed += u64::from(result.is_err());
        result
    }

    fn read(&mut self, now: Instant, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let message = Message::read(&mut reader)?;
        if message == Message::Inputs {
            self.code.stream_inputs(&mut reader, &mut self.incoming)?;
            reader.finish()?;
            self.code.check_state(self.incoming.state.as_ref())?;
            self.take_inputs(now);
            return Ok(());
        }
        let (mut epoch, mut at) = (0, T::default());
        reader.u8(&mut epoch)?;
        if message == Message::Finish {
            at.stream(&mut reader)?;
        }
        reader.finish()?;
        if matches!(message, Message::Request | Message::Finish | Message::Nothing) {
            self.look_for(now, epoch);
        }
        match message {
            Message::Request => self.take_request(now, epoch),
            Message::Finish => self.take_finish(now, epoch, at),
            Message::Nothing => self.stats.nothing += 1,
            _ => return Err(Malformed::OutOfRange("message")),
        }
        Ok(())
    }

    fn take_inputs(&mut self, now: Instant) {
        self.stats.packets += 1;
        if self.resync.is_some() {
            self.stats.discarded += 1;
            self.look_for(now, self.incoming.epoch);
            return;
        }
        if self.incoming.epoch != self.epoch {
            self.stats.stale += 1;
            self.look_for(now, self.incoming.epoch);
            return;
        }
        // What was sent again and is here already.
        let known = self.next_input.saturating_sub(self.incoming.first) as usize;
        let known = known.min(self.incoming.inputs.len());
        self.incoming.inputs.drain(..known);
        for index in 0..self.incoming.inputs.len() {
            if !self.code.is_finite(&self.incoming.inputs[index].input) {
                self.offences.note(Offence::NotFinite);
                self.incoming.inputs[index].input = M::Input::default();
            }
        }
        if matches!(self.config.trust, Trust::Bounded { .. }) && !self.is_allowed(now) {
            return;
        }
        self.divergence.end();
        let (before, target) = (self.path.at, self.incoming.target);
        self.path.follow(&self.mover, &self.incoming.inputs, target);
        self.spent.spend(now, target.duration_since(before));
        self.stats.inputs += self.incoming.inputs.len() as u64;
        let followed = u32::try_from(known + self.incoming.inputs.len()).unwrap_or(u32::MAX);
        self.next_input = self.next_input.max(self.incoming.first.saturating_add(followed));
        self.compare(now);
    }

    /// Holds the inputs to what is allowed. Whether the path may be followed; if not, what follows from that is done.
    fn is_allowed(&mut self, now: Instant) -> bool {
        if self.incoming.target < self.path.at {
            self.stats.stale += 1;
            self.is_of_no_use(now, self.incoming.epoch);
            return false;
        }
        for stamped in &mut self.incoming.inputs {
            if let Some(offence) = self.mover.limit(&mut stamped.input) {
                self.offences.note(offence);
            }
        }
        let limit = self.path.at.later(self.spent.left(now));
        let missing = self.incoming.first.saturating_sub(self.next_input);
        let checked = self.path.check(&self.incoming.inputs, self.incoming.target, Some(limit));
        let offence = checked.err().map(Refused::offence).or((missing > MISSING_MAX).then_some(Offence::Time));
        if let Some(offence) = offence {
            self.stats.rejected += 1;
            self.offences.note(offence);
            self.begin_resync(now);
        }
        offence.is_none()
    }

    /// Where the server finds out: the client's own state against what was made of its inputs (Q13).
    fn compare(&mut self, now: Instant) {
        let Some(theirs) = self.incoming.state.filter(|_| self.config.detect == Detect::Server) else { return };
        let squared = squared_distance(self.position(), self.mover.position(&theirs));
        let agrees = squared < self.config.sqr_tolerance;
        if !agrees {
            self.stats.mismatched += 1;
            self.begin_resync(now);
        }
    }

    /// Something of this epoch has come. In a resync the client may have taken the new one over or not; else there is one,
    /// in which only inputs that are followed say that all is well.
    fn look_for(&mut self, now: Instant, epoch: u8) {
        let is_before = epoch.wrapping_add(1) == self.epoch;
        match self.resync {
            Some(_) if epoch == self.epoch || is_before => self.divergence.end(),
            None if epoch == self.epoch => {}
            _ => self.is_of_no_use(now, epoch),
        }
    }

    /// Something of this epoch has come that can't be followed. If that goes on, the client is there and somebody else has
    /// spoken in its name, or in the server's: all begins anew from the client's own epoch.
    fn is_of_no_use(&mut self, now: Instant, epoch: u8) {
        if self.divergence.goes_on(now, epoch) {
            self.divergence.end();
            (self.epoch, self.resync) = (epoch, None);
            self.begin_resync(now);
        }
    }

    fn take_request(&mut self, now: Instant, epoch: u8) {
        let of_epoch = self.epoch.wrapping_sub(u8::from(self.resync.is_some()));
        if epoch != of_epoch {
            self.stats.stale += 1;
            return;
        }
        if let Some(resync) = &mut self.resync {
            // It has not heard of the answer.
            resync.due |= resync.sent.is_some_and(|sent| now.since(sent) >= AGAIN_MIN);
            return;
        }
        if matches!(self.config.trust, Trust::Bounded { .. }) && !self.requests.allows(now) {
            self.offences.note(Offence::Request);
            return;
        }
        self.stats.requests += 1;
        self.begin_resync(now);
    }

    /// Stops to follow the player and tells them where they are, until they have begun anew from there (Q11). Done by
    /// itself when a client asks, or breaks the rules.
    pub fn begin_resync(&mut self, now: Instant) {
        if self.resync.is_none() {
            self.epoch = self.epoch.wrapping_add(1);
            self.resync = Some(Resync { begun: now, sent: None, due: true, repeated: false });
            self.stats.resyncs += 1;
        }
    }

    fn take_finish(&mut self, now: Instant, epoch: u8, at: T) {
        let Some(resync) = self.resync.filter(|resync| resync.sent.is_some() && epoch == self.epoch) else {
            self.stats.stale += 1;
            return;
        };
        self.resync = None;
        self.stats.finished += 1;
        (self.path.at, self.path.held, self.next_input) = (at, M::Input::default(), 0);
        let from_begin = matches!(self.config.trust, Trust::Bounded { since: Since::Resync, .. });
        self.spent.restart(if from_begin { resync.begun } else { now });
        if let Some(sent) = resync.sent.filter(|_| !resync.repeated) {
            self.retry.measured(now.since(sent));
        }
    }

    /// Sends what is due at `now`.
    pub fn update(&mut self, now: Instant, send: &mut impl FnMut(&[u8])) {
        let is_due = self.schedule.is_due(now, self.config.send_interval);
        let Some(mut resync) = self.resync else {
            if is_due {
                self.stats.states += 1;
                self.write(Message::State, send);
            }
            return;
        };
        if resync.due || self.retry.is_due(resync.sent, now) {
            (resync.due, resync.repeated) = (false, resync.sent.is_some());
            resync.sent = Some(now);
            self.resync = Some(resync);
            self.write(Message::Resync, send);
        } else if is_due {
            // StepOutput, instead of being left out: silence would look like a loss (E8).
            self.write(Message::Nothing, send);
        }
    }

    fn write(&mut self, message: Message, send: &mut impl FnMut(&[u8])) {
        self.bytes.clear();
        let mut writer = BitWriter::new(&mut self.bytes);
        message.write(&mut writer);
        writer.put(u64::from(self.epoch), 8);
        let never = "writing never fails";
        if message == Message::State {
            self.path.at.clone().stream(&mut writer).expect(never);
        }
        if message != Message::Nothing {
            self.code.stream_state(&mut writer, &mut Some(self.path.state)).expect(never);
        }
        send(&self.bytes);
    }
}

/// What can be read in between.
impl<M: Mover, T: Time> Server<M, T> {
    /// The player's state: the truth.
    pub fn state(&self) -> &M::State {
        &self.path.state
    }

    /// Where the player is, in metres.
    pub fn position(&self) -> [f64; 3] {
        self.mover.position(&self.path.state)
    }

    /// How far the player's path was followed.
    pub fn path(&self) -> &Path<M, T> {
        &self.path
    }

    /// Whether a resync has begun that the player has not finished.
    pub fn needs_resync(&self) -> bool {
        self.resync.is_some()
    }

    /// The number of the resyncs so far, modulo 256, from what it was created with on.
    pub fn epoch(&self) -> u8 {
        self.epoch
    }

    /// What was refused or held to what is allowed, and why.
    pub fn offences(&self) -> &Offences {
        &self.offences
    }

    /// How much of the player's time was followed.
    pub fn spent(&self) -> Duration {
        self.spent.spent()
    }

    /// What it has done and got.
    pub fn stats(&self) -> &ServerStats {
        &self.stats
    }

    /// How the player moves.
    pub fn mover_mut(&mut self) -> &mut M {
        &mut self.mover
    }

    /// The player's state, to be changed outside of the movement: a push, a new place. The client finds out, and asks for
    /// a resync.
    pub fn state_mut(&mut self) -> &mut M::State {
        &mut self.path.state
    }
}
