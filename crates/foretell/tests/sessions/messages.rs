//! Messages in whole sessions: once and in order whatever goes wrong, beside a game that does not notice.

use crate::common::body::Buttons;
use crate::common::f64_mass::Masses;
use foretell::session::client::{Client, ClientEvent, Frame};
use foretell::session::server::{Server, ServerEvent, ServerFrame};
use foretell::session::{Offence, SendError};
use foretell::{
    ClientConfig, Instant, Message, Messages, PeerId, PlayerId, ReceivedMessage, Rules, ServerConfig, Tick, To, World,
};
use foretell_sim::harness::{
    Driver, FaultMix, FaultStage, Faults, HostOptions, Moment, PlayerOptions, ServerHost, Simulation,
};
use foretell_sim::netsim::{Conditions, SplitMix64};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One of a series: which series it is of, its number in it, and bytes that follow from that.
macro_rules! numbered {
    ($($name:ident $delivery:ident),*) => {$(
        #[derive(Serialize, Deserialize, Message)]
        #[message($delivery)]
        struct $name(u32, u32, Vec<u8>);
    )*};
}

numbered!(Line ordered, Gift unordered, Wind newest, Spark unreliable);

const KINDS: usize = 4;

fn rules() -> Rules {
    let messages = Messages::new().with::<Line>().with::<Gift>().with::<Wind>().with::<Spark>();
    Rules { messages, ..Rules::new(Masses::schema()) }
}

fn content(number: u32, length: usize) -> Vec<u8> {
    (0..length).map(|at| (number as usize * 31 + at) as u8).collect()
}

/// The kind, the series and the number of a message, whose bytes are as they were sent.
fn read(message: &ReceivedMessage) -> (usize, u32, u32) {
    let parts = [
        message.get().map(|Line(series, number, bytes)| (series, number, bytes)),
        message.get().map(|Gift(series, number, bytes)| (series, number, bytes)),
        message.get().map(|Wind(series, number, bytes)| (series, number, bytes)),
        message.get().map(|Spark(series, number, bytes)| (series, number, bytes)),
    ];
    let kind = parts.iter().position(Option::is_some).expect("a known kind");
    let (series, number, bytes) = parts[kind].expect("it was found");
    assert_eq!(*bytes, content(*number, bytes.len()));
    (kind, *series, *number)
}

/// What one end sends to another: a series for each session.
#[derive(Default)]
struct Sender {
    series: u32,
    sent: [u32; KINDS],
}

impl Sender {
    fn begin(&mut self) {
        (self.series, self.sent) = (self.series + 1, [0; KINDS]);
    }

    fn send(&mut self, kind: usize, length: usize, to: &mut impl Mailbox) {
        let Sender { series, sent } = self;
        let (number, bytes) = (sent[kind], content(sent[kind], length));
        let result = match kind {
            0 => to.put(&Line(*series, number, bytes)),
            1 => to.put(&Gift(*series, number, bytes)),
            2 => to.put(&Wind(*series, number, bytes)),
            _ => to.put(&Spark(*series, number, bytes)),
        };
        match result {
            Ok(()) => sent[kind] += 1,
            Err(why) => assert!(matches!(why, SendError::Full | SendError::NotPlaying), "{why}"),
        }
    }
}

/// Where a sender can send to.
trait Mailbox {
    fn put<M: Message>(&mut self, message: &M) -> Result<(), SendError>;
}

/// A player, from the server.
struct Of<'a>(&'a mut Server<Masses>, PlayerId);

impl Mailbox for Of<'_> {
    fn put<M: Message>(&mut self, message: &M) -> Result<(), SendError> {
        self.0.send(To::Player(self.1), message)
    }
}

impl Mailbox for Client<Masses> {
    fn put<M: Message>(&mut self, message: &M) -> Result<(), SendError> {
        self.send(message)
    }
}

/// What has come of a series.
#[derive(Default)]
struct Come {
    newest: [Option<u32>; KINDS],
    gifts: BTreeSet<u32>,
    sparks: BTreeSet<u32>,
}

/// What has come to one end from another.
#[derive(Default)]
struct Receiver(BTreeMap<u32, Come>);

impl Receiver {
    fn take(&mut self, message: &ReceivedMessage) {
        let (kind, series, number) = read(message);
        let newest_series = self.0.last_key_value().map_or(0, |(series, _)| *series);
        assert!(series >= newest_series, "a message of a session that is over has come in a later one");
        let come = self.0.entry(series).or_default();
        let newest = come.newest[kind];
        match kind {
            0 => assert_eq!(number, newest.map_or(0, |newest| newest + 1), "a line out of order"),
            1 => assert!(come.gifts.insert(number), "a gift twice"),
            2 => assert!(newest.is_none_or(|newest| newest < number), "an old wind"),
            _ => assert!(come.sparks.insert(number), "a spark twice"),
        }
        come.newest[kind] = newest.max(Some(number));
    }

    /// Everything of the sender's last series has come that has to.
    fn assert_complete(&self, sender: &Sender, who: &str) {
        let none = Come::default();
        let come = self.0.get(&sender.series).unwrap_or(&none);
        let last = |kind: usize| sender.sent[kind].checked_sub(1);
        assert_eq!(come.newest[0], last(0), "lines {who}");
        assert!(come.gifts.iter().copied().eq(0..sender.sent[1]), "gifts {who}: {:?}", come.gifts);
        assert_eq!(come.newest[2], last(2), "the newest wind {who}");
    }
}

/// Both ends talk to each other.
struct Talk {
    random: SplitMix64,
    /// Until then.
    until: Instant,
    /// In which sixtieth of a second each client was asked last.
    drawn: BTreeMap<usize, u64>,
    /// The client of each machine, and what has come to it.
    clients: BTreeMap<usize, (Sender, Receiver)>,
    /// The same of each player on the server.
    players: BTreeMap<PlayerId, (Sender, Receiver)>,
}

impl Talk {
    fn new(seed: u64, until: Instant) -> Talk {
        Talk {
            random: SplitMix64::new(seed),
            until,
            drawn: BTreeMap::new(),
            clients: BTreeMap::new(),
            players: BTreeMap::new(),
        }
    }

    /// Which kind is sent now, and how long it is.
    fn draw(&mut self, now: Instant) -> Option<(usize, usize)> {
        if now > self.until || !self.random.chance(0.2) {
            return None;
        }
        let kind = (self.random.next_u64() % KINDS as u64) as usize;
        let most = if self.random.chance(0.1) { 6000 } else { 100 };
        Some((kind, (self.random.next_u64() % most) as usize))
    }
}

impl Driver<Masses> for Talk {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons { right: tick.get() % 64 < 32, up: player.is_multiple_of(2), ..Buttons::default() }
    }

    fn before_server(&mut self, now: Instant, host: &mut ServerHost<Masses>) {
        let players: Vec<_> = host.server.players().collect();
        for player in players {
            let Some((kind, length)) = self.draw(now) else { continue };
            let Some((sender, _)) = self.players.get_mut(&player) else { continue };
            sender.send(kind, length, &mut Of(&mut host.server, player));
        }
    }

    fn after_server(&mut self, _: Instant, _: &Server<Masses>, frame: &ServerFrame<'_>) {
        for event in frame.events {
            match *event {
                ServerEvent::Joined(player) => {
                    self.players.insert(player, Default::default());
                }
                ServerEvent::MessagesReset(player) => {
                    self.players.get_mut(&player).expect("they have joined").0.begin();
                }
                _ => {}
            }
        }
        for message in frame.messages {
            self.players.get_mut(&message.from()).expect("they have joined").1.take(message);
        }
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Masses>) {
        // As often whatever the frame rate.
        let is_due = self.drawn.insert(player, at.now.micros() / 16_000) != Some(at.now.micros() / 16_000);
        let Some((kind, length)) = self.draw(at.now).filter(|_| is_due) else { return };
        self.clients.entry(player).or_default().0.send(kind, length, client);
    }

    fn after_client(&mut self, player: usize, _: Moment, _: &Client<Masses>, frame: &Frame<'_>) {
        let (sender, receiver) = self.clients.entry(player).or_default();
        if frame.events.iter().any(|event| matches!(event, ClientEvent::Joined(_))) {
            sender.begin();
            // The server may have given another number, or count anew.
            *receiver = Receiver::default();
        }
        frame.messages.iter().for_each(|message| receiver.take(message));
    }
}

impl FaultStage<Masses> for Talk {
    fn newcomer(&mut self, _: usize) -> PlayerOptions<Masses> {
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        PlayerOptions { client, host, conditions: Conditions::default(), world: Masses::default() }
    }

    fn event(&mut self, _: &mut Masses, _: u32) {}
}

const LENGTH_MS: u32 = 16_000;

/// A session with the faults of this seed, in which both ends talk until everything is calm.
fn talk(seed: u64) {
    let mut simulation = Simulation::new(rules(), ServerConfig::default(), Masses::default(), seed);
    let mut talk = Talk::new(seed, Instant::from_micros(10_000_000));
    let mut faults = Faults::new(FaultMix::default().draw(seed, 3, LENGTH_MS), 3);
    while faults.next_ms().is_some_and(|moment| moment < LENGTH_MS) {
        faults.begin(&mut simulation, &mut talk);
        faults.hold(&mut simulation, |_| [Conditions::default(), Conditions::default()]);
        let until = faults.next_ms().unwrap_or(LENGTH_MS).min(LENGTH_MS);
        simulation.run_until(Instant::from_micros(u64::from(until) * 1000), &mut talk);
    }
    let mut talked = 0;
    for (machine, host) in simulation.players.iter().enumerate().filter(|(_, host)| !host.is_gone()) {
        let Some(player) = host.client.player() else { continue };
        let (from_client, at_client) = &talk.clients[&machine];
        let (from_server, at_server) = &talk.players[&player];
        at_server.assert_complete(from_client, &format!("from {player:?} in seed {seed}"));
        at_client.assert_complete(from_server, &format!("to {player:?} in seed {seed}"));
        let offences = simulation.server.server.offences(player).expect("they are there");
        assert_eq!(offences.count(Offence::Message), 0, "seed {seed}");
        talked += from_client.sent[0] + from_server.sent[0];
    }
    assert!(talked > 0, "seed {seed}");
}

#[test]
fn whatever_goes_wrong_each_message_arrives_as_its_kind_says() {
    // In the last one little goes up for long, over a link whose delay changes, and then much.
    (0..30).chain([463]).for_each(talk);
}

#[test]
#[ignore = "a minute; for nights"]
fn whatever_goes_wrong_each_message_arrives_as_its_kind_says_in_a_thousand_seeds() {
    (0..1000).for_each(talk);
}

#[test]
fn a_message_to_a_group_is_sent_to_each_of_it_and_to_nobody_else() {
    let mut server = Server::<Masses>::new(rules(), ServerConfig::default(), 0, Instant::ZERO);
    let players = [1, 2, 3].map(|peer| server.join(PeerId(peer)));
    let line = Line(0, 0, content(0, 10));
    assert_eq!(server.send_to_group(|player| player != players[1], &line), Ok(()));
    let sent = players.map(|player| server.message_stats(player).expect("they are there").sent);
    assert_eq!(sent, [1, 0, 1]);
    assert_eq!(server.send_to_group(|_| false, &line), Ok(()));
}
