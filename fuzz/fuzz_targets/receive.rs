//! Any datagrams at either end of a running session: nothing panics, and the outcomes still add up.
#![no_main]

#[path = "../../crates/foretell/tests/common/mod.rs"]
mod common;

use common::f64_mass::Masses;
use common::hostile::{Ends, feed};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut ends = Ends::<Masses>::new();
    ends.record(5);
    // Each datagram is preceded by its length.
    let mut rest = bytes;
    while let Some((len, after)) = rest.split_first() {
        let (datagram, after) = after.split_at(after.len().min(usize::from(*len)));
        feed(&mut ends, datagram);
        rest = after;
    }
    ends.play_on();
});
