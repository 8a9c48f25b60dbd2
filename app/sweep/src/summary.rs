//! The figures of a row: the samples and counters of all its players together.

use super::observer::{Counters, Observer, PlayerSamples};
use super::samples::Samples;
use foretell_plan::figures::Figures;
use foretell_plan::{Case, smoothness};

/// All players that were measured.
pub fn figures(case: &Case, observer: &Observer) -> Figures {
    let measured = observer.players.iter().filter_map(|player| player.counters().map(|counters| (player, counters)));
    let players: Vec<_> = measured.clone().map(|(player, _)| &player.samples).collect();
    let seconds = f64::from(observer.seconds()) * players.len() as f64;
    let per_s = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let grown = |of: fn(&Counters) -> u64| {
        measured.clone().map(|(_, (from, until))| (of(&until) - of(&from)) as f64).sum::<f64>()
    };
    let all = |of: fn(&PlayerSamples) -> &Samples| merged(&players, of).sorted();
    let count = |of: fn(&PlayerSamples) -> u32| players.iter().map(|player| f64::from(of(player))).sum::<f64>();
    let largest =
        |of: fn(&PlayerSamples) -> u32| players.iter().map(|player| f64::from(of(player))).fold(0.0, f64::max);
    let corrections = all(|player| &player.correction_m);
    let (excess, mispredictions) = (all(|player| &player.step_excess_m), all(|player| &player.misprediction_m));
    let (lead, age) = (all(|player| &player.lead_ms), all(|player| &player.snapshot_age_ms));
    let missed = grown(|counters| counters.peer.inputs.missed);
    let (frozen_ms_max, others_jump_m_max) = others(case, observer);
    Figures {
        measured_s: seconds,
        join_ms_max: measured.clone().map(|(player, _)| player.join.as_secs_f64() * 1000.0).fold(0.0, f64::max),
        corrections_per_min: per_s(merged(&players, |player| &player.correction_m).len() as f64) * 60.0,
        unexplained: count(|player| player.causes[0]),
        caused_by_own_input: count(|player| player.causes[1]),
        caused_by_server_event: count(|player| player.causes[2]),
        teleports: count(|player| player.teleports),
        correction_m_p50: corrections.percentile(50),
        correction_m_p95: corrections.percentile(95),
        correction_m_p99: corrections.percentile(99),
        correction_m_max: corrections.max(),
        shown_step_excess_m_p99: excess.percentile(99),
        shown_step_excess_m_max: excess.max(),
        misprediction_m_p99: mispredictions.percentile(99),
        misprediction_m_max: mispredictions.max(),
        rollback_ticks_max: largest(|player| player.rollback_ticks),
        resimulated_ticks_per_s: per_s(grown(|counters| counters.client.prediction.resimulated)),
        resyncs: grown(|counters| counters.client.prediction.resyncs),
        not_playing_share: share(count(|player| player.frames[1]), count(|player| player.frames[0])),
        frozen_ms_max,
        others_jump_m_max,
        extrapolated_share: share(count(|player| player.others_frames[1]), count(|player| player.others_frames[0])),
        snapshot_age_ms_p50: age.percentile(50),
        snapshot_age_ms_p95: age.percentile(95),
        playout_delay_ms_p95: all(|player| &player.playout_delay_ms).percentile(95),
        input_miss_rate: share(missed, missed + grown(|counters| counters.peer.inputs.applied)),
        lead_ms_p1: lead.percentile(1),
        lead_ms_p50: lead.percentile(50),
        lead_ms_p95: lead.percentile(95),
        spare_lead_ms_p95: lead.percentile(95) - case.network.latency_ms,
        speed_change_p95: all(|player| &player.speed_change).percentile(95),
        bytes_up_per_s: per_s(grown(|counters| counters.client.network.bytes_sent)),
        bytes_down_per_s: per_s(grown(|counters| counters.peer.bytes_sent)),
        datagrams_up_per_s: per_s(grown(|counters| counters.client.network.datagrams_sent)),
        datagrams_down_per_s: per_s(grown(|counters| counters.peer.snapshots_sent)),
    }
}

fn share(part: f64, of: f64) -> f64 {
    if of > 0.0 { part / of } else { 0.0 }
}

fn merged(players: &[&PlayerSamples], of: fn(&PlayerSamples) -> &Samples) -> Samples {
    let mut all = Samples::default();
    players.iter().for_each(|player| all.merge(of(player)));
    all
}

/// The longest freeze and the largest jump of any entity that anybody saw.
fn others(case: &Case, observer: &Observer) -> (f64, f64) {
    // What is shown is as old as the network's delay and the playout's, which is at most some snapshots' worth.
    let latency_ms = case.network.latency_down_ms.unwrap_or(case.network.latency_ms);
    let network_s = (latency_ms + case.network.jitter_ms) / 1000.0;
    let back_s = 1.0 + network_s + 2.0 / f64::from(case.snapshot_rate);
    let shown = observer.players.iter().flat_map(|player| &player.samples.others);
    shown.fold((0.0, 0.0), |(frozen, jump), (entity, path)| {
        let truth = observer.truth.get(entity).map_or(&[][..], Vec::as_slice);
        (smoothness::frozen_ms(path, truth, back_s).max(frozen), smoothness::jump_m(path, truth, back_s).max(jump))
    })
}
