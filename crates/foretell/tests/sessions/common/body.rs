//! The reference model's point mass (R6, R14), in both precisions.

use foretell::Input;

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

macro_rules! body {
    ($module:ident, $real:ty) => {
        pub mod $module {
            use super::Buttons;
            use foretell::State;

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
        }
    };
}

body!(f64_mass, f64);
body!(f32_mass, f32);
