//! The scenario of the harness's own tests and of the soak: three point masses, everything may go wrong.

use super::Buttons;
use super::f64_mass::{Body, Masses};
use foretell::harness::{FaultMix, Scenario};
use foretell::{Rules, State};

pub fn masses() -> Scenario<Masses> {
    Scenario::new(Rules::new(Body::schema()), Masses::default)
        .players(3)
        .bot(|_, random| Buttons::from_bits(random.next_u64() & 31))
        .event(|world, random| {
            let count = world.bodies.len().max(1) as u64;
            if let Some((_, body)) = world.bodies.get_mut((random.next_u64() % count) as usize) {
                body.velocity[0] += 6.0 * random.next_f64() - 3.0;
            }
        })
        .faults(FaultMix::default())
}
