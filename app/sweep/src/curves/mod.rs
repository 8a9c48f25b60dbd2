//! Every curve over the same link, measured against the true motion: the tables of `docs/CURVES.md`.

mod errors;
mod session;
mod world;

use core::fmt::Write;
use errors::ShownErrors;
use foretell_plan::motions::Motion;
use session::{CurveSamples, Method};

/// Snapshots per second.
const RATES_HZ: [u16; 5] = [2, 5, 10, 20, 60];
/// Shares of datagrams that are lost.
const LOSSES: [f64; 2] = [0.0, 0.05];
const SEEDS: [u64; 3] = [1, 2, 3];
/// How long each session is measured.
const MEASURED_S: u32 = 120;

/// What was measured with one rate and one loss: by motion, then by method.
struct Cell {
    snapshot_hz: u16,
    loss: f64,
    playout_ms: f64,
    errors: [Vec<ShownErrors>; 3],
}

/// Measures all and writes it as Markdown; `quick` for a tenth of the time, with one seed.
pub fn markdown(quick: bool) -> String {
    let (seeds, measured_s) = if quick { (&SEEDS[..1], MEASURED_S / 10) } else { (&SEEDS[..], MEASURED_S) };
    let cells: Vec<Cell> = LOSSES
        .iter()
        .flat_map(|loss| RATES_HZ.map(|snapshot_hz| measure(snapshot_hz, *loss, seeds, measured_s)))
        .collect();
    let mut text = delays(&cells);
    text.push_str(&best(&cells));
    for (nth, motion) in Motion::ALL.iter().enumerate() {
        for loss in LOSSES {
            let _ = write!(text, "\n### {}, {} % lost\n\n", capital(motion.name()), loss * 100.0);
            text.push_str(&table(cells.iter().filter(|cell| cell.loss == loss), nth));
        }
    }
    text
}

fn measure(snapshot_hz: u16, loss: f64, seeds: &[u64], measured_s: u32) -> Cell {
    let sampled: Vec<CurveSamples> =
        seeds.iter().map(|seed| session::run(snapshot_hz, loss, measured_s, *seed)).collect();
    let errors = core::array::from_fn(|motion| {
        let of = |method: usize| {
            let sessions: Vec<_> = sampled.iter().map(|sampled| &sampled.shown[motion][method][..]).collect();
            errors::of(Motion::ALL[motion], &sessions)
        };
        (0..Method::ALL.len()).map(of).collect()
    });
    let playout: Vec<f64> = sampled.iter().flat_map(|sampled| sampled.playout_ms.iter().copied()).collect();
    let playout_ms = playout.iter().sum::<f64>() / playout.len().max(1) as f64;
    Cell { snapshot_hz, loss, playout_ms, errors }
}

/// What the session chose as its playout delay.
fn delays(cells: &[Cell]) -> String {
    let mut text = "| lost, % |".to_owned();
    RATES_HZ.iter().for_each(|rate| text = format!("{text} {rate} Hz |"));
    let _ = write!(text, "\n|---:|{}\n", "---:|".repeat(RATES_HZ.len()));
    for loss in LOSSES {
        let _ = write!(text, "| {} |", loss * 100.0);
        for cell in cells.iter().filter(|cell| cell.loss == loss) {
            let _ = write!(text, " {:.0} ms |", cell.playout_ms);
        }
        text.push('\n');
    }
    text
}

/// A question and the error that answers it.
type Asked = (&'static str, fn(&ShownErrors) -> f64);

/// The best of the session's curves for each motion, rate and loss: at the shown instant, and now.
fn best(cells: &[Cell]) -> String {
    let mut text = "\n| motion | lost, % | right at |".to_owned();
    RATES_HZ.iter().for_each(|rate| text = format!("{text} {rate} Hz |"));
    let _ = write!(text, "\n|---|---:|---|{}\n", "---|".repeat(RATES_HZ.len()));
    let asked: [Asked; 2] = [("the shown instant", |errors| errors.then_rms_m), ("now", |errors| errors.now_rms_m)];
    for (nth, motion) in Motion::ALL.iter().enumerate() {
        for (loss, (at, error)) in LOSSES.into_iter().flat_map(|loss| asked.map(|asked| (loss, asked))) {
            let _ = write!(text, "| {} | {} | {at} |", motion.name(), loss * 100.0);
            for cell in cells.iter().filter(|cell| cell.loss == loss) {
                let curves = Method::ALL.iter().zip(&cell.errors[nth]);
                let curves = curves.filter(|(method, _)| matches!(method, Method::Curve(_)));
                let least = curves.min_by(|a, b| error(a.1).total_cmp(&error(b.1)));
                let (method, errors) = least.expect("there are curves");
                let _ = write!(text, " {} {} |", method.name(), centimetres(error(errors)));
            }
            text.push('\n');
        }
    }
    text
}

fn table<'a>(cells: impl Iterator<Item = &'a Cell>, motion: usize) -> String {
    let heads = ["now RMS", "now p95", "delay, ms", "then RMS", "then p95", "step"];
    let mut text = "| Hz | method |".to_owned();
    heads.iter().for_each(|head| text = format!("{text} {head} |"));
    let _ = write!(text, "\n|---:|---|{}\n", "---:|".repeat(heads.len()));
    for cell in cells {
        for (method, errors) in Method::ALL.iter().zip(&cell.errors[motion]) {
            let ShownErrors { now_rms_m, now_p95_m, delay_ms, then_rms_m, then_p95_m, step_m } = *errors;
            let [now_rms, now_p95, then_rms, then_p95, step] =
                [now_rms_m, now_p95_m, then_rms_m, then_p95_m, step_m].map(centimetres);
            let head = format!("| {} | {} |", cell.snapshot_hz, method.name());
            // No shift fits to what is nowhere near.
            let delay = if then_rms_m > AWAY_M { "-".to_owned() } else { format!("{delay_ms:.0}") };
            let _ = writeln!(text, "{head} {now_rms} | {now_p95} | {delay} | {then_rms} | {then_p95} | {step} |");
        }
    }
    text
}

/// What has left the room has no place in a table.
const AWAY_M: f64 = 100.0;

fn centimetres(metres: f64) -> String {
    if metres > AWAY_M {
        return "diverges".to_owned();
    }
    format!("{:.1}", metres * 100.0)
}

fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}
