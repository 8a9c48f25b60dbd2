//! The contract between a game and the netcode: a world that can be stepped, saved, loaded, published and adopted.

use super::{Input, InterestRules, Newcomer, Reason, Rows, Schema, Step};

/// A game's simulation, written once: the same code runs on the server, in the predicting client and in every
/// re-simulation (Q2, Q4, F3).
pub trait Simulate {
    /// One player's command for one tick.
    type Input: Input;

    /// Simulates exactly one tick: state n and the inputs of tick n make state n + 1. Players that are not in
    /// [`Step::inputs`] are not to be moved (gap policy *hold*), nor are entities whose role is [`Role::Proxy`](super::Role::Proxy):
    /// [`Table::simulated`](super::Table::simulated) has the others.
    ///
    /// It reads nothing but the world and its argument, so that a state that was saved and loaded goes on bit by bit as if it
    /// had not been.
    fn step(&mut self, step: &mut Step<'_, Self::Input>);

    /// The game's own rules of what each player sees; mostly `Some(self)`. The server alone asks, after the step, whenever a state is
    /// sent; not in an [exact](crate::session::Rules::exact) session. Default none: what
    /// [`ServerConfig::interest`](crate::ServerConfig::interest) says.
    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        None
    }

    /// Whether somebody may join, or in words for them why not. The server alone asks, before anything else knows of them and once
    /// for each who asks to join; not about who comes back to their place, who sits at a [host](crate::Host), or who comes by
    /// [`Server::join`](crate::Server::join). What it says has to follow from the world and the
    /// newcomer, so that a recording comes to the same. The client is told [`Refusal::ByGame`](crate::session::Refusal::ByGame) with
    /// these words. Default: everybody may.
    ///
    /// # Errors
    /// The reason, for whoever wants to join; it is cut to 120 bytes.
    fn admit(&self, newcomer: &Newcomer) -> Result<(), Reason> {
        let _ = newcomer;
        Ok(())
    }
}

/// Where a game keeps its state: what the netcode saves, loads, publishes and adopts.
///
/// Derive it on a struct of [tables](super::Table). Write it by hand where the state lies elsewhere: in a physics engine, in an
/// entity component system. The contract: `load(save(w))` followed by `step` is bit-identical to never having saved.
pub trait World: Simulate {
    /// Everything that the next step reads.
    type Saved: Default;

    /// The components of its entities.
    fn schema() -> Schema;

    /// Saves what the next step reads. `into` is reused from tick to tick: overwrite all of it.
    fn save(&self, into: &mut Self::Saved);

    /// Goes back to what was saved.
    fn load(&mut self, from: &Self::Saved);

    /// The same for the last time: nobody reads `from` again before it is overwritten. Where a state takes long to copy,
    /// swap it in; the default is [`load`](World::load).
    fn take(&mut self, from: &mut Self::Saved) {
        self.load(from);
    }

    /// Sets the rows that changed since the last call, and removes those that are gone; what is not named is unchanged.
    /// After a `load`, "the last call" is the one that followed the step to the loaded state. All rows count as changed where
    /// `rows` is empty, and those that an `adopt` has changed at the next call. Naming unchanged ones too is correct,
    /// and costs a comparison.
    fn publish(&mut self, rows: &mut Rows);

    /// Takes over the rows: overwrites or creates what has a row, removes what is in [`Rows::removed`] and has none; all
    /// else stays.
    fn adopt(&mut self, rows: &Rows);

    /// The same of rows that are taken for published already: the next [`publish`](World::publish) need not name them, but whatever else
    /// changes by them, as the other components of an entity that is another player's by now. A client writes what it shows of others
    /// into its world by this, before each step; the default is [`adopt`](World::adopt).
    fn adopt_known(&mut self, rows: &Rows) {
        self.adopt(rows);
    }
}
