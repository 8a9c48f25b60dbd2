//! The scenario of the harness's own tests and of the soak: three point masses, everything may go wrong.

use super::Buttons;
use super::f64_mass::Masses;
use foretell::{Rules, World};
use foretell_sim::harness::{FaultMix, Scenario};

pub fn masses() -> Scenario<Masses> {
    Scenario::new(Rules::new(Masses::schema()), Masses::default)
        .players(3)
        .bot(|_, random| Buttons::from_bits(random.next_u64() & 31))
        .event(|world, random| {
            let count = world.bodies.len().max(1) as u64;
            if let Some(mut body) = world.bodies.iter_mut().nth((random.next_u64() % count) as usize) {
                body.velocity[0] += 6.0 * random.next_f64() - 3.0;
            }
        })
        .faults(FaultMix::default())
}
