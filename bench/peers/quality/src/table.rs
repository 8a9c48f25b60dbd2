//! The rows as tables of markdown: a table per figure, a line per link, a column per library.

use crate::adapters::Library;
use crate::case::Case;
use crate::figures::Figures;
use crate::row::Row;
use core::fmt::Write;

/// Where the tables begin in a document,
const BEGIN: &str = "<!-- tables -->\n";
/// and where they end.
const END: &str = "<!-- end of tables -->\n";

/// What a table says, and how a cell of it is written.
struct Table {
    title: &'static str,
    cell: fn(&Figures) -> String,
}

const TABLES: [Table; 12] = [
    Table {
        title: "Rollbacks per minute (ticks simulated again)",
        cell: |of| format!("{:.0} ({:.0})", of.rollbacks_per_min, of.resimulated_per_min),
    },
    Table {
        title: "Blow until simulated within 1 cm, ms: median, 95 %",
        cell: |of| format!("{:.0}, {:.0}", of.simulated_right_ms.p50, of.simulated_right_ms.p95),
    },
    Table {
        title: "Blow until drawn within 5 cm, ms: median, 95 % (never)",
        cell: |of| {
            let Figures { drawn_right_ms: right, never_right_percent: never, .. } = of;
            if right.count == 0 {
                "(100 %)".into()
            } else {
                format!("{:.0}, {:.0} ({never:.0} %)", right.p50, right.p95)
            }
        },
    },
    Table { title: "Own body as drawn, off by cm: mean, 99 %, most", cell: |of| centimetres(&of.own_error_m) },
    Table {
        title: "Own body as simulated, off by cm: mean, 99 %, most",
        cell: |of| centimetres(&of.simulated_error_m),
    },
    Table {
        title: "Other body as drawn, fitted: ms late, off by cm: mean, 99 %, most",
        cell: |of| format!("{:.0}: {}", of.fitted_delay_ms, centimetres(&of.fitted_error_m)),
    },
    Table {
        title: "Other body against the moment the client says: ms late, off by cm: mean, 99 %, most",
        cell: |of| format!("{:.0}: {}", of.delay_ms.mean, centimetres(&of.other_error_m)),
    },
    Table {
        title: "Other body drawn beyond a stop, cm: 99 %, most",
        cell: |of| format!("{:.1}, {:.1}", of.overshoot_m.p99 * 100.0, of.overshoot_m.max * 100.0),
    },
    Table {
        title: "Largest jump between frames beyond its speed, cm: own, other",
        cell: |of| format!("{:.0}, {:.0}", of.own_jump_m.max * 100.0, of.other_jump_m.max * 100.0),
    },
    Table {
        title: "Own body ahead, inputs wait, ms",
        cell: |of| format!("{:.0}, {:.0}", of.lead_ms.mean, of.input_delay_ms),
    },
    Table {
        title: "Bytes per second and client: up, down",
        cell: |of| format!("{:.0}, {:.0}", of.up_bytes_per_s, of.down_bytes_per_s),
    },
    Table {
        title: "Processor, µs: server per tick, client per frame",
        cell: |of| format!("{:.0}, {:.0}", of.server_us, of.client_us),
    },
];

fn centimetres(spread: &crate::spread::Spread) -> String {
    format!("{:.1}, {:.0}, {:.0}", spread.mean * 100.0, spread.p99 * 100.0, spread.max * 100.0)
}

/// The document with these tables in the place of those that it has; `None` where it does not say where they are.
pub fn replaced(document: &str, tables: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some([before, BEGIN, "\n", tables, END, after].concat())
}

/// The tables.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::new();
    TABLES.iter().for_each(|table| write_table(&mut text, rows, table));
    let blank: Vec<_> = rows.iter().filter(|row| row.figures.blank_percent > 0.0).collect();
    for row in blank {
        let Row { peer, case, figures } = row;
        line(
            &mut text,
            &format!("{peer} over {case} did not show both bodies in {:.1} % of the frames.", figures.blank_percent),
        );
    }
    text
}

fn write_table(text: &mut String, rows: &[Row], table: &Table) {
    let names = Library::ALL.map(Library::name);
    let peers: Vec<_> = names.into_iter().filter(|name| rows.iter().any(|row| row.peer == *name)).collect();
    line(text, &format!("| {} | {} |", table.title, peers.join(" | ")));
    line(text, &format!("|---|{}", "---:|".repeat(peers.len())));
    for case in Case::all().filter(|case| rows.iter().any(|row| row.case == *case)) {
        let of = |peer: &&str| rows.iter().find(|row| row.peer == *peer && row.case == case);
        let cells: Vec<_> =
            peers.iter().map(|peer| of(peer).map_or_else(|| "-".into(), |row| (table.cell)(&row.figures))).collect();
        line(text, &format!("| {case} | {} |", cells.join(" | ")));
    }
    line(text, "");
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_the_place_of_those_before() {
        let document = "a\n<!-- tables -->\nold\n<!-- end of tables -->\nb\n";
        let replaced = replaced(document, "new\n").expect("it says where");
        assert_eq!(replaced, "a\n<!-- tables -->\n\nnew\n<!-- end of tables -->\nb\n");
        assert_eq!(super::replaced("a", "new"), None);
    }

    #[test]
    fn there_is_a_line_per_link_and_a_column_per_library() {
        let case = Case { round_trip_ms: 50, jitter_ms: 0, loss_percent: 0 };
        let row = |library: Library| Row { peer: library.name().into(), case, figures: Figures::default() };
        let text = markdown(&Library::ALL.map(row));
        let cells = text.lines().filter(|line| line.starts_with("| 50 ms |")).map(|line| line.matches('|').count());
        assert_eq!(cells.collect::<Vec<_>>(), [Library::ALL.len() + 2; TABLES.len()]);
    }
}
