//! Messages of the game's own (sections 4.4, 4.9 and 6): both ends by the document alone, against the crate's.

use super::*;
use foretell::session::server::ServerEvent;
use foretell::{Message, Messages, ReceivedMessage, To};
use serde::{Deserialize, Serialize};

// The game: lines of chat in order, gifts as they come, and orders that are part of steps. Numbers of kinds take two bits.

#[derive(Serialize, Deserialize, Message, PartialEq, Debug)]
struct Line(String);

#[derive(Serialize, Deserialize, Message, PartialEq, Debug)]
#[message(unordered, bytes_max = 5000)]
struct Gift {
    what: Vec<u8>,
    price: u16,
    wrapped: Option<bool>,
}

#[derive(Serialize, Deserialize, Message, PartialEq, Debug)]
#[message(in_step, bytes_max = 20)]
struct Order(u32);

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Bill(u32);

#[derive(World, Default)]
struct Bar {
    bills: Table<Bill>,
}

impl Simulate for Bar {
    type Input = Command;

    fn step(&mut self, step: &mut Step<'_, Command>) {
        for joined in step.joined() {
            self.bills.spawn(step, joined.player, Bill::default());
        }
        for mut bill in self.bills.simulated(step) {
            for Order(price) in step.messages_of(bill.owner()) {
                bill.0 = bill.0 * 10 + price;
            }
        }
    }
}

fn rules() -> Rules {
    Rules { messages: Messages::new().with::<Line>().with::<Gift>().with::<Order>(), ..Rules::new(Bar::schema()) }
}

/// The hash of part 4 of the rules.
fn part_of_messages() -> u64 {
    let mut hash = Fnv(START);
    hash.number(3, 8);
    for (name, delivery, bytes) in [("Line", 0, 1 << 20), ("Gift", 1, 5000), ("Order", 4, 20)] {
        hash.name(name);
        hash.number(delivery, 8);
        hash.number(bytes, 4);
    }
    hash.0
}

const OPENING: u64 = 77;

/// A fragment: kind, number, length of the message, index, bytes.
type Fragment = (u64, u64, u64, u64, Vec<u8>);

#[derive(Debug, PartialEq)]
struct Post {
    opening: u64,
    received: Option<Vec<u64>>,
    number: Option<u64>,
    fragments: Vec<Fragment>,
}

fn read_post(datagram: &[u8], ticket: u64) -> Post {
    let mut reader = Reader::new(datagram);
    assert_eq!((reader.take(3), reader.take(8)), (7, ticket));
    let opening = reader.take(32);
    let received = (reader.take(1) == 1).then(|| read_received(&mut reader));
    let number = (reader.take(1) == 1).then(|| reader.take(16));
    let mut fragments = Vec::new();
    while number.is_some() && reader.take(1) == 1 {
        let (kind, number, length) = (reader.take(2), reader.take(16), reader.small());
        let index = if length > 960 { reader.small() } else { 0 };
        let size = (length - 960 * index).min(960);
        let bytes = (0..size).map(|_| reader.take(8) as u8).collect();
        fragments.push((kind, number, length, index, bytes));
    }
    reader.finish();
    Post { opening, received, number, fragments }
}

/// `received` is the newest and a mask of those before.
fn post(ticket: u64, received: Option<(u64, u64)>, number: Option<u64>, fragments: &[Fragment]) -> Vec<u8> {
    post_of(OPENING, ticket, received, number, fragments)
}

fn post_of(
    opening: u64,
    ticket: u64,
    received: Option<(u64, u64)>,
    number: Option<u64>,
    fragments: &[Fragment],
) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.put(7, 3).put(ticket, 8).put(opening, 32).put(u64::from(received.is_some()), 1);
    if let Some((newest, mask)) = received {
        writer.put(newest, 16).put(0, 1).put(mask, 32);
    }
    writer.optional(number.map(|number| [(number, 16)]).as_ref().map(|fields| &fields[..]));
    for (kind, number, length, index, bytes) in fragments {
        writer.put(1, 1).put(*kind, 2).put(*number, 16).small(u32::try_from(*length).expect("small"));
        if *length > 960 {
            writer.small(u32::try_from(*index).expect("small"));
        }
        bytes.iter().for_each(|byte| {
            writer.put(u64::from(*byte), 8);
        });
    }
    if number.is_some() {
        writer.put(0, 1);
    }
    writer.bytes()
}

/// A line as it is sent: its length in groups of seven bits, and its letters.
fn line_bytes(text: &str) -> Vec<u8> {
    let length = text.len();
    let length = if length < 128 { vec![length as u8] } else { vec![(length % 128 + 128) as u8, (length / 128) as u8] };
    length.into_iter().chain(text.bytes()).collect()
}

fn whole(kind: u64, number: u64, bytes: &[u8]) -> Fragment {
    (kind, number, bytes.len() as u64, 0, bytes.to_vec())
}

/// A message of several fragments.
fn fragments(kind: u64, number: u64, bytes: &[u8]) -> Vec<Fragment> {
    let parts = (0..).zip(bytes.chunks(960));
    parts.map(|(index, part)| (kind, number, bytes.len() as u64, index, part.to_vec())).collect()
}

fn texts(messages: &[ReceivedMessage]) -> Vec<String> {
    messages.iter().filter_map(|message| Some(message.get::<Line>()?.0.clone())).collect()
}

/// The crate's server, of a session in which one player is.
struct Served {
    server: Server<Bar>,
    world: Bar,
    outbox: Outbox,
    now: Instant,
}

impl Served {
    fn new() -> Served {
        let mut server = Server::new(rules(), ServerConfig::default(), 3, Instant::ZERO);
        server.join(PeerId(9));
        Served { server, world: Bar::default(), outbox: Outbox::new(), now: Instant::ZERO }
    }

    /// One tick. The datagrams of messages that are sent.
    fn tick(&mut self) -> Vec<Post> {
        self.now = Instant::from_micros(self.now.micros() + 15_625);
        self.outbox.clear();
        self.server.update(self.now, &mut self.world, &mut self.outbox);
        let posts = self.outbox.iter().filter(|(_, datagram)| datagram[0] & 7 == 7);
        posts.map(|(_, datagram)| read_post(datagram, 3)).collect()
    }

    fn receive(&mut self, datagram: &[u8]) {
        self.server.receive(self.now, PeerId(9), datagram).expect("well-formed");
    }
}

#[test]
fn the_kinds_of_messages_are_a_part_of_the_rules_as_documented() {
    let mut client = Client::<Bar>::new(rules(), ClientConfig::default(), 5);
    let mut outbox = Outbox::new();
    client.update(Instant::from_micros(1000), &mut Bar::default(), &mut |_| Command::default(), &mut outbox);
    let (_, datagram) = outbox.iter().next().expect("a hello");
    let mut reader = Reader::new(datagram);
    reader.take(3 + 8);
    reader.take(64);
    assert_eq!(reader.small(), 5);
    let parts: Vec<_> = (0..5).map(|_| reader.take(64)).collect();
    assert_eq!(parts[4], part_of_messages());
}

#[test]
fn a_client_that_follows_the_document_alone_sends_and_is_sent_messages() {
    let mut served = Served::new();
    served.server.send(To::All, &Line("before anybody knows".to_owned())).expect("there is room");
    assert_eq!(served.tick(), [], "nothing before the client has said what it is");
    served.receive(&post(3, None, None, &[]));
    let greeting = served.tick();
    let first = whole(0, 0, &line_bytes("before anybody knows"));
    assert_eq!(greeting, [Post { opening: OPENING, received: None, number: Some(0), fragments: vec![first.clone()] }]);
    assert_eq!(served.tick(), [], "it may be under way");

    // Not the first of its kind: it waits for that.
    let late = whole(0, 1, &line_bytes("second"));
    served.receive(&post(3, Some((0, 0)), Some(0), &[late]));
    assert_eq!(served.tick(), [Post { opening: OPENING, received: Some(vec![0, 0]), number: None, fragments: vec![] }]);
    assert!(served.server.frame().messages.is_empty());
    let long: String = core::iter::repeat_n('x', 2000).collect();
    let gift = [&[3][..], &[1, 2, 3], &[0xac, 2], &[1, 1]].concat();
    let mut parts = fragments(0, 0, &line_bytes(&long));
    let last = parts.pop().expect("three fragments");
    served.receive(&post(3, None, Some(1), &[last]));
    served.receive(&post(3, None, Some(2), &[parts.pop().expect("two left"), whole(1, 0, &gift)]));
    let copy = post(3, None, Some(2), &[whole(1, 0, &gift)]);
    served.receive(&copy);
    served.tick();
    let given = served.server.frame().messages.iter().filter_map(|message| message.get::<Gift>());
    assert!(given.eq(&[Gift { what: vec![1, 2, 3], price: 300, wrapped: Some(true) }]), "once, and before the line");
    served.receive(&post(3, None, Some(3), &parts));
    served.tick();
    assert_eq!(texts(served.server.frame().messages), [long, "second".to_owned()]);

    // What is lost is sent again: a later one has come, and that one not for long.
    served.server.send(To::All, &Line("lost".to_owned())).expect("there is room");
    let lost = served.tick();
    assert_eq!((lost[0].number, lost[0].fragments[0].1), (Some(1), 1));
    let again: Vec<_> = (0..40).flat_map(|_| served.tick()).collect();
    assert!(again.iter().all(|post| post.fragments == lost[0].fragments) && (1..6).contains(&again.len()), "{again:?}");
    served.server.send(To::All, &Line("come".to_owned())).expect("there is room");
    let come = &served.tick()[0];
    assert_eq!(come.fragments, [whole(0, 2, &line_bytes("come"))], "the other is under way");
    // The newest has come, and the one before it.
    served.receive(&post(3, Some((come.number.expect("it has one"), 1)), Some(4), &[]));
    (0..100).for_each(|_| assert!(served.tick().iter().all(|post| post.fragments.is_empty()), "all has come"));

    // A client that begins anew: numbers begin anew, and what was to be sent is dropped.
    served.server.send(To::All, &Line("gone".to_owned())).expect("there is room");
    served.receive(&post_of(OPENING + 1, 3, None, Some(0), &[whole(0, 0, &line_bytes("anew"))]));
    assert_eq!(served.tick().len(), 1);
    assert_eq!(texts(served.server.frame().messages), ["anew"]);
    let events = served.server.frame().events;
    assert!(events.iter().any(|event| matches!(event, ServerEvent::MessagesReset(_))), "{events:?}");
    served.receive(&post(3, None, Some(9), &[whole(0, 1, &line_bytes("an old one"))]));
    served.tick();
    assert!(served.server.frame().messages.is_empty());
}

/// A datagram of one input, of the newest tick, and orders: how many ticks before it, and the price.
fn ordering(sequence: u64, newest: u64, first: u64, orders: &[(u32, u8)]) -> Vec<u8> {
    let mut writer = put_inputs(3, sequence, (0, newest), &[(Command::default(), None)]);
    writer.put(u64::from(!orders.is_empty()), 1);
    if !orders.is_empty() {
        writer.put(OPENING, 32).put(first, 32).put(orders.len() as u64 - 1, 4);
    }
    for (back, price) in orders {
        writer.put(2, 2).small(*back).put(1, 9).put(u64::from(*price), 8);
    }
    writer.put(0, 1).bytes()
}

#[test]
fn messages_in_steps_are_in_the_step_of_their_tick_or_the_next_one_and_that_is_told() {
    let mut served = Served::new();
    let bill = |served: &Served| served.world.bills.iter().next().map(|bill| bill.0);
    (0..4).for_each(|_| drop(served.tick()));
    let next = u64::from(served.server.tick().get());
    // For the tick after the next one, and the first of two for the one after that; repeated with the second.
    served.receive(&ordering(0, next + 2, 0, &[(1, 1), (0, 2)]));
    served.receive(&ordering(1, next + 2, 0, &[(1, 1), (0, 2), (0, 3)]));
    let mut bills = Vec::new();
    for _ in 0..4 {
        served.tick();
        bills.push(bill(&served));
    }
    assert_eq!(bills, [Some(0), Some(1), Some(123), Some(123)]);
    // One that comes late is in the next step, and the client is told.
    served.receive(&ordering(2, next + 5, 3, &[(3, 4)]));
    served.tick();
    assert_eq!(bill(&served), Some(1234));
    let applied = u64::from(served.server.tick().get()) - 1;
    let (_, snapshot) = served.outbox.iter().find(|(_, datagram)| datagram[0] & 7 == 4).expect("one is sent");
    let mut reader = Reader::new(snapshot);
    reader.take(3 + 6 + 8 + 16 + 1);
    reader.optional([16, 16]);
    let tick = reader.take(16);
    reader.take(8);
    reader.optional([8]);
    let newest_input = reader.optional([16]);
    read_arrivals(&mut reader, newest_input);
    (0..reader.small()).for_each(|_| assert!((reader.small(), reader.small(), reader.take(2)) > (0, 0, 0)));
    assert_eq!(reader.small(), 1);
    assert_eq!((reader.take(32), tick - reader.small()), (3, applied));
}

#[test]
fn a_server_that_follows_the_document_alone_is_sent_messages_and_sends_them() {
    let joined = Joined { player: PlayerId::new(1), epoch: 3, now: Instant::ZERO };
    let mut world = Bar::default();
    let mut client = Client::joined(rules(), ClientConfig::default(), joined, &mut world);
    let (mut outbox, mut micros) = (Outbox::new(), 0);
    let mut update = |client: &mut Client<Bar>| {
        outbox.clear();
        micros += 16_000;
        client.update(Instant::from_micros(micros), &mut world, &mut |_| Command::default(), &mut outbox);
        let posts = outbox.iter().filter(|(_, datagram)| datagram[0] & 7 == 7);
        posts.map(|(_, datagram)| read_post(datagram, 3)).collect::<Vec<_>>()
    };
    let opening = Post { opening: 0, received: None, number: None, fragments: vec![] };
    assert_eq!(update(&mut client), [opening]);
    let answer = post_of(0, 3, None, Some(0), &[whole(0, 0, &line_bytes("welcome"))]);
    client.receive(Instant::from_micros(20_000), &answer).expect("well-formed");
    assert_eq!(update(&mut client), [Post { opening: 0, received: Some(vec![0, 0]), number: None, fragments: vec![] }]);
    assert_eq!(texts(client.frame(Instant::from_micros(20_000)).messages), ["welcome"]);
    client.send(&Gift { what: vec![7; 3000], price: 1, wrapped: None }).expect("there is room");
    let sent: Vec<_> = (0..60).flat_map(|_| update(&mut client)).collect();
    let parts: Vec<_> = sent.iter().flat_map(|post| &post.fragments).collect();
    let bytes = [&[0xb8, 0x17][..], &[7; 3000], &[1, 0]].concat();
    assert!(parts.iter().copied().take(4).eq(&fragments(1, 0, &bytes)), "{parts:?}");
    let other = post_of(1, 3, None, Some(1), &[whole(0, 1, &line_bytes("to somebody else"))]);
    client.receive(Instant::from_micros(1_000_000), &other).expect("well-formed");
    update(&mut client);
    assert!(client.frame(Instant::from_micros(1_100_000)).messages.is_empty());
}

#[test]
fn messages_that_the_document_calls_malformed_change_nothing() {
    let line = line_bytes("hello");
    let long = line_bytes(&core::iter::repeat_n('x', 3000).collect::<String>());
    let malformed = [
        (post(3, None, Some(1), &[whole(3, 0, &line)]), "a kind that there is not"),
        (post(3, None, Some(1), &[whole(2, 0, &[1])]), "one that is part of a step"),
        (post(3, None, Some(1), &[(1, 0, 5001, 0, vec![0; 960])]), "more bytes than its kind may have"),
        (post(3, None, Some(1), &[(0, 0, 961, 2, vec![])]), "a fragment that there is not"),
        (post(3, None, Some(1), &[(0, 0, 100, 0, vec![1; 50])]), "fewer bytes than it has"),
        (post(3, None, Some(1), &[whole(0, 256, &line)]), "none of the next 256"),
        (post(3, None, Some(1), &fragments(0, 5, &long)[..1]), "a large one before its turn"),
        ([&post(3, None, Some(1), &[])[..], &[0]].concat(), "a byte after the end"),
        (ordering(0, 4, 0, &[(5, 1)]), "an order from before tick 0"),
        (ordering(0, 9, 0, &[(1, 1), (2, 1)]), "orders in no order"),
    ];
    let mut served = Served::new();
    served.receive(&post(3, None, Some(0), &fragments(0, 0, &long)[..1]));
    for (datagram, what) in malformed {
        assert!(served.server.receive(served.now, PeerId(9), &datagram).is_err(), "{what}");
        served.tick();
        assert!(served.server.frame().messages.is_empty(), "{what}");
    }
    fragments(0, 0, &long)[1..].iter().zip(2..).for_each(|(fragment, number)| {
        served.receive(&post(3, None, Some(number), std::slice::from_ref(fragment)));
    });
    served.tick();
    assert_eq!(texts(served.server.frame().messages), ["x".repeat(3000)]);
}
