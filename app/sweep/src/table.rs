//! The table of rows, as it stands in the terminal and in the report.

use super::row::Row;
use core::fmt::Write;
use foretell_plan::{Plan, figures};

/// A column: what stands above it, and what in it.
pub struct Column {
    /// A short word.
    pub head: &'static str,
    /// The unit; empty for a count.
    pub unit: &'static str,
    /// The figure in it; `None` for a setting.
    pub figure: Option<&'static str>,
    /// What stands in it.
    pub cell: fn(&Row) -> String,
}

const fn setting(head: &'static str, unit: &'static str, cell: fn(&Row) -> String) -> Column {
    Column { head, unit, figure: None, cell }
}

macro_rules! figure {
    ($head:literal, $unit:literal, $name:ident, $scale:literal, $digits:literal) => {
        Column {
            head: $head,
            unit: $unit,
            figure: Some(stringify!($name)),
            cell: |row| format!(concat!("{:.", $digits, "}"), row.figures.$name * $scale),
        }
    };
}

/// The columns, from what was asked over what the player sees to what it was bought with.
pub const COLUMNS: [Column; 24] = [
    setting("latency", "ms", |row| row.network.latency_ms.to_string()),
    setting("jitter", "ms", |row| row.network.jitter_ms.to_string()),
    setting("loss", "%", |row| percent(row.network.loss)),
    setting("snap", "Hz", |row| row.session.snapshot_hz.to_string()),
    setting("skew", "ppm", |row| row.session.skew_ppm.to_string()),
    setting("seed", "", |row| row.seed.to_string()),
    figure!("corr", "1/min", corrections_per_min, 1.0, 1),
    figure!("unexp", "", unexplained, 1.0, 0),
    figure!("p50", "cm", correction_m_p50, 100.0, 1),
    figure!("p95", "cm", correction_m_p95, 100.0, 1),
    figure!("max", "cm", correction_m_max, 100.0, 1),
    figure!("excess", "cm", shown_step_excess_m_max, 100.0, 1),
    figure!("mispr", "cm", misprediction_m_max, 100.0, 1),
    figure!("frozen", "ms", frozen_ms_max, 1.0, 0),
    figure!("jump", "cm", others_jump_m_max, 100.0, 1),
    figure!("age95", "ms", snapshot_age_ms_p95, 1.0, 0),
    figure!("playout", "ms", playout_delay_ms_p95, 1.0, 0),
    figure!("missed", "%", input_miss_rate, 100.0, 2),
    figure!("lead95", "ms", lead_ms_p95, 1.0, 0),
    figure!("spare95", "ms", spare_lead_ms_p95, 1.0, 0),
    figure!("resim", "1/s", resimulated_ticks_per_s, 1.0, 1),
    figure!("resync", "", resyncs, 1.0, 0),
    figure!("up", "B/s", bytes_up_per_s, 1.0, 0),
    figure!("down", "B/s", bytes_down_per_s, 1.0, 0),
];

impl Column {
    /// What its figure is, in a sentence; empty for a setting.
    pub fn explain(&self) -> &'static str {
        self.figure.and_then(figures::named).map_or("", |figure| figure.explain)
    }
}

/// A share as percent, without the noise of binary fractions.
pub fn percent(share: f64) -> String {
    ((share * 1e8).round() / 1e6).to_string()
}

/// All plans with their rows.
pub fn text(plans: &[Plan], rows: &[(usize, Row)]) -> String {
    let mut text = String::new();
    for (index, plan) in plans.iter().enumerate() {
        let rows: Vec<_> = rows.iter().filter(|(of, _)| *of == index).map(|(_, row)| row).collect();
        let _ = writeln!(text, "{}: {}", plan.name, plan.explain);
        block(&mut text, &rows);
        text.push('\n');
    }
    text
}

fn block(text: &mut String, rows: &[&Row]) {
    let cells = |column: &Column| {
        let head = [column.head, column.unit].map(str::to_owned);
        head.into_iter().chain(rows.iter().map(|row| (column.cell)(row))).collect::<Vec<_>>()
    };
    let columns: Vec<_> = COLUMNS.iter().map(cells).collect();
    for line in 0..rows.len() + 2 {
        for cells in &columns {
            let width = cells.iter().map(String::len).max().unwrap_or(0);
            let _ = write!(text, "  {:>width$}", cells[line]);
        }
        text.push('\n');
    }
}
