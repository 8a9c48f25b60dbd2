//! What travels in timestamped mode (PROTOCOL.md, section 9): one function per message, for both directions.
//!
//! Invariants: what is read allocates nothing beyond [`INPUTS_MAX`] inputs, whatever it claims; a time, a state or an input
//! that is not finite does not get in.

use super::{Mover, Stamped, Time};
use alloc::vec::Vec;
use core::marker::PhantomData;
use foretell::wire::{Malformed, Stream, stream_change};
use foretell::world::{Column, ComponentSchema, Input, ROW_WORDS_MAX, State, word_bits};

/// No datagram is longer than this.
pub const DATAGRAM_MAX: usize = 1150;
/// A datagram holds at most so many inputs, and fewer where they are large.
pub const INPUTS_MAX: usize = 64;

/// The first field of every datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Message {
    Inputs = 0,
    Request = 1,
    Finish = 2,
    Nothing = 3,
    State = 4,
    Resync = 5,
}

impl Message {
    const ALL: [Message; 6] =
        [Message::Inputs, Message::Request, Message::Finish, Message::Nothing, Message::State, Message::Resync];

    pub(super) fn write(self, stream: &mut impl Stream) {
        stream.bits(&mut (self as u64), 3).expect("writing never fails");
    }

    pub(super) fn read(stream: &mut impl Stream) -> Result<Message, Malformed> {
        let mut number = 0;
        stream.bits(&mut number, 3)?;
        Message::ALL.into_iter().find(|message| *message as u64 == number).ok_or(Malformed::OutOfRange("message"))
    }
}

/// What a client sends: everything since the last time that the server is known to have (Q7).
#[derive(Clone, Debug)]
pub(super) struct Inputs<M: Mover, T: Time> {
    pub epoch: u8,
    /// When it was sent, on the client's clock.
    pub target: T,
    /// Where the client was then, if the server is to find out whether that is right (Q13).
    pub state: Option<M::State>,
    /// The number of the first input.
    pub first: u32,
    /// Ascending by time; `len <= INPUTS_MAX`.
    pub inputs: Vec<Stamped<T, M::Input>>,
}

impl<M: Mover, T: Time> Inputs<M, T> {
    pub(super) fn new() -> Inputs<M, T> {
        let inputs = Vec::with_capacity(INPUTS_MAX);
        Inputs { epoch: 0, target: T::default(), state: None, first: 0, inputs }
    }
}

/// How inputs and states of a game look in bits.
#[derive(Clone, Debug)]
pub(super) struct Code<M, T> {
    state: ComponentSchema,
    state_bits: Vec<u8>,
    input: Vec<Column>,
    input_bits: Vec<u8>,
    of: PhantomData<fn() -> (M, T)>,
}

/// The fields of a datagram of inputs beside state and inputs, at most.
const HEAD_BITS: usize = 3 + 8 + 64 + 1 + 41 + 41;
/// A time and the bit that says whether the input has changed, at most.
const STAMP_BITS: usize = 65;

impl<M: Mover, T: Time> Code<M, T> {
    /// # Panics
    /// When the state is not of one component.
    pub(super) fn new() -> Code<M, T> {
        assert!(M::State::COMPONENTS == 1, "a state of timestamped mode is a struct of one audience: one component");
        let (state, input) = (M::State::components().remove(0), M::Input::columns());
        let (state_bits, input_bits) = (state.word_bits(), word_bits(input.iter()));
        Code { state, state_bits, input, input_bits, of: PhantomData }
    }

    /// How many inputs fit into a datagram, whatever they are: at least one.
    pub(super) fn inputs_max(&self) -> usize {
        let bits = |widths: &[u8]| widths.iter().map(|bits| usize::from(*bits)).sum::<usize>();
        let left = DATAGRAM_MAX * 8 - HEAD_BITS - bits(&self.state_bits);
        (left / (STAMP_BITS + bits(&self.input_bits))).min(INPUTS_MAX)
    }

    /// A state. It is read from `state` when written.
    pub(super) fn stream_state(&self, stream: &mut impl Stream, state: &mut Option<M::State>) -> Result<(), Malformed> {
        let mut words = [0; ROW_WORDS_MAX];
        let words = &mut words[..self.state_bits.len()];
        if let Some(state) = state {
            state.write(0, words);
        }
        for (word, width) in words.iter_mut().zip(&self.state_bits) {
            let mut bits = u64::from(*word);
            stream.bits(&mut bits, u32::from(*width))?;
            *word = u32::try_from(bits).map_err(|_| Malformed::OutOfRange("state"))?;
        }
        *state = M::State::read(0, words);
        Ok(())
    }

    /// A state that was read is made of finite numbers.
    pub(super) fn check_state(&self, state: Option<&M::State>) -> Result<(), Malformed> {
        let Some(state) = state else { return Ok(()) };
        let mut words = [0; ROW_WORDS_MAX];
        let words = &mut words[..self.state_bits.len()];
        state.write(0, words);
        let finite = self.state.fields(words).all(|(column, words)| is_finite(column, words));
        if finite { Ok(()) } else { Err(Malformed::OutOfRange("state")) }
    }

    /// All of it after the number of the message.
    pub(super) fn stream_inputs(&self, stream: &mut impl Stream, of: &mut Inputs<M, T>) -> Result<(), Malformed> {
        stream.u8(&mut of.epoch)?;
        of.target.stream(stream)?;
        let mut with_state = of.state.is_some();
        stream.bool(&mut with_state)?;
        if with_state {
            self.stream_state(stream, &mut of.state)?;
        } else {
            of.state = None;
        }
        stream.small(&mut of.first)?;
        let mut count = u32::try_from(of.inputs.len()).unwrap_or(u32::MAX);
        stream.small(&mut count)?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > INPUTS_MAX {
            return Err(Malformed::OutOfRange("count of inputs"));
        }
        of.inputs.resize(count, Stamped::default());
        let (mut before, mut words) = ([0; ROW_WORDS_MAX], [0; ROW_WORDS_MAX]);
        let len = self.input_bits.len();
        M::Input::default().write(&mut before[..len]);
        for stamped in &mut of.inputs {
            stamped.at.stream_before(stream, of.target)?;
            stamped.input.write(&mut words[..len]);
            stream_change(stream, &self.input_bits, &before[..len], &mut words[..len])?;
            stamped.input = M::Input::read(&words[..len]);
            before = words;
        }
        Ok(())
    }

    /// Whether every floating-point field of an input is a finite number.
    pub(super) fn is_finite(&self, input: &M::Input) -> bool {
        let mut words = [0; ROW_WORDS_MAX];
        input.write(&mut words[..self.input_bits.len()]);
        let mut at = 0;
        self.input.iter().all(|column| {
            let of_column = &words[at..at + column.words()];
            at += column.words();
            is_finite(column, of_column)
        })
    }
}

fn is_finite(column: &Column, words: &[u32]) -> bool {
    !column.scalar.is_float() || (0..usize::from(column.lanes)).all(|lane| column.lane(words, lane).is_finite())
}
