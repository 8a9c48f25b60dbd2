//! The figures as a person reads them.

use crate::figures::Figures;
use core::fmt::Write;

/// Each figure on a line, below what was asked for.
pub fn text(figures: &Figures) -> String {
    let Figures { entities, moving, clients, clients_in_play, rtt_ms, loss, budget, seed, .. } = *figures;
    let in_play =
        if clients_in_play == clients { String::new() } else { format!(", {clients_in_play} of them in play") };
    let budget = if budget == u32::MAX { "no limit".into() } else { format!("{budget} B/s each") };
    let mut text = format!(
        "{entities} entities, {moving} of them moving, {clients} clients{in_play}: {budget}, round trip {rtt_ms} ms, loss {loss}, seed {seed}\n"
    );
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:<52} {value:>12}").expect("a string takes everything");
    };
    let us = |value: f64| format!("{value:.1} µs");
    let ms = |value: f64| format!("{value:.1} ms");
    let age = |value: Option<f64>| value.map_or("nobody plays".into(), ms);
    let waited = |value: Option<f64>| value.map_or("not in time".into(), ms);
    line("server, processor per tick", us(figures.server_us_per_tick));
    line("  of it the game's step", us(figures.step_us_per_tick));
    line("client, processor per tick", us(figures.client_us_per_tick));
    line("client, processor per frame that is presented", us(figures.present_us_per_frame));
    line("sent to each client per second", format!("{:.0} B", figures.bytes_per_client_per_s));
    line("  per tick and entity that changed", format!("{:.2} B", figures.bytes_per_changed_entity));
    line("age of what is shown of others, median", age(figures.shown_age_ms_p50));
    line("  99th percentile", age(figures.shown_age_ms_p99));
    line("  oldest", age(figures.shown_age_ms_max));
    line("  oldest of the nearest twenty", age(figures.nearest_20_age_ms_max));
    line("one who comes late plays after", waited(figures.joiner_plays_ms));
    line("  has everything after", waited(figures.joiner_complete_ms));
    text
}
