//! What both ends of a session must agree on.

use super::handshake_messages::PARTS_OF_RULES_MAX;
use crate::time::TickRate;
use crate::world::{Audience, ComponentSchema, Input, Messages, Schema};
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// What the server does in a tick for which it has no input of a player (R19, D9).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum GapPolicy {
    /// The player is left where they are: the tick is simulated without them. The article's author prefers it.
    Hold,
    /// The last input is repeated for this many ticks, then the neutral one is used. The default, with 16 ticks: 250 ms
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
    /// Whether clients predict everything, bit by bit: other players' entities by their relayed inputs, and the server's.
    /// Snapshots then hold a digest of the state instead of the state, as long as the client comes to the same; where it
    /// does not it is sent whole, and both ends make what is not published anew in a [canonical](crate::Step::canonical)
    /// tick. For worlds that are the same on every machine and fit into eight datagrams: about 120 rigid bodies. Needs
    /// kinds that everybody may see, none with `predict = never`; clients can't hold entities. Default false.
    pub exact: bool,
    /// The components of its entities.
    pub schema: Schema,
    /// Which kinds of [messages](crate::Message) there are besides. Default none.
    pub messages: Messages,
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
    /// The default rules for a game of these components.
    pub fn new(schema: Schema) -> Rules {
        let (messages, fingerprints) = (Messages::new(), Vec::new());
        Rules { tick_rate: TickRate::default(), exact: false, schema, messages, fingerprints }
    }

    /// Panics when they can't be kept.
    pub(super) fn assert_possible(&self) {
        assert!(
            !self.exact || self.can_be_exact(),
            "in an exact session everybody sees every component and predicts it"
        );
        assert!(self.fingerprints.len() <= FINGERPRINTS_MAX, "rules have at most {FINGERPRINTS_MAX} fingerprints");
    }

    /// Whether a session of these components can be [exact](Rules::exact): everybody sees each of them, and none is never predicted.
    pub fn can_be_exact(&self) -> bool {
        let may_be =
            |component: &ComponentSchema| component.audience() == Audience::All && !component.is_never_predicted();
        self.schema.components().iter().all(may_be)
    }

    /// A hash of the rules, but for fingerprints, and of the layout of the input, the same on every platform.
    pub fn hash_with<I: Input>(&self) -> u64 {
        let Rules { tick_rate, exact, schema, messages, fingerprints: _ } = self;
        hash_of(&(tick_rate, exact, schema, messages, I::columns()))
    }

    /// The parts that both ends have to have in common, each with its name and its hash.
    pub(super) fn parts_with<I: Input>(&self) -> Vec<(&'static str, u64)> {
        let own = [
            ("tick rate", hash_of(&self.tick_rate)),
            ("exact", hash_of(&self.exact)),
            ("components", hash_of(&self.schema)),
            ("input", hash_of(&I::columns())),
            ("messages", hash_of(&self.messages)),
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
