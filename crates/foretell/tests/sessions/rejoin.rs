//! Players who come late, go, and come back: after a lost connection, over another one, with a program that was started
//! again, to a server that was. What a player does not do is to ask the game for help.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use core::time::Duration;
use foretell::session::client::ClientEvent;
use foretell::session::server::ServerEvent;
use foretell::session::{Departure, Inspected, Refusal, inspect};
use foretell::{
    Client, ClientConfig, ClientState, Instant, Outbox, PeerId, PlayerId, Rules, Server, ServerConfig, Tick, World,
};
use foretell_sim::netsim::SplitMix64;
use std::collections::VecDeque;

const FRAME_MICROS: u64 = 15_625;

/// A player has left.
fn left(nth: u16, why: Departure) -> ServerEvent {
    ServerEvent::Left { player: player(nth), why }
}

/// A player's program, at an address, with a link of a fixed delay that may be cut.
struct Program {
    address: PeerId,
    client: Client<Masses>,
    world: Masses,
    cut: bool,
    /// Datagrams under way, with the frame in which they come.
    up: VecDeque<(u64, PeerId, Vec<u8>)>,
    down: VecDeque<(u64, Vec<u8>)>,
    events: Vec<ClientEvent>,
    /// All that it has sent, and from where; all that was sent to it.
    sent: Vec<(PeerId, Vec<u8>)>,
    came: Vec<Vec<u8>>,
}

struct Net {
    server: Server<Masses>,
    world: Masses,
    events: Vec<ServerEvent>,
    programs: Vec<Program>,
    frame: u64,
    delay: u64,
    keep: bool,
}

impl Net {
    fn new(config: ServerConfig) -> Net {
        let server = Server::new(rules(), config, 7, Instant::ZERO);
        let (world, events, programs) = (Masses::default(), Vec::new(), Vec::new());
        Net { server, world, events, programs, frame: 0, delay: 3, keep: false }
    }

    fn now(&self) -> Instant {
        Instant::from_micros(self.frame * FRAME_MICROS + 3000)
    }

    /// Starts a program at an address; returns its index.
    fn start(&mut self, address: u64, nonce: u64) -> usize {
        self.programs.push(Program {
            address: PeerId(address),
            client: Client::new(rules(), ClientConfig::default(), nonce),
            world: Masses::default(),
            cut: false,
            up: VecDeque::new(),
            down: VecDeque::new(),
            events: Vec::new(),
            sent: Vec::new(),
            came: Vec::new(),
        });
        self.programs.len() - 1
    }

    fn run(&mut self, seconds: f64) {
        let frames = (seconds * 64.0) as u64;
        for _ in 0..frames {
            self.frame += 1;
            self.run_server();
            for index in 0..self.programs.len() {
                self.run_program(index);
            }
        }
    }

    fn run_server(&mut self) {
        let (now, frame) = (self.now(), self.frame);
        for program in &mut self.programs {
            while let Some((_, from, datagram)) = program.up.pop_front_if(|(due, ..)| *due <= frame) {
                self.server.receive(now, from, &datagram).expect("well-formed");
            }
        }
        let mut outbox = Outbox::new();
        let told = self.server.update(now, &mut self.world, &mut outbox);
        self.events.extend(told.events);
        for (to, datagram) in outbox.iter() {
            let there = self.programs.iter_mut().filter(|program| program.address == to && !program.cut);
            there.for_each(|program| program.down.push_back((frame + self.delay, datagram.to_vec())));
        }
    }

    fn run_program(&mut self, index: usize) {
        let (now, frame, delay, keep) = (self.now(), self.frame, self.delay, self.keep);
        let program = &mut self.programs[index];
        while let Some((_, datagram)) = program.down.pop_front_if(|(due, _)| *due <= frame) {
            program.client.receive(now, &datagram).expect("well-formed");
            if keep {
                program.came.push(datagram);
            }
        }
        let mut outbox = Outbox::new();
        let mut input = |tick: foretell::Tick| Buttons::from_bits(u64::from(tick.get() / 32) * 7 + index as u64);
        let told = program.client.update(now, &mut program.world, &mut input, &mut outbox);
        program.events.extend(told.events.iter().filter(|event| is_about_the_session(event)));
        for correction in told.corrections {
            assert!(!correction.causes.is_unexplained(), "{correction:?}");
        }
        assert!(
            program.client.stats().prediction.outcomes.add_up(),
            "{:?}",
            program.client.stats().prediction.outcomes
        );
        for (_, datagram) in outbox.iter() {
            if !program.cut {
                program.up.push_back((frame + delay, program.address, datagram.to_vec()));
            }
            if keep {
                program.sent.push((program.address, datagram.to_vec()));
            }
        }
    }

    fn cut(&mut self, index: usize, seconds: f64) {
        self.programs[index].cut = true;
        self.run(seconds);
        self.programs[index].cut = false;
    }

    fn state(&self, index: usize) -> ClientState {
        self.programs[index].client.state(self.now())
    }

    /// Everybody plays as the server says, nobody is corrected, and nothing happens.
    fn assert_steady(&mut self) {
        self.run(3.0);
        let before: Vec<_> = self.programs.iter().map(|program| program.client.stats()).collect();
        self.events.clear();
        self.programs.iter_mut().for_each(|program| program.events.clear());
        self.run(3.0);
        let players: Vec<_> = self.server.players().collect();
        let mut played: Vec<_> = self.programs.iter().filter_map(|program| program.client.player()).collect();
        played.sort();
        assert_eq!(players, played);
        let mut owners: Vec<_> = self.world.bodies.iter().map(|body| body.owner()).collect();
        owners.sort();
        assert_eq!(players, owners);
        for (index, (program, before)) in self.programs.iter().zip(before).enumerate() {
            let after = program.client.stats();
            assert_eq!(self.state(index), ClientState::Playing, "{after:?}");
            assert!(after.prediction.outcomes.agreed > before.prediction.outcomes.agreed + 150, "{after:?}");
            assert_eq!(
                (after.prediction.corrections, after.prediction.resyncs),
                (before.prediction.corrections, before.prediction.resyncs),
                "{after:?}"
            );
            assert_eq!(program.events, []);
            assert_eq!(program.world.bodies.len(), players.len(), "nobody is left of an earlier session");
        }
        assert_eq!(self.events, []);
    }
}

fn rules() -> Rules {
    Rules::new(Masses::schema())
}

fn player(number: u16) -> PlayerId {
    PlayerId::new(number)
}

/// Not about what is to be seen in it.
fn is_about_the_session(event: &ClientEvent) -> bool {
    use ClientEvent::{Joined, Rejoined, Resynced};
    matches!(event, Joined(_) | Rejoined(_) | Resynced { .. })
}

#[test]
fn a_player_joins_late_is_lost_and_comes_back_to_the_place_that_waited() {
    let mut net = Net::new(ServerConfig::default());
    net.start(1, 100);
    net.start(2, 200);
    net.run(5.0);
    let late = net.start(3, 300);
    net.run(1.0);
    assert_eq!(net.programs[late].events, [ClientEvent::Joined(player(3))]);
    net.assert_steady();
    for gone in [6.0, 12.0, 30.0, 65.0] {
        net.events.clear();
        net.cut(late, gone);
        assert_eq!(net.state(late), ClientState::Lost, "{gone} s");
        assert_eq!(net.server.is_lost(player(3)), gone > 11.0);
        let bytes = net.server.stats(player(3)).expect("the place waits").bytes_sent;
        net.run(0.25);
        if gone > 11.0 {
            assert_eq!(net.events, [ServerEvent::Lost(player(3)), ServerEvent::Rejoined(player(3))], "{gone} s");
            assert!(net.server.stats(player(3)).expect("back").bytes_sent > bytes);
        }
        net.run(1.0);
        assert_eq!(net.state(late), ClientState::Playing, "{gone} s");
        let rejoined = ClientEvent::Rejoined(player(3));
        let resyncs: Vec<_> = net.programs[late].events.iter().filter(|event| **event != rejoined).collect();
        assert!(net.programs[late].events.contains(&rejoined) && resyncs.len() <= 1, "{gone} s: {resyncs:?}");
        net.assert_steady();
    }
}

#[test]
fn a_player_who_comes_back_too_late_joins_anew_without_the_game_doing_anything() {
    let short = ServerConfig { keep_lost: Duration::from_secs(20), ..ServerConfig::default() };
    let none = ServerConfig { keep_lost: Duration::ZERO, ..ServerConfig::default() };
    for (config, gone) in [(short, 40.0), (none, 12.0), (ServerConfig::default(), 700.0)] {
        let mut net = Net::new(config);
        net.start(1, 100);
        let other = net.start(2, 200);
        net.run(5.0);
        net.events.clear();
        net.cut(other, gone);
        assert_eq!(net.events, [ServerEvent::Lost(player(2)), left(2, Departure::Lost)]);
        assert_eq!(net.world.bodies.len(), 1);
        net.programs[other].events.clear();
        net.run(1.0);
        assert_eq!(net.programs[other].events.first(), Some(&ClientEvent::Joined(player(3))));
        assert_eq!(net.programs[other].events.len(), 1, "{:?}", net.programs[other].events);
        net.assert_steady();
    }
}

#[test]
fn without_snapshots_for_a_player_who_is_lost_and_with_inputs_alone_he_is_back() {
    let mut net = Net::new(ServerConfig { timeout: Duration::from_secs(1), ..ServerConfig::default() });
    let only = net.start(1, 100);
    net.keep = true;
    net.run(3.0);
    net.programs[only].cut = true;
    net.run(2.0);
    for (address, late) in core::mem::take(&mut net.programs[only].sent).iter().take(100) {
        let now = net.now();
        net.server.receive(now, *address, late).expect("well-formed");
    }
    assert!(net.server.is_lost(player(1)), "late copies are no sign of life");
    let sent = net.server.stats(player(1)).expect("lost").snapshots_sent;
    net.run(2.0);
    let stats = net.server.stats(player(1)).expect("lost");
    assert_eq!(stats.snapshots_sent, sent);
    assert!(stats.inputs.absent > 150, "the gap policy plays: {stats:?}");
    // The client has not been silent for 5 s: it says no hello, its inputs do.
    net.programs[only].cut = false;
    net.run(1.0);
    assert_eq!(net.state(only), ClientState::Playing);
    assert!(!net.programs[only].events.contains(&ClientEvent::Rejoined(player(1))));
    net.assert_steady();
}

#[test]
fn a_program_that_was_started_again_gets_its_player_back_however_soon() {
    for address in [1, 9] {
        for pause in [0.0, 0.1, 2.0, 15.0, 50.0] {
            let mut net = Net::new(ServerConfig::default());
            net.start(1, 100);
            net.run(4.0);
            let place = *net.world.first();
            net.programs.clear();
            net.run(pause);
            let again = net.start(address, 100);
            net.run(1.5);
            let joined = ClientEvent::Joined(player(1));
            assert_eq!(net.programs[again].events, [joined], "{address}, after {pause} s");
            assert_ne!(*net.world.first(), place);
            net.assert_steady();
            assert_eq!(net.state(again), ClientState::Playing);
            assert_eq!(net.server.players().count(), 1);
            let rtt = net.programs[again].client.stats().network.rtt.as_millis();
            assert!((90..130).contains(&rtt), "{rtt} ms: it is measured again");
        }
    }
}

#[test]
fn the_newest_connection_wins_and_the_old_one_is_told_to_stop() {
    let mut net = Net::new(ServerConfig::default());
    let old = net.start(1, 100);
    net.run(4.0);
    net.events.clear();
    let new = net.start(2, 100);
    net.run(1.0);
    assert_eq!(net.events, [ServerEvent::Rejoined(player(1))]);
    assert_eq!(net.programs[new].events, [ClientEvent::Joined(player(1))]);
    net.run(2.0);
    assert_eq!(net.state(old), ClientState::Refused(Refusal::Gone), "before it would ask for its place again");
    net.programs.remove(old);
    net.assert_steady();
}

#[test]
fn what_became_of_a_sessions_samples_is_told_after_it_was_refused() {
    let mut net = Net::new(ServerConfig::default());
    let old = net.start(1, 100);
    net.run(4.0);
    let played = net.programs[old].client.stats().prediction.outcomes;
    net.start(2, 100);
    net.run(3.0);
    assert_eq!(net.state(old), ClientState::Refused(Refusal::Gone));
    let told = net.programs[old].client.stats().prediction.outcomes;
    assert!(told.agreed >= played.agreed && played.agreed > 150, "{played:?}, then {told:?}");
    assert!(told.add_up() && told.waiting == 0, "{told:?}");
}

#[test]
fn a_clock_that_is_set_back_by_an_hour_makes_no_client_ask_for_its_place_again() {
    let mut net = Net::new(ServerConfig::default());
    net.frame = 3_600_000_000 / FRAME_MICROS;
    let program = net.start(1, 100);
    net.run(3.0);
    let Program { client, world, .. } = &mut net.programs[program];
    let mut outbox = Outbox::new();
    for micros in (3_000..103_000).step_by(10_000) {
        client.update(Instant::from_micros(micros), world, &mut |_| Buttons::default(), &mut outbox);
        assert_eq!(client.state(Instant::from_micros(micros)), ClientState::Playing);
    }
    let is_hello = |datagram: &[u8]| matches!(inspect(datagram, Tick::ZERO), Ok(Inspected::Hello { .. }));
    assert!(outbox.iter().count() > 3 && outbox.iter().all(|(_, datagram)| !is_hello(datagram)));
}

#[test]
fn a_client_whose_connection_changes_goes_on_with_one_resync_at_most() {
    for told in [false, true] {
        let mut net = Net::new(ServerConfig::default());
        net.start(1, 100);
        let moving = net.start(2, 200);
        net.run(4.0);
        net.assert_steady();
        if told {
            net.server.disconnected(PeerId(2));
        }
        net.programs[moving].address = PeerId(22);
        net.run(7.0);
        assert_eq!(net.state(moving), ClientState::Playing);
        let client = &net.programs[moving].client;
        assert_eq!((client.player(), client.stats().prediction.resyncs <= 1), (Some(player(2)), true));
        assert!(net.programs[moving].events.contains(&ClientEvent::Rejoined(player(2))));
        assert!(net.events.contains(&ServerEvent::Rejoined(player(2))));
        assert_eq!(net.events.contains(&ServerEvent::Lost(player(2))), told);
        net.assert_steady();
    }
}

#[test]
fn who_is_released_is_gone_at_once_and_comes_back_as_another_player() {
    let mut net = Net::new(ServerConfig::default());
    net.start(1, 100);
    let other = net.start(2, 200);
    net.run(4.0);
    net.assert_steady();
    net.server.release(PeerId(2));
    net.events.clear();
    net.run(0.1);
    assert_eq!(net.events, [left(2, Departure::Lost)]);
    net.run(8.0);
    assert_eq!(net.programs[other].client.player(), Some(player(3)));
    net.assert_steady();
}

#[test]
fn a_server_that_was_started_again_gives_everybody_a_new_place() {
    // A server should have another epoch. If it has the same, its ticks give it away; but inputs from before may pass for
    // new ones.
    for (epoch, played) in [(8, 4.0), (8, 30.0), (7, 30.0)] {
        let mut net = Net::new(ServerConfig::default());
        net.start(1, 100);
        net.start(2, 200);
        net.run(played);
        let now = net.now();
        net.server = Server::new(rules(), ServerConfig::default(), epoch, now);
        net.world = Masses::default();
        for program in &mut net.programs {
            program.events.clear();
        }
        net.run(6.5);
        for program in &net.programs {
            assert!(matches!(program.events[..], [ClientEvent::Joined(_)]), "{epoch}: {:?}", program.events);
        }
        if epoch != 7 {
            net.assert_steady();
        }
    }
}

#[test]
fn a_stall_of_the_server_is_not_the_silence_of_its_players() {
    let mut net = Net::new(ServerConfig::default());
    let only = net.start(1, 100);
    net.run(4.0);
    net.events.clear();
    net.programs[only].cut = true;
    // A minute in which the server does not run, and everything is lost on the way.
    for _ in 0..60 * 64 {
        net.frame += 1;
        net.run_program(only);
    }
    net.programs[only].cut = false;
    net.run(2.0);
    let expected = |event: &&ServerEvent| !matches!(event, ServerEvent::SkippedTicks(_));
    assert_eq!(net.events.iter().filter(expected).count(), 0, "{:?}", net.events);
    assert_eq!(net.state(only), ClientState::Playing);
    net.assert_steady();
}

#[test]
fn a_client_that_slept_is_back_in_its_place_within_a_second_whatever_the_way() {
    for sleep in [6, 12, 30, 65] {
        for (delay, cut) in [(1, false), (3, false), (3, true), (6, true), (9, false), (12, true)] {
            let mut net = Net::new(ServerConfig::default());
            net.delay = delay;
            let only = net.start(1, 100);
            net.run(4.0);
            net.programs[only].events.clear();
            net.programs[only].cut = cut;
            for _ in 0..sleep * 64 {
                net.frame += 1;
                net.run_server();
            }
            net.programs[only].cut = false;
            net.run(1.0);
            let program = &net.programs[only];
            assert_eq!(net.state(only), ClientState::Playing, "{sleep} s, {delay} frames, {cut}");
            let joined = program.events.iter().any(|event| matches!(event, ClientEvent::Joined(_)));
            assert!(!joined && program.client.player() == Some(player(1)), "{sleep} s, {delay} frames, {cut}");
            net.assert_steady();
        }
    }
}

#[test]
fn in_a_full_session_who_comes_gets_the_place_of_who_was_lost_first() {
    let mut net = Net::new(ServerConfig { players_max: 3, ..ServerConfig::default() });
    let places = [net.start(1, 100), net.start(2, 200), net.start(3, 300)];
    net.run(3.0);
    net.programs[places[1]].cut = true;
    net.run(2.0);
    net.programs[places[0]].cut = true;
    net.run(7.0);
    let early = net.start(4, 400);
    net.run(0.5);
    assert_eq!(net.state(early), ClientState::Refused(Refusal::Full), "nobody is lost yet");
    net.programs.remove(early);
    net.run(4.0);
    assert!(net.server.is_lost(player(1)) && net.server.is_lost(player(2)));
    let fourth = net.start(5, 500);
    net.run(2.0);
    assert_eq!(net.programs[fourth].client.player(), Some(player(4)));
    assert_eq!(net.server.players().collect::<Vec<_>>(), [player(1), player(3), player(4)]);
    net.programs[places[0]].cut = false;
    net.run(2.0);
    assert_eq!(net.programs[places[0]].client.player(), Some(player(1)), "the other's place has waited");
    let last = net.start(6, 600);
    net.run(1.0);
    assert_eq!(net.state(last), ClientState::Refused(Refusal::Full));
}

#[test]
fn inputs_of_who_is_lost_are_absent_and_not_missed() {
    let mut net = Net::new(ServerConfig::default());
    let (stays, goes) = (net.start(1, 100), net.start(2, 200));
    net.run(3.0);
    let before = net.server.totals().inputs;
    net.programs[goes].cut = true;
    net.run(9.0);
    assert_eq!(net.server.totals().inputs.missed, before.missed, "it is not known yet");
    net.run(11.0);
    assert!(net.server.is_lost(player(2)));
    let lost = net.server.totals().inputs;
    assert_eq!(lost.missed, before.missed);
    let absent = lost.absent - before.absent;
    assert!((1260..=1290).contains(&absent), "20 s at 64 Hz: {absent}");
    assert_eq!(net.server.stats(player(2)).expect("waited for").inputs.absent, lost.absent);
    net.programs[goes].cut = false;
    net.run(3.0);
    let (back, again) = (net.server.totals().inputs, net.server.stats(player(2)).expect("back").inputs.applied);
    assert!(back.absent < lost.absent + 60 && back.missed < lost.missed + 10, "{back:?}");
    net.programs[goes].cut = true;
    net.run(2.0);
    net.programs[goes].cut = false;
    net.run(2.0);
    let missed = net.server.totals().inputs.missed - back.missed;
    assert!((100..=140).contains(&missed), "who is heard again after 2 s was late: {missed}");
    assert!(net.server.stats(player(2)).expect("back").inputs.applied > again);
    assert_eq!(net.state(stays), ClientState::Playing);
}

#[test]
fn who_has_left_needs_another_nonce_and_who_has_never_played_is_not_waited_for() {
    let mut net = Net::new(ServerConfig::default());
    net.start(1, 100);
    net.run(3.0);
    let mut outbox = Outbox::new();
    net.programs[0].client.leave(&mut outbox);
    let good_bye = outbox.iter().next().expect("a datagram").1.to_vec();
    let now = net.now();
    net.server.receive(now, PeerId(1), &good_bye).expect("well-formed");
    net.programs.clear();
    let [same, other] = [net.start(1, 100), net.start(2, 200)];
    net.run(1.0);
    assert_eq!(net.state(same), ClientState::Refused(Refusal::Gone));
    assert_eq!(net.programs[other].client.player(), Some(player(2)));
    // One hello, and never again.
    net.programs.remove(same);
    net.start(3, 300);
    net.frame += 1;
    net.run_program(1);
    let (_, from, hello) = net.programs.pop().expect("there").up.pop_front().expect("a hello");
    let now = net.now();
    net.server.receive(now, from, &hello).expect("well-formed");
    net.events.clear();
    net.run(9.0);
    assert_eq!((net.server.players().count(), net.world.bodies.len(), &net.events[..]), (1, 1, &[][..]));
    net.run(2.0);
    assert_eq!(net.events, [ServerEvent::Refused { peer: PeerId(3), player: None, why: Refusal::TimedOut }]);
    net.assert_steady();
}

#[test]
fn late_copies_of_whatever_was_sent_change_nothing() {
    for seed in 0..4 {
        let mut net = Net::new(ServerConfig::default());
        net.keep = true;
        net.start(1, 100);
        let moving = net.start(2, 200);
        net.run(4.0);
        net.programs[moving].address = PeerId(22);
        net.run(7.0);
        net.cut(moving, 14.0);
        net.run(2.0);
        let mut outbox = Outbox::new();
        net.programs[moving].client.leave(&mut outbox);
        let good_bye = outbox.iter().next().expect("a datagram").1.to_vec();
        // The program is started again, and again.
        for _ in 0..2 {
            let (sent, came) = (core::mem::take(&mut net.programs[moving].sent), net.programs.pop().expect("it").came);
            net.start(23, 200);
            net.programs[moving].sent.extend(sent);
            net.programs[moving].came.extend(came);
            net.run(3.0);
        }
        net.assert_steady();
        net.keep = false;
        // Another player leaves. Its hellos are known too.
        let third = net.start(3, 300);
        net.keep = true;
        net.run(2.0);
        net.server.leave(PeerId(3));
        let mut old: Vec<_> = net.programs.pop().expect("it").sent;
        assert_eq!(third, net.programs.len());
        net.keep = false;
        net.assert_steady();
        let mut random = SplitMix64::new(seed);
        old.extend(net.programs.iter_mut().flat_map(|program| core::mem::take(&mut program.sent)));
        old.push((PeerId(22), good_bye));
        // Hellos and good-byes are few among many inputs.
        let few: Vec<_> = old.iter().filter(|(_, datagram)| matches!(datagram[0] & 7, 0 | 5)).cloned().collect();
        assert!(few.len() > 30);
        for _ in 0..600 {
            let from = if random.chance(0.5) { &few } else { &old };
            let (address, datagram) = &from[(random.next_u64() % from.len() as u64) as usize];
            let now = net.now();
            net.server.receive(now, *address, datagram).expect("well-formed");
            for program in &mut net.programs {
                if !program.came.is_empty() {
                    let at = (random.next_u64() % program.came.len() as u64) as usize;
                    program.client.receive(now, &program.came[at]).expect("well-formed");
                }
            }
            net.run(0.016);
        }
        net.assert_steady();
        let players = [player(1), player(2)];
        assert_eq!(net.server.players().collect::<Vec<_>>(), players);
    }
}

#[test]
fn nothing_grows_however_often_players_come_and_go() {
    let mut net = Net::new(ServerConfig::default());
    net.start(1, 1);
    let cycle = |net: &mut Net, nth: u64| {
        // A good-bye and another nonce; another connection; a program that is started again.
        net.server.leave(PeerId(1));
        net.programs.clear();
        net.start(1, nth);
        net.run(0.5);
        net.programs.clear();
        net.start(2, nth);
        net.run(0.5);
        net.programs.clear();
        net.start(2, nth);
        net.run(0.5);
        assert_eq!(net.server.players().count(), 1);
        net.server.leave(PeerId(2));
        net.run(0.25);
        net.events.clear();
    };
    (2..80).for_each(|nth| cycle(&mut net, nth));
    let used = allocation_counter::measure(|| (80..160).for_each(|nth| cycle(&mut net, nth)));
    assert!(used.bytes_current.abs() < 16 * 1024, "{used:?}");
}

#[test]
fn a_timeout_of_nothing_counts_as_a_second_and_loses_nobody_who_plays() {
    let mut net = Net::new(ServerConfig { timeout: Duration::ZERO, ..ServerConfig::default() });
    net.start(1, 100);
    net.run(2.0);
    net.events.clear();
    net.cut(0, 0.8);
    net.run(2.0);
    assert_eq!(net.events, [], "a pause is not a loss");
    net.cut(0, 1.2);
    net.run(2.0);
    assert!(matches!(net.events[..], [ServerEvent::Lost(_), ServerEvent::Rejoined(_)]), "{:?}", net.events);
}

#[test]
fn a_program_that_was_started_again_is_told_of_no_input_as_substituted_from_before_it_played() {
    let mut net = Net::new(ServerConfig::default());
    net.start(1, 100);
    net.run(4.0);
    net.programs.clear();
    net.run(20.0);
    let again = net.start(1, 100);
    net.run(3.0);
    assert_eq!(net.programs[again].client.player(), Some(player(1)));
    assert_eq!(net.programs[again].client.stats().inputs.substituted, 0);
}

#[test]
fn who_is_back_after_more_datagrams_than_half_of_their_numbers_is_heard_at_once() {
    let mut net = Net::new(ServerConfig { keep_lost: Duration::from_secs(1200), ..ServerConfig::default() });
    let only = net.start(1, 100);
    net.run(4.0);
    net.cut(only, 540.0);
    net.run(2.0);
    assert_eq!(net.programs[only].client.player(), Some(player(1)));
    // What the server names is measured: on a longer way a longer round trip.
    net.delay = 9;
    net.run(4.0);
    let rtt = net.programs[only].client.stats().network.rtt.as_millis();
    assert!(rtt > 200, "{rtt} ms");
    net.assert_steady();
}
