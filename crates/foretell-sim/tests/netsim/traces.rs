//! Recorded and synthetic links: what leaves when, against a second way to reckon it, and whether the synthetic ones are like
//! those that they imitate.

use core::time::Duration;
use foretell::Instant;
use foretell_sim::netsim::{Bottleneck, Capacity, Cellular, Conditions, Fate, Link, Ordering, QueueLimit, Trace};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// What leaves at one opportunity, in bytes, said a second time.
const OPPORTUNITY_BYTES: u64 = 1_500;

/// A datagram that is given to a link.
#[derive(Clone, Copy, Debug)]
struct Given {
    at_us: u64,
    bytes: usize,
}

fn any_trace() -> impl Strategy<Value = Trace> {
    let gap = prop_oneof![3 => Just(0_u32), 5 => 1..20_u32, 1 => 20..400_u32];
    prop::collection::vec(gap, 1..60).prop_map(|gaps| {
        let mut ms = 0;
        let lines = gaps.iter().map(|gap| {
            ms += gap;
            format!("{ms}\n")
        });
        let lines: String = lines.collect();
        Trace::parse(lines.as_bytes()).or_else(|_| Trace::parse(b"1")).expect("it has a length")
    })
}

fn any_traffic() -> impl Strategy<Value = Vec<Given>> {
    let gap_us = prop_oneof![2 => Just(0_u64), 5 => 1..20_000_u64, 2 => (1..40_u64).prop_map(|ms| ms * 1_000)];
    let bytes = prop_oneof![1 => Just(1_500_usize), 3 => 1..200_usize, 2 => 200..1_500_usize, 1 => 1_501..5_000_usize];
    prop::collection::vec((gap_us, bytes), 1..150).prop_map(|given| {
        let mut at_us = 0;
        let next = |(gap_us, bytes)| {
            at_us += gap_us;
            Given { at_us, bytes }
        };
        given.into_iter().map(next).collect()
    })
}

/// A link as Mahimahi's `mm-link` plays it, an opportunity after the other; its own queue holds what is just leaving too.
struct OneByOne<'a> {
    lines: &'a [u32],
    limit: QueueLimit,
    /// The index of the next opportunity, repeats included.
    next: usize,
    /// The number of each datagram that waits, and how many bytes of it have not left.
    waiting: VecDeque<(usize, usize)>,
    /// When each datagram has left; `None` for those that did not fit, and while they wait.
    left_us: Vec<Option<u64>>,
}

impl OneByOne<'_> {
    fn opportunity_us(&self) -> u64 {
        let repeats = (self.next / self.lines.len()) as u64;
        let length = u64::from(*self.lines.last().expect("there are some"));
        (repeats * length + u64::from(self.lines[self.next % self.lines.len()])) * 1_000
    }

    fn play_until(&mut self, until_us: u64) {
        while self.opportunity_us() <= until_us {
            let (now_us, mut room) = (self.opportunity_us(), OPPORTUNITY_BYTES as usize);
            while let Some((number, bytes)) = self.waiting.front_mut().filter(|_| room > 0) {
                let leaves = room.min(*bytes);
                (room, *bytes) = (room - leaves, *bytes - leaves);
                if *bytes == 0 {
                    self.left_us[*number] = Some(now_us);
                    self.waiting.pop_front();
                }
            }
            self.next += 1;
        }
    }

    fn give(&mut self, given: Given) {
        self.play_until(given.at_us);
        let backlog: usize = self.waiting.iter().map(|(_, bytes)| bytes).sum();
        let fits = backlog + given.bytes <= self.limit.bytes as usize;
        if fits && self.waiting.len() < self.limit.datagrams as usize {
            self.waiting.push_back((self.left_us.len(), given.bytes));
        }
        self.left_us.push(None);
    }
}

/// When each of these has left, in microseconds: `None` for what did not fit.
fn one_by_one(trace: &Trace, limit: QueueLimit, traffic: &[Given]) -> Vec<Option<u64>> {
    let lines = trace.opportunities_ms();
    let mut link = OneByOne { lines, limit, next: 0, waiting: VecDeque::new(), left_us: Vec::new() };
    traffic.iter().for_each(|given| link.give(*given));
    while !link.waiting.is_empty() {
        link.play_until(link.opportunity_us());
    }
    link.left_us
}

/// The same of a link.
fn of_link(conditions: &Conditions, traffic: &[Given]) -> Vec<Option<u64>> {
    let mut link = Link::new(1, 4);
    let send = |given: &Given| {
        let fate = link.send(Instant::from_micros(given.at_us), &vec![0; given.bytes], conditions);
        match fate {
            Fate::Arrives(at) => Some(at.micros()),
            Fate::Dropped => None,
            Fate::Lost => panic!("nothing is lost"),
        }
    };
    traffic.iter().map(send).collect()
}

fn over(trace: &Trace, queue: QueueLimit) -> Conditions {
    let capacity = Capacity::Trace { trace: Arc::new(trace.clone()), start: Duration::ZERO };
    Conditions { bottleneck: Some(Bottleneck { capacity, queue }), ..Conditions::default() }
}

/// How many opportunities a trace has after one moment and up to another, repeats included.
fn opportunities(trace: &Trace, after_us: u64, until_us: u64) -> u64 {
    let length = u64::from(*trace.opportunities_ms().last().expect("there are some"));
    let repeats = 0..=until_us / 1_000 / length;
    let all = repeats
        .flat_map(|repeat| trace.opportunities_ms().iter().map(move |ms| (repeat * length + u64::from(*ms)) * 1_000));
    all.filter(|at| (after_us + 1..=until_us).contains(at)).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_recorded_link_does_what_one_does_that_is_played_an_opportunity_at_a_time(
        trace in any_trace(),
        traffic in any_traffic(),
        bytes in 1_500..20_000_u32,
        datagrams in 1..60_u32,
    ) {
        let queue = QueueLimit { bytes, datagrams };
        prop_assert_eq!(of_link(&over(&trace, queue), &traffic), one_by_one(&trace, queue, &traffic));
    }

    #[test]
    fn no_opportunity_takes_more_than_1500_bytes_order_is_kept_and_nothing_is_dropped_but_by_a_full_queue(
        trace in any_trace(),
        traffic in any_traffic(),
        bytes in 1_500..20_000_u32,
        datagrams in 1..60_u32,
    ) {
        let left = of_link(&over(&trace, QueueLimit { bytes, datagrams }), &traffic);
        let mut latest = 0;
        for (index, (given, left_us)) in traffic.iter().zip(&left).enumerate() {
            let before = || traffic.iter().zip(&left).take(index).filter_map(|(given, left)| Some((given, (*left)?)));
            let waits = || before().filter(|(_, left)| *left > given.at_us);
            let Some(left_us) = *left_us else {
                // What has begun to leave takes less of the queue than all of it.
                let waiting = waits().map(|(given, _)| given.bytes).sum::<usize>() + given.bytes;
                prop_assert!(waiting > bytes as usize || waits().count() >= datagrams as usize);
                continue;
            };
            prop_assert!(left_us > given.at_us && left_us >= latest, "{} after {}", left_us, latest);
            prop_assert!(waits().count() < datagrams as usize);
            latest = left_us;
            // From any moment on. Of what left after it, the first may have begun to leave before.
            for (_, from_us) in before().filter(|(_, from_us)| *from_us < left_us) {
                let later = || before().filter(|(_, left)| *left > from_us).map(|(given, _)| given.bytes);
                let since = || later().chain([given.bytes]);
                let (took, begun) = (since().sum::<usize>(), since().next().unwrap_or(1) - 1);
                let room = opportunities(&trace, from_us, left_us) * OPPORTUNITY_BYTES;
                prop_assert!(took as u64 <= room + begun as u64, "{took} bytes in room for {room} from {from_us}");
            }
            let all = before().map(|(given, _)| given.bytes).sum::<usize>() + given.bytes;
            prop_assert!(all as u64 <= opportunities(&trace, 0, left_us) * OPPORTUNITY_BYTES);
        }
    }

    #[test]
    fn whatever_a_trace_file_holds_reading_it_ends_in_a_trace_or_a_sentence(
        text in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(&b"0123456789\n"[..])], 0..200),
    ) {
        if let Err(error) = Trace::parse(&text) {
            prop_assert!(error.to_string().starts_with("line "));
        }
    }
}

#[test]
fn loss_latency_and_jitter_come_on_top_of_a_recorded_link() {
    let trace = Arc::new(Cellular::EVDO_DOWN.trace(3, Duration::from_secs(20)));
    let recorded = Conditions { bottleneck: Some(Bottleneck::trace(trace, 50_000)), ..Conditions::default() };
    let rough = Conditions {
        latency: Duration::from_millis(50),
        jitter: Duration::from_millis(10),
        ordering: Ordering::Fifo,
        ..recorded.clone()
    };
    let traffic: Vec<_> = (0..2_000).map(|number| Given { at_us: number * 15_625, bytes: 150 }).collect();
    let (plain, later) = (of_link(&recorded, &traffic), of_link(&rough, &traffic));
    let waits: Vec<_> = later.iter().zip(&plain).map(|(later, plain)| later.zip(*plain).map(|(a, b)| a - b)).collect();
    assert!(waits.iter().all(|wait| wait.is_some_and(|wait| (50_000..=60_000).contains(&wait))));
    assert!(later.is_sorted() && plain.iter().zip(&traffic).any(|(left, given)| *left > Some(given.at_us + 500_000)));
}

/// What a trace is like, second by second, and in gaps of 200 ms and more.
#[derive(Debug)]
struct Likeness {
    mean_mbps: f64,
    /// The rates of which 5 % and 95 % of the seconds are slower.
    slow_mbps: f64,
    fast_mbps: f64,
    gap_every_s: f64,
    gap_ms: f64,
}

impl Likeness {
    fn of(trace: &Trace) -> Likeness {
        let (lines, seconds) = (trace.opportunities_ms(), trace.length().as_secs_f64());
        let mut per_second = vec![0.0; seconds as usize];
        let mbps = OPPORTUNITY_BYTES as f64 * 8.0 / 1e6;
        lines.iter().filter_map(|ms| (*ms as usize).checked_div(1_000)).for_each(|second| {
            per_second.get_mut(second).into_iter().for_each(|rate| *rate += mbps);
        });
        per_second.sort_by(f64::total_cmp);
        let share = |share: f64| per_second[(per_second.len() as f64 * share) as usize];
        let gaps: Vec<_> =
            lines.windows(2).map(|pair| f64::from(pair[1] - pair[0])).filter(|gap| *gap >= 200.0).collect();
        Likeness {
            mean_mbps: per_second.iter().sum::<f64>() / seconds,
            slow_mbps: share(0.05),
            fast_mbps: share(0.95),
            gap_every_s: seconds / gaps.len() as f64,
            gap_ms: gaps.iter().sum::<f64>() / gaps.len() as f64,
        }
    }
}

#[test]
fn a_synthetic_trace_is_like_the_recording_that_it_imitates() {
    // As it stands in the table of `Cellular`.
    let like = |mean_mbps, fast_mbps, gap_every_s, gap_ms| Likeness {
        mean_mbps,
        slow_mbps: 0.0,
        fast_mbps,
        gap_every_s,
        gap_ms,
    };
    for (imitation, recorded) in [
        (Cellular::LTE_DOWN, like(5.2, 9.6, 11.0, 650.0)),
        (Cellular::LTE_UP, like(1.9, 5.0, 6.0, 815.0)),
        (Cellular::UMTS_DOWN, like(2.0, 5.4, 6.0, 734.0)),
        (Cellular::UMTS_UP, like(0.9, 1.4, 8.0, 812.0)),
        (Cellular::EVDO_DOWN, like(0.5, 1.5, 2.0, 486.0)),
        (Cellular::EVDO_UP, like(0.8, 1.3, 5.0, 586.0)),
    ] {
        for seed in 0..3 {
            let found = Likeness::of(&imitation.trace(seed, Duration::from_secs(1_000)));
            let near = |found: f64, recorded: f64| (0.7..=1.4).contains(&(found / recorded));
            let rates = near(found.mean_mbps, recorded.mean_mbps) && near(found.fast_mbps, recorded.fast_mbps);
            let gaps = near(found.gap_every_s, recorded.gap_every_s) && near(found.gap_ms, recorded.gap_ms);
            assert!(rates && gaps, "seed {seed}: {found:?} like {recorded:?}");
            assert!(found.slow_mbps < 0.4 * found.mean_mbps, "{found:?}");
        }
    }
}

#[test]
fn a_seed_is_one_trace_and_another_seed_another() {
    let trace = |seed| Cellular::UMTS_UP.trace(seed, Duration::from_secs(10));
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1), trace(2));
    assert_eq!(Trace::parse(trace(1).to_string().as_bytes()), Ok(trace(1)));
    // Golden: the same on every platform.
    let lines = trace(1);
    assert_eq!((lines.opportunities_ms().len(), &lines.opportunities_ms()[..5]), (480, &[3, 10, 16, 30, 44][..]));
}

#[test]
fn a_link_without_outages_and_wandering_has_the_rate_that_is_asked_for() {
    let steady = Cellular { wander_kbps: 0, outage: Duration::ZERO, ..Cellular::LTE_DOWN };
    let found = Likeness::of(&steady.trace(5, Duration::from_secs(300)));
    assert!((5.45..=5.55).contains(&found.mean_mbps), "{found:?}");
    let fastest = Cellular { mean_kbps: 48_000, peak_kbps: 48_000, ..steady };
    assert_eq!(fastest.trace(1, Duration::from_secs(1)).opportunities_ms().len(), 4_001);
    let dead = Cellular { mean_kbps: 0, ..steady };
    assert_eq!(dead.trace(1, Duration::from_secs(1)).opportunities_ms(), [1_000]);
}

#[test]
#[should_panic(expected = "the mean of 5500 kbit/s is at most the peak of 100")]
fn a_link_that_can_not_be_is_refused() {
    let _ = Cellular { peak_kbps: 100, ..Cellular::LTE_DOWN }.trace(1, Duration::from_secs(1));
}
