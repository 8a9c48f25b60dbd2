//! The server's own figures, as it tells them to Prometheus.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What the server has told, and when.
pub struct Scrape {
    at: Instant,
    values: BTreeMap<String, f64>,
}

impl Scrape {
    /// Asks for the metrics at `url`.
    pub async fn read(url: &str) -> Result<Scrape> {
        let asked = url.to_owned();
        let text = tokio::task::spawn_blocking(move || ureq::get(&asked).call()?.body_mut().read_to_string()).await?;
        let text = text.with_context(|| format!("{url} does not answer"))?;
        Ok(Scrape { at: Instant::now(), values: read(&text) })
    }

    /// What came in between; counters alone mean something in it.
    pub fn since(mut self, earlier: &Scrape) -> Server {
        let lasted = self.at - earlier.at;
        for (name, value) in &mut self.values {
            if !name.ends_with("memory_bytes") {
                *value -= earlier.values.get(name).copied().unwrap_or(0.0);
            }
        }
        Server { lasted, values: self.values }
    }
}

/// The server while the bots were measured.
pub struct Server {
    pub lasted: Duration,
    values: BTreeMap<String, f64>,
}

impl Server {
    /// A figure by its name without `foretell_`; zero when the server does not tell it.
    pub fn get(&self, name: &str) -> f64 {
        self.values.get(&format!("foretell_{name}")).copied().unwrap_or(0.0)
    }

    /// What so great a share of the ticks took at most, in milliseconds.
    pub fn tick_ms(&self, share: f64) -> f64 {
        const BUCKET: &str = "foretell_tick_seconds_bucket{le=\"";
        let wanted = self.get("tick_seconds_count") * share;
        let bins = self.values.iter().filter_map(|(name, sum)| {
            let edge = name.strip_prefix(BUCKET)?.strip_suffix("\"}")?.parse::<f64>().ok()?;
            (*sum >= wanted).then_some(edge)
        });
        bins.fold(f64::INFINITY, f64::min) * 1e3
    }
}

/// Each line's name, with its labels, and value.
fn read(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.rsplit_once(' ').and_then(|(name, value)| Some((name.into(), value.parse().ok()?))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrape(fast: u32, slow: u32) -> Scrape {
        let text = format!(
            "# TYPE foretell_tick_seconds histogram\nforetell_tick_seconds_count {}\n\
             foretell_tick_seconds_bucket{{le=\"0.001\"}} {fast}\nforetell_tick_seconds_bucket{{le=\"+Inf\"}} {}\n\
             foretell_resident_memory_bytes 7\nforetell_inputs_missed_total {slow}\n# EOF\n",
            fast + slow,
            fast + slow,
        );
        Scrape { at: Instant::now(), values: read(&text) }
    }

    #[test]
    fn what_came_between_two_looks_is_told_of_counters_and_the_last_of_the_rest() {
        let server = scrape(199, 2).since(&scrape(100, 1));
        assert!((server.get("inputs_missed_total") - 1.0).abs() < 1e-9);
        assert!((server.get("resident_memory_bytes") - 7.0).abs() < 1e-9);
        assert!((server.tick_ms(0.99) - 1.0).abs() < 1e-9 && server.tick_ms(1.0).is_infinite());
    }
}
