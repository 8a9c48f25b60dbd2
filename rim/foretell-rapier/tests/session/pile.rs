//! The game of these tests: each player drives a cube by forces into a heap of small ones.

use foretell::rollback::Timeline;
use foretell::world::{PredictionSet, Side};
use foretell::{Entity, Input, Newcomer, Owned, PlayerId, Rows, Schema, Simulate, State, Step, Tick, TickRate, World};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, Vector};
use foretell_rapier::{Blueprint, Body, Physics, Plan};

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Keys {
    pub w: bool,
    pub s: bool,
    pub a: bool,
    pub d: bool,
}

#[derive(State, Clone, Copy)]
pub enum Thing {
    Driver {
        #[state(flatten)]
        body: Body,
    },
    Small {
        #[state(flatten)]
        body: Body,
    },
    /// A small one that never sleeps.
    Restless {
        #[state(flatten)]
        body: Body,
    },
}

impl Blueprint for Thing {
    fn plan(&self, _entity: Entity) -> Plan {
        let (half, damping) = if matches!(self, Thing::Driver { .. }) { (0.5, 1.0) } else { (0.2, 0.0) };
        let body =
            RigidBodyBuilder::dynamic().linear_damping(damping).can_sleep(!matches!(self, Thing::Restless { .. }));
        Plan::new(body).with(ColliderBuilder::cuboid(half, half, half))
    }
}

#[derive(Clone)]
pub struct Pile {
    pub physics: Physics,
    /// Half of the room's width, in metres.
    pub half: f32,
    pub layout: Layout,
    /// When the authority alone pushes a small cube.
    pub kick: Option<Tick>,
}

/// How the small cubes lie.
#[derive(Clone, Copy)]
pub struct Layout {
    cubes: u16,
    awake: bool,
    /// How many in a row.
    side: u16,
    /// In metres.
    apart: f32,
}

impl Pile {
    /// A room of 7 m by 7 m, and on the server so many small cubes in a heap, each in touch with its neighbours. They may
    /// fall asleep, or may not.
    pub fn heap(cubes: u16, awake: bool) -> Pile {
        Pile::heap_in(3.5, cubes, awake)
    }

    /// The same in a room of which half is that wide, in metres.
    pub fn heap_in(half: f32, cubes: u16, awake: bool) -> Pile {
        Pile::in_room(half, Layout { cubes, awake, side: if cubes > 100 { 12 } else { 5 }, apart: 0.4 })
    }

    /// A room of 20 m by 20 m with so many small cubes on its floor that may fall asleep.
    pub fn field(cubes: u16) -> Pile {
        Pile::in_room(10.0, Layout { cubes, awake: false, side: 31, apart: 0.5 })
    }

    fn in_room(half: f32, layout: Layout) -> Pile {
        let floor = ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vector::new(0.0, -0.5, 0.0));
        let wall = |x: f32, z: f32| {
            ColliderBuilder::cuboid(1.0 + half * z.abs(), 4.0, 1.0 + half * x.abs())
                .translation(Vector::new(x, 0.0, z) * (half + 1.0) + Vector::new(0.0, 2.0, 0.0))
        };
        let walls = [wall(1.0, 0.0), wall(-1.0, 0.0), wall(0.0, 1.0), wall(0.0, -1.0)];
        let physics = Physics::new([0.0, -9.81, 0.0], [floor].into_iter().chain(walls));
        Pile { physics, half, layout, kick: None }
    }

    fn scatter(&mut self, step: &mut Step<'_, Keys>) {
        let Layout { cubes, awake, side, apart } = self.layout;
        for nth in 0..cubes {
            let [x, y, z] = [nth % side, nth / (side * side), nth / side % side].map(f32::from);
            let middle = f32::from(side / 2);
            let body = Body::at([(x - middle) * apart, 0.2 + y * 0.4, (z - middle) * apart]);
            let state = if awake { Thing::Restless { body } } else { Thing::Small { body } };
            self.physics.spawn(step, PlayerId::SERVER, &state);
        }
    }

    /// What belongs to a player is a driver.
    fn thing(&self, of: Owned, body: Body) -> Thing {
        match of.owner {
            PlayerId::SERVER if self.layout.awake => Thing::Restless { body },
            PlayerId::SERVER => Thing::Small { body },
            _ => Thing::Driver { body },
        }
    }
}

impl Simulate for Pile {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.physics.prepare(step);
        if step.simulates(PlayerId::SERVER) && step.tick() == Tick::ZERO {
            self.scatter(step);
        }
        if step.is_authority() && self.kick == Some(step.tick()) {
            let small = self.physics.owned().find(|of| of.owner == PlayerId::SERVER).expect("there are some");
            let mut body = self.physics.body_mut(small.entity).expect("it has one");
            body.apply_impulse(Vector::new(0.0, 0.2, 0.0), true);
        }
        self.physics.remove_left(step);
        for joined in step.joined() {
            let side = (self.half - 0.6) * if joined.player.get().is_multiple_of(2) { 1.0 } else { -1.0 };
            // Four pairs, side by side, who face each other.
            let aside = [0.0, 1.1, -1.1, 2.2][usize::from(joined.player.get() - 1) / 2 % 4];
            let at = [side, 0.5, aside];
            self.physics.spawn(step, joined.player, &Thing::Driver { body: Body::at(at) });
        }
        let drivers: Vec<_> = self.physics.owned().filter(|of| of.owner != PlayerId::SERVER).collect();
        for driver in drivers {
            let Some(player) = step.input(driver.owner) else { continue };
            let Keys { w, s, a, d } = player.input;
            let axis = |plus, minus| f32::from(i8::from(plus) - i8::from(minus));
            if let Some(mut body) = self.physics.body_mut(driver.entity).filter(|body| body.is_dynamic()) {
                body.add_force(Vector::new(axis(d, a), 0.0, axis(w, s)) * 12.0, true);
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
        self.physics.publish(rows, |of, body| self.thing(of, body));
    }

    fn adopt(&mut self, rows: &Rows) {
        self.physics.adopt::<Thing>(rows);
    }
}

/// The player of [`predicted`].
pub const ME: PlayerId = PlayerId::new(1);

/// The timeline of a client that predicts everything, from the server's state after the first ticks on.
pub fn predicted(world: &mut Pile, checkpoint_every: u32) -> Timeline<Pile> {
    for tick in (0..4).map(Tick::new) {
        let joined = [Newcomer::new(ME)];
        let joined = if tick == Tick::ZERO { &joined[..] } else { &[] };
        world.step(&mut Step::new(tick, TickRate::default(), Side::Server, &[]).with_players(joined, &[]));
    }
    let mut full = Rows::new(&Pile::schema());
    world.publish(&mut full);
    let mut predicted = PredictionSet::own(ME);
    predicted.insert(PlayerId::SERVER);
    let mut timeline = Timeline::new(&Pile::schema(), ME, TickRate::default(), 128, checkpoint_every);
    timeline.begin(world, Tick::new(4));
    timeline.switch(world, Tick::new(4), &predicted, &full);
    timeline
}
