//! What a step says besides the state that it makes: names of new entities, one-shot effects, contacts, and changes of what others
//! have.

use super::{Entity, Hit, Owned, PlayerId};
use crate::time::Tick;
use alloc::vec::Vec;

/// Which effect: a number of the game's own choice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct EffectKind(pub u8);

/// Something that happens once and leaves nothing behind in the state: a shot, a hit, a footstep.
///
/// Its name is (tick, entity, kind): the same on both ends, and the same when the tick is simulated again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Effect {
    /// The tick in whose step it happened: it belongs to the state after this tick.
    pub tick: Tick,
    /// To whom.
    pub entity: Entity,
    /// What.
    pub kind: EffectKind,
    /// Where, in metres, when the step says so; no part of the name.
    pub at: Option<[f32; 3]>,
}

impl Effect {
    /// Its name; effects are ordered by it.
    pub fn name(&self) -> (Tick, Entity, EffectKind) {
        (self.tick, self.entity, self.kind)
    }
}

/// An entity of a player has changed one that is not the player's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub by: Owned,
    pub of: Owned,
}

/// Room from the start for what an ordinary step says.
const FEW: usize = 4;

/// What one step says besides the state that it makes. Its memory is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepOutput {
    /// How many entities were spawned for each player.
    pub spawned: Vec<(PlayerId, u16)>,
    /// In the order in which they happened, each name once.
    pub effects: Vec<Effect>,
    /// The names that those have in their tick, ascending.
    effect_names: Vec<(Entity, EffectKind)>,
    /// The entities that those of others have touched; each once and ascending when the step is over.
    pub contacts: Vec<Entity>,
    /// In the order in which they happened, each once; on a client without those of what it predicts.
    pub changes: Vec<Change>,
    /// On the server, in the order in which they happened.
    pub hits: Vec<Hit>,
}

impl StepOutput {
    pub(crate) fn with_room() -> StepOutput {
        let (spawned, effects) = (Vec::with_capacity(FEW), Vec::with_capacity(FEW));
        StepOutput { spawned, effects, effect_names: Vec::with_capacity(FEW), ..StepOutput::default() }
    }

    /// Takes an effect of its tick, once.
    pub(crate) fn say(&mut self, effect: Effect) {
        let name = (effect.entity, effect.kind);
        if let Err(at) = self.effect_names.binary_search(&name) {
            self.effect_names.insert(at, name);
            self.effects.push(effect);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.spawned.clear();
        self.effects.clear();
        self.effect_names.clear();
        self.contacts.clear();
        self.changes.clear();
        self.hits.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_effects_each_is_there_once_in_the_order_in_which_they_happened() {
        let mut output = StepOutput::with_room();
        let effect = |nth: u16| {
            let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, nth / 2);
            Effect { tick: Tick::new(7), entity, kind: EffectKind((nth % 2).to_le_bytes()[0]), at: None }
        };
        // In no order, each twice.
        let said: Vec<_> = (0..5_000_u16).map(|nth| effect(nth.wrapping_mul(21_001) % 5_000)).collect();
        let once: alloc::collections::BTreeSet<_> = said.iter().map(Effect::name).collect();
        said.iter().chain(&said).for_each(|effect| output.say(*effect));
        assert_eq!(output.effects.len(), once.len());
        let mut first = said.iter();
        assert!(output.effects.iter().all(|effect| first.any(|said| said == effect)), "as they were said first");
        output.clear();
        output.say(effect(3));
        assert_eq!(output.effects, [effect(3)]);
    }
}
