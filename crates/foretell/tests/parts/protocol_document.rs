//! PROTOCOL.md is enough for a second implementation: this one follows the document alone (its section numbers stand in
//! the comments), reads what the crate writes, and is understood by it.

use foretell::session::Offence;
use foretell::session::client::{AuthorityChange, ClientEvent, Joined, Predict};
use foretell::session::{Claim, Refusal};
use foretell::time::TickTime;
use foretell::{
    Client, ClientConfig, ClientState, Effect, EffectKind, Entity, Fingerprint, GapPolicy, Group, Input, Instant,
    Interest, Newcomer, Outbox, Owned, PeerId, PlayerId, Reason, Rules, Server, ServerConfig, Simulate, State, Step,
    Table, Tick, World,
};
use foretell_sim::netsim::SplitMix64;
use std::collections::BTreeMap;

mod joining;
mod lanes;
mod messages;

const EPOCH: u8 = 9;
/// The first ticket that a server of that epoch gives.
const TICKET: u8 = 10;
const TICK_MICROS: u64 = 15_625;
const ME: PeerId = PeerId(3);

// The game. Three components: their numbers take two bits.

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Command {
    thrust: f32,
    fire: bool,
    turn: i8,
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Thing {
    Ship {
        #[state(position)]
        place: [f64; 2],
        #[state(writer = owner)]
        heading: i16,
        lamps: [bool; 2],
        serial: u64,
    },
    #[state(audience = owner)]
    Purse(u32),
    Rock,
}

const ROCK: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);

#[derive(World, Default)]
struct Space {
    things: Table<Thing>,
    /// What a step was given of what players saw. No part of the state.
    #[world(constant)]
    presented: Vec<(Tick, Option<TickTime>)>,
    /// Who has joined.
    #[world(constant)]
    joined: Vec<Newcomer>,
}

impl Simulate for Space {
    type Input = Command;

    fn admit(&self, newcomer: &Newcomer) -> Result<(), Reason> {
        if newcomer.data == b"nobody" { Err("say who you are".into()) } else { Ok(()) }
    }

    fn step(&mut self, step: &mut Step<'_, Command>) {
        if step.is_authority() && step.tick() == Tick::ZERO {
            self.things.insert(Owned { entity: ROCK, owner: PlayerId::SERVER }, Thing::Rock);
        }
        self.joined.extend_from_slice(step.joined());
        for joined in step.joined() {
            self.things.spawn(step, joined.player, ship_at(0.0));
            self.things.spawn(step, joined.player, Thing::Purse(77));
        }
        // Whoever fires hits everything.
        for shooter in step.inputs().iter().filter(|shooter| shooter.input.fire) {
            let ship = self.things.owned_by(shooter.player).next().expect("a ship").owned();
            self.things.iter().for_each(|thing| step.touch(ship, thing.owned()));
        }
        // A pebble that lies there for one state.
        if step.is_authority() && step.tick() == Tick::new(8) {
            self.things.spawn(step, PlayerId::new(1), Thing::Rock);
        }
        let stays = |entity: Entity| entity == ROCK || entity.tick() == step.tick();
        self.things.retain(|thing| *thing != Thing::Rock || stays(thing.entity()));
        for mut thing in self.things.simulated(step) {
            let (of, owner) = (thing.owned(), thing.owner());
            let (Thing::Ship { place, heading, .. }, Some(player)) = (&mut *thing, step.input(owner)) else {
                continue;
            };
            place[0] += f64::from(player.input.thrust);
            *heading += i16::from(player.input.turn);
            if step.is_authority() && player.input.fire {
                step.effect(EffectKind(7), of.entity);
                step.effect_at(EffectKind(8), ROCK, [0.5, -2.0, 0.0]);
                let rock = Owned { entity: ROCK, owner: PlayerId::SERVER };
                step.touch(of, rock);
                // What is the player's own is told as any row is.
                assert!(step.change(of, of) && step.change(of, rock));
            }
            self.presented.push((step.tick(), player.presented));
        }
    }
}

// Section 1: bits.

#[derive(Default)]
struct Writer(Vec<bool>);

impl Writer {
    fn put(&mut self, value: u64, width: u32) -> &mut Writer {
        self.0.extend((0..width).map(|bit| value >> bit & 1 == 1));
        self
    }

    fn small(&mut self, mut value: u32) -> &mut Writer {
        while value != 0 {
            self.put(1, 1).put(u64::from(value & 15), 4);
            value >>= 4;
        }
        self.put(0, 1)
    }

    fn optional(&mut self, fields: Option<&[(u64, u32)]>) -> &mut Writer {
        self.put(u64::from(fields.is_some()), 1);
        fields.into_iter().flatten().for_each(|(value, width)| {
            self.put(*value, *width);
        });
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        self.0.chunks(8).map(byte).collect()
    }
}

struct Reader(std::vec::IntoIter<bool>);

impl Reader {
    fn new(bytes: &[u8]) -> Reader {
        let bits: Vec<bool> = bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
        Reader(bits.into_iter())
    }

    fn take(&mut self, width: u32) -> u64 {
        (0..width).fold(0, |value, bit| value | u64::from(self.0.next().expect("enough bits")) << bit)
    }

    fn small(&mut self) -> u64 {
        let (mut value, mut at) = (0, 0);
        while self.take(1) == 1 {
            value |= self.take(4) << at;
            at += 4;
        }
        value
    }

    fn optional<const N: usize>(&mut self, widths: [u32; N]) -> Option<[u64; N]> {
        (self.take(1) == 1).then(|| widths.map(|width| self.take(width)))
    }

    fn finish(self) {
        assert!(self.0.len() < 8 && self.0.into_iter().all(|bit| !bit), "only the padding is left");
    }
}

// Section 3: the hashes of the rules.

struct Fnv(u64);

/// Its name, its scalar, the bits of an integer, its lanes, its meaning; of those here the heading alone is the owner's.
type Column<'a> = (&'a str, u64, Option<u64>, u64, u64);

impl Fnv {
    fn number(&mut self, value: u64, bytes: usize) {
        for byte in &value.to_le_bytes()[..bytes] {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211);
        }
    }

    fn name(&mut self, name: &str) {
        name.bytes().chain([0xff]).for_each(|byte| self.number(u64::from(byte), 1));
    }

    /// A field that is told exactly.
    fn column(&mut self, column: Column<'_>) {
        self.column_to(column, 0.0);
    }

    /// A field that is told to who shows it in steps of so much.
    fn column_to(&mut self, (name, scalar, bits, lanes, meaning): Column<'_>, step: f64) {
        self.name(name);
        self.number(scalar, 8);
        bits.into_iter().for_each(|bits| self.number(bits, 1));
        self.number(lanes, 1);
        self.number(meaning, 8);
        self.number(u64::from(name == "heading"), 8);
        self.number(step.to_bits(), 8);
    }

    fn component(&mut self, name: &str, columns: &[(u64, Column<'_>)], words: u64, audience: u64) {
        let columns: Vec<_> = columns.iter().map(|(place, column)| (*place, *column, 0.0)).collect();
        self.component_to(name, &columns, words, audience);
    }

    fn component_to(&mut self, name: &str, columns: &[(u64, Column<'_>, f64)], words: u64, audience: u64) {
        self.name(name);
        self.number(columns.len() as u64, 8);
        for (place, column, step) in columns {
            self.number(*place, 8);
            self.column_to(*column, *step);
        }
        self.number(words, 8);
        self.number(audience, 8);
        // Not of a group, predicted by its player's client, told with every state, and without a bound for its speed.
        self.number(0, 1);
        self.number(0, 2);
        self.number(0, 4);
    }

    /// One that is never predicted, told at `hz`, and for a group where there is one.
    fn component_of_kind(&mut self, name: &str, column: Column<'_>, audience: (u64, Option<u64>), hz: u64) {
        self.name(name);
        self.number(1, 8);
        self.number(0, 8);
        self.column_to(column, 0.0);
        self.number(1, 8);
        self.number(audience.0, 8);
        audience.1.into_iter().for_each(|group| self.number(group, 1));
        self.number(1, 1);
        self.number(hz, 2);
        self.number(0, 4);
    }
}

const START: u64 = 0xcbf2_9ce4_8422_2325;

/// Of numbers with this many bytes.
fn hash_of(number: u64, bytes: usize) -> u64 {
    let mut hash = Fnv(START);
    hash.number(number, bytes);
    hash.0
}

/// Of the input's fields.
fn hash_of_input() -> u64 {
    let mut hash = Fnv(START);
    hash.number(3, 8);
    for column in [("thrust", 3, None, 1, 0), ("fire", 0, None, 1, 0), ("turn", 2, Some(8), 1, 0)] {
        hash.column(column);
    }
    hash.0
}

fn documented_rules() -> Vec<u64> {
    let mut hash = Fnv(START);
    hash.number(3, 8);
    let ship = [
        (0, ("place", 4, None, 2, 1)),
        (4, ("heading", 2, Some(16), 1, 0)),
        (5, ("lamps", 0, None, 2, 0)),
        (7, ("serial", 1, Some(64), 1, 0)),
    ];
    hash.component("Ship", &ship, 9, 0);
    hash.component("Purse", &[(0, ("0", 1, Some(32), 1, 0))], 1, 1);
    hash.component("Rock", &[], 0, 0);
    vec![hash_of(64, 2), hash_of(0, 1), hash.0, hash_of_input(), hash_of(0, 8)]
}

#[test]
fn a_meaning_has_the_number_of_the_document() {
    use foretell::Meaning::{AngularVelocity, Blended, Parent, Plain, Position, Rotation, Teleports, Velocity};
    let meanings = [Plain, Position, Rotation, Velocity, AngularVelocity, Blended, Parent, Teleports];
    assert_eq!(meanings.map(|meaning| meaning as u64), [0, 1, 2, 3, 4, 5, 6, 7]);
}

const SCHOOL: Group = Group(7);

#[derive(State, Clone, Copy, Default)]
#[state(predict = never, hz = 10)]
struct Crab {
    claws: u32,
    #[state(audience = others)]
    rumour: u8,
    #[state(audience = group(SCHOOL))]
    plan: u16,
}

#[derive(World, Default)]
struct Reef(Table<Crab>);

impl Simulate for Reef {
    type Input = Command;

    fn step(&mut self, _step: &mut Step<'_, Command>) {}
}

#[test]
fn audiences_groups_rates_and_what_is_never_predicted_have_the_numbers_of_the_document() {
    let mut components = Fnv(START);
    components.number(3, 8);
    components.component_of_kind("Crab", ("claws", 1, Some(32), 1, 0), (0, None), 10);
    components.component_of_kind("Crab (others)", ("rumour", 1, Some(8), 1, 0), (2, None), 10);
    components.component_of_kind("Crab (group SCHOOL)", ("plan", 1, Some(16), 1, 0), (3, Some(7)), 10);
    let rules = vec![hash_of(64, 2), hash_of(0, 1), components.0, hash_of_input(), hash_of(0, 8)];
    let mut server = Server::new(Rules::new(Reef::schema()), ServerConfig::default(), EPOCH, Instant::ZERO);
    server.receive(Instant::ZERO, ME, &hello(13, 42, &rules, (0, None))).expect("well-formed");
    let mut outbox = Outbox::new();
    server.update(Instant::ZERO, &mut Reef::default(), &mut outbox);
    let answers: Vec<&[u8]> = outbox.iter().map(|(_, datagram)| datagram).collect();
    assert_eq!(answers, [welcome(42, (0, TICKET), 1, 0, 0)], "and not refused as of other rules");
}

// Section 4: the messages.

/// Of a player of whom nothing is said.
fn hello(version: u64, nonce: u64, rules: &[u64], (sent, ticket): (u64, Option<u8>)) -> Vec<u8> {
    hello_of(version, nonce, rules, Asking { sent, ticket, spectates: false, data: ticket.map(|_| &[][..]) })
}

/// What else a hello says.
struct Asking<'a> {
    sent: u64,
    ticket: Option<u8>,
    spectates: bool,
    /// Where it joins, by what.
    data: Option<&'a [u8]>,
}

fn hello_of(version: u64, nonce: u64, rules: &[u64], asking: Asking<'_>) -> Vec<u8> {
    let Asking { sent, ticket, spectates, data } = asking;
    let mut writer = Writer::default();
    writer.put(0, 3).put(version, 8).put(nonce, 64).small(u32::try_from(rules.len()).expect("few"));
    rules.iter().for_each(|part| {
        writer.put(*part, 64);
    });
    writer.put(sent, 64);
    writer.put(u64::from(ticket.is_some()), 1).put(u64::from(ticket.unwrap_or(0)), 8).put(u64::from(spectates), 1);
    writer.put(u64::from(data.is_some()), 1);
    if let Some(data) = data {
        writer.put(data.len() as u64, 10);
    }
    let data = data.unwrap_or_default();
    data.iter().for_each(|byte| {
        writer.put(u64::from(*byte), 8);
    });
    for _ in 8 * rules.len() + data.len()..120 {
        writer.put(0, 8);
    }
    writer.bytes()
}

fn welcome(nonce: u64, (sent, ticket): (u64, u8), player: u64, tick: u64, fraction: u64) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.put(1, 3).put(nonce, 64).put(sent, 64).put(u64::from(EPOCH), 8).put(u64::from(ticket), 8).put(player, 16);
    writer.put(tick, 32).put(fraction, 8).bytes()
}

fn put_input(writer: &mut Writer, input: Command) {
    let turn = u64::from(input.turn.cast_unsigned());
    writer.put(u64::from(input.thrust.to_bits()), 32).put(u64::from(input.fire), 1).put(turn, 8);
}

/// An input with what the player saw, in 1/256 tick.
type Seen = (Command, Option<u64>);

fn inputs(sequence: u64, snapshot: u64, newest: u64, list: &[Seen]) -> Vec<u8> {
    inputs_of(TICKET, sequence, (snapshot, newest), list)
}

/// Those of somebody with another ticket.
fn inputs_of(ticket: u8, sequence: u64, (snapshot, newest): (u64, u64), list: &[Seen]) -> Vec<u8> {
    put_inputs(ticket, sequence, (snapshot, newest), list).put(0, 1).bytes()
}

/// The name of an entity: tick, player, counter.
type Name = [u64; 3];
/// Which row: its component, and the name.
type Key = (u64, Name);
/// A request: number, claim, and the entity's name.
type Request = (u64, u64, Name);
/// The row of a ship: which, the request, back, whether it rests, its heading.
type HeldRow = (Key, u64, u64, u64, i16);

fn number(of: u64) -> u32 {
    u32::try_from(of).expect("32 bits")
}

fn put_name<'a>(writer: &'a mut Writer, name: &Name) -> &'a mut Writer {
    let [tick, player, counter] = name.map(number);
    writer.small(tick).small(player).small(counter)
}

fn put_key<'a>(writer: &'a mut Writer, (component, name): &Key) -> &'a mut Writer {
    writer.put(*component, 2);
    put_name(writer, name)
}

/// A neutral input, with what is wanted of entities.
fn sharing(sequence: u64, (snapshot, newest): (u64, u64), requests: &[Request], rows: &[HeldRow]) -> Vec<u8> {
    let mut writer = put_inputs(TICKET, sequence, (snapshot, newest), &[(Command::default(), None)]);
    writer.put(1, 1);
    for (nth, claim, name) in requests {
        put_name(writer.put(1, 1).put(*nth, 16).put(*claim, 2), name);
    }
    writer.put(0, 1);
    for (key, request, back, rests, heading) in rows {
        let writer = put_key(writer.put(1, 1), key);
        writer.put(*request, 16).small(number(*back)).put(*rests, 1).put(u64::from(heading.cast_unsigned()), 16);
    }
    writer.put(0, 1).bytes()
}

fn put_inputs(ticket: u8, sequence: u64, (snapshot, newest): (u64, u64), list: &[Seen]) -> Writer {
    let mut writer = Writer::default();
    writer.put(3, 3).put(u64::from(ticket), 8).put(sequence, 16).optional(Some(&[(snapshot, 16)]));
    // What others have is predicted, wherever it is.
    writer.optional(None).put(1, 1).small(0).put(newest, 16);
    writer.small(u32::try_from(list.len()).expect("few")).put(0, 1);
    let (mut before, mut expected) = (None, None);
    for (input, presented) in list {
        writer.put(u64::from(presented.is_some()), 1);
        if let Some(at) = presented {
            if expected.is_some() {
                writer.put(u64::from(expected == Some(*at)), 1);
            }
            if expected != Some(*at) {
                writer.put(*at, 24);
            }
            expected = Some((at + 256) & 0xff_ffff);
        }
        if let Some(before) = before {
            writer.put(u64::from(before != *input), 1);
        }
        if before != Some(*input) {
            put_input(&mut writer, *input);
        }
        before = Some(*input);
    }
    writer
}

#[derive(Debug)]
struct Inputs {
    sequence: u64,
    snapshot: Option<[u64; 1]>,
    /// The newest of the server's datagrams that has come, and which of those before it, in words of 32.
    received: Option<Vec<u64>>,
    exact_within_m: Option<u64>,
    newest: u64,
    list: Vec<Seen>,
    requests: Vec<Request>,
    rows: Vec<HeldRow>,
}

fn read_name(reader: &mut Reader) -> Name {
    [reader.small(), reader.small(), reader.small()]
}

fn read_key(reader: &mut Reader) -> Key {
    (reader.take(2), read_name(reader))
}

fn read_received(reader: &mut Reader) -> Vec<u64> {
    let newest = reader.take(16);
    if reader.take(1) == 1 {
        return vec![newest, 0xffff_ffff];
    }
    let mask = reader.take(32);
    if mask != 0xffff_ffff {
        return vec![newest, mask];
    }
    let words = reader.take(5) + 1;
    let mask = (0..words).map(|_| if reader.take(1) == 1 { 0xffff_ffff } else { reader.take(32) });
    core::iter::once(newest).chain(mask).collect()
}

fn read_inputs(datagram: &[u8]) -> Inputs {
    let mut reader = Reader::new(datagram);
    assert_eq!((reader.take(3), reader.take(8)), (3, u64::from(TICKET)));
    let (sequence, snapshot) = (reader.take(16), reader.optional([16]));
    let received = (reader.take(1) == 1).then(|| read_received(&mut reader));
    let exact_within_m = (reader.take(1) == 1).then(|| reader.small());
    let newest = reader.take(16);
    let (mut list, mut expected) = (Vec::<Seen>::new(), None);
    let count = reader.small();
    assert_eq!(reader.optional([16]), None, "asked for in exact sessions");
    for _ in 0..count {
        let presented = (reader.take(1) == 1).then(|| {
            let same = expected.is_some() && reader.take(1) == 1;
            if same { expected.expect("there is one before") } else { reader.take(24) }
        });
        expected = presented.map(|at| (at + 256) & 0xff_ffff).or(expected);
        let input = match list.last() {
            Some((before, _)) if reader.take(1) == 0 => *before,
            _ => read_command(&mut reader),
        };
        list.push((input, presented));
    }
    let (mut requests, mut rows) = (Vec::new(), Vec::new());
    if reader.take(1) == 1 {
        while reader.take(1) == 1 {
            requests.push((reader.take(16), reader.take(2), read_name(&mut reader)));
        }
        while reader.take(1) == 1 {
            let (key, request, back) = (read_key(&mut reader), reader.take(16), reader.small());
            let heading = |bits: u64| u16::try_from(bits).expect("16 bits").cast_signed();
            rows.push((key, request, back, reader.take(1), heading(reader.take(16))));
        }
    }
    reader.finish();
    Inputs { sequence, snapshot, received, exact_within_m, newest, list, requests, rows }
}

/// A row. The age of the last contact stands beside the rows.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    key: Key,
    owner: u64,
    /// Of the last server event.
    age: Option<u64>,
    state: Thing,
}

impl Row {
    fn new(key: Key, state: Thing) -> Row {
        Row { key, owner: key.1[1], age: None, state }
    }

    fn aged(self, age: u64) -> Row {
        Row { age: Some(age), ..self }
    }

    fn owned_by(self, owner: u64) -> Row {
        Row { owner, ..self }
    }
}

/// News: back, the entity's name, what with its fields.
type News = (u64, Name, What);

#[derive(Clone, Copy, PartialEq, Debug)]
enum What {
    Effect(u64, Option<[f32; 3]>),
    Other(u64),
}

#[derive(Debug)]
struct Snapshot {
    parts: (u64, u64),
    /// Counts the datagrams of states.
    number: u64,
    /// Whether the rows are all, or the player's own.
    crowded: u64,
    heard: Option<[u64; 2]>,
    tick: u64,
    fraction: u64,
    repeat: Option<u64>,
    newest_input: Option<[u64; 1]>,
    /// Newest first: the newest input, how many are new, and the margin in 1/64 tick.
    arrivals: Vec<(u64, u64, u64)>,
    /// back, ticks, how.
    substituted: Vec<(u64, u64, u64)>,
    news_ticks: Option<u64>,
    /// Number, what became of it.
    answers: Vec<(u64, u64)>,
    canonical: Vec<u64>,
    unforeseen: Option<u64>,
    proof: Option<u64>,
    /// How many ticks before, and the check of all rows.
    baseline: Option<(u64, u64)>,
    relayed: Vec<Line>,
    gone: Vec<Key>,
    rows: Vec<Row>,
    /// Component, owner, age.
    contacts: Vec<(u64, u64, u64)>,
    news: Vec<News>,
    /// The entity's name; holder, whether by ownership, the two numbers.
    holders: Vec<ToldHolder>,
}

/// Whose inputs, how many of them were applied, and what is told of each, by tick.
type Line = (u64, usize, Vec<Told>);

#[derive(Clone, Copy, PartialEq, Debug)]
enum Told {
    Received(Command),
    Repeated(Command),
    Held,
    Neutral,
    NotThere,
    /// What the document does not know.
    Unknown,
}

fn read_command(reader: &mut Reader) -> Command {
    let (thrust, fire, turn) = (reader.take(32), reader.take(1), reader.take(8));
    let thrust = f32::from_bits(u32::try_from(thrust).expect("32 bits"));
    Command { thrust, fire: fire == 1, turn: u8::try_from(turn).expect("8 bits").cast_signed() }
}

fn read_relayed(reader: &mut Reader) -> Vec<Line> {
    let mut lines = Vec::new();
    while reader.take(1) == 1 {
        let (player, back, ahead) = (reader.small(), reader.small(), reader.small());
        let mut before = Command::default();
        let mut changed = |reader: &mut Reader| {
            if reader.take(1) == 1 {
                before = read_command(reader);
            }
            before
        };
        let told = (0..back + ahead).map(|nth| match reader.take(1) {
            1 => Told::Received(changed(reader)),
            _ if nth >= back => Told::NotThere,
            _ => match reader.take(2) {
                0 => Told::Held,
                1 => Told::Repeated(changed(reader)),
                how => {
                    assert_eq!(how, 2);
                    Told::Neutral
                }
            },
        });
        let told = told.collect();
        lines.push((player, usize::try_from(back).expect("few"), told));
    }
    lines
}

/// Lines of relayed inputs from a server that follows the document, by the number of its bits.
fn put_relayed(writer: &mut Writer, lines: &[Line]) {
    writer.put(u64::from(!lines.is_empty()), 1);
    for (player, back, told) in lines {
        let [player, back, ahead] =
            [*player, *back as u64, (told.len() - back) as u64].map(|n| u32::try_from(n).expect("few"));
        writer.put(1, 1).small(player).small(back).small(ahead);
        let mut before = Command::default();
        for told in told {
            let input = match told {
                Told::Received(input) => {
                    writer.put(1, 1);
                    input
                }
                Told::Repeated(input) => {
                    writer.put(0, 1).put(1, 2);
                    input
                }
                Told::Held => {
                    writer.put(0, 1).put(0, 2);
                    continue;
                }
                Told::Neutral => {
                    writer.put(0, 1).put(2, 2);
                    continue;
                }
                Told::NotThere => {
                    writer.put(0, 1);
                    continue;
                }
                Told::Unknown => {
                    writer.put(0, 1).put(3, 2);
                    continue;
                }
            };
            writer.put(u64::from(*input != before), 1);
            if *input != before {
                put_input(writer, *input);
            }
            before = *input;
        }
    }
    if !lines.is_empty() {
        writer.put(0, 1);
    }
}

fn read_row(reader: &mut Reader) -> (Row, Option<[u64; 1]>) {
    let key = read_key(reader);
    let owner = if reader.take(1) == 1 { reader.small() } else { key.1[1] };
    let age = reader.optional([10]).map(|[age]| age);
    let contact = reader.optional([10]);
    let state = match key.0 {
        0 => Thing::Ship {
            place: [f64::from_bits(reader.take(64)), f64::from_bits(reader.take(64))],
            heading: u16::try_from(reader.take(16)).expect("16 bits").cast_signed(),
            lamps: [reader.take(1) == 1, reader.take(1) == 1],
            serial: reader.take(64),
        },
        1 => Thing::Purse(u32::try_from(reader.take(32)).expect("32 bits")),
        _ => Thing::Rock,
    };
    (Row { key, owner, age, state }, contact)
}

fn read_arrivals(reader: &mut Reader, newest_input: Option<[u64; 1]>) -> Vec<(u64, u64, u64)> {
    let count = reader.small();
    if count == 0 {
        return Vec::new();
    }
    let is_newest = reader.take(1) == 1;
    let mut newest = if is_newest { newest_input.expect("told before")[0] } else { reader.take(16) };
    let mut arrivals = Vec::new();
    for _ in 0..count {
        let (new, margin) = (reader.small(), reader.take(16));
        arrivals.push((newest, new, margin));
        newest -= new;
    }
    arrivals
}

fn read_news(reader: &mut Reader) -> News {
    let back = reader.small();
    let name = read_name(reader);
    let what = if reader.take(1) == 0 {
        What::Effect(reader.take(8), {
            let lane = |bits: u64| f32::from_bits(u32::try_from(bits).expect("32 bits"));
            reader.optional([32, 32, 32]).map(|place| place.map(lane))
        })
    } else {
        What::Other(reader.take(2))
    };
    (back, name, what)
}

/// Everything before the rows.
fn read_header(reader: &mut Reader) -> Snapshot {
    assert_eq!(reader.take(3), 4);
    let (last_part, part) = (reader.take(3), reader.take(3));
    assert_eq!(reader.take(8), u64::from(TICKET));
    let (number, crowded) = (reader.take(16), reader.take(1));
    let heard = reader.optional([16, 16]);
    let (tick, fraction) = (reader.take(16), reader.take(8));
    let repeat = reader.optional([8]).map(|[number]| number);
    let newest_input = reader.optional([16]);
    let arrivals = read_arrivals(reader, newest_input);
    let ranges = reader.small();
    let substituted = (0..ranges).map(|_| (reader.small(), reader.small(), reader.take(2))).collect();
    assert_eq!(reader.small(), 0, "late messages");
    let news_ticks = (reader.take(1) == 1).then(|| reader.small());
    let answers = reader.small();
    let answers = (0..answers).map(|_| (reader.take(16), reader.take(3))).collect();
    let canonical = if reader.take(1) == 1 { (0..reader.small()).map(|_| reader.take(16)).collect() } else { vec![] };
    let unforeseen = (reader.take(1) == 1).then(|| reader.small());
    let proof = reader.optional([32]).map(|[digest]| digest);
    let baseline = (reader.take(1) == 1).then(|| (reader.small(), reader.take(32)));
    let relayed = if reader.take(1) == 1 { read_relayed(reader) } else { Vec::new() };
    let (gone, rows, contacts, news, holders) = Default::default();
    Snapshot {
        parts: (part, last_part),
        number,
        crowded,
        heard,
        tick,
        fraction,
        repeat,
        newest_input,
        arrivals,
        substituted,
        news_ticks,
        answers,
        canonical,
        unforeseen,
        proof,
        baseline,
        relayed,
        gone,
        rows,
        contacts,
        news,
        holders,
    }
}

fn read_snapshot(datagram: &[u8]) -> Snapshot {
    let mut reader = Reader::new(datagram);
    let header = read_header(&mut reader);
    let mut gone = Vec::new();
    while header.baseline.is_some() && reader.take(1) == 1 {
        gone.push(read_key(&mut reader));
        assert_eq!(reader.take(1), 0, "everything is in view");
    }
    let (mut rows, mut contacts) = (Vec::new(), Vec::new());
    while reader.take(1) == 1 {
        let (row, contact) = read_row(&mut reader);
        contacts.extend(contact.map(|[age]| (row.key.0, row.owner, age)));
        rows.push(row);
    }
    let mut news = Vec::new();
    while reader.take(1) == 1 {
        news.push(read_news(&mut reader));
    }
    let mut holders = Vec::new();
    while reader.take(1) == 1 {
        let name = read_name(&mut reader);
        let player = reader.small();
        holders.push((name, (player > 0).then(|| [player, reader.take(1), reader.take(16), reader.take(16)])));
    }
    // Rows that are shown follow: `lanes` reads them.
    Snapshot { gone, rows, contacts, news, holders, ..header }
}

/// An entity, and the player who has authority over it, whether as its owner, and the two numbers; `None` for nobody any more.
type ToldHolder = (Name, Option<[u64; 4]>);

/// The rows of snapshots, and who held what, by tick.
type Kept = BTreeMap<u64, (Vec<Row>, Vec<ToldHolder>)>;

/// A snapshot of one part with all of its rows; those before are in `kept`.
fn read_against(datagram: &[u8], kept: &mut Kept) -> Snapshot {
    let mut snapshot = read_snapshot(datagram);
    if let Some((back, check)) = snapshot.baseline {
        let is_told = |key: Key| snapshot.rows.iter().any(|row| row.key == key);
        let (mut rows, mut holders) = kept[&(snapshot.tick - back)].clone();
        holders.retain(|(name, _)| snapshot.holders.iter().all(|(told, _)| told != name));
        holders.extend(snapshot.holders.iter().filter(|(_, holder)| holder.is_some()));
        snapshot.holders = holders;
        rows.retain(|row| !snapshot.gone.contains(&row.key) && !is_told(row.key));
        // What happened to them was told then.
        rows.iter_mut().for_each(|row| row.age = None);
        rows.append(&mut snapshot.rows);
        rows.sort_by_key(|row| row.key);
        let sum = rows.iter().map(row_hash).chain(snapshot.holders.iter().filter_map(holder_hash)).sum::<u64>();
        assert_eq!(check, sum & 0xffff_ffff, "tick {}", snapshot.tick);
        snapshot.rows = rows;
    }
    kept.insert(snapshot.tick, (snapshot.rows.clone(), snapshot.holders.clone()));
    snapshot
}

fn row_hash(Row { key: (component, [tick, player, counter]), owner, state, .. }: &Row) -> u64 {
    let mut words = halves(tick << 32 | player << 16 | counter).to_vec();
    words.push(component << 16 | owner);
    match state {
        Thing::Ship { place, heading, lamps, serial } => {
            words.extend(place.iter().flat_map(|lane| halves(lane.to_bits())));
            words.push(u64::from(heading.cast_unsigned()));
            words.extend(lamps.map(u64::from));
            words.extend(halves(*serial));
        }
        Thing::Purse(coins) => words.push(u64::from(*coins)),
        Thing::Rock => {}
    }
    words_hash(&words)
}

fn holder_hash(([tick, player, counter], holder): &ToldHolder) -> Option<u64> {
    let [holder, owns, authority, ownership] = (*holder)?;
    let [low, high] = halves(tick << 32 | player << 16 | counter);
    Some(words_hash(&[low, high, holder << 1 | owns, authority << 16 | ownership]))
}

fn words_hash(words: &[u64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| (hash ^ word).wrapping_mul(1_099_511_628_211)) >> 32
}

fn halves(of: u64) -> [u64; 2] {
    [of & 0xffff_ffff, of >> 32]
}

/// A snapshot from a server that follows the document: one part of it. It tells of two datagrams: the newest brought the
/// input of tick 161 a tick early, the one before three inputs, of which that of tick 160 came two and a half ticks late.
fn snapshot(
    parts: (u64, u64),
    tick: u64,
    heard: Option<[u64; 2]>,
    ranges: &[(u32, u32, u64)],
    rows: &[Row],
) -> Vec<u8> {
    relaying(parts, (tick, heard), ranges, &[], rows)
}

/// The same with relayed inputs.
fn relaying(
    parts: (u64, u64),
    (tick, heard): (u64, Option<[u64; 2]>),
    ranges: &[(u32, u32, u64)],
    relayed: &[Line],
    rows: &[Row],
) -> Vec<u8> {
    telling(Telling { ranges, relayed, ..Telling::default() }, (parts, tick, heard), rows)
}

/// The same with news, all of so many ticks.
fn snapshot_with_news(
    header: ((u64, u64), u64, Option<[u64; 2]>),
    ranges: &[(u32, u32, u64)],
    rows: &[Row],
    news: (Option<u32>, &[News]),
) -> Vec<u8> {
    telling(Telling { ranges, news, ..Telling::default() }, header, rows)
}

/// What a snapshot tells besides its rows.
#[derive(Clone, Copy)]
struct Telling<'a> {
    arrivals: &'a [(u32, i16)],
    ranges: &'a [(u32, u32, u64)],
    relayed: &'a [Line],
    news: (Option<u32>, &'a [News]),
    answers: &'a [(u64, u64)],
    canonical: &'a [u64],
    unforeseen: Option<u32>,
    /// How many ticks before, the check, and what is gone.
    baseline: Option<(u32, u64, &'a [Key])>,
    holders: &'a [ToldHolder],
    repeat: Option<u64>,
    /// Counts datagrams.
    number: u64,
}

impl Default for Telling<'_> {
    fn default() -> Self {
        let arrivals = &[(1, 64), (3, -160)];
        let (ranges, relayed, news, answers) = (&[], &[], (None, &[][..]), &[]);
        Telling {
            arrivals,
            ranges,
            relayed,
            news,
            answers,
            canonical: &[],
            unforeseen: None,
            baseline: None,
            holders: &[],
            repeat: None,
            number: 0,
        }
    }
}

fn telling(of: Telling<'_>, header: ((u64, u64), u64, Option<[u64; 2]>), rows: &[Row]) -> Vec<u8> {
    let mut writer = put_header(&of, header);
    if let Some((_, _, gone)) = of.baseline {
        for key in gone {
            put_key(writer.put(1, 1), key).put(0, 1);
        }
        writer.put(0, 1);
    }
    for Row { key, owner, age, state } in rows {
        let is_given = *owner != key.1[1];
        put_key(writer.put(1, 1), key).put(u64::from(is_given), 1);
        if is_given {
            writer.small(number(*owner));
        }
        writer.optional(age.map(|age| [(age, 10)]).as_ref().map(|fields| &fields[..])).put(0, 1);
        match state {
            Thing::Ship { place, heading, lamps, serial } => {
                writer.put(place[0].to_bits(), 64).put(place[1].to_bits(), 64);
                writer.put(u64::from(heading.cast_unsigned()), 16);
                writer.put(u64::from(lamps[0]), 1).put(u64::from(lamps[1]), 1).put(*serial, 64)
            }
            Thing::Purse(coins) => writer.put(u64::from(*coins), 32),
            Thing::Rock => &mut writer,
        };
    }
    writer.put(0, 1);
    put_news(&mut writer, of.news.1);
    for (name, holder) in of.holders {
        put_name(writer.put(1, 1), name).small(holder.map_or(0, |[player, ..]| number(player)));
        if let Some([_, owns, authority, ownership]) = holder {
            writer.put(*owns, 1).put(*authority, 16).put(*ownership, 16);
        }
    }
    // Nothing is shown.
    writer.put(0, 4).bytes()
}

/// What stands before the rows.
fn put_header(of: &Telling<'_>, (parts, tick, heard): ((u64, u64), u64, Option<[u64; 2]>)) -> Writer {
    let Telling { arrivals, ranges, relayed, news: (news_ticks, _), answers, canonical, .. } = *of;
    let Telling { unforeseen, baseline, repeat, number, .. } = *of;
    let mut writer = Writer::default();
    writer.put(4, 3).put(parts.1, 3).put(parts.0, 3).put(u64::from(TICKET), 8);
    writer.put(number, 16).put(0, 1);
    writer.optional(heard.map(|[sequence, ago]| [(sequence, 16), (ago, 16)]).as_ref().map(|fields| &fields[..]));
    writer.put(tick, 16).put(128, 8).optional(repeat.map(|number| [(number, 8)]).as_ref().map(|fields| &fields[..]));
    writer.optional(Some(&[(tick + 3, 16)])).small(u32::try_from(arrivals.len()).expect("few"));
    if !arrivals.is_empty() {
        writer.put(0, 1).put(161, 16);
    }
    for (count, margin) in arrivals {
        writer.small(*count).put(u64::from(margin.cast_unsigned()), 16);
    }
    writer.small(u32::try_from(ranges.len()).expect("few"));
    for (back, ticks, how) in ranges {
        writer.small(*back).small(*ticks).put(*how, 2);
    }
    // No late messages.
    writer.small(0).put(u64::from(news_ticks.is_some()), 1);
    news_ticks.into_iter().for_each(|ticks| {
        writer.small(ticks);
    });
    writer.small(u32::try_from(answers.len()).expect("few"));
    answers.iter().for_each(|(number, answer)| {
        writer.put(*number, 16).put(*answer, 3);
    });
    writer.put(u64::from(!canonical.is_empty()), 1);
    if !canonical.is_empty() {
        writer.small(u32::try_from(canonical.len()).expect("few"));
        canonical.iter().for_each(|tick| {
            writer.put(*tick, 16);
        });
    }
    writer.put(u64::from(unforeseen.is_some()), 1);
    unforeseen.into_iter().for_each(|back| {
        writer.small(back);
    });
    writer.put(0, 1).put(u64::from(baseline.is_some()), 1);
    if let Some((back, check, _)) = baseline {
        writer.small(back).put(check, 32);
    }
    put_relayed(&mut writer, relayed);
    writer
}

fn put_news(writer: &mut Writer, news: &[News]) {
    for (back, name, what) in news {
        put_name(writer.put(1, 1).small(number(*back)), name);
        match what {
            What::Effect(effect, place) => {
                let place = place.map(|place| place.map(|lane| (u64::from(lane.to_bits()), 32)));
                writer.put(0, 1).put(*effect, 8).optional(place.as_ref().map(|lanes| &lanes[..]));
            }
            What::Other(what) => {
                writer.put(1, 1).put(*what, 2);
            }
        }
    }
    writer.put(0, 1);
}

fn ship_at(x: f64) -> Thing {
    Thing::Ship { place: [x, 1.5], heading: -3, lamps: [true, false], serial: u64::MAX - 4 }
}

/// The crate's server, and what it sends.
struct Served {
    server: Server<Space>,
    world: Space,
    outbox: Outbox,
    /// Of the last update.
    now: Instant,
}

impl Served {
    fn new(players_max: u16) -> Served {
        let config = ServerConfig { players_max, ..ServerConfig::default() };
        let server = Server::new(Rules::new(Space::schema()), config, EPOCH, Instant::ZERO);
        Served { server, world: Space::default(), outbox: Outbox::new(), now: Instant::ZERO }
    }

    fn update(&mut self, micros: u64) -> Vec<Vec<u8>> {
        self.outbox.clear();
        self.now = Instant::from_micros(micros);
        self.server.update(self.now, &mut self.world, &mut self.outbox);
        self.outbox.iter().map(|(_, datagram)| datagram.to_vec()).collect()
    }

    fn receive(&mut self, micros: u64, datagram: &[u8]) {
        self.server.receive(Instant::from_micros(micros), ME, datagram).expect("well-formed");
    }
}

#[test]
fn who_has_not_shown_the_ticket_of_the_welcome_is_sent_nothing_else_and_is_no_player() {
    let mut served = Served::new(8);
    for tick in 0..3 {
        served.receive(tick * TICK_MICROS, &hello(13, 42, &documented_rules(), (tick, None)));
        assert_eq!(served.update(tick * TICK_MICROS), [welcome(42, (tick, TICKET), 1, tick, 0)]);
    }
    assert_eq!((served.server.players().count(), served.world.things.iter().count()), (0, 1), "a rock alone");
}

#[test]
fn a_client_that_follows_the_document_alone_joins_plays_and_leaves() {
    let mut served = Served::new(8);
    assert!(served.update(0).is_empty());
    let at = |tick: u64| tick * TICK_MICROS + 4000;
    served.receive(at(1), &hello(13, 42, &documented_rules(), (1, None)));
    served.receive(at(1), &hello(13, 42, &documented_rules(), (1234, Some(TICKET))));
    let [answer, first] = &served.update(at(1))[..] else { panic!("a welcome and a snapshot") };
    // 4 ms of 15.625 ms are 65 / 256.
    assert_eq!((answer, answer.len()), (&welcome(42, (1234, TICKET), 1, 1, 65), 26));
    let mut kept = Kept::new();
    let first = read_against(first, &mut kept);
    assert_eq!((first.parts, first.tick, first.fraction), ((0, 0), 2, 65));
    assert_eq!((first.heard, first.newest_input, &first.arrivals[..]), (None, None, &[][..]));
    assert_eq!(first.substituted, [(1, 1, 2)], "the neutral input in tick 1");
    assert_eq!((first.news_ticks, first.news), (None, vec![]), "all since the player was admitted");
    let purse = Row::new((1, PURSE), Thing::Purse(77));
    assert_eq!(first.rows, [Row::new((0, SHIP), ship_at(0.0)), purse], "nothing of others is predicted");
    let go = Command { thrust: 0.25, fire: true, turn: -2 };
    let list = [(go, Some(384)), (go, Some(640)), (Command::default(), None), (go, Some(1000))];
    // Sent before tick 2, for ticks 3 to 6: half a tick and more before the first is due.
    let came = at(1) + 3200;
    served.receive(came, &inputs(65_535, 2, 6, &list));
    for tick in 2..=7 {
        let sent = served.update(at(tick));
        let seen = read_against(&sent[0], &mut kept);
        assert_eq!((seen.tick, seen.newest_input), (tick + 1, Some([6])));
        assert_eq!(seen.baseline.map(|(back, _)| back), Some(tick - 1), "all are told against that of tick 2");
        assert_eq!(seen.heard, Some([65_535, (at(tick) - came) / 64]));
        // Of the input for tick 6, the newest of its datagram, and told once.
        let margin = (6 * TICK_MICROS - came) * 64 / TICK_MICROS;
        assert_eq!(seen.arrivals, if tick == 2 { vec![(6, 1, margin)] } else { vec![] });
        let x = [0.0, 0.25, 0.5, 0.5, 0.75, 1.0][usize::try_from(tick).expect("small") - 2];
        let Thing::Ship { place, heading, .. } = &seen.rows[0].state else { panic!("the ship is first") };
        assert_eq!((place[0], i64::from(*heading)), (x, -3 - (x / 0.25) as i64 * 2));
        // Tick 1 is known by the acknowledged snapshot of tick 2; tick 7 repeats the last input.
        let neutral = (tick - 1, 1, 2);
        // The player fires in all of these ticks but in 5; in tick 7 by repetition.
        let fired = [3, 4, 6, 7].into_iter().filter(|fired| *fired <= tick);
        let news = fired.flat_map(|fired| {
            let back = tick + 1 - fired;
            let at = What::Effect(8, Some([0.5, -2.0, 0.0]));
            [(back, [0; 3], What::Other(3)), (back, SHIP, What::Effect(7, None)), (back, [0; 3], at)]
        });
        assert_eq!((seen.news_ticks, &seen.news), (None, &news.collect()), "all since the acknowledged tick 2");
        assert_eq!(seen.substituted, if tick == 7 { vec![(1, 1, 1), neutral] } else { vec![neutral] });
    }
    let presented = |tick| served.world.presented.iter().find(|(of, _)| *of == Tick::new(tick)).expect("stepped").1;
    let seen = [3, 4, 5, 6].map(|tick| presented(tick).map(|at| at.as_ticks()));
    assert_eq!(seen, [Some(1.5), Some(2.5), None, Some(3.90625)]);
    let purse = Entity::new(PlayerId::new(1), Tick::new(1), 1);
    *served.world.things.get_mut(purse).expect("there") = Thing::Purse(5);
    for age in 1..=2 {
        let sent = served.update(at(7 + age));
        let robbed = &read_against(&sent[0], &mut kept).rows[1];
        assert_eq!((robbed.age, &robbed.state), (Some(age), &Thing::Purse(5)));
    }
    served.world.things.remove(purse);
    let sent = served.update(at(10));
    let last = read_against(&sent[0], &mut kept);
    assert_eq!(last.rows.len(), 2, "the ship and the rock are left");
    let news = last.news;
    let [.., pebble, _, _, _, purse, _, _, _] = &news[..] else { panic!("{news:?}") };
    assert_eq!(*pebble, (2, [8, 1, 0], What::Other(0)), "it ended in tick 9");
    assert_eq!(*purse, (1, PURSE, What::Other(2)), "it was removed before tick 10");
    // Nobody fires any more, and the ship is gone.
    served.receive(at(10), &inputs(0, 11, 13, &[(Command::default(), None); 3]));
    assert!(read_against(&served.update(at(11))[0], &mut kept).gone.is_empty());
    served.receive(at(11), &inputs(1, 12, 13, &[(Command::default(), None); 2]));
    served.world.things.retain(|thing| thing.entity() == ROCK);
    let last = read_against(&served.update(at(12))[0], &mut kept);
    assert_eq!((last.gone, last.rows.len()), (vec![(0, SHIP)], 1), "the rock is as it was");
    // It is given to the player, and keeps its name.
    served.world.things.set_owner(ROCK, PlayerId::new(1));
    let given = read_against(&served.update(at(13))[0], &mut kept);
    assert_eq!(given.rows, [Row::new((2, [0; 3]), Thing::Rock).owned_by(1).aged(1)]);
    served.receive(at(13), &Writer::default().put(5, 3).put(u64::from(TICKET), 8).put(1, 16).put(0, 7).bytes());
    assert_eq!(served.server.players().count(), 0);
}

#[test]
fn a_client_that_follows_the_document_alone_is_told_the_inputs_of_others() {
    let mut served = Served::new(8);
    served.server.config_mut().relay_inputs = true;
    served.server.config_mut().gap = GapPolicy::RepeatLast { ticks: 1 };
    let hello_by = |nonce, ticket| hello(13, nonce, &documented_rules(), (0, ticket));
    let from = |served: &mut Served, peer: u64, datagram: &[u8]| {
        served.server.receive(served.now, PeerId(peer), datagram).expect("well-formed");
    };
    for (peer, nonce, ticket) in [(3, 1, TICKET), (4, 2, TICKET + 1)] {
        from(&mut served, peer, &hello_by(nonce, None));
        from(&mut served, peer, &hello_by(nonce, Some(ticket)));
    }
    let at = |tick: u64| tick * TICK_MICROS;
    served.update(0);
    let walk = Command { thrust: 2.5, fire: false, turn: -7 };
    let run = Command { thrust: 4.0, ..walk };
    // The second player's inputs of the ticks 1, 2, 5 and 7.
    from(&mut served, 4, &inputs_of(TICKET + 1, 0, (0, 2), &[(walk, None); 2]));
    from(&mut served, 4, &inputs_of(TICKET + 1, 1, (0, 5), &[(run, None)]));
    from(&mut served, 4, &inputs_of(TICKET + 1, 2, (0, 7), &[(run, None)]));
    // Each step is two snapshots, of which the first is for the first player.
    let told_first = |served: &mut Served, micros: u64| {
        let sent = served.update(micros);
        read_snapshot(&sent[sent.len() - 2]).relayed
    };
    let (received, repeated) = (Told::Received, Told::Repeated);
    assert_eq!(told_first(&mut served, at(1)), [], "it has not said yet that it predicts anything of others");
    from(&mut served, 3, &inputs(0, 0, 2, &[(walk, None)]));
    let seen = told_first(&mut served, at(2));
    let waiting = [Told::NotThere, Told::NotThere, received(run), Told::NotThere, received(run)];
    let told = [&[Told::Neutral, received(walk), received(walk)][..], &waiting].concat();
    assert_eq!(seen, [(2, 3, told)], "state 3, of which three inputs are told that are in it");
    let seen = told_first(&mut served, at(4));
    let told = vec![received(walk), repeated(walk), Told::Neutral, received(run), Told::NotThere, received(run)];
    assert_eq!(seen, [(2, 3, told)], "one was repeated, then the neutral one used");
    served.server.config_mut().gap = GapPolicy::Hold;
    let seen = told_first(&mut served, at(6));
    let told = vec![Told::Neutral, received(run), Told::Held, received(run)];
    assert_eq!(seen, [(2, 3, told)]);
    // What was acknowledged is not told again.
    from(&mut served, 3, &inputs(1, 7, 8, &[(walk, None)]));
    assert_eq!(told_first(&mut served, at(7)), [(2, 1, vec![received(run)])]);
    // One who fires in tick 9 has a contact with all things of others, and they with them.
    from(&mut served, 4, &inputs_of(TICKET + 1, 3, (8, 9), &[(Command { fire: true, ..run }, None)]));
    served.update(at(9));
    let sent = served.update(at(10));
    let all = [(0, 1, 2), (0, 2, 2), (1, 1, 2), (2, 0, 2)];
    assert_eq!(read_snapshot(&sent[0]).contacts, all, "the second player's purse is for the owner alone");
    from(&mut served, 3, &inputs(2, 10, 11, &[(walk, None)]));
    assert_eq!(read_snapshot(&served.update(at(11))[0]).contacts, [], "it is known by now");
}

#[test]
fn a_server_that_follows_the_document_alone_tells_the_inputs_of_others() {
    let config = ClientConfig { predict: Predict::Everyone, ..ClientConfig::default() };
    let me = Joined { player: PlayerId::new(5), epoch: TICKET, now: Instant::ZERO };
    let mut world = Space::default();
    let mut client = Client::<Space>::joined(Rules::new(Space::schema()), config, me, &mut world);
    let rows = [Row::new((0, [0, 4, 0]), ship_at(1.0))];
    let thrust = |thrust: f32| Command { thrust, ..Command::default() };
    let told = vec![
        Told::Received(thrust(64.0)),
        Told::Repeated(thrust(64.0)),
        Told::Neutral,
        Told::Received(thrust(0.5)),
        Told::NotThere,
        Told::Received(thrust(0.25)),
    ];
    let mut outbox = Outbox::new();
    let mut update = |client: &mut Client<Space>, world: &mut Space, tick: u64| {
        client.update(Instant::from_micros(tick * TICK_MICROS), world, &mut |_| Command::default(), &mut outbox);
    };
    update(&mut client, &mut world, 9);
    // State 4: four inputs are in it, that of tick 4 is not there yet, and that of tick 5 is.
    let datagram = relaying((0, 0), (4, None), &[], &[(4, 4, told)], &rows);
    client.receive(Instant::from_micros(9 * TICK_MICROS), &datagram).expect("well-formed");
    update(&mut client, &mut world, 10);
    assert_eq!(client.predicted_players(), [4, 5].map(PlayerId::new));
    let place = |tick: u32| {
        let rows = client.predicted(Tick::new(tick)).expect("remembered");
        match rows.state::<Thing>(Entity::new(PlayerId::new(4), Tick::ZERO, 0)) {
            Some(Thing::Ship { place, .. }) => place[0],
            _ => panic!("a ship"),
        }
    };
    // Where an input is not known it is the last known one.
    assert_eq!([4, 5, 6, 7].map(place), [1.0, 1.5, 1.75, 2.0]);
}

#[test]
fn a_server_that_follows_the_document_alone_tells_what_differs_from_what_the_client_has() {
    let me = Joined { player: PlayerId::new(5), epoch: TICKET, now: Instant::ZERO };
    let rules = Rules::new(Space::schema());
    let mut client = Client::<Space>::joined(rules, ClientConfig::default(), me, &mut Space::default());
    let (mut world, mut outbox) = (Space::default(), Outbox::new());
    // Returns which snapshot is acknowledged, and what the newest one has.
    let mut tell = |tick: u64, baseline: Option<(u32, u64, &[Key])>, rows: &[Row]| {
        let now = Instant::from_micros(tick * TICK_MICROS);
        let datagram = telling(Telling { baseline, ..Telling::default() }, ((0, 0), tick, None), rows);
        client.receive(now, &datagram).expect("well-formed");
        outbox.clear();
        client.update(now, &mut world, &mut |_| Command::default(), &mut outbox);
        let said = outbox.iter().last().map(|(_, datagram)| read_inputs(datagram)).expect("one each tick");
        let (newest, rows) = client.newest_snapshot().expect("complete");
        (said.snapshot, newest.get(), rows.iter().map(|row| u64::from(row.component.0)).collect::<Vec<_>>())
    };
    let ship = |x| Row::new((0, [17, 5, 0]), ship_at(x));
    let rock = |tick| Row::new((2, [tick, 0, 3]), Thing::Rock);
    let purse = Row::new((1, [17, 5, 1]), Thing::Purse(9));
    let sum = |rows: &[Row]| rows.iter().map(row_hash).sum::<u64>() & 0xffff_ffff;
    assert_eq!(tell(1, None, &[ship(1.0), purse.clone(), rock(0)]), (Some([1]), 1, vec![0, 1, 2]));
    let check = sum(&[ship(2.0), rock(0), rock(1)]);
    let gone = [(1, [17, 5, 1]), (2, [7, 0, 0])];
    assert_eq!(tell(2, Some((1, check, &gone)), &[ship(2.0), rock(1)]), (Some([2]), 2, vec![0, 2, 2]));
    // The sum of something else, and a baseline that never was.
    assert_eq!(tell(4, Some((2, check + 1, &[])), &[]), (None, 2, vec![0, 2, 2]));
    assert_eq!(tell(5, Some((2, check, &[])), &[]), (None, 2, vec![0, 2, 2]));
    assert_eq!(tell(6, Some((4, check, &[])), &[]), (Some([6]), 6, vec![0, 2, 2]));
    assert_eq!(tell(7, None, &[purse]), (Some([7]), 7, vec![1, 2, 2]));
    assert_eq!(client.stats().network.baselines_lacking, 2);
}

#[test]
fn a_refusal_says_why_as_documented() {
    let refused = |players_max: u16, hello: &[u8]| {
        let mut served = Served::new(players_max);
        served.receive(0, hello);
        let sent = served.update(0);
        assert_eq!((sent.len(), sent[0].len()), (1, 10));
        let mut reader = Reader::new(&sent[0]);
        assert_eq!((reader.take(3), reader.take(64)), (2, 7));
        let (why, part) = (reader.take(4), reader.take(4));
        reader.finish();
        (why, part)
    };
    let rules = documented_rules();
    assert_eq!(refused(1, &hello(1, 7, &rules, (0, None))), (0, 0));
    // Whatever else another version says.
    assert_eq!(refused(1, &Writer::default().put(0, 3).put(4, 8).put(7, 64).bytes()), (0, 0));
    for part in 0..4 {
        let mut others = rules.clone();
        others[part] ^= 1;
        assert_eq!(refused(1, &hello(13, 7, &others, (0, None))), (1, part as u64));
    }
    assert_eq!(refused(1, &hello(13, 7, &[&rules[..], &[9]].concat(), (0, None))), (1, 5));
    assert_eq!(refused(0, &hello(13, 7, &rules, (0, None))), (2, 0));
    let mut drains = Served::new(1);
    drains.server.config_mut().draining = true;
    drains.receive(0, &hello(13, 7, &rules, (0, None)));
    assert_eq!(drains.update(0), [Writer::default().put(2, 3).put(7, 64).put(5, 4).put(0, 4).bytes()]);
    // Who asks on, and never shows the ticket.
    let mut deaf = Served::new(1);
    let said: Vec<_> = (0..=104)
        .flat_map(|tenth| {
            deaf.receive(tenth * 100_000, &hello(13, 7, &rules, (0, None)));
            deaf.update(tenth * 100_000)
        })
        .collect();
    let late = Writer::default().put(2, 3).put(7, 64).put(6, 4).put(0, 4).bytes();
    assert!(said[..99].iter().all(|datagram| datagram.len() == 26) && said[104] == late, "{said:?}");
    let told = |why: u64, part: u64| {
        let mut client = Client::<Space>::new(Rules::new(Space::schema()), ClientConfig::default(), 7);
        let refused = Writer::default().put(2, 3).put(7, 64).put(why, 4).put(part, 4).bytes();
        let taken = client.receive(Instant::ZERO, &refused);
        taken.map(|()| (client.state(Instant::ZERO), client.differing()))
    };
    assert_eq!(told(2, 0), Ok((ClientState::Refused(Refusal::Full), None)));
    assert_eq!(told(1, 2), Ok((ClientState::Refused(Refusal::Rules), Some("components"))));
    assert_eq!(told(4, 0), Ok((ClientState::Refused(Refusal::TooLarge), None)));
    assert_eq!(told(5, 0), Ok((ClientState::Refused(Refusal::Draining), None)));
    assert_eq!(told(6, 0), Ok((ClientState::Refused(Refusal::TimedOut), None)));
    assert!(told(9, 0).is_err(), "an unknown reason");
}

#[test]
fn a_place_goes_to_who_shows_the_ticket_that_was_offered() {
    let mut served = Served::new(8);
    served.update(0);
    let rules = documented_rules();
    let at = |tick: u64| tick * TICK_MICROS;
    let said = |served: &mut Served, tick: u64, from: PeerId, hello: Vec<u8>| {
        served.server.receive(Instant::from_micros(at(tick)), from, &hello).expect("well-formed");
        served.outbox.clear();
        served.server.update(Instant::from_micros(at(tick)), &mut served.world, &mut served.outbox);
        let sent = served.outbox.iter().map(|(to, datagram)| (to, datagram.to_vec()));
        sent.filter(|(_, datagram)| datagram[0] & 7 < 3).collect::<Vec<_>>()
    };
    let hello = |sent, ticket| hello(13, 42, &rules, (sent, ticket));
    let answer = |sent, ticket, tick| welcome(42, (sent, ticket), 1, tick, 0);
    let (here, there) = (ME, PeerId(4));
    assert_eq!(said(&mut served, 1, here, hello(5, None)), [(here, answer(5, TICKET, 1))]);
    assert_eq!(said(&mut served, 2, here, hello(6, Some(TICKET))), [(here, answer(6, TICKET, 2))]);
    // The place has not been played in: who comes over the same connection may be the same.
    assert_eq!(said(&mut served, 3, here, hello(7, None)), [(here, answer(7, TICKET, 3))]);
    served.receive(at(3), &inputs(0, 2, 6, &[(Command::default(), None); 3]));
    assert_eq!(said(&mut served, 4, here, hello(8, None)), [(here, answer(8, TICKET + 1, 4))]);
    for (tick, from, ticket) in [(5, there, None), (6, there, Some(TICKET)), (7, here, Some(TICKET - 1))] {
        assert_eq!(said(&mut served, tick, from, hello(1, ticket)), [(from, answer(1, TICKET + 1, tick))]);
    }
    let at_home = |served: &mut Served, tick: u64| {
        let sent = served.update(at(tick));
        (served.outbox.iter().map(|(to, _)| to).collect::<Vec<_>>(), u64::from(sent[0][1] >> 1 | sent[0][2] << 7))
    };
    // The snapshot's ticket is in bits 9 to 16.
    assert_eq!(at_home(&mut served, 8), (vec![here], u64::from(TICKET)));
    assert_eq!(said(&mut served, 9, there, hello(2, Some(TICKET + 1))), [(there, answer(2, TICKET + 1, 9))]);
    assert_eq!(at_home(&mut served, 10), (vec![there], u64::from(TICKET + 1)));
    // 2 s later somebody still plays where the place was.
    for tick in [60, 100, 140] {
        served.update(at(tick));
    }
    served.receive(at(140), &inputs(1, 2, 142, &[(Command::default(), None); 3]));
    let sent = served.update(at(141));
    assert_eq!(sent[0], Writer::default().put(2, 3).put(42, 64).put(3, 4).put(0, 4).bytes());
    assert_eq!(served.outbox.iter().next().expect("a refusal").0, here);
    served.server.leave(there);
    let gone = Writer::default().put(2, 3).put(42, 64).put(3, 4).put(0, 4).bytes();
    assert_eq!(said(&mut served, 142, there, hello(2, Some(TICKET + 1))), [(there, gone)]);
}

/// The crate's client, and what it sends.
struct Played {
    client: Client<Space>,
    world: Space,
    outbox: Outbox,
    /// By tick.
    given: BTreeMap<u32, Command>,
    random: SplitMix64,
}

impl Played {
    fn update(&mut self, micros: u64) -> Vec<Vec<u8>> {
        self.outbox.clear();
        let (given, random) = (&mut self.given, &mut self.random);
        let mut input = |tick: Tick| {
            let turn = if random.chance(0.5) { 1 } else { -128 };
            given.insert(tick.get(), Command { turn, ..Command::default() });
            given[&tick.get()]
        };
        self.client.update(Instant::from_micros(micros), &mut self.world, &mut input, &mut self.outbox);
        self.outbox.iter().map(|(_, datagram)| datagram.to_vec()).collect()
    }

    fn receive(&mut self, micros: u64, datagram: &[u8]) {
        self.client.receive(Instant::from_micros(micros), datagram).expect("well-formed");
    }
}

#[test]
fn a_server_that_follows_the_document_alone_is_understood_and_understands() {
    let client = Client::new(Rules::new(Space::schema()), ClientConfig::default(), 4711);
    let (given, random) = (BTreeMap::new(), SplitMix64::new(1));
    let mut played = Played { client, world: Space::default(), outbox: Outbox::new(), given, random };
    for (sent, ticket) in [(1_000_000, None), (1_050_000, Some(TICKET)), (1_100_000, Some(TICKET))] {
        let asked = played.update(sent);
        assert_eq!(asked, [hello(13, 4711, &documented_rules(), (sent, ticket))]);
        assert_eq!(asked[0].len(), if ticket.is_some() { 141 } else { 140 });
        played.receive(sent + 40_000, &welcome(4711, (sent, TICKET), 5, 70_000 + (sent - 1_000_000) / TICK_MICROS, 0));
    }
    // Tick 70,005 in its low 16 bits, in two parts, of which the second comes first.
    let tick = 70_005;
    let mine = [Row::new((0, [17, 5, 0]), ship_at(2.0)), Row::new((1, [17, 5, 1]), Thing::Purse(9)).aged(3)];
    let others = [Row::new((0, [300, 4, 0xffff]), ship_at(8.0)), Row::new((2, [0; 3]), Thing::Rock).owned_by(4)];
    // Before that it was sent with other rows in each part: what is left of that is not mixed with these.
    let again = Telling { repeat: Some(250), ..Telling::default() };
    played.receive(1_125_000, &snapshot((0, 1), tick & 0xffff, None, &[], &mine[..1]));
    played.receive(1_130_000, &telling(again, ((1, 1), tick & 0xffff, None), &others));
    assert_eq!(played.client.newest_snapshot(), None);
    played.receive(1_140_000, &telling(again, ((0, 1), tick & 0xffff, None), &mine));
    let first = played.update(1_150_000);
    assert_eq!(played.client.player(), Some(PlayerId::new(5)));
    let (newest, rows) = played.client.newest_snapshot().expect("complete");
    assert_eq!((u64::from(newest.get()), rows.len()), (tick, 4));
    let other = Entity::new(PlayerId::new(4), Tick::new(300), 0xffff);
    assert_eq!(rows.state::<Thing>(other), Some(ship_at(8.0)));
    assert_eq!([other, ROCK].map(|entity| rows.owner(entity)), [Some(PlayerId::new(4)); 2]);
    let mut sent: Vec<Inputs> = first.iter().map(|datagram| read_inputs(datagram)).collect();
    for frame in 1..40 {
        sent.extend(played.update(1_150_000 + frame * TICK_MICROS).iter().map(|datagram| read_inputs(datagram)));
    }
    assert!(sent.len() > 30);
    let mut shown = 0;
    for (sequence, datagram) in (0..).zip(&sent) {
        assert_eq!((datagram.sequence, datagram.snapshot), (sequence, Some([tick & 0xffff])));
        let newest = Tick::widen(u32::try_from(datagram.newest).expect("16 bits"), 16, Tick::new(70_020)).get();
        assert_eq!(datagram.newest, u64::from(newest) & 0xffff);
        for (back, (input, presented)) in (0..).zip(datagram.list.iter().rev()) {
            assert_eq!(input, &played.given[&(newest - back)]);
            let Some(seen) = presented.map(|low| low + (1 << 24)) else { continue };
            assert!((tick * 256..u64::from(newest) * 256).contains(&seen), "others are shown from {tick} on: {seen}");
            shown += 1;
        }
        assert!(sequence == 0 || datagram.list.len() > 1, "not acknowledged, and so repeated");
    }
    assert!(shown > 50, "others are shown as soon as the cursor has come to the first snapshot: {shown}");
    // The last datagram was held for 6.4 ms.
    let last = sent.last().expect("some").sequence;
    let now = 1_150_000 + 39 * TICK_MICROS + 46_400;
    let boom = (2, [17, 5, 0], What::Effect(9, Some([1.0, 0.0, -1.0])));
    let news =
        [(3, [70_000, 5, 0], What::Other(0)), boom, (2, [17, 5, 0], What::Other(1)), (2, [17, 5, 0], What::Other(3))];
    let newest = ((0, 0), (tick + 40) & 0xffff, Some([last, 100]));
    played.receive(now, &snapshot_with_news(newest, &[(2, 3, 1), (9, 1, 0)], &mine, (Some(35), &news)));
    let stats = played.client.stats();
    assert_eq!((stats.inputs.substituted, stats.inputs.margin_ticks), (4, -2.5));
    assert!(stats.network.rtt.as_micros().abs_diff(40_000) <= 1, "{:?}", stats.network.rtt);
    played.update(now);
    let told = ClientEvent::Substituted { newest: Tick::new(70_043), ticks: 4 };
    let frame = played.client.frame(Instant::from_micros(now));
    assert!(frame.events.contains(&told));
    let entity = Entity::new(PlayerId::new(5), Tick::new(17), 0);
    let effect = Effect { tick: Tick::new(70_043), entity, kind: EffectKind(9), at: Some([1.0, 0.0, -1.0]) };
    assert!(frame.events.contains(&ClientEvent::EffectConfirmed(effect)), "{:?}", frame.events);
    assert_eq!(stats.prediction.effect_ticks_untold, 5, "from the state that the client began with to 35 ticks ago");
    let mut good_bye = Outbox::new();
    played.client.leave(&mut good_bye);
    let expected = Writer::default().put(5, 3).put(u64::from(TICKET), 8).put(5, 16).put(0, 7).bytes();
    assert_eq!(good_bye.iter().next().expect("a datagram").1, expected);
}

#[test]
fn what_the_document_calls_malformed_a_client_refuses() {
    let config = ClientConfig::default();
    let now = Instant::ZERO;
    let me = Joined { player: PlayerId::new(5), epoch: TICKET, now };
    let mut client = Client::<Space>::joined(Rules::new(Space::schema()), config, me, &mut Space::default());
    let rock = |player, counter| Row::new((2, [0, player, counter]), Thing::Rock);
    let good = snapshot((0, 0), 5, None, &[(1, 1, 2), (1000, 1000, 0)], &[rock(0xffff, 0xffff).owned_by(0xfffe)]);
    client.receive(now, &good).expect("well-formed");
    let unknown = Row::new((3, [0; 3]), Thing::Rock);
    let with_news = |ticks, list: &[News]| snapshot_with_news(((0, 0), 6, None), &[], &[], (ticks, list));
    let news = |back| (back, [0; 3], What::Other(0));
    for (datagram, what) in [
        (vec![], "nothing"),
        (vec![0], "a client's message"),
        (vec![7], "message 7"),
        ([&good[..], &[0]].concat(), "a byte too many"),
        (good[..good.len() - 1].to_vec(), "a byte too few"),
        (snapshot((2, 1), 6, None, &[], &[]), "a part beyond the last"),
        (
            telling(Telling { arrivals: &[(0, 64)], ..Telling::default() }, ((0, 0), 6, None), &[]),
            "a datagram without a new input",
        ),
        (telling(Telling { arrivals: &[(1, 64); 65], ..Telling::default() }, ((0, 0), 6, None), &[]), "65 datagrams"),
        (snapshot((0, 0), 6, None, &[(1, 1, 3)], &[]), "an unknown substitute"),
        (snapshot((0, 0), 6, None, &[(0, 1, 1)], &[]), "a substitute for a tick to come"),
        (snapshot((0, 0), 6, None, &[(1999, 2, 1)], &[]), "a substitute too long ago"),
        (snapshot((0, 0), 6, None, &[(1, 1, 0); 65], &[]), "65 ranges"),
        (relaying((0, 0), (6, None), &[], &[(0x1_0000, 0, vec![])], &[]), "inputs of player 65,536"),
        (relaying((0, 0), (6, None), &[], &[(4, 65, vec![Told::Neutral; 65])], &[]), "inputs of 65 ticks"),
        (relaying((0, 0), (6, None), &[], &[(4, 0, vec![Told::NotThere; 65])], &[]), "65 inputs to come"),
        (relaying((0, 0), (6, None), &[], &[(4, 1, vec![Told::Unknown])], &[]), "an unknown way to come about"),
        (snapshot((0, 0), 6, None, &[], &[unknown]), "an unknown component"),
        (with_news(Some(1001), &[]), "news of 1001 ticks"),
        (with_news(None, &[news(0)]), "news of a tick to come"),
        (with_news(None, &[news(1001)]), "news of too long ago"),
        (with_news(None, &[news(1); 257]), "257 news"),
        (snapshot((0, 0), 6, None, &[], &[rock(0x1_0000, 0)]), "player 65,536"),
        (snapshot((0, 0), 6, None, &[], &[rock(0, 0).owned_by(0x1_0000)]), "a row of player 65,536"),
        (snapshot((0, 0), 6, None, &[], &[rock(0, 0x1_0000)]), "counter 65,536"),
        (telling(Telling { answers: &[(1, 0); 33], ..Telling::default() }, ((0, 0), 6, None), &[]), "33 answers"),
        (telling(Telling { answers: &[(1, 5)], ..Telling::default() }, ((0, 0), 6, None), &[]), "an unknown answer"),
        (telling(Telling { canonical: &[7; 9], ..Telling::default() }, ((0, 0), 6, None), &[]), "9 canonical ticks"),
        (telling(Telling { unforeseen: Some(1001), ..Telling::default() }, ((0, 0), 6, None), &[]), "1001 ticks ago"),
        (
            telling(Telling { baseline: Some((0, 0, &[])), ..Telling::default() }, ((0, 0), 6, None), &[]),
            "no ticks back",
        ),
    ] {
        assert!(client.receive(now, &datagram).is_err(), "{what}");
    }
    assert_eq!(client.newest_snapshot().map(|(tick, _)| tick), Some(Tick::new(5)));
}

#[test]
fn what_the_document_calls_malformed_a_server_refuses() {
    let mut served = Served::new(1);
    served.receive(0, &hello(13, 7, &documented_rules(), (0, None)));
    served.receive(0, &hello(13, 7, &documented_rules(), (0, Some(TICKET))));
    served.update(0);
    let silent = (Command::default(), None);
    let good = inputs(0, 0, 1, &[silent; 2]);
    served.receive(0, &good);
    let mut nine_groups = Writer::default();
    nine_groups.put(3, 3).put(u64::from(TICKET), 8).put(0, 33).put(u64::MAX, 45);
    for (datagram, what) in [
        (vec![], "nothing"),
        (vec![1], "a server's message"),
        (vec![7], "message 7"),
        ([&good[..], &[0]].concat(), "a byte too many"),
        (good[..good.len() - 1].to_vec(), "a byte too few"),
        (inputs(0, 0, 1, &[silent; 1025]), "1025 inputs"),
        (inputs(0, 0, 1, &[silent; 3]), "inputs of ticks before tick 0"),
        (nine_groups.bytes(), "a number of nine groups"),
        (sharing(0, (0, 1), &[(0, 3, SHIP)], &[]), "an unknown claim"),
        (sharing(0, (0, 1), &[(0, 1, SHIP); 9], &[]), "nine requests"),
        (sharing(0, (0, 1), &[], &[((3, SHIP), 0, 0, 0, 1)]), "an unknown component"),
        (sharing(0, (0, 1), &[], &[((0, SHIP), 0, 1025, 0, 1)]), "a row of too long ago"),
        (sharing(0, (0, 1), &[], &[((0, SHIP), 0, 0, 0, 1); 65]), "65 rows"),
    ] {
        assert!(served.server.receive(Instant::ZERO, ME, &datagram).is_err(), "{what}");
    }
    assert_eq!(served.server.totals().malformed, 13);
}

/// The names of the ship and the purse of the first player who joins in tick 1.
const SHIP: Name = [1, 1, 0];
const PURSE: Name = [1, 1, 1];

fn heading_of(snapshot: &Snapshot) -> i16 {
    let Thing::Ship { heading, .. } = &snapshot.rows[0].state else { panic!("the ship is first") };
    *heading
}

#[test]
fn a_client_that_follows_the_document_alone_takes_an_entity_moves_it_and_gives_it_back() {
    let mut served = Served::new(8);
    let at = |tick: u64| tick * TICK_MICROS + 4000;
    served.update(0);
    served.receive(at(1), &hello(13, 42, &documented_rules(), (0, None)));
    served.receive(at(1), &hello(13, 42, &documented_rules(), (0, Some(TICKET))));
    let mut kept = Kept::new();
    read_against(&served.update(at(1))[1], &mut kept);
    let mut tick = 2;
    let mut send = |requests: &[Request], rows: &[HeldRow]| {
        // Of the tick that comes next, a little before its time.
        served.receive(at(tick) - 6000, &sharing(tick, (tick, tick), requests, rows));
        let sent = served.update(at(tick));
        tick += 1;
        read_against(&sent[0], &mut kept)
    };
    let asked = send(&[(7, 1, SHIP)], &[((0, SHIP), 7, 0, 0, 900)]);
    assert_eq!(asked.answers, [(7, 0)]);
    assert_eq!(asked.holders, [(SHIP, Some([1, 0, 1, 0]))], "the first authority, no ownership");
    assert_eq!(heading_of(&asked), 900, "what came with the request counts");
    // Again, for ownership; the rows under the old number count still.
    let owned = send(&[(7, 1, SHIP), (8, 2, SHIP)], &[((0, SHIP), 7, 0, 0, 901)]);
    assert_eq!(owned.answers, [(8, 0)], "the snapshot with the answer before was acknowledged");
    assert_eq!((&owned.holders[..], heading_of(&owned)), (&[(SHIP, Some([1, 1, 1, 1]))][..], 901));
    let refused = send(&[(9, 2, PURSE), (10, 1, [0; 3]), (11, 2, [1, 9, 0])], &[((0, SHIP), 8, 0, 1, 902)]);
    assert_eq!(refused.answers, [(9, 2), (10, 2), (11, 2)]);
    assert_eq!((refused.holders.len(), heading_of(&refused)), (1, 902), "ownership does not end at rest");
    // Under a number that was never granted, of an entity of somebody else, and from before tick 0.
    let ignored = send(&[], &[((0, SHIP), 99, 0, 0, 1), ((0, [1, 9, 0]), 8, 0, 0, 1), ((0, SHIP), 8, 900, 0, 1)]);
    assert_eq!(heading_of(&ignored), 902);
    let back = send(&[(12, 0, SHIP)], &[((0, SHIP), 8, 0, 1, 903)]);
    assert_eq!((&back.answers[..], heading_of(&back), &back.holders[..]), (&[(12, 0)][..], 903, &[][..]));
    let late = send(&[], &[((0, SHIP), 8, 0, 1, 904)]);
    assert_eq!(heading_of(&late), 903);
    let offences = served.server.stats(PlayerId::new(1)).expect("there").offences;
    // Two that are not to be had, and two rows; the third may have been there when it was asked for.
    assert_eq!((offences.count(Offence::Ownership), offences.total()), (4, 4));
}

#[test]
fn a_server_that_follows_the_document_alone_gives_an_entity_and_takes_it_back() {
    let own = Entity::new(PlayerId::new(5), Tick::new(17), 0);
    let name = [17, 5, 0];
    let heading_to = |heading| Thing::Ship { place: [0.0, 1.5], heading, lamps: [true, false], serial: 3 };
    let me = Joined { player: PlayerId::new(5), epoch: TICKET, now: Instant::ZERO };
    let rules = Rules::new(Space::schema());
    let mut client = Client::<Space>::joined(rules, ClientConfig::default(), me, &mut Space::default());
    let (mut world, mut outbox) = (Space::default(), Outbox::new());
    let (mut answered, mut rows, mut told) = (false, 0, Vec::new());
    client.request(own, Claim::Ownership);
    for turn in 0..60_u64 {
        let now = Instant::from_micros((turn + 1) * TICK_MICROS);
        let holders: &[_] = &[(name, Some([5, 1, 3, 2]))];
        let quiet = Telling { arrivals: &[], ..Telling::default() };
        let telling_now = match turn {
            0..20 => quiet,
            20..50 => Telling { answers: &[(0, 0)], holders, ..quiet },
            _ => quiet,
        };
        answered |= turn >= 20;
        let ship = Row::new((0, name), heading_to(7));
        client.receive(now, &telling(telling_now, ((0, 0), turn + 1, None), &[ship])).expect("well-formed");
        client.capture(own, client.tick(), &heading_to(1000 + i16::try_from(turn).expect("small")));
        let frame = client.update(now, &mut world, &mut |_| Command::default(), &mut outbox);
        for event in frame.events {
            if let ClientEvent::Authority { entity, what } = event {
                assert_eq!(*entity, own);
                told.push(*what);
            }
        }
        for (_, datagram) in outbox.iter() {
            let said = read_inputs(datagram);
            assert_eq!(said.requests, if answered { vec![] } else { vec![(0, 2, name)] }, "repeated until answered");
            for (of, request, back, rests, heading) in said.rows {
                assert_eq!((of, request, rests), ((0, name), 0, 0));
                assert!(turn < 51 && back < 3 && (heading == 7 || heading >= 1000), "{turn} {back} {heading}");
                rows += 1;
            }
        }
        outbox.clear();
    }
    let granted = AuthorityChange::Granted(Claim::Ownership);
    assert_eq!(told, [AuthorityChange::Began, granted, AuthorityChange::Returned]);
    assert!(rows > 40, "{rows}");
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Tally(u32);

/// One tally of the server's, which counts ticks; a canonical one counts for a hundred.
#[derive(World, Default)]
struct Tallies(Table<Tally>);

impl Simulate for Tallies {
    type Input = Command;

    fn step(&mut self, step: &mut Step<'_, Command>) {
        self.0.simulated(step).for_each(|mut tally| tally.0 += if step.canonical() { 100 } else { 1 });
    }
}

/// The digest of section 4.7 of the state with this count.
fn digest_of(count: u32) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    // Tick 0, player 0, counter 0; component 0, owner 0.
    [0, 0, 0, u64::from(count)].into_iter().for_each(|word| hash.number(word, 4));
    hash.0 & 0xffff_ffff
}

/// A snapshot of an exact session, and the count in it when it is whole.
fn read_tally(datagram: &[u8]) -> (Snapshot, Option<u64>) {
    let mut reader = Reader::new(datagram);
    let header = read_header(&mut reader);
    let count = (reader.take(1) == 1).then(|| {
        // The only component takes no bits, and its owner is the first.
        assert_eq!((read_name(&mut reader), reader.take(1)), ([0; 3], 0));
        let _ages = [reader.optional([10]), reader.optional([10])];
        let count = reader.take(32);
        assert_eq!(reader.take(1), 0, "one row");
        count
    });
    (header, count)
}

fn exact_rules() -> Vec<u64> {
    let mut components = Fnv(START);
    components.number(1, 8);
    components.component("Tally", &[(0, ("0", 1, Some(32), 1, 0))], 1, 0);
    let mut level = Fnv(START);
    level.name("level");
    level.number(0x1234, 8);
    vec![hash_of(64, 2), hash_of(1, 1), components.0, hash_of_input(), hash_of(0, 8), level.0]
}

#[test]
fn a_client_that_follows_the_document_alone_proves_states_and_asks_where_it_cannot() {
    let fingerprints = vec![Fingerprint { name: "level", hash: 0x1234 }];
    let rules = Rules { exact: true, fingerprints, ..Rules::new(Tallies::schema()) };
    let mut server = Server::new(rules, ServerConfig::default(), EPOCH, Instant::ZERO);
    let (mut world, mut outbox) = (Tallies::default(), Outbox::new());
    world.0.insert(Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0), owner: PlayerId::SERVER }, Tally(7));
    let mut update = |server: &mut Server<Tallies>, tick: u64| -> Vec<Vec<u8>> {
        outbox.clear();
        server.update(Instant::from_micros(tick * TICK_MICROS), &mut world, &mut outbox);
        outbox.iter().map(|(_, datagram)| datagram.to_vec()).collect()
    };
    let at = |tick: u64| Instant::from_micros(tick * TICK_MICROS);
    for ticket in [None, Some(TICKET)] {
        server.receive(at(0), ME, &hello(13, 42, &exact_rules(), (0, ticket))).expect("well-formed");
    }
    let sent: Vec<_> = (0..=5).map(|tick| update(&mut server, tick)).collect();
    assert_eq!(sent[0].len(), 1, "a welcome: the first state is to be canonical");
    // Announced before tick 0 for two ticks later, as nobody plays.
    let (first, count) = read_tally(&sent[1][0]);
    assert_eq!((first.tick, &first.canonical[..], first.proof, count), (2, &[2][..], None, Some(9)));
    assert_eq!(first.unforeseen, Some(0), "a player without an entity may have brought about anything");
    assert!(sent[2].is_empty(), "nothing but canonical states before one is acknowledged");
    assert_eq!(first.repeat, None);
    let mut sequence = 0;
    let mut tell = |server: &mut Server<Tallies>, now: u64, known: u64, asks: Option<u64>| {
        let mut writer = Writer::default();
        writer.put(3, 3).put(u64::from(TICKET), 8).put(sequence, 16).optional(Some(&[(known, 16)]));
        writer.optional(None).put(0, 1).put(now + 2, 16);
        writer.small(1).optional(asks.map(|tick| [(tick, 16)]).as_ref().map(|fields| &fields[..])).put(0, 1);
        put_input(&mut writer, Command::default());
        sequence += 1;
        server.receive(at(now), ME, &writer.put(0, 1).bytes()).expect("well-formed");
    };
    tell(&mut server, 6, 2, None);
    // Tick 2 was canonical: state 3 has 109, and state 7 four more.
    let (proven, none) = read_tally(&update(&mut server, 6)[0]);
    assert_eq!((proven.tick, proven.proof, none), (7, Some(digest_of(113)), None));
    assert_eq!(proven.unforeseen, Some(0));
    // Somebody for whom that is not the digest asks, and is sent whole states until a canonical one is acknowledged.
    let mut wholes: Vec<(u64, Vec<u64>, Option<u64>)> = Vec::new();
    for tick in 7..60 {
        // What is canonical is not acknowledged.
        let known =
            wholes.iter().rev().find(|(tick, canonical, _)| !canonical.contains(tick)).map_or(2, |whole| whole.0);
        tell(&mut server, tick, known, Some(tick));
        let sent = update(&mut server, tick);
        let sent = sent.iter().map(|datagram| read_tally(datagram)).find(|(_, count)| count.is_some());
        wholes.extend(sent.map(|(whole, count)| (whole.tick, whole.canonical, count)));
    }
    assert_eq!((wholes[0].0, wholes[0].2), (10, Some(116)), "125 ms after the one before");
    let canonical = wholes.iter().position(|(tick, canonical, _)| canonical.contains(tick)).expect("it was owed");
    assert!(wholes.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 8 || pair[1].1.contains(&pair[1].0)), "{wholes:?}");
    assert!(wholes.len() > canonical + 1, "it was not acknowledged: {wholes:?}");
    tell(&mut server, 60, wholes[canonical].0, None);
    let (proven, none) = read_tally(&update(&mut server, 60)[0]);
    // One of the ticks since state 10 was canonical.
    assert_eq!((proven.tick, proven.proof, none), (61, Some(digest_of(116 + 51 + 99)), None));
}
