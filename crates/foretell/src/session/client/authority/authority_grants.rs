//! What this client has authority over: the requests, the rows that the game has captured, and what goes up of them.
//!
//! A hold begins with the request, before the answer has come, and ends with it where that is a refusal. From its
//! beginning the game says where the entity is; when it is over, the last row stays until the cursor at which others are
//! shown has come to where the server moved it on.

use super::authority_grant::{AuthorityGrant, Phase, RowProgress};
use crate::session::authority_codec::{
    AuthorityCodec, Claim, HELD_ROWS_MAX, HeldRow, HoldRefusal, REQUESTS_MAX, Request, write_request,
};
use crate::session::client::snapshots::Snapshot;
use crate::session::client::update_report::{AuthorityChange, ClientEvent};
use crate::session::curves::RowBuffer;
use crate::time::Tick;
use crate::wire::BitWriter;
use crate::world::{ComponentId, ComponentSchema, Entity, EntityMap, PlayerId, RowKey};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How many requests wait to be sent or answered, at most.
const OPEN_MAX: usize = 256;

/// All holds of a client. Lives as long as the session.
#[derive(Clone, Debug)]
pub(crate) struct AuthorityGrants {
    grants: EntityMap<AuthorityGrant>,
    /// What the game wants, and the server was not asked for yet, oldest first.
    wanted: Vec<(Entity, Claim)>,
    /// Requests without an answer, oldest first.
    open: VecDeque<Request>,
    /// The number of the next request.
    next: u16,
    /// The newest snapshot that was read.
    read: Option<Tick>,
    /// With which hold the next datagram begins, where not all fit.
    turn: usize,
}

/// Which rows a datagram has carried: how many of those that were to be sent, from the turn on.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Carried(usize);

impl AuthorityGrants {
    pub(crate) fn new() -> AuthorityGrants {
        AuthorityGrants {
            grants: EntityMap::new(),
            wanted: Vec::new(),
            open: VecDeque::new(),
            next: 0,
            read: None,
            turn: 0,
        }
    }

    /// One that the game moves by this row.
    fn moved_by(&mut self, key: RowKey) -> Option<&mut AuthorityGrant> {
        self.grants.get_mut(key.entity).filter(|grant| grant.is_moved() && grant.writes(key))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    fn ask(&mut self, entity: Entity, claim: Option<Claim>) -> u16 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.open.push_back(Request { number, entity, claim });
        number
    }

    /// The game wants an entity: the server is [asked for it](Self::ask_wanted) as soon as that may be.
    pub(crate) fn want(&mut self, entity: Entity, claim: Claim) {
        let last = self.wanted.iter().rev().find(|(other, _)| *other == entity);
        if last.is_none_or(|(_, last)| *last != claim) && self.wanted.len() < OPEN_MAX {
            self.wanted.push((entity, claim));
        }
    }

    /// Asks the server for what the game wants, as far as that may be asked for now.
    pub(crate) fn ask_wanted(&mut self, may_ask: impl Fn(Entity) -> bool) {
        let mut wanted = core::mem::take(&mut self.wanted);
        wanted.retain(|(entity, claim)| {
            let waits = self.open.len() >= OPEN_MAX || !may_ask(*entity);
            if !waits {
                self.request(*entity, *claim);
            }
            waits
        });
        self.wanted = wanted;
    }

    fn request(&mut self, entity: Entity, claim: Claim) {
        // A game that asks in every frame until it is answered has asked once.
        let last = self.open.iter().rev().find(|request| request.entity == entity);
        if last.is_some_and(|last| last.claim == Some(claim)) {
            return;
        }
        let number = self.ask(entity, Some(claim));
        let grant = self.grants.get_or_insert_with(entity, || AuthorityGrant::new(entity, number));
        if !grant.wants() {
            grant.ask_again(number);
        }
    }

    pub(crate) fn release(&mut self, entity: Entity) {
        self.wanted.retain(|(other, _)| *other != entity);
        if let Some(grant) = self.grants.get_mut(entity).filter(|grant| grant.wants()) {
            grant.leave();
            self.ask(entity, None);
        }
    }

    pub(crate) fn capture(&mut self, key: RowKey, tick: Tick, words: &[u32]) {
        if let Some(grant) = self.moved_by(key) {
            grant.captures.push(tick, words);
        }
    }

    pub(crate) fn show(&mut self, key: RowKey, words: &[u32]) {
        if let Some(grant) = self.moved_by(key) {
            grant.shows = true;
            grant.shown[..words.len()].copy_from_slice(words);
        }
    }

    /// The tick is about to be simulated: its captures are in it.
    pub(crate) fn run(&mut self, tick: Tick) {
        self.grants.values_mut().iter_mut().filter(|grant| grant.is_moved()).for_each(|grant| grant.run(tick));
    }

    /// Puts what the game says of an entity into its row: as it was captured.
    #[inline]
    pub(crate) fn put_captured(&self, kind: &ComponentSchema, key: RowKey, row: &mut RowBuffer) {
        if let Some(grant) = self.grants.get(key.entity).filter(|grant| grant.writes(key)) {
            kind.copy_owned(&grant.captures.newest().row, row);
        }
    }

    /// The same as it is shown. Whether the game says anything of it.
    pub(crate) fn put_shown(&self, kind: &ComponentSchema, key: RowKey, row: &mut RowBuffer) -> bool {
        let grant = self.grants.get(key.entity).filter(|grant| grant.writes(key));
        if let Some(grant) = grant {
            kind.copy_owned(&grant.shown, row);
        }
        grant.is_some()
    }

    /// Whether what is shown of an entity is what the game says.
    pub(crate) fn has_begun(&self, entity: Entity) -> bool {
        self.grants.get(entity).is_some_and(|grant| grant.begun)
    }

    /// Those that the game moves, ascending, each by the row by which it does.
    pub(crate) fn moved(&self) -> impl Iterator<Item = RowKey> {
        let moved = self.grants.values().iter().filter(|grant| grant.is_moved());
        moved.map(|grant| RowKey { component: grant.component, entity: grant.entity })
    }

    /// Whether the game moves it.
    pub(crate) fn is_moved(&self, entity: Entity) -> bool {
        self.grants.get(entity).is_some_and(AuthorityGrant::is_moved)
    }

    /// What is not to be predicted by the state of `tick`.
    pub(crate) fn unpredicted(&self, tick: Tick) -> impl Iterator<Item = Entity> {
        let over = move |grant: &&AuthorityGrant| !matches!(grant.phase, Phase::Ended(end) if end <= tick);
        self.grants.values().iter().filter(over).map(|grant| grant.entity)
    }

    /// The holds that can begin, if the entity is not predicted.
    pub(crate) fn beginning(&self) -> impl Iterator<Item = Entity> {
        let begins = |grant: &&AuthorityGrant| !grant.told && grant.wants();
        self.grants.values().iter().filter(begins).map(|grant| grant.entity)
    }

    /// From now on the game moves it, from this row.
    pub(crate) fn begin(&mut self, entity: Entity, component: ComponentId, row: &RowBuffer) {
        if let Some(grant) = self.grants.get_mut(entity) {
            grant.component = component;
            grant.begin(row);
        }
    }

    /// The holds that are over, and by which snapshot.
    pub(crate) fn ended(&self) -> impl Iterator<Item = (RowKey, Tick)> {
        self.grants.values().iter().filter_map(|grant| match grant.phase {
            Phase::Ended(tick) => Some((RowKey { component: grant.component, entity: grant.entity }, tick)),
            _ => None,
        })
    }

    pub(crate) fn remove(&mut self, entity: Entity) {
        self.grants.remove(entity);
    }

    /// The server has this one of the client's datagrams.
    pub(crate) fn note_heard(&mut self, sequence: u16) {
        self.grants.values_mut().iter_mut().for_each(|grant| grant.note_heard(sequence));
    }

    /// Takes in what the newest snapshot says of requests and of holders.
    pub(crate) fn take_in(&mut self, snapshot: &Snapshot, own: PlayerId, events: &mut Vec<ClientEvent>) {
        if self.read >= Some(snapshot.tick) {
            return;
        }
        self.read = Some(snapshot.tick);
        for answer in &snapshot.answers {
            let Some(at) = self.open.iter().position(|request| request.number == answer.number) else { continue };
            let Some(request) = self.open.remove(at) else { continue };
            if let Some(what) = self.take_answer(snapshot.tick, &request, answer.refused) {
                events.push(ClientEvent::Authority { entity: request.entity, what });
            }
        }
        for grant in self.grants.values_mut().iter_mut().filter(|grant| grant.phase == Phase::Held) {
            let what = match snapshot.holder(grant.entity).map(|holder| holder.player) {
                Some(player) if player == own => continue,
                Some(player) => AuthorityChange::Lost(player),
                None => AuthorityChange::Returned,
            };
            events.push(ClientEvent::Authority { entity: grant.entity, what });
            grant.told = false;
            grant.give_up(snapshot.tick, &self.open);
        }
    }

    /// What an answer means to the hold that was asked for.
    fn take_answer(&mut self, tick: Tick, request: &Request, refused: Option<HoldRefusal>) -> Option<AuthorityChange> {
        let Some(grant) = self.grants.get_mut(request.entity) else {
            if refused.is_none() && request.claim.is_some() {
                // Nobody waits for it any more.
                self.ask(request.entity, None);
            }
            return None;
        };
        let is_asked = grant.phase == Phase::Asked;
        match (refused, request.claim) {
            (Some(why), _) => {
                if is_asked {
                    grant.give_up(tick, &self.open);
                }
                Some(AuthorityChange::Refused(why))
            }
            (None, Some(claim)) => {
                (grant.request, grant.progress) = (request.number, RowProgress::Unsent);
                if is_asked {
                    grant.phase = Phase::Held;
                }
                Some(AuthorityChange::Granted(claim))
            }
            (None, None) if grant.phase == Phase::Leaving => {
                grant.phase = Phase::Ended(tick);
                Some(AuthorityChange::Returned)
            }
            (None, None) => None,
        }
    }

    /// The holds whose rows are to be sent, from the turn on, each with its index.
    fn to_send(&self) -> impl Iterator<Item = (usize, &AuthorityGrant)> {
        let count = self.grants.len();
        let first = self.turn % count.max(1);
        let is_due = |grant: &AuthorityGrant| {
            let is_over = matches!(grant.phase, Phase::Ended(_));
            grant.begun && !is_over && !self.waits(grant) && grant.progress != RowProgress::Arrived
        };
        (first..count).chain(0..first).map(|at| (at, &self.grants.values()[at])).filter(move |(_, grant)| is_due(grant))
    }

    /// Whether its request still waits for others to go up first: then its rows wait, too.
    fn waits(&self, grant: &AuthorityGrant) -> bool {
        self.open.iter().skip(REQUESTS_MAX).any(|request| request.number == grant.request)
    }

    /// Writes requests, and rows as far as they fit into `bits_max`, after the inputs up to `newest`.
    pub(crate) fn write(
        &self,
        newest: Tick,
        writer: &mut BitWriter<'_>,
        code: &AuthorityCodec,
        bits_max: usize,
    ) -> Carried {
        let mut rows = self.to_send().peekable();
        let any = !self.open.is_empty() || rows.peek().is_some();
        writer.put(u64::from(any), 1);
        if !any {
            return Carried(0);
        }
        for request in self.open.iter().take(REQUESTS_MAX) {
            writer.put(1, 1);
            write_request(request, writer);
        }
        writer.put(0, 1);
        let mut fits = |row: &HeldRow| {
            let before = writer.bit_len();
            writer.put(1, 1);
            code.write_row(row, writer);
            let fits = writer.bit_len() < bits_max;
            if !fits {
                writer.truncate(before);
            }
            fits
        };
        // The newest of each first.
        let carried = rows
            .take(HELD_ROWS_MAX)
            .take_while(|(_, grant)| fits(&grant.held_row(grant.captures.newest(), newest)))
            .count();
        let between = self.to_send().flat_map(|(_, grant)| grant.captures.between().map(move |one| (grant, one)));
        for (grant, capture) in between.take(HELD_ROWS_MAX - carried) {
            if !fits(&grant.held_row(capture, newest)) {
                break;
            }
        }
        writer.put(0, 1);
        Carried(carried)
    }

    /// The datagram of this number was sent, with these rows.
    pub(crate) fn note_sent(&mut self, sequence: u16, Carried(carried): Carried) {
        if self.grants.is_empty() {
            return;
        }
        let count = self.grants.len();
        let first = self.turn % count;
        let (mut left, mut turn) = (carried, None);
        for at in (first..count).chain(0..first) {
            let is_sent = self.to_send().any(|(index, _)| index == at);
            let grant = &mut self.grants.values_mut()[at];
            grant.captures.note_sent();
            if !is_sent {
                continue;
            }
            if left > 0 {
                left -= 1;
                if grant.progress == RowProgress::Unsent {
                    grant.progress = RowProgress::SentSince(sequence);
                }
            } else {
                grant.progress = RowProgress::Unsent;
                turn = turn.or(Some(at));
            }
        }
        self.turn = turn.unwrap_or(first);
    }
}

#[cfg(test)]
mod tests;
