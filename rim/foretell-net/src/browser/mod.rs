//! The room of browsers: their WebTransport and their WebSocket, their clock and their timers.
//!
//! What the shared files ask of a platform has the same names here and in the room of native programs. Objects of
//! JavaScript stay in the tasks of this thread; what a [`Player`](crate::Player) has of them are the ends of queues.

mod bindings;
mod clock;
mod link;
mod tasks;
mod token;
mod websocket;
mod webtransport;

pub use clock::Clock;
pub(crate) use clock::unix_millis;
pub(crate) use link::Farewell;
pub(crate) use tasks::{Tasks, sleep, within};
pub(crate) use token::{SigningKey, random};
pub(crate) use websocket::ask_by_socket;
pub(crate) use webtransport::reach_by_webtransport;
