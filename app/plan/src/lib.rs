//! Plans: network conditions, a session, a grid and thresholds, as TOML files. The lab's presets are the same files.
//!
//! [`read()`] takes a file apart and checks it; what it returns is in range, so that nothing after it can fail. A *case* is
//! one point of a plan's grid; a *row* of a sweep is one case with one seed. Besides plans there is here what every run of
//! one shares, whoever runs it: [`bots`] that play, reference [`motions`] that are shown, and the [`figures`] and the
//! [`smoothness`] that are measured.
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
//! cellular = "evdo"        # a synthetic mobile link: or "lte", "umts"
//! cellular_seed = 1
//! # trace = "train.up"     # in its place a recorded link, in Mahimahi's format; a path from this file
//! # trace_down = "train.down"  # from the server, where that is another
//! queue_bytes = 30000      # of any of these
//! queue_datagrams = 200
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
//! lead_max_ms = 100
//! skew_ppm = 0              # how much the clients' clocks gain on the server's, beside up to 100 either way
//! [grid]                   # lists in the place of single values
//! latency_ms = [0, 50]
//! jitter_ms = [0, 20]
//! loss = [0, 0.05]
//! snapshot_rate = [64, 16]
//! skew_ppm = [0, -1000]
//! [thresholds]             # a figure with _max or _min behind it; those that end in _max stand as they are
//! corrections_per_min_max = 4
//! frozen_ms_max = 75
//! measured_s_min = 20
//! ```
#![forbid(unsafe_code)]

pub mod bots;
mod embedded;
mod field;
pub mod figures;
pub mod motions;
mod network;
mod plan;
mod read;
mod recorded;
mod session;
pub mod smoothness;

pub use embedded::presets;
pub use network::Network;
pub use plan::{Case, Grid, Plan};
pub use read::{PlanError, read};
pub use recorded::RecordedLink;
pub use session::{Keys, Session};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_plan_is_one() {
        let source = include_str!("lib.rs");
        let example = source.lines().skip_while(|line| *line != "//! ```toml").skip(1);
        let lines = example.map_while(|line| line.strip_prefix("//! ").filter(|line| *line != "```"));
        let plan = read("lib.rs", &lines.collect::<Vec<_>>().join("\n")).expect("it is well-formed");
        assert_eq!((plan.cases().len(), plan.thresholds.len()), (32, 3));
    }
}
