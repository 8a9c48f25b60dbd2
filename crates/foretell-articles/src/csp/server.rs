//! The server of one player: stepped by the inputs that arrive (R8, R18, R19).

use super::packet::{Code, INPUTS_MAX, Inputs};
use super::{ArrivalPlan, TICK_RATE, TICK_S};
use crate::timestamped::Mover;
use alloc::vec::Vec;
use foretell::wire::{BitReader, BitWriter, Malformed};
use foretell::{SendRate, Tick};

/// What the server decides by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerConfig {
    /// How often a state is sent, in steps that are simulated rather than by a clock (R22, D25). Default after each.
    pub snapshot_rate: SendRate,
    /// What it does with ticks whose inputs never come. Default [`GapPolicy::Skip`], the article's.
    pub gap: GapPolicy,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig { snapshot_rate: SendRate::EveryTick, gap: GapPolicy::Skip }
    }
}

/// What happens in ticks without an input, before one that has come (R19).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum GapPolicy {
    /// They are not simulated: the player's time jumps.
    Skip,
    /// The last input that has come counts on.
    Repeat,
    /// A step without an input.
    Neutral,
}

/// Counts, since the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServerStats {
    /// How many steps it has simulated.
    pub steps: u64,
    /// In how many ticks there was no input.
    pub inputs_missed: u64,
    /// How many states it has sent.
    pub states: u64,
}

/// The server of one player. Call [`receive`](Server::receive) for each datagram, then [`update`](Server::update).
#[derive(Clone, Debug)]
pub struct Server<M: Mover> {
    mover: M,
    config: ServerConfig,
    code: Code<M>,
    state: M::State,
    /// The next tick to simulate, and the one that is waited for after all that has come: `next <= planned`.
    next: Tick,
    planned: Tick,
    /// The inputs from `next` on that wait, by tick modulo their number; `len == INPUTS_MAX`.
    waiting: Vec<Option<(Tick, M::Input)>>,
    last: M::Input,
    message: Inputs<M::Input>,
    datagram: Vec<u8>,
    stats: ServerStats,
}

impl<M: Mover> Server<M> {
    /// A server that waits for the input of tick 0, with the body in `state`.
    ///
    /// # Panics
    /// When the state is not of one kind.
    pub fn new(mover: M, config: ServerConfig, state: M::State) -> Server<M> {
        Server {
            mover,
            config,
            code: Code::new(),
            state,
            next: Tick::ZERO,
            planned: Tick::ZERO,
            waiting: vec![None; INPUTS_MAX],
            last: M::Input::default(),
            message: Inputs { first: Tick::ZERO, inputs: Vec::with_capacity(INPUTS_MAX) },
            datagram: Vec::new(),
            stats: ServerStats::default(),
        }
    }

    /// Takes in a datagram of inputs: which of them are new, and how many are missing before them (R18).
    ///
    /// # Errors
    /// [`Malformed`] when it is none; then nothing changes.
    pub fn receive(&mut self, datagram: &[u8]) -> Result<(), Malformed> {
        let mut reader = BitReader::new(datagram);
        self.code.stream_inputs(&mut reader, &mut self.message)?;
        reader.finish()?;
        let Inputs { first, inputs } = &self.message;
        let count = u32::try_from(inputs.len()).unwrap_or(u32::MAX);
        let Some(plan) = ArrivalPlan::of(self.planned, *first, count) else { return Ok(()) };
        let room = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        if plan.next.since(self.next) > room {
            // A gap that is longer than what is waited for is not simulated.
            self.next = plan.first;
        }
        self.stats.inputs_missed += u64::from(plan.gap);
        self.planned = plan.next;
        for (tick, input) in first.until(plan.next).zip(inputs) {
            if tick >= self.next {
                let slot = slot(tick);
                self.waiting[slot] = Some((tick, *input));
            }
        }
        Ok(())
    }

    /// A step for each input that has come, and what the gap policy makes of the missing ones before it. `before` may
    /// change the body before the step of a tick, as the server alone does; `send` gets each datagram.
    pub fn update(&mut self, before: &mut dyn FnMut(Tick, &mut M::State), send: &mut dyn FnMut(&[u8])) {
        while self.next < self.planned {
            let tick = self.next;
            self.next = tick.next();
            let Some(input) = self.input(tick) else { continue };
            before(tick, &mut self.state);
            self.mover.advance(&mut self.state, input, TICK_S);
            self.stats.steps += 1;
            if self.stats.steps.is_multiple_of(u64::from(self.config.snapshot_rate.interval_ticks(TICK_RATE))) {
                self.send_state(send);
            }
        }
    }

    /// What a tick is simulated with; `None` where it is not simulated at all.
    fn input(&mut self, tick: Tick) -> Option<M::Input> {
        let came = self.waiting[slot(tick)].take_if(|(of, _)| *of == tick);
        if let Some((_, input)) = came {
            self.last = input;
            return Some(input);
        }
        match self.config.gap {
            GapPolicy::Skip => None,
            GapPolicy::Repeat => Some(self.last),
            GapPolicy::Neutral => Some(M::Input::default()),
        }
    }

    fn send_state(&mut self, send: &mut dyn FnMut(&[u8])) {
        self.datagram.clear();
        let (mut tick, mut state) = (self.next, self.state);
        let mut writer = BitWriter::new(&mut self.datagram);
        self.code.stream_state(&mut writer, &mut tick, &mut state).expect("writing never fails");
        self.stats.states += 1;
        send(&self.datagram);
    }

    /// The body at the start of the next tick.
    pub fn state(&self) -> &M::State {
        &self.state
    }

    /// The next tick that it waits for.
    pub fn next(&self) -> Tick {
        self.next
    }

    /// What it decides by; may change at any time.
    pub fn config_mut(&mut self) -> &mut ServerConfig {
        &mut self.config
    }

    /// Its counts.
    pub fn stats(&self) -> ServerStats {
        self.stats
    }
}

fn slot(tick: Tick) -> usize {
    tick.get() as usize % INPUTS_MAX
}
