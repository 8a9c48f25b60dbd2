//! The lab: a session on bad links that a person plays in the browser, and sees into.
//!
//! All others see of it is [`Lab`]: an address in, a page served. Inside, each part imports from those below it:
//!
//! | | |
//! |---|---|
//! | `server`, `page` | HTTP, the WebSocket, and the page's files: the only part that does I/O |
//! | `connection` | one page's connection: messages in, answers out |
//! | `run` | the engine: settings, keys and events in, frames out |
//! | `scenes` | methods side by side, in engines of their own beside the session |
//! | `recording` | what was done in a run, as a link |
//! | `controls`, `frame`, `clock` | what can be chosen; what the page is told; the time axis |
#![forbid(unsafe_code)]

mod clock;
mod connection;
mod controls;
mod frame;
mod page;
mod recording;
mod run;
mod scenes;
mod server;

pub use crate::server::Lab;

#[cfg(test)]
mod tests;
