//! What is confirmed stays as it is.

use super::{Check, ClientSeen, Each};
use alloc::collections::VecDeque;
use alloc::string::String;
use foretell::session::client::ClientState;
use foretell::time::Tick;
use foretell::world::World;

/// A client's state of a tick that was compared with the server's never changes again, as long as it is remembered.
#[derive(Clone, Debug, Default)]
pub struct History {
    by_machine: Each<Confirmed>,
}

/// Confirmed ticks of a client, ascending, with the digests of their predicted rows.
#[derive(Clone, Debug, Default)]
struct Confirmed {
    ticks: VecDeque<(Tick, u64)>,
    /// Which one is looked at next while nothing is simulated again.
    next: usize,
}

#[cfg(test)]
impl History {
    /// Remembers something else of the oldest state of the first machine.
    pub(super) fn tamper(&mut self) {
        self.by_machine.of(0).ticks[0].1 ^= 1;
    }
}

impl<W: World> Check<W> for History {
    fn name(&self) -> &'static str {
        "history"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let confirmed = self.by_machine.of(seen.machine);
        let digest = |tick: Tick| seen.client.predicted(tick).map(|rows| rows.digest());
        while confirmed.ticks.front().is_some_and(|(tick, _)| seen.client.predicted(*tick).is_none()) {
            confirmed.ticks.pop_front();
        }
        // A history changes where something is simulated again. Elsewhere it is enough to look at all of it in turn.
        let all = confirmed.ticks.len();
        let count = if seen.frame.resimulated > 0 { all } else { all.min(1) };
        for _ in 0..count {
            confirmed.next = (confirmed.next + 1) % all;
            let (tick, known) = confirmed.ticks[confirmed.next];
            if digest(tick).is_some_and(|digest| digest != known) {
                return Err(format!("the state of {tick:?} was confirmed, and has changed since"));
            }
        }
        let compared = seen.stats.prediction.outcomes.waiting == 0 && seen.frame.state == ClientState::Playing;
        let newest = seen.client.newest_snapshot().map(|(tick, _)| tick).filter(|_| compared);
        let news = newest.filter(|tick| confirmed.ticks.back().is_none_or(|(last, _)| last < tick));
        if let Some((tick, digest)) = news.and_then(|tick| Some((tick, digest(tick)?))) {
            confirmed.ticks.push_back((tick, digest));
        }
        Ok(())
    }
}
