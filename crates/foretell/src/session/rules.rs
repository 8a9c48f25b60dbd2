//! What both ends of a session must agree on.

use super::greeting::PARTS_OF_RULES_MAX;
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
    /// What else both ends have to have in common, and no row tells: the scenery of a level, the version and the settings of
    /// a physics engine. The one that differs is named to a client that is refused
    /// ([`Client::differing`](crate::Client::differing)). Up to eight; default none.
    pub fingerprints: Vec<Fingerprint>,
}

/// A hash of something that both ends of a session have to have in common besides their schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Fingerprint {
    /// What it is of, as a player or a developer is told: `scenery`, `level 3`.
    pub name: &'static str,
    /// The same for what is the same, on every platform: [`Fingerprint::of_bytes`].
    pub hash: u64,
}

impl Fingerprint {
    /// The fingerprint of some bytes.
    pub fn of_bytes(name: &'static str, bytes: &[u8]) -> Fingerprint {
        let mut hasher = Fnv::new();
        hasher.write(bytes);
        Fingerprint { name, hash: hasher.finish() }
    }
}

/// How many fingerprints there may be.
const FINGERPRINTS_MAX: usize = PARTS_OF_RULES_MAX - 5;

impl Rules {
    /// The default rules for a game of these kinds of entity.
    pub fn new(schema: Schema) -> Rules {
        Rules {
            tick_rate: TickRate::default(),
            stepping: Stepping::default(),
            exact: false,
            schema,
            fingerprints: Vec::new(),
        }
    }

    /// Panics when they can't be kept.
    pub(super) fn assert_possible(&self) {
        let seen = self.schema.kinds().iter().all(|kind| kind.audience() == Audience::All);
        assert!(!self.exact || self.stepping == Stepping::Clock, "an exact session is stepped by the server's clock");
        assert!(!self.exact || seen, "in an exact session everybody sees every kind");
        assert!(self.fingerprints.len() <= FINGERPRINTS_MAX, "rules have at most {FINGERPRINTS_MAX} fingerprints");
    }

    /// The beginning of a recording of a session with these rules.
    pub(super) fn start<I: Input>(&self, made: Made) -> Start {
        let (tick_rate, stepping) = (self.tick_rate.get(), self.stepping);
        Start { tick_rate, stepping, rules_hash: self.hash_with::<I>(), made }
    }

    /// A hash of the rules, but for fingerprints, and of the layout of the input, the same on every platform.
    pub fn hash_with<I: Input>(&self) -> u64 {
        let Rules { tick_rate, stepping, exact, schema, fingerprints: _ } = self;
        hash_of(&(tick_rate, stepping, exact, schema, I::columns()))
    }

    /// The parts that both ends have to have in common, each with its name and its hash.
    pub(super) fn parts_with<I: Input>(&self) -> Vec<(&'static str, u64)> {
        let own = [
            ("tick rate", hash_of(&self.tick_rate)),
            ("stepping", hash_of(&self.stepping)),
            ("exact", hash_of(&self.exact)),
            ("kinds of entity", hash_of(&self.schema)),
            ("input", hash_of(&I::columns())),
        ];
        // The name counts too: another fingerprint in its place is another part.
        own.into_iter().chain(self.fingerprints.iter().map(|print| (print.name, hash_of(print)))).collect()
    }
}

fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = Fnv::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// FNV-1a that hashes numbers as little-endian bytes, and lengths and discriminants as 64 bits of them, whatever the
/// platform's order and word are.
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

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

    fn write_u32(&mut self, value: u32) {
        self.write(&value.to_le_bytes());
    }

    fn write_u64(&mut self, value: u64) {
        self.write(&value.to_le_bytes());
    }

    fn write_usize(&mut self, value: usize) {
        self.write(&(value as u64).to_le_bytes());
    }

    fn write_isize(&mut self, value: isize) {
        self.write(&(value as i64).to_le_bytes());
    }
}
