//! The arena with a ball in it, as the dedicated server offers it.

use crate::ball::Ball;
use crate::{Arena, Buttons, Cube, Game};
use foretell::session::client::Predict;
use foretell::{ClientConfig, Entity, Kind, PlayerId, Role, Rows, Rules, State, Step, TickRate, Tolerance, World};

/// The ball; [`Arena`] makes cubes of kind 0.
const BALL: Kind = Kind(1);
/// What comes as near as this to the own cube is predicted, in metres, until it is farther off than that: at a round trip of
/// half a second the ball is predicted before a cube gets there at full speed.
const NEAR_M: [f64; 2] = [6.0, 8.0];

/// What there is one row of.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub enum Thing {
    /// A player's cube.
    Cube {
        /// All that it is.
        #[state(flatten)]
        cube: Cube,
    },
    /// The ball, which is the server's.
    Ball {
        /// All that it is.
        #[state(flatten)]
        ball: Ball,
    },
}

/// The arena and a ball, which belongs to nobody and which every cube pushes.
#[derive(Clone, Default, Debug)]
pub struct Pitch {
    arena: Arena,
    ball: Option<(Entity, Ball)>,
}

impl Game for Pitch {
    const NAME: &'static str = "arena";

    fn rules() -> Rules {
        Rules { tick_rate: TickRate::hz(60), ..Rules::new(Thing::schema()) }
    }

    /// Players near the ball predict it; what others do to it they see when the server has told them.
    fn client() -> ClientConfig {
        let [within_m, until_m] = NEAR_M;
        let predict = Predict::Near { within_m, until_m };
        ClientConfig { predict, tolerance: Tolerance::of_contacts(), ..ClientConfig::default() }
    }
}

impl World for Pitch {
    type Input = Buttons;
    type Saved = (Vec<(Entity, Cube)>, Option<(Entity, Ball)>);

    fn step(&mut self, step: &Step<'_, Buttons>) {
        self.arena.step(step);
        if self.ball.is_none() && step.simulates(PlayerId::SERVER) {
            self.ball = Some((step.spawn(BALL, PlayerId::SERVER), Ball::at_start()));
        }
        let Some((name, ball)) = self.ball.as_mut().filter(|(name, _)| step.role(*name) != Role::Proxy) else { return };
        #[expect(clippy::cast_possible_truncation, reason = "the world is in f32")]
        ball.roll(step.seconds() as f32);
        for (pusher, cube) in &self.arena.cubes {
            if ball.is_pushed_by(cube) {
                step.touch(*name, *pusher);
            }
        }
    }

    fn save(&self, (cubes, ball): &mut Self::Saved) {
        self.arena.save(cubes);
        *ball = self.ball;
    }

    fn load(&mut self, (cubes, ball): &Self::Saved) {
        self.arena.load(cubes);
        self.ball = *ball;
    }

    fn publish(&self, rows: &mut Rows) {
        let cubes = self.arena.cubes.iter().map(|(name, cube)| (*name, Thing::Cube { cube: *cube }));
        let ball = self.ball.iter().map(|(name, ball)| (*name, Thing::Ball { ball: *ball }));
        rows.publish_all(cubes.chain(ball));
    }

    fn adopt(&mut self, rows: &Rows) {
        let is_gone = |entity: &Entity| rows.removed().contains(entity);
        self.arena.cubes.retain(|(name, _)| !is_gone(name));
        self.ball = self.ball.filter(|(name, _)| !is_gone(name));
        for (name, thing) in rows.states() {
            match thing {
                Thing::Cube { cube } => self.arena.put(name, cube),
                Thing::Ball { ball } => self.ball = Some((name, ball)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::Tick;
    use foretell::harness::sync_test;

    #[test]
    fn every_save_load_rollback_and_row_of_a_pushed_ball_is_exact() {
        let input = |_: PlayerId, tick: Tick| Buttons {
            up: tick.get() % 100 < 50,
            right: tick.get() % 70 < 40,
            left: tick.get() % 130 > 90,
            down: tick.get() % 170 > 110,
            ..Buttons::default()
        };
        assert_eq!(sync_test(&Pitch::rules(), Pitch::default, input, 600), Ok(()));
    }
}
