//! The simulated link's own statistics against what was asked for.
//!
//! Every run is seeded, so a test passes always or never. Its bound is five standard deviations of the statistic, from
//! the formula beside it: over all seeds, one in 1.7 million would fail for no fault of the link's.

use core::time::Duration;

use foretell::Instant;
use foretell_sim::netsim::{
    Bottleneck, Conditions, Fate, HostClock, IN_FLIGHT_MAX, Link, LinkStats, Loss, Ordering, Reordering, SplitMix64,
};

/// How many datagrams a run sends.
const SENT: u64 = 100_000;

/// The time between two datagrams unless a test says otherwise: 100 a second.
const SPACING: Duration = Duration::from_millis(10);

/// The bytes of a datagram.
const BYTES: [u8; 100] = [7; 100];

/// What came out of a link.
#[derive(PartialEq, Debug)]
struct Run {
    /// The number and delay of each datagram, in the order of arrival.
    arrivals: Vec<(u64, Duration)>,
    stats: LinkStats,
}

/// A datagram each `spacing` under the same conditions, received at the instant at which it is due.
fn run(conditions: &Conditions, spacing: Duration, (loss_seed, delay_seed): (u64, u64)) -> Run {
    let mut link = Link::new(loss_seed, delay_seed);
    let mut arrivals = Vec::new();
    let mut receive_until = |link: &mut Link, end: Instant| {
        while let Some(due) = link.next_due().filter(|due| *due < end) {
            let datagram = link.receive(due).expect("it is due");
            assert_eq!((datagram.due, datagram.bytes), (due, &BYTES[..]));
            arrivals.push((datagram.number, datagram.due.since(datagram.sent)));
        }
    };
    let mut now = Instant::ZERO;
    for _ in 0..SENT {
        receive_until(&mut link, now);
        link.send(now, &BYTES, conditions);
        now = now + spacing;
    }
    receive_until(&mut link, Instant::from_micros(u64::MAX));
    Run { arrivals, stats: *link.stats() }
}

fn run_default(conditions: &Conditions) -> Run {
    run(conditions, SPACING, (1, 4))
}

/// Whether `measured` lies within five standard deviations of `expected`; the deviation must not be zero.
#[track_caller]
fn assert_within_5_sigma(measured: f64, expected: f64, sigma: f64) {
    assert!(sigma > 0.0, "a statistic without a deviation is to be compared exactly");
    let distance = (measured - expected).abs() / sigma;
    assert!(distance <= 5.0, "{measured} is {distance:.1} sigma from {expected}");
}

/// The standard deviation of a share that is counted over `trials` independent trials.
fn sigma_of_share(p: f64, trials: u64) -> f64 {
    (p * (1.0 - p) / trials as f64).sqrt()
}

fn share(count: u64) -> f64 {
    count as f64 / SENT as f64
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The mean and the standard deviation of the delays, in seconds.
fn mean_and_deviation(run: &Run) -> (f64, f64) {
    let seconds = || run.arrivals.iter().map(|(_, delay)| delay.as_secs_f64());
    let count = run.arrivals.len() as f64;
    let mean = seconds().sum::<f64>() / count;
    let variance = seconds().map(|delay| (delay - mean) * (delay - mean)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// Whether the numbers arrive in ascending order, copies beside their originals.
fn in_order(run: &Run) -> bool {
    run.arrivals.is_sorted_by_key(|(number, _)| number)
}

/// The number of bursts: runs of consecutive numbers that never arrived. Needs arrivals in order.
fn bursts(run: &Run) -> u64 {
    let numbers = run.arrivals.iter().map(|(number, _)| *number).chain([SENT]);
    let mut next = 0;
    let mut bursts = 0;
    for number in numbers {
        bursts += u64::from(number > next);
        next = number + 1;
    }
    bursts
}

#[test]
fn a_perfect_link_delivers_everything_at_once_and_in_order() {
    let run = run_default(&Conditions::default());
    let numbers: Vec<u64> = run.arrivals.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (0..SENT).collect::<Vec<_>>());
    assert_eq!(mean_and_deviation(&run), (0.0, 0.0));
    let bytes = SENT * BYTES.len() as u64;
    let all =
        LinkStats { sent: SENT, delivered: SENT, bytes_sent: bytes, bytes_delivered: bytes, ..Default::default() };
    assert_eq!(run.stats, all);
}

#[test]
fn delays_have_the_mean_and_the_deviation_of_latency_and_jitter() {
    let run = run_default(&Conditions { latency: millis(50), jitter: millis(40), ..Default::default() });
    let (mean, deviation) = mean_and_deviation(&run);
    let count = SENT as f64;
    // Uniform over [0, w]: variance w^2 / 12, fourth central moment w^4 / 80; hence the variance of a measured
    // variance is (1/80 - 1/144) w^4 / n = w^4 / (180 n), and that of the deviation follows by its derivative.
    let width = 0.040;
    let sigma = width / 12_f64.sqrt();
    assert_within_5_sigma(mean, 0.050 + width / 2.0, sigma / count.sqrt());
    assert_within_5_sigma(deviation, sigma, width * width / (180.0 * count).sqrt() / (2.0 * sigma));
    let delays = || run.arrivals.iter().map(|(_, delay)| *delay);
    assert!(delays().min() >= Some(millis(50)) && delays().max() <= Some(millis(90)));
}

#[test]
fn jitter_reorders_what_is_sent_closer_together() {
    let jitter = Conditions { jitter: millis(15), ..Default::default() };
    assert!(!in_order(&run(&jitter, millis(10), (1, 4))));
    assert!(in_order(&run(&jitter, millis(15), (1, 4))));
}

#[test]
fn a_fifo_link_never_reorders() {
    let conditions = Conditions {
        latency: millis(50),
        jitter: millis(40),
        ordering: Ordering::Fifo,
        duplicates: 0.1,
        reordering: Reordering { rate: 0.1, ..Default::default() },
        ..Default::default()
    };
    let fifo = run_default(&conditions);
    assert!(in_order(&fifo));
    assert_eq!(fifo.stats.reordered, 0);
    assert!(fifo.stats.held_back > 0 && fifo.stats.duplicated > 0);
    // The same draws without the order: the faults were there.
    assert!(run_default(&Conditions { ordering: Ordering::Independent, ..conditions }).stats.reordered > 0);
}

#[test]
fn a_fifo_link_keeps_the_order_when_its_latency_falls() {
    let mut link = Link::new(1, 4);
    let fifo = |latency| Conditions { latency, ordering: Ordering::Fifo, ..Default::default() };
    link.send(Instant::ZERO, b"slow", &fifo(millis(500)));
    link.send(Instant::from_micros(1), b"fast", &fifo(millis(1)));
    let end = Instant::ZERO + millis(500);
    assert_eq!(link.next_due(), Some(end));
    assert_eq!(link.receive(end).map(|datagram| datagram.bytes), Some(&b"slow"[..]));
    assert_eq!(link.receive(end).map(|datagram| datagram.bytes), Some(&b"fast"[..]));
}

#[test]
fn uniform_losses_have_the_rate_asked_for() {
    for rate in [0.001, 0.1, 0.25, 0.9] {
        let run = run_default(&Conditions { loss: Loss::Uniform(rate), ..Default::default() });
        assert_within_5_sigma(share(run.stats.lost), rate, sigma_of_share(rate, SENT));
        // Independent losses come in bursts of a mean length of 1 / (1 - rate), the number of which has at most the
        // variance of independent trials.
        let starts = rate * (1.0 - rate);
        assert_within_5_sigma(share(bursts(&run)), starts, sigma_of_share(starts, SENT));
    }
    let everything = run_default(&Conditions { loss: Loss::Uniform(1.0), ..Default::default() });
    assert_eq!((everything.stats.lost, everything.arrivals.len()), (SENT, 0));
}

#[test]
fn bursts_have_the_rate_and_the_mean_length_asked_for() {
    for (rate, mean_length) in [(0.05, 4.0), (0.2, 10.0), (0.01, 2.0), (0.5, 1.5)] {
        let run = run_default(&Conditions { loss: Loss::Bursts { rate, mean_length }, ..Default::default() });
        // A chain of two states with the eigenvalue `memory`: the variance of a share grows by (1 + memory) / (1 -
        // memory). The lengths are geometric: their variance is L (L - 1).
        let memory = 1.0 - 1.0 / mean_length - rate / (1.0 - rate) / mean_length;
        let sigma = sigma_of_share(rate, SENT) * ((1.0 + memory) / (1.0 - memory)).sqrt();
        assert_within_5_sigma(share(run.stats.lost), rate, sigma);
        let bursts = bursts(&run) as f64;
        let sigma = (mean_length * (mean_length - 1.0) / bursts).sqrt();
        assert_within_5_sigma(run.stats.lost as f64 / bursts, mean_length, sigma);
    }
}

#[test]
fn bursts_have_their_rate_from_the_first_datagram_on() {
    let conditions = Conditions { loss: Loss::Bursts { rate: 0.2, mean_length: 10.0 }, ..Default::default() };
    let seeds = 10_000;
    let mut lost = 0;
    for seed in 0..seeds {
        let mut link = Link::new(seed, 4);
        link.send(Instant::ZERO, &[], &conditions);
        lost += link.stats().lost;
    }
    assert_within_5_sigma(lost as f64 / seeds as f64, 0.2, sigma_of_share(0.2, seeds));
}

#[test]
fn bursts_of_one_are_never_two_losses_in_a_row() {
    let run = run_default(&Conditions { loss: Loss::Bursts { rate: 0.3, mean_length: 1.0 }, ..Default::default() });
    assert_eq!(bursts(&run), run.stats.lost);
    assert!(run.stats.lost > 0);
}

#[test]
fn duplicates_have_the_rate_asked_for_and_a_delay_of_their_own() {
    let conditions = Conditions { jitter: millis(5), duplicates: 0.1, ..Default::default() };
    let run = run_default(&conditions);
    assert_within_5_sigma(share(run.stats.duplicated), 0.1, sigma_of_share(0.1, SENT));
    assert_eq!(run.stats.delivered, SENT + run.stats.duplicated);
    // With less jitter than spacing a copy arrives beside its original, at the same microsecond 1 time in 5001.
    let copies = || run.arrivals.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    assert_eq!(copies().count() as u64, run.stats.duplicated);
    let apart = copies().filter(|pair| pair[0].1 != pair[1].1).count() as f64;
    assert!(apart / run.stats.duplicated as f64 > 0.99);
}

#[test]
fn reordering_has_the_rate_asked_for() {
    let reordering = Reordering { rate: 0.1, hold: millis(15) };
    let run = run_default(&Conditions { latency: millis(50), reordering, ..Default::default() });
    assert_within_5_sigma(share(run.stats.held_back), 0.1, sigma_of_share(0.1, SENT));
    // 15 ms are longer than one spacing and shorter than two: a datagram is overtaken if it is held back and the next
    // one is not. Neighbours exclude each other, so the variance is at most that of independent trials.
    let overtaken = 0.1 * 0.9;
    assert_within_5_sigma(share(run.stats.reordered), overtaken, sigma_of_share(overtaken, SENT));
    let held_back = run.arrivals.iter().filter(|(_, delay)| *delay == millis(65)).count() as u64;
    assert_eq!(held_back, run.stats.held_back);
    assert!(run.arrivals.iter().all(|(_, delay)| *delay == millis(50) || *delay == millis(65)));
}

#[test]
fn a_rate_limit_that_is_not_reached_costs_the_time_of_the_bytes_alone() {
    // 100 bytes each 10 ms are 10 kB/s; at 20 kB/s one takes 5 ms.
    let bottleneck = Some(Bottleneck::rate(20_000, 1_500));
    let run = run_default(&Conditions { latency: millis(50), bottleneck, ..Default::default() });
    assert!(run.arrivals.iter().all(|(_, delay)| *delay == millis(55)));
    assert_eq!(run.stats.delivered, SENT);
}

#[test]
fn a_rate_limit_that_is_exceeded_fills_its_queue_and_drops_the_rest() {
    // 100 bytes each millisecond are 100 kB/s, twice the limit; a queue of 2000 bytes is 40 ms long.
    let bottleneck = Some(Bottleneck::rate(50_000, 2_000));
    let run = run(&Conditions { bottleneck, ..Default::default() }, millis(1), (1, 4));
    // What goes through is the rate, give or take what the queue holds at the end.
    let seconds = SENT as f64 / 1000.0;
    let through = run.stats.bytes_delivered as f64 - 50_000.0 * seconds;
    assert!((0.0..=2_000.0).contains(&through), "{through} bytes more than the rate");
    assert_eq!(run.stats.delivered + run.stats.dropped_by_queue, SENT);
    // Once the queue is full, whoever gets in waits for all of it, less the room of one datagram (2 ms).
    let full = &run.arrivals[100..];
    assert!(full.iter().all(|(_, delay)| *delay > millis(38) && *delay <= millis(40)));
    assert!(in_order(&run));
}

/// Conditions with every fault at once.
fn dreadful() -> Conditions {
    Conditions {
        latency: millis(75),
        jitter: millis(60),
        loss: Loss::Bursts { rate: 0.1, mean_length: 3.0 },
        duplicates: 0.1,
        reordering: Reordering { rate: 0.05, ..Default::default() },
        bottleneck: Some(Bottleneck::rate(9_000, 4_000)),
        ..Default::default()
    }
}

#[test]
fn the_same_seeds_give_the_same_deliveries() {
    assert_eq!(run(&dreadful(), SPACING, (1, 4)), run(&dreadful(), SPACING, (1, 4)));
    assert_ne!(run(&dreadful(), SPACING, (1, 4)), run(&dreadful(), SPACING, (1, 5)));
    assert_ne!(run(&dreadful(), SPACING, (1, 4)), run(&dreadful(), SPACING, (2, 4)));
}

#[test]
fn jitter_duplicates_and_reordering_do_not_change_what_is_lost() {
    let arrived = |run: Run| {
        let mut numbers: Vec<u64> = run.arrivals.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    for loss in [Loss::Uniform(0.1), Loss::Bursts { rate: 0.1, mean_length: 3.0 }] {
        let plain = arrived(run_default(&Conditions { loss, ..Default::default() }));
        assert!(plain.len() < SENT as usize);
        assert_eq!(arrived(run_default(&Conditions { loss, bottleneck: None, ..dreadful() })), plain);
    }
}

/// The draws as the link's documentation states them, a second time: (due, number, copy) of everything that arrives.
fn stated_draws(conditions: &Conditions, rate: f64) -> Vec<(u64, u64, bool)> {
    let (mut loss, mut delay) = (SplitMix64::new(1), SplitMix64::new(4));
    let micros = |time: Duration| time.as_micros() as u64;
    let mut due = Vec::new();
    for number in 0..SENT {
        if loss.next_f64() < rate {
            continue;
        }
        let earliest = number * micros(SPACING) + micros(conditions.latency);
        let jitter = delay.next_u64() % (micros(conditions.jitter) + 1);
        if delay.next_f64() < conditions.duplicates {
            due.push((earliest + delay.next_u64() % (micros(conditions.jitter) + 1), number, true));
        }
        let held_back = delay.next_f64() < conditions.reordering.rate;
        let hold = if held_back { micros(conditions.reordering.hold) } else { 0 };
        due.push((earliest + jitter + hold, number, false));
    }
    due.sort_unstable();
    due
}

#[test]
fn a_link_takes_its_draws_in_the_order_stated() {
    let conditions = Conditions { loss: Loss::Uniform(0.1), bottleneck: None, ..dreadful() };
    let stated = stated_draws(&conditions, 0.1).into_iter().map(|(due, number, _)| (number, due));
    let sent = |number: u64| Instant::ZERO + SPACING * u32::try_from(number).expect("few are sent");
    let arrivals = run_default(&conditions).arrivals;
    let drawn = arrivals.into_iter().map(|(number, delay)| (number, (sent(number) + delay).micros()));
    assert!(drawn.eq(stated));
}

#[test]
fn conditions_may_change_with_every_datagram_and_each_is_accounted_for() {
    let mut link = Link::new(1, 4);
    let mut now = Instant::ZERO;
    let mut received = 0;
    for number in 0..SENT {
        let mut conditions = if number / 300 % 3 == 0 { dreadful() } else { Conditions::default() };
        conditions.latency = millis(number / 100 % 500);
        conditions.ordering = if number / 1000 % 2 == 0 { Ordering::Independent } else { Ordering::Fifo };
        link.send(now, &BYTES, &conditions);
        now = now + millis(1);
        if number % 50 == 0 {
            while link.receive(now).is_some() {
                received += 1;
            }
        }
    }
    let stats = *link.stats();
    assert_eq!(stats.delivered, received);
    let gone = stats.lost + stats.dropped_by_queue + stats.dropped_in_flight + stats.delivered;
    assert_eq!(stats.sent + stats.duplicated, gone + link.in_flight() as u64);
    assert!(stats.lost.min(stats.dropped_by_queue).min(stats.held_back).min(stats.reordered) > 0);
}

#[test]
fn what_is_told_at_sending_is_what_comes() {
    let mut link = Link::new(1, 4);
    let (mut told, mut came) = (Vec::new(), Vec::new());
    let mut gone = 0;
    for number in 0..SENT {
        let now = Instant::ZERO + SPACING * u32::try_from(number).expect("few are sent");
        match link.send(now, &[0; 200], &dreadful()) {
            Fate::Arrives(due) => told.push((number, due)),
            Fate::Lost | Fate::Dropped => gone += 1,
        }
        while let Some(delivery) = link.receive(now) {
            came.push((delivery.number, delivery.due));
        }
    }
    while let Some(delivery) = link.receive(Instant::from_micros(u64::MAX)) {
        came.push((delivery.number, delivery.due));
    }
    // Of a datagram and its copy the earlier one.
    came.sort_unstable();
    came.dedup_by_key(|(number, _)| *number);
    assert_eq!(told, came);
    assert!(gone > 0 && gone == link.stats().lost + link.stats().dropped_by_queue);
}

#[test]
fn what_is_in_flight_is_bounded() {
    let mut link = Link::new(1, 4);
    let conditions = Conditions { latency: millis(100), duplicates: 1.0, ..Default::default() };
    for _ in 0..IN_FLIGHT_MAX {
        link.send(Instant::ZERO, &BYTES, &conditions);
    }
    assert_eq!(link.in_flight(), IN_FLIGHT_MAX);
    assert_eq!(link.stats().dropped_in_flight, IN_FLIGHT_MAX as u64);
}

#[test]
#[should_panic(expected = "the conditions of a link must be valid: duplicates must be from 0 to 1")]
fn invalid_conditions_are_refused() {
    Link::new(1, 4).send(Instant::ZERO, &BYTES, &Conditions { duplicates: 1.5, ..Default::default() });
}

#[test]
fn a_host_whose_clock_is_fast_measures_longer_intervals() {
    let (sender, receiver) = (HostClock::default(), HostClock::new(Duration::from_secs(1000), 10_000));
    let mut link = Link::new(1, 4);
    let conditions = Conditions { latency: millis(50), ..Default::default() };
    let mut readings = Vec::new();
    for second in 0..=100 {
        let now = Instant::ZERO + Duration::from_secs(second);
        link.send(now, &BYTES, &conditions);
        let arrival = link.next_due().expect("it is in flight");
        link.receive(arrival).expect("it is due");
        readings.push((sender.read(now), receiver.read(arrival)));
    }
    let ((sent_first, got_first), (sent_last, got_last)) = (readings[0], readings[100]);
    assert_eq!(got_first - sent_first, (Instant::ZERO + Duration::from_micros(1_000_050_500)) - Instant::ZERO);
    assert_eq!((sent_last.since(sent_first), got_last.since(got_first)), (millis(100_000), millis(101_000)));
}

#[test]
fn datagrams_wait_for_a_host_that_stalls() {
    let mut host = HostClock::default();
    host.stall(Instant::ZERO + millis(1_000), millis(2_000));
    let mut link = Link::new(1, 4);
    let conditions = Conditions { latency: millis(5), ..Default::default() };
    let mut received = Vec::new();
    for frame in 0..400 {
        let now = Instant::ZERO + SPACING * frame;
        link.send(now, &BYTES, &conditions);
        if !host.is_stalled(now) {
            received.push(core::iter::from_fn(|| link.receive(now).map(|_| ())).count());
        }
    }
    // Frames 100 to 299 did not run; frame 300 finds what they would have found, and its own.
    assert_eq!(received.len(), 200);
    let bursts: Vec<_> = received.iter().enumerate().filter(|(_, count)| **count > 1).collect();
    assert_eq!(bursts, [(100, &201)]);
}
