//! What it costs by network, a line for each plan, as a table in Markdown.

use super::charts::worst;
use super::row::{Row, RowNetwork};
use super::table::percent;
use core::fmt::Write;
use foretell_plan::Plan;

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

/// The plans without a grid, a line each: of every figure the worst of the seeds. Then the mean of these lines: what one
/// setting costs that has to serve all these networks. Without those of recorded links, as no setting helps where nothing
/// passes for a second.
pub fn markdown(plans: &[Plan], rows: &[(usize, Row)]) -> String {
    let mut text = "| plan | network |".to_owned();
    FIGURES.iter().for_each(|(head, ..)| text = format!("{text} {head} |"));
    let _ = write!(text, "\n|---|---|{}\n", "---:|".repeat(FIGURES.len()));
    let mut lines: Vec<[f64; FIGURES.len()]> = Vec::new();
    for (index, _) in plans.iter().enumerate().filter(|(_, plan)| plan.grid.is_single()) {
        let rows: Vec<_> = rows.iter().filter(|(of, _)| *of == index).map(|(_, row)| row).collect();
        let Some(row) = rows.first() else { continue };
        let figures = FIGURES.map(|(_, figure, factor, _)| worst(rows.iter().copied(), figure) * factor);
        Line { plan: &row.plan, network: &network(&row.network), figures }.write(&mut text);
        if row.network.trace.is_none() && row.network.trace_down.is_none() {
            lines.push(figures);
        }
    }
    if !lines.is_empty() {
        let count = u32::try_from(lines.len()).map_or(1.0, f64::from);
        let mean = core::array::from_fn(|figure| lines.iter().map(|line| line[figure]).sum::<f64>() / count);
        let network = "the mean of the lines without a recorded link";
        Line { plan: "**all**", network, figures: mean }.write(&mut text);
    }
    text
}

/// A line of the table.
struct Line<'a> {
    plan: &'a str,
    network: &'a str,
    figures: [f64; FIGURES.len()],
}

impl Line<'_> {
    fn write(&self, text: &mut String) {
        let Line { plan, network, figures } = self;
        let _ = write!(text, "| {plan} | {network} |");
        for ((.., digits), figure) in FIGURES.iter().zip(figures) {
            let _ = write!(text, " {figure:.digits$} |");
        }
        text.push('\n');
    }
}

/// A network in a few words: latency and jitter one way, and loss.
fn network(network: &RowNetwork) -> String {
    let RowNetwork { latency_ms, latency_down_ms, jitter_ms, loss, burst_length, calm_s, trace, trace_down, .. } =
        network;
    let mut text = format!("{latency_ms}");
    if latency_down_ms != latency_ms {
        let _ = write!(text, " up, {latency_down_ms} down");
    }
    let _ = write!(text, " + {jitter_ms} ms, {} %", percent(*loss));
    if *burst_length > 1.0 {
        let _ = write!(text, " in bursts of {burst_length}");
    }
    if *calm_s > 0 {
        let _ = write!(text, ", every other {calm_s} s");
    }
    match (trace, trace_down) {
        (Some(up), Some(down)) if up == down => _ = write!(text, ", {up}"),
        (Some(up), Some(down)) => _ = write!(text, ", {up} up, {down} down"),
        (None, Some(down)) => _ = write!(text, ", {down} down"),
        (_, None) => {}
    }
    text
}
