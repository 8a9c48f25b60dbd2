//! Authority that clients have over entities: who gets it, and how their rows get into the world (F5 to F8).
//!
//! Invariants: an entity has one holder at most; `held` is ascending by entity; a row counts only under the request by
//! which its sender holds the entity now; nothing but what the schema lets an owner write is taken over.

use super::authority_requests::AuthorityRequests;
use super::peer::Peer;
use super::speed_limit::{RoundingSlacks, TravelBudget, offence_of};
use super::{Server, ServerEvent};
use crate::session::Offence;
use crate::session::authority::{Claim, HeldEntity, HeldRow, HoldRefusal, Holder, Request};
use crate::time::{Instant, Tick, TickRate};
use crate::world::{
    Audience, ComponentId, ComponentSchema, Entity, PlayerId, ROW_WORDS_MAX, Row, RowKey, Rows, Schema, World,
};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A row may be captured so many ticks after the next step, at most: as far ahead as inputs may be.
const AHEAD_TICKS_MAX: u32 = 64;
/// How many rows of an entity wait for their ticks, at most: one for each of these.
const ROWS_WAITING_MAX: usize = AHEAD_TICKS_MAX as usize + 1;

/// An entity that a client has authority over.
#[derive(Clone, Debug)]
struct Held {
    entity: Entity,
    /// Of which component its rows are, and whose the entity is.
    component: ComponentId,
    owner: PlayerId,
    holder: Holder,
    /// By which of its requests, and which was the last for it: rows come under these and those in between.
    request: u16,
    latest: u16,
    /// Rows that wait for their ticks, ascending.
    rows: VecDeque<(Tick, HeldRow)>,
    /// When the newest row that was taken over was captured.
    adopted: Option<Tick>,
    /// How far it may go now.
    travel: TravelBudget,
    /// What it was held back from, and goes on towards.
    ahead: Option<HeldRow>,
    /// It goes back to the server with the next step, and its newest row with it.
    ends: bool,
}

impl Held {
    /// Whether rows with this request are meant for this hold: from the one by which it began to the last.
    fn comes_under(&self, request: u16) -> bool {
        request.wrapping_sub(self.request) <= self.latest.wrapping_sub(self.request)
    }
}

/// All entities that clients have authority over.
#[derive(Clone, Debug)]
pub(super) struct AuthorityTable {
    held: Vec<Held>,
    /// The entities in it.
    entities: Vec<Entity>,
    /// The numbers of the newest grants.
    authority: u16,
    ownership: u16,
    adopting: Rows,
    /// Of those that were in it.
    slacks: RoundingSlacks,
    /// Memory of holds that have ended.
    spare: Vec<(VecDeque<(Tick, HeldRow)>, TravelBudget)>,
}

impl AuthorityTable {
    pub(super) fn new(schema: &Schema, rate: TickRate) -> AuthorityTable {
        AuthorityTable {
            held: Vec::new(),
            entities: Vec::new(),
            authority: 0,
            ownership: 0,
            adopting: Rows::new(schema),
            slacks: RoundingSlacks::new(rate),
            spare: Vec::new(),
        }
    }

    /// Whether nobody holds anything.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Who holds an entity.
    pub(super) fn holder(&self, entity: Entity) -> Option<Holder> {
        self.find(entity).ok().map(|at| self.held[at].holder)
    }

    /// Every entity that `player` may see with its holder, ascending.
    pub(super) fn seen_by<'a>(&'a self, schema: &'a Schema, player: PlayerId) -> impl Iterator<Item = HeldEntity> + 'a {
        let seen = move |held: &&Held| schema.component(held.component).audience().includes(player, held.owner);
        let key = |held: &Held| RowKey { component: held.component, entity: held.entity };
        self.held.iter().filter(seen).map(move |held| HeldEntity { key: key(held), holder: held.holder })
    }

    /// The entities that `step` is not to move, ascending.
    pub(super) fn entities(&self) -> &[Entity] {
        &self.entities
    }

    fn find(&self, entity: Entity) -> Result<usize, usize> {
        self.held.binary_search_by_key(&entity, |held| held.entity)
    }

    fn count(&self, player: PlayerId) -> usize {
        self.held.iter().filter(|held| held.holder.player == player).count()
    }

    /// Gives an entity to a player who may have it. Returns who has lost it.
    fn grant(
        &mut self,
        (row, kind): ((RowKey, PlayerId), &ComponentSchema),
        (player, request, claim): (PlayerId, u16, Claim),
        tick: Tick,
    ) -> Option<PlayerId> {
        let (RowKey { component, entity }, owner) = row;
        let at = self.find(entity).unwrap_or_else(|at| {
            let empty = || (VecDeque::with_capacity(ROWS_WAITING_MAX), TravelBudget::default());
            let (rows, mut travel) = self.spare.pop().unwrap_or_else(empty);
            travel.begin(kind, self.slacks.of(entity, tick));
            let holder = Holder { player: PlayerId::SERVER, claim: Claim::Authority, authority: 0, ownership: 0 };
            let (latest, adopted, ahead, ends) = (request, None, None, false);
            let held = Held { entity, component, owner, holder, request, latest, rows, adopted, travel, ahead, ends };
            self.held.insert(at, held);
            self.entities.insert(at, entity);
            at
        });
        let held = &mut self.held[at];
        let before = held.holder.player;
        let is_new = before != player;
        if is_new {
            self.authority = self.authority.wrapping_add(1);
            held.holder.authority = self.authority;
            held.rows.clear();
            (held.adopted, held.ahead, held.request) = (None, None, request);
            held.travel.begin(kind, held.travel.slack_m());
        }
        if claim == Claim::Ownership && (is_new || held.holder.claim < claim) {
            self.ownership = self.ownership.wrapping_add(1);
            held.holder.ownership = self.ownership;
        }
        (held.holder.player, held.holder.claim, held.latest, held.ends) = (player, claim, request, false);
        Some(before).filter(|loser| is_new && *loser != PlayerId::SERVER)
    }

    /// Everything that a player holds goes back with the next step.
    pub(super) fn end_all_of(&mut self, player: PlayerId) {
        self.held.iter_mut().filter(|held| held.holder.player == player).for_each(|held| held.ends = true);
    }

    fn remove(&mut self, at: usize, tick: Tick) -> Held {
        self.entities.remove(at);
        let mut held = self.held.remove(at);
        self.slacks.keep(held.entity, tick, held.travel.slack_m());
        let mut memory = (core::mem::take(&mut held.rows), core::mem::take(&mut held.travel));
        memory.0.clear();
        self.spare.push(memory);
        held
    }
}

impl<W: World> Server<W> {
    /// Who has authority over an entity; `None` is the server itself.
    pub fn holder(&self, entity: Entity) -> Option<Holder> {
        self.authority.holder(entity)
    }

    /// Answers a client's requests and stores its rows: what one datagram of theirs says besides its inputs.
    pub(super) fn take_shared(&mut self, now: Instant, index: usize, newest: Tick) {
        let shared = core::mem::take(&mut self.shared);
        // Requests first: rows may come with the request by which they count, and the last ones with the one that gives
        // the entity back.
        for request in &shared.requests {
            self.answer(now, index, request);
        }
        for row in &shared.rows {
            self.take_row(index, newest, row);
        }
        self.shared = shared;
    }

    fn answer(&mut self, now: Instant, index: usize, request: &Request) {
        let player = self.peers[index].player;
        if !self.peers[index].requests.is_new(request.number) {
            return;
        }
        let refused = match request.claim {
            None => {
                self.let_go(player, request.entity);
                None
            }
            Some(claim) => self.decide(now, index, (request.entity, claim)).err(),
        };
        let tick = self.next;
        self.peers[index].requests.note(request, refused, tick);
        let (entity, number) = (request.entity, request.number);
        match (request.claim, refused) {
            (_, Some(why)) => self.frame.note(ServerEvent::HoldRefused { entity, player, why }),
            (Some(claim), None) => {
                let row = self.shared_row(entity).expect("it was decided that there is one");
                let row = (row.key(), row.owner);
                let kind = self.rules.schema.component(row.0.component);
                let loser = self.authority.grant((row, kind), (player, number, claim), tick);
                if let Some(loser) = loser {
                    AuthorityRequests::end_of(&mut self.peers, loser, entity, tick);
                }
                self.frame.note(ServerEvent::Held { entity, player, claim });
            }
            (None, None) => {}
        }
    }

    /// Whether a player may have an entity.
    fn decide(&mut self, now: Instant, index: usize, (entity, claim): (Entity, Claim)) -> Result<(), HoldRefusal> {
        let held_max = usize::from(self.held_max());
        let Peer { player, requests, stats, .. } = &mut self.peers[index];
        let player = *player;
        if !requests.may_ask(now) {
            stats.ledger.note(Offence::Request);
            return Err(HoldRefusal::TooOften);
        }
        // It may have ceased to exist while the request was on its way.
        let Some(owner) = self.published.owner(entity) else { return Err(HoldRefusal::NotShared) };
        let shared = shared_row(&self.published, &self.rules.schema, entity);
        let is_theirs = [player, PlayerId::SERVER].contains(&owner);
        let is_seen = shared.is_some_and(|(audience, _)| audience.includes(player, owner));
        if !is_theirs || !is_seen {
            stats.ledger.note(Offence::Ownership);
            return Err(HoldRefusal::NotShared);
        }
        let holder = self.authority.holder(entity);
        let has_it = holder.is_some_and(|holder| holder.player == player);
        if !has_it && self.authority.count(player) >= held_max {
            stats.ledger.note(Offence::Request);
            return Err(HoldRefusal::TooMany);
        }
        match holder {
            Some(holder) if !has_it && claim <= holder.claim => Err(HoldRefusal::Taken),
            _ => Ok(()),
        }
    }

    /// The row of an entity that its holder writes.
    fn shared_row(&self, entity: Entity) -> Option<Row<'_>> {
        shared_row(&self.published, &self.rules.schema, entity).map(|(_, row)| row)
    }

    /// A player gives an entity back, if it is theirs.
    fn let_go(&mut self, player: PlayerId, entity: Entity) {
        if let Ok(at) = self.authority.find(entity)
            && self.authority.held[at].holder.player == player
        {
            self.authority.held[at].ends = true;
        }
    }

    /// Stores a row for its tick, if its sender may write it.
    fn take_row(&mut self, index: usize, newest: Tick, row: &HeldRow) {
        let Peer { player, requests, stats, .. } = &mut self.peers[index];
        let found = self.authority.find(row.key.entity).ok().map(|at| &mut self.authority.held[at]);
        let is_theirs = |held: &&mut Held| {
            held.holder.player == *player && held.component == row.key.component && held.comes_under(row.request)
        };
        let Some(held) = found.filter(is_theirs) else {
            // One that was on its way when the authority was refused, or changed, is no offence.
            if !requests.may_be_late(row.key.entity, row.request, self.next) {
                stats.ledger.note(Offence::Ownership);
            }
            return;
        };
        let Some(tick) = newest.back(row.back) else { return };
        let kind = self.rules.schema.component(row.key.component);
        let offence = offence_of(kind, &row.words);
        let offence = offence.or((tick.since(self.next) > AHEAD_TICKS_MAX).then_some(Offence::Time));
        if let Some(offence) = offence {
            stats.ledger.note(offence);
            return;
        }
        if held.adopted.is_some_and(|adopted| tick <= adopted) {
            return;
        }
        if let Err(mut at) = held.rows.binary_search_by_key(&tick, |(tick, _)| *tick) {
            if held.rows.len() == ROWS_WAITING_MAX {
                // The oldest is worth least, be it this one.
                let Some(later) = at.checked_sub(1) else { return };
                held.rows.pop_front();
                at = later;
            }
            held.rows.insert(at, (tick, *row));
        }
    }

    /// Before the step of `tick`: takes what clients have captured of what they hold into the world, and back what they
    /// hold no more.
    pub(super) fn adopt_held(&mut self, world: &mut W, tick: Tick) {
        if self.authority.held.is_empty() {
            return;
        }
        self.authority.adopting.clear();
        for at in (0..self.authority.held.len()).rev() {
            self.adopt_one(at, tick);
        }
        if !self.authority.adopting.is_empty() {
            world.adopt(&self.authority.adopting);
            world.publish(&mut self.published);
            self.settle();
        }
    }

    fn adopt_one(&mut self, at: usize, tick: Tick) {
        let held = &mut self.authority.held[at];
        let (component, entity, player) = (held.component, held.entity, held.holder.player);
        let found = self.peers.binary_search_by_key(&player, |peer| peer.player).ok();
        let peer = found.map(|index| &mut self.peers[index]).filter(|peer| peer.lost.is_none());
        let (Some(peer), Some(before)) = (peer, self.published.get(RowKey { component, entity })) else {
            self.end_hold(at, tick);
            return;
        };
        let (kind, words) = (self.rules.schema.component(component), before.words);
        held.owner = before.owner;
        held.travel.earn(kind, self.rules.tick_rate.seconds());
        let mut newest = None;
        while held.rows.front().is_some_and(|(captured, _)| *captured <= tick || held.ends) {
            newest = held.rows.pop_front();
        }
        let mut ends = held.ends;
        held.adopted = newest.map(|(captured, _)| captured).or(held.adopted);
        if let Some(row) = newest.map(|(_, row)| row).or(held.ahead.take()) {
            ends |= row.rests && held.holder.claim == Claim::Authority;
            let mut into = [0; ROW_WORDS_MAX];
            let into = &mut into[..words.len()];
            into.copy_from_slice(words);
            kind.copy_owned(&row.words[..words.len()], into);
            if let Some(offence) = held.travel.hold_back(kind, words, into) {
                if newest.is_some() {
                    peer.stats.ledger.note(offence);
                }
                // It rests where its holder says, and is not there yet.
                (ends, held.ahead) = (held.ends, Some(row));
            }
            self.authority.adopting.set_words(Row { words: into, ..before });
        }
        if ends {
            self.end_hold(at, tick);
        }
    }

    /// The entity is the server's again.
    fn end_hold(&mut self, at: usize, tick: Tick) {
        let held = self.authority.remove(at, tick);
        AuthorityRequests::end_of(&mut self.peers, held.holder.player, held.entity, tick);
        self.frame.note(ServerEvent::Returned { entity: held.entity, player: held.holder.player });
    }
}

/// The row of an entity that a client which has authority over it writes, and who sees it.
fn shared_row<'a>(rows: &'a Rows, schema: &'a Schema, entity: Entity) -> Option<(Audience, Row<'a>)> {
    let mut rows = rows.of(entity).map(|row| (schema.component(row.component), row));
    let found = rows.find(|(component, _)| component.is_shared());
    found.map(|(component, row)| (component.audience(), row))
}
