//! What messages cost a session in play: a megabyte beside it, and a client that sends whatever it likes.

use crate::budgets::{Looker, Swarm, link};
use crate::common::Buttons;
use foretell::session::Offence;
use foretell::session::client::ClientEvent;
use foretell::session::server::ServerEvent;
use foretell::wire::BitWriter;
use foretell::{
    Client, ClientConfig, Frame, Instant, Message, Messages, Outbox, PeerId, Rules, Server, ServerConfig, ServerFrame,
    Tick, To, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Serialize, Deserialize, Message)]
struct Map(Vec<u8>);

#[derive(Serialize, Deserialize, Message)]
struct Chat(String);

fn rules() -> Rules {
    Rules { messages: Messages::new().with::<Map>().with::<Chat>(), ..Rules::new(Swarm::schema()) }
}

/// Two players, of whom the first is sent a megabyte, or is not.
#[derive(Default)]
struct Sending {
    sends: bool,
    sent_at: Option<Instant>,
    come_at: Option<Instant>,
    /// Of both players while it comes: corrections, and the sum of playout delays in ticks and their number.
    corrections: [u64; 2],
    delays: [(f64, u32); 2],
    /// When a line of chat was sent, and how long each took.
    chat_sent: Option<Instant>,
    chat_took: Vec<Duration>,
}

const BEGINS: Instant = Instant::from_micros(5_000_000);
const ENDS: Instant = Instant::from_micros(90_000_000);

impl Driver<Swarm> for Sending {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 32) * 5 + player as u64)
    }

    fn before_server(&mut self, now: Instant, host: &mut ServerHost<Swarm>) {
        if self.sends && now >= BEGINS && self.sent_at.is_none() {
            self.sent_at = Some(now);
            let first = host.server.players().next().expect("two play");
            host.server.send(To::Player(first), &Map(vec![3; 1_000_000])).expect("it has room");
        }
        if now >= BEGINS && self.chat_sent.is_none() {
            self.chat_sent = Some(now);
            host.server.send(To::All, &Chat("x".repeat(200))).expect("it has room");
        }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Swarm>, frame: &Frame<'_>) {
        for message in frame.messages {
            if message.get::<Map>().is_some_and(|map| map.0.len() == 1_000_000) {
                self.come_at = Some(at.now);
            }
            if message.get::<Chat>().is_some() && player == 0 {
                let sent = self.chat_sent.take().expect("one was sent");
                self.chat_took.push(Duration::from_micros(at.now.micros() - sent.micros()));
            }
        }
        if at.now >= BEGINS && at.now < ENDS {
            self.corrections[player] += frame.corrections.len() as u64;
            let (sum, count) = &mut self.delays[player];
            (*sum, *count) = (*sum + client.stats().playout.delay_ticks, *count + 1);
        }
    }
}

fn play(sends: bool) -> Sending {
    let config = ServerConfig { budget: 64_000, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules(), config, Swarm::of(200, 200), 3);
    for latency in [40, 75].map(Duration::from_millis) {
        let conditions = Conditions { latency, loss: Loss::Uniform(0.02), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        simulation.add_player(PlayerOptions { client, host, conditions, world: Swarm::default() });
    }
    let mut sending = Sending { sends, ..Sending::default() };
    simulation.run_until(ENDS, &mut sending);
    sending
}

#[test]
fn a_megabyte_beside_a_session_in_play_disturbs_nobody_and_no_line_of_chat() {
    let (without, with) = (play(false), play(true));
    let took = with.come_at.map(|at| at.micros() - BEGINS.micros());
    // What moves takes all that it may: a quarter of 64 kB/s is left, which the chat shares.
    assert!(took.is_some_and(|took| took < 82_000_000), "{took:?} us");
    let mean = |sending: &Sending, player: usize| sending.delays[player].0 / f64::from(sending.delays[player].1);
    for player in 0..2 {
        let (before, after) = (mean(&without, player), mean(&with, player));
        assert!((after - before).abs() < 0.3, "player {player}: playout {before} ticks behind, and {after}");
        assert!(with.corrections[player] <= without.corrections[player] + 2, "{:?}", with.corrections);
    }
    let mut took = with.chat_took;
    took.sort_unstable();
    // Half a round trip of 80 ms, a tick, a frame, and what a fragment under way takes.
    assert!(took.len() > 850 && took[took.len() / 2] < Duration::from_millis(100), "{:?}", took[took.len() / 2]);
    assert!(took[took.len() * 98 / 100] < Duration::from_millis(400), "{:?}", took[took.len() * 98 / 100]);
}

/// A player is sent one map after the other, of a megabyte each, while many move.
#[derive(Default)]
struct Mapped {
    looker: Looker,
    sends: bool,
}

impl Driver<Swarm> for Mapped {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        self.looker.input(player, tick)
    }

    fn before_server(&mut self, _: Instant, host: &mut ServerHost<Swarm>) {
        let Some(player) = host.server.players().next().filter(|_| self.sends) else { return };
        // Full, there is enough to send.
        let _ = host.server.send(To::Player(player), &Map(vec![3; 1_000_000]));
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Swarm>, frame: &Frame<'_>) {
        self.looker.after_client(player, at, client, frame);
    }
}

#[test]
fn beside_maps_without_end_a_thousand_that_move_are_shown_nearly_as_often() {
    let config = ServerConfig { budget: 64_000, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules(), config, Swarm::of(1000, 1000), 7);
    let (client, host) = (ClientConfig::default(), HostOptions::at(60));
    let mut mapped = Mapped::default();
    (mapped.looker.who, mapped.looker.all) =
        (simulation.add_player(PlayerOptions { client, host, conditions: link(50), world: Swarm::default() }), 1000);
    simulation.run_until(Instant::from_micros(3_000_000), &mut mapped);
    (mapped.sends, mapped.looker.looks) = (true, true);
    simulation.run_until(Instant::from_micros(9_000_000), &mut mapped);

    let (oldest, near) = (mapped.looker.oldest, mapped.looker.oldest_near);
    // Without them within 64 ticks and 100 ms; they take a quarter of the link.
    assert!(oldest <= 64 * 4 / 3 && near * 1000 / 64 <= 100 * 4 / 3, "{oldest} {near}");
    let bytes = simulation.server.server.message_stats(foretell::PlayerId::new(1)).expect("they play").bytes_sent;
    assert!(bytes > 80_000, "{bytes} bytes of maps");
}

#[test]
fn of_two_ticks_that_are_stepped_at_once_the_second_state_is_told_as_whole_as_the_first_beside_maps_too() {
    for sends in [false, true] {
        let mut simulation = Simulation::new(rules(), ServerConfig::default(), Swarm::of(100, 100), 7);
        simulation.server.host.set_frames_per_second(Instant::ZERO, 32);
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        let mut mapped = Mapped { sends, ..Mapped::default() };
        mapped.looker.who =
            simulation.add_player(PlayerOptions { client, host, conditions: link(50), world: Swarm::default() });
        simulation.run_until(Instant::from_micros(5_000_000), &mut mapped);
        mapped.looker.looks = true;
        simulation.run_until(Instant::from_micros(7_000_000), &mut mapped);
        assert_eq!(mapped.looker.oldest, 0, "ticks, {sends}");
    }
}

/// A datagram of fragments that might be honest: of a few messages, most of them claimed to be large.
fn claims(random: &mut SplitMix64, number: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = BitWriter::new(&mut bytes);
    writer.put(7, 3);
    writer.put(0, 8);
    writer.put(0, 32);
    writer.put(0, 1);
    writer.put(1, 1);
    writer.put(u64::from(number), 16);
    for _ in 0..1 + random.next_u64() % 40 {
        let length = if random.chance(0.5) { 900_000 + random.next_u64() % 200_000 } else { random.next_u64() % 20 };
        writer.put(1, 1);
        writer.put(random.next_u64() % 2, 1);
        writer.put(random.next_u64() % 300, 16);
        for group in (0..8).take_while(|group| length >> (4 * group) > 0) {
            writer.put(1, 1);
            writer.put(length >> (4 * group) & 15, 4);
        }
        writer.put(0, 1);
        if length > 960 {
            let index = random.next_u64() % 16;
            writer.put(1, 1);
            writer.put(index, 4);
            writer.put(0, 1);
        }
        (0..length.min(if random.chance(0.9) { 20 } else { 960 })).for_each(|_| writer.put(random.next_u64(), 8));
    }
    writer.put(0, 1);
    bytes.truncate(1150);
    bytes
}

#[test]
fn a_million_hostile_fragments_take_little_memory_and_disturb_nobody() {
    // Who is hostile sends no inputs.
    let config = ServerConfig { timeout: Duration::from_secs(100), ..ServerConfig::default() };
    let mut server = Server::<Swarm>::new(rules(), config, 0, Instant::ZERO);
    let [honest, hostile] = [PeerId(1), PeerId(2)];
    server.join(honest);
    server.join(hostile);
    let joined = foretell::session::client::Joined { player: foretell::PlayerId::new(1), epoch: 0, now: Instant::ZERO };
    let mut clients_world = Swarm::default();
    let mut client = Client::joined(rules(), ClientConfig::default(), joined, &mut clients_world);
    let (mut world, mut outbox, mut random) = (Swarm::of(20, 20), Outbox::new(), SplitMix64::new(11));
    let (mut sent, mut come, mut told, mut micros, mut number) = (0, 0, 0_usize, 0, 0_u16);
    let mut events: Vec<ClientEvent> = Vec::new();
    for tick in 0..2500 {
        micros += 15_625;
        let now = Instant::from_micros(micros);
        // 20 datagrams in a tick, about 20 fragments in each: some are honest enough to be taken.
        for _ in 0..20 {
            number = number.wrapping_add((random.next_u64() % 3) as u16);
            let datagram = claims(&mut random, number);
            let _ = server.receive(now, hostile, &datagram);
        }
        if tick % 50 == 25 {
            client.send(&Chat(sent.to_string())).expect("there is room");
            sent += 1;
        }
        outbox.clear();
        client.update(now, &mut clients_world, &mut |_| Buttons::default(), &mut outbox);
        events.extend(client.frame(now).events);
        for (_, datagram) in outbox.iter() {
            server.receive(now, honest, datagram).expect("an honest client has written it");
        }
        outbox.clear();
        let frame: ServerFrame<'_> = server.update(now, &mut world, &mut outbox);
        assert!(!frame.events.iter().any(|event| matches!(event, ServerEvent::Left { .. })));
        told += frame.messages.iter().filter(|message| message.from().get() == 2).count();
        for message in frame.messages.iter().filter(|message| message.from().get() == 1) {
            assert_eq!(message.get::<Chat>().expect("a line").0, come.to_string());
            come += 1;
        }
        for (_, datagram) in outbox.iter().filter(|(peer, _)| *peer == honest) {
            client.receive(now, datagram).expect("an honest server has written it");
        }
    }
    assert!(sent == 50 && come >= 49, "{come} of {sent}");
    let outcomes = client.stats().prediction.outcomes;
    assert!(
        client.stats().prediction.corrections <= 1 && outcomes.agreed > 2000,
        "the first state may differ: {outcomes:?}"
    );
    let offences = server.offences(foretell::PlayerId::new(2)).expect("they are there");
    assert!(offences.count(Offence::Message) > 10_000, "{offences:?}");
    // Of each of two kinds one large message, and 255 small ones.
    let held = server.message_stats(foretell::PlayerId::new(2)).expect("they are there").held_bytes;
    assert!(held <= 2 * ((1 << 20) + 255 * 960), "{held} bytes are held");
    // 32 kB/s for 39 s, whatever was sent.
    let bytes = server.message_stats(foretell::PlayerId::new(2)).expect("they are there").bytes_received;
    assert!(bytes < 32_000 * 42, "{bytes} bytes were looked at, and {told} messages taken");
}
