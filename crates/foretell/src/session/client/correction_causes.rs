//! Why a prediction was wrong.

use core::fmt;

/// Why a prediction was wrong: a set.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Causes(u16);

impl Causes {
    /// The server did not have the own input in time and put something else in its place.
    pub const OWN_INPUT: Causes = Causes(1);
    /// The server changed the entity outside of a step: an event of the game's own. In an
    /// [exact](crate::session::Rules::exact) session also that it changed another, that somebody has joined or left, or that it
    /// stood still and skipped ticks.
    pub const SERVER_EVENT: Causes = Causes(2);
    /// Differences within the tolerance had added up.
    pub const TOLERANCE: Causes = Causes(4);
    /// The entity exists on one side only: a spawn, a despawn or a join.
    pub const EXISTENCE: Causes = Causes(8);
    /// The client started again from a full state, or has begun with ticks of whose inputs it knows nothing.
    pub const RESYNC: Causes = Causes(16);
    /// An input of another player that this client predicts was not the one that was guessed, or was never told.
    pub const RELAYED_INPUT: Causes = Causes(32);
    /// An entity of another player was elsewhere: one that it touched, or one that was a proxy and is predicted now, or
    /// the other way round. Or another player has done something to it of which nothing is known here.
    pub const OTHERS: Causes = Causes(64);
    /// The client's own clock was set, or it stood still: more than 250 ms lie between two updates, or its clock went back, or
    /// its ticks have fallen behind the server's. Stands beside what followed: inputs that came late, or a resync.
    pub const CLOCK: Causes = Causes(128);
    /// Nothing else explains it, and the same ticks simulated once more from the same state, with the same inputs and rows of
    /// others, come to something else here: the step reads what is not saved, or does something else the first time.
    pub const NONDETERMINISM: Causes = Causes(256);

    /// In an [exact](crate::session::Rules::exact) session: what is not published was not the authority's, from a whole state
    /// that was taken over until the next canonical tick. Where some of what others have is predicted and some not, as with
    /// [`Predict::Near`](super::Predict::Near): nothing else explains it; what derived state there is was that of a part of the world. It stands
    /// beside [`OTHERS`](Causes::OTHERS) then.
    pub const DERIVED: Causes = Causes(512);

    /// In an [exact](crate::session::Rules::exact) session: no input of anybody, no event of the server's and nobody who came or
    /// went explains it, so that the two ends are not the same. Other scenery, another version or other settings of an engine
    /// (to be told by [`Rules::fingerprints`](crate::session::Rules::fingerprints)), or something that only the authority did:
    /// what a step does under [`is_authority`](crate::world::Step::is_authority) no client can predict.
    pub const ENDS_DIFFER: Causes = Causes(1024);

    const NAMED: [(Causes, &'static str); 11] = [
        (Causes::OWN_INPUT, "own input late or substituted"),
        (Causes::SERVER_EVENT, "server event"),
        (Causes::TOLERANCE, "tolerance"),
        (Causes::EXISTENCE, "spawn or despawn"),
        (Causes::RESYNC, "resync"),
        (Causes::RELAYED_INPUT, "relayed input differed"),
        (Causes::OTHERS, "other player or proxy"),
        (Causes::CLOCK, "own clock set or stood still"),
        (Causes::NONDETERMINISM, "step not deterministic"),
        (Causes::DERIVED, "derived state"),
        (Causes::ENDS_DIFFER, "the two ends differ"),
    ];

    /// The causes of either set.
    #[must_use]
    pub const fn with(self, other: Causes) -> Causes {
        Causes(self.0 | other.0)
    }

    /// Whether all causes of `other` are among these.
    pub const fn contains(self, other: Causes) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether none is known: a sign of a step that does not do the same on both ends.
    pub const fn is_unexplained(self) -> bool {
        self.0 == 0
    }

    /// The names of these causes; none when it is unexplained.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Causes::NAMED.iter().filter(move |(cause, _)| self.contains(*cause)).map(|(_, name)| *name)
    }
}

impl fmt::Debug for Causes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
