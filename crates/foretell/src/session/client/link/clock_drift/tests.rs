//! What the drift of two clocks is measured to be, over ways of all kinds.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "seconds of a short test"
)]

use super::*;

mod changes;

/// Numbers that look like chance, of a seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0.rotate_left(32)
    }

    fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

const RATE: TickRate = TickRate::hz(64);

/// Two clocks and the ways between them: the client's shows virtual time, the server's another one.
struct Pair {
    server: ClockDrift,
    random: Random,
    now_s: f64,
    /// What the server's clock shows by now, in seconds.
    shown_s: f64,
    drift_ppm: f64,
    /// When it was set last, and by how many seconds.
    set: (f64, f64),
    /// Exchanges in a second.
    hz: f64,
    /// Of the way up and of the way down, in seconds: the least, and up to how much more.
    ways: [(f64, f64); 2],
}

impl Pair {
    fn new(seed: u64, drift_ppm: f64, ways: [(f64, f64); 2]) -> Pair {
        let server = ClockDrift::new(RATE, TickTime::default(), instant(10.0));
        let random = Random::new(seed);
        Pair { server, random, now_s: 10.0, shown_s: 7_000.0, drift_ppm, set: (0.0, 0.0), hz: 60.0, ways }
    }

    /// What the server's clock showed some time ago.
    fn shown(&self, ago_s: f64) -> TickTime {
        let (set_s, by_s) = self.set;
        let unset_s = if self.now_s - ago_s < set_s { by_s } else { 0.0 };
        let shown_s = self.shown_s - unset_s - ago_s * (1.0 + self.drift_ppm / 1e6);
        TickTime::from_millionths((shown_s * 64e6) as i64)
    }

    /// The server's clock is set. What is under way has left before that.
    fn set(&mut self, by_s: f64) {
        self.shown_s += by_s;
        self.set = (self.now_s, by_s);
    }

    /// Exchanges, of which the server holds each for up to a tick.
    fn run(&mut self, seconds: f64) {
        let until = self.now_s + seconds;
        while self.now_s < until {
            self.now_s += 1.0 / self.hz;
            self.shown_s += (1.0 + self.drift_ppm / 1e6) / self.hz;
            let [up, down] = self.ways.map(|(least, more)| least + more * self.random.next_f64());
            let held = self.random.next_f64() / 64.0;
            self.server.note(Exchange {
                sent: instant(self.now_s - down - held - up),
                arrived: self.shown(down + held),
                answered: self.shown(down),
                came: instant(self.now_s),
            });
        }
    }

    fn error_ppm(&self) -> f64 {
        (self.server.drift_ppm() - self.drift_ppm).abs()
    }
}

fn instant(seconds: f64) -> Instant {
    Instant::from_micros((seconds * 1e6) as u64)
}

const DRIFTS_PPM: [f64; 9] = [-50_000.0, -10_000.0, -1_000.0, -200.0, 0.0, 200.0, 1_000.0, 10_000.0, 50_000.0];

#[test]
fn a_drift_is_known_to_a_thousandth_after_four_seconds_and_to_an_eighth_of_that_after_twenty() {
    for drift_ppm in DRIFTS_PPM {
        for (seed, ways) in
            [[(0.005, 0.0); 2], [(0.075, 0.02); 2], [(0.02, 0.005), (0.13, 0.03)]].into_iter().enumerate()
        {
            let mut pair = Pair::new(seed as u64, drift_ppm, ways);
            pair.run(4.0);
            // Of five percent it takes a little longer.
            let most_ppm = f64::max(1_000.0, drift_ppm.abs() / 15.0);
            assert!(pair.error_ppm() < most_ppm, "{drift_ppm} over {ways:?}: {}", pair.error_ppm());
            pair.run(16.0);
            assert!(pair.error_ppm() < most_ppm / 8.0, "{drift_ppm} over {ways:?}: {}", pair.error_ppm());
        }
    }
}

#[test]
fn with_few_snapshots_a_drift_takes_longer_to_be_known_and_is_known() {
    for drift_ppm in DRIFTS_PPM {
        for (hz, known_s, ways) in [(10.0, 10.0, [(0.04, 0.02); 2]), (2.0, 20.0, [(0.075, 0.02); 2])] {
            let mut pair = Pair { hz, ..Pair::new(9, drift_ppm, ways) };
            pair.run(known_s);
            let most_ppm = f64::max(1_000.0, drift_ppm.abs() / 15.0);
            assert!(pair.error_ppm() < most_ppm, "{drift_ppm} at {hz} Hz: {}", pair.error_ppm());
            pair.run(40.0);
            assert!(pair.error_ppm() < most_ppm / 4.0, "{drift_ppm} at {hz} Hz: {}", pair.error_ppm());
        }
    }
}

#[test]
fn the_axis_goes_on_from_where_it_was_and_keeps_to_the_servers_clock() {
    for drift_ppm in DRIFTS_PPM {
        let mut pair = Pair::new(3, drift_ppm, [(0.05, 0.01); 2]);
        pair.run(20.0);
        let apart = |pair: &Pair| pair.server.at(instant(pair.now_s)).as_ticks() / 64.0 - pair.shown_s;
        let before = apart(&pair);
        pair.run(60.0);
        assert!((apart(&pair) - before).abs() < 0.002, "{drift_ppm}: {}", apart(&pair) - before);
    }
}

#[test]
fn a_queue_on_one_way_or_another_route_is_not_taken_for_a_drift() {
    for ways in [[(0.3, 0.02), (0.05, 0.02)], [(0.05, 0.02), (0.3, 0.02)], [(0.005, 0.02), (0.05, 0.02)]] {
        let mut pair = Pair::new(4, 300.0, [(0.05, 0.02); 2]);
        pair.run(30.0);
        pair.ways = ways;
        for _ in 0..60 {
            pair.run(1.0);
            assert!(pair.error_ppm() < 1_500.0, "{ways:?}: {}", pair.error_ppm());
        }
        assert!(pair.error_ppm() < 150.0, "{ways:?}: {}", pair.error_ppm());
    }
}

#[test]
fn ways_that_are_shorter_for_a_moment_or_from_then_on_do_not_make_a_drift_forgotten() {
    for (phase, lasts_s) in (0..12).flat_map(|phase| [0.08, 0.3, 0.7, 60.0].map(|lasts_s| (phase, lasts_s))) {
        for way in [0, 1] {
            let mut pair = Pair::new(9, 8_000.0, [(0.106, 0.002); 2]);
            pair.run(10.0 + f64::from(phase) / 48.0);
            let usual = core::mem::replace(&mut pair.ways[way], (0.033, 0.002));
            pair.run(f64::min(lasts_s, 10.0));
            pair.ways[way] = if lasts_s < 10.0 { usual } else { pair.ways[way] };
            for _ in 0..40 {
                pair.run(0.25);
                assert!(pair.error_ppm() < 500.0, "{lasts_s} s at {phase}, way {way}: {}", pair.error_ppm());
            }
        }
    }
}

#[test]
fn a_queue_that_fills_from_the_start_is_not_taken_for_a_drift() {
    let mut pair = Pair::new(8, 0.0, [(0.03, 0.0), (0.1, 0.002)]);
    for _ in 0..40 {
        // Half a second in each second.
        pair.ways[1].0 += 0.05;
        pair.run(0.1);
        assert!(pair.error_ppm() < 2_000.0, "{} with {} s", pair.error_ppm(), pair.ways[1].0);
    }
}

#[test]
fn a_clock_that_begins_to_run_otherwise_is_followed_within_twelve_seconds() {
    for (before_ppm, after_ppm) in [(0.0, 10_000.0), (0.0, -10_000.0), (500.0, -500.0), (-20_000.0, 20_000.0)] {
        let mut pair = Pair::new(5, before_ppm, [(0.05, 0.01); 2]);
        pair.run(60.0);
        pair.drift_ppm = after_ppm;
        pair.run(12.0);
        assert!(pair.error_ppm() < 600.0, "{before_ppm} to {after_ppm}: {}", pair.error_ppm());
    }
}

#[test]
fn a_clock_that_is_set_is_not_taken_for_a_drift_for_long() {
    for step_s in [-0.5, -0.05, 0.05, 0.5] {
        let mut pair = Pair::new(6, 200.0, [(0.05, 0.01); 2]);
        pair.run(60.0);
        pair.set(step_s);
        pair.run(6.0);
        assert!(pair.error_ppm() < 1_000.0, "{step_s} s: {}", pair.error_ppm());
        pair.run(20.0);
        assert!(pair.error_ppm() < 200.0, "{step_s} s: {}", pair.error_ppm());
    }
}

#[test]
fn no_exchange_moves_the_axis_back_or_beyond_its_speeds() {
    let mut random = Random::new(7);
    let mut server = ClockDrift::new(RATE, TickTime::default(), Instant::ZERO);
    let (mut now, mut last) = (0, server.at(Instant::ZERO));
    for _ in 0..20_000 {
        now += random.next_u64() % 100_000;
        let any = |random: &mut Random| TickTime::from_millionths(random.next_u64().cast_signed());
        let (arrived, answered) = (any(&mut random), any(&mut random));
        let sent = Instant::from_micros(random.next_u64());
        server.note(Exchange { sent, arrived, answered, came: Instant::from_micros(now) });
        let at = server.at(Instant::from_micros(now));
        assert!(at >= last && (0.9..=1.1).contains(&server.speed()), "{at:?} after {last:?}, {}", server.speed());
        last = at;
    }
}
