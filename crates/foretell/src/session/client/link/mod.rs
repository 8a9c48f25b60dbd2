//! The way to the server and back: datagrams' numbers, round trips, and the clock that leads the server's by them.

mod connection;
mod input_schedule;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod link;
mod pacing;
mod server_clock;
mod step_messages;
mod tick_unwrap;

pub(super) use connection::Connection;
pub(super) use link::{CATCH_UP, Link, ReceivedHead};
pub(super) use server_clock::ServerClock;
pub(super) use step_messages::OutgoingStepMessages;
