//! The inputs of one player, from a datagram to the tick that they are for.

mod arrivals;
mod incoming_step_messages;
mod input_buffer;
mod received_inputs;

pub(super) use arrivals::Arrivals;
pub(super) use incoming_step_messages::IncomingStepMessages;
pub(super) use input_buffer::{InputBuffer, Offered};
pub(super) use received_inputs::{OfferedInput, ReceivedInputs};
