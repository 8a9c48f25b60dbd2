//! Which inputs a message has, and what a server does with them, by their ticks alone (R16 to R19).

use foretell::Tick;

/// The inputs since the last received state: the first tick and how many, up to and with `newest` (R16, R17).
pub fn since_state(last_state: Tick, newest: Tick, limit: Option<u32>) -> (Tick, u32) {
    let count = newest.next().since(last_state).min(limit.unwrap_or(u32::MAX));
    (newest.next().back(count).unwrap_or(Tick::ZERO), count)
}

/// What becomes of the inputs `start, start + 1, ...` of a message that has something new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrivalPlan {
    /// The first new input.
    pub first: Tick,
    /// How many new inputs there are, from `first` on.
    pub applied: u32,
    /// How many ticks before `first` no input will come for; the gap policy decides.
    pub gap: u32,
    /// The tick that is waited for next.
    pub next: Tick,
}

impl ArrivalPlan {
    /// The plan of a server that waits for tick `next`; `None` when the message holds nothing new.
    pub fn of(next: Tick, start: Tick, count: u32) -> Option<ArrivalPlan> {
        let end = start + count;
        if count == 0 || end <= next {
            return None;
        }
        let first = start.max(next);
        Some(ArrivalPlan { first, applied: end.since(first), gap: first.since(next), next: end })
    }
}
