//! The world of the scene *Physics*, which the dedicated server offers too: every player drives a cube by forces through a
//! field of small ones (R4, R6).
//!
//! Rigid bodies in f32; axes, metres and keys are the arena's: x points right, y up, z into the room. A body's position is
//! its middle. The floor is `y = 0`, low walls stand at `|x|, |z| = 10`. What the driver does follows from its body and its
//! keys alone, so that the rows of the bodies are the whole state.

#![forbid(unsafe_code)]

use foretell::{
    ClientConfig, Entity, PlayerId, Rows, Rules, Schema, ServerConfig, Simulate, State, Step, TickRate, Tolerance,
    World,
};
use foretell_arena::{Buttons, Game};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, Vector};
use foretell_rapier::{Blueprint, Body, Physics, Plan};

/// Half an edge of a player's cube and of one of the field, in metres.
pub const HALF_M: [f32; 2] = [0.5, 0.2];
/// How many small cubes there are at most where the pile is a [`Game`]: with [`PLAYERS_MAX`] as many bodies as a client of an
/// exact session can be told at once.
pub const CUBES_MAX: u16 = 100;
/// How many players. More have no place to start from either.
pub const PLAYERS_MAX: u16 = 16;
/// The force of a held key on a cube of 1 kg, in newtons: the article's 0.5 m/s per tick of 1/64 s.
const PUSH_N: f32 = 32.0;
/// What air takes from a driver's velocity, per second: the article has none, and no walls.
const DRAG_PER_S: f32 = 3.0;
/// What a jump adds to the vertical velocity, in m/s, where the cube's middle is lower than this and does not rise.
const JUMP_MPS: f32 = 4.5;
const JUMP_BELOW_M: f32 = 0.75;
/// Where the walls are, in metres; drawn low, they hold what is thrown up as well.
const WALL_M: f32 = 10.0;
/// Between the cubes of the field, from middle to middle: at most, and where they would not leave room for players.
const APART_M: [f32; 2] = [0.62, 0.5];
/// How far from the field the first two players start.
const BEFORE_M: f32 = 2.4;
/// Who starts nearer to a body than so on the floor starts above it, so much higher.
const CLEAR_M: f32 = 1.4;

/// What there is: what belongs to a player is a driver, what belongs to nobody is small.
#[derive(State, Clone, Copy, Debug)]
pub enum Thing {
    /// A player's cube.
    Driver {
        /// All that it is.
        #[state(flatten)]
        body: Body,
    },
    /// A cube of the field.
    Small {
        /// All that it is.
        #[state(flatten)]
        body: Body,
    },
}

impl Blueprint for Thing {
    fn plan(&self, _entity: Entity) -> Plan {
        let (half, drag) = match self {
            Thing::Driver { .. } => (HALF_M[0], DRAG_PER_S),
            Thing::Small { .. } => (HALF_M[1], 0.0),
        };
        let body = RigidBodyBuilder::dynamic().linear_damping(drag).angular_damping(0.5);
        Plan::new(body).with(ColliderBuilder::cuboid(half, half, half).friction(0.5))
    }
}

/// How the small cubes lie when the authority has scattered them.
#[derive(Clone, Copy)]
struct Field {
    cubes: u16,
    columns: f32,
    rows: f32,
    apart_m: f32,
}

impl Field {
    fn of(cubes: u16) -> Field {
        let columns = f32::from(cubes).sqrt().ceil().max(1.0);
        let apart_m = APART_M[usize::from(columns * APART_M[0] > WALL_M)];
        Field { cubes, columns, rows: (f32::from(cubes) / columns).ceil(), apart_m }
    }

    /// Where the cube of this number lies.
    fn place(&self, nth: f32) -> Body {
        let place = |nth: f32, of: f32| (nth - (of - 1.0) / 2.0) * self.apart_m;
        Body::at([place(nth % self.columns, self.columns), HALF_M[1], place((nth / self.columns).floor(), self.rows)])
    }

    /// Where a player starts: the first two face each other across it, others beside them, one in each of the places before
    /// the first gets somebody again.
    fn start(&self, player: PlayerId) -> [f32; 3] {
        let nth = player.get().saturating_sub(1) % PLAYERS_MAX;
        let far = (self.rows * self.apart_m / 2.0 + BEFORE_M).min(WALL_M - 1.0);
        let pair = nth / 2;
        let aside = f32::from(pair.div_ceil(2)) * if pair.is_multiple_of(2) { -2.0 } else { 2.0 };
        [aside, HALF_M[0], if nth.is_multiple_of(2) { -far } else { far }]
    }
}

/// The floor, its walls and what lies on it.
#[derive(Clone)]
pub struct Pile {
    physics: Physics,
    field: Field,
}

impl Pile {
    /// An empty floor. On the server it gets this many small cubes in its first tick; a client's are told to it.
    pub fn new(cubes: u16) -> Pile {
        let floor = ColliderBuilder::cuboid(WALL_M + 1.0, 0.5, WALL_M + 1.0).translation(Vector::new(0.0, -0.5, 0.0));
        let wall = |x: f32, z: f32| {
            let half = |along: f32| if along == 0.0 { WALL_M + 1.0 } else { 0.5 };
            let middle = Vector::new(x * (WALL_M + 0.5), 5.0, z * (WALL_M + 0.5));
            ColliderBuilder::cuboid(half(x), 5.0, half(z)).translation(middle)
        };
        let walls = [wall(1.0, 0.0), wall(-1.0, 0.0), wall(0.0, 1.0), wall(0.0, -1.0)];
        Pile { physics: Physics::new([0.0, -9.81, 0.0], [floor].into_iter().chain(walls)), field: Field::of(cubes) }
    }

    /// The driver of a player.
    pub fn driver(&self, player: PlayerId) -> Option<Entity> {
        self.physics.owned().find(|of| of.owner == player && player != PlayerId::SERVER).map(|of| of.entity)
    }

    /// The bodies, to look at and to push outside of a step.
    pub fn physics_mut(&mut self) -> &mut Physics {
        &mut self.physics
    }

    fn scatter(&mut self, step: &mut Step<'_, Buttons>) {
        for nth in 0..self.field.cubes {
            self.physics.spawn(step, PlayerId::SERVER, &Thing::Small { body: self.field.place(f32::from(nth)) });
        }
    }

    /// Where a player starts, above whatever lies there by now.
    fn start(&self, player: PlayerId) -> Body {
        let [x, floor, z] = self.field.start(player);
        let lie = self.physics.entities().filter_map(|entity| self.physics.body(entity)).map(|body| body.translation());
        let below = lie.filter(|at| (at.x - x).abs() < CLEAR_M && (at.z - z).abs() < CLEAR_M);
        Body::at([x, below.map(|at| at.y + CLEAR_M).fold(floor, f32::max), z])
    }

    fn drive(&mut self, driver: Entity, keys: Buttons) {
        let Some(mut body) = self.physics.body_mut(driver).filter(|body| body.is_dynamic()) else { return };
        let axis = |plus, minus| f32::from(i8::from(plus) - i8::from(minus));
        let push = Vector::new(axis(keys.right, keys.left), 0.0, axis(keys.up, keys.down)) * PUSH_N;
        if push != Vector::ZERO {
            body.add_force(push, true);
        }
        if keys.jump && body.translation().y < JUMP_BELOW_M && body.linvel().y < 0.5 {
            let mass = body.mass();
            body.apply_impulse(Vector::new(0.0, JUMP_MPS * mass, 0.0), true);
        }
    }
}

impl Default for Pile {
    /// A client's, before it is told of anything.
    fn default() -> Pile {
        Pile::new(0)
    }
}

impl Game for Pile {
    const NAME: &'static str = "pile";
    const JOINS_PER_SECOND: u32 = 1;

    fn rules() -> Rules {
        let fingerprints = Pile::default().physics.fingerprints();
        Rules { tick_rate: TickRate::hz(60), exact: true, fingerprints, ..Rules::new(Pile::schema()) }
    }

    fn hosted() -> Pile {
        Pile::new(CUBES_MAX)
    }

    fn server() -> ServerConfig {
        ServerConfig { relay_inputs: true, players_max: PLAYERS_MAX, ..ServerConfig::default() }
    }

    /// A saved pile costs about two steps of it where some cubes move: eight ticks between two are a fair price.
    fn client() -> ClientConfig {
        ClientConfig { checkpoint_interval: 8, tolerance: Tolerance::of_contacts(), ..ClientConfig::default() }
    }
}

impl Simulate for Pile {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.physics.prepare(step);
        if step.simulates(PlayerId::SERVER) && self.physics.owned().all(|of| of.owner != PlayerId::SERVER) {
            self.scatter(step);
        }
        self.physics.remove_left(step);
        for joined in step.joined() {
            let driver = Thing::Driver { body: self.start(joined.player) };
            self.physics.spawn(step, joined.player, &driver);
        }
        let drivers: Vec<_> = self.physics.owned().filter(|of| of.owner != PlayerId::SERVER).collect();
        for driver in drivers {
            if let Some(player) = step.input(driver.owner) {
                self.drive(driver.entity, player.input);
            }
        }
        self.physics.advance(step);
        self.physics.tell_touches(step);
    }
}

impl World for Pile {
    type Saved = Physics;

    fn schema() -> Schema {
        Schema::of::<Thing>()
    }

    fn save(&self, into: &mut Physics) {
        into.clone_from(&self.physics);
    }

    fn load(&mut self, from: &Physics) {
        self.physics.clone_from(from);
    }

    fn take(&mut self, from: &mut Physics) {
        core::mem::swap(&mut self.physics, from);
    }

    fn publish(&mut self, rows: &mut Rows) {
        self.physics.publish(rows, |of, body| match of.owner {
            PlayerId::SERVER => Thing::Small { body },
            _ => Thing::Driver { body },
        });
    }

    fn adopt(&mut self, rows: &Rows) {
        self.physics.adopt::<Thing>(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::Tick;
    use foretell_sim::harness::SyncTest;

    #[test]
    fn every_save_load_rollback_and_row_of_a_pushed_pile_is_exact() {
        let input = |_: PlayerId, tick: Tick| Buttons {
            up: tick.get() % 128 < 96,
            right: tick.get() % 50 < 10,
            jump: tick.get().is_multiple_of(64),
            ..Buttons::default()
        };
        assert_eq!(SyncTest::new(Pile::rules(), || Pile::new(CUBES_MAX)).input(input).run(200), Ok(()));
    }

    #[test]
    fn players_start_beside_the_field_and_the_first_two_face_each_other() {
        for cubes in [30, 100, 901] {
            let field = Field::of(cubes);
            let far = (0..cubes)
                .map(|nth| field.place(f32::from(nth)).position)
                .fold(0.0, |far, [x, _, z]| x.abs().max(z.abs()).max(far));
            let starts: Vec<_> = (1..=PLAYERS_MAX).map(|player| field.start(PlayerId::new(player))).collect();
            assert_eq!((starts[0][0], starts[0][2]), (starts[1][0], -starts[1][2]));
            for [x, _, z] in &starts {
                assert!(x.abs() <= WALL_M - HALF_M[0] && z.abs() <= WALL_M - HALF_M[0]);
                assert!(cubes == 30 || z.abs() - HALF_M[0] > far + HALF_M[1], "in the field of {cubes}");
            }
            let apart = |one: [f32; 3], other: [f32; 3]| (one[0] - other[0]).abs().max((one[2] - other[2]).abs());
            let pairs = (0..starts.len()).flat_map(|nth| (0..nth).map(move |other| (nth, other)));
            assert!(pairs.into_iter().all(|(nth, other)| apart(starts[nth], starts[other]) > CLEAR_M));
            assert_eq!(field.start(PlayerId::new(u16::MAX)), starts[usize::from((u16::MAX - 1) % PLAYERS_MAX)]);
        }
    }
}
