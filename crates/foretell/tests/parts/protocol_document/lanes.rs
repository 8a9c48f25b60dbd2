//! Rows of others that are told one by one (sections 4.5, 4.8 and 6): both ends by the document alone, against the crate's.

use super::*;

mod client;
mod rounded;
mod server;

use rounded::Rounded;

// The game: what everybody sees, and what the owner sees. No owner writes anything. Component numbers take one bit.

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Buoy {
    #[state(position, precision = 0.5)]
    place: [f64; 2],
    #[state(velocity, precision = 0.25)]
    drift: [f64; 2],
    #[state(rotation, precision = 0.001)]
    facing: [f32; 4],
    lit: bool,
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
#[state(audience = owner)]
struct Chest(u32);

/// One of each for every player.
#[derive(World, Default)]
struct Sea {
    buoys: Table<Buoy>,
    chests: Table<Chest>,
}

impl Simulate for Sea {
    type Input = Command;

    fn step(&mut self, step: &mut Step<'_, Command>) {
        for joined in step.joined() {
            self.buoys.spawn(step, joined.player, Buoy::default());
            self.chests.spawn(step, joined.player, Chest(7));
        }
    }
}

fn rules_of_the_sea() -> Vec<u64> {
    let mut hash = Fnv(START);
    hash.number(2, 8);
    let place = (0, ("place", 4, None, 2, 1), 0.5);
    let drift = (4, ("drift", 4, None, 2, 3), 0.25);
    let facing = (8, ("facing", 3, None, 4, 2), 0.001);
    hash.component_to("Buoy", &[place, drift, facing, (12, ("lit", 0, None, 1, 0), 0.0)], 13, 0);
    hash.component("Chest", &[(0, ("0", 1, Some(32), 1, 0))], 1, 1);
    vec![hash_of(64, 2), hash_of(0, 1), hash.0, hash_of_input(), hash_of(0, 8)]
}

/// A buoy of the server's.
fn buoy(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
}

fn key_of(nth: u64) -> Key {
    (0, [0, 0, nth])
}

/// The rows of the first player who joins in tick 1.
const OWN: Key = (0, [1, 1, 0]);
const CHEST: Key = (1, [1, 1, 1]);

/// Whose it is, and its lanes.
#[derive(Clone, PartialEq, Debug)]
struct Facts {
    owner: u64,
    lanes: Vec<u64>,
}

/// A shown row: whether it rests, and what it is; where it is gone, whether it is hidden.
type ShownRow = (Key, Result<(u64, Facts), u64>);

/// A buoy that rests at `x`, and is turned nowhere.
fn at_x(x: f64) -> Facts {
    let place = [x.to_bits(), 0.0_f64.to_bits()];
    Facts { owner: 0, lanes: [&place[..], &[0; 7]].concat() }
}

fn widths((component, _): Key) -> &'static [u32] {
    if component == 0 { &[64, 64, 64, 64, 32, 32, 32, 32, 1] } else { &[32] }
}

fn read_sea_key(reader: &mut Reader) -> Key {
    (reader.take(1), read_name(reader))
}

fn put_sea_key<'a>(writer: &'a mut Writer, (component, name): &Key) -> &'a mut Writer {
    put_name(writer.put(*component, 1), name)
}

fn read_owner(reader: &mut Reader, key: Key) -> u64 {
    if reader.take(1) == 1 { reader.small() } else { key.1[1] }
}

fn put_owner(writer: &mut Writer, key: &Key, owner: u64) {
    writer.put(u64::from(owner != key.1[1]), 1);
    if owner != key.1[1] {
        writer.small(number(owner));
    }
}

fn put_lanes(writer: &mut Writer, key: Key, facts: &Facts) {
    for (lane, width) in facts.lanes.iter().zip(widths(key)) {
        writer.put(*lane, *width);
    }
}

/// Section 4.5: a row of the client's own, with what happened to it.
fn read_sea_row(reader: &mut Reader) -> (Key, Facts) {
    let key = read_sea_key(reader);
    let owner = read_owner(reader, key);
    let _ages = [reader.optional([10]), reader.optional([10])];
    (key, Facts { owner, lanes: widths(key).iter().map(|width| reader.take(*width)).collect() })
}

/// What both ends know of the numbers of rows, and which rows were told. For ever: nothing comes so late here that it matters.
#[derive(Default)]
struct Memory {
    names: BTreeMap<u64, (Key, u64)>,
    /// By number and state.
    told: BTreeMap<(u64, u64), Rounded>,
    /// How many ticks before the next datagram's state that is of which it says that all has stopped.
    stopped_age: Option<u64>,
}

/// Section 4.8: how a row is told.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Against(u64),
    /// Against the row as it was told last.
    Rested,
    ByItself,
    Named,
}

const GAPS: [(u64, u32); 3] = [(1, 3), (9, 6), (73, 10)];

impl Memory {
    /// What is gone up to a bit 0, and the rows that are shown up to another; and the state of which all has stopped that is not told again.
    fn read_shown(&mut self, reader: &mut Reader, tick: u64) -> (Vec<ShownRow>, Option<u64>) {
        let mut shown = Vec::new();
        while reader.take(1) == 1 {
            shown.push((read_sea_key(reader), Err(reader.take(1))));
        }
        let (mut next, mut age_before) = (0, 1);
        while reader.take(1) == 1 {
            let slot = if reader.take(1) == 1 { next } else { read_gap(reader, next) };
            next = slot + 1;
            let kind = match (reader.take(1), reader.take(1)) {
                (1, 1) => Kind::Against(age_before),
                (1, _) => Kind::Against(reader.take(6)),
                (_, 1) => Kind::Rested,
                _ if reader.take(1) == 0 => Kind::ByItself,
                _ => Kind::Named,
            };
            if kind == Kind::Named {
                let key = read_sea_key(reader);
                self.names.insert(slot, (key, read_owner(reader, key)));
            }
            let (key, owner) = self.names[&slot];
            let mut before = None;
            if let Kind::Against(age) = kind {
                assert!((1..64).contains(&age));
                age_before = age;
                before = Some((&self.told[&(slot, tick - age)], age));
            } else if kind == Kind::Rested {
                before = Some((self.told_last(slot, tick), 0));
            }
            let rests = reader.take(1);
            let rounded = rounded::read(reader, key.0, before);
            shown.push((key, Ok((rests, Facts { owner, lanes: rounded::restore(key.0, &rounded) }))));
            self.told.insert((slot, tick), rounded);
        }
        let stopped =
            reader.optional([6]).map(|[age]| tick.checked_sub(age).filter(|_| age > 0).expect("an earlier state"));
        (shown, stopped)
    }

    /// How a row was told last before a state.
    fn told_last(&self, slot: u64, tick: u64) -> &Rounded {
        self.told.range((slot, 0)..(slot, tick)).next_back().expect("it was told").1
    }

    /// The counters of the rows of the game are their numbers.
    fn put_shown(&mut self, writer: &mut Writer, tick: u64, rows: &[(ShownRow, Kind)]) {
        for ((key, row), _) in rows {
            if let Err(hidden) = row {
                put_sea_key(writer.put(1, 1), key).put(*hidden, 1);
            }
        }
        writer.put(0, 1);
        let (mut next, mut age_before) = (0, 1);
        for ((key, row), kind) in rows {
            let Ok((rests, facts)) = row else { continue };
            let slot = key.1[2];
            put_gap(writer.put(1, 1), slot, next);
            next = slot + 1;
            match *kind {
                Kind::Against(age) if age == age_before => writer.put(0b11, 2),
                Kind::Against(age) => writer.put(0b01, 2).put(age, 6),
                Kind::Rested => writer.put(0b10, 2),
                Kind::ByItself => writer.put(0b000, 3),
                Kind::Named => writer.put(0b100, 3),
            };
            if *kind == Kind::Named {
                put_owner(put_sea_key(writer, key), key, facts.owner);
            }
            let rounded = rounded::round(key.0, &facts.lanes);
            let mut before = None;
            if let Kind::Against(age) = *kind {
                age_before = age;
                before = Some((&self.told[&(slot, tick - age)], age));
            } else if *kind == Kind::Rested {
                before = Some((self.told_last(slot, tick), 0));
            }
            rounded::put(writer.put(*rests, 1), key.0, &rounded, before);
            self.told.insert((slot, tick), rounded);
        }
        writer.put(0, 1).put(u64::from(self.stopped_age.is_some()), 1);
        if let Some(age) = self.stopped_age.take() {
            writer.put(age, 6);
        }
    }
}

fn read_gap(reader: &mut Reader, next: u64) -> u64 {
    match reader.take(2) {
        3 => reader.small(),
        code => {
            let (first, bits) = GAPS[usize::try_from(code).expect("two bits")];
            next + first + reader.take(bits)
        }
    }
}

fn put_gap(writer: &mut Writer, slot: u64, next: u64) {
    let gap = slot.checked_sub(next);
    let code = GAPS.iter().rposition(|(first, _)| gap >= Some(*first));
    match (gap, code) {
        (Some(0), _) => writer.put(1, 1),
        (Some(gap), Some(code)) if gap - GAPS[code].0 < 1 << GAPS[code].1 => {
            writer.put(0, 1).put(code as u64, 2).put(gap - GAPS[code].0, GAPS[code].1)
        }
        _ => writer.put(0, 1).put(3, 2).small(number(slot)),
    };
}

fn sea_hash(((component, [tick, player, counter]), facts): (&Key, &Facts)) -> u64 {
    let mut words = halves(tick << 32 | player << 16 | counter).to_vec();
    words.push(component << 16 | facts.owner);
    match component {
        0 => {
            words.extend(facts.lanes[..4].iter().flat_map(|lane| halves(*lane)));
            words.extend(&facts.lanes[4..]);
        }
        _ => words.extend(&facts.lanes),
    }
    words.iter().fold(START, |hash: u64, word| (hash ^ word).wrapping_mul(1_099_511_628_211)) >> 32
}
