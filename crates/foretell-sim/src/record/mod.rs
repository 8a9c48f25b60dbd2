//! The flight recorder: what a client or a server was given, as bytes, and the run again that must come to the same.
//!
//! An endpoint is a function of its construction, its calls and their instants; a recording holds these and nothing
//! else: `client.set_tap(Box::new(Recorder::new(sink)))`, or the same of a server. Every second it holds a digest too, by which a replay proves that it is the same. The format stands in
//! PROTOCOL.md. Invariants: recording changes nothing of the session; reading never panics, and allocates nothing by a
//! length that the bytes claim. What a game does to its world between updates is recorded as far as a server's rows tell it; the rest a
//! replay is told ([`Recording::replay_client_with`], [`Recording::replay_server_with`]).

mod again;
mod agreement;
mod digest;
mod format;
mod given_inputs;
mod peers;
mod recorder;
mod recording;
mod replay;
mod rows;
mod settings;
mod start;

pub use agreement::{Agreement, ClientReplay, Divergence, ServerReplay};
pub use recorder::{RECORDED_BYTES_MAX, Recorder, Sink};
pub use recording::{Ending, Recording, RecordingError};
