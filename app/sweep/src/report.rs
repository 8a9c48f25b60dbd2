//! The report: the table and charts in one HTML file that asks the network for nothing.
//!
//! The chart library is in the file, and the content security policy forbids every request, so that it stays so
//! whatever the library would like.

use super::charts::{self, Chart};
use super::row::{Row, Violation};
use super::table::{COLUMNS, percent};
use core::fmt::Write;
use foretell_plan::figures::{self, Bound};
use foretell_plan::{Keys, Network, Plan, Session};
use foretell_sim::netsim::Ordering;

const STYLE: &str = include_str!("report.css");
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'";

/// The whole file.
pub fn html(plans: &[Plan], rows: &[(usize, Row)], violations: &[Violation]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Foretell sweep</title>\n\
         <style>\n{STYLE}</style>\n{}\n</head>\n<body>\n<h1>Foretell sweep</h1>\n",
        script()
    );
    verdict(&mut html, rows.len(), violations);
    section_of_charts(&mut html, "overview", &charts::overview(plans, rows));
    for (index, plan) in plans.iter().enumerate() {
        let rows: Vec<_> = rows.iter().filter(|(of, _)| *of == index).map(|(_, row)| row).collect();
        let _ = write!(html, "<h2>{}</h2>\n<p>{} {}</p>\n", text(&plan.name), text(&plan.explain), facts(plan));
        table(&mut html, &rows, violations);
        if !plan.grid.is_single() {
            section_of_charts(&mut html, &format!("grid{index}"), &charts::grid(&rows));
        }
    }
    definitions(&mut html);
    html.push_str("</body>\n</html>\n");
    html
}

/// The chart library. What plotly adds to it, for formulae, is left out.
fn script() -> String {
    const END: &str = "</script>";
    let mut sources = plotly::Plot::offline_js_sources();
    let end = sources.find(END).expect("plotly gives a script") + END.len();
    sources.truncate(end);
    sources
}

fn verdict(html: &mut String, rows: usize, violations: &[Violation]) {
    let _ = writeln!(
        html,
        "<p>Bots over simulated networks on virtual time; every row is a function of its plan and seed. \
         Latency, jitter and loss are those of one direction. Charts show the worst of the seeds.</p>"
    );
    if violations.is_empty() {
        let _ = writeln!(html, "<p class=\"met\">All thresholds are met in all {rows} rows.</p>");
        return;
    }
    let _ = writeln!(html, "<div class=\"missed-list\"><p>{} thresholds are not met:</p>\n<ul>", violations.len());
    for Violation { row, what } in violations {
        let _ = writeln!(html, "<li>{}: {}</li>", text(row), text(what));
    }
    html.push_str("</ul></div>\n");
}

/// What a plan asks for and is not in the table's columns.
fn facts(plan: &Plan) -> String {
    let Session { tick_rate, send_rate, seconds, players, input, impulses_per_min, .. } = plan.session;
    let Network { ordering, burst_length, duplicates, reordering, rate_kbps, latency_down_ms, calm_s, .. } =
        plan.network;
    let traces = plan.network.trace.iter().chain(&plan.network.trace_down).map(|link| link.name.as_str());
    let mut traces: Vec<_> = traces.collect();
    traces.dedup();
    let input = if input == Keys::Scripted { "scripted" } else { "recorded" };
    let ordering = if ordering == Ordering::Fifo { "in order" } else { "each with a delay of its own" };
    let mut facts = format!(
        "{players} players ({input} input) at {tick_rate} Hz ticks and {send_rate} Hz inputs, {seconds} s each; \
         datagrams {ordering}"
    );
    let extra = [
        (burst_length > 1.0, format!("loss in bursts of {burst_length}")),
        (duplicates > 0.0, format!("{} % twice", percent(duplicates))),
        (reordering > 0.0, format!("{} % held back", percent(reordering))),
        (rate_kbps > 0, format!("{rate_kbps} kbit/s")),
        (!traces.is_empty(), format!("a link as in {}", traces.join(" and "))),
        (latency_down_ms.is_some(), format!("{} ms from the server", latency_down_ms.unwrap_or_default())),
        (calm_s > 0, format!("every other {calm_s} s without jitter and loss")),
        (impulses_per_min > 0.0, format!("{impulses_per_min} pushes by the server per minute")),
    ];
    extra.iter().filter(|(holds, _)| *holds).for_each(|(_, fact)| facts = format!("{facts}, {fact}"));
    let thresholds = plan.thresholds.iter().map(|threshold| {
        let sign = if threshold.bound == Bound::AtMost { "≤" } else { "≥" };
        format!("{} {sign} {}", threshold.figure, threshold.value)
    });
    let thresholds = thresholds.collect::<Vec<_>>().join(", ");
    format!("<br><small>{}.<br>Accepted: {}.</small>", text(&facts), text(&thresholds))
}

fn table(html: &mut String, rows: &[&Row], violations: &[Violation]) {
    html.push_str("<div class=\"scroll\"><table>\n<thead><tr>");
    for column in &COLUMNS {
        let name = column.figure.unwrap_or_default();
        let title = text(&format!("{name} {}", column.explain()));
        let _ = write!(html, "<th title=\"{}\">{}<small>{}</small></th>", title.trim(), column.head, column.unit);
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        let label = row.label();
        let missed = violations.iter().any(|violation| violation.row == label);
        html.push_str(if missed { "<tr class=\"missed\">" } else { "<tr>" });
        for column in &COLUMNS {
            let _ = write!(html, "<td>{}</td>", (column.cell)(row));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
}

fn section_of_charts(html: &mut String, id: &str, charts: &[Chart]) {
    let wide = charts.iter().any(|chart| chart.categories.len() > 8);
    html.push_str(if wide { "<div class=\"charts wide\">\n" } else { "<div class=\"charts\">\n" });
    for (nth, chart) in charts.iter().enumerate() {
        html.push_str(&chart.html(&format!("{id}-{nth}")));
    }
    html.push_str("</div>\n");
}

fn definitions(html: &mut String) {
    let _ = writeln!(
        html,
        "<h2>What the figures are</h2>\n<p>Rates are per player; percentiles and maxima are over all players. A \
         percentile is a sample: with n samples in order, the one of rank ⌈n p / 100⌉; 0 where there is none. The first \
         {} s after joining are not measured. The names are those of the JSON and of thresholds.</p>\n<dl>",
        figures::JOIN_S
    );
    for figure in figures::ALL {
        let unit = if figure.unit.is_empty() { String::new() } else { format!(" ({})", figure.unit) };
        let _ = writeln!(html, "<dt>{}</dt><dd>{}{}</dd>", figure.name, text(figure.explain), unit);
    }
    html.push_str("</dl>\n");
}

/// Text, safe in HTML and in an attribute.
fn text(plain: &str) -> String {
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_file_is_fetched() {
        let plan = foretell_plan::read("a.toml", "name = '</script><b>'").expect("good");
        let html = html(&[plan], &[], &[]);
        let scripts: Vec<_> = html.match_indices("<script").map(|(at, _)| &html[at..at + 32]).collect();
        assert!(scripts.iter().all(|script| script.starts_with("<script type=\"text/javascript\">")), "{scripts:?}");
        assert!(html.contains("default-src 'none'") && !html.contains("connect-src"));
        let own = html.replace(&script(), "");
        assert!(
            !own.contains("src=") && !own.contains("<link") && !own.contains("http://") && !own.contains("https://")
        );
        assert!(!own.contains("<b>"), "names are escaped");
    }
}
