//! Any datagrams at either end of a running session: nothing panics, and the session plays on.
//!
//! [`receive`] is the target: what the bytes mean to it is up to it alone. [`hunt`] drives it, or another, with bent copies
//! of real datagrams, seeded and on any toolchain; `fuzz_targets/receive.rs` hands it to libFuzzer, which looks for what
//! reaches new code.
#![forbid(unsafe_code)]

mod hunt;
mod world;

#[path = "../../crates/foretell/tests/sessions/common/hostile.rs"]
#[allow(dead_code, reason = "the tests of the core use more of it")]
mod hostile;

pub use hunt::{Found, hunt};

use hostile::{Ends, feed};
use world::Yard;

/// Feeds each datagram in `bytes`, of which each is preceded by a byte with its length, to both ends of a session that is
/// running, and lets it play on.
///
/// # Panics
/// When something is wrong with Foretell.
pub fn receive(bytes: &[u8]) {
    let mut ends = Ends::<Yard>::new();
    ends.record(5);
    for datagram in datagrams(bytes) {
        feed(&mut ends, datagram);
    }
    ends.play_on();
}

/// The datagrams in the bytes of an input.
fn datagrams(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let (len, after) = rest.split_first()?;
        let (datagram, after) = after.split_at(after.len().min(usize::from(*len)));
        rest = after;
        Some(datagram)
    })
}

/// What both ends of a session send in its first second, as far as it fits: what inputs are made of.
fn corpus() -> Vec<Vec<u8>> {
    let mut sent = Ends::<Yard>::new().record(64);
    sent.retain(|datagram| datagram.len() <= usize::from(u8::MAX));
    sent
}
