//! What must hold of a client's clock some time after the last fault: its inputs come in time, and it does not fall so far behind that it
//! starts again.

use super::{Check, ClientSeen, Each};
use alloc::format;
use alloc::string::String;
use core::time::Duration;
use foretell::time::Tick;
use foretell::world::World;

/// So long after the last fault no input is late, and the client does not start again; and while there is nothing but jitter, for
/// which the client's clock makes up by its lead, few inputs are late.
#[derive(Clone, Debug)]
pub struct Punctual {
    /// How long after, beyond two round trips. Default 3 s.
    pub after: Duration,
    /// By machine: starts from a full state, and substituted inputs, at the last update.
    before: Each<Option<(u64, u64)>>,
    /// By machine: while there is nothing but jitter, where counting inputs began.
    jittered: Each<Option<Counted>>,
}

/// The client's counters at some moment.
#[derive(Clone, Copy, Debug)]
struct Counted {
    tick: Tick,
    substituted: u64,
}

/// Over how many ticks inputs are counted, so that a single late one is no large share.
const TICKS_COUNTED: u32 = 512;
/// With jitter alone at most one input of this many may be late: a clock that is steered by lateness misses one of 300.
const ONE_LATE_OF: u64 = 20;

/// In 6,000 seeds of all faults it took 2.7 s at most: a clock that is ahead by some ticks is brought back by a tenth of its speed, and
/// learns of what is late one input at a time.
pub(super) const CALM_AFTER: Duration = Duration::from_secs(3);

impl Punctual {
    /// Counts the inputs that are late while there is nothing but jitter, within the lead that the client may have.
    fn count_late<W: World>(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let now = Counted { tick: seen.client.tick(), substituted: seen.stats.inputs.substituted };
        let jittered = self.jittered.of(seen.machine);
        if seen.quiet_beside_jitter < self.after + 2 * seen.stats.network.rtt || seen.stats.inputs.slack_limited {
            *jittered = None;
            return Ok(());
        }
        let begun = *jittered.get_or_insert(now);
        let (ticks, late) = (now.tick.since(begun.tick), now.substituted.saturating_sub(begun.substituted));
        if ticks < TICKS_COUNTED {
            return Ok(());
        }
        *jittered = Some(now);
        if late * ONE_LATE_OF > u64::from(ticks) {
            return Err(format!("with nothing but jitter {late} of {ticks} inputs were late"));
        }
        Ok(())
    }
}

impl Default for Punctual {
    fn default() -> Punctual {
        Punctual { after: CALM_AFTER, before: Each::default(), jittered: Each::default() }
    }
}

impl<W: World> Check<W> for Punctual {
    fn name(&self) -> &'static str {
        "punctual"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let counters = (seen.stats.prediction.resyncs, seen.stats.inputs.substituted);
        let before = self.before.of(seen.machine).replace(counters).unwrap_or(counters);
        self.count_late(seen)?;
        if seen.quiet < self.after + 2 * seen.stats.network.rtt {
            return Ok(());
        }
        let after = format!("{} ms after the last fault", seen.quiet.as_millis());
        if counters.0 > before.0 {
            return Err(format!("{after} the client starts again from a full state"));
        }
        if counters.1 > before.1 {
            return Err(format!("{after} {} inputs were substituted", counters.1 - before.1));
        }
        Ok(())
    }
}
