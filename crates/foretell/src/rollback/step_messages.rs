//! The own messages that are part of steps, by tick.

use crate::time::Tick;
use crate::world::ReceivedMessage;
use alloc::vec::Vec;

/// Of which tick a message is, and which one of the session's it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct StepNumber {
    tick: Tick,
    number: u32,
}

/// Lives as long as the timeline. Ascending by tick, and in one tick as they were sent.
#[derive(Default)]
pub(super) struct StepMessages {
    numbers: Vec<StepNumber>,
    messages: Vec<ReceivedMessage>,
}

impl StepMessages {
    /// The message of this number is part of the step of `tick`. What is part of steps before `oldest` is forgotten.
    pub(super) fn give(&mut self, tick: Tick, number: u32, message: ReceivedMessage, oldest: Tick) {
        let old = self.numbers.partition_point(|at_step| at_step.tick < oldest);
        self.numbers.drain(..old);
        self.messages.drain(..old);
        self.insert(StepNumber { tick, number }, message);
    }

    /// The authority has the message of this number in the step of `tick`.
    pub(super) fn put_off(&mut self, number: u32, tick: Tick) {
        if let Some(at) = self.numbers.iter().position(|at_step| at_step.number == number && at_step.tick != tick) {
            self.numbers.remove(at);
            let message = self.messages.remove(at);
            self.insert(StepNumber { tick, number }, message);
        }
    }

    /// Those of the step of `tick`.
    pub(super) fn of(&self, tick: Tick) -> &[ReceivedMessage] {
        let first = self.numbers.partition_point(|at_step| at_step.tick < tick);
        let count = self.numbers[first..].partition_point(|at_step| at_step.tick == tick);
        &self.messages[first..first + count]
    }

    fn insert(&mut self, at_step: StepNumber, message: ReceivedMessage) {
        let at = self.numbers.partition_point(|other| *other < at_step);
        self.numbers.insert(at, at_step);
        self.messages.insert(at, message);
    }
}
