//! What must hold in a session whatever goes wrong, each as a small type that looks on.
//!
//! | check | complains when |
//! |---|---|
//! | [`Outcomes`] | a sample of the authority has no outcome, or two |
//! | [`Digests`] | a snapshot came that is not the server's state of its tick |
//! | [`Silence`] | a sample has come, and its prediction differs all the same; or a sample waits for its outcome too long |
//! | [`Unexplained`] | a correction has no cause |
//! | [`Calm`] | something is corrected while nothing has gone wrong for a while |
//! | [`Punctual`] | an input is late, or a client starts again, while nothing has gone wrong for a while |
//! | [`Convergence`] | a client does not play and agree with the server, so long after the last fault |
//! | [`Divergence`] | a playing client is further from the truth than either can have travelled within a second |
//! | [`Shown`] | others are shown where they can't be, or when they are gone, or are there and not shown |
//! | [`History`] | the state of a confirmed tick changes afterwards |
//! | [`Once`] | a tick or an input is processed twice, skipped on the server, or altered on the way |
//! | [`Mail`] | a message does not come as its kind says, or is in another step on the two ends |
//! | [`Bytes`] | a player's second costs more bytes than the budget |
//! | [`Hosted`] | who sits at the server is corrected, is shown what it does not have, or a step lacks their input |
//! | [`Memory`] | an endpoint keeps more than what is under way |
//! | `world` | a client's world by itself, saved, loaded and stepped again, comes to something else |
//!
//! The last one is no type: it is looked at after each session, with the bots of its seed.

mod bytes;
mod convergence;
mod divergence;
mod history;
mod hosted;
mod letters;
mod mail;
mod memory;
mod once;
mod punctual;
mod samples;
mod shown;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
pub use bytes::Bytes;
pub use convergence::{Calm, Convergence};
pub use divergence::Divergence;
pub use history::History;
pub use hosted::Hosted;
pub use letters::{HeardStep, Letter};
pub use mail::Mail;
pub use memory::Memory;
pub use once::Once;
pub use punctual::Punctual;
pub use samples::{Digests, Outcomes, Silence, Unexplained};
pub use shown::Shown;

use super::{Spied, Truth};
use core::time::Duration;
use foretell::session::Rules;
use foretell::session::client::{Client, ClientConfig, ClientStats, Corrected, Frame, Views};
use foretell::session::server::{Server, ServerConfig, ServerFrame};
use foretell::time::{Instant, Tick};
use foretell::world::{
    Difference, Entity, Messages, PlayerId, PlayerInput, RowKey, Schema, Seat, Tolerance, World, compare_row,
};

/// Looks at both ends after each of their updates, and complains in a sentence. One is made anew for every run.
pub trait Check<W: World> {
    /// Its name, for messages. A check that is added to a scenario takes the place of one that has its name.
    fn name(&self) -> &'static str;

    /// Looks at the server after an update.
    ///
    /// # Errors
    /// What does not hold, in a sentence.
    fn after_server(&mut self, seen: &ServerSeen<'_, W>) -> Result<(), String> {
        let _ = seen;
        Ok(())
    }

    /// Looks at a client after an update.
    ///
    /// # Errors
    /// What does not hold, in a sentence.
    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let _ = seen;
        Ok(())
    }

    /// Looks at the player who sits at the server, after an update of it.
    ///
    /// # Errors
    /// What does not hold, in a sentence.
    fn after_local(&mut self, seen: &LocalSeen<'_>) -> Result<(), String> {
        let _ = seen;
        Ok(())
    }
}

/// What does not change while a scenario runs.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// What both ends agree on.
    pub rules: Rules,
    /// How every client decides.
    pub client: ClientConfig,
    /// How the server does.
    pub server: ServerConfig,
}

/// What a check sees of a client.
pub struct ClientSeen<'a, W: World> {
    /// The virtual time.
    pub now: Instant,
    /// What the machine's clock shows, to present at.
    pub local: Instant,
    /// Which machine it is, in the order of their coming. A player who comes again has another one.
    pub machine: usize,
    /// As what it asks to be there.
    pub seat: Seat,
    /// The client.
    pub client: &'a Client<Spied<W>>,
    /// What its update did.
    pub frame: &'a Frame<'a>,
    /// Its counters.
    pub stats: &'a ClientStats,
    /// The ticks that it has asked inputs for since the update before, in order.
    pub asked: &'a [Tick],
    /// The ticks that its world was stepped through for the first time since the update before, in order.
    pub stepped: &'a [Tick],
    /// What its bot has said since the update before.
    pub said: &'a [Letter],
    /// The messages of all steps since the update before, those that were simulated again too, in order.
    pub heard: &'a [HeardStep],
    /// For how long nothing has gone wrong for this player: no fault, nobody came or went, no event.
    pub quiet: Duration,
    /// The same where jitter that lasts is part of the network, and goes wrong only when it begins and when it ends.
    pub quiet_beside_jitter: Duration,
    /// What its player is shown in this frame; nothing before they have joined.
    pub views: &'a Views,
    /// The server's states.
    pub truth: &'a Truth,
    /// What does not change.
    pub setting: &'a Setting,
}

/// What a check sees of the server.
pub struct ServerSeen<'a, W: World> {
    /// The virtual time.
    pub now: Instant,
    /// The server.
    pub server: &'a Server<Spied<W>>,
    /// What its update did.
    pub frame: &'a ServerFrame<'a>,
    /// The ticks that its world was stepped through since the update before, in order.
    pub stepped: &'a [Tick],
    /// The inputs of these steps, in order.
    pub applied: &'a [Applied<W::Input>],
    /// What the server was made to say to players since the update before.
    pub said: &'a [Letter],
    /// What the bot of who sits at it has said since the update before.
    pub said_here: &'a [Letter],
    /// The messages of the steps since the update before, in order.
    pub heard: &'a [HeardStep],
    /// How many players' machines are there, the server's among them where somebody sits at it.
    pub machines: usize,
    /// Who sits at it.
    pub local: Option<PlayerId>,
    /// For how long nothing has gone wrong for anybody.
    pub quiet: Duration,
    /// What does not change.
    pub setting: &'a Setting,
}

/// What a check sees of the player who sits at the server.
pub struct LocalSeen<'a> {
    /// Who it is; the server itself before they have joined.
    pub player: PlayerId,
    /// Which kinds of messages there are.
    pub kinds: &'a Messages,
    /// What the update of the server did for them.
    pub frame: &'a Frame<'a>,
    /// The ticks that they were asked inputs for since the update before, in order.
    pub asked: &'a [Tick],
    /// The ticks that the world was stepped through since the update before, in order.
    pub stepped: &'a [Tick],
    /// What they are shown now.
    pub views: &'a Views,
    /// The server's states.
    pub truth: &'a Truth,
}

/// An input that the server's world was stepped with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Applied<I> {
    /// In which tick.
    pub tick: Tick,
    /// What the step was told.
    pub input: PlayerInput<I>,
    /// What the player's bot has given for this tick, if it was asked.
    pub given: Option<I>,
}

/// All checks, as they are when a scenario does not say otherwise.
pub(super) fn all<W: World>() -> Vec<Box<dyn Check<W>>> {
    vec![
        Box::new(Outcomes),
        Box::new(Once::default()),
        Box::new(Digests::default()),
        Box::new(Unexplained),
        Box::new(Silence::default()),
        Box::new(History::default()),
        Box::new(Divergence::default()),
        Box::new(Shown::default()),
        Box::new(Calm::default()),
        Box::new(Punctual::default()),
        Box::new(Convergence::default()),
        Box::new(Mail::default()),
        Box::new(Bytes::default()),
        Box::new(Hosted::default()),
        Box::new(Memory::default()),
    ]
}

/// Something for each machine, or for each player.
#[derive(Clone, Debug)]
struct Each<T>(Vec<T>);

impl<T> Default for Each<T> {
    fn default() -> Each<T> {
        Each(Vec::new())
    }
}

impl<T: Default> Each<T> {
    fn of(&mut self, index: usize) -> &mut T {
        if self.0.len() <= index {
            self.0.resize_with(index + 1, T::default);
        }
        &mut self.0[index]
    }
}

/// A row as one of two sides has it.
#[derive(Clone, Copy)]
pub(super) struct NamedRow<'a> {
    /// What a sentence calls it.
    pub name: &'a str,
    /// `None` where it has none.
    pub words: Option<&'a [u32]>,
}

const PREDICTED: &str = "predicted";
const OF_SERVER: &str = "the server's is";

impl<'a> NamedRow<'a> {
    fn predicted(words: Option<&'a [u32]>) -> NamedRow<'a> {
        NamedRow { name: PREDICTED, words }
    }

    fn of_server(words: Option<&'a [u32]>) -> NamedRow<'a> {
        NamedRow { name: OF_SERVER, words }
    }
}

/// The first field in which a row differs between two sides, as a sentence with the names of both.
pub(super) fn difference(
    schema: &Schema,
    key: RowKey,
    tolerance: &Tolerance,
    ours: NamedRow<'_>,
    theirs: NamedRow<'_>,
) -> Option<String> {
    let found = compare_row(schema, key.component, ours.words, theirs.words, tolerance)?;
    Some(describe(schema, key.entity, &found, ours.name, theirs.name))
}

/// In what a prediction was wrong, as a sentence; the entity alone where that is not known.
fn describe_correction(schema: &Schema, corrected: &Corrected) -> String {
    let entity = corrected.entity;
    let found = corrected.difference.map(|found| describe(schema, entity, &found, PREDICTED, OF_SERVER));
    found.unwrap_or_else(|| entity.to_string())
}

/// What is mostly behind a difference that nothing explains.
pub(super) const SUSPECTS: &str = "the usual suspects: the order of a HashMap, a `sin` or `powf` of std that is another one \
     elsewhere, a clock or random numbers in the step, something that one side alone does (`is_authority`, `first_time`, a \
     setting), state that is neither saved nor published";

/// A difference as a sentence.
fn describe(schema: &Schema, entity: Entity, found: &Difference, ours: &str, theirs: &str) -> String {
    let kind = schema.component(found.component);
    let column = found.column.and_then(|index| kind.columns().nth(usize::from(index)));
    let Some(column) = column else { return format!("{} {entity} exists on one side only", kind.name()) };
    let lanes = usize::from(column.lanes).min(4);
    let (one, other) = (&found.predicted[..lanes], &found.confirmed[..lanes]);
    format!("{} {entity}, field `{}`: {ours} {one:?}, {theirs} {other:?}", kind.name(), column.name)
}
