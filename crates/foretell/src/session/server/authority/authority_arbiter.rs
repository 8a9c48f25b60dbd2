//! Shared mode: clients ask for authority over entities, move what they get, and give it back (F5 to F8).
//!
//! Invariants: a row counts only under the request by which its sender holds the entity now; nothing but what the schema
//! lets an owner write is taken over.

use super::authority_hold::Grant;
use super::authority_holds::HoldTable;
use super::authority_requests::AuthorityRequests;
use crate::session::authority_codec::{Answer, Claim, HeldEntity, HeldRow, HoldRefusal, Holder, Request, Shared};
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::update_log::UpdateLog;
use crate::session::server::update_report::ServerEvent;
use crate::session::{Offence, Offences};
use crate::time::{Instant, Tick, TickRate};
use crate::world::{Audience, Entity, PlayerId, Row, RowKey, Rows, Schema};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Whose datagram it is, and when it comes.
pub(crate) struct Sender<'a> {
    pub player: PlayerId,
    pub offences: &'a mut Offences,
    pub now: Instant,
    /// The newest input of the datagram.
    pub newest: Tick,
    /// The next tick to step, by now.
    pub next: Tick,
    /// How many entities one client may hold.
    pub held_max: usize,
    /// Whether an entity is in the client's view. Of what is not, it learns nothing by asking.
    pub knows: &'a dyn Fn(Entity) -> bool,
}

/// Who is here, and what is written down of them.
pub(crate) trait OffencesByPlayer {
    /// Of a player who is here; `None` of who is lost or has left.
    fn offences_mut(&mut self, player: PlayerId) -> Option<&mut Offences>;
}

/// Who has authority over which entities, and who asks for it.
pub(crate) struct AuthorityArbiter {
    tick_seconds: f64,
    /// The tick that was stepped last.
    stepped: Tick,
    table: HoldTable,
    /// Of those who have ever asked.
    requests: BTreeMap<PlayerId, AuthorityRequests>,
    /// What goes into the world before the next step.
    adopting: Rows,
    /// The entities that are the server's again.
    ended: Vec<Entity>,
}

impl AuthorityArbiter {
    pub(crate) fn new(schema: &Schema, rate: TickRate) -> AuthorityArbiter {
        AuthorityArbiter {
            tick_seconds: rate.seconds(),
            stepped: Tick::ZERO,
            table: HoldTable::new(rate),
            requests: BTreeMap::new(),
            adopting: Rows::new(schema),
            ended: Vec::new(),
        }
    }

    /// Who holds an entity.
    pub(crate) fn holder(&self, entity: Entity) -> Option<Holder> {
        self.table.held().get(entity).map(|held| held.holder)
    }

    /// The entities that are held, ascending: `step` is not to move them.
    pub(crate) fn entities(&self) -> &[Entity] {
        self.table.held().entities()
    }

    /// Every held entity that `player` holds or may see, or that a group may, with its holder, ascending.
    pub(crate) fn seen_by<'a>(&'a self, schema: &'a Schema, player: PlayerId) -> impl Iterator<Item = HeldEntity> + 'a {
        self.table.held().iter().filter_map(move |(entity, held)| {
            let key = RowKey { component: held.component, entity };
            let audience = schema.component(held.component).audience();
            let is_seen = matches!(audience, Audience::Group(_)) || audience.includes(player, held.owner);
            (is_seen || held.holder.player == player).then_some(HeldEntity { key, holder: held.holder })
        })
    }

    /// What became of a player's requests that they may not know, when they have the snapshot of `known`.
    pub(crate) fn answers(&self, player: PlayerId, known: Option<Tick>, into: &mut Vec<Answer>) {
        into.clear();
        if let Some(requests) = self.requests.get(&player) {
            requests.tell(known, into);
        }
    }

    /// Somebody else has the place of a player, and begins anew.
    pub(crate) fn take_over(&mut self, player: PlayerId) {
        self.table.end_all_of(player);
        if let Some(requests) = self.requests.get_mut(&player) {
            requests.forget();
        }
    }

    /// A player has left. What they held goes back with the next step.
    pub(crate) fn remove(&mut self, player: PlayerId) {
        self.requests.remove(&player);
    }

    /// Answers a client's requests and stores its rows: what one datagram of theirs says besides its inputs.
    pub(crate) fn receive(
        &mut self,
        sender: &mut Sender<'_>,
        shared: &Shared,
        state: &AuthoritativeState,
        log: &mut UpdateLog,
    ) {
        // Requests first: rows may come with the request by which they count, and the last ones with the one that gives
        // the entity back.
        for request in &shared.requests {
            self.answer(sender, request, state, log);
        }
        for row in &shared.rows {
            if let Err(offence) = self.take_row(sender, row, state.schema()) {
                sender.offences.note(offence);
            }
        }
    }

    fn answer(&mut self, sender: &mut Sender<'_>, request: &Request, state: &AuthoritativeState, log: &mut UpdateLog) {
        let (player, entity) = (sender.player, request.entity);
        if !self.requests.entry(player).or_insert_with(AuthorityRequests::new).is_new(request.number) {
            return;
        }
        let decided = match request.claim {
            None => {
                let held = self.table.held_mut().get_mut(entity);
                held.filter(|held| held.holder.player == player).into_iter().for_each(|held| held.end());
                Ok(None)
            }
            Some(claim) => self.decide(sender, entity, claim, state).map(|row| Some((row, claim))),
        };
        if let Some(requests) = self.requests.get_mut(&player) {
            requests.note(request, decided.err(), sender.next);
        }
        match decided {
            Err(why) => log.note(ServerEvent::HoldRefused { entity, player, why }),
            Ok(Some((row, claim))) => {
                let grant = Grant { player, request: request.number, claim };
                let kind = state.schema().component(row.component);
                if let Some(loser) = self.table.grant(row, kind, grant, sender.next) {
                    self.note_end(loser, entity, sender.next);
                }
                log.note(ServerEvent::Held { entity, player, claim });
            }
            Ok(None) => {}
        }
    }

    /// Whether a player may have an entity: then its row that they are to write.
    fn decide<'a>(
        &mut self,
        sender: &mut Sender<'_>,
        entity: Entity,
        claim: Claim,
        state: &'a AuthoritativeState,
    ) -> Result<Row<'a>, HoldRefusal> {
        let player = sender.player;
        if !self.requests.entry(player).or_insert_with(AuthorityRequests::new).may_ask(sender.now) {
            sender.offences.note(Offence::Request);
            return Err(HoldRefusal::TooOften);
        }
        // It may have ceased to exist, or left the view, while the request was on its way.
        let owner = state.rows().owner(entity).filter(|owner| *owner == player || (sender.knows)(entity));
        let owner = owner.ok_or(HoldRefusal::NotShared)?;
        let row = shared_row(state, entity).filter(|row| {
            let audience = state.schema().component(row.component).audience();
            may_hold(player, owner) && audience.includes(player, owner)
        });
        let Some(row) = row else {
            sender.offences.note(Offence::Ownership);
            return Err(HoldRefusal::NotShared);
        };
        let holder = self.holder(entity);
        let has_it = holder.is_some_and(|holder| holder.player == player);
        let is_counted = self.table.held().get(entity).is_some_and(|held| held.counts_for(player));
        if !is_counted && self.table.count(player) >= sender.held_max {
            sender.offences.note(Offence::Request);
            return Err(HoldRefusal::TooMany);
        }
        match holder {
            Some(holder) if !has_it && claim <= holder.claim => Err(HoldRefusal::Taken),
            _ => Ok(row),
        }
    }

    /// Stores a row for its tick, if its sender may write it.
    fn take_row(&mut self, sender: &Sender<'_>, row: &HeldRow, schema: &Schema) -> Result<(), Offence> {
        let RowKey { component, entity } = row.key;
        let held = self.table.held_mut().get_mut(entity).filter(|held| {
            held.holder.player == sender.player && held.component == component && held.comes_under(row.request)
        });
        let Some(held) = held else {
            // One that was on its way when the authority was refused, or changed, is no offence.
            let requests = self.requests.get(&sender.player);
            let may_be_late = requests.is_some_and(|known| known.may_be_late(entity, row.request, sender.next));
            return if may_be_late { Ok(()) } else { Err(Offence::Ownership) };
        };
        let Some(tick) = sender.newest.back(row.back) else { return Ok(()) };
        held.store(row, tick, sender.next, schema.component(component))
    }

    /// Before the step of `tick`: what of the world changes by what clients have captured of what they hold; `None` for
    /// nothing. What they hold no more, or may not any more, or whose holder is not here, is the server's again.
    pub(crate) fn advance(
        &mut self,
        tick: Tick,
        state: &AuthoritativeState,
        by_player: &mut impl OffencesByPlayer,
        log: &mut UpdateLog,
    ) -> Option<&Rows> {
        self.adopting.clear();
        // The time of ticks that were skipped has passed, too.
        let passed_ticks = tick.since(core::mem::replace(&mut self.stepped, tick));
        for (entity, held) in self.table.held_mut().iter_mut().rev() {
            let player = held.holder.player;
            let kind = state.schema().component(held.component);
            let before = state.rows().get(RowKey { component: held.component, entity });
            let before = before.filter(|row| may_hold(player, row.owner));
            let (Some(before), Some(offences)) = (before, by_player.offences_mut(player)) else {
                self.ended.push(entity);
                continue;
            };
            held.earn(kind, self.tick_seconds, passed_ticks);
            let adopted = held.adopt(tick, before, kind, &mut self.adopting);
            adopted.offence.into_iter().for_each(|offence| offences.note(offence));
            self.ended.extend(adopted.ends.then_some(entity));
        }
        let mut ended = core::mem::take(&mut self.ended);
        for entity in ended.drain(..) {
            if let Some(player) = self.table.remove(entity, tick) {
                self.note_end(player, entity, tick);
                log.note(ServerEvent::Returned { entity, player });
            }
        }
        self.ended = ended;
        (!self.adopting.is_empty()).then_some(&self.adopting)
    }

    /// What a player held is theirs no more.
    fn note_end(&mut self, player: PlayerId, entity: Entity, at: Tick) {
        if let Some(requests) = self.requests.get_mut(&player) {
            requests.note_end(entity, at);
        }
    }
}

/// Whether a player may have authority over what this owner has.
fn may_hold(player: PlayerId, owner: PlayerId) -> bool {
    [player, PlayerId::SERVER].contains(&owner)
}

/// The row of an entity that a client which has authority over it writes.
fn shared_row(state: &AuthoritativeState, entity: Entity) -> Option<Row<'_>> {
    state.rows().of(entity).find(|row| state.schema().component(row.component).is_shared())
}
