//! Steps of the world, with everybody's input for the tick.

use super::admission::{Member, Roster};
use super::peer::Peer;
use crate::session::GapPolicy;
use crate::time::{Tick, TickRate};
use crate::world::{Input, PlayerInput, ReceivedMessage, Side, Step, StepOutput, World};
use alloc::vec::Vec;

/// What a step is given, and what it says. Its memory is used again.
pub(super) struct Simulation<I> {
    /// Ascending by player.
    inputs: Vec<PlayerInput<I>>,
    /// Ascending by player.
    messages: Vec<ReceivedMessage>,
    /// What the last step has said.
    output: StepOutput,
}

impl<I: Input> Simulation<I> {
    pub fn new() -> Simulation<I> {
        Simulation { inputs: Vec::new(), messages: Vec::new(), output: StepOutput::with_room() }
    }

    /// Takes every player's input and messages of `tick`, the next one. Whether there are messages, of which no other client knows.
    pub fn gather(&mut self, roster: &mut Roster<Peer<I>>, tick: Tick, gap: GapPolicy) -> bool {
        self.inputs.clear();
        self.messages.clear();
        for Member { player, peer, .. } in roster.joined_mut() {
            self.inputs.extend(peer.take_input(*player, gap));
            peer.step_messages.give(tick, &mut self.messages);
        }
        !self.messages.is_empty()
    }

    /// Steps the world through `tick`. What else the step is to know `complete` adds.
    pub fn step<'a>(
        &'a mut self,
        world: &mut impl World<Input = I>,
        tick: Tick,
        rate: TickRate,
        complete: impl FnOnce(Step<'a, I>) -> Step<'a, I>,
    ) {
        let output = core::mem::take(&mut self.output);
        let step = Step::new(tick, rate, Side::Server, &self.inputs).with_messages(&self.messages);
        let mut step = complete(step.with_output(output));
        world.step(&mut step);
        self.output = step.into_output();
    }

    /// What the last step has said.
    pub fn output(&self) -> &StepOutput {
        &self.output
    }
}
