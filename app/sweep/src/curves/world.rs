//! What the curves are measured on: bodies whose motion is known at every instant, each once for each curve, all seen over
//! one link.

use foretell::{Entity, Owned, PlayerId, Simulate, Step, Table, Tick, World};
use foretell_arena::Buttons;
use foretell_plan::motions::{Body, Motion};

/// The name of a body: the `lane`-th of those that move so.
pub fn entity(motion: usize, lane: usize) -> Entity {
    let counter = u16::try_from(motion * LANES_MAX + lane).expect("few bodies");
    Entity::new(PlayerId::SERVER, Tick::ZERO, counter)
}

/// Which motion and which lane a body has.
pub fn place(entity: Entity) -> (usize, usize) {
    (usize::from(entity.counter()) / LANES_MAX, usize::from(entity.counter()) % LANES_MAX)
}

/// More lanes than there are curves.
const LANES_MAX: usize = 16;

/// The bodies; on the server all from the start, on a client those that have come.
#[derive(World, Default, Debug)]
pub struct Parade {
    bodies: Table<Body>,
}

impl Parade {
    /// This number of bodies for each motion.
    pub fn new(lanes: usize) -> Parade {
        let mut parade = Parade::default();
        for (motion, lane) in (0..Motion::ALL.len()).flat_map(|motion| (0..lanes).map(move |lane| (motion, lane))) {
            let of = Owned { entity: entity(motion, lane), owner: PlayerId::SERVER };
            parade.bodies.insert(of, Motion::ALL[motion].at(0.0));
        }
        parade
    }
}

impl Simulate for Parade {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        let seconds = f64::from(step.tick().next().get()) * step.seconds();
        for mut body in self.bodies.simulated(step) {
            *body = Motion::ALL[place(body.entity()).0].at(seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_motion_and_lane() {
        for (motion, lane) in [(0, 0), (2, 13), (1, 15)] {
            assert_eq!(place(entity(motion, lane)), (motion, lane));
        }
    }
}
