//! Clients and servers over real sockets. One program, as each would compile sessions and QUIC anew.

mod admission;
mod certificates;
#[path = "../common/mod.rs"]
mod common;
mod ending;
mod hook;
mod hostile;
mod hosting;
mod housekeeping;
mod play;
mod pressure;
mod way_back;
