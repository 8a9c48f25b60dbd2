//! Timestamped mode on bad networks, with honest players and with others.

use core::time::Duration;
use foretell::Instant;
use foretell::motion::vector::squared_distance;
use foretell::session::Offence;
use foretell_articles::timestamped::TimeBudget;
use foretell_articles::timestamped::{
    Client, ClientConfig, Detect, Direction, Mover, Server, ServerConfig, Since, Trust, WAITING_MAX, Walk, Walker,
};
use foretell_sim::netsim::{Conditions, Link, Loss, Reordering, SplitMix64};
use proptest::prelude::*;

const SPEED: f64 = 5.0;
const EPOCH: u8 = 254;

/// One player's two ends, and the network between them.
struct Pair {
    client: Client<Walk>,
    server: Server<Walk>,
    up: Link,
    down: Link,
    conditions: Conditions,
    now: Instant,
    random: SplitMix64,
    pressed: Direction,
    /// What the client has sent, the newest last; at most 64.
    sent: Vec<Vec<u8>>,
    /// How far the server's player has gone altogether.
    way: f64,
}

fn after(now: Instant, frames: u64) -> Instant {
    Instant::from_micros(now.micros() + frames * 16_667)
}

impl Pair {
    fn new(seed: u64, conditions: Conditions, configs: (ClientConfig, ServerConfig)) -> Pair {
        let (walk, spawn) = (Walk { speed: SPEED }, Walker::default());
        Pair {
            client: Client::new(walk, spawn, configs.0, EPOCH, Instant::ZERO),
            server: Server::new(walk, spawn, configs.1, EPOCH, Instant::ZERO),
            up: Link::new(seed, seed ^ 1),
            down: Link::new(seed ^ 2, seed ^ 3),
            conditions,
            now: Instant::ZERO,
            random: SplitMix64::new(seed ^ 4),
            pressed: Direction::default(),
            sent: Vec::new(),
            way: 0.0,
        }
    }

    fn serve(&mut self) {
        let before = self.server.position();
        while let Some(delivery) = self.up.receive(self.now) {
            let _ = self.server.receive(self.now, delivery.bytes);
        }
        self.way += squared_distance(before, self.server.position()).sqrt();
        let (down, now, conditions) = (&mut self.down, self.now, &self.conditions);
        self.server.update(now, &mut |bytes| {
            down.send(now, bytes, conditions);
        });
    }

    fn hear(&mut self) {
        while let Some(delivery) = self.down.receive(self.now) {
            self.client.receive(self.now, delivery.bytes).expect("the server's are well-formed");
        }
    }

    /// A frame of the client's by a clock that says that it took `length`.
    fn play(&mut self, length: Duration, input: Direction) {
        let (up, now, conditions, sent) = (&mut self.up, self.now, &self.conditions, &mut self.sent);
        self.client.frame(now, length, input, &mut |bytes| {
            up.send(now, bytes, conditions);
            sent.push(bytes.to_vec());
        });
        let surplus = self.sent.len().saturating_sub(64);
        self.sent.drain(..surplus);
    }

    /// Now and then another key.
    fn press(&mut self) -> Direction {
        if self.random.chance(0.08) {
            let mut axis = || (self.random.next_u64() % 3) as f64 - 1.0;
            self.pressed = Direction::of_axes(axis(), axis());
        }
        self.pressed
    }

    /// Frames of an honest player.
    fn honest(&mut self, frames: u64) {
        for _ in 0..frames {
            self.now = after(self.now, 1);
            self.serve();
            self.hear();
            let input = self.press();
            self.play(Duration::from_micros(16_667), input);
        }
    }

    /// Nobody presses anything on a network that does nothing, until all is said.
    fn calm(&mut self) {
        self.conditions = Conditions::default();
        for _ in 0..180 {
            self.now = after(self.now, 1);
            self.serve();
            self.hear();
            self.play(Duration::from_micros(16_667), Direction::default());
        }
    }

    fn apart(&self) -> f64 {
        squared_distance(self.client.position(), self.server.position()).sqrt()
    }
}

fn any_network() -> impl Strategy<Value = Conditions> {
    (0_u64..250, 0_u64..150, 0.0..0.4, 0.0..0.2, 0.0..0.2).prop_map(|(latency, jitter, loss, duplicates, rate)| {
        Conditions {
            latency: Duration::from_millis(latency),
            jitter: Duration::from_millis(jitter),
            loss: Loss::Uniform(loss),
            duplicates,
            reordering: Reordering { rate, ..Reordering::default() },
            ..Conditions::default()
        }
    })
}

fn either() -> impl Strategy<Value = Detect> {
    prop_oneof![Just(Detect::Client), Just(Detect::Server)]
}

fn found_by(detect: Detect) -> (ClientConfig, ServerConfig) {
    (ClientConfig { detect, ..ClientConfig::default() }, ServerConfig { detect, ..ServerConfig::default() })
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn on_any_network_an_honest_player_is_never_set_back_and_never_suspected(
        seed: u64, conditions in any_network(), detect in either(),
    ) {
        let mut pair = Pair::new(seed, conditions, found_by(detect));
        pair.honest(1200);
        pair.calm();
        prop_assume!(pair.client.stats().inputs_forgotten == 0);
        prop_assert_eq!(pair.client.stats().resyncs, 0);
        prop_assert_eq!(pair.server.stats().resyncs, 0);
        prop_assert_eq!(pair.server.offences().total(), 0, "{:?}", pair.server.offences());
        prop_assert!(pair.client.ack_stats().compared > 50);
        prop_assert!(pair.apart() < 1e-9, "{}", pair.apart());
        prop_assert!(pair.way > 1.0);
        prop_assert_eq!(pair.client.inputs_waiting(), 0);
    }

    #[test]
    fn a_push_is_one_resync_however_often_its_datagrams_are_lost_and_doubled(
        seed: u64, conditions in any_network(), detect in either(),
    ) {
        let mut pair = Pair::new(seed, conditions, found_by(detect));
        for _ in 0..3 {
            pair.honest(300);
            pair.server.state_mut().position[2] += 1.0;
            pair.honest(600);
        }
        pair.calm();
        // Who hears nothing for seconds forgets inputs, and is set back for that.
        prop_assume!(pair.client.stats().inputs_forgotten == 0);
        prop_assert_eq!(pair.client.stats().requests, if detect == Detect::Client { 3 } else { 0 });
        prop_assert_eq!(pair.server.stats().resyncs, 3);
        prop_assert_eq!(pair.server.stats().finished, 3);
        prop_assert_eq!(pair.client.stats().resyncs, 3);
        prop_assert_eq!(pair.server.offences().total(), 0, "{:?}", pair.server.offences());
        prop_assert!(pair.apart() < 1e-9, "{}", pair.apart());
        prop_assert!(pair.client.epoch() == 1 && pair.server.epoch() == 1, "it has wrapped");
    }
}

/// What somebody does to win.
#[derive(Clone, Copy, Debug)]
enum Trick {
    /// Lets their clock run so many times as fast.
    Clock(f64),
    /// Walks so many times as far.
    Longer(f64),
    /// A direction that is no number.
    NoNumber,
    /// Is elsewhere.
    Teleport(f64),
    /// Sends again what they sent so many datagrams ago.
    Again(usize),
    /// Changes a bit of it first.
    Bent(usize, usize),
    /// Does not hear the server.
    Deaf,
    /// Asks to begin anew.
    Ask,
    /// Is silent.
    Silent,
}

fn any_trick() -> impl Strategy<Value = Trick> {
    prop_oneof![
        (0.0..20.0).prop_map(Trick::Clock),
        (1.0..100.0).prop_map(Trick::Longer),
        Just(Trick::NoNumber),
        (-20.0..20.0).prop_map(Trick::Teleport),
        (0_usize..64).prop_map(Trick::Again),
        (0_usize..64, 0_usize..600).prop_map(|(which, bit)| Trick::Bent(which, bit)),
        Just(Trick::Deaf),
        Just(Trick::Ask),
        Just(Trick::Silent),
    ]
}

impl Pair {
    /// A frame of somebody who does not play by the rules.
    fn cheat(&mut self, trick: Trick) {
        self.now = after(self.now, 1);
        self.serve();
        if matches!(trick, Trick::Deaf) {
            while self.down.receive(self.now).is_some() {}
        } else {
            self.hear();
        }
        let mut input = self.press();
        let mut length = 16_667.0;
        match trick {
            Trick::Clock(times) => length *= times,
            Trick::Longer(times) => input.vector = input.vector.map(|lane| lane * times),
            Trick::NoNumber => input.vector[0] = f64::NAN,
            Trick::Teleport(by) => self.client.state_mut().position[0] += by,
            Trick::Again(back) => self.send_again(back, None),
            Trick::Bent(back, bit) => self.send_again(back, Some(bit)),
            Trick::Ask => self.client.request_resync(),
            Trick::Deaf => {}
            Trick::Silent => return,
        }
        self.play(Duration::from_micros(length as u64), input);
        // Whoever is no number stays it; they begin from anywhere.
        if self.client.position().iter().any(|lane| !lane.is_finite()) {
            *self.client.state_mut() = Walker::default();
        }
    }

    fn send_again(&mut self, back: usize, bit: Option<usize>) {
        let Some(mut bytes) = self.sent.len().checked_sub(back + 1).map(|index| self.sent[index].clone()) else {
            return;
        };
        if let Some(bit) = bit {
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        self.up.send(self.now, &bytes, &self.conditions);
    }

    /// The farthest that a player may have gone by now.
    fn allowed(&self, budget: TimeBudget) -> f64 {
        let passed = self.now.since(Instant::ZERO).as_secs_f64();
        SPEED * (passed * (1.0 + f64::from(budget.drift_ppm) / 1e6) + budget.ahead.as_secs_f64())
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn whatever_a_client_does_others_see_it_go_no_farther_than_its_speed_allows(
        seed: u64,
        latency in 0_u64..80,
        tricks in proptest::collection::vec((any_trick(), 1_usize..30), 1..40),
        detect in either(),
        from_begin: bool,
    ) {
        let since = if from_begin { Since::Resync } else { Since::Finish };
        let budget = TimeBudget::default();
        let (client, server) = found_by(detect);
        let server = ServerConfig { trust: Trust::Bounded { budget, since }, ..server };
        let conditions = Conditions { latency: Duration::from_millis(latency), ..Conditions::default() };
        let mut cheater = Pair::new(seed, conditions.clone(), (client, server));
        let mut honest = Pair::new(seed ^ 77, conditions, (client, server));
        for (trick, frames) in tricks {
            for _ in 0..frames {
                cheater.cheat(trick);
                honest.honest(1);
                let allowed = cheater.allowed(budget);
                prop_assert!(cheater.way <= allowed + 1e-6, "{} m of {allowed} with {trick:?}", cheater.way);
                prop_assert!(cheater.server.position().iter().all(|lane| lane.is_finite()));
            }
        }
        prop_assert_eq!((honest.client.stats().resyncs, honest.server.offences().total()), (0, 0));
        cheater.calm();
        cheater.calm();
        // As closely as the ends look: who walked a little longer than allowed, and was not found out, stays ahead by that.
        let tolerance = client.sqr_tolerance.sqrt();
        prop_assert!(cheater.apart() < tolerance, "who stops it is with the server again: {}", cheater.apart());
    }
}

/// Ten seconds of walking straight on with a trick in every frame. How far the server's player has gone.
fn straight_on(trust: Trust, length: f64, times: f64) -> (f64, Pair) {
    let server = ServerConfig { trust, ..ServerConfig::default() };
    let conditions = Conditions { latency: Duration::from_millis(30), ..Conditions::default() };
    let mut pair = Pair::new(1, conditions, (ClientConfig::default(), server));
    for _ in 0..600 {
        pair.now = after(pair.now, 1);
        pair.serve();
        pair.hear();
        pair.play(Duration::from_micros((16_667.0 * length) as u64), Direction { vector: [times, 0.0, 0.0] });
    }
    (pair.way, pair)
}

#[test]
fn who_is_believed_wins_by_a_fast_clock_and_a_long_direction_and_who_is_not_wins_nothing_and_is_written_down() {
    let (fair, pair) = straight_on(Trust::default(), 1.0, 1.0);
    assert!((48.0..50.1).contains(&fair) && pair.server.offences().total() == 0, "{fair}");
    assert!(straight_on(Trust::Blind, 2.0, 1.0).0 > 1.9 * fair);
    assert!(straight_on(Trust::Blind, 1.0, 3.0).0 > 2.9 * fair);
    let (way, pair) = straight_on(Trust::default(), 2.0, 1.0);
    assert!(
        way <= pair.allowed(TimeBudget::default()) && pair.server.offences().count(Offence::Time) > 10,
        "{way}: {:?}",
        pair.server.offences()
    );
    let (way, pair) = straight_on(Trust::default(), 1.0, 3.0);
    assert!(way < fair && pair.server.offences().count(Offence::Direction) > 10, "{way}: {:?}", pair.server.offences());
}

#[test]
fn late_and_doubled_datagrams_walk_nobody_backwards_unless_they_are_believed() {
    for (trust, goes_back) in [(Trust::default(), false), (Trust::Blind, true)] {
        let (_, mut pair) = straight_on(trust, 1.0, 1.0);
        let before = pair.server.position();
        let inputs: Vec<_> = pair.sent.iter().filter(|bytes| bytes[0] & 7 == 0).cloned().collect();
        for bytes in &inputs[..inputs.len() - 8] {
            pair.server.receive(pair.now, bytes).expect("it was well-formed the first time");
        }
        assert_eq!(pair.server.position() != before, goes_back);
        assert_eq!(pair.server.stats().stale > 20, !goes_back);
        assert_eq!(pair.server.offences().total(), 0, "an honest player's datagrams may come late");
    }
}

#[test]
fn who_begins_anew_all_the_time_does_so_four_times_a_second_and_is_written_down_unless_believed() {
    for (trust, resyncs, is_noted) in [(Trust::default(), 6..=9, true), (Trust::Blind, 25..=30, false)] {
        let server = ServerConfig { trust, ..ServerConfig::default() };
        let mut pair = Pair::new(3, Conditions::default(), (ClientConfig::default(), server));
        for _ in 0..30 {
            pair.client.request_resync();
            pair.honest(4);
        }
        let (stats, offences) = (pair.server.stats(), pair.server.offences());
        assert!(resyncs.contains(&stats.resyncs), "{trust:?}: {stats:?}");
        assert_eq!(offences.count(Offence::Request) > 0, is_noted, "{trust:?}: {offences:?}");
    }
}

#[test]
fn copies_of_a_request_are_answered_a_few_times_and_cost_no_other_request() {
    let mut pair = Pair::new(3, Conditions::default(), found_by(Detect::Client));
    let request = {
        pair.client.request_resync();
        let mut request = Vec::new();
        pair.client.clone().frame(pair.now, Duration::ZERO, Direction::default(), &mut |bytes| {
            if bytes[0] & 7 == 1 {
                request = bytes.to_vec();
            }
        });
        request
    };
    assert_eq!(request.len(), 2);
    let (mut now, mut answers) = (Instant::ZERO, 0);
    for _ in 0..100 {
        now = now + Duration::from_millis(10);
        pair.server.receive(now, &request).expect("well-formed");
        pair.server.update(now, &mut |bytes| answers += u32::from(bytes[0] & 7 == 5));
    }
    assert_eq!((pair.server.stats().resyncs, pair.server.offences().total()), (1, 0));
    assert!((3..=5).contains(&answers), "{answers} in a second");
    // And copies of it that come when all is over.
    pair.now = now;
    pair.honest(60);
    assert!(!pair.server.needs_resync() && !pair.client.needs_resync());
    (0..100).for_each(|_| pair.server.receive(pair.now, &request).expect("well-formed"));
    pair.server.state_mut().position[2] += 1.0;
    pair.honest(60);
    assert_eq!(
        (pair.server.stats().resyncs, pair.server.offences().total()),
        (2, 0),
        "the next is answered all the same"
    );
}

#[test]
fn late_copies_of_all_that_a_resync_said_change_nothing() {
    let mut pair = Pair::new(4, Conditions::default(), found_by(Detect::Client));
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for frame in 0..120 {
        pair.now = after(pair.now, 1);
        if frame == 60 {
            pair.server.state_mut().position[2] += 1.0;
        }
        let walk = Direction::of_axes(1.0, 0.0);
        pair.client.update(pair.now, walk, &mut |bytes| up.push(bytes.to_vec()));
        for bytes in &up[up.len().saturating_sub(3)..] {
            pair.server.receive(pair.now, bytes).expect("well-formed");
        }
        pair.server.update(pair.now, &mut |bytes| down.push(bytes.to_vec()));
        for bytes in &down[down.len().saturating_sub(3)..] {
            pair.client.receive(pair.now, bytes).expect("well-formed");
        }
    }
    let state = |pair: &Pair| {
        let (client, server) = (&pair.client, &pair.server);
        let places = (client.position(), server.position(), client.epoch(), server.epoch());
        (places, client.stats().resyncs, server.stats().resyncs, client.needs_resync(), server.needs_resync())
    };
    let before = state(&pair);
    assert_eq!((before.1, before.2), (1, 1));
    for kind in [0, 1, 2, 4, 5] {
        assert!(up.iter().chain(&down).any(|bytes| bytes[0] & 7 == kind), "message {kind} was sent");
    }
    let later = Instant::from_micros(pair.now.micros() + 10_000_000);
    for bytes in &up {
        pair.server.receive(later, bytes).expect("well-formed");
    }
    for bytes in &down {
        pair.client.receive(later, bytes).expect("well-formed");
    }
    assert_eq!(state(&pair), before);
    assert!(pair.client.stats().other_epoch > 0 && pair.server.stats().stale > 0);
    assert_eq!(pair.server.offences().total(), 0);
}

#[test]
fn a_resync_that_the_server_never_sent_is_healed_by_another() {
    let pair = || Pair::new(7, Conditions::default(), found_by(Detect::Client));
    let (mut forger, mut pair) = (pair(), pair());
    forger.server.begin_resync(forger.now);
    let mut forged = Vec::new();
    forger.server.update(forger.now, &mut |bytes| forged = bytes.to_vec());
    pair.honest(60);
    pair.client.receive(pair.now, &forged).expect("well-formed");
    assert_ne!(pair.client.epoch(), pair.server.epoch());
    pair.honest(60);
    pair.calm();
    assert_eq!(pair.client.epoch(), pair.server.epoch());
    assert!(pair.apart() < 0.01 && !pair.client.needs_resync() && !pair.server.needs_resync(), "{}", pair.apart());
}

#[test]
fn the_jump_of_a_resync_is_not_shown() {
    let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
    let mut pair = Pair::new(5, conditions, found_by(Detect::Client));
    pair.honest(60);
    pair.server.state_mut().position[2] += 0.5;
    let (mut farthest, mut jumped) = (0.0_f64, 0.0_f64);
    for _ in 0..120 {
        let (shown, simulated) = (pair.client.shown(), pair.client.position());
        pair.honest(1);
        farthest = farthest.max(squared_distance(shown, pair.client.shown()).sqrt());
        jumped = jumped.max(squared_distance(simulated, pair.client.position()).sqrt());
    }
    assert_eq!(pair.client.stats().resyncs, 1);
    assert!(jumped > 0.4 && farthest < 0.2, "{jumped} {farthest}");
    pair.calm();
    assert_eq!(pair.client.shown(), pair.client.position());
}

#[test]
fn what_is_confirmed_never_goes_back_whatever_overtakes_what() {
    let conditions = Conditions {
        latency: Duration::from_millis(20),
        jitter: Duration::from_millis(150),
        duplicates: 0.2,
        reordering: Reordering { rate: 0.3, ..Reordering::default() },
        ..Conditions::default()
    };
    let mut pair = Pair::new(11, conditions, found_by(Detect::Client));
    let mut newest = Instant::ZERO;
    for _ in 0..1200 {
        pair.honest(1);
        let Some((at, _)) = pair.client.confirmed() else { continue };
        assert!(*at >= newest, "{at:?} after {newest:?}");
        newest = *at;
    }
    assert!(pair.client.ack_stats().ignored_old > 20 && pair.down.stats().reordered > 50);
    assert!(newest > Instant::from_micros(19_000_000), "{newest:?}");
}

#[test]
fn a_client_that_hears_nothing_keeps_a_bounded_number_of_inputs_and_times_and_comes_back() {
    let conditions = Conditions { latency: Duration::from_millis(20), ..Conditions::default() };
    let mut pair = Pair::new(6, conditions, found_by(Detect::Client));
    pair.honest(120);
    pair.conditions.loss = Loss::Uniform(1.0);
    pair.honest(3000);
    assert!(pair.client.inputs_waiting() <= foretell_articles::timestamped::INPUTS_MAX);
    assert!(pair.client.times_waiting().len() <= WAITING_MAX);
    assert!(pair.client.stats().inputs_forgotten > 0);
    pair.calm();
    assert_eq!(pair.client.stats().resyncs, 1, "what was forgotten is missed");
    assert!(pair.apart() < 1e-9);
}

#[test]
fn a_steady_session_allocates_nothing() {
    let conditions = Conditions { latency: Duration::from_millis(20), ..Conditions::default() };
    let mut pair = Pair::new(8, conditions, found_by(Detect::Server));
    pair.honest(300);
    let (mut up, mut down) = (Vec::with_capacity(4096), Vec::with_capacity(4096));
    let used = allocation_counter::measure(|| {
        for _ in 0..600 {
            pair.now = after(pair.now, 1);
            let input = pair.press();
            up.clear();
            pair.client.update(pair.now, input, &mut |bytes| up.extend_from_slice(bytes));
            if !up.is_empty() {
                pair.server.receive(pair.now, &up).expect("one datagram");
            }
            down.clear();
            pair.server.update(pair.now, &mut |bytes| down.extend_from_slice(bytes));
            if !down.is_empty() {
                pair.client.receive(pair.now, &down).expect("one datagram");
            }
        }
    });
    assert_eq!(used.count_total, 0, "{used:?}");
    assert!(pair.client.ack_stats().compared > 200);
}

#[test]
fn any_bytes_neither_panic_nor_allocate_and_what_is_malformed_changes_nothing() {
    let mut random = SplitMix64::new(9);
    let mut pair = Pair::new(9, Conditions::default(), found_by(Detect::Server));
    pair.honest(300);
    let real = pair.sent.clone();
    let mut refused = 0;
    for nth in 0..60_000 {
        let mut bytes: Vec<u8> = if nth % 2 == 0 {
            (0..random.next_u64() % 200).map(|_| (random.next_u64() >> 40) as u8).collect()
        } else {
            real[(random.next_u64() % real.len() as u64) as usize].clone()
        };
        for _ in 0..random.next_u64() % 4 {
            let bit = random.next_u64() as usize % (bytes.len() * 8).max(1);
            if let Some(byte) = bytes.get_mut(bit / 8) {
                *byte ^= 1 << (bit % 8);
            }
        }
        bytes.truncate(random.next_u64() as usize % (2 * bytes.len() + 1));
        let before = (*pair.server.path(), *pair.server.stats(), pair.server.epoch());
        let used = allocation_counter::measure(|| {
            let _ = pair.client.receive(pair.now, &bytes);
            if pair.server.receive(pair.now, &bytes).is_err() {
                refused += 1;
                let stats =
                    foretell_articles::timestamped::ServerStats { malformed: before.1.malformed + 1, ..before.1 };
                assert_eq!(
                    (*pair.server.path(), *pair.server.stats(), pair.server.epoch()),
                    (before.0, stats, before.2)
                );
            }
        });
        assert_eq!(used.count_total, 0, "{used:?}");
    }
    assert!(refused > 20_000, "{refused}");
}

#[test]
fn a_mover_of_ones_own_needs_a_position_and_a_limit() {
    /// Falls, and is pushed upwards.
    #[derive(Clone, Copy)]
    struct Balloon;
    #[derive(foretell::Input, Clone, Copy, PartialEq, Default, Debug)]
    struct Burner {
        on: bool,
    }
    #[derive(foretell::State, Clone, Copy, PartialEq, Default, Debug)]
    struct Basket {
        #[state(position)]
        height: [f32; 1],
        #[state(velocity)]
        rise: [f32; 1],
    }
    impl Mover for Balloon {
        type Input = Burner;
        type State = Basket;

        fn advance(&self, state: &mut Basket, input: Burner, seconds: f64) {
            // Solved exactly, so that it does not matter how the time is cut.
            let push = if input.on { 1.0 } else { -1.0 };
            let rise = f64::from(state.rise[0]);
            state.height[0] += (rise * seconds + 0.5 * push * seconds * seconds) as f32;
            state.rise[0] = (rise + push * seconds) as f32;
        }

        fn position(&self, state: &Basket) -> [f64; 3] {
            [0.0, f64::from(state.height[0]), 0.0]
        }

        fn limit(&self, _: &mut Burner) -> Option<Offence> {
            None
        }
    }
    let mut server: Server<Balloon> =
        Server::new(Balloon, Basket::default(), ServerConfig::default(), 0, Instant::ZERO);
    let mut client: Client<Balloon> =
        Client::new(Balloon, Basket::default(), ClientConfig::default(), 0, Instant::ZERO);
    let mut random = SplitMix64::new(4);
    let mut burner = Burner::default();
    for frame in 1..1200 {
        let now = after(Instant::ZERO, frame);
        burner.on ^= random.chance(0.05);
        client.update(now, burner, &mut |bytes| server.receive(now, bytes).expect("well-formed"));
        server.update(now, &mut |bytes| client.receive(now, bytes).expect("well-formed"));
    }
    assert_eq!(client.stats().resyncs, 0);
    assert!(client.ack_stats().compared > 390);
}
