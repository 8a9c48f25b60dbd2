//! What comes from the wire is hostile: whatever the bytes, `receive` neither panics nor allocates by a length that it
//! read, and what is malformed changes nothing.

use crate::common::f64_mass::Masses;
use crate::common::hostile::{Ends, feed};
use foretell_sim::netsim::SplitMix64;
use proptest::prelude::*;

/// More than a datagram's own rows can need: every byte as the shortest possible row, with its words and its name, in
/// each of the two ends' tables.
const ALLOCATED_MAX: u64 = 4 * 1024 * 1024;

/// What `receive` may have asked for after one datagram of this length: a fixed amount per received byte.
fn allowance(bytes: usize) -> u64 {
    4096 + 1024 * bytes as u64
}

#[test]
fn random_bytes_never_panic_and_never_allocate_by_a_length_they_claim() {
    let mut random = SplitMix64::new(1);
    let mut ends = Ends::<Masses>::new();
    let mut total = 0;
    for _ in 0..60_000 {
        let len = (random.next_u64() % 200) as usize;
        let bytes: Vec<u8> = (0..len).map(|_| (random.next_u64() >> 40) as u8).collect();
        let used = allocation_counter::measure(|| {
            feed(&mut ends, &bytes);
        });
        assert!(used.bytes_total <= allowance(len), "{used:?} for {len} bytes: {bytes:?}");
        total += used.bytes_current.max(0).unsigned_abs();
    }
    assert!(total < ALLOCATED_MAX, "{total} bytes are kept");
}

/// Feeds a running session what bent copies of its own datagrams are in the runs of this seed, and plays on.
fn bend(seed: u64) {
    let mut random = SplitMix64::new(seed);
    let mut ends = Ends::<Masses>::new();
    let real = ends.record(400);
    assert!(real.len() > 500);
    let mut refused = 0;
    for _ in 0..40_000 {
        let mut bytes = real[(random.next_u64() % real.len() as u64) as usize].clone();
        for _ in 0..random.next_u64() % 4 {
            let bit = (random.next_u64() % (bytes.len() as u64 * 8)) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if random.chance(0.3) {
            bytes.truncate((random.next_u64() % bytes.len() as u64) as usize + 1);
        }
        // A good-bye is four bytes, and is believed.
        if bytes[0] & 7 == 5 {
            continue;
        }
        let len = bytes.len();
        let used = allocation_counter::measure(|| refused += u32::from(!feed(&mut ends, &bytes)));
        assert!(used.bytes_total <= allowance(len), "seed {seed}: {used:?} for {len} bytes");
    }
    assert!(refused > 10_000, "most of it was malformed for one end at least: {refused}");
    ends.play_on();
}

#[test]
fn real_datagrams_that_were_cut_bent_or_repeated_never_panic_and_never_allocate_much() {
    (0..16).for_each(bend);
}

#[test]
#[ignore = "500 seeds: for the nightly run"]
fn real_datagrams_that_were_cut_bent_or_repeated_never_panic_and_never_allocate_much_at_length() {
    (0..500).for_each(bend);
}

#[test]
fn a_datagram_whose_number_is_far_ahead_leaves_the_clock_of_the_client_steered() {
    // The number stands in bits 11 to 26: 4096, 8192 and 16,384 more.
    for bit in [23, 24, 25] {
        let mut ends = Ends::<Masses>::new();
        let real = ends.record(60);
        let of_inputs = real.iter().rfind(|datagram| datagram[0] & 7 == 3);
        let mut bent = of_inputs.expect("the client sends inputs").clone();
        bent[bit / 8] ^= 1 << (bit % 8);
        assert!(feed(&mut ends, &bent));
        ends.set_clients_clock_forward(500_000);
        ends.play_on();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_session_plays_on_after_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut ends = Ends::<Masses>::new();
        ends.record(60);
        feed(&mut ends, &bytes);
        ends.play_on();
    }
}
