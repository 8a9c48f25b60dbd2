//! The arena with a ball in it, as the dedicated server offers it.

use crate::ball::Ball;
use crate::{Buttons, Cube, Game, step_cubes};
use foretell::session::client::Predict;
use foretell::{ClientConfig, PlayerId, Rules, Simulate, Step, Table, TickRate, Tolerance, World};

/// What comes as near as this to the own cube is predicted, in metres, until it is farther off than that: at a round trip of
/// half a second the ball is predicted before a cube gets there at full speed.
const NEAR_M: [f64; 2] = [6.0, 8.0];

/// The arena and a ball, which belongs to nobody and which every cube pushes.
#[derive(World, Clone, Default, Debug)]
pub struct Pitch {
    cubes: Table<Cube>,
    balls: Table<Ball>,
}

impl Game for Pitch {
    const NAME: &'static str = "arena";

    fn rules() -> Rules {
        Rules { tick_rate: TickRate::hz(60), ..Rules::new(Pitch::schema()) }
    }

    /// Players near the ball predict it; what others do to it they see when the server has told them.
    fn client() -> ClientConfig {
        let [within_m, until_m] = NEAR_M;
        let predict = Predict::Near { within_m, until_m };
        ClientConfig { predict, tolerance: Tolerance::of_contacts(), ..ClientConfig::default() }
    }
}

impl Simulate for Pitch {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        step_cubes(&mut self.cubes, step);
        if self.balls.is_empty() && step.simulates(PlayerId::SERVER) {
            self.balls.spawn(step, PlayerId::SERVER, Ball::at_start());
        }
        #[expect(clippy::cast_possible_truncation, reason = "the world is in f32")]
        let dt = step.seconds() as f32;
        for mut ball in self.balls.simulated(step) {
            ball.roll(dt);
            for cube in self.cubes.iter() {
                if ball.is_pushed_by(&cube) {
                    step.touch(ball.owned(), cube.owned());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::Tick;
    use foretell_sim::harness::SyncTest;

    #[test]
    fn every_save_load_rollback_and_row_of_a_pushed_ball_is_exact() {
        let input = |_: PlayerId, tick: Tick| Buttons {
            up: tick.get() % 100 < 50,
            right: tick.get() % 70 < 40,
            left: tick.get() % 130 > 90,
            down: tick.get() % 170 > 110,
            ..Buttons::default()
        };
        assert_eq!(SyncTest::new(Pitch::rules(), Pitch::default).input(input).run(600), Ok(()));
    }
}
