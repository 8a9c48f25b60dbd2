//! The client: moves at once, sends what was pressed when, and compares what the server makes of it (Q7 to Q16).
//!
//! Invariants: an input is sent until the server has it, or a resync makes it void; between the request of a resync and
//! its arrival nothing is sent that would be followed, and nothing compared (Q12); `receive` never moves anything but by
//! a resync.

use super::acks::{AckQueue, Acknowledged};
use super::packet::{Code, Inputs, Message};
use super::schedule::{Retry, Schedule};
use super::{ClientConfig, Detect, Mover, Stamped, Time};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;
use foretell::motion::vector::{scale, squared_distance, sub};
use foretell::motion::{Pose, VisualOffset};
use foretell::time::Instant;
use foretell::wire::{BitReader, BitWriter, Malformed, Stream};

/// What a client has done and got.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClientStats {
    /// Datagrams with inputs that were sent.
    pub packets: u64,
    /// Resyncs that it has asked for, repetitions not counted.
    pub requests: u64,
    /// Resyncs that it has taken over.
    pub resyncs: u64,
    /// Datagrams of another epoch.
    pub other_epoch: u64,
    /// Datagrams that say nothing, from a server that waits for a resync to finish.
    pub nothing: u64,
    /// Inputs that were forgotten before the server had them: too many were pressed while nothing came back.
    pub inputs_forgotten: u64,
    /// Datagrams that were malformed.
    pub malformed: u64,
}

/// What is kept of a time of sending.
#[derive(Clone, Copy, Debug)]
struct Sent<S> {
    state: S,
    /// The number after the last input that went with it.
    inputs_end: u32,
    at: Instant,
}

/// One player's end in timestamped mode. `T` is its clock: leave it out.
///
/// Per frame: [`receive`](Client::receive) what has come, then [`update`](Client::update) with what is pressed, and draw
/// [`shown`](Client::shown).
#[derive(Clone)]
pub struct Client<M: Mover, T: Time = Instant> {
    config: ClientConfig,
    mover: M,
    code: Code<M, T>,
    epoch: u8,
    state: M::State,
    /// Its own time since its start: what inputs are stamped with.
    time: T,
    /// When it was last updated.
    last: Instant,
    /// The input that was recorded last.
    held: M::Input,
    /// Inputs that the server may not have; ascending by time.
    inputs: VecDeque<Stamped<T, M::Input>>,
    /// The number of the first of them in this epoch.
    first: u32,
    acks: AckQueue<T, Sent<M::State>>,
    confirmed: Option<(T, M::State)>,
    need_resync: bool,
    asked: Option<Instant>,
    /// The time at which this epoch began, once it was taken over by a resync.
    finished: Option<T>,
    finish_due: bool,
    /// Whether a state of this epoch has come, so that the server knows when it began.
    is_known: bool,
    schedule: Schedule,
    retry: Retry,
    offset: VisualOffset,
    stats: ClientStats,
    outgoing: Inputs<M, T>,
    bytes: Vec<u8>,
}

impl<M: Mover> Client<M, Instant> {
    /// A frame: `input` is held from the last update until `now`. Datagrams go to `send`.
    pub fn update(&mut self, now: Instant, input: M::Input, send: &mut impl FnMut(&[u8])) {
        let length = now.since(self.last);
        self.frame(now, length, input, send);
    }
}

impl<M: Mover, T: Time> Client<M, T> {
    /// A client that begins at `now` with the state and in the epoch that its server begins with (E9). The server has to
    /// be there first: its clock must not begin after the client's.
    ///
    /// # Panics
    /// When the state is an enum of several kinds.
    pub fn new(mover: M, state: M::State, config: ClientConfig, epoch: u8, now: Instant) -> Client<M, T> {
        let code = Code::new();
        Client {
            inputs: VecDeque::with_capacity(code.inputs_max() + 1),
            code,
            config,
            mover,
            epoch,
            state,
            time: T::default(),
            last: now,
            held: M::Input::default(),
            first: 0,
            acks: AckQueue::new(config.sqr_tolerance),
            confirmed: None,
            need_resync: false,
            asked: None,
            finished: None,
            finish_due: false,
            is_known: true,
            schedule: Schedule::new(now),
            retry: Retry::new(),
            offset: VisualOffset::NONE,
            stats: ClientStats::default(),
            outgoing: Inputs::new(),
            bytes: Vec::with_capacity(super::DATAGRAM_MAX),
        }
    }

    /// Takes in a datagram that came at `now`.
    ///
    /// # Errors
    /// [`Malformed`] when it is not one of a server's; it is counted and changes nothing.
    pub fn receive(&mut self, now: Instant, datagram: &[u8]) -> Result<(), Malformed> {
        let result = self.read(now, BitReader::new(datagram));
        self.stats.malformed += u64::from(result.is_err());
        result
    }

    fn read(&mut self, now: Instant, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let message = Message::read(&mut reader)?;
        let (mut epoch, mut at, mut state) = (0, T::default(), None);
        reader.u8(&mut epoch)?;
        match message {
            Message::Nothing => {}
            Message::State => {
                at.stream(&mut reader)?;
                self.code.stream_state(&mut reader, &mut state)?;
            }
            Message::Resync => self.code.stream_state(&mut reader, &mut state)?,
            _ => return Err(Malformed::OutOfRange("message")),
        }
        reader.finish()?;
        self.code.check_state(state.as_ref())?;
        match (message, state) {
            (Message::State, Some(state)) => self.take_state(now, epoch, at, state),
            (Message::Resync, Some(state)) => self.take_resync(epoch, state),
            _ => self.stats.nothing += 1,
        }
        Ok(())
    }

    /// Compares with what was stored for the same time (Q10).
    fn take_state(&mut self, now: Instant, epoch: u8, at: T, state: M::State) {
        if epoch != self.epoch {
            self.stats.other_epoch += 1;
            return;
        }
        self.is_known = true;
        if at > self.time {
            // Nobody can know of it yet.
            self.acks.stats.missing_ack += 1;
            return;
        }
        if self.confirmed.is_none_or(|(newest, _)| newest <= at) {
            self.confirmed = Some((at, state));
        }
        if self.need_resync {
            self.acks.stats.ignored_need += 1;
            return;
        }
        let (mover, theirs) = (&self.mover, self.mover.position(&state));
        let (outcome, sent) = self.acks.acknowledge(at, |sent| squared_distance(mover.position(&sent.state), theirs));
        let Some(sent) = sent else { return };
        self.retry.measured(now.since(sent.at));
        let has = sent.inputs_end.saturating_sub(self.first) as usize;
        self.inputs.drain(..has.min(self.inputs.len()));
        self.first = self.first.max(sent.inputs_end);
        if outcome == Acknowledged::Differs && self.config.detect == Detect::Client {
            self.request_resync();
        }
    }

    /// Asks the server for its state, to begin anew from it. Done by itself when a position differs.
    pub fn request_resync(&mut self) {
        if !self.need_resync {
            (self.need_resync, self.asked) = (true, None);
            self.stats.requests += 1;
        }
    }

    /// Adopts the server's state, once per epoch; says that it has until a state of that epoch comes, and as often as it
    /// is told (D5).
    fn take_resync(&mut self, epoch: u8, state: M::State) {
        // A server begins no second resync before the first is finished, so that there is only the next one.
        let newer = epoch.wrapping_sub(self.epoch);
        if newer > 1 || newer == 0 && self.finished.is_none() {
            self.stats.other_epoch += 1;
            return;
        }
        self.finish_due = true;
        if newer == 0 {
            return;
        }
        let before = self.offset.shown(Pose::at(self.position()));
        (self.epoch, self.state, self.need_resync) = (epoch, state, false);
        self.finished = Some(self.time);
        // What is held is pressed anew, at the new time (D6).
        self.held = M::Input::default();
        (self.first, self.is_known) = (0, false);
        self.inputs.clear();
        self.acks.clear();
        self.confirmed = Some((self.time, state));
        self.offset = VisualOffset::capture(before, Pose::at(self.position()), 0.0, &self.config.correction).0;
        self.stats.resyncs += 1;
    }

    /// A frame of this length by the client's own clock: [`update`](Client::update) for clocks that are not `now`.
    pub fn frame(&mut self, now: Instant, length: T::Span, input: M::Input, send: &mut impl FnMut(&[u8])) {
        self.last = self.last.max(now);
        if input != self.held {
            self.held = input;
            self.record(input);
        }
        let before = self.position();
        let seconds = T::span_seconds(length);
        self.mover.advance(&mut self.state, input, seconds);
        self.time = self.time.after(length);
        if !self.offset.is_none() {
            let velocity = if seconds > 0.0 { scale(sub(self.position(), before), 1.0 / seconds) } else { [0.0; 3] };
            let passed = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
            self.offset = self.offset.decayed(passed, velocity, &self.config.correction);
        }
        self.send(now, send);
    }

    /// An input is worth a record only where it changes (Q16), and while somebody is going to follow it.
    fn record(&mut self, input: M::Input) {
        if self.need_resync {
            return;
        }
        self.inputs.push_back(Stamped { at: self.time, input });
        if self.inputs.len() > self.code.inputs_max() {
            self.inputs.pop_front();
            self.first = self.first.saturating_add(1);
            self.stats.inputs_forgotten += 1;
        }
    }

    fn send(&mut self, now: Instant, send: &mut impl FnMut(&[u8])) {
        let is_due = self.schedule.is_due(now, self.config.send_interval);
        let says_again = is_due && !self.is_known && !self.need_resync;
        if (core::mem::take(&mut self.finish_due) || says_again)
            && let Some(mut at) = self.finished
        {
            self.write(Message::Finish, send, |stream, _| at.stream(stream));
        }
        if self.need_resync && self.retry.is_due(self.asked, now) {
            self.asked = Some(now);
            self.write(Message::Request, send, |_, _| Ok(()));
        }
        if !is_due {
            return;
        }
        if self.need_resync {
            // StepOutput, instead of being left out: silence would look like a loss (E8).
            self.write(Message::Nothing, send, |_, _| Ok(()));
        } else {
            self.send_inputs(now, send);
        }
    }

    fn send_inputs(&mut self, now: Instant, send: &mut impl FnMut(&[u8])) {
        let inputs_end = self.first.saturating_add(u32::try_from(self.inputs.len()).unwrap_or(u32::MAX));
        self.outgoing.epoch = self.epoch;
        self.outgoing.target = self.time;
        self.outgoing.state = (self.config.detect == Detect::Server).then_some(self.state);
        self.outgoing.first = self.first;
        self.outgoing.inputs.clear();
        self.outgoing.inputs.extend(&self.inputs);
        self.bytes.clear();
        let mut writer = BitWriter::new(&mut self.bytes);
        Message::Inputs.write(&mut writer);
        self.code.stream_inputs(&mut writer, &mut self.outgoing).expect("writing never fails");
        send(&self.bytes);
        self.stats.packets += 1;
        if !self.config.repeat_inputs {
            (self.first, _) = (inputs_end, self.inputs.clear());
        }
        self.acks.push(self.time, Sent { state: self.state, inputs_end, at: now });
    }

    fn write(
        &mut self,
        message: Message,
        send: &mut impl FnMut(&[u8]),
        rest: impl FnOnce(&mut BitWriter<'_>, &Code<M, T>) -> Result<(), Malformed>,
    ) {
        self.bytes.clear();
        let mut writer = BitWriter::new(&mut self.bytes);
        message.write(&mut writer);
        writer.put(u64::from(self.epoch), 8);
        rest(&mut writer, &self.code).expect("writing never fails");
        send(&self.bytes);
    }
}

/// What can be read in between.
impl<M: Mover, T: Time> Client<M, T> {
    /// Its own state, as of the last frame.
    pub fn state(&self) -> &M::State {
        &self.state
    }

    /// Where it is, in metres.
    pub fn position(&self) -> [f64; 3] {
        self.mover.position(&self.state)
    }

    /// Where it is to be drawn: as `position`, but that the jump of a resync vanishes in time instead of being seen.
    pub fn shown(&self) -> [f64; 3] {
        self.offset.shown(Pose::at(self.position())).position
    }

    /// Its own clock.
    pub fn time(&self) -> T {
        self.time
    }

    /// The newest state of the server's in this epoch, and of which time it is: what a client shows that does not
    /// predict.
    pub fn confirmed(&self) -> Option<&(T, M::State)> {
        self.confirmed.as_ref()
    }

    /// Whether it has asked for a resync and waits for it.
    pub fn needs_resync(&self) -> bool {
        self.need_resync
    }

    /// The number of the resyncs so far, modulo 256, from what it was created with on.
    pub fn epoch(&self) -> u8 {
        self.epoch
    }

    /// How many inputs it keeps to send, or to send again.
    pub fn inputs_waiting(&self) -> usize {
        self.inputs.len()
    }

    /// The times at which it has sent and has heard nothing of yet, ascending.
    pub fn times_waiting(&self) -> impl ExactSizeIterator<Item = T> {
        self.acks.waiting()
    }

    /// What came back for them.
    pub fn ack_stats(&self) -> &super::AckStats {
        &self.acks.stats
    }

    /// What it has done and got.
    pub fn stats(&self) -> &ClientStats {
        &self.stats
    }

    /// The time from sending until the answer, smoothed; 300 ms before the first. The server's waiting is in it.
    pub fn round_trip(&self) -> Duration {
        self.retry.round_trip()
    }

    /// How it moves.
    pub fn mover_mut(&mut self) -> &mut M {
        &mut self.mover
    }

    /// Its state, to be changed outside of the movement. What the server does not do likewise ends in a resync.
    pub fn state_mut(&mut self) -> &mut M::State {
        &mut self.state
    }
}
