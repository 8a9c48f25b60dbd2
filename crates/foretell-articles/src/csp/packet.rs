//! What travels: a message of inputs, and one of a state. One function for both directions each.
//!
//! Invariant: what is read allocates nothing beyond [`INPUTS_MAX`] inputs, whatever it claims.

use crate::timestamped::Mover;
use alloc::vec::Vec;
use core::marker::PhantomData;
use foretell::Tick;
use foretell::wire::{Malformed, Stream, stream_change};
use foretell::world::{Input, ROW_WORDS_MAX, State, word_bits};

/// A message holds at most so many inputs: as many as a client remembers.
pub const INPUTS_MAX: usize = 1024;

/// What a client sends: the inputs of consecutive ticks (R16).
#[derive(Clone, Debug)]
pub(super) struct Inputs<I> {
    /// The tick of the first of them.
    pub first: Tick,
    /// Ascending by tick.
    pub inputs: Vec<I>,
}

/// How inputs and states of a game look in bits.
#[derive(Clone, Debug)]
pub(super) struct Code<M> {
    state_bits: Vec<u8>,
    input_bits: Vec<u8>,
    of: PhantomData<fn() -> M>,
}

impl<M: Mover> Code<M> {
    /// # Panics
    /// When the state is not of one component.
    pub(super) fn new() -> Code<M> {
        assert!(M::State::COMPONENTS == 1, "the state of a body is a struct of one audience: one component");
        let state_bits = M::State::components()[0].word_bits();
        Code { state_bits, input_bits: word_bits(M::Input::columns().iter()), of: PhantomData }
    }

    pub(super) fn stream_inputs(&self, stream: &mut impl Stream, of: &mut Inputs<M::Input>) -> Result<(), Malformed> {
        stream_tick(stream, &mut of.first)?;
        let mut count = u32::try_from(of.inputs.len()).unwrap_or(u32::MAX);
        stream.small(&mut count)?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count == 0 || count > INPUTS_MAX {
            return Err(Malformed::OutOfRange("count of inputs"));
        }
        of.inputs.resize(count, M::Input::default());
        let (mut before, mut words) = ([0; ROW_WORDS_MAX], [0; ROW_WORDS_MAX]);
        let len = self.input_bits.len();
        M::Input::default().write(&mut before[..len]);
        for input in &mut of.inputs {
            input.write(&mut words[..len]);
            stream_change(stream, &self.input_bits, &before[..len], &mut words[..len])?;
            *input = M::Input::read(&words[..len]);
            before = words;
        }
        Ok(())
    }

    /// A state, and at the start of which tick it is.
    pub(super) fn stream_state(
        &self,
        stream: &mut impl Stream,
        tick: &mut Tick,
        state: &mut M::State,
    ) -> Result<(), Malformed> {
        stream_tick(stream, tick)?;
        let mut words = [0; ROW_WORDS_MAX];
        let words = &mut words[..self.state_bits.len()];
        state.write(0, words);
        for (word, width) in words.iter_mut().zip(&self.state_bits) {
            let mut bits = u64::from(*word);
            stream.bits(&mut bits, u32::from(*width))?;
            *word = u32::try_from(bits).map_err(|_| Malformed::OutOfRange("state"))?;
        }
        *state = M::State::read(0, words).ok_or(Malformed::OutOfRange("state"))?;
        Ok(())
    }
}

/// Ticks that are read leave room to count on.
fn stream_tick(stream: &mut impl Stream, tick: &mut Tick) -> Result<(), Malformed> {
    let mut number = tick.get();
    stream.u32(&mut number)?;
    if number > u32::MAX / 2 {
        return Err(Malformed::OutOfRange("tick"));
    }
    *tick = Tick::new(number);
    Ok(())
}
