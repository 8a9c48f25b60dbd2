//! What is played: two bodies on a plane, each steered by a player. Every library runs this same step, on both ends.

/// Ticks per second: those of lightyear's examples, and Foretell's default.
pub const TICK_HZ: u16 = 64;
/// A tick in microseconds, exactly.
pub const TICK_US: u64 = 1_000_000 / TICK_HZ as u64;
/// How many players there are.
pub const PLAYERS: usize = 2;

/// How fast somebody walks, in m/s.
const SPEED: f32 = 6.0;
/// How fast a speed changes, in m/s²: somebody who lets go of all keys stands after 0.15 s and 0.45 m.
const ACCELERATION: f32 = 40.0;
/// How far the walls are from the middle, in metres.
const WALL: f32 = 20.0;

/// What a player presses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Keys {
    /// Towards greater y.
    pub up: bool,
    /// Towards smaller y.
    pub down: bool,
    /// Towards smaller x.
    pub left: bool,
    /// Towards greater x.
    pub right: bool,
}

/// A body: metres, and m/s.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Body {
    /// Where it is.
    pub position: [f32; 2],
    /// How it moves.
    pub velocity: [f32; 2],
}

impl Keys {
    /// Where to, as a vector of length 1, or 0 for who stands.
    fn direction(self) -> [f32; 2] {
        let axis = |plus: bool, minus: bool| f32::from(i8::from(plus) - i8::from(minus));
        let [x, y] = [axis(self.right, self.left), axis(self.up, self.down)];
        let length = (x * x + y * y).sqrt();
        if length > 0.0 { [x / length, y / length] } else { [0.0; 2] }
    }
}

impl Body {
    /// Where a player begins.
    pub fn at_start(player: usize) -> Body {
        let x = if player == 0 { -5.0 } else { 5.0 };
        Body { position: [x, 0.0], velocity: [0.0; 2] }
    }

    /// One tick. Also who was pushed comes back to walking, or standing, by the same acceleration.
    pub fn step(&mut self, keys: Keys) {
        let dt = 1.0 / f32::from(TICK_HZ);
        let wanted = keys.direction().map(|part| part * SPEED);
        let [x, y] = [wanted[0] - self.velocity[0], wanted[1] - self.velocity[1]];
        let (change, most) = ((x * x + y * y).sqrt(), ACCELERATION * dt);
        if change > most {
            self.velocity[0] += x / change * most;
            self.velocity[1] += y / change * most;
        } else {
            self.velocity = wanted;
        }
        for axis in 0..2 {
            let to = self.position[axis] + self.velocity[axis] * dt;
            self.position[axis] = to.clamp(-WALL, WALL);
            if to.abs() > WALL {
                self.velocity[axis] = 0.0;
            }
        }
    }

    /// A blow, which only the server knows of.
    pub fn push(&mut self, by: [f32; 2]) {
        (0..2).for_each(|axis| self.velocity[axis] += by[axis]);
    }

    /// In m/s.
    pub fn speed(&self) -> f64 {
        let [x, y] = self.velocity.map(f64::from);
        x.hypot(y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_lets_go_stands_after_ten_ticks_and_half_a_metre() {
        let mut body = Body::default();
        let right = Keys { right: true, ..Keys::default() };
        (0..64).for_each(|_| body.step(right));
        assert!((body.speed() - 6.0).abs() < 1e-5);
        let from = body.position[0];
        (0..10).for_each(|_| body.step(Keys::default()));
        assert!(body.speed() < f64::EPSILON && (0.3..0.6).contains(&(body.position[0] - from)), "{body:?}");
    }

    #[test]
    fn nobody_walks_through_a_wall_or_faster_askew() {
        let mut body = Body::at_start(1);
        let askew = Keys { right: true, up: true, ..Keys::default() };
        (0..64).for_each(|_| body.step(askew));
        assert!((body.speed() - 6.0).abs() < 1e-5);
        (0..640).for_each(|_| body.step(askew));
        assert!(body.position == [WALL; 2] && body.speed() < 1.0, "{body:?}");
    }
}
