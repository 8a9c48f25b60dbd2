//! The way to the server and back: datagrams' numbers, round trips, and the clock that leads the server's by them.

mod clock_drift;
mod datagram_timing;
mod input_send_window;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod link;
mod outgoing_step_messages;
mod pacing;
mod round_trips;
mod tick_unwrap;

pub(super) use clock_drift::ClockDrift;
pub(super) use datagram_timing::DatagramTiming;
pub(super) use link::{CATCH_UP, Link, NamedDatagram, ReceivedHeader};
pub(super) use outgoing_step_messages::OutgoingStepMessages;
