//! The clock steered by margins and the one steered by the round trip side by side, as a table in Markdown.

use super::charts::worst;
use super::row::Row;
use super::table::percent;
use crate::plan::{OPEN_LOOP, Plan};
use core::fmt::Write;

/// A heading, a figure, a factor and how many digits are behind the point.
type Compared = (&'static str, &'static str, f64, usize);

/// What they are compared by.
const FIGURES: [Compared; 11] = [
    ("inputs missed, %", "input_miss_rate", 100.0, 2),
    ("slack p95, ms", "spare_lead_ms_p95", 1.0, 0),
    ("lead p50, ms", "lead_ms_p50", 1.0, 0),
    ("corrections, /min", "corrections_per_min", 1.0, 1),
    ("their p99, cm", "correction_m_p99", 100.0, 0),
    ("snapshot age p95, ms", "snapshot_age_ms_p95", 1.0, 0),
    ("playout p95, ms", "playout_delay_ms_p95", 1.0, 0),
    ("frozen, ms", "frozen_ms_max", 1.0, 0),
    ("jump, cm", "others_jump_m_max", 100.0, 0),
    ("up, B/s", "bytes_up_per_s", 1.0, 0),
    ("down, B/s", "bytes_down_per_s", 1.0, 0),
];

/// The plans without a grid, a line each: of every figure the worst of the seeds. Then, for either clock, the mean of its
/// lines: what one setting costs that has to serve all these networks.
pub fn markdown(plans: &[Plan], rows: &[(usize, Row)]) -> String {
    let mut text = "| plan | network | clock |".to_owned();
    FIGURES.iter().for_each(|(head, ..)| text = format!("{text} {head} |"));
    let _ = write!(text, "\n|---|---|---|{}\n", "---:|".repeat(FIGURES.len()));
    let mut by_clock: Vec<(&str, Vec<[f64; FIGURES.len()]>)> = Vec::new();
    for (index, _) in plans.iter().enumerate().filter(|(_, plan)| plan.grid.is_single()) {
        let rows: Vec<_> = rows.iter().filter(|(of, _)| *of == index).map(|(_, row)| row).collect();
        let Some(row) = rows.first() else { continue };
        let figures = FIGURES.map(|(_, figure, factor, _)| worst(rows.iter().copied(), figure) * factor);
        line(&mut text, (row.plan.trim_end_matches(OPEN_LOOP), &network(row), row.clock), figures);
        match by_clock.iter_mut().find(|(clock, _)| *clock == row.clock) {
            Some((_, lines)) => lines.push(figures),
            None => by_clock.push((row.clock, vec![figures])),
        }
    }
    for (clock, lines) in by_clock {
        let count = u32::try_from(lines.len()).map_or(1.0, f64::from);
        let mean = core::array::from_fn(|figure| lines.iter().map(|line| line[figure]).sum::<f64>() / count);
        line(&mut text, ("**all**", "the mean of these lines", clock), mean);
    }
    text
}

fn line(text: &mut String, (plan, network, clock): (&str, &str, &str), figures: [f64; FIGURES.len()]) {
    let _ = write!(text, "| {plan} | {network} | {clock} |");
    for ((.., digits), figure) in FIGURES.iter().zip(figures) {
        let _ = write!(text, " {figure:.digits$} |");
    }
    text.push('\n');
}

/// A network in a few words: latency and jitter one way, and loss.
fn network(row: &Row) -> String {
    let Row { latency_ms, latency_down_ms, jitter_ms, burst_length, calm_s, .. } = row;
    let mut text = format!("{latency_ms}");
    if latency_down_ms != latency_ms {
        let _ = write!(text, " up, {latency_down_ms} down");
    }
    let _ = write!(text, " + {jitter_ms} ms, {} %", percent(row.loss));
    if *burst_length > 1.0 {
        let _ = write!(text, " in bursts of {burst_length}");
    }
    if *calm_s > 0 {
        let _ = write!(text, ", every other {calm_s} s");
    }
    text
}
