//! PROTOCOL.md is enough for a second implementation: this one follows the document alone (its section numbers stand in
//! the comments), reads what the crate writes, and is understood by it.

use foretell::netsim::SplitMix64;
use foretell::session::Refusal;
use foretell::session::client::ClientEvent;
use foretell::time::TickTime;
use foretell::{
    Client, ClientConfig, ClientState, Effect, EffectKind, Entity, Input, Instant, Kind, Outbox, PeerId, PlayerId,
    Rows, Rules, Server, ServerConfig, State, Step, Tick, World,
};
use std::collections::BTreeMap;

const EPOCH: u8 = 9;
const TICK_MICROS: u64 = 15_625;
const ME: PeerId = PeerId(3);

// The game. Three kinds: their numbers take two bits.

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Command {
    thrust: f32,
    fire: bool,
    turn: i8,
}

#[derive(State, Clone, PartialEq, Debug)]
enum Thing {
    Ship {
        #[state(position)]
        place: [f64; 2],
        heading: i16,
        lamps: [bool; 2],
        serial: u64,
    },
    #[state(owner)]
    Purse(u32),
    Rock,
}

const ROCK: Entity = Entity::new(Kind(2), PlayerId::SERVER, Tick::ZERO, 0);

#[derive(Clone, Default)]
struct Space {
    things: BTreeMap<Entity, Thing>,
    /// What a step was given of what players saw.
    presented: Vec<(Tick, Option<TickTime>)>,
}

impl World for Space {
    type Input = Command;
    type Saved = BTreeMap<Entity, Thing>;

    fn step(&mut self, step: &Step<'_, Command>) {
        if step.is_authority() && step.tick() == Tick::ZERO {
            self.things.insert(ROCK, Thing::Rock);
        }
        for player in step.joined() {
            let ship = Thing::Ship { place: [0.0, 1.5], heading: -3, lamps: [true, false], serial: u64::MAX - 4 };
            self.things.insert(step.spawn(Kind(0), *player), ship);
            self.things.insert(step.spawn(Kind(1), *player), Thing::Purse(77));
        }
        // A pebble that lies there for one state.
        if step.is_authority() && step.tick() == Tick::new(8) {
            self.things.insert(step.spawn(Kind(2), PlayerId::new(1)), Thing::Rock);
        }
        self.things.retain(|entity, _| entity.kind() != Kind(2) || *entity == ROCK || entity.tick() == step.tick());
        for (entity, thing) in &mut self.things {
            let (Thing::Ship { place, heading, .. }, Some(player)) = (thing, step.input(entity.player())) else {
                continue;
            };
            place[0] += f64::from(player.input.thrust);
            *heading += i16::from(player.input.turn);
            if step.is_authority() && player.input.fire {
                step.effect(EffectKind(7), *entity);
                step.effect_at(EffectKind(8), ROCK, [0.5, -2.0, 0.0]);
                step.touch(*entity, ROCK);
            }
            self.presented.push((step.tick(), player.presented));
        }
    }

    fn save(&self, into: &mut Self::Saved) {
        into.clone_from(&self.things);
    }

    fn load(&mut self, from: &Self::Saved) {
        self.things.clone_from(from);
    }

    fn publish(&self, rows: &mut Rows) {
        rows.retain(|entity| self.things.contains_key(&entity));
        self.things.iter().for_each(|(entity, thing)| rows.set(*entity, thing));
    }

    fn adopt(&mut self, rows: &Rows) {
        self.things.retain(|entity, _| !rows.removed().contains(entity));
        self.things.extend(rows.states::<Thing>());
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

// Section 3: the hash of the rules.

struct Fnv(u64);

/// Its name, its scalar, the bits of an integer, its lanes, its meaning.
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

    fn column(&mut self, (name, scalar, bits, lanes, meaning): Column<'_>) {
        self.name(name);
        self.number(scalar, 8);
        bits.into_iter().for_each(|bits| self.number(bits, 1));
        self.number(lanes, 1);
        self.number(meaning, 8);
    }

    fn kind(&mut self, name: &str, columns: &[(u64, Column<'_>)], words: u64, audience: u64) {
        self.name(name);
        self.number(columns.len() as u64, 8);
        for (place, column) in columns {
            self.number(*place, 8);
            self.column(*column);
        }
        self.number(words, 8);
        self.number(audience, 8);
    }
}

fn documented_rules_hash() -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.number(64, 2);
    hash.number(0, 8);
    hash.number(3, 8);
    let ship = [
        (0, ("place", 4, None, 2, 1)),
        (4, ("heading", 2, Some(16), 1, 0)),
        (5, ("lamps", 0, None, 2, 0)),
        (7, ("serial", 1, Some(64), 1, 0)),
    ];
    hash.kind("Ship", &ship, 9, 0);
    hash.kind("Purse", &[(0, ("0", 1, Some(32), 1, 0))], 1, 1);
    hash.kind("Rock", &[], 0, 0);
    hash.number(3, 8);
    hash.column(("thrust", 3, None, 1, 0));
    hash.column(("fire", 0, None, 1, 0));
    hash.column(("turn", 2, Some(8), 1, 0));
    hash.0
}

// Section 4: the messages.

fn hello(version: u64, nonce: u64, rules: u64, sent: u64) -> Vec<u8> {
    Writer::default().put(0, 3).put(version, 8).put(nonce, 64).put(rules, 64).put(sent, 64).bytes()
}

fn welcome(nonce: u64, sent: u64, player: u64, tick: u64, fraction: u64) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.put(1, 3).put(nonce, 64).put(sent, 64).put(u64::from(EPOCH), 8).put(player, 16).put(tick, 32);
    writer.put(fraction, 8).bytes()
}

fn put_input(writer: &mut Writer, input: Command) {
    let turn = u64::from(input.turn.cast_unsigned());
    writer.put(u64::from(input.thrust.to_bits()), 32).put(u64::from(input.fire), 1).put(turn, 8);
}

/// An input with what the player saw, in 1/256 tick.
type Seen = (Command, Option<u64>);

fn inputs(sequence: u64, snapshot: u64, newest: u64, list: &[Seen]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.put(3, 3).put(u64::from(EPOCH), 8).put(sequence, 16).optional(Some(&[(snapshot, 16)])).put(newest, 16);
    writer.small(u32::try_from(list.len()).expect("few"));
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
    writer.bytes()
}

#[derive(Debug)]
struct Inputs {
    sequence: u64,
    snapshot: Option<[u64; 1]>,
    newest: u64,
    list: Vec<Seen>,
}

fn read_inputs(datagram: &[u8]) -> Inputs {
    let mut reader = Reader::new(datagram);
    assert_eq!((reader.take(3), reader.take(8)), (3, u64::from(EPOCH)));
    let (sequence, snapshot, newest) = (reader.take(16), reader.optional([16]), reader.take(16));
    let (mut list, mut expected) = (Vec::<Seen>::new(), None);
    for _ in 0..reader.small() {
        let presented = (reader.take(1) == 1).then(|| {
            let same = expected.is_some() && reader.take(1) == 1;
            if same { expected.expect("there is one before") } else { reader.take(24) }
        });
        expected = presented.map(|at| (at + 256) & 0xff_ffff).or(expected);
        let input = match list.last() {
            Some((before, _)) if reader.take(1) == 0 => *before,
            _ => {
                let (thrust, fire, turn) = (reader.take(32), reader.take(1), reader.take(8));
                let thrust = f32::from_bits(u32::try_from(thrust).expect("32 bits"));
                Command { thrust, fire: fire == 1, turn: u8::try_from(turn).expect("8 bits").cast_signed() }
            }
        };
        list.push((input, presented));
    }
    reader.finish();
    Inputs { sequence, snapshot, newest, list }
}

/// A row: kind, player, tick, counter, the age of the last server event, the state.
type Row = (u64, u64, u64, u64, Option<[u64; 1]>, Thing);

/// News: back, the entity's name, what with its fields.
type News = (u64, [u64; 4], What);

#[derive(Clone, Copy, PartialEq, Debug)]
enum What {
    Effect(u64, Option<[f32; 3]>),
    Other(u64),
}

#[derive(Debug)]
struct Snapshot {
    parts: (u64, u64),
    heard: Option<[u64; 2]>,
    tick: u64,
    fraction: u64,
    /// The smallest, of which input, the largest.
    margins: Option<[u64; 3]>,
    newest_input: Option<[u64; 1]>,
    /// back, ticks, how.
    substituted: Vec<(u64, u64, u64)>,
    news_ticks: Option<u64>,
    rows: Vec<Row>,
    news: Vec<News>,
}

fn read_row(reader: &mut Reader) -> Row {
    let kind = reader.take(2);
    let (player, tick, counter) = (reader.small(), reader.small(), reader.small());
    let age = reader.optional([10]);
    let state = match kind {
        0 => Thing::Ship {
            place: [f64::from_bits(reader.take(64)), f64::from_bits(reader.take(64))],
            heading: u16::try_from(reader.take(16)).expect("16 bits").cast_signed(),
            lamps: [reader.take(1) == 1, reader.take(1) == 1],
            serial: reader.take(64),
        },
        1 => Thing::Purse(u32::try_from(reader.take(32)).expect("32 bits")),
        _ => Thing::Rock,
    };
    (kind, player, tick, counter, age, state)
}

fn read_news(reader: &mut Reader) -> News {
    let back = reader.small();
    let name = [reader.take(2), reader.small(), reader.small(), reader.small()];
    let what = match reader.take(2) {
        0 => What::Effect(reader.take(8), {
            let lane = |bits: u64| f32::from_bits(u32::try_from(bits).expect("32 bits"));
            reader.optional([32, 32, 32]).map(|place| place.map(lane))
        }),
        other => What::Other(other),
    };
    (back, name, what)
}

fn read_snapshot(datagram: &[u8]) -> Snapshot {
    let mut reader = Reader::new(datagram);
    assert_eq!(reader.take(3), 4);
    let (last_part, part) = (reader.take(3), reader.take(3));
    assert_eq!(reader.take(8), u64::from(EPOCH));
    let heard = reader.optional([16, 16]);
    let (tick, fraction) = (reader.take(16), reader.take(8));
    let (margins, newest_input) = (reader.optional([16, 16, 16]), reader.optional([16]));
    let ranges = reader.small();
    let substituted = (0..ranges).map(|_| (reader.small(), reader.small(), reader.take(2))).collect();
    let news_ticks = (reader.take(1) == 1).then(|| reader.small());
    let mut rows = Vec::new();
    while reader.take(1) == 1 {
        rows.push(read_row(&mut reader));
    }
    let mut news = Vec::new();
    while reader.take(1) == 1 {
        news.push(read_news(&mut reader));
    }
    reader.finish();
    let parts = (part, last_part);
    Snapshot { parts, heard, tick, fraction, margins, newest_input, substituted, news_ticks, rows, news }
}

/// A snapshot from a server that follows the document: one part of it.
fn snapshot(
    parts: (u64, u64),
    tick: u64,
    heard: Option<[u64; 2]>,
    ranges: &[(u32, u32, u64)],
    rows: &[Row],
) -> Vec<u8> {
    snapshot_with_news((parts, tick, heard), ranges, rows, (None, &[]))
}

/// The same with news, all of so many ticks.
fn snapshot_with_news(
    (parts, tick, heard): ((u64, u64), u64, Option<[u64; 2]>),
    ranges: &[(u32, u32, u64)],
    rows: &[Row],
    (news_ticks, news): (Option<u32>, &[News]),
) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.put(4, 3).put(parts.1, 3).put(parts.0, 3).put(u64::from(EPOCH), 8);
    writer.optional(heard.map(|[sequence, ago]| [(sequence, 16), (ago, 16)]).as_ref().map(|fields| &fields[..]));
    writer.put(tick, 16).put(128, 8);
    // Two and a half ticks late, for the input of tick 160; another came a tick early.
    writer.optional(Some(&[(u64::from((-160_i16).cast_unsigned()), 16), (160, 16), (64, 16)]));
    writer.optional(Some(&[(tick + 3, 16)])).small(u32::try_from(ranges.len()).expect("few"));
    for (back, ticks, how) in ranges {
        writer.small(*back).small(*ticks).put(*how, 2);
    }
    writer.put(u64::from(news_ticks.is_some()), 1);
    news_ticks.into_iter().for_each(|ticks| {
        writer.small(ticks);
    });
    for (kind, player, tick, counter, age, state) in rows {
        let name = [player, tick, counter].map(|number| u32::try_from(*number).expect("32 bits"));
        writer.put(1, 1).put(*kind, 2).small(name[0]).small(name[1]).small(name[2]);
        writer.optional(age.map(|[age]| [(age, 10)]).as_ref().map(|fields| &fields[..]));
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
    for (back, [kind, player, tick, counter], what) in news {
        let name = [back, player, tick, counter].map(|number| u32::try_from(*number).expect("32 bits"));
        writer.put(1, 1).small(name[0]).put(*kind, 2).small(name[1]).small(name[2]).small(name[3]);
        match what {
            What::Effect(effect, place) => {
                let place = place.map(|place| place.map(|lane| (u64::from(lane.to_bits()), 32)));
                writer.put(0, 2).put(*effect, 8).optional(place.as_ref().map(|lanes| &lanes[..]));
            }
            What::Other(what) => {
                writer.put(*what, 2);
            }
        }
    }
    writer.put(0, 1).bytes()
}

fn ship_at(x: f64) -> Thing {
    Thing::Ship { place: [x, 1.5], heading: -3, lamps: [true, false], serial: u64::MAX - 4 }
}

/// The crate's server, and what it sends.
struct Served {
    server: Server<Space>,
    world: Space,
    outbox: Outbox,
}

impl Served {
    fn new(players_max: u16) -> Served {
        let config = ServerConfig { players_max, ..ServerConfig::default() };
        let server = Server::new(Rules::new(Thing::schema()), config, EPOCH, Instant::ZERO);
        Served { server, world: Space::default(), outbox: Outbox::new() }
    }

    fn update(&mut self, micros: u64) -> Vec<Vec<u8>> {
        self.outbox.clear();
        self.server.update(Instant::from_micros(micros), &mut self.world, &mut self.outbox);
        self.outbox.iter().map(|(_, datagram)| datagram.to_vec()).collect()
    }

    fn receive(&mut self, micros: u64, datagram: &[u8]) {
        self.server.receive(Instant::from_micros(micros), ME, datagram).expect("well-formed");
    }
}

#[test]
fn a_client_that_follows_the_document_alone_joins_plays_and_leaves() {
    let mut served = Served::new(8);
    assert!(served.update(0).is_empty());
    let at = |tick: u64| tick * TICK_MICROS + 4000;
    served.receive(at(1), &hello(2, 42, documented_rules_hash(), 1234));
    let [answer, first] = &served.update(at(1))[..] else { panic!("a welcome and a snapshot") };
    // 4 ms of 15.625 ms are 65 / 256.
    assert_eq!((answer, answer.len()), (&welcome(42, 1234, 1, 1, 65), 25));
    let first = read_snapshot(first);
    assert_eq!((first.parts, first.tick, first.fraction), ((0, 0), 2, 65));
    assert_eq!((first.heard, first.margins, first.newest_input), (None, None, None));
    assert_eq!(first.substituted, [(1, 1, 2)], "the neutral input in tick 1");
    assert_eq!((first.news_ticks, first.news), (None, vec![]), "all since the player was admitted");
    let purse = (1, 1, 1, 0, None, Thing::Purse(77));
    assert_eq!(first.rows, [(0, 1, 1, 0, None, ship_at(0.0)), purse, (2, 0, 0, 0, None, Thing::Rock)]);
    let go = Command { thrust: 0.25, fire: true, turn: -2 };
    let list = [(go, Some(384)), (go, Some(640)), (Command::default(), None), (go, Some(1000))];
    // Sent before tick 2, for ticks 3 to 6: half a tick and more before the first is due.
    let came = at(1) + 3200;
    served.receive(came, &inputs(65_535, 2, 6, &list));
    for tick in 2..=7 {
        let sent = served.update(at(tick));
        let seen = read_snapshot(&sent[0]);
        assert_eq!((seen.tick, seen.newest_input), (tick + 1, Some([6])));
        assert_eq!(seen.heard, Some([65_535, (at(tick) - came) / 64]));
        // Of the input for tick 6, which came with the others.
        let largest = (6 * TICK_MICROS - came) * 64 / TICK_MICROS;
        let missed = 0x1_0000 - 64;
        // A margin of a tick or more waits for 64 inputs; in tick 7 the input is missing, which counts as a tick late.
        assert_eq!(seen.margins, (tick == 7).then_some([missed, 7, largest]));
        let x = [0.0, 0.25, 0.5, 0.5, 0.75, 1.0][usize::try_from(tick).expect("small") - 2];
        let Thing::Ship { place, heading, .. } = &seen.rows[0].5 else { panic!("the ship is first") };
        assert_eq!((place[0], i64::from(*heading)), (x, -3 - (x / 0.25) as i64 * 2));
        // Tick 1 is known by the acknowledged snapshot of tick 2; tick 7 repeats the last input.
        let neutral = (tick - 1, 1, 2);
        // The player fires in all of these ticks but in 5; in tick 7 by repetition.
        let fired = [3, 4, 6, 7].into_iter().filter(|fired| *fired <= tick);
        let news = fired.flat_map(|fired| {
            let (back, ship) = (tick + 1 - fired, [0, 1, 1, 0]);
            let at = What::Effect(8, Some([0.5, -2.0, 0.0]));
            [(back, ship, What::Effect(7, None)), (back, [2, 0, 0, 0], at), (back, ship, What::Other(2))]
        });
        assert_eq!((seen.news_ticks, &seen.news), (None, &news.collect()), "all since the acknowledged tick 2");
        assert_eq!(seen.substituted, if tick == 7 { vec![(1, 1, 1), neutral] } else { vec![neutral] });
    }
    let presented = |tick| served.world.presented.iter().find(|(of, _)| *of == Tick::new(tick)).expect("stepped").1;
    let seen = [3, 4, 5, 6].map(|tick| presented(tick).map(|at| at.as_ticks()));
    assert_eq!(seen, [Some(1.5), Some(2.5), None, Some(3.90625)]);
    *served.world.things.get_mut(&Entity::new(Kind(1), PlayerId::new(1), Tick::new(1), 0)).expect("there") =
        Thing::Purse(5);
    for age in 1..=2 {
        let sent = served.update(at(7 + age));
        let robbed = &read_snapshot(&sent[0]).rows[1];
        assert_eq!((robbed.4, &robbed.5), (Some([age]), &Thing::Purse(5)));
    }
    served.world.things.remove(&Entity::new(Kind(1), PlayerId::new(1), Tick::new(1), 0));
    let sent = served.update(at(10));
    let news = read_snapshot(&sent[0]).news;
    let [.., pebble, _, _, _, purse, _, _, _] = &news[..] else { panic!("{news:?}") };
    assert_eq!(*pebble, (2, [2, 1, 8, 0], What::Other(1)), "it ended in tick 9");
    assert_eq!(*purse, (1, [1, 1, 1, 0], What::Other(3)), "it was removed before tick 10");
    served.receive(at(10), &Writer::default().put(5, 3).put(u64::from(EPOCH), 8).put(1, 16).bytes());
    assert_eq!(served.server.players().count(), 0);
}

#[test]
fn a_refusal_says_why_as_documented() {
    let refused = |players_max: u16, hello: &[u8]| {
        let mut served = Served::new(players_max);
        served.receive(0, hello);
        let sent = served.update(0);
        assert_eq!((sent.len(), sent[0].len()), (1, 9));
        let mut reader = Reader::new(&sent[0]);
        assert_eq!((reader.take(3), reader.take(64)), (2, 7));
        let why = reader.take(2);
        reader.finish();
        why
    };
    let rules = documented_rules_hash();
    assert_eq!(refused(1, &hello(1, 7, rules, 0)), 0);
    assert_eq!(refused(1, &hello(2, 7, rules ^ 1, 0)), 1);
    assert_eq!(refused(0, &hello(2, 7, rules, 0)), 2);
    let mut client = Client::<Space>::new(Rules::new(Thing::schema()), ClientConfig::default(), 7);
    client.receive(Instant::ZERO, &Writer::default().put(2, 3).put(7, 64).put(2, 2).bytes()).expect("well-formed");
    assert_eq!(client.state(Instant::ZERO), ClientState::Refused(Refusal::Full));
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
    let client = Client::new(Rules::new(Thing::schema()), ClientConfig::default(), 4711);
    let (given, random) = (BTreeMap::new(), SplitMix64::new(1));
    let mut played = Played { client, world: Space::default(), outbox: Outbox::new(), given, random };
    for sent in [1_000_000, 1_050_000, 1_100_000] {
        let asked = played.update(sent);
        assert_eq!(asked, [hello(2, 4711, documented_rules_hash(), sent)]);
        assert_eq!(asked[0].len(), 26);
        played.receive(sent + 40_000, &welcome(4711, sent, 5, 70_000 + (sent - 1_000_000) / TICK_MICROS, 0));
    }
    // Tick 70,005 in its low 16 bits, in two parts, of which the second comes first.
    let tick = 70_005;
    let mine = [(0, 5, 17, 0, None, ship_at(2.0)), (1, 5, 17, 0, Some([3]), Thing::Purse(9))];
    let others = [(0, 4, 300, 255, None, ship_at(8.0)), (2, 0, 0, 0, None, Thing::Rock)];
    played.receive(1_130_000, &snapshot((1, 1), tick & 0xffff, None, &[], &others));
    played.receive(1_140_000, &snapshot((0, 1), tick & 0xffff, None, &[], &mine));
    let first = played.update(1_150_000);
    assert_eq!(played.client.player(), Some(PlayerId::new(5)));
    let (newest, rows) = played.client.newest_snapshot().expect("complete");
    assert_eq!((u64::from(newest.get()), rows.len()), (tick, 4));
    let other = Entity::new(Kind(0), PlayerId::new(4), Tick::new(300), 255);
    assert_eq!(rows.state::<Thing>(other), Some(ship_at(8.0)));
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
    let boom = (2, [0, 5, 17, 0], What::Effect(9, Some([1.0, 0.0, -1.0])));
    let news = [(3, [2, 5, 70_000, 0], What::Other(1)), boom, (2, [0, 5, 17, 0], What::Other(2))];
    let newest = ((0, 0), (tick + 40) & 0xffff, Some([last, 100]));
    played.receive(now, &snapshot_with_news(newest, &[(2, 3, 1), (9, 1, 0)], &mine, (Some(35), &news)));
    let stats = played.client.stats();
    assert_eq!((stats.substituted, stats.margin_ticks), (4, -2.5));
    assert!(stats.rtt.as_micros().abs_diff(40_000) <= 1, "{:?}", stats.rtt);
    played.update(now);
    let told = ClientEvent::Substituted { newest: Tick::new(70_043), ticks: 4 };
    let frame = played.client.frame(Instant::from_micros(now));
    assert!(frame.events.contains(&told));
    let entity = Entity::new(Kind(0), PlayerId::new(5), Tick::new(17), 0);
    let effect = Effect { tick: Tick::new(70_043), entity, kind: EffectKind(9), at: Some([1.0, 0.0, -1.0]) };
    assert!(frame.events.contains(&ClientEvent::EffectConfirmed(effect)), "{:?}", frame.events);
    assert_eq!(stats.effect_ticks_untold, 5, "from the state that the client began with to 35 ticks ago");
    let mut good_bye = Outbox::new();
    played.client.leave(&mut good_bye);
    let expected = Writer::default().put(5, 3).put(u64::from(EPOCH), 8).put(5, 16).bytes();
    assert_eq!(good_bye.iter().next().expect("a datagram").1, expected);
}

#[test]
fn what_the_document_calls_malformed_a_client_refuses() {
    let config = ClientConfig::default();
    let (me, now, world) = ((PlayerId::new(5), EPOCH), Instant::ZERO, Space::default());
    let mut client = Client::<Space>::joined(Rules::new(Thing::schema()), config, me, now, &world);
    let rock = |player, counter| (2, player, 0, counter, None, Thing::Rock);
    let good = snapshot((0, 0), 5, None, &[(1, 1, 2), (1000, 1000, 0)], &[rock(0xffff, 255)]);
    client.receive(now, &good).expect("well-formed");
    let other_kind = (3, 0, 0, 0, None, Thing::Rock);
    let with_news = |ticks, list: &[News]| snapshot_with_news(((0, 0), 6, None), &[], &[], (ticks, list));
    let news = |back| (back, [2, 0, 0, 0], What::Other(1));
    for (datagram, what) in [
        (vec![], "nothing"),
        (vec![0], "a client's message"),
        (vec![6], "message 6"),
        ([&good[..], &[0]].concat(), "a byte too many"),
        (good[..good.len() - 1].to_vec(), "a byte too few"),
        (snapshot((2, 1), 6, None, &[], &[]), "a part beyond the last"),
        (snapshot((0, 0), 6, None, &[(1, 1, 3)], &[]), "an unknown substitute"),
        (snapshot((0, 0), 6, None, &[(0, 1, 1)], &[]), "a substitute for a tick to come"),
        (snapshot((0, 0), 6, None, &[(1999, 2, 1)], &[]), "a substitute too long ago"),
        (snapshot((0, 0), 6, None, &[(1, 1, 0); 65], &[]), "65 ranges"),
        (snapshot((0, 0), 6, None, &[], &[other_kind]), "an unknown kind"),
        (with_news(Some(1001), &[]), "news of 1001 ticks"),
        (with_news(None, &[news(0)]), "news of a tick to come"),
        (with_news(None, &[news(1001)]), "news of too long ago"),
        (with_news(None, &[news(1); 257]), "257 news"),
        (with_news(None, &[(1, [3, 0, 0, 0], What::Other(1))]), "news of an unknown kind"),
        (snapshot((0, 0), 6, None, &[], &[rock(0x1_0000, 0)]), "player 65,536"),
        (snapshot((0, 0), 6, None, &[], &[rock(0, 256)]), "counter 256"),
    ] {
        assert!(client.receive(now, &datagram).is_err(), "{what}");
    }
    assert_eq!(client.newest_snapshot().map(|(tick, _)| tick), Some(Tick::new(5)));
}

#[test]
fn what_the_document_calls_malformed_a_server_refuses() {
    let mut served = Served::new(1);
    served.receive(0, &hello(2, 7, documented_rules_hash(), 0));
    let silent = (Command::default(), None);
    let good = inputs(0, 0, 1, &[silent; 2]);
    served.receive(0, &good);
    let mut nine_groups = Writer::default();
    nine_groups.put(3, 3).put(u64::from(EPOCH), 8).put(0, 33).put(u64::MAX, 45);
    for (datagram, what) in [
        (vec![], "nothing"),
        (vec![1], "a server's message"),
        (vec![7], "message 7"),
        ([&good[..], &[0]].concat(), "a byte too many"),
        (good[..good.len() - 1].to_vec(), "a byte too few"),
        (inputs(0, 0, 1, &[silent; 1025]), "1025 inputs"),
        (inputs(0, 0, 1, &[silent; 3]), "inputs of ticks before tick 0"),
        (nine_groups.bytes(), "a number of nine groups"),
    ] {
        assert!(served.server.receive(Instant::ZERO, ME, &datagram).is_err(), "{what}");
    }
    assert_eq!(served.server.malformed(), 8);
}
