//! Ticks and instants as types: the two clocks that everything else is written in.
//!
//! Invariants: a [`Tick`] never wraps inside a session (16 bits travel on the wire and are widened by
//! [`Tick::widen`] against an anchor); an [`Instant`] is a caller's reading of its own clock, never read here.

mod instant;
mod monotonic_clock;
mod send_rate;
mod tick;
mod tick_clock;
mod tick_ring;

pub use instant::{Instant, Offset};
pub(crate) use monotonic_clock::MonotonicClock;
pub use send_rate::SendRate;
pub use tick::{Tick, TickRate};
pub use tick_clock::{TickClock, TickTime};
pub(crate) use tick_ring::TickRing;
