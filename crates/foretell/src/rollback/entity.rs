//! Names of players, kinds and entities.

use crate::time::Tick;
use core::fmt;

/// A player of a session. Given by the server at admission, 1 to 65,535.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
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

/// A kind of entity: the index of its table in the [`Schema`](super::Schema).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Kind(pub u8);

/// The name of an entity, the same on both ends: what it is, whose it is, and when and as which of that tick it was
/// spawned. A spawn that a client predicts therefore *is* the authority's entity.
///
/// Ordered by kind, then player, then tick, then counter: by its [`bits`](Entity::bits), which are all of it, so that to
/// compare two is to compare numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entity(u64);

#[expect(clippy::cast_possible_truncation, reason = "each part is taken out by its width")]
impl Entity {
    /// The `counter`-th entity of this kind that `player` spawned in `tick`. Inside a step use
    /// [`Step::spawn`](super::Step::spawn), which counts.
    pub const fn new(kind: Kind, player: PlayerId, tick: Tick, counter: u8) -> Entity {
        Entity((kind.0 as u64) << 56 | (player.0 as u64) << 40 | (tick.get() as u64) << 8 | counter as u64)
    }

    /// What it is.
    pub const fn kind(self) -> Kind {
        Kind((self.0 >> 56) as u8)
    }

    /// Whose it is: the player whose inputs drive it.
    pub const fn player(self) -> PlayerId {
        PlayerId((self.0 >> 40) as u16)
    }

    /// The tick in which it was spawned.
    pub const fn tick(self) -> Tick {
        Tick::new((self.0 >> 8) as u32)
    }

    /// Which spawn of its kind, player and tick it was, from 0.
    pub const fn counter(self) -> u8 {
        self.0 as u8
    }

    /// All of it: kind, player, tick and counter, from the highest bits down.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity {}.{}.{}.{}", self.kind().0, self.player().0, self.tick(), self.counter())
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
