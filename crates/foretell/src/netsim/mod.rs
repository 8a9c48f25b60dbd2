//! A network of bad links and imperfect clocks, as a function of seeds: for tests, sweeps and the lab alone.
//!
//! Invariants: the same seeds, datagrams and instants give the same deliveries; which datagrams are lost depends on the
//! loss seed and on their number alone, whatever the delays are; nothing reads a clock.
//!
//! ```
//! use core::time::Duration;
//! use foretell::Instant;
//! use foretell::netsim::{Conditions, Link};
//!
//! let conditions = Conditions { latency: Duration::from_millis(50), ..Conditions::default() };
//! let mut link = Link::new(1, 2);
//! link.send(Instant::ZERO, b"hello", &conditions);
//! assert!(link.receive(Instant::from_micros(49_999)).is_none());
//! let (due, datagram) = link.receive(Instant::from_micros(60_000)).expect("it is due");
//! assert_eq!((due, datagram), (Instant::from_micros(50_000), &b"hello"[..]));
//! ```

mod conditions;
mod host;
mod link;
mod rng;

pub use conditions::{Conditions, Loss, Mistake, Ordering};
pub use host::HostClock;
pub use link::{Link, LinkStats};
pub use rng::{Pcg32, SplitMix64};
