//! What bots and server have measured, as a person reads it.

use super::bot::BotFigures;
use super::scrape::Server;
use std::fmt::Write;
use std::time::Duration;

/// Each figure on a line, with what it was bought with beside it.
pub fn table(seen: &[&BotFigures], server: Option<&Server>, lasted: Duration) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| writeln!(text, "{name:<44} {value}").expect("a string takes everything");
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let players = seen.len() as f64;
    let seconds = lasted.as_secs_f64();
    line("players", format!("{players}, measured for {seconds} s"));
    let each = |value: fn(&BotFigures) -> f64| seen.iter().map(|&seen| value(seen)).sum::<f64>() / players;
    let worst = |value: fn(&BotFigures) -> f64| seen.iter().map(|&seen| value(seen)).fold(0.0, f64::max);
    line(
        "sent by each, payload",
        format!("{:.2} kB/s", each(|seen| grown(seen, |stats| stats.network.bytes_sent)) / seconds / 1e3),
    );
    line(
        "sent to each, payload",
        format!("{:.2} kB/s", each(|seen| grown(seen, |stats| stats.network.bytes_received)) / seconds / 1e3),
    );
    line("round trip, mean and worst of a player", format!("{:.1} ms, {:.1} ms", each(rtt_ms), worst(rtt_ms)));
    line(
        "of QUIC: round trip, packets lost",
        format!("{:.1} ms, {:.3} %", each(|seen| seen.path.rtt.as_secs_f64() * 1e3), each(lost) * 100.0),
    );
    line("frames per second, mean of a player", format!("{:.1}", each(|seen| seen.drawn.into()) / seconds));
    line("lead of the clocks", format!("{:.2} ticks", each(|seen| seen.stats[1].clock.lead_ticks)));
    line(
        "corrections",
        format!(
            "{:.2} per player and minute",
            each(|seen| grown(seen, |stats| stats.prediction.corrections)) / seconds * 60.0
        ),
    );
    line("frames without a session, worst of a player", format!("{:.2} %", worst(|seen| seen.frames_lost) * 100.0));
    if let Some(server) = server {
        tell_server(&mut line, server, players);
    }
    text
}

fn tell_server(line: &mut impl FnMut(&str, String), server: &Server, players: f64) {
    let per_s = |name: &str| server.get(name) / server.lasted.as_secs_f64();
    let (applied, missed) = (server.get("inputs_applied_total"), server.get("inputs_missed_total"));
    line("inputs missed", format!("{:.3} %", 100.0 * missed / (applied + missed).max(1.0)));
    line(
        "server: processor",
        format!(
            "{:.3} cores, {:.2} ms/s of each player",
            per_s("cpu_seconds_total"),
            per_s("cpu_seconds_total") * 1e3 / players
        ),
    );
    line(
        "server: tick, mean, median and 99th percentile",
        format!(
            "{:.2} ms, {:.2} ms, {:.2} ms",
            1e3 * server.get("tick_seconds_sum") / server.get("tick_seconds_count").max(1.0),
            server.tick_ms(0.5),
            server.tick_ms(0.99)
        ),
    );
    line("server: ticks skipped", format!("{}", server.get("ticks_skipped_total")));
    line(
        "server: datagrams",
        format!("{:.0} in, {:.0} out per second", per_s("datagrams_received_total"), per_s("datagrams_sent_total")),
    );
    line("server: held back", format!("{}", server.get("datagrams_held_back_total")));
    line("server: memory", format!("{:.1} MB", server.get("resident_memory_bytes") / 1e6));
}

fn grown(seen: &BotFigures, counter: fn(&foretell::session::client::ClientStats) -> u64) -> f64 {
    let [before, after] = &seen.stats;
    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
    let grown = counter(after).saturating_sub(counter(before)) as f64;
    grown
}

fn rtt_ms(seen: &BotFigures) -> f64 {
    seen.stats[1].network.rtt.as_secs_f64() * 1e3
}

fn lost(seen: &BotFigures) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
    let share = seen.path.lost as f64 / seen.path.sent.max(1) as f64;
    share
}
