//! The world of the scene *Crowd* and of `foretell bench crowd`: a crowd of the server's on a grid, of which the first so many move,
//! and a body for each player.
#![forbid(unsafe_code)]

mod motion;

use foretell::{Entity, Input, Owned, PlayerId, Rules, Simulate, State, Step, Table, Tick, TickRate, World};
pub use motion::Motion;
use motion::narrow;

/// Ticks per second.
pub const TICK_HZ: u16 = 60;
/// Between two neighbours of the grid, in metres.
const APART_M: f64 = 2.0;
/// How far a player walks in a tick, in metres.
const WALK_MPS: f32 = 4.0;
/// The sine and the cosine of half the angle by which a player turns in a tick: 2 radians per second.
const TURN: [f32; 2] = [0.016_665_9, 0.999_861_1];
/// How often a player may turn the other way, in ticks.
const TURN_TICKS: u32 = 40;

/// What a player can press.
#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Walk {
    /// To walk.
    pub forward: bool,
    /// To turn to the left,
    pub left: bool,
    /// or to the right.
    pub right: bool,
}

impl Walk {
    /// What a player presses in a tick who walks all the time: mostly to the left, so that nobody gets far.
    pub fn of(player: usize, tick: Tick) -> Walk {
        let turn = tick.get() / TURN_TICKS + u32::try_from(player).unwrap_or(0);
        let right = turn.is_multiple_of(4);
        Walk { forward: true, left: !right, right }
    }
}

/// 40 bytes, seen by everybody.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub struct Body {
    /// In metres; y points up.
    #[state(position, precision = 0.001)]
    pub position: [f32; 3],
    /// A unit quaternion: who is not turned looks along x.
    #[state(rotation, precision = 0.001)]
    pub rotation: [f32; 4],
    /// In metres per second.
    #[state(velocity, precision = 0.01)]
    pub velocity: [f32; 3],
}

impl Body {
    /// That of the nth of so many before it has moved, on a grid whose middle is the origin.
    pub fn first(nth: u16, entities: u16) -> Body {
        let side = side(entities);
        let metres = |number: u16| narrow((f64::from(number) - f64::from(side - 1) / 2.0) * APART_M);
        let position = [metres(nth % side), 0.0, metres(nth / side)];
        Body { position, rotation: Motion::of(nth).first_rotation(), velocity: [0.0; 3] }
    }

    /// After a tick of a player.
    fn walked(self, walk: Walk, seconds: f32) -> Body {
        let Body { mut position, rotation: [_, y, _, w], .. } = self;
        let [sine, cosine] = match (walk.left, walk.right) {
            (true, false) => TURN,
            (false, true) => [-TURN[0], TURN[1]],
            _ => [0.0, 1.0],
        };
        let [y, w] = [y * cosine + w * sine, w * cosine - y * sine];
        let length = (y * y + w * w).sqrt();
        let [y, w] = [y / length, w / length];
        let speed = if walk.forward { WALK_MPS } else { 0.0 };
        let velocity = [speed * (w * w - y * y), 0.0, speed * -2.0 * w * y];
        for (position, velocity) in position.iter_mut().zip(velocity) {
            *position += velocity * seconds;
        }
        Body { position, rotation: [0.0, y, 0.0, w], velocity }
    }
}

/// How many of so many stand beside each other.
fn side(entities: u16) -> u16 {
    let squares = |side: &u16| u32::from(*side) * u32::from(*side) >= u32::from(entities);
    (1..=u16::MAX).find(squares).unwrap_or(u16::MAX)
}

/// The crowd and the players among it.
#[derive(World, Default)]
pub struct Crowd {
    bodies: Table<Body>,
    /// How many of the crowd there are,
    #[world(saved)]
    present: u16,
    /// how many there are to be, and how many of them move.
    #[world(constant)]
    entities: u16,
    #[world(constant)]
    moving: u16,
}

impl Crowd {
    /// What both ends agree on.
    pub fn rules() -> Rules {
        Rules { tick_rate: TickRate::hz(TICK_HZ), ..Rules::new(Crowd::schema()) }
    }

    /// The server's world: its crowd is there from the start.
    pub fn new(entities: u16, moving: u16) -> Crowd {
        let mut crowd = Crowd { present: entities, entities, moving, ..Crowd::default() };
        for nth in 0..entities {
            let of = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner: PlayerId::SERVER };
            crowd.bodies.insert(of, Body::first(nth, entities));
        }
        crowd
    }

    /// Of the server: from the next step on there are so many, and all of them move. Those who came last go first.
    pub fn resize(&mut self, entities: u16) {
        (self.entities, self.moving) = (entities, entities);
    }

    /// Lets come or go who is too few or too many.
    fn settle(&mut self, step: &mut Step<'_, Walk>) {
        for nth in self.present..self.entities {
            self.bodies.spawn(step, PlayerId::SERVER, Body::first(nth, self.entities));
        }
        for _ in self.entities..self.present {
            let last = self.bodies.owned_by(PlayerId::SERVER).next_back().map(|body| body.entity());
            last.and_then(|last| self.bodies.remove(last));
        }
        self.present = self.entities;
    }

    /// Where a player begins: players are spread over the grid.
    fn start(&self, player: PlayerId) -> Body {
        let width = f64::from(side(self.entities)) * APART_M;
        let among = |share: f64| narrow(((share * f64::from(player.get())).fract() - 0.5) * width);
        let position = [among(0.754_877_666), 0.0, among(0.569_840_291)];
        Body { position, rotation: [0.0, 0.0, 0.0, 1.0], velocity: [0.0; 3] }
    }
}

impl Simulate for Crowd {
    type Input = Walk;

    fn step(&mut self, step: &mut Step<'_, Walk>) {
        for joined in step.joined() {
            let start = self.start(joined.player);
            self.bodies.spawn(step, joined.player, start);
        }
        if step.is_authority() && self.present != self.entities {
            self.settle(step);
        }
        let seconds = narrow(step.seconds());
        // Where a client steps, all of the crowd are proxies.
        let mut crowd = 0..self.moving;
        for mut body in self.bodies.simulated(step) {
            if body.owner() == PlayerId::SERVER {
                crowd.next().into_iter().for_each(|nth| Motion::of(nth).advance(&mut body, step.tick().get()));
                continue;
            }
            let walk = step.input(body.owner()).map_or(Walk::default(), |player| player.input);
            let walked = body.walked(walk, seconds);
            if *body != walked {
                *body = walked;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::world::Side;

    const STILL: Body = Body { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], velocity: [0.0; 3] };

    #[test]
    fn who_walks_left_turns_by_two_radians_in_a_second_and_who_presses_nothing_stays() {
        let mut body = STILL;
        for _ in 0..60 {
            body = body.walked(Walk { forward: true, left: true, right: false }, 1.0 / 60.0);
        }
        let [_, y, _, w] = body.rotation;
        assert!((2.0 * y.atan2(w) - 2.0).abs() < 1e-3, "{body:?}");
        let from_start = body.position[0].hypot(body.position[2]);
        assert!((from_start - 2.0 * 2.0 * 1_f32.sin()).abs() < 0.1, "a chord of a circle of 2 m: {from_start}");
        assert_eq!(STILL.walked(Walk::default(), 1.0 / 60.0), STILL);
    }

    /// Steps of a server without players, from this tick on.
    fn run(crowd: &mut Crowd, ticks: core::ops::Range<u32>) -> Vec<Entity> {
        for tick in ticks {
            crowd.step(&mut Step::new(Tick::new(tick), TickRate::hz(TICK_HZ), Side::Server, &[]));
        }
        crowd.bodies.iter().map(|body| body.entity()).collect()
    }

    #[test]
    fn who_is_too_few_or_too_many_comes_or_goes_in_the_next_step_and_the_others_stay() {
        let mut crowd = Crowd::new(10, 10);
        let first = run(&mut crowd, 0..5);
        crowd.resize(14);
        let more = run(&mut crowd, 5..6);
        assert_eq!((more.len(), &more[..10]), (14, &first[..]));
        crowd.resize(6);
        assert_eq!(run(&mut crowd, 6..9), first[..6]);
        crowd.resize(7);
        let again = run(&mut crowd, 9..10);
        assert!(
            again.len() == 7 && !more.contains(&again[6]),
            "nobody comes back under a name that is gone: {again:?}"
        );
    }

    #[test]
    fn the_crowd_stands_on_a_grid_around_the_origin_and_players_start_among_it() {
        let crowd = Crowd::new(10, 0);
        let places: Vec<_> = crowd.bodies.iter().map(|body| body.position).collect();
        assert_eq!((places[0], places[3], places[4]), ([-3.0, 0.0, -3.0], [3.0, 0.0, -3.0], [-3.0, 0.0, -1.0]));
        for player in 1..100 {
            let [x, _, z] = crowd.start(PlayerId::new(player)).position;
            assert!(x.abs() <= 4.0 && z.abs() <= 4.0, "{x}, {z}");
        }
    }
}
