//! One row of a sweep: a case of a plan and a seed, run from beginning to end on virtual time.

use super::bots::{self, Bots};
use super::figures::{Figures, Samples};
use super::path;
use super::watch::{Counters, Seen, Watch};
use crate::plan::{Bound, Case, Keys, Network, Plan, Session};
use core::time::Duration;
use foretell::harness::{HostOptions, PlayerOptions, Simulation};
use foretell::netsim::{HostClock, Ordering, SplitMix64};
use foretell::session::client::PacingBy;
use foretell::{ClientConfig, Instant, Rules, ServerConfig, State, TickRate};
use foretell_arena::{Arena, Cube};
use serde::Serialize;

/// A player who has not joined by then never will, in seconds.
const JOIN_MAX_S: u64 = 30;
/// Clocks are off by up to so many millionths, as those of real machines are.
const SKEW_PPM: i32 = 100;

/// One row: what was asked, and what came out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The plan's name.
    pub plan: String,
    /// The seed.
    pub seed: u64,
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
    /// How long it is calm in between; 0 for never.
    pub calm_s: u32,
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
    /// By what the clients' clocks were steered.
    pub clock: &'static str,
    /// The largest lead beyond the fastest way, in ms; `None` for what a client has by itself.
    pub lead_max_ms: Option<u32>,
    /// What was measured.
    #[serde(flatten)]
    pub figures: Figures,
    /// Whether every sample of the authority had exactly one outcome, in every frame of every player.
    pub outcomes_add_up: bool,
    /// How many players were measured; the others did not get into the session.
    pub players_measured: usize,
}

/// Runs a row. `begun` gets the session after each machine that was added, before anything happens there.
pub fn run(plan: &Plan, case: &Case, seed: u64, begun: &mut dyn FnMut(&mut Simulation<Arena>)) -> Row {
    let session = &plan.session;
    let config = ServerConfig {
        snapshot_interval: u32::from(session.tick_rate / case.snapshot_hz.max(1)).max(1),
        ..ServerConfig::default()
    };
    let rules = Rules { tick_rate: TickRate::hz(session.tick_rate), ..Rules::new(Cube::schema()) };
    let mut simulation = Simulation::new(rules, config, Arena::default(), seed);
    begun(&mut simulation);
    let bots = Bots::new(session, seed);
    let mut watch = Watch::new(bots, bots::pushes(session, seed), session.tick_rate, session.seconds);
    let mut machines = SplitMix64::new(seed ^ 0x006d_6163_6869_6e65);
    for _ in 0..session.players {
        // Each starts within a frame of the one before, so that their frames don't coincide with each other or with
        // the server's ticks.
        let start = simulation.now() + Duration::from_micros(machines.next_u64() % 16_667);
        simulation.run_until(start, &mut watch);
        let options = PlayerOptions {
            client: ClientConfig {
                send_interval: u32::from(session.tick_rate / session.send_rate.max(1)).max(1),
                pacing: session.clock,
                lead_max_ms: session.lead_max_ms,
                ..ClientConfig::default()
            },
            host: HostOptions { clock: clock(&mut machines, case.skew_ppm), ..HostOptions::at(60) },
            conditions: case.network.conditions(),
            world: Arena::default(),
        };
        watch.add(simulation.now());
        simulation.add_player(options);
        set_network(&mut simulation, &case.network);
        begun(&mut simulation);
    }
    let limit = Instant::ZERO + Duration::from_secs(u64::from(session.seconds) + JOIN_MAX_S);
    while !watch.is_done() && simulation.now() < limit {
        set_network(&mut simulation, &case.network);
        simulation.run_until(simulation.now() + Duration::from_millis(250), &mut watch);
    }
    row(plan, case, seed, &watch)
}

/// Sets every link as the network is by now.
fn set_network(simulation: &mut Simulation<Arena>, network: &Network) {
    let [up, down] = network.conditions_at(simulation.now().micros() / 1_000_000);
    simulation.players.iter_mut().for_each(|player| (player.up_conditions, player.down_conditions) = (up, down));
}

/// A clock that is off by up to an hour and gains so much, and a little more or less.
fn clock(machines: &mut SplitMix64, skew_ppm: i32) -> HostClock {
    let offset = Duration::from_micros(machines.next_u64() % 3_600_000_000);
    let skew = i32::try_from(machines.next_u64() % 201).unwrap_or(0) - SKEW_PPM;
    HostClock::new(offset, skew_ppm + skew)
}

fn row(plan: &Plan, case: &Case, seed: u64, watch: &Watch) -> Row {
    let network = &case.network;
    let Session { tick_rate, send_rate, players, seconds, input, impulses_per_min, clock, lead_max_ms, .. } =
        plan.session;
    Row {
        plan: plan.name.clone(),
        seed,
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
        calm_s: network.calm_s,
        tick_hz: tick_rate,
        send_hz: send_rate,
        snapshot_hz: case.snapshot_hz,
        skew_ppm: case.skew_ppm,
        players,
        seconds,
        input: match input {
            Keys::Scripted => "scripted",
            Keys::Recorded => "recorded",
        },
        impulses_per_min,
        clock: match clock {
            PacingBy::Margins => "margins",
            PacingBy::RoundTrip => "round-trip",
        },
        lead_max_ms,
        figures: figures(case, watch).rounded(),
        outcomes_add_up: watch.players.iter().all(|watched| watched.outcomes_add_up),
        players_measured: watch.players.iter().filter(|watched| watched.counters().is_some()).count(),
    }
}

/// The samples and counters of all players together.
fn figures(case: &Case, watch: &Watch) -> Figures {
    let measured = watch.players.iter().filter_map(|watched| watched.counters().map(|counters| (watched, counters)));
    let seen: Vec<_> = measured.clone().map(|(watched, _)| &watched.seen).collect();
    let seconds = f64::from(watch.seconds()) * seen.len() as f64;
    let per_s = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let grown = |of: fn(&Counters) -> u64| {
        measured.clone().map(|(_, (from, until))| (of(&until) - of(&from)) as f64).sum::<f64>()
    };
    let all = |of: fn(&Seen) -> &Samples| merged(&seen, of).sorted();
    let count = |of: fn(&Seen) -> u32| seen.iter().map(|seen| f64::from(of(seen))).sum::<f64>();
    let largest = |of: fn(&Seen) -> u32| seen.iter().map(|seen| f64::from(of(seen))).fold(0.0, f64::max);
    let corrections = all(|seen| &seen.correction_m);
    let (excess, mispredictions) = (all(|seen| &seen.step_excess_m), all(|seen| &seen.misprediction_m));
    let (lead, age) = (all(|seen| &seen.lead_ms), all(|seen| &seen.snapshot_age_ms));
    let missed = grown(|counters| counters.peer.inputs_missed);
    let (frozen_ms_max, others_jump_m_max) = others(case, watch);
    Figures {
        measured_s: seconds,
        join_ms_max: measured.clone().map(|(watched, _)| watched.join.as_secs_f64() * 1000.0).fold(0.0, f64::max),
        corrections_per_min: per_s(merged(&seen, |seen| &seen.correction_m).len() as f64) * 60.0,
        unexplained: count(|seen| seen.causes[0]),
        caused_by_own_input: count(|seen| seen.causes[1]),
        caused_by_server_event: count(|seen| seen.causes[2]),
        teleports: count(|seen| seen.teleports),
        correction_m_p50: corrections.percentile(50),
        correction_m_p95: corrections.percentile(95),
        correction_m_p99: corrections.percentile(99),
        correction_m_max: corrections.max(),
        shown_step_excess_m_p99: excess.percentile(99),
        shown_step_excess_m_max: excess.max(),
        misprediction_m_p99: mispredictions.percentile(99),
        misprediction_m_max: mispredictions.max(),
        rollback_ticks_max: largest(|seen| seen.rollback_ticks),
        resimulated_ticks_per_s: per_s(grown(|counters| counters.client.resimulated)),
        resyncs: grown(|counters| counters.client.resyncs),
        not_playing_share: share(count(|seen| seen.frames[1]), count(|seen| seen.frames[0])),
        frozen_ms_max,
        others_jump_m_max,
        extrapolated_share: share(count(|seen| seen.others_frames[1]), count(|seen| seen.others_frames[0])),
        snapshot_age_ms_p50: age.percentile(50),
        snapshot_age_ms_p95: age.percentile(95),
        playout_delay_ms_p95: all(|seen| &seen.playout_delay_ms).percentile(95),
        input_miss_rate: share(missed, missed + grown(|counters| counters.peer.inputs_applied)),
        lead_ms_p1: lead.percentile(1),
        lead_ms_p50: lead.percentile(50),
        lead_ms_p95: lead.percentile(95),
        spare_lead_ms_p95: lead.percentile(95) - case.network.latency_ms,
        speed_change_p95: all(|seen| &seen.speed_change).percentile(95),
        bytes_up_per_s: per_s(grown(|counters| counters.client.bytes_sent)),
        bytes_down_per_s: per_s(grown(|counters| counters.peer.bytes)),
        datagrams_up_per_s: per_s(grown(|counters| counters.client.datagrams_sent)),
        datagrams_down_per_s: per_s(grown(|counters| counters.peer.snapshots)),
    }
}

fn share(part: f64, of: f64) -> f64 {
    if of > 0.0 { part / of } else { 0.0 }
}

fn merged(seen: &[&Seen], of: fn(&Seen) -> &Samples) -> Samples {
    let mut all = Samples::default();
    seen.iter().for_each(|seen| all.merge(of(seen)));
    all
}

/// The longest freeze and the largest jump of any entity that anybody saw.
fn others(case: &Case, watch: &Watch) -> (f64, f64) {
    // What is shown is as old as the network's delay and the playout's, which is at most some snapshots' worth.
    let latency_ms = case.network.latency_down_ms.unwrap_or(case.network.latency_ms);
    let network_s = (latency_ms + case.network.jitter_ms) / 1000.0;
    let back_s = 1.0 + network_s + 2.0 / f64::from(case.snapshot_hz);
    let shown = watch.players.iter().flat_map(|watched| &watched.seen.others);
    shown.fold((0.0, 0.0), |(frozen, jump), (entity, path)| {
        let truth = watch.truth.get(entity).map_or(&[][..], Vec::as_slice);
        (path::frozen_ms(path, truth, back_s).max(frozen), path::jump_m(path, truth, back_s).max(jump))
    })
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
        let Row { plan, latency_ms, jitter_ms, loss, snapshot_hz, skew_ppm, seed, .. } = self;
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
        if self.players_measured < self.players {
            found.push(format!("{} of {} players got into the session", self.players_measured, self.players));
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
