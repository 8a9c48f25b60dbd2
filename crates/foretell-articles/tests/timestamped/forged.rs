//! Timestamped mode and somebody who speaks in the name of an honest player, or of their server: what is forged does no
//! lasting harm.

use core::time::Duration;
use foretell::Instant;
use foretell::motion::vector::squared_distance;
use foretell::session::Offence;
use foretell_articles::timestamped::TimeBudget;
use foretell_articles::timestamped::{Client, ClientConfig, Detect, Direction, Server, ServerConfig, Walk, Walker};
use foretell_sim::netsim::{Conditions, Link, Loss, SplitMix64};
use proptest::prelude::*;

const SPEED: f64 = 5.0;
const FRAME: Duration = Duration::from_micros(16_667);

/// An honest player, their server, and a bad network between them.
struct Pair {
    client: Client<Walk>,
    server: Server<Walk>,
    up: Link,
    down: Link,
    conditions: Conditions,
    now: Instant,
    random: SplitMix64,
    pressed: Direction,
    /// How often another key is pressed, as a share of frames.
    presses: f64,
    /// The largest step of the server's player within one instant, in metres.
    leap: f64,
}

impl Pair {
    fn new(seed: u64, conditions: Conditions, detect: Detect) -> Pair {
        let (walk, spawn) = (Walk { speed: SPEED }, Walker::default());
        let client = ClientConfig { detect, ..ClientConfig::default() };
        let server = ServerConfig { detect, ..ServerConfig::default() };
        Pair {
            client: Client::new(walk, spawn, client, 250, Instant::ZERO),
            server: Server::new(walk, spawn, server, 250, Instant::ZERO),
            up: Link::new(seed, seed ^ 1),
            down: Link::new(seed ^ 2, seed ^ 3),
            conditions,
            now: Instant::ZERO,
            random: SplitMix64::new(seed ^ 4),
            pressed: Direction::default(),
            presses: 0.08,
            leap: 0.0,
        }
    }

    /// A frame of an honest player, who now and then presses another key.
    fn frame(&mut self) {
        self.now = self.now + FRAME;
        let before = self.server.position();
        while let Some(delivery) = self.up.receive(self.now) {
            self.server.receive(self.now, delivery.bytes).expect("an honest client's are well-formed");
        }
        self.leap = self.leap.max(squared_distance(before, self.server.position()).sqrt());
        let Pair { client, server, up, down, conditions, now, .. } = self;
        server.update(*now, &mut |bytes| {
            down.send(*now, bytes, conditions);
        });
        while let Some(delivery) = down.receive(*now) {
            client.receive(*now, delivery.bytes).expect("the server's are well-formed");
        }
        if self.random.chance(self.presses) {
            let mut axis = || (self.random.next_u64() % 3) as f64 - 1.0;
            self.pressed = Direction::of_axes(axis(), axis());
        }
        client.update(*now, self.pressed, &mut |bytes| {
            up.send(*now, bytes, conditions);
        });
    }

    fn play(&mut self, seconds: u64) {
        (0..seconds * 60).for_each(|_| self.frame());
    }

    fn apart(&self) -> f64 {
        squared_distance(self.client.position(), self.server.position()).sqrt()
    }
}

/// Bits, least significant first, as PROTOCOL.md section 9 has them.
#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn put(mut self, value: u64, width: usize) -> Bits {
        self.0.extend((0..width).map(|bit| value >> bit & 1 == 1));
        self
    }

    fn put_small(mut self, mut value: u32) -> Bits {
        while value > 0 {
            self = self.put(1, 1).put(u64::from(value & 15), 4);
            value >>= 4;
        }
        self.put(0, 1)
    }

    fn put_point(self, point: [f64; 3]) -> Bits {
        point.into_iter().fold(self, |bits, lane| bits.put(lane.to_bits(), 64))
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| bits.iter().enumerate().map(|(bit, set)| u8::from(*set) << bit).sum();
        self.0.chunks(8).map(byte).collect()
    }
}

/// What is forged. Epochs count from the receiver's, times from the player's clock, numbers as they are.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Forged {
    Inputs { epoch: u8, ahead_us: i64, first: u32, pressed: bool },
    Request { epoch: u8 },
    Finish { epoch: u8, ahead_us: i64 },
    NothingUp { epoch: u8 },
    State { epoch: u8, ahead_us: i64, place: [f64; 3] },
    Resync { epoch: u8, place: [f64; 3] },
    NothingDown { epoch: u8 },
}

impl Forged {
    fn inject(self, pair: &mut Pair) {
        let (now, time) = (pair.now, pair.client.time().micros());
        let (of_server, of_client) = (pair.server.epoch(), pair.client.epoch());
        let header =
            |number, base: u8, epoch| Bits::default().put(number, 3).put(u64::from(base.wrapping_add(epoch)), 8);
        let at = |ahead_us| time.saturating_add_signed(ahead_us);
        let (to_server, bits) = match self {
            Forged::Inputs { epoch, ahead_us, first, pressed } => {
                let bits = header(0, of_server, epoch).put(at(ahead_us), 64).put(0, 1).put_small(first);
                let bits = if pressed {
                    bits.put_small(1).put_small(0).put(1, 1).put_point([0.0, 0.0, 1.0])
                } else {
                    bits.put_small(0)
                };
                (true, bits)
            }
            Forged::Request { epoch } => (true, header(1, of_server, epoch)),
            Forged::Finish { epoch, ahead_us } => (true, header(2, of_server, epoch).put(at(ahead_us), 64)),
            Forged::NothingUp { epoch } => (true, header(3, of_server, epoch)),
            Forged::State { epoch, ahead_us, place } => {
                (false, header(4, of_client, epoch).put(at(ahead_us), 64).put_point(place))
            }
            Forged::Resync { epoch, place } => (false, header(5, of_client, epoch).put_point(place)),
            Forged::NothingDown { epoch } => (false, header(3, of_client, epoch)),
        };
        let taken = match to_server {
            true => pair.server.receive(now, &bits.bytes()),
            false => pair.client.receive(now, &bits.bytes()),
        };
        taken.expect("what is forged is well-formed");
    }
}

fn any_epoch() -> impl Strategy<Value = u8> {
    prop_oneof![4 => Just(0), 2 => Just(1), 1 => Just(255), 2 => any::<u8>()]
}

fn any_time() -> impl Strategy<Value = i64> {
    prop_oneof![-200_000..2_000_000_i64, -20_000_000..20_000_000_i64, any::<i64>()]
}

fn any_first() -> impl Strategy<Value = u32> {
    prop_oneof![0..100_u32, 0..3000_u32, any::<u32>()]
}

fn any_place() -> impl Strategy<Value = [f64; 3]> {
    [-50.0..50.0, -1.0..1.0, -50.0..50.0]
}

fn any_forged() -> impl Strategy<Value = Forged> {
    prop_oneof![
        3 => (any_epoch(), any_time(), any_first(), any::<bool>())
            .prop_map(|(epoch, ahead_us, first, pressed)| Forged::Inputs { epoch, ahead_us, first, pressed }),
        1 => any_epoch().prop_map(|epoch| Forged::Request { epoch }),
        3 => (any_epoch(), any_time()).prop_map(|(epoch, ahead_us)| Forged::Finish { epoch, ahead_us }),
        1 => any_epoch().prop_map(|epoch| Forged::NothingUp { epoch }),
        2 => (any_epoch(), any_time(), any_place())
            .prop_map(|(epoch, ahead_us, place)| Forged::State { epoch, ahead_us, place }),
        2 => (any_epoch(), any_place()).prop_map(|(epoch, place)| Forged::Resync { epoch, place }),
        1 => any_epoch().prop_map(|epoch| Forged::NothingDown { epoch }),
    ]
}

fn bad() -> Conditions {
    Conditions {
        latency: Duration::from_millis(80),
        jitter: Duration::from_millis(40),
        loss: Loss::Uniform(0.15),
        duplicates: 0.05,
        ..Conditions::default()
    }
}

/// How long it takes at most until all is well: a second in which nothing is of use, three tries of a resync of which the
/// network loses some, and time to see that it went well.
const HEALS_S: u64 = 8;

/// Whether the player moves on both ends, and these are together when both have come to rest. What was forged may have
/// spent time of the player's, which they miss when a datagram comes faster than ever: one more resync.
fn is_well(pair: &mut Pair) -> Result<(), String> {
    let resyncs = pair.client.stats().resyncs;
    let mut moved = 0.0;
    for _ in 0..4 {
        let before = pair.server.position();
        pair.play(1);
        moved += squared_distance(before, pair.server.position()).sqrt();
    }
    (pair.conditions, pair.pressed, pair.presses) = (Conditions::default(), Direction::default(), 0.0);
    pair.play(1);
    let apart = pair.apart();
    if moved < 1.0 || apart > 1e-6 || pair.client.stats().resyncs > resyncs + 1 {
        let resyncs = pair.client.stats().resyncs - resyncs;
        return Err(format!("moved {moved} m, {apart} m apart, set back {resyncs} times"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 400, ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_forged_the_honest_player_moves_again_within_seconds_and_both_ends_agree(
        seed: u64,
        forged in proptest::collection::vec((any_forged(), 0_u32..40), 1..4),
        in_a_resync: bool,
        by_server: bool,
    ) {
        let detect = if by_server { Detect::Server } else { Detect::Client };
        let mut pair = Pair::new(seed, bad(), detect);
        pair.play(3);
        if in_a_resync {
            pair.server.state_mut().position[2] += 1.0;
            while !pair.server.needs_resync() {
                pair.frame();
            }
        }
        for (forged, frames) in &forged {
            forged.inject(&mut pair);
            (0..*frames).for_each(|_| pair.frame());
        }
        pair.play(HEALS_S);
        let well = is_well(&mut pair);
        prop_assert!(well.is_ok(), "{well:?} after {forged:?}");
        prop_assert!(pair.server.offences().total() <= 8, "{:?}", pair.server.offences());
    }
}

/// What one datagram does to a session over a link that delays and nothing else: the longest time in seconds for which
/// the server's player stood still, while they walked on, and how often they were set back.
fn standstill(forged: Forged) -> (f64, u64, Pair) {
    let conditions = Conditions { latency: Duration::from_millis(50), ..Conditions::default() };
    let mut pair = Pair::new(1, conditions, Detect::Client);
    (pair.pressed, pair.presses) = (Direction::of_axes(1.0, 0.0), 0.0);
    pair.play(20);
    if matches!(forged, Forged::Finish { .. }) {
        pair.server.begin_resync(pair.now);
        pair.frame();
    }
    forged.inject(&mut pair);
    let (mut longest, mut still) = (0, 0);
    for frame in 0..600 {
        let before = pair.server.position();
        pair.frame();
        still = if pair.server.position() == before { still + 1 } else { 0 };
        longest = longest.max(still);
        // A key that comes late shows whether inputs are heard.
        if frame == 300 {
            pair.pressed = Direction::of_axes(0.0, -1.0);
        }
    }
    (f64::from(longest) / 60.0, pair.client.stats().resyncs, pair)
}

#[test]
fn a_forged_time_or_number_silences_nobody_for_more_than_two_seconds() {
    let far = i64::MAX / 2;
    let inputs = |ahead_us, first| Forged::Inputs { epoch: 0, ahead_us, first, pressed: false };
    for (forged, noted) in [
        (Forged::Finish { epoch: 0, ahead_us: far }, 0),
        (Forged::Finish { epoch: 0, ahead_us: 30_000_000 }, 0),
        // Of the past: what the player sends next is too far ahead for the server.
        (Forged::Finish { epoch: 0, ahead_us: -15_000_000 }, 1),
        (inputs(far, 1), 1),
        (inputs(0, 1_000_000), 1),
        (inputs(0, 1025 + 1), 1),
        (inputs(0, 1000), 0),
        (Forged::Inputs { epoch: 1, ahead_us: 0, first: 0, pressed: false }, 0),
        (Forged::Inputs { epoch: 128, ahead_us: 0, first: 0, pressed: false }, 0),
    ] {
        let (seconds, resyncs, pair) = standstill(forged);
        assert!(seconds < 2.0, "{forged:?}: {seconds} s");
        assert!(resyncs <= 2, "{forged:?}: {resyncs} resyncs");
        assert_eq!(pair.server.offences().count(Offence::Time), noted, "{forged:?}");
        assert_eq!(pair.client.epoch(), pair.server.epoch(), "{forged:?}");
        assert!(pair.server.position()[2] < -15.0, "{forged:?}: the second key is heard: {:?}", pair.server.position());
    }
}

#[test]
fn a_state_of_a_time_that_was_not_yet_does_not_hide_those_that_come() {
    let mut pair = Pair::new(2, bad(), Detect::Client);
    pair.play(3);
    Forged::State { epoch: 0, ahead_us: i64::MAX / 2, place: [9.0; 3] }.inject(&mut pair);
    pair.play(1);
    let (at, state) = pair.client.confirmed().expect("many have come");
    assert!(*at < pair.client.time() && state.position != [9.0; 3]);
    assert_eq!(pair.client.stats().resyncs, 0);
}

/// The farthest that others see a player leap who has walked straight on and of whom nothing came for so long, and how
/// often they were set back in the ten seconds after.
fn leap_after(silence: Duration) -> (f64, u64) {
    let conditions = Conditions { latency: Duration::from_millis(50), ..Conditions::default() };
    let mut pair = Pair::new(3, conditions, Detect::Client);
    (pair.pressed, pair.presses) = (Direction::of_axes(1.0, 0.0), 0.0);
    pair.play(20);
    pair.leap = 0.0;
    pair.conditions.loss = Loss::Uniform(1.0);
    let until = pair.now + silence;
    while pair.now < until {
        pair.frame();
    }
    pair.conditions.loss = Loss::Uniform(0.0);
    pair.play(10);
    assert!(pair.apart() < 1.0, "the way of what is under way");
    (pair.leap, pair.client.stats().resyncs)
}

#[test]
fn who_was_silent_leaps_by_what_may_be_saved_and_no_farther() {
    let TimeBudget { saved, ahead, .. } = TimeBudget::default();
    let bound_m = SPEED * (saved + ahead).as_secs_f64();
    for (silence_ms, resyncs) in [(0, 0), (250, 0), (500, 0), (900, 0), (1500, 1), (5000, 1), (60_000, 1)] {
        let (leap_m, set_back) = leap_after(Duration::from_millis(silence_ms));
        // What was lost, and what one datagram tells anyway.
        let told_m = SPEED * (silence_ms as f64 / 1000.0 + 0.1);
        assert!(leap_m <= bound_m.min(told_m) + 1e-6, "{leap_m} m after {silence_ms} ms");
        assert_eq!(set_back, resyncs, "after {silence_ms} ms");
        assert!(resyncs > 0 || leap_m > told_m - 0.6, "{leap_m} m after {silence_ms} ms: nothing is taken from them");
    }
}

#[test]
fn at_5_hz_with_a_twentieth_lost_nobody_is_set_back_for_what_was_held_up() {
    let conditions = Conditions { loss: Loss::Uniform(0.05), ..bad() };
    let mut pair = Pair::new(7, conditions, Detect::Client);
    let send_interval = Duration::from_millis(200);
    let (walk, spawn) = (Walk { speed: SPEED }, Walker::default());
    let (client, server) = (ClientConfig::default(), ServerConfig::default());
    pair.client = Client::new(walk, spawn, ClientConfig { send_interval, ..client }, 250, Instant::ZERO);
    pair.server = Server::new(walk, spawn, ServerConfig { send_interval, ..server }, 250, Instant::ZERO);
    pair.play(1800);
    assert_eq!((pair.client.stats().resyncs, pair.server.offences().total()), (0, 0));
    assert!(pair.leap > 2.0, "several in a row were lost: {} m", pair.leap);
}
