//! All entities that clients have authority over: each has one holder at most.

use super::authority_hold::{Grant, Hold};
use super::travel_budget::RoundingSlacks;
use crate::session::authority_codec::Claim;
use crate::time::{Tick, TickRate};
use crate::world::{ComponentSchema, Entity, EntityMap, PlayerId, Row};
use alloc::vec::Vec;

/// Who holds what.
#[derive(Clone, Debug)]
pub(super) struct HoldTable {
    held: EntityMap<Hold>,
    /// The numbers of the newest grants.
    authority: u16,
    ownership: u16,
    /// Of those that were in it.
    slacks: RoundingSlacks,
    /// Memory of holds that have ended.
    spare: Vec<Hold>,
}

impl HoldTable {
    pub(super) fn new(rate: TickRate) -> HoldTable {
        HoldTable {
            held: EntityMap::new(),
            authority: 0,
            ownership: 0,
            slacks: RoundingSlacks::new(rate),
            spare: Vec::new(),
        }
    }

    /// Everything that is held, by entity.
    pub(super) fn held(&self) -> &EntityMap<Hold> {
        &self.held
    }

    /// Everything that is held, by entity, to be changed.
    pub(super) fn held_mut(&mut self) -> &mut EntityMap<Hold> {
        &mut self.held
    }

    /// How many entities a player holds, without those that go back with the next step.
    pub(super) fn count(&self, player: PlayerId) -> usize {
        self.held.values().iter().filter(|held| held.counts_for(player)).count()
    }

    /// Gives an entity, which has this row, to a player who may have it. Returns who has lost it.
    pub(super) fn grant(&mut self, row: Row<'_>, kind: &ComponentSchema, grant: Grant, tick: Tick) -> Option<PlayerId> {
        let slack_m = self.held.get(row.entity).map_or_else(|| self.slacks.of(row.entity, tick), Hold::slack_m);
        let new = || self.spare.pop().unwrap_or_else(Hold::new);
        let held = self.held.get_or_insert_with(row.entity, new);
        let before = held.holder;
        let is_new = held.give(row, kind, grant, slack_m);
        if is_new {
            self.authority = self.authority.wrapping_add(1);
            held.holder.authority = self.authority;
        }
        if grant.claim == Claim::Ownership && (is_new || before.claim < grant.claim) {
            self.ownership = self.ownership.wrapping_add(1);
            held.holder.ownership = self.ownership;
        }
        Some(before.player).filter(|loser| is_new && *loser != PlayerId::SERVER)
    }

    /// Everything that a player holds goes back with the next step.
    pub(super) fn end_all_of(&mut self, player: PlayerId) {
        self.held.values_mut().iter_mut().filter(|held| held.holder.player == player).for_each(Hold::end);
    }

    /// The entity is the server's again. Returns who has held it.
    pub(super) fn remove(&mut self, entity: Entity, tick: Tick) -> Option<PlayerId> {
        let mut held = self.held.remove(entity)?;
        self.slacks.keep(entity, tick, held.slack_m());
        let player = held.holder.player;
        held.clear();
        self.spare.push(held);
        Some(player)
    }
}
