//! The synthetic mobile links that a control offers.

use core::time::Duration;
use foretell_sim::netsim::{Bottleneck, Capacity, Cellular, Trace};
use std::sync::{Arc, LazyLock};

/// After how long a link repeats.
const LENGTH: Duration = Duration::from_secs(120);
const SEED: u64 = 1;
/// How many bytes wait at most: what passes in half a second at 480 kbit/s, and more than a session sends in an outage.
const QUEUE_BYTES: u32 = 30_000;

/// In the order of the control's words, without the first.
static TRACES: LazyLock<[Arc<Trace>; 3]> = LazyLock::new(|| {
    let links = [Cellular::LTE_DOWN, Cellular::UMTS_DOWN, Cellular::EVDO_DOWN];
    links.map(|link| Arc::new(link.trace(SEED, LENGTH)))
});

/// The link of a code of the control; `None` for the first.
pub fn link(code: u16) -> Option<Bottleneck> {
    let trace = TRACES.get(usize::from(code).checked_sub(1)?)?;
    Some(Bottleneck::trace(trace.clone(), QUEUE_BYTES))
}

/// The code of the control for such a bottleneck; 0 for any other.
pub fn code_of(bottleneck: Option<&Bottleneck>) -> f64 {
    let Some(Capacity::Trace { trace, .. }) = bottleneck.map(|bottleneck| &bottleneck.capacity) else { return 0.0 };
    (1_u8..).zip(TRACES.iter()).find(|(_, own)| Arc::ptr_eq(own, trace)).map_or(0.0, |(code, _)| f64::from(code))
}
