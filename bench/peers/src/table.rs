//! The rows as tables of markdown: a line per case, a column per library.

use crate::adapters::Library;
use crate::row::Row;
use core::fmt::Write;

/// Where the tables begin in a document,
const BEGIN: &str = "<!-- tables -->\n";
/// and where they end.
const END: &str = "<!-- end of tables -->\n";

/// What a table is of.
type Figure = fn(&Row) -> f64;

/// The document with these tables in the place of those that it has; `None` where it does not say where they are.
pub fn replaced(document: &str, tables: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some([before, BEGIN, "\n", tables, "\n", END, after].concat())
}

/// The tables: the server's time, the clients' time, bytes.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::new();
    let figures: [(&str, Figure); 3] = [
        ("Server, microseconds of the processor per tick", |row| row.server_us),
        ("One client, microseconds of the processor per tick", |row| row.client_us),
        ("Bytes to one client per tick", |row| row.bytes_per_client_per_tick),
    ];
    for (title, figure) in figures {
        table(&mut text, rows, title, figure);
    }
    text.push_str(&divergence(rows));
    text
}

fn table(text: &mut String, rows: &[Row], title: &str, figure: Figure) {
    let libraries: Vec<_> =
        Library::ALL.map(Library::name).into_iter().filter(|name| rows.iter().any(|row| row.peer == *name)).collect();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes everything");
    line(format!("| {title} | {} |", libraries.join(" | ")));
    line(format!("|---|{}", "---:|".repeat(libraries.len())));
    let mut cases: Vec<_> = rows.iter().map(Row::case).collect();
    cases.dedup();
    for case in cases {
        let of = |name: &&str| rows.iter().find(|row| row.case() == case && row.peer == **name);
        let cell = |name: &&str| of(name).map_or("not measured".into(), |row| number(figure(row)));
        let cells: Vec<String> = libraries.iter().map(cell).collect();
        line(format!("| {case} | {} |", cells.join(" | ")));
    }
    line(String::new());
}

fn divergence(rows: &[Row]) -> String {
    let which: Vec<_> =
        rows.iter().filter(|row| row.diverges).map(|row| format!("{} ({})", row.peer, row.case())).collect();
    match &which[..] {
        [] => "Nobody's clients differ from the server once everything rests.\n".into(),
        some => format!("Clients differ from the server once everything rests: {}.\n", some.join("; ")),
    }
}

/// Three digits, and thousands set apart.
fn number(value: f64) -> String {
    if value < 9.95 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_the_place_of_those_that_a_document_has() {
        let document = |tables: &str| format!("Before.\n<!-- tables -->\n\n{tables}\n<!-- end of tables -->\nAfter.\n");
        assert_eq!(replaced(&document("old\n"), "new\n"), Some(document("new\n")));
        assert_eq!(replaced("No tables here.\n", "new\n"), None);
    }

    #[test]
    fn numbers_are_short_and_thousands_are_set_apart() {
        let texts = [0.04, 9.94, 9.96, 999.6, 12_345.0, 1_234_567.0].map(number);
        assert_eq!(texts, ["0.0", "9.9", "10", "1,000", "12,345", "1,234,567"]);
    }
}
