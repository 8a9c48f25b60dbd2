//! Networks by their figures, and what they mean to simulated links.

use core::time::Duration;
use foretell_sim::netsim::{Conditions, Loss, Ordering, RateLimit, Reordering};

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
    /// How many kbit/s pass, 8 to 1,000,000, with a queue of half a second; 0 for any number.
    pub rate_kbps: u32,
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
            calm_s: 0,
        }
    }
}

impl Network {
    /// Whether it is the same in both directions and at any time, so that its conditions are all there is to it.
    pub fn is_plain(&self) -> bool {
        self.latency_down_ms.is_none() && self.calm_s == 0
    }

    /// The conditions of the way to the server and of the way back, so many seconds after the start.
    pub fn conditions_at(&self, second: u64) -> [Conditions; 2] {
        let is_calm = second.checked_div(u64::from(self.calm_s)).is_some_and(|turn| turn.is_multiple_of(2));
        let up = match self.conditions() {
            full if !is_calm => full,
            full => Conditions { jitter: Duration::ZERO, loss: Loss::default(), ..full },
        };
        let down_ms = self.latency_down_ms.unwrap_or(self.latency_ms);
        [up, Conditions { latency: Duration::from_secs_f64(down_ms / 1000.0), ..up }]
    }

    /// The conditions of the way to the server, while it is not calm.
    pub fn conditions(&self) -> Conditions {
        let (rate, mean_length) = (self.loss, self.burst_length);
        Conditions {
            latency: Duration::from_secs_f64(self.latency_ms / 1000.0),
            jitter: Duration::from_secs_f64(self.jitter_ms / 1000.0),
            ordering: self.ordering,
            loss: if mean_length > 1.0 { Loss::Bursts { rate, mean_length } } else { Loss::Uniform(rate) },
            duplicates: self.duplicates,
            reordering: Reordering { rate: self.reordering, ..Reordering::default() },
            rate: (self.rate_kbps > 0).then(|| {
                let bytes_per_s = self.rate_kbps.saturating_mul(125);
                RateLimit { bytes_per_s, queue_bytes: (bytes_per_s / 2).clamp(1_500, 16_777_216) }
            }),
        }
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
            network.conditions_at(second).map(|way| (way.latency.as_millis(), way.jitter.as_millis(), way.loss))
        };
        let (calm, rough) = (Loss::Uniform(0.0), Loss::Uniform(0.1));
        for second in [0, 9, 20] {
            assert_eq!(at(second), [(20, 0, calm), (130, 0, calm)]);
        }
        for second in [10, 19, 30] {
            assert_eq!(at(second), [(20, 5, rough), (130, 5, rough)]);
        }
        let plain = Network { latency_ms: 20.0, loss: 0.1, ..Network::default() };
        assert_eq!(plain.conditions_at(5), [plain.conditions(); 2]);
        assert!(plain.is_plain() && !network.is_plain());
    }

    #[test]
    fn loss_is_in_bursts_from_a_length_above_one() {
        let network = Network { loss: 0.1, ..Network::default() };
        assert_eq!(network.conditions().loss, Loss::Uniform(0.1));
        let network = Network { burst_length: 4.0, ..network };
        assert_eq!(network.conditions().loss, Loss::Bursts { rate: 0.1, mean_length: 4.0 });
    }
}
