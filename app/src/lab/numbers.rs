//! The numbers of a frame: of the client's counters, the rates, and what was seen of the others.

use super::controls::Key;
use super::frame::{Chart, Now};
use super::others::Seen;
use super::rates::Rates;
use super::settings::Settings;
use foretell::session::client::ClientStats;

/// The newest point of each curve.
pub fn chart(now: &Now, stats: &ClientStats, seen: Seen, resimulated_ticks: u32) -> Chart {
    Chart {
        misprediction_m: now.misprediction_m,
        correction_m: now.correction_m,
        rtt_ms: now.rtt_ms,
        margin_ticks: now.margin_ticks,
        up_bytes_per_s: now.up_bytes_per_s,
        down_bytes_per_s: now.down_bytes_per_s,
        resimulated_ticks,
        spare_lead_ms: now.spare_lead_ms,
        slack_ticks: stats.slack_ticks,
        slack_asked_ticks: stats.slack_asked_ticks,
        speed: now.speed,
        input_miss_rate: now.input_miss_rate,
        playout_delay_ms: now.playout_delay_ms,
        playout_speed: (stats.playout_speed > 0.0).then_some(stats.playout_speed),
        beyond_ms: seen.beyond_ms,
        shown_step_m: seen.shown_step_m,
        true_step_m: seen.true_step_m,
    }
}

/// The numbers under the picture.
pub fn now(stats: &ClientStats, rates: Rates, correction_m: f64, (seen, settings): (Seen, &Settings)) -> Now {
    let rtt_ms = stats.rtt.as_secs_f64() * 1000.0;
    let ms = |ticks: f64| ticks * settings.tick_rate().seconds() * 1000.0;
    Now {
        misprediction_m: stats.misprediction_m,
        correction_m,
        lead_ticks: stats.lead_ticks,
        // A key counts on the server when its clock comes to where the client's was; what comes of it comes back, and waits to
        // be shown like all that is not predicted.
        answer_ms: match settings.is_on(Key::Prediction) {
            true => 0.0,
            false => ms(stats.lead_ticks + stats.playout_delay_ticks) + rtt_ms / 2.0,
        },
        rtt_ms,
        input_miss_rate: rates.input_miss_rate,
        up_bytes_per_s: rates.up_bytes_per_s,
        down_bytes_per_s: rates.down_bytes_per_s,
        speed: stats.speed,
        margin_ticks: stats.margin_ticks,
        playout_delay_ms: ms(stats.playout_delay_ticks),
        // Nothing before both are measured.
        spare_lead_ms: if stats.lead_ticks > 0.0 && rtt_ms > 0.0 { ms(stats.lead_ticks) - rtt_ms / 2.0 } else { 0.0 },
        extrapolated_share: seen.extrapolated_share,
        frozen_ms: seen.frozen_ms,
        jump_m: seen.jump_m,
    }
}
