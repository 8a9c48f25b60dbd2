//! What several tests share: the reference model's point mass as a world, in both precisions.

#![expect(clippy::allow_attributes, reason = "each test uses a part of this")]
#![allow(dead_code, reason = "each test uses a part of this")]

pub mod body;
pub mod hostile;
pub mod projectiles;
pub mod relayed;
pub mod scenario;
pub mod toys;

pub use body::Buttons;
use foretell::{Entity, PlayerId, Tick};
use foretell_sim::record::Recorder;
use std::sync::mpsc::{Receiver, channel};

/// The first player's point mass, as the server names it when the player joins in tick 0.
pub const FIRST: Entity = Entity::new(PlayerId::new(1), Tick::ZERO, 0);

/// A recorder, and where its bytes come out.
pub fn recorder() -> (Recorder, Receiver<Vec<u8>>) {
    let (to, from) = channel();
    (Recorder::new(Box::new(move |bytes: &[u8]| drop(to.send(bytes.to_vec())))), from)
}

macro_rules! point_mass {
    ($module:ident, $real:ty) => {
        pub mod $module {
            use super::Buttons;
            pub use super::body::$module::Body;
            use foretell::{Entity, Mut, Owned, PlayerId, Simulate, Step, Table, Tick, World};

            /// Point masses, one for each player.
            #[derive(World, Clone, Default, Debug)]
            pub struct Masses {
                pub bodies: Table<Body>,
                /// The authority adds +3 m/s to every vx just before this tick.
                #[world(constant)]
                pub perturb_at: Option<Tick>,
            }

            impl Masses {
                /// A client's world that already knows its player.
                pub fn of(player: PlayerId) -> Masses {
                    let mut masses = Masses::default();
                    masses.add(Owned { entity: Entity::new(player, Tick::ZERO, 0), owner: player });
                    masses
                }

                /// A mass that stands at the origin.
                pub fn add(&mut self, of: Owned) {
                    self.bodies.insert(of, Body::default());
                }

                pub fn body(&self, entity: Entity) -> Body {
                    *self.bodies.get(entity).expect("it is there")
                }

                pub fn first(&mut self) -> Mut<'_, Body> {
                    self.bodies.iter_mut().next().expect("somebody")
                }
            }

            impl Simulate for Masses {
                type Input = Buttons;

                fn step(&mut self, step: &mut Step<'_, Buttons>) {
                    self.bodies.remove_left(step);
                    for joined in step.joined() {
                        self.bodies.spawn(step, joined.player, Body::default());
                    }
                    if step.is_authority() && self.perturb_at == Some(step.tick()) {
                        self.bodies.iter_mut().for_each(|mut body| body.velocity[0] += 3.0);
                    }
                    #[allow(clippy::cast_possible_truncation, reason = "the reference is made in both precisions")]
                    let dt = step.seconds() as $real;
                    for mut body in self.bodies.simulated(step) {
                        if let Some(input) = step.input(body.owner()) {
                            body.step(input.input, dt);
                        }
                    }
                }
            }
        }
    };
}

point_mass!(f64_mass, f64);
point_mass!(f32_mass, f32);

impl hostile::Playable for f64_mass::Masses {
    fn with_player(player: PlayerId) -> Self {
        f64_mass::Masses::of(player)
    }
}
