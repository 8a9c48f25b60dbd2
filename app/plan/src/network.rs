//! Networks by their figures, and what they mean to simulated links.

use super::recorded::RecordedLink;
use core::time::Duration;
use foretell_sim::netsim::{Bottleneck, Capacity, Conditions, Loss, Ordering, QueueLimit, Reordering, SplitMix64};

/// A network, the same in both directions but for what says otherwise. The default is a perfect one.
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    /// The delay of every datagram, one way, in ms: 0 to 10,000.
    pub latency_ms: f64,
    /// That of what the server sends, where it is another.
    pub latency_down_ms: Option<f64>,
    /// Up to so much more, uniformly, in ms: 0 to 10,000.
    pub jitter_ms: f64,
    /// Whether jitter lets datagrams overtake each other. Default fifo, as on most real paths.
    pub ordering: Ordering,
    /// The share that is lost, 0 to 1; in bursts at most `burst_length / (1 + burst_length)`.
    pub loss: f64,
    /// How many in a row are lost, on average: 1 to 1000; 1 is independent loss, more is Gilbert-Elliott.
    pub burst_length: f64,
    /// The share that arrives twice, 0 to 1.
    pub duplicates: f64,
    /// The share that is held back by 70 ms, 0 to 1.
    pub reordering: f64,
    /// How many kbit/s pass, 8 to 1,000,000; 0 for any number. Where there is a trace it says what passes.
    pub rate_kbps: u32,
    /// What passes when, as it was recorded or made up. Default none.
    pub trace: Option<RecordedLink>,
    /// That of what the server sends, where it is another.
    pub trace_down: Option<RecordedLink>,
    /// How many bytes wait at most for their turn, 1,500 to 16 MiB. Default what passes in half a second, of a trace on
    /// average, within that range.
    pub queue_bytes: Option<u32>,
    /// How many datagrams wait at most, 1 to 4096. Default 4096.
    pub queue_datagrams: Option<u32>,
    /// For so many seconds there is neither jitter nor loss, then for as many there are, and so on: 1 to 3600; 0 for a
    /// network that does not change.
    pub calm_s: u32,
}

impl Default for Network {
    fn default() -> Network {
        Network {
            latency_ms: 0.0,
            latency_down_ms: None,
            jitter_ms: 0.0,
            ordering: Ordering::Fifo,
            loss: 0.0,
            burst_length: 1.0,
            duplicates: 0.0,
            reordering: 0.0,
            rate_kbps: 0,
            trace: None,
            trace_down: None,
            queue_bytes: None,
            queue_datagrams: None,
            calm_s: 0,
        }
    }
}

impl Network {
    /// Whether it is the same in both directions and at any time, so that its conditions are all there is to it.
    pub fn is_plain(&self) -> bool {
        self.latency_down_ms.is_none() && self.calm_s == 0 && self.trace.is_none() && self.trace_down.is_none()
    }

    /// The conditions of the way to the server and of the way back, so many seconds after the start, for a player of a
    /// run: traces are played from a place that is a function of the run's seed and of the player, the same for both
    /// directions, so that not everybody has an outage at once.
    pub fn conditions_at(&self, second: u64, seed: u64, player: usize) -> [Conditions; 2] {
        let start = self.start_in_trace(seed, player);
        let is_calm = second.checked_div(u64::from(self.calm_s)).is_some_and(|turn| turn.is_multiple_of(2));
        let up = match self.conditions() {
            full if !is_calm => full,
            full => Conditions { jitter: Duration::ZERO, loss: Loss::default(), ..full },
        };
        let down = Conditions {
            latency: Duration::from_secs_f64(self.latency_down_ms.unwrap_or(self.latency_ms) / 1000.0),
            bottleneck: self.bottleneck(self.trace_down.as_ref().or(self.trace.as_ref()), start),
            ..up.clone()
        };
        [Conditions { bottleneck: self.bottleneck(self.trace.as_ref(), start), ..up }, down]
    }

    /// The conditions of the way to the server, while it is not calm; of a trace from its beginning.
    pub fn conditions(&self) -> Conditions {
        let (rate, mean_length) = (self.loss, self.burst_length);
        Conditions {
            latency: Duration::from_secs_f64(self.latency_ms / 1000.0),
            jitter: Duration::from_secs_f64(self.jitter_ms / 1000.0),
            ordering: self.ordering,
            loss: if mean_length > 1.0 { Loss::Bursts { rate, mean_length } } else { Loss::Uniform(rate) },
            duplicates: self.duplicates,
            reordering: Reordering { rate: self.reordering, ..Reordering::default() },
            bottleneck: self.bottleneck(self.trace.as_ref(), Duration::ZERO),
        }
    }

    fn start_in_trace(&self, seed: u64, player: usize) -> Duration {
        let traces = self.trace.iter().chain(&self.trace_down);
        let Some(length) = traces.map(|link| link.trace.length()).min() else { return Duration::ZERO };
        let drawn = SplitMix64::new(seed ^ (player as u64) << 48).next_u64();
        Duration::from_millis(drawn % u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
    }

    fn bottleneck(&self, recorded: Option<&RecordedLink>, start: Duration) -> Option<Bottleneck> {
        let (capacity, bytes_per_s) = match recorded {
            Some(RecordedLink { trace, .. }) => (Capacity::Trace { trace: trace.clone(), start }, trace.bytes_per_s()),
            None if self.rate_kbps == 0 => return None,
            None => {
                let bytes_per_s = self.rate_kbps.saturating_mul(125);
                (Capacity::Rate { bytes_per_s }, u64::from(bytes_per_s))
            }
        };
        let or = QueueLimit::default();
        let half_a_second = u32::try_from(bytes_per_s / 2).unwrap_or(or.bytes).clamp(1_500, or.bytes);
        let bytes = self.queue_bytes.unwrap_or(half_a_second);
        let datagrams = self.queue_datagrams.unwrap_or(or.datagrams);
        Some(Bottleneck { capacity, queue: QueueLimit { bytes, datagrams } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn a_network_may_differ_by_direction_and_change_with_time() {
        let text =
            "name = 'a'\n[network]\nlatency_ms = 20\nlatency_down_ms = 130\njitter_ms = 5\nloss = 0.1\ncalm_s = 10";
        let network = read("a.toml", text).expect("good").network;
        let at = |second| {
            network.conditions_at(second, 1, 0).map(|way| (way.latency.as_millis(), way.jitter.as_millis(), way.loss))
        };
        let (calm, rough) = (Loss::Uniform(0.0), Loss::Uniform(0.1));
        for second in [0, 9, 20] {
            assert_eq!(at(second), [(20, 0, calm), (130, 0, calm)]);
        }
        for second in [10, 19, 30] {
            assert_eq!(at(second), [(20, 5, rough), (130, 5, rough)]);
        }
        let plain = Network { latency_ms: 20.0, loss: 0.1, ..Network::default() };
        assert_eq!(plain.conditions_at(5, 1, 0), [plain.conditions(), plain.conditions()]);
        assert!(plain.is_plain() && !network.is_plain());
    }

    #[test]
    fn loss_is_in_bursts_from_a_length_above_one() {
        let network = Network { loss: 0.1, ..Network::default() };
        assert_eq!(network.conditions().loss, Loss::Uniform(0.1));
        let network = Network { burst_length: 4.0, ..network };
        assert_eq!(network.conditions().loss, Loss::Bursts { rate: 0.1, mean_length: 4.0 });
    }

    #[test]
    fn each_player_begins_at_a_place_of_the_traces_that_the_seed_says_and_the_same_both_ways() {
        let text = "name = 'a'\n[network]\ncellular = 'umts'\nqueue_datagrams = 7";
        let network = read("a.toml", text).expect("good").network;
        assert!(!network.is_plain());
        let start = |seed, player| {
            let starts = network.conditions_at(3, seed, player).map(|way| match way.bottleneck {
                Some(Bottleneck { capacity: Capacity::Trace { start, .. }, queue }) => (start, queue.datagrams),
                other => panic!("it is no trace: {other:?}"),
            });
            assert_eq!(starts[0], starts[1]);
            assert!(starts[0].0 < Duration::from_secs(300) && starts[0].1 == 7, "{starts:?}");
            starts[0].0
        };
        assert_eq!(start(1, 0), start(1, 0));
        let all = [start(1, 0), start(1, 1), start(2, 0), start(2, 1)];
        assert!((0..4).all(|one| (0..one).all(|other| all[one] != all[other])), "{all:?}");
    }

    #[test]
    fn the_queue_is_half_a_second_long_unless_it_is_said() {
        let queue = |more: &str| {
            let network = read("a.toml", &format!("name = 'a'\n[network]\n{more}")).expect("good").network;
            network.conditions().bottleneck.map(|bottleneck| bottleneck.queue)
        };
        assert_eq!(queue(""), None);
        assert_eq!(queue("rate_kbps = 2000"), Some(QueueLimit::of_bytes(125_000)));
        assert_eq!(queue("rate_kbps = 8"), Some(QueueLimit::of_bytes(1_500)));
        let said = QueueLimit { bytes: 6_000, datagrams: 20 };
        assert_eq!(queue("rate_kbps = 2000\nqueue_bytes = 6000\nqueue_datagrams = 20"), Some(said));
        let umts = queue("cellular = 'umts'").expect("a trace").bytes;
        assert!((40_000..80_000).contains(&umts), "half a second of 940 kbit/s are 59 kB: {umts}");
    }
}
