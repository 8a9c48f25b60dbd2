//! The charts of the report: bars, the worst of the seeds, one colour per series.

use super::row::Row;
use super::table::percent;
use foretell_plan::Plan;
use foretell_plan::figures::{self, Figures};
use plotly::common::{Anchor, Font, Marker, Orientation, Title};
use plotly::configuration::{Configuration, DisplayModeBar};
use plotly::layout::{Axis, AxisType, BarMode, Layout, Legend, Margin, RangeMode};
use plotly::{Bar, Plot};

/// Okabe and Ito's colours, which colour-blind eyes tell apart on light and dark.
const COLOURS: [&str; 4] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7"];
/// Readable on light and dark.
const INK: &str = "#7d8590";
const GRID: &str = "rgba(128,128,128,0.25)";

/// A bar chart: for each category a bar of each series.
pub struct Chart {
    /// What is drawn, with its unit.
    pub title: String,
    /// What stands under the bars.
    pub categories: Vec<String>,
    /// Names and values, one for each category.
    pub series: Vec<(String, Vec<f64>)>,
}

/// A name, a figure and a factor for it.
type Drawn = (&'static str, &'static str, f64);

/// What the plans without a grid are compared by: a title and what is drawn under it.
const OVERVIEW: [(&str, &[Drawn]); 6] = [
    (
        "Corrections: how far, before smoothing (cm)",
        &[("p50", "correction_m_p50", 100.0), ("p95", "correction_m_p95", 100.0), ("max", "correction_m_max", 100.0)],
    ),
    ("Corrections: how often (per minute and player)", &[("corrections", "corrections_per_min", 1.0)]),
    ("Longest freeze of others (ms)", &[("freeze", "frozen_ms_max", 1.0)]),
    ("Inputs that came too late (%)", &[("missed", "input_miss_rate", 100.0)]),
    (
        "Bought with delay (ms, 95th percentile)",
        &[
            ("lead", "lead_ms_p95", 1.0),
            ("of it spare", "spare_lead_ms_p95", 1.0),
            ("playout delay of others", "playout_delay_ms_p95", 1.0),
        ],
    ),
    ("Bought with bytes (B/s and client)", &[("up", "bytes_up_per_s", 1.0), ("down", "bytes_down_per_s", 1.0)]),
];

/// What a grid is drawn by: one chart for each of these figures.
const GRID_FIGURES: [Drawn; 8] = [
    ("Corrections per minute and player", "corrections_per_min", 1.0),
    ("Corrections, 95th percentile before smoothing (cm)", "correction_m_p95", 100.0),
    ("Inputs that came too late (%)", "input_miss_rate", 100.0),
    ("Lead beyond the one-way latency, 95th percentile (ms)", "spare_lead_ms_p95", 1.0),
    ("Longest freeze of others (ms)", "frozen_ms_max", 1.0),
    ("Largest jump of others in one frame (cm)", "others_jump_m_max", 100.0),
    ("Playout delay of others, 95th percentile (ms)", "playout_delay_ms_p95", 1.0),
    ("Bytes down per second and client", "bytes_down_per_s", 1.0),
];

/// The plans without a grid side by side.
pub fn overview(plans: &[Plan], rows: &[(usize, Row)]) -> Vec<Chart> {
    let single: Vec<_> = (0..plans.len()).filter(|plan| plans[*plan].grid.is_single()).collect();
    let value = |plan: usize, figure: &str, factor: f64| {
        worst(rows.iter().filter(|(of, _)| *of == plan).map(|(_, row)| row), figure) * factor
    };
    let chart = |(title, figures): (&str, &[Drawn])| Chart {
        title: title.to_owned(),
        categories: single.iter().map(|plan| plans[*plan].name.clone()).collect(),
        series: figures
            .iter()
            .map(|(name, figure, factor)| {
                ((*name).to_owned(), single.iter().map(|plan| value(*plan, figure, *factor)).collect())
            })
            .collect(),
    };
    if single.is_empty() { Vec::new() } else { OVERVIEW.into_iter().map(chart).collect() }
}

/// A grid: a category per network, a series per snapshot rate.
pub fn grid(rows: &[&Row]) -> Vec<Chart> {
    let (mut networks, mut rates) = (Vec::new(), Vec::new());
    for row in rows {
        keep(&mut networks, network(row));
        keep(&mut rates, row.session.snapshot_hz);
    }
    let value = |at: &str, rate: u16, figure: &str| {
        worst(rows.iter().copied().filter(|row| network(row) == at && row.session.snapshot_hz == rate), figure)
    };
    let chart = |(title, figure, factor): Drawn| Chart {
        title: title.to_owned(),
        categories: networks.clone(),
        series: rates
            .iter()
            .map(|rate| {
                let values = networks.iter().map(|at| value(at, *rate, figure) * factor).collect();
                (format!("{rate} Hz"), values)
            })
            .collect(),
    };
    GRID_FIGURES.into_iter().map(chart).collect()
}

/// The network of a row in a few characters.
fn network(row: &Row) -> String {
    format!("{}+{} ms, {} %", row.network.latency_ms, row.network.jitter_ms, percent(row.network.loss))
}

fn keep<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}

/// The largest value of a figure.
pub fn worst<'a>(rows: impl Iterator<Item = &'a Row>, figure: &str) -> f64 {
    let of: fn(&Figures) -> f64 = figures::named(figure).expect("charts name figures that there are").of;
    rows.map(|row| of(&row.figures)).fold(0.0, f64::max)
}

impl Chart {
    /// As HTML, with the script's data in it.
    pub fn html(&self, id: &str) -> String {
        let mut plot = Plot::new();
        for ((name, values), colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            let bar = Bar::new(self.categories.clone(), values.clone());
            plot.add_trace(bar.name(name).marker(Marker::new().color(*colour)));
        }
        let axis = || Axis::new().grid_color(GRID).zero_line_color(GRID).auto_margin(true);
        let legend = Legend::new().orientation(Orientation::Horizontal).y(1.02).y_anchor(Anchor::Bottom);
        plot.set_layout(
            Layout::new()
                .title(Title::with_text(&self.title).font(Font::new().size(14)))
                .bar_mode(BarMode::Group)
                .font(Font::new().color(INK).size(11))
                .paper_background_color("rgba(0,0,0,0)")
                .plot_background_color("rgba(0,0,0,0)")
                .margin(Margin::new().left(50).right(15).top(70).bottom(40))
                .x_axis(axis().type_(AxisType::Category).show_grid(false))
                .y_axis(axis().range_mode(RangeMode::NonNegative))
                .legend(legend)
                .show_legend(self.series.len() > 1),
        );
        plot.set_configuration(Configuration::new().responsive(true).display_mode_bar(DisplayModeBar::False));
        format!("<div class=\"chart\">{}</div>\n", plot.to_inline_html(Some(id)))
    }
}
