//! The inputs of one player, from a datagram to the tick that they are for.

mod incoming_step_messages;
mod input_arrivals;
mod input_buffer;
mod input_datagram_reader;

pub(super) use incoming_step_messages::IncomingStepMessages;
pub(super) use input_arrivals::InputArrivals;
pub(super) use input_buffer::{InputBuffer, Offered};
pub(super) use input_datagram_reader::{InputDatagramReader, OfferedInput};
