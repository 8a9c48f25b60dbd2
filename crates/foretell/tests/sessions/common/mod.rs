//! What several tests share: the reference model's point mass as a world, in both precisions.

#![expect(clippy::allow_attributes, reason = "each test uses a part of this")]
#![allow(dead_code, reason = "each test uses a part of this")]

pub mod hostile;
pub mod projectiles;
pub mod qiita;
pub mod relayed;
pub mod scenario;
pub mod toys;

use foretell::{Entity, Input, Kind, PlayerId, Schema, State, Tick};

/// The article's five buttons (R6, R16), in the order of their bits.
#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Buttons {
    pub up: bool,
    pub down: bool,
    pub left: bool,
    pub right: bool,
    pub jump: bool,
}

impl Buttons {
    pub fn from_bits(bits: u64) -> Buttons {
        let bit = |n: u32| bits >> n & 1 == 1;
        Buttons { up: bit(0), down: bit(1), left: bit(2), right: bit(3), jump: bit(4) }
    }
}

/// The first player's point mass, as the server names it when the player joins in tick 0.
pub const FIRST: Entity = Entity::new(Kind(0), PlayerId::new(1), Tick::ZERO, 0);

macro_rules! point_mass {
    ($module:ident, $real:ty) => {
        pub mod $module {
            use super::Buttons;
            use foretell::{Entity, Kind, PlayerId, Rows, State, Step, Tick, World};

            #[derive(State, Clone, Copy, PartialEq, Default, Debug)]
            pub struct Body {
                #[state(position)]
                pub position: [$real; 3],
                #[state(velocity)]
                pub velocity: [$real; 3],
            }

            impl Body {
                pub fn step(&mut self, buttons: Buttons, dt: $real) {
                    let Body { position: p, velocity: v } = self;
                    let push = |yes: bool| if yes { 0.5 } else { 0.0 };
                    v[2] += push(buttons.up);
                    v[2] -= push(buttons.down);
                    v[0] -= push(buttons.left);
                    v[0] += push(buttons.right);
                    if buttons.jump && p[1] <= 0.05 {
                        v[1] += 4.0;
                    }
                    v[1] += -9.81 * dt;
                    for axis in 0..3 {
                        v[axis] *= 1.0 - 4.0 * dt;
                    }
                    for axis in 0..3 {
                        p[axis] += v[axis] * dt;
                    }
                    if p[1] < 0.0 {
                        p[1] = 0.0;
                        v[1] = v[1].max(0.0);
                    }
                    for axis in [0, 2] {
                        if p[axis].abs() > 10.0 {
                            p[axis] = p[axis].clamp(-10.0, 10.0);
                            v[axis] *= -0.5;
                        }
                    }
                }
            }

            /// Point masses, one for each player.
            #[derive(Clone, Default, Debug)]
            pub struct Masses {
                /// Ascending by entity.
                pub bodies: Vec<(Entity, Body)>,
                /// The authority adds +3 m/s to every vx just before this tick.
                pub perturb_at: Option<Tick>,
            }

            impl Masses {
                /// A client's world that already knows its player.
                pub fn of(player: PlayerId) -> Masses {
                    let entity = Entity::new(Kind(0), player, Tick::ZERO, 0);
                    Masses { bodies: vec![(entity, Body::default())], perturb_at: None }
                }

                pub fn body(&self, entity: Entity) -> Body {
                    self.bodies.iter().find(|(known, _)| *known == entity).expect("it is there").1
                }

                pub fn body_mut(&mut self, entity: Entity) -> &mut Body {
                    &mut self.bodies.iter_mut().find(|(known, _)| *known == entity).expect("it is there").1
                }
            }

            impl World for Masses {
                type Input = Buttons;
                type Saved = Vec<(Entity, Body)>;

                fn step(&mut self, step: &Step<'_, Buttons>) {
                    for player in step.joined() {
                        self.bodies.push((step.spawn(Kind(0), *player), Body::default()));
                    }
                    self.bodies.retain(|(entity, _)| !step.left().contains(&entity.player()));
                    self.bodies.sort_unstable_by_key(|(entity, _)| *entity);
                    if step.is_authority() && self.perturb_at == Some(step.tick()) {
                        self.bodies.iter_mut().for_each(|(_, body)| body.velocity[0] += 3.0);
                    }
                    #[allow(clippy::cast_possible_truncation, reason = "the reference is made in both precisions")]
                    let dt = step.seconds() as $real;
                    for (entity, body) in &mut self.bodies {
                        if let Some(input) = step.input(entity.player()) {
                            body.step(input.input, dt);
                        }
                    }
                }

                fn save(&self, into: &mut Self::Saved) {
                    into.clone_from(&self.bodies);
                }

                fn load(&mut self, from: &Self::Saved) {
                    self.bodies.clone_from(from);
                }

                fn publish(&self, rows: &mut Rows) {
                    rows.publish_all(&self.bodies);
                }

                fn adopt(&mut self, rows: &Rows) {
                    rows.adopt_into(&mut self.bodies);
                }
            }
        }
    };
}

point_mass!(f64_mass, f64);
point_mass!(f32_mass, f32);

impl hostile::Playable for f64_mass::Masses {
    fn schema() -> Schema {
        f64_mass::Body::schema()
    }

    fn with_player(player: PlayerId) -> Self {
        f64_mass::Masses::of(player)
    }
}
