//! The inputs of one player, from a datagram to the tick that they are for.

mod arrivals;
mod input_buffer;
mod input_datagram;

pub(super) use arrivals::Arrivals;
pub(super) use input_buffer::{InputBuffer, Offered};
pub(super) use input_datagram::{InputDatagram, OfferedInput};
