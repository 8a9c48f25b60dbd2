//! Client and server of a session, without sockets: datagrams and instants come in, datagrams go out.
//!
//! Invariants: `receive` decodes, checks and stores, and never simulates or panics; `update` is the only place where
//! ticks happen; `present` only reads. Every authoritative sample of a predicted entity ends in exactly one counted
//! [`Outcome`](client::Outcomes).

mod baseline_ref;
pub mod client;
pub mod host;
pub mod server;

mod ack_bits;
mod authority_codec;
mod congestion_window;
mod curves;
mod datagram;
mod exact_row_codec;
mod good_bye;
mod handshake_messages;
mod hit_receipt;
mod input_relay_codec;
mod inspect_datagram;
mod jitter_estimator;
mod lateness_histogram;
mod link_delay;
mod messages;
mod offences;
mod outbox;
mod reason_codec;
mod refusal_message;
mod row_send_rates;
mod rules;
mod send_allowance;
mod shown_bases;
mod shown_row_codec;
mod shown_row_header;
mod snapshot_header;
mod step_events;
mod stopped_rows_codec;
#[cfg(test)]
mod test_states;
mod traffic;
mod windowed_extreme;

pub use crate::world::{Departure, Refusal};
pub use authority_codec::{Claim, HoldRefusal, Holder};
pub use datagram::DATAGRAM_MAX;
pub use hit_receipt::{HitReceipt, Ways};
pub use inspect_datagram::{Inspected, inspect};
pub use messages::{MessageProgress, MessageStats, SendError};
pub use offences::{Offence, Offences};
pub use outbox::{Outbox, PeerId};
pub use rules::{Fingerprint, GapPolicy, Rules};
pub use traffic::{RowTraffic, Traffic};
