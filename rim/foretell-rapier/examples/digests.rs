//! The scene of the tests as a WebAssembly module, for `tests/digests.mjs`: are the bits those of x86-64?
#![allow(dead_code, reason = "the tests use all of the scene, this one function of it")]

#[path = "../tests/physics/yard.rs"]
mod yard;

/// The number for all bits of a run; see `vectors/physics.json`.
#[unsafe(no_mangle)]
pub extern "C" fn fingerprint(crates: u32, seed: u32, ticks: u32, rebuild: u32) -> u64 {
    yard::fingerprint(u16::try_from(crates).expect("at most 65,535 crates"), seed, ticks, rebuild)
}
