//! One player's inputs on the server: a fixed ring by tick, and what to do where one is missing (R16-R19, D9-D11).

use crate::rollback::RelayedInput;
use crate::session::GapPolicy;
use crate::session::datagram::NAMED_TICKS_BACK;
use crate::session::input_relay_codec::RELAYED_TICKS_MAX;
use crate::session::snapshot_header::{RANGES_MAX, SubstitutedRange};
use crate::time::{Tick, TickRing, TickTime};
use crate::world::{INPUTS_AHEAD_MAX, InputStatus, PlayerId, PlayerInput};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A received input.
#[derive(Clone, Copy, Debug)]
struct Stored<I> {
    input: I,
    presented: Option<TickTime>,
}

/// What became of an offered input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Offered {
    /// It waits for its tick.
    New,
    /// It was there already.
    Known,
    /// Its tick has been simulated.
    Late,
    /// It is too far ahead.
    Refused,
}

/// What stands in for an input, by its number on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    Hold = 0,
    Repeated = 1,
    Neutral = 2,
}

#[derive(Clone, Debug)]
pub(crate) struct InputBuffer<I> {
    /// What waits for its tick.
    waiting: TickRing<Stored<I>>,
    /// What was applied in the last ticks.
    applied: TickRing<RelayedInput<I>>,
    /// The next tick to take.
    next: Tick,
    newest: Option<Tick>,
    /// The first tick that is the player's: that of the first input that has come.
    first: Option<Tick>,
    last: I,
    /// How many inputs in a row were repeated.
    repeated: u32,
    /// Newest last; not older than what a snapshot names.
    substituted: VecDeque<Substituted>,
}

/// A tick whose input was missing.
#[derive(Clone, Copy, Debug)]
struct Substituted {
    tick: Tick,
    how: How,
    /// Whether the input has come since.
    came: bool,
}

impl<I: Copy + Default> InputBuffer<I> {
    /// An empty buffer that waits for tick `next`.
    pub(crate) fn new(next: Tick) -> InputBuffer<I> {
        InputBuffer {
            waiting: TickRing::new(INPUTS_AHEAD_MAX as usize),
            applied: TickRing::new(RELAYED_TICKS_MAX as usize),
            next,
            newest: None,
            first: None,
            last: I::default(),
            repeated: 0,
            substituted: VecDeque::with_capacity(64),
        }
    }

    pub(crate) fn next(&self) -> Tick {
        self.next
    }

    pub(crate) fn newest(&self) -> Option<Tick> {
        self.newest
    }

    pub(crate) fn offer(&mut self, tick: Tick, input: I, presented: Option<TickTime>) -> Offered {
        if tick < self.next {
            let Ok(at) = self.substituted.binary_search_by_key(&tick, |missed| missed.tick) else {
                // What is acknowledged is forgotten; but one that is newer than all that came has not come before.
                let is_known = self.newest.is_some_and(|newest| tick <= newest);
                self.newest = self.newest.max(Some(tick));
                return if is_known { Offered::Known } else { Offered::Late };
            };
            let again = core::mem::replace(&mut self.substituted[at].came, true);
            return if again { Offered::Known } else { Offered::Late };
        }
        if tick.since(self.next) >= INPUTS_AHEAD_MAX {
            return Offered::Refused;
        }
        if self.waiting.get(tick).is_some() {
            return Offered::Known;
        }
        self.waiting.set(tick, Stored { input, presented });
        self.newest = self.newest.max(Some(tick));
        self.first = self.first.or(Some(tick));
        Offered::New
    }

    /// Forgets the inputs whose tick is to come.
    pub(crate) fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.newest = None;
    }

    /// Waits for `tick` next; what lies before it is not simulated, and named as substituted. Returns how many inputs of the
    /// player are missed by that.
    pub(crate) fn skip_to(&mut self, tick: Tick) -> u32 {
        let skipped = tick.since(self.next);
        let missed = self.first.map_or(0, |first| tick.since(first.max(self.next)));
        for skipped in tick.back(skipped.min(NAMED_TICKS_BACK)).unwrap_or(Tick::ZERO).until(tick) {
            self.name_substituted(skipped, How::Hold);
        }
        self.next = self.next.max(tick);
        missed
    }

    /// Waits for `tick` next, and misses nothing: nobody is to send any.
    pub(crate) fn pass_to(&mut self, tick: Tick) {
        self.next = self.next.max(tick);
    }

    /// Whether the player has sent an input for this tick or an earlier one, so that a missing one is a miss.
    pub(crate) fn expects(&self, tick: Tick) -> bool {
        self.first.is_some_and(|first| first <= tick)
    }

    /// The input of the next tick, or what stands in for it; `None` when the player is left where they are.
    pub(crate) fn take(&mut self, player: PlayerId, policy: GapPolicy) -> Option<PlayerInput<I>> {
        let tick = self.next;
        let taken = self.take_next(player, policy);
        let status = taken.map_or(InputStatus::Repeated, |taken| taken.status);
        self.applied.set(tick, RelayedInput { input: taken.map(|taken| taken.input), status });
        taken
    }

    /// The input of `tick`, as it was applied or as it waits; `None` where it has not come or is forgotten.
    pub(crate) fn told(&self, tick: Tick) -> Option<RelayedInput<I>> {
        if tick < self.next {
            return self.applied.get(tick).copied();
        }
        let stored = self.waiting.get(tick)?;
        Some(RelayedInput { input: Some(stored.input), status: InputStatus::Received })
    }

    fn take_next(&mut self, player: PlayerId, policy: GapPolicy) -> Option<PlayerInput<I>> {
        let tick = self.next;
        self.next = tick.next();
        if let Some(Stored { input, presented }) = self.waiting.take(tick) {
            (self.last, self.repeated) = (input, 0);
            return Some(PlayerInput { player, input, status: InputStatus::Received, presented });
        }
        let how = match policy {
            _ if !self.expects(tick) => How::Neutral,
            GapPolicy::Hold => How::Hold,
            GapPolicy::RepeatLast { ticks } if self.repeated < ticks => How::Repeated,
            GapPolicy::RepeatLast { .. } | GapPolicy::Neutral => How::Neutral,
        };
        self.repeated += u32::from(how == How::Repeated);
        self.name_substituted(tick, how);
        let (input, status) = match how {
            How::Hold => return None,
            How::Repeated => (self.last, InputStatus::Repeated),
            How::Neutral => (I::default(), InputStatus::Neutral),
        };
        Some(PlayerInput { player, input, status, presented: None })
    }

    fn name_substituted(&mut self, tick: Tick, how: How) {
        self.substituted.push_back(Substituted { tick, how, came: false });
        while self.substituted.front().is_some_and(|oldest| tick.since(oldest.tick) >= NAMED_TICKS_BACK) {
            self.substituted.pop_front();
        }
    }

    /// The client knows of everything before `tick`.
    pub(crate) fn acknowledge(&mut self, tick: Tick) {
        while self.substituted.front().is_some_and(|oldest| oldest.tick < tick) {
            self.substituted.pop_front();
        }
    }

    /// How many substituted ticks it remembers.
    pub(crate) fn kept(&self) -> usize {
        self.substituted.len()
    }

    /// What was substituted and is not acknowledged, as ranges before the state `tick`, newest first.
    pub(crate) fn ranges(&self, tick: Tick, into: &mut Vec<SubstitutedRange>) {
        into.clear();
        for missed in self.substituted.iter().rev() {
            let (back, how) = (tick.since(missed.tick), missed.how as u64);
            if back == 0 || back > NAMED_TICKS_BACK {
                continue;
            }
            let last = into.last_mut().filter(|range| range.back + range.ticks == back && range.how == how);
            if let Some(range) = last {
                range.ticks += 1;
            } else if into.len() < RANGES_MAX {
                into.push(SubstitutedRange { back, ticks: 1, how });
            } else if let Some(last) = into.last_mut() {
                // Too many to be told apart: the last range covers the rest, rather than to leave any out.
                last.ticks = back - last.back + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: PlayerId = PlayerId::new(1);

    fn taken(buffer: &mut InputBuffer<u8>, policy: GapPolicy) -> Option<(u8, InputStatus)> {
        buffer.take(ME, policy).map(|taken| (taken.input, taken.status))
    }

    fn filled(ticks: impl IntoIterator<Item = u32>) -> InputBuffer<u8> {
        let mut buffer = InputBuffer::new(Tick::ZERO);
        for tick in ticks {
            assert_eq!(buffer.offer(Tick::new(tick), u8::try_from(tick).expect("small") + 1, None), Offered::New);
        }
        buffer
    }

    #[test]
    fn the_last_input_is_repeated_for_the_stated_ticks_and_then_neutral() {
        let mut buffer = filled([0]);
        let policy = GapPolicy::RepeatLast { ticks: 2 };
        let seen: Vec<_> = (0..4).map(|_| taken(&mut buffer, policy)).collect();
        let repeated = Some((1, InputStatus::Repeated));
        assert_eq!(seen, [Some((1, InputStatus::Received)), repeated, repeated, Some((0, InputStatus::Neutral))]);
    }

    #[test]
    fn a_held_player_is_not_stepped() {
        let mut buffer = filled([0, 2]);
        let seen: Vec<_> = (0..3).map(|_| taken(&mut buffer, GapPolicy::Hold)).collect();
        assert_eq!(seen, [Some((1, InputStatus::Received)), None, Some((3, InputStatus::Received))]);
    }

    #[test]
    fn a_late_input_is_told_from_a_known_one_and_one_too_far_ahead_is_refused() {
        let mut buffer = filled([0]);
        taken(&mut buffer, GapPolicy::Neutral);
        taken(&mut buffer, GapPolicy::Neutral);
        assert_eq!(buffer.offer(Tick::new(0), 9, None), Offered::Known);
        assert_eq!(buffer.offer(Tick::new(1), 9, None), Offered::Late);
        assert_eq!(buffer.offer(Tick::new(1), 9, None), Offered::Known, "late once, however often it is repeated");
        assert_eq!(buffer.offer(Tick::new(2 + INPUTS_AHEAD_MAX), 9, None), Offered::Refused);
        assert_eq!(buffer.offer(Tick::new(1 + INPUTS_AHEAD_MAX), 9, None), Offered::New);
        assert_eq!(buffer.offer(Tick::new(1 + INPUTS_AHEAD_MAX), 9, None), Offered::Known);
    }

    #[test]
    fn an_input_is_late_also_when_the_client_knows_that_it_was_substituted() {
        let mut buffer = filled([0]);
        (0..9).for_each(|_| assert!(taken(&mut buffer, GapPolicy::Neutral).is_some()));
        buffer.acknowledge(Tick::new(9));
        assert_eq!([0, 4, 4, 3, 5].map(|tick| buffer.offer(Tick::new(tick), 9, None)), {
            use Offered::{Known, Late};
            [Known, Late, Known, Known, Late]
        });
    }

    #[test]
    fn substituted_ticks_are_named_newest_first_until_acknowledged() {
        let mut buffer = filled([0, 3]);
        (0..6).for_each(|_| assert!(taken(&mut buffer, GapPolicy::Neutral).is_some()));
        let mut ranges = Vec::new();
        buffer.ranges(Tick::new(6), &mut ranges);
        let range = |back, ticks| SubstitutedRange { back, ticks, how: 2 };
        assert_eq!(ranges, [range(1, 2), range(4, 2)]);
        buffer.acknowledge(Tick::new(5));
        buffer.ranges(Tick::new(6), &mut ranges);
        assert_eq!(ranges, [range(1, 1)]);
    }
}
