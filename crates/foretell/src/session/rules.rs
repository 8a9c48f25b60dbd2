//! What both ends of a session must agree on.

use super::record::{Made, Start};
use crate::rollback::{Audience, Input, Schema};
use crate::time::TickRate;
use core::hash::{Hash, Hasher};

/// Who decides when the server's world steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Stepping {
    /// The server's own clock; inputs wait in a buffer for their tick, and a missing one is replaced (D10).
    #[default]
    Clock,
    /// Arriving inputs, as in the second source article (R8): each steps the world once, for its player alone. The
    /// server waits for inputs; each player has a tick of their own. Bounded by a time budget (D3).
    Arrivals,
}

/// What the server does in a tick for which it has no input of a player (R19, D9).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum GapPolicy {
    /// The player is left where they are: the tick is simulated without them. The article's author prefers it.
    Hold,
    /// The tick is not simulated for the player at all: where arriving inputs step the world its number is jumped over,
    /// as the article's code does; on the server's own clock, where time goes on, it is the same as `Hold`.
    Skip,
    /// The last input is repeated for so many ticks, then the neutral one is used. The default, with 16 ticks: 250 ms
    /// at 64 Hz (D9).
    RepeatLast {
        /// How many ticks in a row; `u32::MAX` for ever.
        ticks: u32,
    },
    /// The neutral input is used.
    Neutral,
}

impl Default for GapPolicy {
    fn default() -> GapPolicy {
        GapPolicy::RepeatLast { ticks: 16 }
    }
}

/// What both ends of a session must have in common. A client whose rules differ is refused when it says hello.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Rules {
    /// Ticks per second. Default 64.
    pub tick_rate: TickRate,
    /// Who decides when the server's world steps. Default the server's own clock.
    pub stepping: Stepping,
    /// Whether clients predict everything, bit by bit: other players' entities by their relayed inputs, and the server's.
    /// Snapshots then hold a digest of the state instead of the state, as long as the client comes to the same; where it
    /// does not it is sent whole, and both ends make what is not published anew in a [canonical](crate::Step::canonical)
    /// tick. For worlds that are the same on every machine and fit into eight datagrams: about 120 rigid bodies. Needs the
    /// server's own clock and kinds that everybody may see; clients can't hold entities. Default false.
    pub exact: bool,
    /// The kinds of entity.
    pub schema: Schema,
}

impl Rules {
    /// The default rules for a game of these kinds of entity.
    pub fn new(schema: Schema) -> Rules {
        Rules { tick_rate: TickRate::default(), stepping: Stepping::default(), exact: false, schema }
    }

    /// Panics when they can't be kept.
    pub(super) fn assert_possible(&self) {
        let seen = self.schema.kinds().iter().all(|kind| kind.audience() == Audience::All);
        assert!(!self.exact || self.stepping == Stepping::Clock, "an exact session is stepped by the server's clock");
        assert!(!self.exact || seen, "in an exact session everybody sees every kind");
    }

    /// The beginning of a recording of a session with these rules.
    pub(super) fn start<I: Input>(&self, made: Made) -> Start {
        let (tick_rate, stepping) = (self.tick_rate.get(), self.stepping);
        Start { tick_rate, stepping, rules_hash: self.hash_with::<I>(), made }
    }

    /// A hash of the rules and of the layout of the input, the same on every platform.
    pub fn hash_with<I: Input>(&self) -> u64 {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        self.hash(&mut hasher);
        I::columns().hash(&mut hasher);
        hasher.finish()
    }
}

/// FNV-1a that hashes numbers as little-endian bytes, and lengths and discriminants as 64 bits of them, whatever the
/// platform's order and word are.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_u16(&mut self, value: u16) {
        self.write(&value.to_le_bytes());
    }

    fn write_usize(&mut self, value: usize) {
        self.write(&(value as u64).to_le_bytes());
    }

    fn write_isize(&mut self, value: isize) {
        self.write(&(value as i64).to_le_bytes());
    }
}
