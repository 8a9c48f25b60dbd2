//! Names of players and of entities.

use crate::time::Tick;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A player of a session. Given by the server at admission, 1 to 65,535.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct PlayerId(u16);

impl PlayerId {
    /// Nobody: what belongs to the server itself.
    pub const SERVER: PlayerId = PlayerId(0);

    /// The player of this number; 0 is the server.
    pub const fn new(number: u16) -> PlayerId {
        PlayerId(number)
    }

    /// Its number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.0)
    }
}

/// The name of an entity, the same on both ends: in which tick it was spawned, for whom, and as which of theirs in that
/// tick. A spawn that a client predicts therefore *is* the authority's entity. What it consists of and whose it is now are
/// no part of the name: both may change.
///
/// Ordered by tick, then by player, then by counter, which is the order of its [`bits`](Entity::bits): whatever is new comes
/// last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Entity(u64);

#[expect(clippy::cast_possible_truncation, reason = "each part is taken out by its width")]
impl Entity {
    /// The `counter`-th entity that was spawned for `player` in `tick`. Inside a step use
    /// [`Table::spawn`](super::Table::spawn) or [`Step::spawn`](super::Step::spawn), which count.
    pub const fn new(player: PlayerId, tick: Tick, counter: u16) -> Entity {
        Entity((tick.get() as u64) << 32 | (player.0 as u64) << 16 | counter as u64)
    }

    /// The entity of these [`bits`](Entity::bits); any are those of one.
    pub const fn from_bits(bits: u64) -> Entity {
        Entity(bits)
    }

    /// The tick in which it was spawned.
    pub const fn tick(self) -> Tick {
        Tick::new((self.0 >> 32) as u32)
    }

    /// For which player it was spawned: its first owner.
    pub const fn spawned_for(self) -> PlayerId {
        PlayerId((self.0 >> 16) as u16)
    }

    /// Which spawn for this player in this tick it was, from 0.
    pub const fn counter(self) -> u16 {
        self.0 as u16
    }

    /// All of it: tick, player and counter, from the highest bits down.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity {}.{}.{}", self.tick(), self.spawned_for().0, self.counter())
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An entity with the player whose inputs drive it: all that decides where it is simulated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Owned {
    /// Which.
    pub entity: Entity,
    /// Whose it is; [`PlayerId::SERVER`] where it belongs to the server.
    pub owner: PlayerId,
}

/// A component: the index of its table in the [`Schema`](super::Schema).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ComponentId(pub u8);

impl ComponentId {
    /// The one with this index.
    #[expect(clippy::cast_possible_truncation, reason = "a schema has at most 256 components")]
    pub(crate) fn nth(index: usize) -> ComponentId {
        ComponentId(index as u8)
    }
}

/// Which row: a component of an entity. Ordered by component, then by entity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RowKey {
    /// Of which table.
    pub component: ComponentId,
    /// Whose.
    pub entity: Entity,
}
