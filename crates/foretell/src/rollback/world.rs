//! The contract between a game and the netcode: a world that can be stepped, saved, loaded, published and adopted.

use super::{Effect, EffectKind, Entity, Input, Kind, PlayerId, Predicted, Rows, Said};
use crate::time::{Tick, TickRate, TickTime};
use core::cell::RefCell;

/// A game's simulation, written once: the same code runs on the server, in the predicting client and in every
/// re-simulation (Q2, Q4, F3).
///
/// The contract: `step` reads nothing but the world and its argument, so that `load(save(w))` followed by `step` is
/// bit-identical to never having saved.
pub trait World {
    /// One player's command for one tick.
    type Input: Input;
    /// Everything that the next step reads. Simplest: the world itself, saved with `clone_from`.
    type Saved: Default;

    /// Simulates exactly one tick: state n and the inputs of tick n make state n + 1. Players that are not in
    /// [`Step::inputs`] are not to be moved (gap policy *hold*), nor are entities whose role is [`Role::Proxy`].
    fn step(&mut self, step: &Step<'_, Self::Input>);

    /// Saves what the next step reads. `into` is reused from tick to tick: overwrite all of it.
    fn save(&self, into: &mut Self::Saved);

    /// Goes back to what was saved.
    fn load(&mut self, from: &Self::Saved);

    /// The same for the last time: nobody reads `from` again before it is overwritten. Where a state takes long to copy,
    /// swap it in; the default is [`load`](World::load).
    fn take(&mut self, from: &mut Self::Saved) {
        self.load(from);
    }

    /// Sets the rows of the entities that changed since the last call, and removes those that are gone; what is not
    /// named is unchanged. After a `load`, "the last call" is the one that followed the step to the loaded state.
    /// All entities count as changed at the first call, and those that an `adopt` has changed at the next one. Naming
    /// unchanged entities too is correct, and costs a comparison: [`Rows::publish_all`] does it for a list or a map.
    fn publish(&self, rows: &mut Rows);

    /// Takes over the state of the entities named: overwrites or creates those with a row, removes those in
    /// [`Rows::removed`]; all others stay. [`Rows::adopt_into`] does it for a list or a map.
    fn adopt(&mut self, rows: &Rows);
}

/// What a step knows about a player's input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum InputStatus {
    /// The player's own command for this tick.
    Received,
    /// It is missing, or on a client not known yet; the last known one is used again.
    Repeated,
    /// It is missing; the neutral one is used.
    Neutral,
}

/// One player's input of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlayerInput<I> {
    /// Whose.
    pub player: PlayerId,
    /// The command.
    pub input: I,
    /// How it came about.
    pub status: InputStatus,
    /// What the player was looking at when the command was sampled: the playout cursor of other entities, in ticks of
    /// the server. `None` when the client showed no other entities, or the input was substituted.
    pub presented: Option<TickTime>,
}

/// Who runs a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Side {
    /// The authority.
    Server,
    /// The client of this player.
    Client(PlayerId),
}

/// How an entity is simulated where a step runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Role {
    /// `step` moves it, and the result is the truth.
    Authority,
    /// `step` moves it, and the result is compared with the authority's.
    Predicted,
    /// Its row is written before the step; `step` must not move it. On a client one that it does not predict, or moves
    /// by frame; on the server one that a client has authority over.
    Proxy,
}

/// The entities that those of other players have touched in a step.
#[derive(Debug, Default)]
pub(crate) struct Contacts(RefCell<Vec<Entity>>);

impl Contacts {
    /// Moves them out, each once, ascending.
    pub(crate) fn take(&mut self, into: &mut Vec<Entity>) {
        into.clear();
        into.append(self.0.get_mut());
        into.sort_unstable();
        into.dedup();
    }
}

/// One tick, as the world sees it.
pub struct Step<'a, I> {
    tick: Tick,
    rate: TickRate,
    side: Side,
    first_time: bool,
    canonical: bool,
    inputs: &'a [PlayerInput<I>],
    joined: &'a [PlayerId],
    left: &'a [PlayerId],
    /// `None` for the player of a client alone.
    predicted: Option<&'a Predicted>,
    /// The entities that clients have authority over, ascending; on the server.
    held: &'a [Entity],
    /// Where touches are told, if anybody listens.
    contacts: Option<&'a Contacts>,
    said: RefCell<Said>,
}

impl<'a, I> Step<'a, I> {
    /// The step of `tick` with these inputs, ascending by player. Client and server make their own; this is for a world
    /// that runs without them: tests, and games offline.
    pub fn new(tick: Tick, rate: TickRate, side: Side, inputs: &'a [PlayerInput<I>]) -> Step<'a, I> {
        Step {
            tick,
            rate,
            side,
            first_time: true,
            canonical: false,
            inputs,
            joined: &[],
            left: &[],
            predicted: None,
            held: &[],
            contacts: None,
            said: RefCell::default(),
        }
    }

    /// The same with players who join and who have left, each ascending.
    #[must_use]
    pub fn with_players(mut self, joined: &'a [PlayerId], left: &'a [PlayerId]) -> Step<'a, I> {
        self.joined = joined;
        self.left = left;
        self
    }

    pub(crate) fn predicting(mut self, predicted: &'a Predicted) -> Step<'a, I> {
        self.predicted = Some(predicted);
        self
    }

    pub(crate) fn holding(mut self, held: &'a [Entity]) -> Step<'a, I> {
        self.held = held;
        self
    }

    pub(crate) fn telling(mut self, contacts: &'a Contacts) -> Step<'a, I> {
        self.contacts = Some(contacts);
        self
    }

    /// The same, with memory for what it says.
    pub(crate) fn saying(mut self, mut said: Said) -> Step<'a, I> {
        said.clear();
        self.said = RefCell::new(said);
        self
    }

    /// What it has said, and its memory.
    pub(crate) fn into_said(self) -> Said {
        self.said.into_inner()
    }

    pub(crate) fn again(mut self) -> Step<'a, I> {
        self.first_time = false;
        self
    }

    pub(crate) fn on_canonical(mut self, canonical: bool) -> Step<'a, I> {
        self.canonical = canonical;
        self
    }

    /// The tick that is simulated.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The length of a tick in seconds.
    pub fn seconds(&self) -> f64 {
        self.rate.seconds()
    }

    /// The players whose input this step applies, ascending: on the server every player but those *held* by the gap
    /// policy, on a client the local one and the others whose entities it predicts, as far as they are known, or by a guess
    /// ([`InputStatus::Repeated`]). A server stepped by arriving inputs names the one that is stepped (R11).
    pub fn inputs(&self) -> &'a [PlayerInput<I>] {
        self.inputs
    }

    /// The input of one player; `None` when it is not stepped in this tick.
    pub fn input(&self, player: PlayerId) -> Option<&'a PlayerInput<I>> {
        self.inputs.binary_search_by_key(&player, |input| input.player).ok().map(|index| &self.inputs[index])
    }

    /// Players that join with this tick, ascending. Empty on a client: what a join creates comes as rows. A player's
    /// number may be among the [`left`](Step::left) too, when it was free and is given again: remove first, then add.
    pub fn joined(&self) -> &'a [PlayerId] {
        self.joined
    }

    /// Players that have left before this tick, ascending. Empty on a client.
    pub fn left(&self) -> &'a [PlayerId] {
        self.left
    }

    /// Whether this is the server. For what no client is to know or to do; what is to be predicted asks
    /// [`simulates`](Step::simulates).
    pub fn is_authority(&self) -> bool {
        self.side == Side::Server
    }

    /// Whether what `player` spawns in this step is simulated here: on the server, on the player's own client, and on one that
    /// predicts all entities of the player, or everything, as in an [exact](crate::session::Rules::exact) session;
    /// [`PlayerId::SERVER`] stands for what belongs to the server.
    ///
    /// What a step brings into the world depends on this, not on [`is_authority`](Step::is_authority): what the authority
    /// alone does no client can predict, and in an exact session that is a difference of the two ends as long as it goes on.
    pub fn simulates(&self, player: PlayerId) -> bool {
        match self.side {
            Side::Server => true,
            Side::Client(own) => self.predicted.map_or(own == player, |predicted| predicted.contains_all_of(player)),
        }
    }

    /// How an entity is simulated here.
    pub fn role(&self, entity: Entity) -> Role {
        match self.side {
            Side::Server if self.held.binary_search(&entity).is_ok() => Role::Proxy,
            Side::Server => Role::Authority,
            Side::Client(own) => match self.predicted {
                Some(predicted) if predicted.contains(entity) => Role::Predicted,
                None if entity.player() == own => Role::Predicted,
                _ => Role::Proxy,
            },
        }
    }

    /// Whether this tick is simulated for the first time here; `false` whenever it is simulated again. For counters and
    /// the like; what a player is to see or hear once is an [`effect`](Step::effect), which is taken back when it turns
    /// out not to have happened.
    pub fn first_time(&self) -> bool {
        self.first_time
    }

    /// Whether both ends throw away, before this step, whatever follows from how the state came about and is not published,
    /// and make it anew from what is: the contacts and the warm starts of a physics engine. Ends that agree on what is
    /// published then agree on everything, bit by bit. Never but in [exact](crate::session::Rules::exact) sessions; a world
    /// that publishes all that its step reads has nothing to do.
    pub fn canonical(&self) -> bool {
        self.canonical
    }

    /// Says that two entities have influenced each other in this tick: they collided, one pushed the other, one hurt the
    /// other. It explains corrections ([`Causes::OTHERS`](crate::session::client::Causes::OTHERS)) where they belong to
    /// different players, or one of them is a proxy on a client, and changes nothing else.
    pub fn touch(&self, a: Entity, b: Entity) {
        let is_client = matches!(self.side, Side::Client(_));
        let explains = || a.player() != b.player() || is_client && self.role(a) != self.role(b);
        if let Some(contacts) = self.contacts.filter(|_| explains()) {
            contacts.0.borrow_mut().extend([a, b]);
        }
    }

    /// The name of a new entity of `player`, the same on both ends.
    ///
    /// # Panics
    /// When one player spawns more than 256 entities of one kind in one tick.
    pub fn spawn(&self, kind: Kind, player: PlayerId) -> Entity {
        let spawned = &mut self.said.borrow_mut().spawned;
        let counter = match spawned.iter_mut().find(|entry| (entry.0, entry.1) == (kind, player)) {
            Some(entry) => {
                entry.2 = entry.2.checked_add(1).expect("at most 256 entities of one kind, player and tick");
                entry.2
            }
            None => {
                spawned.push((kind, player, 0));
                0
            }
        };
        Entity::new(kind, player, self.tick, counter)
    }

    /// Something happens to `entity` that leaves nothing behind in the state: a shot, a hit. The client that predicts it
    /// tells it at once, and what became of it later; the others tell it when they show its tick
    /// ([`ClientEvent::Effect`](crate::session::client::ClientEvent::Effect)). One of each kind for each entity and tick:
    /// said twice it happens once.
    pub fn effect(&self, kind: EffectKind, entity: Entity) {
        self.say(Effect { tick: self.tick, entity, kind, at: None });
    }

    /// The same, with a place in metres.
    pub fn effect_at(&self, kind: EffectKind, entity: Entity, at: [f32; 3]) {
        self.say(Effect { tick: self.tick, entity, kind, at: Some(at) });
    }

    fn say(&self, effect: Effect) {
        let effects = &mut self.said.borrow_mut().effects;
        if !effects.iter().any(|known| known.name() == effect.name()) {
            effects.push(effect);
        }
    }
}
