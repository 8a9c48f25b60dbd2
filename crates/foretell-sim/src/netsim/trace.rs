//! Recorded links: when something may leave, in the format of Mahimahi.
//!
//! Source: Netravali, Sivaraman, Das, Goyal, Winstein, Mickens and Balakrishnan, "Mahimahi: Accurate Record-and-Replay
//! for HTTP", USENIX ATC 2015; the format is that of its `mm-link`, whose recordings of mobile networks are from
//! Winstein, Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular
//! Networks", NSDI 2013.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// How many bytes leave at most at one opportunity. Mahimahi's own code says 1,504, as it counts four bytes more of each
/// packet than are in it.
pub const OPPORTUNITY_BYTES: u32 = 1_500;

/// The longest trace: a day, in milliseconds.
pub const TRACE_MS_MAX: u32 = 86_400_000;

/// The most opportunities of a trace: 10 million, those of half an hour at 67 Mbit/s; they take 40 MB.
pub const OPPORTUNITIES_MAX: usize = 10_000_000;

/// How much of a line that is no number is shown, in bytes.
const SHOWN_MAX: usize = 40;

/// When something may leave a link, as it was recorded or [made up](super::Cellular).
///
/// As text it has a line per opportunity, each a whole number of milliseconds since its start, none less than the one
/// before; several in one millisecond are several lines of the same number. The last line is its length, after which it
/// repeats. It is written that way too, by its `Display`.
///
/// ```
/// use std::sync::Arc;
/// use core::time::Duration;
/// use foretell::Instant;
/// use foretell_sim::netsim::{Bottleneck, Conditions, Fate, Link, Trace};
///
/// // 1,500 bytes at 3 ms, 3,000 at 10 ms, then again at 13 ms, at 20 ms, and so on: 3.6 Mbit/s on average.
/// let trace = Arc::new(Trace::parse(b"3\n10\n10\n").expect("it is well-formed"));
/// assert_eq!((trace.length(), trace.bytes_per_s()), (Duration::from_millis(10), 450_000));
///
/// let conditions = Conditions {
///     latency: Duration::from_millis(20),
///     bottleneck: Some(Bottleneck::trace(trace, 30_000)),
///     ..Conditions::default()
/// };
/// let mut link = Link::new(1, 4);
/// let arrivals = [800, 600, 200].map(|bytes| link.send(Instant::ZERO, &vec![0; bytes], &conditions));
/// // The first two share an opportunity; the third begins with what is left of it and ends with the next.
/// assert_eq!(arrivals, [23, 23, 30].map(|ms| Fate::Arrives(Instant::from_micros(ms * 1_000))));
///
/// assert_eq!(
///     Trace::parse(b"3\n2\n").expect_err("it goes down").to_string(),
///     "line 2 is 2; it must be a whole number of milliseconds from 3, the line before it, to 86400000"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    /// In ms since its start, ascending, each from 0 to [`TRACE_MS_MAX`]; `1 <= len <= OPPORTUNITIES_MAX`, and the last
    /// is not 0.
    opportunities: Vec<u32>,
}

/// What is wrong with a trace. Lines count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceError {
    /// There is no line.
    Empty,
    /// The line is no number, or not one in the range.
    Malformed {
        /// Which line.
        line: usize,
        /// The beginning of what it says.
        found: String,
        /// The least that is accepted: the line before it, and 0 of the first.
        least_ms: u32,
    },
    /// The last line, and so the length, is 0.
    NoLength {
        /// Which line.
        line: usize,
    },
    /// There are more lines than [`OPPORTUNITIES_MAX`].
    TooLong,
}

impl Trace {
    /// Reads a trace from the text of a file. White space at the ends of lines and empty lines at the end do no harm.
    ///
    /// # Errors
    /// The first line that is wrong, what was found there, and what is accepted.
    pub fn parse(text: &[u8]) -> Result<Trace, TraceError> {
        let text = text.trim_ascii_end();
        if text.is_empty() {
            return Err(TraceError::Empty);
        }
        let mut opportunities = Vec::new();
        let mut least_ms = 0;
        for (index, found) in text.split(|byte| *byte == b'\n').enumerate() {
            if index == OPPORTUNITIES_MAX {
                return Err(TraceError::TooLong);
            }
            let found = found.trim_ascii();
            let Some(ms) = milliseconds(found).filter(|ms| (least_ms..=TRACE_MS_MAX).contains(ms)) else {
                return Err(TraceError::Malformed { line: index + 1, found: shown(found), least_ms });
            };
            opportunities.push(ms);
            least_ms = ms;
        }
        match least_ms {
            0 => Err(TraceError::NoLength { line: opportunities.len() }),
            _ => Ok(Trace { opportunities }),
        }
    }

    /// A trace of opportunities that are as the field says.
    pub(super) fn of(opportunities: Vec<u32>) -> Trace {
        Trace { opportunities }
    }

    /// When something may leave, in milliseconds since its start, ascending; the last is its length.
    pub fn opportunities_ms(&self) -> &[u32] {
        &self.opportunities
    }

    /// After how long it repeats: 1 ms to a day.
    pub fn length(&self) -> Duration {
        Duration::from_millis(self.length_ms())
    }

    /// How much may leave on average, in bytes per second, rounded down.
    pub fn bytes_per_s(&self) -> u64 {
        self.count() * u64::from(OPPORTUNITY_BYTES) * 1_000 / self.length_ms()
    }

    /// How many opportunities there were from its start up to and with this millisecond, with its repeats.
    pub(super) fn passed(&self, ms: u64) -> u64 {
        let since_repeat = ms % self.length_ms();
        let of_this = self.opportunities.partition_point(|at| u64::from(*at) <= since_repeat);
        (ms / self.length_ms()).saturating_mul(self.count()).saturating_add(of_this as u64)
    }

    /// When the opportunity of this index is, with its repeats, in ms since its start.
    pub(super) fn opportunity_ms(&self, index: u64) -> u64 {
        let in_this = usize::try_from(index % self.count()).expect("an index fits");
        let repeats = (index / self.count()).saturating_mul(self.length_ms());
        repeats.saturating_add(u64::from(self.opportunities[in_this]))
    }

    fn count(&self) -> u64 {
        self.opportunities.len() as u64
    }

    fn length_ms(&self) -> u64 {
        self.opportunities.last().map_or(1, |ms| u64::from(*ms))
    }
}

/// A whole number in digits alone; a number that is far too large is the largest.
fn milliseconds(found: &[u8]) -> Option<u32> {
    let digit = |so_far: u32, byte: &u8| {
        byte.is_ascii_digit().then(|| so_far.saturating_mul(10).saturating_add(u32::from(byte - b'0')))
    };
    if found.is_empty() { None } else { found.iter().try_fold(0, digit) }
}

fn shown(found: &[u8]) -> String {
    let beginning = &found[..found.len().min(SHOWN_MAX)];
    let more = if found.len() > SHOWN_MAX { "..." } else { "" };
    format!("{}{more}", beginning.escape_ascii())
}

/// Its length and mean rate: nobody reads a million numbers.
impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({:?}, {} bytes/s)", self.length(), self.bytes_per_s())
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.opportunities.iter().try_for_each(|ms| writeln!(f, "{ms}"))
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Empty => {
                write!(f, "line 1 is missing; a trace has a line per opportunity, a whole number of milliseconds")
            }
            TraceError::Malformed { line, found, least_ms } => {
                let found = if found.is_empty() { "empty" } else { found };
                let before = if *line > 1 { ", the line before it," } else { "" };
                write!(
                    f,
                    "line {line} is {found}; it must be a whole number of milliseconds from {least_ms}{before} to {TRACE_MS_MAX}"
                )
            }
            TraceError::NoLength { line } => {
                write!(
                    f,
                    "line {line}, the last one and so the length of the trace, is 0; it must be from 1 to {TRACE_MS_MAX} milliseconds"
                )
            }
            TraceError::TooLong => {
                write!(f, "line {} is one too many; accepted are up to {OPPORTUNITIES_MAX}", OPPORTUNITIES_MAX + 1)
            }
        }
    }
}

impl core::error::Error for TraceError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn complaint(text: &[u8]) -> String {
        Trace::parse(text).expect_err("it is no trace").to_string()
    }

    #[test]
    fn a_trace_is_written_as_it_is_read() {
        let text = "0\n0\n7\n7\n30\n";
        let trace = Trace::parse(text.as_bytes()).expect("well-formed");
        assert_eq!(trace.opportunities_ms(), [0, 0, 7, 7, 30]);
        assert_eq!(
            (trace.to_string(), trace.length(), trace.bytes_per_s()),
            (text.to_string(), Duration::from_millis(30), 250_000)
        );
        assert_eq!(Trace::parse(b"0\r\n0\r\n 7\n007\t\n30\n\r\n\n"), Ok(trace));
    }

    #[test]
    fn what_is_no_trace_gets_a_sentence_with_the_line_and_what_is_accepted() {
        let from_0 = "it must be a whole number of milliseconds from 0 to 86400000";
        let from_5 = "it must be a whole number of milliseconds from 5, the line before it, to 86400000";
        for (text, sentence) in [
            ("5\n4\n", format!("line 2 is 4; {from_5}")),
            ("5\n\n6\n", format!("line 2 is empty; {from_5}")),
            ("\n5\n", format!("line 1 is empty; {from_0}")),
            ("5\n6.5\n", format!("line 2 is 6.5; {from_5}")),
            ("-1\n", format!("line 1 is -1; {from_0}")),
            ("+1\n", format!("line 1 is +1; {from_0}")),
            ("5 6\n", format!("line 1 is 5 6; {from_0}")),
            ("5\n86400001\n", format!("line 2 is 86400001; {from_5}")),
            ("99999999999999999999\n", format!("line 1 is 99999999999999999999; {from_0}")),
            ("<!DOCTYPE html>\n", format!("line 1 is <!DOCTYPE html>; {from_0}")),
        ] {
            assert_eq!(complaint(text.as_bytes()), sentence);
        }
        for empty in ["", "\n", " \r\n\n"] {
            let sentence = "line 1 is missing; a trace has a line per opportunity, a whole number of milliseconds";
            assert_eq!(complaint(empty.as_bytes()), sentence);
        }
        assert_eq!(complaint(b"\xff\0\n"), format!("line 1 is \\xff\\x00; {from_0}"));
        assert_eq!(complaint(&[b'1'; 1_000_000]), format!("line 1 is {}...; {from_0}", "1".repeat(SHOWN_MAX)));
        assert_eq!(
            complaint(b"0\n0\n"),
            "line 2, the last one and so the length of the trace, is 0; it must be from 1 to 86400000 milliseconds"
        );
        let too_many = b"1\n".repeat(OPPORTUNITIES_MAX + 1);
        assert_eq!(complaint(&too_many), "line 10000001 is one too many; accepted are up to 10000000");
        assert!(Trace::parse(&too_many[2..]).is_ok());
    }

    #[test]
    fn a_trace_repeats_after_its_last_line() {
        for text in ["1", "0\n3", "2\n2\n5\n9", "0\n0\n4\n4"] {
            let trace = Trace::parse(text.as_bytes()).expect("well-formed");
            let length = trace.length_ms();
            let all: Vec<u64> = (0..4)
                .flat_map(|repeat| trace.opportunities.iter().map(move |ms| repeat * length + u64::from(*ms)))
                .collect();
            for (index, at) in all.iter().enumerate() {
                assert_eq!(trace.opportunity_ms(index as u64), *at, "{text}");
            }
            for ms in 0..4 * length {
                assert_eq!(trace.passed(ms), all.iter().filter(|at| **at <= ms).count() as u64, "{text} at {ms} ms");
            }
        }
    }

    #[test]
    fn the_end_of_time_overflows_nothing() {
        for text in ["1", "0\n86400000"] {
            let trace = Trace::parse(text.as_bytes()).expect("well-formed");
            assert!(trace.passed(u64::MAX) > 0 && trace.opportunity_ms(u64::MAX) > 0);
        }
    }
}
