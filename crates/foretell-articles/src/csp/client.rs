//! The client of one player: predicts, compares, rewinds and replays (R2, R14, R23).

use super::packet::{Code, Inputs};
use super::{TICK_RATE, TICK_S, since_state};
use crate::timestamped::Mover;
use alloc::vec::Vec;
use foretell::math::f64::sqrt;
use foretell::motion::vector::squared_distance;
use foretell::motion::{Correction, Pose, VisualOffset};
use foretell::wire::{BitReader, BitWriter, Malformed};
use foretell::{Instant, Tick};

/// How many ticks of states and inputs it remembers: 16 s (R14).
pub const HISTORY_TICKS: u32 = 16 * TICK_RATE.get() as u32;

/// Further apart than this, squared and in metres, a prediction was wrong (R14).
const TOLERANCE_SQR_M: f64 = 1e-7;

/// What the client decides by itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClientConfig {
    /// Which inputs a datagram repeats. Default all since the last state.
    pub redundancy: Redundancy,
    /// What it does where a prediction was wrong.
    pub reconciliation: Reconciliation,
    /// How corrections are hidden (R23); `None` shows them as they are. Default [`Correction::article`].
    pub correction: Option<Correction>,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        ClientConfig {
            redundancy: Redundancy::SinceState { limit: None },
            reconciliation: Reconciliation::default(),
            correction: Some(Correction::article()),
        }
    }
}

/// Which inputs a datagram carries besides the newest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Redundancy {
    /// None: a lost datagram's inputs are lost.
    None,
    /// All from the tick of the last received state on (R16), at most `limit` (R17).
    SinceState {
        /// The most inputs in a datagram; `None` for as many as are remembered.
        limit: Option<u32>,
    },
}

/// What happens when a prediction was wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Reconciliation {
    /// Nothing: the client keeps its own state. What prediction alone does.
    Off,
    /// The server's state is adopted, and the inputs since then are simulated again (R2, R14).
    #[default]
    Rollback,
    /// The same, for every state that comes, whether it differs or not (F2).
    AlwaysRollback,
    /// The server's state is adopted as the present one: the body jumps back by a round trip.
    Snap,
}

/// A prediction that was wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Corrected {
    /// At the start of which tick the two states were.
    pub tick: Tick,
    /// How far apart they were, in metres.
    pub misprediction_m: f64,
    /// How many ticks were simulated again.
    pub resimulated: u32,
    /// Whether it is shown as a jump, as it was too far to hide.
    pub snapped: bool,
}

/// Counts, since the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClientStats {
    /// How many datagrams it has sent.
    pub datagrams_sent: u64,
    /// How many inputs were in them.
    pub inputs_sent: u64,
    /// How many states it has compared.
    pub compared: u64,
    /// How many it has taken over.
    pub corrections: u64,
    /// How many of these were shown as a jump.
    pub snaps: u64,
    /// How many ticks it has simulated again.
    pub resimulated: u64,
    /// The most ticks that it went back at once.
    pub rewind_ticks_max: u32,
}

/// The client of one player. For each tick call [`tick`](Client::tick), then [`receive`](Client::receive) for each datagram
/// that has come, then [`reconcile`](Client::reconcile).
#[derive(Clone, Debug)]
pub struct Client<M: Mover> {
    mover: M,
    config: ClientConfig,
    code: Code<M>,
    /// The states at the start of the last ticks, and the inputs in them, by tick modulo [`HISTORY_TICKS`].
    states: Vec<M::State>,
    inputs: Vec<M::Input>,
    /// The next tick to simulate.
    present: Tick,
    /// The newest state that has come and is not compared.
    newest: Option<(Tick, M::State)>,
    /// The tick of the one that was compared last, and the state itself.
    compared: Tick,
    compared_state: Option<M::State>,
    offset: VisualOffset,
    offset_at: Instant,
    message: Inputs<M::Input>,
    stats: ClientStats,
}

impl<M: Mover> Client<M> {
    /// A client whose body is in `state` at the start of tick 0, as its server's is.
    ///
    /// # Panics
    /// When the state is not of one kind.
    pub fn new(mover: M, config: ClientConfig, state: M::State) -> Client<M> {
        Client {
            mover,
            config,
            code: Code::new(),
            states: vec![state; HISTORY_TICKS as usize],
            inputs: vec![M::Input::default(); HISTORY_TICKS as usize],
            present: Tick::ZERO,
            newest: None,
            compared: Tick::ZERO,
            compared_state: None,
            offset: VisualOffset::NONE,
            offset_at: Instant::ZERO,
            message: Inputs { first: Tick::ZERO, inputs: Vec::with_capacity(HISTORY_TICKS as usize) },
            stats: ClientStats::default(),
        }
    }

    /// Simulates a tick with this input, and appends the datagram that tells it.
    pub fn tick(&mut self, input: M::Input, datagram: &mut Vec<u8>) {
        let tick = self.present;
        self.inputs[slot(tick)] = input;
        self.step(tick);
        self.present = tick.next();
        let (first, count) = match self.config.redundancy {
            Redundancy::None => (tick, 1),
            Redundancy::SinceState { limit } => {
                let limit = limit.unwrap_or(HISTORY_TICKS - 1).clamp(1, HISTORY_TICKS - 1);
                since_state(self.compared, tick, Some(limit))
            }
        };
        self.message.first = first;
        self.message.inputs.clear();
        self.message.inputs.extend(first.until(self.present).map(|tick| self.inputs[slot(tick)]));
        self.code.stream_inputs(&mut BitWriter::new(datagram), &mut self.message).expect("writing never fails");
        self.stats.datagrams_sent += 1;
        self.stats.inputs_sent += u64::from(count);
    }

    /// Takes in a state of the server's: only the newest counts.
    ///
    /// # Errors
    /// [`Malformed`] when it is none; then nothing changes.
    pub fn receive(&mut self, datagram: &[u8]) -> Result<(), Malformed> {
        let mut reader = BitReader::new(datagram);
        let (mut tick, mut state) = (Tick::ZERO, self.states[0]);
        self.code.stream_state(&mut reader, &mut tick, &mut state)?;
        reader.finish()?;
        let known = self.newest.map_or(self.compared, |(newest, _)| newest);
        let is_remembered = self.present.since(tick) < HISTORY_TICKS;
        if tick > known && tick <= self.present && is_remembered {
            self.newest = Some((tick, state));
        }
        Ok(())
    }

    /// Compares the newest state that has come with the prediction of its tick, at `now`, and does what is to be done where
    /// they differ.
    pub fn reconcile(&mut self, now: Instant) -> Option<Corrected> {
        let (tick, state) = self.newest.take()?;
        self.compared = tick;
        self.compared_state = Some(state);
        self.stats.compared += 1;
        let (theirs, ours) = (self.mover.position(&state), self.mover.position(&self.states[slot(tick)]));
        let apart = squared_distance(theirs, ours);
        let differs = apart > TOLERANCE_SQR_M;
        match self.config.reconciliation {
            Reconciliation::AlwaysRollback => {}
            _ if !differs => return None,
            Reconciliation::Off => return None,
            Reconciliation::Rollback | Reconciliation::Snap => {}
        }
        let shown = self.shown(now);
        let resimulated = self.adopt(tick, state);
        let snapped = self.hide(now, shown);
        self.stats.corrections += 1;
        self.stats.snaps += u64::from(snapped);
        self.stats.resimulated += u64::from(resimulated);
        self.stats.rewind_ticks_max = self.stats.rewind_ticks_max.max(resimulated);
        Some(Corrected { tick, misprediction_m: sqrt(apart), resimulated, snapped })
    }

    /// Takes over the server's state of `tick`. Returns how many ticks were simulated again.
    fn adopt(&mut self, tick: Tick, state: M::State) -> u32 {
        if self.config.reconciliation == Reconciliation::Snap {
            self.states[slot(self.present)] = state;
            return 0;
        }
        self.states[slot(tick)] = state;
        tick.until(self.present).for_each(|tick| self.step(tick));
        self.present.since(tick)
    }

    /// Goes on from the state at the start of `tick` with the input that is remembered.
    fn step(&mut self, tick: Tick) {
        let mut state = self.states[slot(tick)];
        self.mover.advance(&mut state, self.inputs[slot(tick)], TICK_S);
        self.states[slot(tick.next())] = state;
    }

    /// From `shown` on what is shown goes over to what is simulated. Whether it jumps.
    fn hide(&mut self, now: Instant, shown: [f64; 3]) -> bool {
        let Some(correction) = self.config.correction else { return false };
        let simulated = Pose::at(self.mover.position(self.state()));
        let (offset, snapped) = VisualOffset::capture(Pose::at(shown), simulated, 0.0, &correction);
        (self.offset, self.offset_at) = (offset, now);
        snapped
    }

    /// Where the body is shown at `now`, in metres: where it is, and what is left of the corrections.
    pub fn shown(&self, now: Instant) -> [f64; 3] {
        let simulated = Pose::at(self.mover.position(self.state()));
        let Some(correction) = self.config.correction else { return simulated.position };
        self.offset.decayed(now.since(self.offset_at), [0.0; 3], &correction).shown(simulated).position
    }

    /// The body at the start of the next tick.
    pub fn state(&self) -> &M::State {
        &self.states[slot(self.present)]
    }

    /// The body at the start of `tick`; `None` where that is not remembered, or yet to come.
    pub fn predicted(&self, tick: Tick) -> Option<&M::State> {
        let is_remembered = tick <= self.present && self.present.since(tick) < HISTORY_TICKS;
        is_remembered.then(|| &self.states[slot(tick)])
    }

    /// The newest state of the server's that was compared, and at the start of which tick it is (R12); `None` before the
    /// first.
    pub fn snapshot(&self) -> Option<(Tick, &M::State)> {
        Some((self.compared, self.compared_state.as_ref()?))
    }

    /// The next tick to simulate.
    pub fn present(&self) -> Tick {
        self.present
    }

    /// What it decides by; may change at any time.
    pub fn config_mut(&mut self) -> &mut ClientConfig {
        &mut self.config
    }

    /// Its counts.
    pub fn stats(&self) -> ClientStats {
        self.stats
    }
}

fn slot(tick: Tick) -> usize {
    (tick.get() % HISTORY_TICKS) as usize
}
