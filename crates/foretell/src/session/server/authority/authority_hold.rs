//! One entity that a client has authority over.

use super::travel_budget::{TravelBudget, offence_of};
use crate::session::Offence;
use crate::session::authority_codec::{Claim, HeldRow, Holder};
use crate::time::Tick;
use crate::world::{ComponentId, ComponentSchema, PlayerId, ROW_WORDS_MAX, Row, Rows};
use alloc::collections::VecDeque;

/// How many ticks after the next step a row may be captured, at most: as far ahead as inputs may be.
const AHEAD_TICKS_MAX: u32 = 64;
/// How many rows of an entity wait for their ticks, at most: one for each of these.
const ROWS_WAITING_MAX: usize = AHEAD_TICKS_MAX as usize + 1;

/// What was given back while it was held back goes on for so many ticks at most: 4 s at 64 Hz. Who hears nothing for longer than an
/// outage of that length is lost, and holds nothing.
const GOES_ON_TICKS_MAX: u32 = 256;

/// Of an entity that is the server's.
const NOBODY: Holder = Holder { player: PlayerId::SERVER, claim: Claim::Authority, authority: 0, ownership: 0 };

/// A row that waits for its tick.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    tick: Tick,
    /// Later where that was too far ahead.
    captured: Tick,
    row: HeldRow,
}

/// By what its rows are written: whoever holds an entity, under which of their requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    pub player: PlayerId,
    pub request: u16,
    pub claim: Claim,
}

/// What has become of a held entity in a tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adopted {
    /// It goes back to the server.
    pub ends: bool,
    /// What was wrong with the row that has come.
    pub offence: Option<Offence>,
}

/// An entity that a client has authority over.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    /// Of which component its rows are, and whose the entity is.
    pub component: ComponentId,
    pub owner: PlayerId,
    pub holder: Holder,
    /// By which of its requests, and which was the last for it: rows come under these and those in between.
    request: u16,
    latest: u16,
    /// Rows that wait for their ticks, ascending.
    rows: VecDeque<Waiting>,
    /// When the newest row that was taken over was captured.
    adopted: Option<Tick>,
    /// How far it may go now.
    travel: TravelBudget,
    /// What it was held back from, and goes on towards.
    ahead: Option<HeldRow>,
    /// Its holder has given it back: its newest row is the last, and where that is it becomes the server's again,
    ends: bool,
    /// but not after this tick, once it was held back from there.
    goes_on_until: Option<Tick>,
}

impl Hold {
    /// One that nobody has been given yet.
    pub(super) fn new() -> Hold {
        Hold {
            component: ComponentId(0),
            owner: PlayerId::SERVER,
            holder: NOBODY,
            request: 0,
            latest: 0,
            rows: VecDeque::with_capacity(ROWS_WAITING_MAX),
            adopted: None,
            travel: TravelBudget::default(),
            ahead: None,
            ends: false,
            goes_on_until: None,
        }
    }

    /// It is given to a player, be it again: an entity with this row. Whether they are another one than before.
    pub(super) fn give(&mut self, row: Row<'_>, kind: &ComponentSchema, grant: Grant, slack_m: f64) -> bool {
        let Grant { player, request, claim } = grant;
        let is_new = self.holder.player != player;
        if is_new {
            self.rows.clear();
            (self.component, self.owner) = (row.component, row.owner);
            (self.adopted, self.ahead, self.request) = (None, None, request);
            self.travel.begin(kind, slack_m);
        }
        (self.holder.player, self.holder.claim) = (player, claim);
        (self.latest, self.ends, self.goes_on_until) = (request, false, None);
        is_new
    }

    /// It is the server's again: its memory can be used again.
    pub(super) fn clear(&mut self) {
        self.holder = NOBODY;
    }

    /// It goes back with the next step, or, where it is held back from its newest row, when it is there.
    pub(super) fn end(&mut self) {
        self.ends = true;
    }

    /// Whether it counts as what this player holds: not what goes back with the next step, as far as is known now.
    pub(super) fn counts_for(&self, player: PlayerId) -> bool {
        self.holder.player == player && !(self.ends && self.ahead.is_none())
    }

    /// Whether rows with this request are meant for this hold: from the one by which it began to the last.
    pub(super) fn comes_under(&self, request: u16) -> bool {
        request.wrapping_sub(self.request) <= self.latest.wrapping_sub(self.request)
    }

    /// Stores what its holder has `captured` in a tick, if it may be written; `next` is the next tick to step. What is too far
    /// ahead is stored for the last tick that may be: it may be the last row that its holder sends.
    pub(super) fn store(
        &mut self,
        row: &HeldRow,
        captured: Tick,
        next: Tick,
        kind: &ComponentSchema,
    ) -> Result<(), Offence> {
        offence_of(kind, &row.words).map_or(Ok(()), Err)?;
        let tick = captured.min(next + AHEAD_TICKS_MAX);
        self.keep(Waiting { tick, captured, row: *row });
        if tick == captured { Ok(()) } else { Err(Offence::Time) }
    }

    /// Keeps a row for its tick, unless a later one is there by then.
    fn keep(&mut self, row: Waiting) {
        let Waiting { tick, captured, .. } = row;
        let is_no_later = |other: &Waiting| captured <= other.captured && other.tick <= tick;
        if self.adopted.is_some_and(|adopted| tick <= adopted) || self.rows.iter().any(is_no_later) {
            return;
        }
        match self.rows.binary_search_by_key(&tick, |waiting| waiting.tick) {
            Ok(at) => self.rows[at] = row,
            Err(at) if self.rows.len() < ROWS_WAITING_MAX => self.rows.insert(at, row),
            // The oldest is worth least, be it this one.
            Err(0) => {}
            Err(at) => {
                self.rows.pop_front();
                self.rows.insert(at - 1, row);
            }
        }
    }

    /// This number of ticks has passed.
    pub(super) fn earn(&mut self, kind: &ComponentSchema, tick_seconds: f64, ticks: u32) {
        self.travel.earn(kind, tick_seconds, ticks);
    }

    /// Puts what it is from `tick` on `into` the rows for the world, where it was `before`.
    pub(super) fn adopt(&mut self, tick: Tick, before: Row<'_>, kind: &ComponentSchema, into: &mut Rows) -> Adopted {
        let mut newest = None;
        while self.rows.front().is_some_and(|waiting| waiting.tick <= tick || self.ends) {
            newest = self.rows.pop_front();
        }
        let mut adopted = Adopted { ends: self.ends, offence: None };
        self.owner = before.owner;
        self.adopted = newest.map(|waiting| waiting.tick).or(self.adopted);
        let Some(row) = newest.map(|waiting| waiting.row).or(self.ahead.take()) else { return adopted };
        adopted.ends |= row.rests && self.holder.claim == Claim::Authority;
        let mut words = [0; ROW_WORDS_MAX];
        let words = &mut words[..before.words.len()];
        words.copy_from_slice(before.words);
        kind.copy_owned(&row.words[..before.words.len()], words);
        if let Some(offence) = self.travel.hold_back(kind, before.words, words) {
            adopted.offence = newest.map(|_| offence);
            // It rests where its holder says, or was let go there, and is not there yet.
            let goes_on = !self.ends || *words != *before.words && tick <= self.last_tick(tick);
            (adopted.ends, self.ahead) = (!goes_on, Some(row));
        }
        into.set_words(Row { words, ..before });
        adopted
    }

    /// In which tick it goes on for the last time, if it was given back and is held back in `tick`.
    fn last_tick(&mut self, tick: Tick) -> Tick {
        *self.goes_on_until.get_or_insert(tick + GOES_ON_TICKS_MAX)
    }

    /// What is left of the entity's slack, in metres.
    pub(super) fn slack_m(&self) -> f64 {
        self.travel.slack_m()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Entity, RowKey, Schema};
    use alloc::vec::Vec;
    use foretell::State;

    const KEY: RowKey = RowKey { component: ComponentId(0), entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0) };

    fn unowned(words: &[u32]) -> Row<'_> {
        Row { component: KEY.component, entity: KEY.entity, owner: PlayerId::SERVER, words }
    }

    /// What its holder moves to one of a few places.
    #[derive(State, Clone, Copy)]
    struct Token(#[state(writer = owner)] u8);

    /// What its holder moves and throws.
    #[derive(State, Clone, Copy)]
    struct Ball {
        #[state(position, writer = owner)]
        place: [f32; 3],
        #[state(velocity, writer = owner)]
        velocity: [f32; 3],
    }

    /// A ball that may go 1 m/s is given back with this place and velocity along x, and is at 0: how many steps later it is the
    /// server's, and where. After each step the game may put it elsewhere.
    fn given_back(place: f32, velocity: f32, puts: impl Fn(f32) -> f32) -> (u32, f32) {
        let schema = Schema::of::<Ball>().with_speed_max::<Ball>(1.0);
        let kind = schema.component(KEY.component);
        let mut words = [0; ROW_WORDS_MAX];
        (words[0], words[3]) = (place.to_bits(), velocity.to_bits());
        let row = HeldRow { key: KEY, request: 0, back: 0, rests: false, words };
        let mut now = [0; 6];
        let mut hold = Hold::new();
        let grant = Grant { player: PlayerId::new(1), request: 0, claim: Claim::Ownership };
        hold.give(unowned(&now), kind, grant, 0.0);
        hold.store(&row, Tick::new(10), Tick::new(10), kind).expect("it may be written");
        hold.end();
        for steps in 0..10_000 {
            let mut into = Rows::new(&schema);
            hold.earn(kind, 1.0 / 64.0, 1);
            let adopted = hold.adopt(Tick::new(10 + steps), unowned(&now), kind, &mut into);
            into.get(KEY).into_iter().for_each(|row| now.copy_from_slice(row.words));
            if adopted.ends {
                return (steps, f32::from_bits(now[0]));
            }
            now[0] = puts(f32::from_bits(now[0])).to_bits();
        }
        panic!("it is held for good");
    }

    #[test]
    fn what_is_given_back_far_away_goes_there_but_not_for_ever() {
        let (steps, place) = given_back(2.0, 0.0, |place| place);
        assert!((100..130).contains(&steps) && (place - 2.0).abs() < 1e-6, "after {steps} steps at {place} m");
        assert_eq!(given_back(100.0, 0.0, |place| place).0, GOES_ON_TICKS_MAX + 1);
        // The game keeps it behind a wall.
        assert_eq!(given_back(2.0, 0.0, |place| place.min(1.0)).0, GOES_ON_TICKS_MAX + 1);
        // Only its velocity is more than it may be.
        assert_eq!(given_back(0.0, 5.0, |place| place).0, 1);
    }

    #[test]
    fn the_last_row_of_a_holder_who_is_too_far_ahead_counts_when_its_time_has_come() {
        let schema = Schema::of::<Token>();
        let kind = schema.component(KEY.component);
        let before = unowned(&[0]);
        let mut hold = Hold::new();
        let grant = Grant { player: PlayerId::new(1), request: 0, claim: Claim::Ownership };
        hold.give(before, kind, grant, 0.0);
        let mut say = |word: u32, captured: u32| {
            let mut words = [0; ROW_WORDS_MAX];
            words[0] = word;
            let row = HeldRow { key: KEY, request: 0, back: 0, rests: false, words };
            hold.store(&row, Tick::new(captured), Tick::new(10), kind)
        };
        assert_eq!([say(1, 74), say(2, 200), say(3, 201)], [Ok(()), Err(Offence::Time), Err(Offence::Time)]);
        assert_eq!([say(4, 199), say(5, 74), say(6, 20)], [Err(Offence::Time), Ok(()), Ok(())], "late copies");
        let mut has = Vec::new();
        for tick in 10..80 {
            let mut into = Rows::new(&schema);
            hold.adopt(Tick::new(tick), before, kind, &mut into);
            has.extend(into.get(KEY).map(|row| (tick, row.words[0])));
        }
        assert_eq!(has, [(20, 6), (74, 3)]);
    }
}
