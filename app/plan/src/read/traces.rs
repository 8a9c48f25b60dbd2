//! The recorded links that a plan file names, and what can't be said beside them.

use super::{Given, NetworkTable, PlanError, Source, whole};
use crate::field;
use crate::recorded::{RecordedLink, UnreadTrace};
use std::path::Path;

impl Source<'_> {
    /// The way to the server and, where it is another, the way back.
    pub(super) fn recorded(&self, table: &NetworkTable) -> Result<[Option<RecordedLink>; 2], PlanError> {
        self.check_beside_traces(table)?;
        let seed = self.number(field::known("network", "cellular_seed"), &table.cellular_seed, 1.0)?;
        if let Some(kind) = self.word(field::known("network", "cellular"), &table.cellular)? {
            return Ok(RecordedLink::cellular(kind, whole(seed)).map(Some));
        }
        Ok([self.open("trace", &table.trace)?, self.open("trace_down", &table.trace_down)?])
    }

    /// The trace in a file, whose path is from the plan's folder.
    fn open(&self, key: &str, given: &Given<String>) -> Result<Option<RecordedLink>, PlanError> {
        let Some(given) = given else { return Ok(None) };
        let name = given.get_ref();
        let path = Path::new(self.file).parent().unwrap_or(Path::new("")).join(name);
        let shown = path.display();
        let wrong = |what: String| self.broken(given.span().start, &format!("{key} is \"{name}\"; {what}"));
        match RecordedLink::open(name, &path) {
            Ok(link) => Ok(Some(link)),
            Err(UnreadTrace::File(error)) => Err(wrong(format!("{shown} can't be read: {error}"))),
            Err(UnreadTrace::Text(error)) => Err(wrong(format!("in {shown} {error}"))),
        }
    }

    fn check_beside_traces(&self, table: &NetworkTable) -> Result<(), PlanError> {
        let NetworkTable { trace, trace_down, cellular, cellular_seed, rate_kbps, .. } = table;
        if let Some(kind) = cellular.as_ref().filter(|_| trace.is_some() || trace_down.is_some()) {
            return Err(self.must_be("cellular", &kind.span(), &"without trace and trace_down, or they without it"));
        }
        if let Some(seed) = cellular_seed.as_ref().filter(|_| cellular.is_none()) {
            return Err(self.must_be("cellular_seed", &seed.span(), &"beside cellular"));
        }
        let is_limited = rate_kbps.as_ref().is_some_and(|rate| *rate.get_ref() != 0.0);
        if let Some(rate) = rate_kbps.as_ref().filter(|_| is_limited && (trace.is_some() || cellular.is_some())) {
            return Err(self.must_be("rate_kbps", &rate.span(), &"0 beside trace or cellular, which say what passes"));
        }
        let has_queue = is_limited || trace.is_some() || trace_down.is_some() || cellular.is_some();
        for (key, given) in [("queue_bytes", &table.queue_bytes), ("queue_datagrams", &table.queue_datagrams)] {
            if let Some(given) = given.as_ref().filter(|_| !has_queue) {
                return Err(self.must_be(key, &given.span(), &"beside rate_kbps, trace, trace_down or cellular"));
            }
        }
        Ok(())
    }
}
