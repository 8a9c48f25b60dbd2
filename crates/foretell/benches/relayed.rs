//! What relayed inputs cost and bring, by round trip and loss: `cargo bench -p foretell --bench relayed`. Counts, no times.

#[path = "../tests/sessions/common/mod.rs"]
mod common;

use common::relayed::{Play, conditions, run, session_of};
use foretell::session::client::Predict;

fn quantile(sorted: &[f64], q: f64) -> f64 {
    if sorted.is_empty() { 0.0 } else { sorted[((sorted.len() - 1) as f64 * q) as usize] }
}

fn main() {
    for (rtt, loss) in [(0, 0.0), (50, 0.05), (150, 0.05), (300, 0.05)] {
        for relayed in [(false, Predict::Own), (true, Predict::Everyone)] {
            let mut simulation = session_of(4, relayed, conditions(rtt, loss), 7);
            let mut play = Play::new(7);
            run(&mut simulation, 5.0, &mut play);
            play.forget();
            let before = simulation.players[0].client.stats();
            run(&mut simulation, 60.0, &mut play);
            let after = simulation.players[0].client.stats();
            let mut sizes: Vec<f64> = play.others.iter().map(|one| one.shown_m).collect();
            sizes.sort_by(f64::total_cmp);
            println!(
                "rtt {rtt} ms, loss {loss}, {relayed:?}: {} B/s down; {} ticks behind, {:.3} m off; corrections of one \
                 other {}/min, p50 {:.3} m, p99 {:.3} m; {} own; {} ticks/s again",
                (after.network.bytes_received - before.network.bytes_received) / 60,
                play.behind_ticks(),
                play.error_m(0.0),
                sizes.len() / 12,
                quantile(&sizes, 0.5),
                quantile(&sizes, 0.99),
                play.own.len(),
                (after.prediction.resimulated - before.prediction.resimulated) / 60,
            );
        }
    }
}
