//! Plans: network conditions, a session, a grid and thresholds, as TOML files. The lab's presets are the same files.
//!
//! [`Plan::read`] takes a file apart and checks it ([`read`]); what it returns is in range, so that nothing after it can
//! fail. A *case* is one point of a plan's grid; a *row* of a sweep is one case with one seed.
//!
//! Everything but the name may be left out; the fields of [`Network`] and [`Session`] say what holds then.
//!
//! ```toml
//! name = "wifi"
//! explain = "A home network by radio."
//! [network]                # each direction
//! latency_ms = 20
//! latency_down_ms = 30     # from the server, where that is another
//! jitter_ms = 10
//! ordering = "fifo"        # or "independent": datagrams overtake each other
//! loss = 0.01
//! burst_length = 2         # mean length; above 1 losses come in bursts
//! duplicates = 0.0
//! reordering = 0.0
//! rate_kbps = 0            # 0 for no limit
//! calm_s = 0               # so long without jitter and loss, then so long with them, and so on; 0 for always with them
//! [session]
//! tick_rate = 64
//! send_rate = 64
//! snapshot_rate = 32
//! seconds = 60             # measured, of each player
//! players = 2
//! seeds = [1, 2, 3]
//! input = "scripted"       # or "recorded"
//! impulses_per_min = 0
//! clock = "margins"        # what steers it; or "round-trip"
//! lead_max_ms = 100
//! skew_ppm = 0              # how much the clients' clocks gain on the server's, beside up to 100 either way
//! [grid]                   # lists in the place of single values
//! latency_ms = [0, 50]
//! jitter_ms = [0, 20]
//! loss = [0, 0.05]
//! snapshot_hz = [64, 16]
//! skew_ppm = [0, -1000]
//! [thresholds]             # a figure with _max or _min behind it; those that end in _max stand as they are
//! corrections_per_min_max = 4
//! frozen_ms_max = 75
//! measured_s_min = 20
//! ```

mod field;
mod read;

pub use read::Broken;

use core::time::Duration;
use foretell::netsim::{Conditions, Loss, Ordering, RateLimit, Reordering};
use foretell::session::client::PacingBy;

/// What stands behind the name of a plan with the open-loop clock.
pub const OPEN_LOOP: &str = ", open loop";

/// The plans in `plans/`, by file name, as they were when the program was built.
const EMBEDDED: [(&str, &str); 15] = [
    ("plans/perfect.toml", include_str!("../../../plans/perfect.toml")),
    ("plans/lan.toml", include_str!("../../../plans/lan.toml")),
    ("plans/wifi.toml", include_str!("../../../plans/wifi.toml")),
    ("plans/4g.toml", include_str!("../../../plans/4g.toml")),
    ("plans/transpacific.toml", include_str!("../../../plans/transpacific.toml")),
    ("plans/skewed.toml", include_str!("../../../plans/skewed.toml")),
    ("plans/satellite.toml", include_str!("../../../plans/satellite.toml")),
    ("plans/burst.toml", include_str!("../../../plans/burst.toml")),
    ("plans/antipodes.toml", include_str!("../../../plans/antipodes.toml")),
    ("plans/terrible.toml", include_str!("../../../plans/terrible.toml")),
    ("plans/asymmetric.toml", include_str!("../../../plans/asymmetric.toml")),
    ("plans/changing.toml", include_str!("../../../plans/changing.toml")),
    ("plans/thrifty.toml", include_str!("../../../plans/thrifty.toml")),
    ("plans/impulses.toml", include_str!("../../../plans/impulses.toml")),
    ("plans/grid.toml", include_str!("../../../plans/grid.toml")),
];

/// All embedded plans, from good networks to bad ones.
pub fn presets() -> Vec<Plan> {
    let read = |(file, text)| Plan::read(file, text).expect("a test reads every embedded plan");
    EMBEDDED.into_iter().map(read).collect()
}

/// What is run, and what must come out.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Its name, in reports and as an argument.
    pub name: String,
    /// What it stands for, in a sentence.
    pub explain: String,
    /// The network, where the grid says nothing else.
    pub network: Network,
    /// What is played over it.
    pub session: Session,
    /// What is varied.
    pub grid: Grid,
    /// What must hold in every row; ascending by figure.
    pub thresholds: Vec<Threshold>,
}

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

/// Who plays what, how long, and at which rates.
#[derive(Clone, PartialEq, Debug)]
pub struct Session {
    /// Ticks per second, 10 to 240. Default 64.
    pub tick_rate: u16,
    /// Datagrams of inputs per second; divides the tick rate. Default the tick rate.
    pub send_rate: u16,
    /// Snapshots per second; divides the tick rate. Default the tick rate.
    pub snapshot_rate: u16,
    /// How long each player is measured, in seconds, 1 to 3600. Default 60.
    pub seconds: u32,
    /// How many bots play, 1 to 16. Default 2, so that each sees another.
    pub players: usize,
    /// A run for each of them. Default 1, 2, 3.
    pub seeds: Vec<u64>,
    /// What the bots press.
    pub input: Keys,
    /// How often the server pushes a body by 3 m/s, per minute, 0 to 600. Default 0.
    pub impulses_per_min: f64,
    /// By what the clients' clocks are steered. Default by margins.
    pub clock: PacingBy,
    /// The largest lead beyond the fastest way of an input, in ms, 0 to 10,000. Default what a client has by itself.
    pub lead_max_ms: Option<u32>,
    /// How much the clients' clocks gain on the server's, in ppm, -50,000 to 50,000, beside what each is off by itself: up to
    /// 100 either way. Default 0.
    pub skew_ppm: i32,
}

impl Default for Session {
    fn default() -> Session {
        Session {
            tick_rate: 64,
            send_rate: 64,
            snapshot_rate: 64,
            seconds: 60,
            players: 2,
            seeds: vec![1, 2, 3],
            input: Keys::Scripted,
            impulses_per_min: 0.0,
            clock: PacingBy::default(),
            lead_max_ms: None,
            skew_ppm: 0,
        }
    }
}

/// What the bots press.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keys {
    /// Directions and jumps at random, from the seed. The default.
    #[default]
    Scripted,
    /// The keys in `plans/walk.keys`, over and over; each player begins at another place.
    Recorded,
}

/// What is varied: every combination of the lists; an empty list keeps the single value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Grid {
    /// One-way latencies in ms.
    pub latency_ms: Vec<f64>,
    /// Jitters in ms.
    pub jitter_ms: Vec<f64>,
    /// Shares that are lost.
    pub loss: Vec<f64>,
    /// Snapshots per second.
    pub snapshot_hz: Vec<u16>,
    /// How much the clients' clocks gain, in ppm.
    pub skew_ppm: Vec<i32>,
}

impl Grid {
    /// Whether anything is varied.
    pub fn is_single(&self) -> bool {
        *self == Grid::default()
    }
}

/// A bound on a figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Threshold {
    /// The figure's name.
    pub figure: &'static str,
    /// Which side is accepted.
    pub bound: Bound,
    /// The last accepted value.
    pub value: f64,
}

/// Which side of a threshold is accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Up to and with the threshold.
    AtMost,
    /// From the threshold up.
    AtLeast,
}

/// One point of a plan's grid.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The network.
    pub network: Network,
    /// Snapshots per second.
    pub snapshot_hz: u16,
    /// How much the clients' clocks gain, in ppm.
    pub skew_ppm: i32,
}

impl Plan {
    /// Reads a plan from the text of a file.
    ///
    /// # Errors
    /// One sentence that names the file, the line and what is accepted there.
    pub fn read(file: &str, text: &str) -> Result<Plan, Broken> {
        read::plan(file, text)
    }

    /// All points of the grid: latency slowest, skew fastest.
    pub fn cases(&self) -> Vec<Case> {
        let Session { snapshot_rate: snapshot_hz, skew_ppm, .. } = self.session;
        let mut cases = vec![Case { network: self.network.clone(), snapshot_hz, skew_ppm }];
        cases = vary(&cases, &self.grid.latency_ms, |case, value| case.network.latency_ms = value);
        cases = vary(&cases, &self.grid.jitter_ms, |case, value| case.network.jitter_ms = value);
        cases = vary(&cases, &self.grid.loss, |case, value| case.network.loss = value);
        cases = vary(&cases, &self.grid.snapshot_hz, |case, value| case.snapshot_hz = value);
        vary(&cases, &self.grid.skew_ppm, |case, value| case.skew_ppm = value)
    }

    /// The same plan with the clock that other libraries use, and without thresholds: to be looked at, not to be met.
    #[must_use]
    pub fn open_loop(mut self) -> Plan {
        self.name.push_str(OPEN_LOOP);
        self.session.clock = PacingBy::RoundTrip;
        self.thresholds.clear();
        self
    }

    /// The same plan for a short run: the first seed alone. As long as it is, as rates of what is rare need time.
    #[must_use]
    pub fn quick(mut self) -> Plan {
        self.session.seeds.truncate(1);
        self
    }
}

fn vary<T: Copy>(cases: &[Case], values: &[T], set: impl Fn(&mut Case, T)) -> Vec<Case> {
    if values.is_empty() {
        return cases.to_vec();
    }
    let with = |case: &Case, value: &T| {
        let mut case = case.clone();
        set(&mut case, *value);
        case
    };
    cases.iter().flat_map(|case| values.iter().map(move |value| (case, value))).map(|(c, v)| with(c, v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_plan_is_whole_and_named_as_its_file() {
        for ((file, _), plan) in EMBEDDED.iter().zip(presets()) {
            assert_eq!(*file, format!("plans/{}.toml", plan.name));
            assert!(!plan.explain.is_empty() && !plan.thresholds.is_empty(), "{file}");
            for case in plan.cases() {
                assert_eq!(case.network.conditions().validate(), Ok(()), "{file}");
            }
        }
    }

    #[test]
    fn the_documented_plan_is_one() {
        let source = include_str!("mod.rs");
        let example = source.lines().skip_while(|line| *line != "//! ```toml").skip(1);
        let lines = example.map_while(|line| line.strip_prefix("//! ").filter(|line| *line != "```"));
        let plan = Plan::read("mod.rs", &lines.collect::<Vec<_>>().join("\n")).expect("it is well-formed");
        assert_eq!((plan.cases().len(), plan.thresholds.len()), (32, 3));
    }

    #[test]
    fn a_grid_is_every_combination_in_order() {
        let plan =
            Plan::read("a.toml", "name = 'a'\n[grid]\nlatency_ms = [0, 50]\nsnapshot_hz = [64, 2]").expect("good");
        let points: Vec<_> = plan.cases().iter().map(|case| (case.network.latency_ms, case.snapshot_hz)).collect();
        assert_eq!(points, [(0.0, 64), (0.0, 2), (50.0, 64), (50.0, 2)]);
    }

    #[test]
    fn a_network_may_differ_by_direction_and_change_with_time() {
        let text =
            "name = 'a'\n[network]\nlatency_ms = 20\nlatency_down_ms = 130\njitter_ms = 5\nloss = 0.1\ncalm_s = 10";
        let network = Plan::read("a.toml", text).expect("good").network;
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
