//! A whole shooter: sixteen bots in two teams, two hundred who wander, pickups, doors, two weapons, chat, a map of 50 kB and somebody
//! who looks on. Read it from `state` (what there is) and `game` (what happens) to `play` (the session around it).
#![allow(missing_docs, reason = "a game, not a library")]

pub mod bots;
pub mod game;
pub mod ground;
pub mod measure;
pub mod play;
pub mod sockets;
pub mod state;
pub mod watch;
