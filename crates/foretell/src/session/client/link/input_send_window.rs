//! Which of the own inputs have been asked for, sent and acknowledged.

use super::pacing::Pacing;
use crate::session::client::config::{InputDelay, Redundancy};
use crate::time::Tick;
use crate::world::INPUTS_AHEAD_MAX;
use core::time::Duration;

/// Lives as long as a session.
#[derive(Debug, Default)]
pub(crate) struct InputSendWindow {
    /// The next tick whose input is due.
    next: Tick,
    /// The next whose input is to be asked for: later than that for a while after the clock was set back.
    unasked: Tick,
    /// For how many ticks an input waits, and is to wait.
    delay: u32,
    wanted_delay: u32,
    /// The newest that was sent, since the clock was set back.
    sent: Option<Tick>,
    /// The newest that the server has.
    acknowledged: Option<Tick>,
}

impl InputSendWindow {
    pub(crate) fn delay(&self) -> u32 {
        self.delay
    }

    /// Sets for how many ticks inputs wait: more at once, fewer as the clock gains what they are asked for later.
    pub(crate) fn set_delay(&mut self, by: InputDelay, rtt: Duration, pacing: &mut Pacing) {
        self.wanted_delay = by.ticks(rtt, pacing.rate(), self.wanted_delay);
        let missing = pacing.delay_inputs(self.wanted_delay);
        self.delay = self.wanted_delay.max(self.delay.min(self.wanted_delay + missing));
    }

    /// The ticks whose inputs are to be asked for when `tick` runs.
    pub(crate) fn ask_for(&mut self, tick: Tick) -> impl Iterator<Item = Tick> + use<> {
        let until = (tick + self.delay).next();
        let first = self.unasked.max(tick);
        self.next = self.next.max(until);
        self.unasked = self.unasked.max(until);
        first.until(until)
    }

    /// The clock was set: the input of `until` is the next. What was given for the ticks behind it stays, where a server can
    /// have it: it takes none that are further ahead, and of what it has no second one.
    pub(crate) fn begin_anew(&mut self, until: Tick) {
        (self.next, self.sent) = (until, None);
        if self.unasked.since(until) > INPUTS_AHEAD_MAX {
            self.unasked = until;
        }
    }

    /// The newest input that was due.
    pub(crate) fn newest(&self) -> Option<Tick> {
        self.next.back(1)
    }

    /// Whether a datagram is due with `newest`, when one goes every `interval_ticks`.
    pub(crate) fn is_due(&self, newest: Tick, interval_ticks: u32) -> bool {
        self.sent.is_none_or(|sent| newest.since(sent) >= interval_ticks)
    }

    pub(crate) fn note_sent(&mut self, newest: Tick) {
        self.sent = Some(newest);
    }

    pub(crate) fn note_acknowledged(&mut self, newest: Option<Tick>) {
        self.acknowledged = self.acknowledged.max(newest);
    }

    /// How many inputs a datagram is to carry, up to and with `newest`.
    pub(crate) fn count(&self, newest: Tick, redundancy: Redundancy, pacing: &Pacing) -> u32 {
        let unsent = self.sent.map_or(1, |sent| newest.since(sent));
        match redundancy {
            Redundancy::None => unsent,
            Redundancy::Unacknowledged { limit } => {
                let open = self.acknowledged.map_or(limit, |known| newest.since(known));
                // A datagram that is not delayed comes this many ticks before the newest one's deadline; an input that is
                // older by more is late already.
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
                let in_time = (pacing.slack_ticks().unwrap_or(2.0).clamp(0.0, 1000.0) + 2.0) as u32;
                open.min(in_time).min(limit).max(unsent)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Instant, TickRate, TickTime};

    fn pacing() -> Pacing {
        Pacing::new(TickRate::default(), TickTime::default(), Instant::ZERO)
    }

    #[test]
    fn every_tick_is_asked_for_once_however_inputs_are_delayed() {
        let (mut schedule, mut pacing) = (InputSendWindow::default(), pacing());
        let mut asked = alloc::vec::Vec::new();
        for tick in 0..20 {
            let delay = if (5..10).contains(&tick) { 4 } else { 0 };
            schedule.set_delay(InputDelay::Ticks(delay), Duration::ZERO, &mut pacing);
            asked.extend(schedule.ask_for(Tick::new(tick)).map(Tick::get));
        }
        assert!(asked.iter().copied().eq((0_u32..).take(asked.len())), "{asked:?}");
        assert!(asked.len() >= 20);
    }

    #[test]
    fn a_clock_that_was_set_back_goes_on_with_the_inputs_that_a_server_may_have_but_not_with_those_that_it_refused() {
        let mut schedule = InputSendWindow::default();
        let run = |schedule: &mut InputSendWindow, ticks: core::ops::Range<u32>| {
            ticks.flat_map(|tick| schedule.ask_for(Tick::new(tick))).map(Tick::get).collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(run(&mut schedule, 0..102).len(), 102);
        schedule.begin_anew(Tick::new(86));
        assert_eq!(schedule.newest(), Some(Tick::new(85)));
        assert_eq!(run(&mut schedule, 86..104), [102, 103], "16 ticks were given already");
        assert!(schedule.is_due(Tick::new(86), 1), "they are sent again as they come due");
        schedule.begin_anew(Tick::new(30));
        assert_eq!(run(&mut schedule, 30..32), [30, 31], "74 ticks ahead nothing was taken");
    }

    #[test]
    fn a_datagram_repeats_what_is_not_acknowledged_and_can_still_come_in_time() {
        let (mut schedule, pacing) = (InputSendWindow::default(), pacing());
        let at = |schedule: &InputSendWindow, newest| {
            schedule.count(Tick::new(newest), Redundancy::Unacknowledged { limit: 3 }, &pacing)
        };
        schedule.note_sent(Tick::new(9));
        assert_eq!(at(&schedule, 10), 3, "nothing is acknowledged");
        schedule.note_acknowledged(Some(Tick::new(9)));
        assert_eq!(at(&schedule, 10), 1);
        assert_eq!(at(&schedule, 19), 10, "new ones are sent whatever the limit");
        assert_eq!(schedule.count(Tick::new(11), Redundancy::None, &pacing), 2);
    }
}
