//! What this client has authority over: the requests, the rows that the game has captured, and what goes up of them.
//!
//! A hold begins with the request, before the answer has come, and ends with it where that is a refusal. From its
//! beginning the game says where the entity is; when it is over, the last row stays until the cursor at which others are
//! shown has come to where the server moved it on.

use super::Client;
use super::frame::{AuthorityChange, ClientEvent};
use super::shown::RowBuffer;
use super::snapshots::Snapshot;
use crate::rollback::{Entity, KindSchema, PlayerId, ROW_WORDS_MAX, State, World};
use crate::session::record::EntityCall;
use crate::session::shared::{
    Claim, HELD_ROWS_MAX, HeldRow, HoldRefusal, Holder, REQUESTS_MAX, REST_TICKS, Request, SharedCode, write_request,
};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::BitWriter;
use std::collections::VecDeque;

/// How many captures of an entity wait for their ticks, at most: the newest.
const CAPTURES_MAX: usize = 64;
/// How many captures a datagram brings up of an entity besides the newest, at most: the newest of them.
const BETWEEN_MAX: usize = 7;
/// How many requests wait to be sent or answered, at most.
const OPEN_MAX: usize = 256;

/// Where in its life a hold is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Asked for, not answered.
    Asked,
    Held,
    /// Given back, not answered.
    Leaving,
    /// Over, by the snapshot of this tick.
    Ended(Tick),
}

/// An entity that this client has authority over, has asked for, or has just had.
#[derive(Clone, Debug)]
struct Hold {
    entity: Entity,
    /// Under which number its rows go up.
    request: u16,
    phase: Phase,
    /// What it is asked for as, or held as.
    claim: Claim,
    /// Whether it is shown as the game says: from when it is no longer predicted.
    begun: bool,
    /// Whether the game was told that it moves it.
    told: bool,
    /// Captures that wait for their ticks, ascending.
    captured: VecDeque<(Tick, RowBuffer)>,
    /// The capture of the newest tick that has run.
    row: RowBuffer,
    row_at: Tick,
    /// What is shown, and whether the game says it.
    shown: RowBuffer,
    shows: bool,
    /// Captures that have run since the last datagram, without the newest; ascending, `len <= BETWEEN_MAX`.
    between: VecDeque<(Tick, RowBuffer)>,
    /// For how many ticks it has not changed.
    still: u32,
    /// Every datagram from this one on has carried the row as it is.
    carried_since: Option<u16>,
}

impl Hold {
    /// Whether the game moves it.
    fn is_moved(&self) -> bool {
        self.told && matches!(self.phase, Phase::Asked | Phase::Held)
    }

    /// It is not this client's by the snapshot of `tick`. If it was asked for again meanwhile that counts now.
    fn give_up(&mut self, tick: Tick, open: &VecDeque<Request>) {
        let last = open.iter().rev().find(|request| request.entity == self.entity);
        match last.filter(|request| request.claim.is_some()) {
            Some(again) => (self.phase, self.request, self.carried_since) = (Phase::Asked, again.number, None),
            None => self.phase = Phase::Ended(tick),
        }
    }

    /// What goes up of it: as it was captured at a tick.
    fn row_at(&self, tick: Tick, newest: Tick, words: &RowBuffer) -> HeldRow {
        let back = newest.since(tick).min(crate::rollback::INPUTS_KEPT);
        let rests = self.still >= REST_TICKS;
        HeldRow { entity: self.entity, request: self.request, back, rests, words: *words }
    }
}

/// All holds of a client. Lives as long as the session.
#[derive(Clone, Debug)]
pub(super) struct Holds {
    /// Ascending by entity.
    holds: Vec<Hold>,
    /// Requests without an answer, oldest first.
    open: VecDeque<Request>,
    /// The number of the next request.
    next: u16,
    /// The newest snapshot that was read.
    read: Option<Tick>,
    /// The newest datagram that the server has named.
    heard: Option<u16>,
    /// With which hold the next datagram begins, where not all fit.
    turn: usize,
}

/// Which rows a datagram has carried: how many of those that were to be sent, from the turn on.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Carried(usize);

impl Holds {
    pub(super) fn new() -> Holds {
        Holds { holds: Vec::new(), open: VecDeque::new(), next: 0, read: None, heard: None, turn: 0 }
    }

    fn find(&self, entity: Entity) -> Option<&Hold> {
        self.holds.binary_search_by_key(&entity, |hold| hold.entity).ok().map(|at| &self.holds[at])
    }

    fn find_mut(&mut self, entity: Entity) -> Option<&mut Hold> {
        self.holds.binary_search_by_key(&entity, |hold| hold.entity).ok().map(|at| &mut self.holds[at])
    }

    /// One that the game moves.
    fn moved(&mut self, entity: Entity) -> Option<&mut Hold> {
        self.find_mut(entity).filter(|hold| hold.is_moved())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.holds.is_empty()
    }

    fn ask(&mut self, entity: Entity, claim: Option<Claim>) -> u16 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.open.push_back(Request { number, entity, claim });
        number
    }

    pub(super) fn request(&mut self, entity: Entity, claim: Claim) {
        if self.open.len() >= OPEN_MAX {
            return;
        }
        let number = self.ask(entity, Some(claim));
        match self.holds.binary_search_by_key(&entity, |hold| hold.entity) {
            Ok(at) => {
                let hold = &mut self.holds[at];
                if matches!(hold.phase, Phase::Leaving | Phase::Ended(_)) {
                    (hold.request, hold.phase, hold.claim) = (number, Phase::Asked, claim);
                    (hold.told, hold.still, hold.carried_since) = (false, 0, None);
                }
            }
            Err(at) => self.holds.insert(
                at,
                Hold {
                    entity,
                    request: number,
                    phase: Phase::Asked,
                    claim,
                    begun: false,
                    told: false,
                    between: VecDeque::with_capacity(BETWEEN_MAX),
                    captured: VecDeque::with_capacity(CAPTURES_MAX),
                    row: [0; ROW_WORDS_MAX],
                    row_at: Tick::ZERO,
                    shown: [0; ROW_WORDS_MAX],
                    shows: false,
                    still: 0,
                    carried_since: None,
                },
            ),
        }
    }

    pub(super) fn release(&mut self, entity: Entity) {
        let Some(hold) = self.find_mut(entity).filter(|hold| matches!(hold.phase, Phase::Asked | Phase::Held)) else {
            return;
        };
        hold.phase = Phase::Leaving;
        if let Some((tick, row)) = hold.captured.pop_back() {
            hold.captured.clear();
            (hold.row, hold.row_at, hold.carried_since) = (row, tick, None);
            if !hold.shows {
                hold.shown = row;
            }
        }
        self.ask(entity, None);
    }

    pub(super) fn capture(&mut self, entity: Entity, tick: Tick, words: &[u32]) {
        let Some(hold) = self.moved(entity) else { return };
        while hold.captured.back().is_some_and(|(known, _)| *known >= tick) {
            hold.captured.pop_back();
        }
        if hold.captured.len() == CAPTURES_MAX {
            hold.captured.pop_front();
        }
        let mut row = [0; ROW_WORDS_MAX];
        row[..words.len()].copy_from_slice(words);
        hold.captured.push_back((tick, row));
    }

    pub(super) fn show(&mut self, entity: Entity, words: &[u32]) {
        if let Some(hold) = self.moved(entity) {
            hold.shows = true;
            hold.shown[..words.len()].copy_from_slice(words);
        }
    }

    /// The tick is about to be simulated: its captures are in it.
    pub(super) fn run(&mut self, tick: Tick) {
        for hold in self.holds.iter_mut().filter(|hold| hold.is_moved()) {
            let before = hold.row;
            if hold.between.len() == BETWEEN_MAX {
                hold.between.pop_front();
            }
            hold.between.push_back((hold.row_at, before));
            while let Some((_, row)) = hold.captured.pop_front_if(|(captured, _)| *captured <= tick) {
                hold.row = row;
            }
            hold.row_at = tick;
            hold.still = if hold.row == before { hold.still.saturating_add(1) } else { 0 };
            if hold.row == before {
                hold.between.pop_back();
            }
            if hold.row != before || hold.still == REST_TICKS {
                hold.carried_since = None;
            }
            if !hold.shows {
                hold.shown = hold.row;
            }
        }
    }

    /// Puts what the game says of an entity into its row: as it was captured.
    pub(super) fn put_captured(&self, kind: &KindSchema, entity: Entity, row: &mut RowBuffer) {
        if let Some(hold) = self.find(entity).filter(|hold| hold.begun) {
            kind.copy_owned(&hold.row, row);
        }
    }

    /// The same as it is shown. Whether the game says anything of it.
    pub(super) fn put_shown(&self, kind: &KindSchema, entity: Entity, row: &mut RowBuffer) -> bool {
        let hold = self.find(entity).filter(|hold| hold.begun);
        if let Some(hold) = hold {
            kind.copy_owned(&hold.shown, row);
        }
        hold.is_some()
    }

    /// Whether what is shown of an entity is what the game says.
    pub(super) fn has_begun(&self, entity: Entity) -> bool {
        self.find(entity).is_some_and(|hold| hold.begun)
    }

    /// Whether the game moves it.
    pub(super) fn is_moved(&self, entity: Entity) -> bool {
        self.find(entity).is_some_and(Hold::is_moved)
    }

    /// What is not to be predicted by the state of `tick`.
    pub(super) fn unpredicted(&self, tick: Tick) -> impl Iterator<Item = Entity> {
        let over = move |hold: &&Hold| !matches!(hold.phase, Phase::Ended(end) if end <= tick);
        self.holds.iter().filter(over).map(|hold| hold.entity)
    }

    /// The holds that can begin, if the entity is not predicted.
    pub(super) fn beginning(&self) -> impl Iterator<Item = Entity> {
        let begins = |hold: &&Hold| !hold.told && matches!(hold.phase, Phase::Asked | Phase::Held);
        self.holds.iter().filter(begins).map(|hold| hold.entity)
    }

    /// From now on the game moves it, from this row.
    pub(super) fn begin(&mut self, entity: Entity, row: &RowBuffer) {
        if let Some(hold) = self.find_mut(entity) {
            (hold.begun, hold.told, hold.shows) = (true, true, false);
            (hold.row, hold.shown) = (*row, *row);
            hold.between.clear();
        }
    }

    /// The holds that are over, and by which snapshot.
    pub(super) fn ended(&self) -> impl Iterator<Item = (Entity, Tick)> {
        self.holds.iter().filter_map(|hold| match hold.phase {
            Phase::Ended(tick) => Some((hold.entity, tick)),
            _ => None,
        })
    }

    pub(super) fn remove(&mut self, entity: Entity) {
        self.holds.retain(|hold| hold.entity != entity);
    }

    /// Remembers which of the client's datagrams the server has.
    pub(super) fn note_heard(&mut self, sequence: u16) {
        if self.heard.is_none_or(|heard| sequence.wrapping_sub(heard).cast_signed() > 0) {
            self.heard = Some(sequence);
        }
    }

    /// Takes in what the newest snapshot says of requests and of holders.
    pub(super) fn take_in(&mut self, snapshot: &Snapshot, own: PlayerId, events: &mut Vec<ClientEvent>) {
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
        for hold in self.holds.iter_mut().filter(|hold| hold.phase == Phase::Held) {
            let found = snapshot.holders.iter().find(|(entity, _)| *entity == hold.entity);
            let what = match found.map(|(_, holder)| holder.player) {
                Some(player) if player == own => continue,
                Some(player) => AuthorityChange::Lost(player),
                None => AuthorityChange::Returned,
            };
            events.push(ClientEvent::Authority { entity: hold.entity, what });
            hold.told = false;
            hold.give_up(snapshot.tick, &self.open);
        }
    }

    /// What an answer means to the hold that was asked for.
    fn take_answer(&mut self, tick: Tick, request: &Request, refused: Option<HoldRefusal>) -> Option<AuthorityChange> {
        let Ok(at) = self.holds.binary_search_by_key(&request.entity, |hold| hold.entity) else {
            if refused.is_none() && request.claim.is_some() {
                // Nobody waits for it any more.
                self.ask(request.entity, None);
            }
            return None;
        };
        let hold = &mut self.holds[at];
        let is_asked = hold.phase == Phase::Asked;
        match (refused, request.claim) {
            (Some(why), _) => {
                if is_asked {
                    hold.give_up(tick, &self.open);
                }
                Some(AuthorityChange::Refused(why))
            }
            (None, Some(claim)) => {
                (hold.claim, hold.request, hold.carried_since) = (claim, request.number, None);
                if is_asked {
                    hold.phase = Phase::Held;
                }
                Some(AuthorityChange::Granted(claim))
            }
            (None, None) if hold.phase == Phase::Leaving => {
                hold.phase = Phase::Ended(tick);
                Some(AuthorityChange::Returned)
            }
            (None, None) => None,
        }
    }

    /// The holds whose rows are to be sent, from the turn on, each with its index.
    fn to_send(&self) -> impl Iterator<Item = (usize, &Hold)> {
        let count = self.holds.len();
        let first = self.turn % count.max(1);
        let heard = self.heard;
        let arrived = move |hold: &Hold| {
            let since = hold.carried_since.zip(heard);
            since.is_some_and(|(since, heard)| heard.wrapping_sub(since).cast_signed() >= 0)
        };
        (first..count)
            .chain(0..first)
            .map(|at| (at, &self.holds[at]))
            .filter(move |(_, hold)| hold.begun && !matches!(hold.phase, Phase::Ended(_)) && !arrived(hold))
    }

    /// Writes requests, and rows as far as they fit into `bits_max`, after the inputs up to `newest`.
    pub(super) fn write(
        &self,
        newest: Tick,
        writer: &mut BitWriter<'_>,
        code: &SharedCode,
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
            write_request(request, writer, code.names());
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
        let carried =
            rows.take(HELD_ROWS_MAX).take_while(|(_, hold)| fits(&hold.row_at(hold.row_at, newest, &hold.row))).count();
        let between = self.to_send().flat_map(|(_, hold)| hold.between.iter().rev().map(move |row| (hold, row)));
        for (hold, (tick, words)) in between.take(HELD_ROWS_MAX - carried) {
            if !fits(&hold.row_at(*tick, newest, words)) {
                break;
            }
        }
        writer.put(0, 1);
        Carried(carried)
    }

    /// The datagram of this number was sent, with these rows.
    pub(super) fn note_sent(&mut self, sequence: u16, Carried(carried): Carried) {
        if self.holds.is_empty() {
            return;
        }
        let count = self.holds.len();
        let first = self.turn % count;
        let (mut left, mut turn) = (carried, None);
        for at in (first..count).chain(0..first) {
            let is_sent = self.to_send().any(|(index, _)| index == at);
            let hold = &mut self.holds[at];
            hold.between.clear();
            if !is_sent {
                continue;
            }
            if left > 0 {
                left -= 1;
                hold.carried_since = hold.carried_since.or(Some(sequence));
            } else {
                hold.carried_since = None;
                turn = turn.or(Some(at));
            }
        }
        self.turn = turn.unwrap_or(first);
    }
}

impl<W: World> Client<W> {
    /// Asks for authority over an entity of this player or of the server's own: from the next update on in which it is no
    /// longer predicted the game moves it ([`AuthorityChange::Began`], then [`capture`](Client::capture)), without
    /// waiting for the answer. One that another player owns is not given away; nor more than the server allows. Asked
    /// again with another claim, the right changes: [`Claim::Authority`] lets go of what was owned, and it goes back to
    /// the server when it has come to rest.
    ///
    /// Not where arriving inputs step the world. Nothing happens before the session begins.
    pub fn request(&mut self, entity: Entity, claim: Claim) {
        self.call(&EntityCall::Request(entity, claim));
    }

    /// Gives an entity back at once, as it was captured last.
    pub fn release(&mut self, entity: Entity) {
        self.call(&EntityCall::Release(entity));
    }

    /// Says what state an entity that the game moves has at the start of `tick`: what its [mover](crate::motion::FrameMover)
    /// hands out, before the update that simulates the tick. Of it counts what the schema lets an owner write. A tick
    /// without a capture keeps the state before. Ignored where the game does not move the entity.
    ///
    /// # Panics
    /// When the state is of another kind than the entity.
    pub fn capture<S: State>(&mut self, entity: Entity, tick: Tick, state: &S) {
        let words = self.words_of(entity, state);
        self.call(&EntityCall::Capture(entity, tick, words));
    }

    /// Says in which state an entity that the game moves is to be shown now. Without it the newest captured one is.
    ///
    /// # Panics
    /// When the state is of another kind than the entity.
    pub fn show<S: State>(&mut self, entity: Entity, state: &S) {
        let words = self.words_of(entity, state);
        self.call(&EntityCall::Show(entity, words));
    }

    /// What the clock that ticks run by shows at `now`: where the frames of a [mover](crate::motion::FrameMover) end.
    /// Tick 0 before the session begins.
    pub fn tick_time(&self, now: Instant) -> TickTime {
        self.session().map_or(TickTime::default(), |session| session.pacing.at_instant(self.clock.at(now)))
    }

    /// Who has authority over an entity by the newest snapshot; `None` is the server itself.
    pub fn holder(&self, entity: Entity) -> Option<Holder> {
        let newest = self.session()?.snapshots.newest()?;
        newest.holders.iter().find(|(known, _)| *known == entity).map(|(_, holder)| *holder)
    }

    fn words_of<S: State>(&self, entity: Entity, state: &S) -> RowBuffer {
        assert!(state.kind() == entity.kind(), "{entity}: the state given for it is of another kind");
        let mut words = [0; ROW_WORDS_MAX];
        state.write(&mut words[..self.rules.schema.kind(entity.kind()).words()]);
        words
    }

    /// What the game has called, or had called when it was recorded.
    pub(in crate::session) fn call(&mut self, call: &EntityCall) {
        if let Some(recorded) = &mut self.recorded {
            recorded.note_entity_call(call, &self.code, &self.rules.schema);
        }
        match call {
            EntityCall::Mode(entity, mode) => self.set_single(*entity, *mode),
            EntityCall::ShowWith(entity, curve) => self.curves.set(*entity, *curve),
            _ => {}
        }
        let Some(session) = self.session_mut() else { return };
        match call {
            EntityCall::Request(entity, claim) => session.holds.request(*entity, *claim),
            EntityCall::Release(entity) => session.holds.release(*entity),
            EntityCall::Capture(entity, tick, row) => session.holds.capture(*entity, *tick, row),
            EntityCall::Show(entity, row) => session.holds.show(*entity, row),
            EntityCall::Mode(..) | EntityCall::ShowWith(..) => {}
        }
    }
}
