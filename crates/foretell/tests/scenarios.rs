//! Scenarios: healthy worlds pass whatever goes wrong, and what fails is shrunk to a test that fails again.

mod common;

use common::Buttons;
use common::f64_mass::{Body, Masses};
use common::scenario::masses;
use foretell::harness::sync_test;
use foretell::netsim::SplitMix64;
use foretell::{Rules, State};

#[test]
fn two_hundred_seeds_of_faults_pass() {
    let seen = masses().seeds(0..200).expect("no check complains");
    println!("{seen:?}");
}

#[test]
fn the_world_of_the_tests_is_in_sync() {
    let bits = |player: u16, tick: u32| SplitMix64::new(u64::from(tick / 8) ^ u64::from(player) << 32).next_u64();
    let input = |player: foretell::PlayerId, tick: foretell::Tick| Buttons::from_bits(bits(player.get(), tick.get()));
    sync_test(&Rules::new(Body::schema()), Masses::default, input, 1000).expect("it is exact");
}
