//! One tick, as a game sees it: the inputs and what else has come, and whatever a step may ask for and say.

use super::rewind_source::{PastState, RewindSource};
use super::simulation_roles::{Role, Roles, Side};
use super::{Change, Effect, EffectKind, Entity, Hit, Leaver, Message, Newcomer, Owned, PlayerId, RewindMoment};
use super::{PlayerInput, PlayerMessage, PredictionSet, ReceivedMessage, Rewound, StepOutput};
use crate::time::{Tick, TickRate};

/// One tick, as the world sees it.
pub struct Step<'a, I> {
    tick: Tick,
    rate: TickRate,
    roles: Roles<'a>,
    first_time: bool,
    canonical: bool,
    inputs: &'a [PlayerInput<I>],
    messages: &'a [ReceivedMessage],
    joined: &'a [Newcomer],
    left: &'a [Leaver],
    past: Option<&'a dyn RewindSource>,
    /// Ascending by player; empty where everybody is trusted.
    rewinds: &'a [RewindMoment],
    output: StepOutput,
}

impl<'a, I> Step<'a, I> {
    /// The step of `tick` with these inputs, ascending by player. Client and server make their own; this is for a world
    /// that runs without them: tests, and games offline.
    pub fn new(tick: Tick, rate: TickRate, side: Side, inputs: &'a [PlayerInput<I>]) -> Step<'a, I> {
        Step {
            tick,
            rate,
            roles: Roles::new(side),
            first_time: true,
            canonical: false,
            inputs,
            messages: &[],
            joined: &[],
            left: &[],
            past: None,
            rewinds: &[],
            output: StepOutput::default(),
        }
    }

    /// The same with who joins and who has left, each ascending by player.
    #[must_use]
    pub fn with_players(mut self, joined: &'a [Newcomer], left: &'a [Leaver]) -> Step<'a, I> {
        self.joined = joined;
        self.left = left;
        self
    }

    /// The same with messages of players, ascending by player, those of one as they were sent.
    #[must_use]
    pub fn with_messages(mut self, messages: &'a [ReceivedMessage]) -> Step<'a, I> {
        self.messages = messages;
        self
    }

    /// The same on a client that simulates the entities that `predicted` names.
    #[must_use]
    pub fn predicting(mut self, predicted: &'a PredictionSet) -> Step<'a, I> {
        self.roles.predicted = Some(predicted);
        self
    }

    /// The same in these roles.
    #[must_use]
    pub fn in_roles(mut self, roles: Roles<'a>) -> Step<'a, I> {
        self.roles = roles;
        self
    }

    /// The same with a state in which [`rewound`](Step::rewound) finds others; without it finds none.
    #[must_use]
    pub fn with_past(self, past: &'a PastState<'a>) -> Step<'a, I> {
        self.looking_back(past, &[])
    }

    /// The same with a past, and the moments that players are judged by, ascending by player.
    pub(crate) fn looking_back(mut self, past: &'a dyn RewindSource, rewinds: &'a [RewindMoment]) -> Step<'a, I> {
        (self.past, self.rewinds) = (Some(past), rewinds);
        self
    }

    /// The same on a client, where the server has said that these were not changed.
    pub(crate) fn refusing(mut self, refused: &'a [Entity]) -> Step<'a, I> {
        self.roles.refused = refused;
        self
    }

    pub(crate) fn holding(mut self, held: &'a [Entity]) -> Step<'a, I> {
        self.roles.held = held;
        self
    }

    /// The same, with memory for its output.
    pub(crate) fn with_output(mut self, mut output: StepOutput) -> Step<'a, I> {
        output.clear();
        self.output = output;
        self
    }

    /// What it has said, and its memory.
    pub(crate) fn into_output(mut self) -> StepOutput {
        self.output.contacts.sort_unstable();
        self.output.contacts.dedup();
        self.output
    }

    /// The same, [not for the first time](Step::first_time).
    #[must_use]
    pub fn again(mut self) -> Step<'a, I> {
        self.first_time = false;
        self
    }

    /// The same, [canonical](Step::canonical) or not.
    #[must_use]
    pub fn on_canonical(mut self, canonical: bool) -> Step<'a, I> {
        self.canonical = canonical;
        self
    }

    /// The tick that is simulated.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// How many ticks there are in a second.
    pub fn rate(&self) -> TickRate {
        self.rate
    }

    /// The length of a tick in seconds.
    pub fn seconds(&self) -> f64 {
        self.rate.seconds()
    }

    /// The players whose input this step applies, ascending: on the server every player but those *held* by the gap
    /// policy, on a client the local one and the others whose entities it predicts, as far as they are known, or by a guess
    /// ([`InputStatus::Repeated`](super::InputStatus::Repeated)).
    pub fn inputs(&self) -> &'a [PlayerInput<I>] {
        self.inputs
    }

    /// The input of one player; `None` when it is not stepped in this tick.
    pub fn input(&self, player: PlayerId) -> Option<&'a PlayerInput<I>> {
        self.inputs.binary_search_by_key(&player, |input| input.player).ok().map(|index| &self.inputs[index])
    }

    /// The messages of this type that belong to this tick ([`Delivery::InStep`](super::Delivery::InStep)), ascending by player, those
    /// of one as they were sent. On the server everybody's; on a client the local player's, as they are predicted: what they bring
    /// about for others it sees when it is told.
    pub fn messages<M: Message>(&self) -> impl Iterator<Item = PlayerMessage<'a, M>> + use<'a, M, I> {
        let messages = self.messages.iter();
        messages.filter_map(|sent| Some(PlayerMessage { player: sent.from(), message: sent.get()? }))
    }

    /// All of them, of whatever type.
    pub fn all_messages(&self) -> &'a [ReceivedMessage] {
        self.messages
    }

    /// Those of one player.
    pub fn messages_of<M: Message>(&self, player: PlayerId) -> impl Iterator<Item = &'a M> + use<'a, M, I> {
        self.messages().filter(move |sent| sent.player == player).map(|sent| sent.message)
    }

    /// Who joins with this tick, and what is known of them, ascending by player: their clients have shown that they hear the server,
    /// so that a body made now is not for nobody. Of whom nothing comes after that is among the [`left`](Step::left) within the
    /// server's [`timeout`](crate::ServerConfig::timeout). Each is here once, however often their client was cut off and came back.
    /// [Spectators](crate::Seat::Spectator) are among them. Empty on a client: what a join creates comes as rows. A player's number
    /// may be among the left too, when it was free and is given again: remove first, then add.
    pub fn joined(&self) -> &'a [Newcomer] {
        self.joined
    }

    /// Who has left before this tick, and how that has come, ascending by player. Empty on a client, which is not told: what a
    /// departure removes or changes comes as rows.
    pub fn left(&self) -> &'a [Leaver] {
        self.left
    }

    /// Whether this player is among them.
    pub fn has_left(&self, player: PlayerId) -> bool {
        self.left.binary_search_by_key(&player, |left| left.player).is_ok()
    }

    /// Whether this is the server. For what no client is to know or to do; what is to be predicted asks
    /// [`simulates`](Step::simulates).
    pub fn is_authority(&self) -> bool {
        self.roles.is_authority()
    }

    /// Whether what `player` spawns in this step is simulated here: on the server, on the player's own client, and on one that
    /// predicts all entities of the player, or everything, as in an [exact](crate::session::Rules::exact) session;
    /// [`PlayerId::SERVER`] stands for what belongs to the server.
    ///
    /// What a step brings into the world depends on this, not on [`is_authority`](Step::is_authority): what the authority
    /// alone does no client can predict, and in an exact session that is a difference of the two ends as long as it goes on.
    pub fn simulates(&self, player: PlayerId) -> bool {
        self.roles.simulates(player)
    }

    /// How an entity is simulated here.
    pub fn role(&self, of: Owned) -> Role {
        self.roles.of(of)
    }

    /// How each entity is simulated here.
    pub fn roles(&self) -> Roles<'a> {
        self.roles
    }

    /// Whether this tick is simulated for the first time here; `false` whenever it is simulated again. For counters and the like; what
    /// a player is to see or hear once is an [`effect`](Step::effect), which is taken back when it has not happened.
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
    /// different players, or one of them is a proxy on a client, and changes nothing else. Where the server's step alone says it (its
    /// guard has hit a player), the clients of both are told.
    pub fn touch(&mut self, a: Owned, b: Owned) {
        if a.owner != b.owner || !self.is_authority() && self.role(a) != self.role(b) {
            self.output.contacts.extend([a.entity, b.entity]);
        }
    }

    /// Whether `by`, which this step moves, may change `of` now, which it only finds: a pickup that is taken, a door that is opened.
    /// Mostly asked by way of [`Table::change`](super::Table::change). Where it says yes, the change is to be made: in this step, of
    /// one entity or several of its tables, or it is removed.
    ///
    /// The server says yes, but for what a client has authority over. So does the client of `by`'s player, ahead of it: what the step
    /// makes of the entity stays there, and is shown, until what is told of it is as new; where no step has made another of where it is
    /// and how fast, it goes on as it is told. Where the server's step of the same tick
    /// did not ask for the same, the change is taken back, and not allowed again until then:
    /// [`ChangeRefused`](crate::session::client::ClientEvent::ChangeRefused). Other clients say no; they are told.
    pub fn change(&mut self, by: Owned, of: Owned) -> bool {
        let may = self.roles.may_change(by, of);
        let change = Change { by, of };
        let is_told = self.is_authority() || self.role(of) == Role::Proxy;
        if may && is_told && !self.output.changes.contains(&change) {
            self.output.changes.push(change);
        }
        may
    }

    /// Others as `player` saw them when it made its input of this tick, in fractions of a tick: what a shot is judged by, so that what
    /// was aimed at is hit. The server goes back to what the client says that it showed ([`PlayerInput::presented`]), but not
    /// further than it can have shown on its link, nor than [`ServerConfig::rewind_max`](crate::ServerConfig::rewind_max); a client
    /// has what it shows, and in a re-simulation what it showed. See `docs/SHOTS.md`.
    pub fn rewound(&self, player: PlayerId) -> Rewound<'a> {
        let found = self.rewinds.binary_search_by_key(&player, |rewind| rewind.player).ok();
        let claimed = || self.input(player).and_then(|input| input.presented);
        let rewind = found.map(|at| self.rewinds[at]);
        Rewound::new(self.past, rewind.unwrap_or_else(|| RewindMoment::trusted(player, claimed(), self.tick)))
    }

    /// Says that `shooter` has hit `victim`, judged by [`rewound`](Step::rewound). It changes nothing; the server reports a
    /// [receipt](crate::session::HitReceipt) of it, on what moment it was judged and what that is made of.
    pub fn hit(&mut self, shooter: PlayerId, victim: Owned) {
        if self.is_authority() {
            let past = self.rewound(shooter);
            let error_m = past.error_m(victim.entity);
            self.output.hits.push(Hit { rewind: past.rewind(), victim, error_m });
        }
    }

    /// The name of a new entity for `player`, the same on both ends, which spawn for them in the same order: the tick, the player, and a
    /// counter from 0. What a level [begins with](super::Table::insert) should have no name of tick 0 that its step gives.
    ///
    /// # Panics
    /// When more than 65,536 entities are spawned for one player in one tick.
    pub fn spawn(&mut self, player: PlayerId) -> Entity {
        let spawned = &mut self.output.spawned;
        let counter = match spawned.iter_mut().find(|(of, _)| *of == player) {
            Some((_, counter)) => {
                *counter = counter.checked_add(1).expect("at most 65,536 entities are spawned for a player in a tick");
                *counter
            }
            None => {
                spawned.push((player, 0));
                0
            }
        };
        Entity::new(player, self.tick, counter)
    }

    /// Something happens to `entity` that leaves nothing behind in the state: a shot, a hit. The client that predicts it
    /// tells it at once, and what became of it later; the others tell it when they show its tick
    /// ([`ClientEvent::Effect`](crate::session::client::ClientEvent::Effect)). One of each kind for each entity and tick:
    /// said twice it happens once.
    pub fn effect(&mut self, kind: EffectKind, entity: Entity) {
        self.output.say(Effect { tick: self.tick, entity, kind, at: None });
    }

    /// The same, with a place in metres.
    pub fn effect_at(&mut self, kind: EffectKind, entity: Entity, at: [f32; 3]) {
        self.output.say(Effect { tick: self.tick, entity, kind, at: Some(at) });
    }

    /// The effects that it has had until now, in the order in which they happened: for a world that runs without client and server.
    pub fn effects(&self) -> &[Effect] {
        &self.output.effects
    }

    /// The hits that it has said until now, in their order: by which moment they are judged, and who was hit. None on a client.
    pub fn hits(&self) -> impl Iterator<Item = (RewindMoment, Owned)> {
        self.output.hits.iter().map(|hit| (hit.rewind, hit.victim))
    }
}
