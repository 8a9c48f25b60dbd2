//! Recorded links of a network: from files, or made up from a seed.

use core::time::Duration;
use foretell_sim::netsim::{Cellular, SplitMix64, Trace, TraceError};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// How long a synthetic trace is: as a plan's session, mostly.
const SYNTHETIC: Duration = Duration::from_secs(300);

/// The largest file that is read: 10 million lines, as many as a trace may have, of a day's milliseconds.
const FILE_BYTES_MAX: u64 = 100_000_000;

/// What passes when in one direction, and what it is called in reports.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedLink {
    /// The file as the plan names it, or what it imitates, and the seed.
    pub name: String,
    /// The opportunities.
    pub trace: Arc<Trace>,
}

/// Why a file is no trace.
pub enum UnreadTrace {
    /// It can't be read.
    File(io::Error),
    /// It is something else, or broken.
    Text(TraceError),
}

impl RecordedLink {
    /// That of a file.
    pub fn open(name: &str, path: &Path) -> Result<RecordedLink, UnreadTrace> {
        let text = read(path).map_err(UnreadTrace::File)?;
        let trace = Arc::new(Trace::parse(&text).map_err(UnreadTrace::Text)?);
        Ok(RecordedLink { name: name.to_owned(), trace })
    }

    /// The synthetic ones of this kind: of the way to the server, and of the way back.
    pub fn cellular(kind: &'static str, seed: u32) -> [RecordedLink; 2] {
        let ways = match kind {
            "umts" => [Cellular::UMTS_UP, Cellular::UMTS_DOWN],
            "evdo" => [Cellular::EVDO_UP, Cellular::EVDO_DOWN],
            _ => [Cellular::LTE_UP, Cellular::LTE_DOWN],
        };
        let mut seeds = SplitMix64::new(u64::from(seed));
        ways.map(|way| RecordedLink {
            name: format!("synthetic {kind} of seed {seed}"),
            trace: Arc::new(way.trace(seeds.next_u64(), SYNTHETIC)),
        })
    }
}

/// The bytes of a file that is not larger than a trace can be.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it is larger than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}
