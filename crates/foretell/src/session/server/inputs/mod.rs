//! The inputs of one player, from a datagram to the tick that they are for.

mod arrivals;
mod input_buffer;
mod received_inputs;
mod step_messages;

pub(super) use arrivals::Arrivals;
pub(super) use input_buffer::{InputBuffer, Offered};
pub(super) use received_inputs::{OfferedInput, ReceivedInputs};
pub(super) use step_messages::IncomingStepMessages;
