//! The systems of the articles that [`foretell`] began with, as they were published, to be looked at beside its own and held
//! to their golden vectors. No game needs them.
//!
//! | module | is |
//! |---|---|
//! | [`timestamped`] | inputs with times, a server that goes the same path, and a resync where the two differ |
//! | [`csp`] | a server that is stepped by arriving inputs, and a client that rewinds and replays |
//! | [`distance`] | positions that a client sends, held to how far it can have gone |
//! | [`avatar`] | the scripts that move others from update to update |
#![no_std]
#![forbid(unsafe_code)]
#![warn(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

#[macro_use]
extern crate alloc;

pub mod avatar;
pub mod csp;
pub mod distance;
pub mod timestamped;
