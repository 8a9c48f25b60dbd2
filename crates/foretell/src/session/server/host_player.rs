//! A player who sits at the server: how they are asked for inputs, and what of each step they may see. There is no network
//! between them and the authority.

use super::authoritative_state::AuthoritativeState;
use super::authority::AuthorityArbiter;
pub(in crate::session) use super::replication::HostView;
use super::replication::{InterestSettings, LocalLook};
use crate::time::{Tick, TickTime};
use crate::world::{Effect, Entity, PlayerId, Rows, StepOutput};

/// What a server asks and tells while it updates.
pub(in crate::session) trait HostPlayer<I> {
    /// Who it is.
    fn player(&self) -> PlayerId;

    /// Their input for `tick`, which is stepped next.
    fn input(&mut self, tick: Tick) -> LocalInput<I>;

    /// A step is over.
    fn note_step(&mut self, step: LocalStep<'_>);
}

/// An input of a player who sits at the server.
pub(in crate::session) struct LocalInput<I> {
    pub input: I,
    /// What they were looking at.
    pub presented: Option<TickTime>,
}

/// What a step has brought about, for a player who sits at the server.
pub(in crate::session) struct LocalStep<'a> {
    pub(super) player: PlayerId,
    /// The state that it has made.
    pub(super) tick: Tick,
    pub(super) state: &'a AuthoritativeState,
    pub(super) authority: &'a AuthorityArbiter,
    pub(super) interest_settings: InterestSettings<'a>,
    pub(super) output: &'a StepOutput,
}

impl LocalStep<'_> {
    /// Which state it has made.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// What of that state the player sees: as much as a client of theirs would be told.
    pub fn look(&self, sight: &mut HostView, into: &mut Rows) {
        let LocalStep { player, tick, state, authority, interest_settings: settings, .. } = *self;
        sight.look(player, LocalLook { tick, state, authority, settings }, into);
    }

    /// Whether an entity is there, seen or not.
    pub fn has(&self, entity: Entity) -> bool {
        self.state.rows().has(entity)
    }

    /// What happened in it that leaves nothing in the state, to whomever.
    pub fn effects(&self) -> &[Effect] {
        &self.output.effects
    }
}
