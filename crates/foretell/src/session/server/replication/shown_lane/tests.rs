//! Over any link, a client that counts the newest of each row has everything once nothing changes.

use super::*;
use crate::State;
use crate::session::exact_row_codec::ExactRowCodec;
use crate::session::row_send_rates::RowSendRates;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::authority::AuthorityArbiter;
use crate::session::server::replication::chosen_records::ChosenRecords;
use crate::session::server::replication::entity_grid::EntityGrid;
use crate::session::server::replication::exact_choice::{ExactChoice, ExactTerms};
use crate::session::server::replication::exact_row_set::ExactRowSet;
use crate::session::server::replication::interest_query::{InterestQuery, Viewer};
use crate::session::server::replication::interest_set::InterestSet;
use crate::session::server::replication::interest_settings::InterestSettings;
use crate::session::server::replication::recent_changes::RecentChanges;
use crate::session::server::replication::row_encoding_cache::RowEncodingCache;
use crate::session::server::replication::shown_context::Limits;
use crate::session::server::replication::shown_datagram::Room;
use crate::session::shown_row_codec::{Base, ShownRowCodec};
use crate::session::shown_row_header::{RecordHeader, RecordKind, RecordsBefore};
use crate::session::stopped_rows_codec::read_stopped;
use crate::session::test_states::{self, SHIP};
use crate::time::{Tick, TickRate};
use crate::wire::{BitReader, BitWriter};
use crate::world::{Audience, Entity, Interest, PlayerId, Row, RowKey, Schema, Seat};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use proptest::prelude::*;

mod any_loss;
mod ranked;

/// What everybody sees, in whole steps: so it counts what it is told against.
#[derive(State, Clone, Copy)]
struct Float(#[state(precision = 1.0)] f32);

/// The same, but that its owner does not see it.
#[derive(State, Clone, Copy)]
#[state(audience = others)]
struct Rumour(#[state(precision = 1.0)] f32);

const ME: PlayerId = PlayerId::new(1);
/// From here on nothing changes any more.
const CALM: u32 = 120;
/// And from here on nothing is lost.
const LOSSLESS: u32 = CALM + 30;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// States are sent at 64 Hz.
fn at(tick: u32) -> Instant {
    Instant::from_micros(u64::from(tick) * 15_625)
}

fn key(nth: u16) -> RowKey {
    test_states::key(SHIP, Entity::new(PlayerId::SERVER, Tick::ZERO, nth))
}

/// Whose it is, and its word.
type Facts = Option<(PlayerId, u32)>;

fn facts(state: &AuthoritativeState, nth: u16) -> Facts {
    state.rows().get(key(nth)).map(|row| (row.owner, row.words[0]))
}

/// Something on its way.
struct Flight {
    arrives: u32,
    number: u16,
    tick: u32,
    /// The client's own rows of the state, and those of others that are told exactly, if it is the first datagram of that state.
    exact: Vec<Facts>,
    /// All that is to be seen of the state.
    all: Vec<Facts>,
    shown: Vec<u8>,
}

/// A client that keeps what is newest of each row, for ever.
#[derive(Default)]
struct Client {
    shown: BTreeMap<u16, (u32, Facts)>,
    own: BTreeMap<u16, (u32, Facts)>,
    /// In which state each was told last, and whether it rests since the one before.
    rests: BTreeMap<u16, (u32, bool)>,
    newest_own: u32,
    /// Which rows of others were told exactly in that state.
    exact: Vec<u16>,
    received: Option<AckBits>,
    /// By number: the row that has it, whose it is, and from which state to which.
    names: BTreeMap<u32, (RowKey, PlayerId, [u32; 2])>,
    /// By number and state: the rounded rows that were told.
    told: BTreeMap<(u32, u32), Vec<u32>>,
    /// By the state in which they were told: how all was in the one in which those that moved have stopped.
    stops: BTreeMap<u32, Vec<Facts>>,
}

impl Client {
    /// The rows that a datagram tells; `None` where they are told by what is not known any more.
    fn read(&mut self, flight: &Flight) -> Option<Vec<(u16, Facts)>> {
        let (schema, mut rows, mut read) = (Schema::of::<Float>(), Vec::new(), Vec::new());
        let (codec, shown) = (ExactRowCodec::new(&schema), ShownRowCodec::new(&schema, TickRate::default()));
        let (mut reader, mut before) = (BitReader::new(&flight.shown), RecordsBefore::NONE);
        while reader.take(1) == Ok(1) {
            rows.push((codec.read_gone(&mut reader).expect("well-formed").key.entity.counter(), None));
        }
        let words = shown.form(SHIP).words();
        while reader.take(1) == Ok(1) {
            let RecordHeader { slot, kind } = before.read(&mut reader, &codec).expect("well-formed");
            let known = self.names.get(&slot).copied().filter(|(.., [since, _])| *since <= flight.tick);
            let (key, owner) = match (kind, known) {
                (RecordKind::Named { key, owner }, _) => (key, owner),
                (_, known) => known.map(|(key, owner, _)| (key, owner))?,
            };
            let base = match kind {
                RecordKind::Against { age_ticks } => {
                    let of_row =
                        self.told.range((slot, 0)..(slot, flight.tick)).next_back().map(|((_, tick), _)| *tick);
                    let state = if age_ticks > 0 { Some(flight.tick - age_ticks) } else { of_row };
                    let base = state.and_then(|state| self.told.get(&(slot, state)));
                    Base { rounded: base.expect("it is known to be there"), age_ticks }
                }
                _ => Base::NONE,
            };
            let rests = reader.take(1).expect("whether it rests") == 1;
            let mut rounded = vec![0; words];
            shown.read(&mut reader, SHIP, base, &mut rounded).expect("well-formed");
            read.push((slot, key, owner, rests, rounded));
        }
        if let Some(age_ticks) = read_stopped(&mut reader).expect("well-formed") {
            self.stops.insert(flight.tick - age_ticks, flight.all.clone());
        }
        reader.finish().expect("nothing is behind it");
        // All of it can be read: so it counts.
        for (slot, key, owner, rests, rounded) in read {
            let newest = self.rests.entry(key.entity.counter()).or_default();
            *newest = (*newest).max((flight.tick, rests));
            let mut row = [0];
            shown.form(SHIP).restore(&rounded, &mut row);
            self.told.insert((slot, flight.tick), rounded);
            let name = self.names.entry(slot).or_insert((key, owner, [flight.tick; 2]));
            let [since, newest] = &mut name.2;
            if (name.0, name.1) == (key, owner) {
                (*since, *newest) = ((*since).min(flight.tick), (*newest).max(flight.tick));
            } else if *newest <= flight.tick {
                *name = (key, owner, [flight.tick; 2]);
            }
            rows.push((key.entity.counter(), Some((owner, row[0]))));
        }
        Some(rows)
    }

    fn take_in(&mut self, flight: &Flight) {
        let rows = self.read(flight);
        if rows.is_some() {
            let number = flight.number;
            self.received = Some(self.received.map_or(AckBits::first(number), |received| received.with(number)));
        }
        for (nth, facts) in (0..).zip(&flight.exact).filter(|(_, facts)| facts.is_some_and(|(owner, _)| owner != ME)) {
            self.note(nth, flight.tick, *facts);
            let newest = self.rests.entry(nth).or_default();
            *newest = (*newest).max((flight.tick, true));
        }
        if flight.tick > self.newest_own && !flight.exact.is_empty() {
            self.newest_own = flight.tick;
            let is_other = |(_, facts): &(u16, &Facts)| facts.is_some_and(|(owner, _)| owner != ME);
            let exact = (0..).zip(&flight.exact).filter(is_other).map(|(nth, _)| nth).collect();
            for nth in core::mem::replace(&mut self.exact, exact) {
                if flight.all[usize::from(nth)].is_none_or(|(owner, _)| owner == ME) {
                    self.note(nth, flight.tick, None);
                }
            }
            let own = (0..).zip(&flight.exact).filter(|(_, facts)| facts.is_some_and(|(owner, _)| owner == ME));
            self.own.extend(own.map(|(nth, facts)| (nth, (flight.tick, *facts))));
        }
        for (nth, facts) in rows.into_iter().flatten() {
            assert!(facts.is_none_or(|(owner, _)| owner != ME), "nothing of the client's own");
            let is_newest = self.shown.get(&nth).is_none_or(|known| known.0 < flight.tick);
            assert!(!is_newest || facts.is_none() || facts == flight.all[usize::from(nth)], "as it is in the state");
            self.note(nth, flight.tick, facts);
        }
        self.stop();
    }

    /// What has stopped is as it was told.
    fn stop(&mut self) {
        let Client { stops, shown, rests, .. } = self;
        for (nth, (told, rests)) in rests.iter_mut().filter(|(_, (_, rests))| !rests) {
            let of_newest = shown.get(nth).filter(|(tick, _)| tick == told);
            let (Some(all), Some((_, facts))) = (stops.get(told), of_newest) else { continue };
            assert_eq!(*facts, all[usize::from(*nth)], "{nth} has not stopped");
            *rests = true;
        }
    }

    fn note(&mut self, nth: u16, tick: u32, facts: Facts) {
        let known = self.shown.entry(nth).or_insert((tick, facts));
        if known.0 < tick {
            *known = (tick, facts);
        }
    }

    fn facts(&self, nth: u16) -> Facts {
        let (shown, own) = (self.shown.get(&nth), self.own.get(&nth));
        match own {
            Some((at, facts)) if *at == self.newest_own => *facts,
            Some((at, _)) => shown.filter(|(tick, _)| tick > at).and_then(|(_, facts)| *facts),
            None => shown.and_then(|(_, facts)| *facts),
        }
    }
}

/// How many rows there are, how many bits of them a datagram takes, of how many one changes in a tick, and of how many
/// changes one is a removal.
#[derive(Clone, Copy, Debug)]
struct Scale {
    rows: u16,
    bits_max: usize,
    change: u64,
    goes: u64,
}

/// Few rows have room in a datagram.
const FEW: Scale = Scale { rows: 8, bits_max: 80, change: 6, goes: 3 };
/// Nearly all change in each tick, and mostly all have room: whole chunks of them are told together.
const MANY: Scale = Scale { rows: 150, bits_max: 2700, change: 1, goes: 1200 };

/// Some change, in more than one chunk: rows that have rested among others, and chunks of them behind one another.
const SOME: Scale = Scale { change: 3, ..MANY };

/// A server of one client.
struct Scene {
    scale: Scale,
    state: AuthoritativeState,
    lane: ShownLane,
    codec: ExactRowCodec,
    encoded: RowEncodingCache,
    changes: RecentChanges,
    client: Client,
    flights: Vec<Flight>,
    row_send_rates: RowSendRates,
    /// Whether the client is to have its own rows.
    sees_own: bool,
    authority: AuthorityArbiter,
    grid: EntityGrid,
    interest: InterestQuery,
    view: InterestSet,
    exact: ExactRowSet,
    chosen: ExactChoice,
    /// How many rows of others are told exactly; `None` where nothing limits what is seen.
    exact_max: Option<u64>,
}

impl Scene {
    fn of(schema: &Schema, scale: Scale) -> Scene {
        Scene {
            scale,
            state: AuthoritativeState::new(schema),
            lane: ShownLane::new(),
            codec: ExactRowCodec::new(schema),
            encoded: RowEncodingCache::new(schema, TickRate::default()),
            changes: RecentChanges::new(),
            client: Client::default(),
            flights: Vec::new(),
            row_send_rates: RowSendRates::every(1),
            sees_own: schema.component(SHIP).audience() == Audience::All,
            authority: AuthorityArbiter::new(schema, TickRate::default()),
            grid: EntityGrid::default(),
            interest: InterestQuery::default(),
            view: InterestSet::of_nothing(),
            exact: ExactRowSet::default(),
            chosen: ExactChoice::default(),
            exact_max: None,
        }
    }

    fn change(&mut self, dice: &mut Dice, with_owner: bool) {
        let Scale { rows, change, goes, .. } = self.scale;
        for nth in (0..rows).filter(|_| dice.roll(change) == 0).collect::<Vec<_>>() {
            let RowKey { component, entity } = key(nth);
            let owner = PlayerId::new(if with_owner { u16::try_from(dice.roll(goes) % 3).expect("small") } else { 0 });
            let word = f32::from(u8::try_from(dice.roll(256)).expect("small")).to_bits();
            match dice.roll(goes) {
                0 => self.state.rows_mut().remove(key(nth)),
                _ => self.state.rows_mut().set_words(Row { component, entity, owner, words: &[word] }),
            }
        }
    }

    /// All that the client is to have.
    fn all(&self) -> Vec<Facts> {
        let is_seen = |of: &(PlayerId, u32)| self.sees_own || of.0 != ME;
        (0..self.scale.rows).map(|nth| facts(&self.state, nth).filter(is_seen)).collect()
    }

    /// Chooses what of others is told exactly.
    fn choose(&mut self, tick: Tick, exact_max: u64) {
        let Scene { state, codec, grid, interest, view, authority, .. } = self;
        let changed = self.changes.places.iter().map(|place| *place as usize);
        grid.update(state, tick, self.changes.since, changed);
        let settings = InterestSettings { interest: Interest::Everything, rules: None };
        interest.look(Viewer { player: ME, seat: Seat::Player, state, authority, settings, view }, grid);
        let bits_max = exact_max * codec.bits_max(SHIP);
        let terms = ExactTerms { base: None, state, grid, interest, codec, within_m: 0, bits_max };
        self.chosen.choose(Some(terms), &self.exact);
        self.exact.note(tick, None, self.chosen.rows(), self.chosen.lost());
    }

    /// Sends the state of `tick` in datagrams of few rows, of which some are lost and all come out of order.
    fn send(&mut self, tick: u32, dice: &mut Dice) {
        let mut datagrams = Vec::new();
        let (now, all) = (Tick::new(tick), self.all());
        self.changes.update(now, &self.state, &self.row_send_rates);
        self.exact_max.into_iter().for_each(|most| self.choose(now, most));
        let Scene { state, row_send_rates, lane, view, interest, chosen, .. } = self;
        let limits = self.exact_max.map(|_| Limits { view, interest, exact: chosen });
        let of = ShownContext { player: ME, tick: now, state, changes: &self.changes, row_send_rates, limits };
        self.encoded.begin(of.tick, state.versions().slots());
        lane.note(&of);
        lane.sort();
        for _ in 0..=dice.roll(3) {
            // What another client is told that has the same is copied from what was put together for the first.
            let (number, mut twin) = (lane.next_number(), lane.clone());
            let mut write = |lane: &mut ShownLane| {
                let mut bytes = Vec::new();
                let (codec, encoded, writer) = (&self.codec, &mut self.encoded, BitWriter::new(&mut bytes));
                let room = Room::new(self.scale.bits_max, false);
                let chosen = &mut ChosenRecords::default();
                let mut to = ShownDatagram { codec, encoded, chosen, writer, room, is_last: true };
                lane.write(&of, number, &mut to);
                bytes
            };
            let bytes = write(lane);
            assert_eq!(bytes, write(&mut twin), "clients that have the same are told the same");
            lane.note_sent(number, bytes.len(), at(tick));
            assert!(bytes.len() <= self.scale.bits_max / 8 + 1);
            datagrams.push((number, bytes));
        }
        if self.exact_max.is_some() {
            interest.note_told(view, now);
        }
        let is_exact = |nth: u16| chosen.rows().iter().any(|row| row.key == key(nth));
        let of_exact = |(nth, facts): (u16, Facts)| facts.filter(|(owner, _)| *owner == ME || is_exact(nth));
        let mut exact: Vec<Facts> = (0..).zip(all.iter().copied()).map(of_exact).collect();
        for (number, shown) in datagrams {
            let exact = core::mem::take(&mut exact);
            for _ in 0..=dice.roll(2) {
                let arrives = tick + u32::try_from(dice.roll(if tick < LOSSLESS { 12 } else { 3 })).expect("small");
                if tick >= LOSSLESS || dice.roll(3) > 0 {
                    let (exact, all, shown) = (exact.clone(), all.clone(), shown.clone());
                    self.flights.push(Flight { arrives, number, tick, exact, all, shown });
                }
            }
        }
    }

    fn arrive(&mut self, tick: u32, dice: &mut Dice) {
        let Scene { flights, client, .. } = self;
        flights.retain(|flight| {
            if flight.arrives <= tick {
                client.take_in(flight);
            }
            flight.arrives > tick
        });
        let Some(received) = client.received.filter(|_| tick >= LOSSLESS || dice.roll(3) > 0) else { return };
        self.lane.acknowledge(received, at(tick));
    }

    /// What a server has once for all of its clients.
    fn lend_server(&mut self, to: &mut Scene) {
        core::mem::swap(&mut self.state, &mut to.state);
        core::mem::swap(&mut self.changes, &mut to.changes);
        core::mem::swap(&mut self.encoded, &mut to.encoded);
    }

    /// The client has all that it is to have, and the server knows it.
    fn check(&self) {
        let known: Vec<Facts> = (0..self.scale.rows).map(|nth| self.client.facts(nth)).collect();
        assert_eq!(known, self.all());
        for nth in (0..self.scale.rows).filter(|nth| known[usize::from(*nth)].is_some_and(|(owner, _)| owner != ME)) {
            assert!(self.client.rests[&nth].1, "{nth} is known to rest");
        }
        let to_tell = &self.lane.to_tell;
        assert!(!self.lane.has_news() && to_tell.given.is_empty() && to_tell.rows.unknown().is_empty());
    }

    /// More or fewer rows of others are told exactly.
    fn change_exact(&mut self, dice: &mut Dice) {
        if self.exact_max.is_some() && dice.roll(4) == 0 {
            self.exact_max = Some(dice.roll(u64::from(self.scale.rows)));
        }
    }
}
