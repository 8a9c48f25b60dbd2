//! What a game that is built with [`foretell`] is tested with: a network in one process ([`netsim`]), and whole sessions
//! over it on virtual time ([`harness`]), and a flight recorder whose recordings run again to the same
//! ([`record`]). Pure as the core is: no clock, no socket, and no chance that no seed decides.
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

pub mod harness;
pub mod netsim;
pub mod record;
