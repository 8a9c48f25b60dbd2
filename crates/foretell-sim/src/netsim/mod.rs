//! A network in one process: links that delay, lose, double, reorder and throttle datagrams, and hosts whose clocks
//! disagree, all in virtual time and from seeds (R9, D31).
//!
//! Sans-I/O like everything else here: no link knows a socket, none reads a clock. A run is a function of the seeds and
//! of the calls, so a seed is a bug report. For tests, the harness and the lab; nothing in a session depends on it.
//!
//! | part | is |
//! |---|---|
//! | [`Conditions`] | what one direction does to datagrams: plain data, may change with every datagram |
//! | [`Link`] | one direction: takes datagrams, gives them back when they are due; two of them are a connection |
//! | [`Bottleneck`] | a queue, and what leaves it when: at a rate, or as a link was recorded ([`Trace`]) |
//! | [`Cellular`] | traces of mobile networks that nobody recorded: made up, from a seed |
//! | [`HostClock`] | one host's clock with offset and skew, and when the host stalls |
//! | [`SplitMix64`], [`Pcg32`] | the seeded random numbers of links and of bots |
//!
//! The statistics of the simulator are tested against what was asked for: a link asked for 50 ms of latency and 40 ms
//! of jitter has a mean delay of 70 ms and does reorder, unless it is asked for [`Ordering::Fifo`].
//!
//! ```
//! use core::time::Duration;
//! use foretell::Instant;
//! use foretell_sim::netsim::{Conditions, Link, Loss};
//!
//! let conditions = Conditions {
//!     latency: Duration::from_millis(75),
//!     jitter: Duration::from_millis(20),
//!     loss: Loss::Bursts { rate: 0.05, mean_length: 4.0 },
//!     ..Conditions::default()
//! };
//! let mut link = Link::new(1, 4);
//! let mut now = Instant::ZERO;
//! for tick in 0..64_u8 {
//!     link.send(now, &[tick], &conditions);
//!     while let Some(datagram) = link.receive(now) {
//!         assert_eq!(u64::from(datagram.bytes[0]), datagram.number);
//!         assert!(datagram.due.since(datagram.sent) >= conditions.latency);
//!     }
//!     now = now + Duration::from_micros(15_625);
//! }
//! assert_eq!(link.stats().sent, 64);
//! ```

mod bottleneck;
mod cellular;
mod conditions;
mod flight;
mod host;
mod link;
mod queue;
mod rng;
mod trace;

pub use bottleneck::{Bottleneck, Capacity, QueueLimit};
pub use cellular::Cellular;
pub use conditions::{Conditions, ConditionsError, DELAY_MAX, Loss, Ordering, Reordering};
pub use flight::IN_FLIGHT_MAX;
pub use host::{HostClock, SKEW_PPM_MAX};
pub use link::{Delivery, Fate, Link, LinkStats};
pub use rng::{Pcg32, SplitMix64};
pub use trace::{OPPORTUNITIES_MAX, OPPORTUNITY_BYTES, TRACE_MS_MAX, Trace, TraceError};
