//! The scene of the tests and of the golden digests: everything that Rapier does, in one game.

use foretell::rollback::Side;
use foretell::{Entity, Input, InputStatus, Kind, PlayerId, PlayerInput, Rows, Rules, State, Step, Tick, World};
use foretell_rapier::rapier3d::control::KinematicCharacterController;
use foretell_rapier::rapier3d::prelude::*;
use foretell_rapier::{Blueprint, Body, Link, Party, Physics, Plan};
use std::collections::BTreeMap;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Keys {
    pub right: i8,
    pub ahead: i8,
    pub jump: bool,
    pub fire: bool,
    pub hold: bool,
}

/// The kinds, each with its own columns beside its body.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub enum Thing {
    Driver {
        #[state(flatten)]
        body: Body,
        hits: u32,
        touching: bool,
        holds: bool,
    },
    Crate {
        #[state(flatten)]
        body: Body,
    },
    Ball {
        #[state(flatten)]
        body: Body,
        fuse: u32,
    },
    Door {
        #[state(flatten)]
        body: Body,
    },
    Bead {
        #[state(flatten)]
        body: Body,
    },
    Lift {
        #[state(flatten)]
        body: Body,
    },
    Walker {
        fall: f32,
        #[state(flatten)]
        body: Body,
    },
}

pub const DRIVER: Kind = Kind(0);
pub const CRATE: Kind = Kind(1);
pub const BALL: Kind = Kind(2);
pub const DOOR: Kind = Kind(3);
pub const BEAD: Kind = Kind(4);
pub const LIFT: Kind = Kind(5);
pub const WALKER: Kind = Kind(6);
/// Which of the scenery is the sensor.
pub const GOAL: Party = Party::Scenery(1);

/// What an entity has beside its body; each kind uses its part.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct Extra {
    hits: u32,
    touching: bool,
    holds: bool,
    fuse: u32,
    fall: f32,
}

impl Blueprint for Thing {
    fn plan(&self, entity: Entity) -> Plan {
        let dynamic = RigidBodyBuilder::dynamic;
        match self {
            Thing::Driver { .. } => {
                let cube = ColliderBuilder::cuboid(0.5, 0.5, 0.5).active_events(ActiveEvents::COLLISION_EVENTS);
                Plan::new(dynamic().linear_damping(0.3)).with(cube)
            }
            Thing::Crate { .. } => Plan::new(dynamic()).with(ColliderBuilder::cuboid(0.2, 0.2, 0.2)),
            Thing::Ball { .. } => {
                Plan::new(dynamic().ccd_enabled(true)).with(ColliderBuilder::ball(0.15).density(4.0).restitution(0.6))
            }
            Thing::Door { .. } => {
                let hinge = RevoluteJointBuilder::new(Vector::Y).local_anchor1(Vector::new(-0.5, 0.0, 0.0));
                let hinge = hinge.local_anchor2(Vector::new(-4.5, 1.0, 0.0)).limits([-1.5, 1.5]);
                // Two shapes: a leaf and its handle, so that its centre of mass is beside its origin.
                let handle = ColliderBuilder::ball(0.1).translation(Vector::new(0.4, 0.0, 0.15));
                let plan = Plan::new(dynamic().angular_damping(0.5)).with(ColliderBuilder::cuboid(0.5, 0.9, 0.05));
                plan.with(handle).linked(Link::new(entity, None), hinge)
            }
            Thing::Bead { .. } => bead(entity),
            Thing::Lift { .. } => {
                Plan::new(RigidBodyBuilder::kinematic_position_based()).with(ColliderBuilder::cuboid(1.0, 0.1, 1.0))
            }
            Thing::Walker { .. } => {
                Plan::new(RigidBodyBuilder::kinematic_position_based()).with(ColliderBuilder::capsule_y(0.5, 0.3))
            }
        }
    }
}

/// One of a chain: it hangs from the one before it, the first from a place in the world.
fn bead(entity: Entity) -> Plan {
    let before = entity.counter().checked_sub(1);
    let before = before.map(|nth| Entity::new(entity.kind(), entity.player(), entity.tick(), nth));
    let anchor = if before.is_some() { Vector::new(0.0, -0.25, 0.0) } else { Vector::new(4.0, 3.0, 0.0) };
    let joint = SphericalJointBuilder::new().local_anchor1(Vector::new(0.0, 0.25, 0.0)).local_anchor2(anchor);
    Plan::new(RigidBodyBuilder::dynamic()).with(ColliderBuilder::ball(0.2)).linked(Link::new(entity, before), joint)
}

#[derive(Clone, Default)]
pub struct Yard {
    pub physics: Physics,
    extras: BTreeMap<Entity, Extra>,
    crates: u16,
}

impl Yard {
    /// With so many crates, which the server brings.
    pub fn new(crates: u16) -> Yard {
        let floor = ColliderBuilder::cuboid(60.0, 0.5, 60.0).translation(Vector::new(0.0, -0.5, 0.0));
        let goal = ColliderBuilder::cuboid(1.0, 1.0, 1.0).translation(Vector::new(0.0, 0.5, 6.0)).sensor(true);
        let physics = Physics::new([0.0, -9.81, 0.0], [floor, goal]);
        Yard { physics, extras: BTreeMap::new(), crates }
    }

    pub fn rules() -> Rules {
        Rules::new(Thing::schema())
    }

    pub fn thing(&self, entity: Entity, body: Body) -> Thing {
        let extra = self.extras.get(&entity).copied().unwrap_or_default();
        let Extra { hits, touching, holds, fuse, fall } = extra;
        match entity.kind() {
            DRIVER => Thing::Driver { body, hits, touching, holds },
            CRATE => Thing::Crate { body },
            BALL => Thing::Ball { body, fuse },
            DOOR => Thing::Door { body },
            BEAD => Thing::Bead { body },
            LIFT => Thing::Lift { body },
            _ => Thing::Walker { body, fall },
        }
    }

    /// All rows, changed or not.
    pub fn rows(&self) -> Rows {
        let mut rows = Rows::new(&Thing::schema());
        for entity in self.physics.entities() {
            let body = self.physics.state(entity).expect("it has one");
            rows.set(entity, &self.thing(entity, body));
        }
        rows
    }

    /// The driver of the first player, if there is one.
    pub fn driver(&self) -> Option<Entity> {
        self.physics.entities().find(|entity| entity.kind() == DRIVER)
    }

    fn furnish(&mut self, step: &Step<'_, Keys>) {
        let server = PlayerId::SERVER;
        for nth in 0..self.crates {
            // Little towers of five, close enough to fall on each other.
            let (level, tower) = (f32::from(nth % 5), nth / 5);
            let [x, z] = [f32::from(tower % 14) * 0.45 - 3.0, f32::from(tower / 14) * 0.45 + 2.0];
            // Names of one tick count to 256.
            let tick = Tick::new(step.tick().get() + u32::from(nth / 256));
            let entity = Entity::new(CRATE, server, tick, (nth % 256) as u8);
            let body = Body::at([x + 0.05 * level, 0.21 + 0.42 * level, z]);
            self.physics.spawn(entity, &Thing::Crate { body });
        }
        self.physics.spawn(step.spawn(DOOR, server), &Thing::Door { body: Body::at([-4.0, 1.0, 0.0]) });
        self.physics.spawn(step.spawn(LIFT, server), &Thing::Lift { body: Body::at([-6.0, 0.5, 3.0]) });
        for nth in 0_u8..5 {
            let body = Body::at([4.0 + 0.5 * f32::from(nth), 2.75, 0.0]);
            self.physics.spawn(step.spawn(BEAD, server), &Thing::Bead { body });
        }
    }

    fn join(&mut self, step: &Step<'_, Keys>, player: PlayerId) {
        let x = f32::from(player.get()) * 2.0 - 3.0;
        let (driver, walker) = (step.spawn(DRIVER, player), step.spawn(WALKER, player));
        for entity in [driver, walker] {
            self.extras.insert(entity, Extra::default());
        }
        self.physics.spawn(driver, &self.thing(driver, Body::at([x, 0.5, 0.0])));
        self.physics.spawn(walker, &self.thing(walker, Body::at([x, 0.9, -3.0])));
    }

    fn drive(&mut self, step: &Step<'_, Keys>, driver: Entity, keys: Keys) {
        let Some(mut body) = self.physics.body_mut(driver) else { return };
        let jump = if keys.jump && body.translation().y < 0.6 { 25.0 } else { 0.0 };
        body.add_force(Vector::new(f32::from(keys.right), jump, f32::from(keys.ahead)) * 14.0, true);
        let at = body.translation();
        // A wheel's spin: its impulse depends on the inertia as it is turned now.
        body.apply_torque_impulse(Vector::new(0.0, 0.02 * f32::from(keys.right), 0.0), true);
        if keys.fire && step.tick().get().is_multiple_of(8) {
            let ball = step.spawn(BALL, driver.player());
            self.extras.insert(ball, Extra { fuse: 40, ..Extra::default() });
            let body = Body { velocity: [0.0, 1.0, 25.0], ..Body::at([at.x, at.y + 0.8, at.z + 0.4]) };
            self.physics.spawn(ball, &self.thing(ball, body));
        }
        if self.extras[&driver].holds != keys.hold {
            self.extras.entry(driver).or_default().holds = keys.hold;
            self.hold(driver);
        }
    }

    /// Ties a driver to the first crate, or unties it, as its column says.
    fn hold(&mut self, driver: Entity) {
        let link = Link { of: driver, to: Some(Entity::new(CRATE, PlayerId::SERVER, Tick::ZERO, 0)), number: 3 };
        if !self.extras[&driver].holds {
            self.physics.unlink(link);
        } else if self.physics.joint(link).is_none() {
            self.physics.link(link, RopeJointBuilder::new(2.0));
        }
    }

    fn walk(&mut self, step: &Step<'_, Keys>, walker: Entity, keys: Keys) {
        let extra = self.extras.entry(walker).or_default();
        extra.fall -= 9.81 * step.seconds() as f32;
        let [right, ahead] = [keys.right, keys.ahead].map(|key| 0.05 * f32::from(key));
        let desired = [right, extra.fall * step.seconds() as f32, ahead];
        let controller = KinematicCharacterController::default();
        let Some(got) = self.physics.walk(walker, &controller, desired, step.seconds()) else { return };
        if got.grounded {
            extra.fall = 0.0;
        }
        if let Some(mut body) = self.physics.body_mut(walker) {
            let place = body.translation() + got.translation;
            body.set_next_kinematic_translation(place);
        }
    }

    /// Up and down, one way a second.
    fn lift(&mut self, step: &Step<'_, Keys>) {
        let lift = self.physics.entities().find(|entity| entity.kind() == LIFT);
        let Some(mut body) = lift.and_then(|lift| self.physics.body_mut(lift)) else { return };
        let phase = (step.tick().get() % 128) as f32 / 64.0;
        let up = if phase < 1.0 { phase } else { 2.0 - phase };
        body.set_next_kinematic_translation(Vector::new(-6.0, 0.5 + up, 3.0));
    }

    fn burn(&mut self) {
        let mut burnt = Vec::new();
        for (entity, extra) in self.extras.iter_mut().filter(|(entity, _)| entity.kind() == BALL) {
            extra.fuse -= 1;
            if extra.fuse == 0 {
                burnt.push(*entity);
            }
        }
        for entity in burnt {
            self.extras.remove(&entity);
            self.physics.despawn(entity);
        }
    }

    /// Counts from what touches now, and from what a column says of before: not from what has begun, which no row tells.
    fn count_hits(&mut self) {
        for (entity, extra) in self.extras.iter_mut().filter(|(entity, _)| entity.kind() == DRIVER) {
            let notable = |party: &Party| matches!(party, Party::Entity(_)) || *party == GOAL;
            let touching =
                self.physics.touching().any(|(a, b, _)| (a == *entity && notable(&b)) || b == Party::Entity(*entity));
            extra.hits += u32::from(touching && !extra.touching);
            extra.touching = touching;
        }
    }
}

impl World for Yard {
    type Input = Keys;
    type Saved = Yard;

    fn step(&mut self, step: &Step<'_, Keys>) {
        self.physics.prepare(step);
        if step.simulates(PlayerId::SERVER) && step.tick() == Tick::ZERO {
            self.furnish(step);
        }
        for player in step.joined() {
            self.join(step, *player);
        }
        self.physics.retain(|entity| !step.left().contains(&entity.player()));
        self.extras.retain(|entity, _| !step.left().contains(&entity.player()));
        let movers: Vec<_> = self.extras.keys().copied().collect();
        for entity in movers.into_iter().filter(|entity| step.role(*entity) != foretell::Role::Proxy) {
            match (entity.kind(), step.input(entity.player())) {
                (DRIVER, Some(player)) => self.drive(step, entity, player.input),
                (WALKER, Some(player)) => self.walk(step, entity, player.input),
                _ => {}
            }
        }
        self.lift(step);
        self.burn();
        self.physics.advance(step);
        self.count_hits();
        self.physics.tell_touches(step);
    }

    fn save(&self, into: &mut Yard) {
        into.clone_from(self);
    }

    fn load(&mut self, from: &Yard) {
        self.clone_from(from);
    }

    fn take(&mut self, from: &mut Yard) {
        core::mem::swap(self, from);
    }

    fn publish(&self, rows: &mut Rows) {
        self.physics.publish(rows, |entity, body| self.thing(entity, body));
    }

    fn adopt(&mut self, rows: &Rows) {
        self.physics.adopt::<Thing>(rows);
        self.extras.retain(|entity, _| !rows.removed().contains(entity));
        for (entity, thing) in rows.states::<Thing>() {
            let extra = match thing {
                Thing::Driver { hits, touching, holds, .. } => Extra { hits, touching, holds, ..Extra::default() },
                Thing::Ball { fuse, .. } => Extra { fuse, ..Extra::default() },
                Thing::Walker { fall, .. } => Extra { fall, ..Extra::default() },
                _ => continue,
            };
            self.extras.insert(entity, extra);
            if entity.kind() == DRIVER {
                self.hold(entity);
            }
        }
    }
}

/// What a player presses in a tick: the same for ever, and different for every seed.
pub fn keys(seed: u32, player: PlayerId, tick: Tick) -> Keys {
    let slow = seed.wrapping_add(u32::from(player.get()) * 7919).wrapping_add(tick.get() / 24);
    let mut noise = slow.wrapping_mul(0x9E37_79B9);
    noise ^= noise >> 15;
    noise = noise.wrapping_mul(0x85EB_CA6B);
    noise ^= noise >> 13;
    let axis = |bits: u32| [-1, 0, 1, 1][bits as usize & 3];
    Keys {
        right: axis(noise),
        ahead: axis(noise >> 2),
        jump: noise & 16 != 0,
        fire: noise & 96 == 96,
        hold: noise & 384 == 384,
    }
}

/// Steps the server's world through one tick, with two players who join in the first two seconds.
pub fn step(world: &mut Yard, seed: u32, tick: Tick) {
    let joins = |player: u16| Tick::new(u32::from(player - 1) * 64);
    let players = (1..=2).filter(|player| joins(*player) <= tick).map(PlayerId::new);
    let input = |player| PlayerInput {
        player,
        input: keys(seed, player, tick),
        status: InputStatus::Received,
        presented: None,
    };
    let inputs: Vec<_> = players.map(input).collect();
    let joined: Vec<_> = (1..=2).filter(|player| joins(*player) == tick).map(PlayerId::new).collect();
    let rate = Yard::rules().tick_rate;
    world.step(&Step::new(tick, rate, Side::Server, &inputs).with_players(&joined, &[]));
}

/// The digests of the rows after each of `ticks` ticks.
pub fn digests(crates: u16, seed: u32, ticks: u32) -> Vec<u64> {
    let mut world = Yard::new(crates);
    let tick = |tick| {
        step(&mut world, seed, tick);
        world.rows().digest()
    };
    Tick::ZERO.until(Tick::new(ticks)).map(tick).collect()
}

/// One number for all bits of a run that is rebuilt every `rebuild` ticks, if not 0: what every platform has to come to.
pub fn fingerprint(crates: u16, seed: u32, ticks: u32, rebuild: u32) -> u64 {
    let mut world = Yard::new(crates);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for tick in 0..ticks {
        if rebuild > 0 && tick % rebuild == 0 {
            world.physics.rebuild();
        }
        step(&mut world, seed, Tick::new(tick));
        hash = (hash.rotate_left(5) ^ world.rows().digest()).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}
