//! A row of a sweep: what was asked, what came out, and what it does not meet.

use foretell_plan::figures::{Bound, Figures};
use foretell_plan::{Case, Keys, Network, Plan, Session};
use foretell_sim::netsim::Ordering;
use serde::Serialize;

/// One row, flat in JSON.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The plan's name.
    pub plan: String,
    /// The seed.
    pub seed: u64,
    /// The network.
    #[serde(flatten)]
    pub network: RowNetwork,
    /// What was played over it.
    #[serde(flatten)]
    pub session: RowSession,
    /// What was measured.
    #[serde(flatten)]
    pub figures: Figures,
    /// Whether every sample of the authority had exactly one outcome, in every frame of every player.
    pub outcomes_add_up: bool,
    /// How many players were measured; the others did not get into the session.
    pub players_measured: usize,
}

/// The network of a row.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RowNetwork {
    /// One way, to the server.
    pub latency_ms: f64,
    /// One way, from the server.
    pub latency_down_ms: f64,
    /// One way.
    pub jitter_ms: f64,
    /// `fifo` or `independent`.
    pub ordering: &'static str,
    /// The share lost.
    pub loss: f64,
    /// How many in a row, on average.
    pub burst_length: f64,
    /// The share that comes twice.
    pub duplicates: f64,
    /// The share held back.
    pub reordering: f64,
    /// 0 for no limit.
    pub rate_kbps: u32,
    /// The recorded or synthetic link to the server, as the plan names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// That from the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_down: Option<String>,
    /// How long it is calm in between; 0 for never.
    pub calm_s: u32,
}

/// The session of a row.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RowSession {
    /// Ticks per second.
    pub tick_hz: u16,
    /// Datagrams of inputs per second.
    pub send_hz: u16,
    /// Snapshots per second.
    pub snapshot_hz: u16,
    /// How much the clients' clocks gain on the server's, beside what each is off by itself.
    pub skew_ppm: i32,
    /// How many bots.
    pub players: usize,
    /// How long each was measured.
    pub seconds: u32,
    /// `scripted` or `recorded`.
    pub input: &'static str,
    /// Pushes by the server.
    pub impulses_per_min: f64,
    /// The largest lead beyond the fastest way, in ms; `None` for what a client has by itself.
    pub lead_max_ms: Option<u32>,
}

impl RowNetwork {
    /// That of a case.
    pub fn of(network: &Network) -> RowNetwork {
        RowNetwork {
            latency_ms: network.latency_ms,
            latency_down_ms: network.latency_down_ms.unwrap_or(network.latency_ms),
            jitter_ms: network.jitter_ms,
            ordering: match network.ordering {
                Ordering::Fifo => "fifo",
                Ordering::Independent => "independent",
            },
            loss: network.loss,
            burst_length: network.burst_length,
            duplicates: network.duplicates,
            reordering: network.reordering,
            rate_kbps: network.rate_kbps,
            trace: network.trace.as_ref().map(|link| link.name.clone()),
            trace_down: network.trace_down.as_ref().or(network.trace.as_ref()).map(|link| link.name.clone()),
            calm_s: network.calm_s,
        }
    }
}

impl RowSession {
    /// That of a case of a plan.
    pub fn of(plan: &Plan, case: &Case) -> RowSession {
        let Session { tick_rate, send_rate, players, seconds, input, impulses_per_min, lead_max_ms, .. } = plan.session;
        RowSession {
            tick_hz: tick_rate,
            send_hz: send_rate,
            snapshot_hz: case.snapshot_rate,
            skew_ppm: case.skew_ppm,
            players,
            seconds,
            input: match input {
                Keys::Scripted => "scripted",
                Keys::Recorded => "recorded",
            },
            impulses_per_min,
            lead_max_ms,
        }
    }
}

/// A threshold, or a law, that a row does not meet.
#[derive(Clone, PartialEq, Debug)]
pub struct Violation {
    /// Whose row.
    pub row: String,
    /// What is wrong, in half a sentence.
    pub what: String,
}

impl Row {
    /// What it is, for a person.
    pub fn label(&self) -> String {
        let Row { plan, seed, network, session, .. } = self;
        let RowNetwork { latency_ms, jitter_ms, loss, .. } = network;
        let RowSession { snapshot_hz, skew_ppm, .. } = session;
        let percent = loss * 100.0;
        let skew = if *skew_ppm == 0 { String::new() } else { format!("skew {skew_ppm} ppm, ") };
        format!(
            "plan {plan}: latency {latency_ms} ms, jitter {jitter_ms} ms, loss {percent} %, snapshots {snapshot_hz} Hz, \
             {skew}seed {seed}"
        )
    }

    /// What it does not meet: the plan's thresholds, and what must hold whatever the plan says.
    pub fn violations(&self, plan: &Plan) -> Vec<Violation> {
        let mut found = Vec::new();
        if !self.outcomes_add_up {
            found.push("the outcomes of the authority's samples do not add up, which is a fault of the program".into());
        }
        if self.players_measured < self.session.players {
            found.push(format!("{} of {} players got into the session", self.players_measured, self.session.players));
        }
        for threshold in &plan.thresholds {
            let Some(value) = threshold.missed_by(&self.figures) else { continue };
            let side = match threshold.bound {
                Bound::AtMost => "at most",
                Bound::AtLeast => "at least",
            };
            found.push(format!("{} is {value}, accepted is {side} {}", threshold.figure, threshold.value));
        }
        found.into_iter().map(|what| Violation { row: self.label(), what }).collect()
    }
}
