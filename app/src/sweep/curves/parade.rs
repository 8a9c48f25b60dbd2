//! What the curves are measured on: bodies whose motion is known at every instant, each once for each curve, all seen over
//! one link.

use foretell::math::f64::{cos, sin};
use foretell::{Entity, Kind, PlayerId, Role, Rows, State, Step, Tick, World};
use foretell_arena::Buttons;

/// How a body moves; never faster than [`FASTEST_MPS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    /// As a ship or a glider: always on the way, with little acceleration.
    Inertial,
    /// As a player with a keyboard: off at full speed, to a stop at once, around a square.
    StopAndGo,
    /// Around a circle at a constant speed.
    Circular,
}

/// In m/s.
pub const FASTEST_MPS: f64 = 5.0;

const TURN: f64 = core::f64::consts::TAU;

impl Motion {
    /// All of them.
    pub const ALL: [Motion; 3] = [Motion::Inertial, Motion::StopAndGo, Motion::Circular];

    /// What stands in the table.
    pub fn name(self) -> &'static str {
        match self {
            Motion::Inertial => "inertial",
            Motion::StopAndGo => "stop-and-go",
            Motion::Circular => "circular",
        }
    }

    /// Where the body is after so many seconds, and its velocity.
    pub fn at(self, seconds: f64) -> Body {
        match self {
            // 4 m and 3 m to each side in 8 s and 6 s: at most 4.5 m/s, and 4.6 m/s².
            Motion::Inertial => {
                let [(x, vx), (z, vz)] = [wave(4.0, 8.0, seconds), wave(3.0, 6.0, seconds + 1.0)];
                Body { position: [x, 0.0, z], velocity: [vx, 0.0, vz] }
            }
            Motion::StopAndGo => stop_and_go(seconds),
            Motion::Circular => {
                let around_s = TURN * 3.0 / FASTEST_MPS;
                let [(x, vx), (z, vz)] = [0.25, 0.0].map(|turned| wave(3.0, around_s, seconds + turned * around_s));
                Body { position: [x, 0.0, z], velocity: [vx, 0.0, vz] }
            }
        }
    }
}

/// To and fro by `metres` in `period` seconds: where, and how fast.
fn wave(metres: f64, period: f64, seconds: f64) -> (f64, f64) {
    let (angle, rate) = (TURN * seconds / period, TURN / period);
    (metres * sin(angle), metres * rate * cos(angle))
}

/// How long it walks on each side of a square, and how long it then stands, in seconds: no multiples of the distance of
/// any snapshots, so that no state is just where it turns.
const WALKS_S: f64 = 0.73;
const STANDS_S: f64 = 0.51;

fn stop_and_go(seconds: f64) -> Body {
    const SIDES: [[f64; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
    let (mut left, mut side, mut body) = (seconds.rem_euclid(4.0 * (WALKS_S + STANDS_S)), 0, Body::default());
    loop {
        let [x, z] = SIDES[side].map(|along| along * FASTEST_MPS);
        let walked = left.clamp(0.0, WALKS_S);
        body.position[0] += x * walked;
        body.position[2] += z * walked;
        if left < WALKS_S + STANDS_S || side == 3 {
            body.velocity = if left < WALKS_S { [x, 0.0, z] } else { [0.0; 3] };
            return body;
        }
        (left, side) = (left - WALKS_S - STANDS_S, side + 1);
    }
}

/// A body.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Body {
    /// In metres.
    #[state(position)]
    pub position: [f64; 3],
    /// In m/s.
    #[state(velocity)]
    pub velocity: [f64; 3],
}

/// The name of a body: the `lane`-th of those that move so.
pub fn entity(motion: usize, lane: usize) -> Entity {
    let counter = u8::try_from(motion * LANES_MAX + lane).expect("few bodies");
    Entity::new(Kind(0), PlayerId::SERVER, Tick::ZERO, counter)
}

/// Which motion and which lane a body has.
pub fn place(entity: Entity) -> (usize, usize) {
    (usize::from(entity.counter()) / LANES_MAX, usize::from(entity.counter()) % LANES_MAX)
}

/// More lanes than there are curves.
const LANES_MAX: usize = 16;

/// The bodies; on the server all from the start, on a client those that have come.
#[derive(Clone, Default, Debug)]
pub struct Parade(Vec<(Entity, Body)>);

impl Parade {
    /// So many bodies for each motion.
    pub fn new(lanes: usize) -> Parade {
        let body = |motion: usize, lane| (entity(motion, lane), Motion::ALL[motion].at(0.0));
        Parade((0..Motion::ALL.len()).flat_map(|motion| (0..lanes).map(move |lane| body(motion, lane))).collect())
    }
}

impl World for Parade {
    type Input = Buttons;
    type Saved = Vec<(Entity, Body)>;

    fn step(&mut self, step: &Step<'_, Buttons>) {
        let seconds = f64::from(step.tick().next().get()) * step.seconds();
        for (entity, body) in self.0.iter_mut().filter(|(entity, _)| step.role(*entity) != Role::Proxy) {
            *body = Motion::ALL[place(*entity).0].at(seconds);
        }
    }

    fn save(&self, into: &mut Self::Saved) {
        into.clone_from(&self.0);
    }

    fn load(&mut self, from: &Self::Saved) {
        self.0.clone_from(from);
    }

    fn publish(&self, rows: &mut Rows) {
        rows.publish_all(&self.0);
    }

    fn adopt(&mut self, rows: &Rows) {
        rows.adopt_into(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::path::distance;

    #[test]
    fn motions_are_continuous_and_move_as_fast_as_they_say() {
        for motion in Motion::ALL {
            let mut fastest = 0.0_f64;
            for ms in 0..20_000_u32 {
                let (at, next) = (motion.at(f64::from(ms) / 1e3), motion.at(f64::from(ms + 1) / 1e3));
                let speed = distance(at.position, next.position) * 1e3;
                fastest = fastest.max(speed);
                // Within the millisecond the keyboard may have been touched.
                let is_smooth = motion != Motion::StopAndGo || at.velocity == next.velocity;
                let told = distance(at.velocity, [0.0; 3]);
                assert!(!is_smooth || (speed - told).abs() < 0.02, "{motion:?} at {ms} ms: {speed} m/s, told {told}");
            }
            assert!((4.0..=FASTEST_MPS + 1e-6).contains(&fastest), "{motion:?}: {fastest} m/s");
        }
    }

    #[test]
    fn names_say_motion_and_lane() {
        for (motion, lane) in [(0, 0), (2, 13), (1, 15)] {
            assert_eq!(place(entity(motion, lane)), (motion, lane));
        }
    }
}
