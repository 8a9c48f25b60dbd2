//! Steps of the world, with everybody's input for the tick.

use super::admission::Roster;
use super::peer::Peer;
use crate::session::GapPolicy;
use crate::time::{Tick, TickRate};
use crate::world::{Input, PlayerInput, Side, Step, StepOutput, World};
use alloc::vec::Vec;

/// What a step is given, and what it says. Its memory is used again.
pub(super) struct Simulation<I> {
    /// Ascending by player.
    inputs: Vec<PlayerInput<I>>,
    /// What the last step has said.
    output: StepOutput,
}

impl<I: Input> Simulation<I> {
    pub fn new() -> Simulation<I> {
        Simulation { inputs: Vec::new(), output: StepOutput::with_room() }
    }

    /// Takes every player's input of the next tick.
    pub fn gather(&mut self, roster: &mut Roster<Peer<I>>, gap: GapPolicy) {
        self.inputs.clear();
        self.inputs.extend(roster.joined_mut().filter_map(|member| member.peer.take_input(member.player, gap)));
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
        let mut step = complete(Step::new(tick, rate, Side::Server, &self.inputs).with_output(output));
        world.step(&mut step);
        self.output = step.into_output();
    }

    /// What the last step has said.
    pub fn output(&self) -> &StepOutput {
        &self.output
    }
}
