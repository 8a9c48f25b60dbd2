//! What a client's update reports: its state, what was corrected and why, and what has happened.

use super::correction_causes::Causes;
use crate::motion::Pose;
use crate::session::{Claim, HoldRefusal, Refusal};
use crate::time::Tick;
use crate::world::{Difference, Effect, Entity, PlayerId, ReceivedMessage};

/// How the client fares. Data, not errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ClientState {
    /// It waits for the server's answer or for the first snapshot, as long as
    /// [`ClientConfig::join_timeout`](super::ClientConfig::join_timeout) says.
    Joining,
    /// It was refused, or has given up: it asks and plays no more. For another try make another client.
    Refused(Refusal),
    /// All is well.
    Playing,
    /// No snapshot for more than 250 ms and three snapshot intervals: it predicts on, and others stand still soon.
    Starved,
    /// A re-simulation is spread over several updates.
    Behind,
    /// It fell so far behind that it waits for a snapshot to start again from; or ran so far ahead that it waits
    /// for the server. Or it starts again from every snapshot, as all of them are older than the horizon.
    Resyncing,
    /// No snapshot for 5 s. It still listens, and asks for its place again: it goes on when the server has kept it, else it
    /// joins anew. The game has nothing to do for that; as long as this lasts, and while inputs starve, it
    /// had better press nothing, or its player runs off on this screen alone and is put back.
    Lost,
}

/// One correction of one entity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Corrected {
    /// Whose state was corrected.
    pub entity: Entity,
    /// Whose it is.
    pub owner: PlayerId,
    /// The tick of the state that was compared before: what explains the difference lies in the ticks from here to
    /// `tick`, without it.
    pub since: Tick,
    /// The tick of the authority's state that differed from the prediction, or the first that was simulated with an input
    /// that has turned out to be wrong.
    pub tick: Tick,
    /// The tick up to which it was simulated again.
    pub until: Tick,
    /// The first field that differed; `None` where every state is adopted, after a resync, and where an entity follows from
    /// the correction of another or from an input of another player.
    pub difference: Option<Difference>,
    /// Why.
    pub causes: Causes,
    /// The distance between the authority's position and the prediction of its tick, in metres; where there is no
    /// difference, by how much the newest position has changed.
    pub misprediction_m: f64,
    /// The distance between what was shown just before and what is simulated after, in metres: what the visual offset
    /// hides, or what the player saw as a jump.
    pub shown_m: f64,
    /// Whether it was shown at once: it was too large to hide, or the entity was [put elsewhere](crate::Meaning::Teleports).
    pub teleport: bool,
}

/// What a correction that has landed did to an entity.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Landed {
    /// How far it is from where it was shown, in metres.
    pub moved_m: f64,
    /// Whether that is shown at once.
    pub teleport: bool,
}

/// What an update ran.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct TickCounts {
    pub ticks: u32,
    pub resimulated: u32,
}

/// Something that happened in an update.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ClientEvent {
    /// A session has begun, as this player. Again after a loss for which the server did not keep the place, or in which it
    /// started anew.
    Joined(PlayerId),
    /// It is not let into the session, or not kept in it, and ends: the reason, for the player. Told once; from then on it is
    /// the [state](ClientState::Refused). Where the rules are why, [`Client::differing`](super::Client::differing) says more.
    Refused(Refusal),
    /// The server has answered again after the client was lost, or slept for long: the session goes on, as this player.
    Rejoined(PlayerId),
    /// The client started again from the authority's full state of `tick`.
    Resynced {
        /// The state that it started from.
        tick: Tick,
        /// How many ticks it simulated from there.
        replayed: u32,
    },
    /// The server put something else in the place of the inputs of this many ticks, of which it was not known yet.
    Substituted {
        /// The newest of these ticks.
        newest: Tick,
        /// How many.
        ticks: u32,
    },
    /// The network is so bad that more inputs come late than [`ClientConfig::late_inputs_max`](super::ClientConfig) says,
    /// and a lead that would prevent it is longer than `lead_max` allows. Reported when it begins.
    SlackLimited {
        /// The lead beyond the fastest way that would prevent it, in ticks.
        asked_ticks: f64,
    },
    /// The state of an [exact](crate::session::Rules::exact) session is not the server's, and no input of anybody, no event of the
    /// server's and nobody who came or went explains it: see [`Causes::ENDS_DIFFER`], the cause of the corrections that
    /// follow. Reported once, as soon as it is known, and again when the ends have agreed in between.
    EndsDiffer {
        /// The last state in which they agreed.
        since: Tick,
        /// The state in which they don't.
        tick: Tick,
    },
    /// The authority over an entity that this client has asked for or had: what has become of it.
    Authority {
        /// Of which entity.
        entity: Entity,
        /// What.
        what: AuthorityChange,
    },
    /// An entity is there for the first time: predicted, or shown as another's. `Confirmed` or `Withdrawn` follows.
    Spawned(Entity),
    /// The authority has it, or has had it.
    Confirmed(Entity),
    /// A predicted entity that the authority never had is gone.
    Withdrawn {
        /// Which.
        entity: Entity,
        /// Where it was shown last, for the game to fade it.
        pose: Pose,
    },
    /// An entity of another's, or of the server's, has left the view of this player: by
    /// [`ServerConfig::interest`](crate::ServerConfig::interest), or by the game's own
    /// [rules](crate::InterestRules). It is not shown any more, and nothing more is told about it, not even its end; `Shown`
    /// follows when it comes back.
    Hidden {
        /// Which.
        entity: Entity,
        /// Where it was shown last.
        pose: Pose,
    },
    /// An entity that was hidden is in view again.
    Shown(Entity),
    /// An entity is gone for good: the authority does not have it any more, and it is not shown. One that prediction
    /// alone has removed is not shown either, but may come back. Of those that are hidden the 1,024 newest wait to be shown
    /// again; an older one is told as gone, too, and as spawned when it comes back.
    Despawned {
        /// Which.
        entity: Entity,
        /// Where it was shown last.
        pose: Pose,
    },
    /// An effect is to be seen or heard now. `EffectConfirmed` or `EffectCancelled` follows. It comes a second time only
    /// when a re-simulation has cancelled what the authority has after all.
    Effect {
        /// Which.
        effect: Effect,
        /// How many ticks it is late: 0 when it was predicted; more when it was not, or when updates are rare.
        late: u32,
    },
    /// The authority has it too.
    EffectConfirmed(Effect),
    /// It did not happen: a re-simulation, or the authority, does not have it.
    EffectCancelled(Effect),
    /// The authority has changed it, too, where this client's player had [changed](crate::Step::change) what is not their own.
    ChangeConfirmed {
        /// In which tick.
        tick: Tick,
        /// What.
        entity: Entity,
    },
    /// It has not: somebody else was first, or the input came too late; or nobody has said so for 1000 ticks. What was changed is as
    /// it was, what followed from it is corrected, and it can't be changed again before it is shown as it was then. Where the client
    /// begins anew before the answer comes, neither is told; nor where a correction takes the change away, as the step is made again without it.
    ChangeRefused {
        /// In which tick.
        tick: Tick,
        /// What.
        entity: Entity,
    },
}

/// What has become of the authority over an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuthorityChange {
    /// From now on the game moves it ([`Client::held`](super::Client::held), [`Client::capture`](super::Client::capture)).
    /// Mostly this comes before the answer.
    Began,
    /// The server agrees.
    Granted(Claim),
    /// The server does not. If this was the first request for it the game moves it no more.
    Refused(HoldRefusal),
    /// This player has it now, and the game moves it no more.
    Lost(PlayerId),
    /// It is the server's again, and the game moves it no more: it was given back, has come to rest, has become another variant, or is
    /// gone.
    Returned,
}

/// What an update did. Valid until the next one.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// How the client fares.
    pub state: ClientState,
    /// The next tick to run.
    pub tick: Tick,
    /// How many new ticks ran.
    pub ticks: u32,
    /// How many ticks were simulated again.
    pub resimulated: u32,
    /// What was corrected, ascending by entity.
    pub corrections: &'a [Corrected],
    /// What happened, in order.
    pub events: &'a [ClientEvent],
    /// Messages from the server, in the order in which they are to be told.
    pub messages: &'a [ReceivedMessage],
}
