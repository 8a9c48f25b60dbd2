//! Rollback: what is loaded and stepped again comes to the same bits.

use crate::yard::{Keys, Yard, digests, keys, step};
use foretell::{PlayerId, Tick, World};
use foretell_sim::harness::SyncTest;
use proptest::prelude::*;

const TICKS: u32 = 600;
const DEPTH: u32 = 32;

/// Runs 600 ticks, and after each of `at` throws away 32 ticks that were simulated with other inputs. The ticks whose rows
/// differ from those of a run that never went back.
fn differing(crates: u16, seed: u32, at: &[u32]) -> Vec<u32> {
    let truth = digests(crates, seed, TICKS);
    let mut world = Yard::new(crates);
    let mut saved = Yard::default();
    let mut differing = Vec::new();
    for tick in Tick::ZERO.until(Tick::new(TICKS)) {
        if at.contains(&tick.get()) {
            world.save(&mut saved);
            tick.until(Tick::new(tick.get() + DEPTH)).for_each(|tick| step(&mut world, seed ^ 0xBAD, tick));
            world.load(&saved);
        }
        step(&mut world, seed, tick);
        if world.rows().digest() != truth[tick.get() as usize] {
            differing.push(tick.get());
        }
    }
    differing
}

#[test]
fn no_tick_differs_after_44_rollbacks_of_32_ticks() {
    let at: Vec<_> = (1..=44).map(|nth| nth * 13).collect();
    for (crates, seed) in [(10, 1), (100, 2)] {
        assert_eq!(differing(crates, seed, &at), Vec::<u32>::new(), "{crates} crates");
    }
}

#[test]
fn other_inputs_make_another_world() {
    let (one, other) = (digests(10, 1, 100), digests(10, 1 ^ 0xBAD, 100));
    assert_ne!(one[99], other[99], "what is thrown away above must be something else");
}

#[test]
fn the_yard_can_be_predicted() {
    let input = |player: PlayerId, tick: Tick| -> Keys { keys(7, player, tick) };
    assert_eq!(SyncTest::new(Yard::rules(), || Yard::new(20)).input(input).run(300), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn no_tick_differs_whenever_it_is_rolled_back(
        seed in any::<u32>(),
        crates in 0_u16..40,
        at in prop::collection::vec(0_u32..500, 1..12),
    ) {
        prop_assert_eq!(differing(crates, seed, &at), Vec::<u32>::new());
    }
}
