//! The numbers of a frame: of the client's counters, the rates, and what was seen of the others.

use super::rates::Rates;
use super::remote_quality::RemoteFigures;
use crate::controls::{Key, Settings};
use crate::frame::numbers::{Chart, Now};
use foretell::session::client::ClientStats;

/// The newest points of the curves that show more than [`now`].
pub fn chart(stats: &ClientStats, remote: RemoteFigures, resimulated_ticks: u32) -> Chart {
    Chart {
        resimulated_ticks,
        slack_ticks: stats.inputs.slack_ticks,
        slack_asked_ticks: stats.inputs.slack_asked_ticks,
        playout_speed: (stats.playout.speed > 0.0).then_some(stats.playout.speed),
        beyond_ms: remote.beyond_ms,
        shown_step_m: remote.shown_step_m,
        true_step_m: remote.true_step_m,
    }
}

/// The numbers under the picture.
pub fn now(stats: &ClientStats, rates: Rates, correction_m: f64, remote: RemoteFigures, settings: &Settings) -> Now {
    let rtt_ms = stats.network.rtt.as_secs_f64() * 1000.0;
    let ms = |ticks: f64| ticks * settings.tick_rate().seconds() * 1000.0;
    Now {
        misprediction_m: stats.prediction.misprediction_m,
        correction_m,
        lead_ticks: stats.clock.lead_ticks,
        // A key counts on the server when its clock comes to where the client's was; what comes of it comes back, and waits to
        // be shown like all that is not predicted.
        answer_ms: match settings.is_on(Key::Prediction) {
            true => 0.0,
            false => ms(stats.clock.lead_ticks + stats.playout.delay_ticks) + rtt_ms / 2.0,
        },
        rtt_ms,
        input_miss_rate: rates.input_miss_rate,
        up_bytes_per_s: rates.up_bytes_per_s,
        down_bytes_per_s: rates.down_bytes_per_s,
        speed: stats.clock.speed,
        margin_ticks: stats.inputs.margin_ticks,
        playout_delay_ms: ms(stats.playout.delay_ticks),
        // Nothing before both are measured.
        spare_lead_ms: if stats.clock.lead_ticks > 0.0 && rtt_ms > 0.0 {
            ms(stats.clock.lead_ticks) - rtt_ms / 2.0
        } else {
            0.0
        },
        extrapolated_share: remote.extrapolated_share,
        frozen_ms: remote.frozen_ms,
        jump_m: remote.jump_m,
    }
}
