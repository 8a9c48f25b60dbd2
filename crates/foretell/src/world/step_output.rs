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
        StepOutput { spawned, effects, contacts: Vec::new(), changes: Vec::new(), hits: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.spawned.clear();
        self.effects.clear();
        self.contacts.clear();
        self.changes.clear();
        self.hits.clear();
    }
}
