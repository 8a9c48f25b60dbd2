//! Messages of the game's own, both ways: what has to arrive, once and in order, or may be lost; of any size up to a bound. Both
//! ends have the same parts, and neither knows of states, ticks or predictions.

mod fragment;
mod in_flight;
mod incoming;
mod incoming_channel;
mod message_exchange;
mod messages_header;
mod outgoing;
mod outgoing_channel;
mod step_message_codec;
#[cfg(test)]
mod tests;

pub use incoming::MessageProgress;
pub use message_exchange::MessageStats;
pub(crate) use message_exchange::{Inbox, MessageExchange, Sending};
pub(crate) use messages_header::MessagesDatagram;
pub use outgoing::SendError;
pub(crate) use outgoing::check_size;
pub(crate) use step_message_codec::{STEP_MESSAGE_BYTES_MAX, STEP_MESSAGES_MAX, StepList, StepMessage};
