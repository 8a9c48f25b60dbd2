//! Reads a plan file: from text to a [`Plan`] that is in range, or one sentence about the first thing that is wrong.

mod traces;

use super::field::{self, Accepted, Field};
use super::figures::{self, Bound, Threshold};
use super::network::Network;
use super::plan::{Grid, Plan};
use super::session::{Keys, Session};
use core::fmt;
use core::ops::Range;
use foretell_sim::netsim::Ordering;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// What is wrong with a plan file: a sentence with the file, the line and what is accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanError(pub String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for PlanError {}

/// The most rows that a plan may have.
const ROWS_MAX: usize = 4096;

type Given<T> = Option<Spanned<T>>;
type Numbers = Spanned<Vec<Spanned<f64>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    explain: String,
    #[serde(default)]
    network: NetworkTable,
    #[serde(default)]
    session: SessionTable,
    #[serde(default)]
    grid: GridTable,
    #[serde(default)]
    thresholds: BTreeMap<Spanned<String>, Spanned<f64>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct NetworkTable {
    latency_ms: Given<f64>,
    latency_down_ms: Given<f64>,
    jitter_ms: Given<f64>,
    ordering: Given<String>,
    loss: Given<f64>,
    burst_length: Given<f64>,
    duplicates: Given<f64>,
    reordering: Given<f64>,
    rate_kbps: Given<f64>,
    trace: Given<String>,
    trace_down: Given<String>,
    cellular: Given<String>,
    cellular_seed: Given<f64>,
    queue_bytes: Given<f64>,
    queue_datagrams: Given<f64>,
    calm_s: Given<f64>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct SessionTable {
    tick_rate: Given<f64>,
    send_rate: Given<f64>,
    snapshot_rate: Given<f64>,
    seconds: Given<f64>,
    players: Given<f64>,
    seeds: Given<Vec<i64>>,
    input: Given<String>,
    impulses_per_min: Given<f64>,
    lead_max_ms: Given<f64>,
    skew_ppm: Given<f64>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct GridTable {
    latency_ms: Option<Numbers>,
    jitter_ms: Option<Numbers>,
    loss: Option<Numbers>,
    snapshot_rate: Option<Numbers>,
    skew_ppm: Option<Numbers>,
}

/// The text that is read, for sentences about it.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

/// Reads a plan from the text of a file. Traces that it names are read too, each from its path from that file's folder.
///
/// # Errors
/// One sentence that names the file, the line and what is accepted there.
pub fn read(file: &str, text: &str) -> Result<Plan, PlanError> {
    let source = Source { file, text };
    let File { name, explain, network, session, grid, thresholds } =
        toml::from_str(text).map_err(|error| source.explain(&error))?;
    let plan = Plan {
        name,
        explain,
        network: source.network(&network)?,
        session: source.session(&session)?,
        grid: source.grid(&grid, &session)?,
        thresholds: thresholds.iter().map(|(key, value)| source.threshold(key, value)).collect::<Result<_, _>>()?,
    };
    source.check_losses(&plan, &network, &grid)?;
    let rows = plan.cases().len() * plan.session.seeds.len();
    if rows > ROWS_MAX {
        return Err(
            source.broken(0, &format!("the grid has {rows} rows with its seeds; accepted are up to {ROWS_MAX}"))
        );
    }
    Ok(plan)
}

impl Source<'_> {
    fn network(&self, table: &NetworkTable) -> Result<Network, PlanError> {
        let or = Network::default();
        let number = |key, given: &Given<f64>, default| self.number(field::known("network", key), given, default);
        let latency_down_ms = number("latency_down_ms", &table.latency_down_ms, 0.0)?;
        let queue_bytes = whole(number("queue_bytes", &table.queue_bytes, 0.0)?);
        let queue_datagrams = whole(number("queue_datagrams", &table.queue_datagrams, 0.0)?);
        let [trace, trace_down] = self.recorded(table)?;
        Ok(Network {
            latency_ms: number("latency_ms", &table.latency_ms, or.latency_ms)?,
            latency_down_ms: table.latency_down_ms.as_ref().map(|_| latency_down_ms),
            jitter_ms: number("jitter_ms", &table.jitter_ms, or.jitter_ms)?,
            ordering: match self.word(field::known("network", "ordering"), &table.ordering)? {
                Some("independent") => Ordering::Independent,
                _ => or.ordering,
            },
            loss: number("loss", &table.loss, or.loss)?,
            burst_length: number("burst_length", &table.burst_length, or.burst_length)?,
            duplicates: number("duplicates", &table.duplicates, or.duplicates)?,
            reordering: number("reordering", &table.reordering, or.reordering)?,
            rate_kbps: whole(number("rate_kbps", &table.rate_kbps, f64::from(or.rate_kbps))?),
            trace,
            trace_down,
            queue_bytes: table.queue_bytes.is_some().then_some(queue_bytes),
            queue_datagrams: table.queue_datagrams.is_some().then_some(queue_datagrams),
            calm_s: whole(number("calm_s", &table.calm_s, f64::from(or.calm_s))?),
        })
    }

    fn session(&self, table: &SessionTable) -> Result<Session, PlanError> {
        let or = Session::default();
        let number = |key, given: &Given<f64>, default| self.number(field::known("session", key), given, default);
        let tick_rate = number("tick_rate", &table.tick_rate, f64::from(or.tick_rate))?;
        let send_rate = number("send_rate", &table.send_rate, tick_rate)?;
        let snapshot_rate = number("snapshot_rate", &table.snapshot_rate, tick_rate)?;
        for (key, given) in [("send_rate", &table.send_rate), ("snapshot_rate", &table.snapshot_rate)] {
            given.as_ref().map_or(Ok(()), |given| self.divides(key, given, tick_rate))?;
        }
        Ok(Session {
            tick_rate: whole(tick_rate),
            send_rate: whole(send_rate),
            snapshot_rate: whole(snapshot_rate),
            seconds: whole(number("seconds", &table.seconds, f64::from(or.seconds))?),
            players: usize::from(whole::<u16>(number("players", &table.players, 2.0)?)),
            seeds: self.seeds(table.seeds.as_ref())?.unwrap_or(or.seeds),
            input: match self.word(field::known("session", "input"), &table.input)? {
                Some("recorded") => Keys::Recorded,
                _ => or.input,
            },
            impulses_per_min: number("impulses_per_min", &table.impulses_per_min, or.impulses_per_min)?,
            lead_max_ms: table.lead_max_ms.is_some().then_some(whole(number("lead_max_ms", &table.lead_max_ms, 0.0)?)),
            skew_ppm: signed(number("skew_ppm", &table.skew_ppm, f64::from(or.skew_ppm))?),
        })
    }

    fn grid(&self, table: &GridTable, session: &SessionTable) -> Result<Grid, PlanError> {
        let list = |key, given: &Option<Numbers>| self.list(field::known("grid", key), given.as_ref());
        let tick_rate = session.tick_rate.as_ref().map_or(64.0, |given| *given.get_ref());
        for value in table.snapshot_rate.iter().flat_map(|list| list.get_ref()) {
            self.check_number(field::known("session", "snapshot_rate"), "snapshot_rate", value)?;
            self.divides("snapshot_rate", value, tick_rate)?;
        }
        Ok(Grid {
            latency_ms: list("latency_ms", &table.latency_ms)?,
            jitter_ms: list("jitter_ms", &table.jitter_ms)?,
            loss: list("loss", &table.loss)?,
            snapshot_rate: list("snapshot_rate", &table.snapshot_rate)?.into_iter().map(whole).collect(),
            skew_ppm: list("skew_ppm", &table.skew_ppm)?.into_iter().map(signed).collect(),
        })
    }

    fn threshold(&self, key: &Spanned<String>, value: &Spanned<f64>) -> Result<Threshold, PlanError> {
        let named = key.get_ref().as_str();
        let Some((figure, bound)) = bound_of(named) else {
            let names: Vec<_> = figures::ALL.iter().map(|figure| figure.name).collect();
            let sentence = format!(
                "the threshold {named} is unknown; accepted are the figures with _max or _min behind them (those that \
                 end in _max stand as they are): {}",
                names.join(", ")
            );
            return Err(self.broken(key.span().start, &sentence));
        };
        if !value.get_ref().is_finite() {
            return Err(self.broken(value.span().start, &format!("the threshold {named} must be a finite number")));
        }
        Ok(Threshold { figure, bound, value: *value.get_ref() })
    }

    fn number(&self, field: &Field, given: &Given<f64>, default: f64) -> Result<f64, PlanError> {
        let Some(given) = given else { return Ok(default) };
        self.check_number(field, field.key, given)?;
        Ok(*given.get_ref())
    }

    /// Checks a value, called `name`, against what a field accepts.
    fn check_number(&self, field: &Field, name: &str, value: &Spanned<f64>) -> Result<(), PlanError> {
        if field.accepted.accepts(*value.get_ref()) {
            return Ok(());
        }
        Err(self.must_be(name, &value.span(), &field.accepted))
    }

    fn list(&self, field: &Field, given: Option<&Numbers>) -> Result<Vec<f64>, PlanError> {
        let Some(given) = given else { return Ok(Vec::new()) };
        let Field { key, accepted, .. } = field;
        let Accepted::ListOf(of_table, of_key) = accepted else { unreachable!("grids are lists") };
        if given.get_ref().is_empty() {
            return Err(self.broken(given.span().start, &format!("{key} is empty; it must be {accepted}")));
        }
        for value in given.get_ref() {
            self.check_number(field::known(of_table, of_key), key, value)?;
        }
        Ok(given.get_ref().iter().map(|value| *value.get_ref()).collect())
    }

    fn word(&self, field: &Field, given: &Given<String>) -> Result<Option<&'static str>, PlanError> {
        let Some(given) = given else { return Ok(None) };
        let Accepted::Words(words) = field.accepted else { unreachable!("it is a word") };
        let known = words.iter().find(|word| **word == given.get_ref().as_str());
        known.map(|word| Some(*word)).ok_or_else(|| self.must_be(field.key, &given.span(), &field.accepted))
    }

    fn seeds(&self, given: Option<&Spanned<Vec<i64>>>) -> Result<Option<Vec<u64>>, PlanError> {
        let Some(given) = given else { return Ok(None) };
        let seeds: Result<Vec<_>, _> = given.get_ref().iter().map(|seed| u64::try_from(*seed)).collect();
        match seeds {
            Ok(seeds) if (1..=64).contains(&seeds.len()) => Ok(Some(seeds)),
            _ => Err(self.must_be("seeds", &given.span(), &Accepted::Seeds)),
        }
    }

    fn divides(&self, key: &str, rate: &Spanned<f64>, tick_rate: f64) -> Result<(), PlanError> {
        if tick_rate % rate.get_ref() == 0.0 {
            return Ok(());
        }
        let ticks: u32 = whole(tick_rate);
        let divisors: Vec<_> = (1..=ticks).filter(|n| ticks.is_multiple_of(*n)).map(|n| n.to_string()).collect();
        let sentence =
            format!("{key} is {}; it must divide the tick rate of {ticks} Hz: {}", rate.get_ref(), divisors.join(", "));
        Err(self.broken(rate.span().start, &sentence))
    }

    /// Not every share of loss is possible in bursts.
    fn check_losses(&self, plan: &Plan, network: &NetworkTable, grid: &GridTable) -> Result<(), PlanError> {
        if plan.cases().iter().all(|case| case.network.conditions().validate().is_ok()) {
            return Ok(());
        }
        let in_grid = grid.loss.as_ref().map(Spanned::span);
        let span = in_grid.or(network.loss.as_ref().map(Spanned::span)).unwrap_or(0..0);
        Err(self.must_be("loss", &span, &"in bursts at most burst_length / (1 + burst_length)"))
    }

    /// The sentence for an error of the parser or of serde.
    fn explain(&self, error: &toml::de::Error) -> PlanError {
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        let span = error.span().unwrap_or(0..0);
        let (table, key) = self.place(span.start);
        let field = field::find(table, key);
        if let Some(field) = field.filter(|_| message.starts_with("invalid type")) {
            return self.must_be(key, &span, &field.accepted);
        }
        if message.starts_with("invalid type") && table == "thresholds" {
            return self.must_be(key, &span, &"a number");
        }
        if message.starts_with("unknown field") {
            // Spans of unknown keys begin at the key; what is accepted depends on the table that they stand in.
            let unknown = self.text[span.clone()].trim();
            let mut accepted: Vec<_> = field::keys(table).collect();
            if table.is_empty() || accepted.is_empty() {
                accepted = field::keys("").chain(field::tables()).collect();
            }
            return self.broken(span.start, &format!("{unknown} is unknown; accepted are {}", accepted.join(", ")));
        }
        if message.starts_with("duplicate key") {
            return self.broken(span.start, &format!("{} is given twice; accepted is once", &self.text[span.clone()]));
        }
        self.broken(span.start, &message)
    }

    fn must_be(&self, key: &str, span: &Range<usize>, accepted: &dyn fmt::Display) -> PlanError {
        let given = self.text[span.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        let accepted = accepted.to_string();
        self.broken(span.start, &format!("{key} is {given}; it must be {}", accepted.trim_end()))
    }

    fn broken(&self, at: usize, what: &str) -> PlanError {
        let line = self.text[..at.min(self.text.len())].matches('\n').count() + 1;
        PlanError(format!("{}, line {line}: {}", self.file, what.trim_end()))
    }

    /// The table and the key that stand at a place in the text.
    fn place(&self, at: usize) -> (&str, &str) {
        let end = self.text[at..].find('\n').map_or(self.text.len(), |to_end| at + to_end);
        let before = &self.text[..end];
        let header = before.lines().rev().find_map(|line| line.trim().strip_prefix('[')?.split_once(']'));
        let key = before.lines().rev().find_map(|line| line.split_once('='));
        (header.map_or("", |(table, _)| table.trim()), key.map_or("", |(key, _)| key.trim()))
    }
}

/// The figure and the side that a threshold's key names.
fn bound_of(key: &str) -> Option<(&'static str, Bound)> {
    let find = |name: &str| figures::ALL.iter().find(|figure| figure.name == name).map(|figure| figure.name);
    if let Some(figure) = find(key).filter(|figure| figure.ends_with("_max")) {
        return Some((figure, Bound::AtMost));
    }
    let at_most = key.strip_suffix("_max").and_then(find).map(|figure| (figure, Bound::AtMost));
    at_most.or_else(|| key.strip_suffix("_min").and_then(find).map(|figure| (figure, Bound::AtLeast)))
}

/// A number that was checked to be whole and in range.
fn whole<T: TryFrom<u32, Error: fmt::Debug>>(value: f64) -> T {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and from 0 to 16,777,216")]
    let value = value as u32;
    T::try_from(value).expect("the field's range fits into its type")
}

/// The same with a sign.
fn signed(value: f64) -> i32 {
    let size: i32 = whole(value.abs());
    if value < 0.0 { -size } else { size }
}

#[cfg(test)]
mod tests;
