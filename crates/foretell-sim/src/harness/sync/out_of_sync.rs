//! What is wrong with a world that can't be predicted, as a value and as a sentence.

use alloc::string::String;
use core::fmt;
use foretell::time::Tick;
use foretell::world::Entity;

/// How the world was stepped when it gave another result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Stepped {
    /// A second world was given the same steps: the step reads something outside of the world, such as a clock.
    Anew,
    /// Every tick was saved, stepped, loaded and stepped again: `save` or `load` forgets something.
    AfterLoad,
    /// It was rolled back by eight ticks, and these were simulated again, as in a re-simulation: `save` or `take` forgets
    /// something, or the step does something else when it is not the first time.
    Again,
    /// Another world adopted the published rows, and went on from there, as a client's does: the rows of players'
    /// entities lack something that the step reads, the step depends on an order that `adopt` does not keep, or `adopt`
    /// leaves something there that was removed.
    Adopted,
    /// The same as the client of an [exact](foretell::Rules::exact) session does it, which predicts everything: the step does on the
    /// authority what it does not do there.
    AsClient,
}

/// The first difference that a [`SyncTest`](super::SyncTest) finds.
#[derive(Clone, PartialEq, Debug)]
pub struct OutOfSync {
    /// How the world was stepped.
    pub stepped: Stepped,
    /// The state that differs.
    pub tick: Tick,
    /// The first entity that differs, or of which the step has said something else.
    pub entity: Entity,
    /// The name of the first field that differs; `None` when the entity exists on one side only, or an effect or a hit of it does.
    pub field: Option<String>,
    pub(super) what: String,
}

impl fmt::Display for OutOfSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutOfSync { stepped, tick, what, .. } = self;
        let (how, why) = match stepped {
            Stepped::Anew => (
                "a second world given the same steps differs",
                "the step reads something outside of the world: a clock, random numbers, the order of a HashMap, something \
                 shared",
            ),
            Stepped::AfterLoad => {
                ("a world that is saved, loaded and stepped again differs", "save or load forgets something")
            }
            Stepped::Again => (
                "eight ticks simulated again differ",
                "save or take (which is load, if the world has none) forgets something, or the step depends on first_time",
            ),
            Stepped::Adopted => (
                "a world that has adopted the published rows steps differently",
                "they lack something that the step reads, the step depends on an order that adopt does not keep, or adopt \
                 leaves something there that was removed",
            ),
            Stepped::AsClient => (
                "a client of an exact session, which has the same rows and inputs, steps differently",
                "only the authority did this: the step asks is_authority where it is to ask simulates; or the server's rows \
                 lack something that the step reads",
            ),
        };
        write!(f, "{how} at {tick:?}: {what} ({why})")
    }
}

impl core::error::Error for OutOfSync {}
