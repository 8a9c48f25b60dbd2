//! Steps of the world, with everybody's input for the tick.

use super::admission::{Member, Roster};
use super::peer::Peer;
use super::view_age::RewindLimits;
use crate::session::GapPolicy;
use crate::time::{Tick, TickRate};
use crate::world::{Input, PlayerInput, ReceivedMessage, RewindMoment, RewindSource, Side, Step, StepOutput, World};
use alloc::vec::Vec;

/// A step that is due.
#[derive(Clone, Copy)]
pub(super) struct DueStep<'a> {
    pub tick: Tick,
    pub rate: TickRate,
    /// What it looks back at.
    pub past: &'a dyn RewindSource,
}

/// What a step is given, and what it says. Its memory is used again.
pub(super) struct Simulation<I> {
    /// Ascending by player.
    inputs: Vec<PlayerInput<I>>,
    /// Ascending by player.
    messages: Vec<ReceivedMessage>,
    /// By which moment the player of each input is judged; as long as `inputs`.
    rewinds: Vec<RewindMoment>,
    /// What the last step has said.
    output: StepOutput,
}

impl<I: Input> Simulation<I> {
    pub fn new() -> Simulation<I> {
        let (inputs, rewinds, messages) = (Vec::new(), Vec::new(), Vec::new());
        Simulation { inputs, messages, rewinds, output: StepOutput::with_room() }
    }

    /// Takes every player's input and messages of the next tick. Whether there are messages, of which no other client knows.
    pub fn gather(&mut self, roster: &mut Roster<Peer<I>>, gap: GapPolicy, terms: &RewindLimits) -> bool {
        self.inputs.clear();
        self.messages.clear();
        self.rewinds.clear();
        for Member { player, peer, .. } in roster.joined_mut() {
            if let Some(input) = peer.take_input(*player, gap) {
                self.rewinds.push(peer.look_back(&input, terms));
                self.inputs.push(input);
            }
            peer.step_messages.give(terms.tick, &mut self.messages);
        }
        !self.messages.is_empty()
    }

    /// Steps the world through a tick. What else the step is to know `complete` adds.
    pub fn step<'a>(
        &'a mut self,
        world: &mut impl World<Input = I>,
        due: DueStep<'a>,
        complete: impl FnOnce(Step<'a, I>) -> Step<'a, I>,
    ) {
        let DueStep { tick, rate, past } = due;
        let output = core::mem::take(&mut self.output);
        let step = Step::new(tick, rate, Side::Server, &self.inputs).with_messages(&self.messages);
        let step = step.looking_back(past, &self.rewinds);
        let mut step = complete(step.with_output(output));
        world.step(&mut step);
        self.output = step.into_output();
    }

    /// What the last step has said.
    pub fn output(&self) -> &StepOutput {
        &self.output
    }
}
