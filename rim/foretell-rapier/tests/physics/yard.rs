//! The scene of the tests and of the golden digests: everything that Rapier does, in one game.

use foretell::world::Side;
use foretell::{
    Entity, Input, InputStatus, Newcomer, Owned, PlayerId, PlayerInput, Role, Rows, Rules, Schema, Simulate, State,
    Step, Tick, World,
};
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

/// What there is, each with its own columns beside its body.
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

impl Thing {
    pub fn is_driver(&self) -> bool {
        matches!(self, Thing::Driver { .. })
    }

    pub fn is_crate(&self) -> bool {
        matches!(self, Thing::Crate { .. })
    }

    pub fn is_door(&self) -> bool {
        matches!(self, Thing::Door { .. })
    }

    pub fn is_bead(&self) -> bool {
        matches!(self, Thing::Bead { .. })
    }
}

/// The names of crates count from here.
const FIRST_CRATE: u16 = 100;
/// Those of beads: before them the server spawns two others.
const FIRST_BEAD: u16 = 2;
/// Which of the scenery is the sensor.
pub const GOAL: Party = Party::Scenery(1);

/// The name of a crate.
pub fn crate_name(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, FIRST_CRATE + nth)
}

/// The name of a bead.
pub fn bead_name(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, FIRST_BEAD + nth)
}

/// The bead before one.
pub fn bead_before(bead: Entity) -> Option<Entity> {
    bead.counter().checked_sub(FIRST_BEAD + 1).map(bead_name)
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
    let before = bead_before(entity);
    let anchor = if before.is_some() { Vector::new(0.0, -0.25, 0.0) } else { Vector::new(4.0, 3.0, 0.0) };
    let joint = SphericalJointBuilder::new().local_anchor1(Vector::new(0.0, 0.25, 0.0)).local_anchor2(anchor);
    Plan::new(RigidBodyBuilder::dynamic()).with(ColliderBuilder::ball(0.2)).linked(Link::new(entity, before), joint)
}

#[derive(Clone, Default)]
pub struct Yard {
    pub physics: Physics,
    /// Of each entity what it was made as, with the columns of now; its body is in the physics.
    things: BTreeMap<Entity, Thing>,
    crates: u16,
}

impl Yard {
    /// With so many crates, which the server brings.
    pub fn new(crates: u16) -> Yard {
        let floor = ColliderBuilder::cuboid(60.0, 0.5, 60.0).translation(Vector::new(0.0, -0.5, 0.0));
        let goal = ColliderBuilder::cuboid(1.0, 1.0, 1.0).translation(Vector::new(0.0, 0.5, 6.0)).sensor(true);
        let physics = Physics::new([0.0, -9.81, 0.0], [floor, goal]);
        Yard { physics, things: BTreeMap::new(), crates }
    }

    pub fn rules() -> Rules {
        Rules::new(Yard::schema())
    }

    pub fn thing(&self, entity: Entity, body: Body) -> Thing {
        let mut thing = self.things[&entity];
        *thing.body_mut().expect("every thing has one") = body;
        thing
    }

    /// The things that are such and have a body, ascending.
    pub fn all(&self, is_such: impl Fn(&Thing) -> bool) -> Vec<Entity> {
        self.physics.entities().filter(|entity| is_such(&self.things[entity])).collect()
    }

    /// All rows, changed or not.
    pub fn rows(&self) -> Rows {
        let mut rows = Rows::new(&Yard::schema());
        for of in self.physics.owned() {
            let body = self.physics.state(of.entity).expect("it has one");
            rows.set(of, &self.thing(of.entity, body));
        }
        rows
    }

    /// The driver of the first player, if there is one.
    pub fn driver(&self) -> Option<Entity> {
        self.all(Thing::is_driver).first().copied()
    }

    fn insert(&mut self, of: Owned, thing: Thing) {
        self.physics.insert(of, &thing);
        self.things.insert(of.entity, thing);
    }

    fn spawn(&mut self, step: &mut Step<'_, Keys>, owner: PlayerId, thing: Thing) {
        let entity = step.spawn(owner);
        self.insert(Owned { entity, owner }, thing);
    }

    fn furnish(&mut self, step: &mut Step<'_, Keys>) {
        let server = PlayerId::SERVER;
        for nth in 0..self.crates {
            // Little towers of five, close enough to fall on each other.
            let (level, tower) = (f32::from(nth % 5), nth / 5);
            let [x, z] = [f32::from(tower % 14) * 0.45 - 3.0, f32::from(tower / 14) * 0.45 + 2.0];
            let body = Body::at([x + 0.05 * level, 0.21 + 0.42 * level, z]);
            self.insert(Owned { entity: crate_name(nth), owner: server }, Thing::Crate { body });
        }
        self.spawn(step, server, Thing::Door { body: Body::at([-4.0, 1.0, 0.0]) });
        self.spawn(step, server, Thing::Lift { body: Body::at([-6.0, 0.5, 3.0]) });
        for nth in 0_u8..5 {
            let body = Body::at([4.0 + 0.5 * f32::from(nth), 2.75, 0.0]);
            self.spawn(step, server, Thing::Bead { body });
        }
    }

    fn join(&mut self, step: &mut Step<'_, Keys>, player: PlayerId) {
        let x = f32::from(player.get()) * 2.0 - 3.0;
        let body = Body::at([x, 0.5, 0.0]);
        self.spawn(step, player, Thing::Driver { body, hits: 0, touching: false, holds: false });
        self.spawn(step, player, Thing::Walker { body: Body::at([x, 0.9, -3.0]), fall: 0.0 });
    }

    fn drive(&mut self, step: &mut Step<'_, Keys>, driver: Owned, keys: Keys) {
        let Some(mut body) = self.physics.body_mut(driver.entity) else { return };
        let jump = if keys.jump && body.translation().y < 0.6 { 25.0 } else { 0.0 };
        body.add_force(Vector::new(f32::from(keys.right), jump, f32::from(keys.ahead)) * 14.0, true);
        let at = body.translation();
        // A wheel's spin: its impulse depends on the inertia as it is turned now.
        body.apply_torque_impulse(Vector::new(0.0, 0.02 * f32::from(keys.right), 0.0), true);
        if keys.fire && step.tick().get().is_multiple_of(8) {
            let body = Body { velocity: [0.0, 1.0, 25.0], ..Body::at([at.x, at.y + 0.8, at.z + 0.4]) };
            self.spawn(step, driver.owner, Thing::Ball { body, fuse: 40 });
        }
        if let Some(Thing::Driver { holds, .. }) = self.things.get_mut(&driver.entity)
            && *holds != keys.hold
        {
            *holds = keys.hold;
            self.hold(driver.entity, keys.hold);
        }
    }

    /// Ties a driver to the first crate, or unties it.
    fn hold(&mut self, driver: Entity, holds: bool) {
        let link = Link { of: driver, to: Some(crate_name(0)), number: 3 };
        if !holds {
            self.physics.unlink(link);
        } else if self.physics.joint(link).is_none() {
            self.physics.link(link, RopeJointBuilder::new(2.0));
        }
    }

    fn walk(&mut self, step: &Step<'_, Keys>, walker: Entity, keys: Keys) {
        let Some(Thing::Walker { fall, .. }) = self.things.get_mut(&walker) else { return };
        *fall -= 9.81 * step.seconds() as f32;
        let [right, ahead] = [keys.right, keys.ahead].map(|key| 0.05 * f32::from(key));
        let desired = [right, *fall * step.seconds() as f32, ahead];
        let controller = KinematicCharacterController::default();
        let Some(got) = self.physics.walk(walker, &controller, desired, step.seconds()) else { return };
        if got.grounded {
            *fall = 0.0;
        }
        if let Some(mut body) = self.physics.body_mut(walker) {
            let place = body.translation() + got.translation;
            body.set_next_kinematic_translation(place);
        }
    }

    /// Up and down, one way a second.
    fn lift(&mut self, step: &Step<'_, Keys>) {
        let lift = self.all(|thing| matches!(thing, Thing::Lift { .. })).first().copied();
        let Some(mut body) = lift.and_then(|lift| self.physics.body_mut(lift)) else { return };
        let phase = (step.tick().get() % 128) as f32 / 64.0;
        let up = if phase < 1.0 { phase } else { 2.0 - phase };
        body.set_next_kinematic_translation(Vector::new(-6.0, 0.5 + up, 3.0));
    }

    fn burn(&mut self) {
        let mut burnt = Vec::new();
        for (entity, thing) in &mut self.things {
            let Thing::Ball { fuse, .. } = thing else { continue };
            *fuse -= 1;
            if *fuse == 0 {
                burnt.push(*entity);
            }
        }
        for entity in burnt {
            self.things.remove(&entity);
            self.physics.despawn(entity);
        }
    }

    /// Counts from what touches now, and from what a column says of before: not from what has begun, which no row tells.
    fn count_hits(&mut self) {
        for (entity, thing) in &mut self.things {
            let Thing::Driver { hits, touching: before, .. } = thing else { continue };
            let notable = |party: &Party| matches!(party, Party::Entity(_)) || *party == GOAL;
            let touching =
                self.physics.touching().any(|(a, b, _)| (a == *entity && notable(&b)) || b == Party::Entity(*entity));
            *hits += u32::from(touching && !*before);
            *before = touching;
        }
    }
}

impl Simulate for Yard {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.physics.prepare(step);
        if step.simulates(PlayerId::SERVER) && step.tick() == Tick::ZERO {
            self.furnish(step);
        }
        for joined in step.joined() {
            self.join(step, joined.player);
        }
        self.physics.remove_left(step);
        self.things.retain(|entity, _| self.physics.contains(*entity));
        let movers: Vec<_> = self.physics.owned().filter(|of| step.role(*of) != Role::Proxy).collect();
        for of in &movers {
            if let (Thing::Driver { .. }, Some(player)) = (self.things[&of.entity], step.input(of.owner)) {
                self.drive(step, *of, player.input);
            }
        }
        for Owned { entity, owner } in movers {
            if let (Thing::Walker { .. }, Some(player)) = (self.things[&entity], step.input(owner)) {
                self.walk(step, entity, player.input);
            }
        }
        self.lift(step);
        self.burn();
        self.physics.advance(step);
        self.count_hits();
        self.physics.tell_touches(step);
    }
}

impl World for Yard {
    type Saved = Yard;

    fn schema() -> Schema {
        Schema::of::<Thing>()
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

    fn publish(&mut self, rows: &mut Rows) {
        self.physics.publish(rows, |of, body| self.thing(of.entity, body));
    }

    fn adopt(&mut self, rows: &Rows) {
        self.physics.adopt::<Thing>(rows);
        for lost in rows.lost::<Thing>() {
            self.things.remove(&lost.entity);
        }
        for (of, thing) in rows.states::<Thing>() {
            self.things.insert(of.entity, thing);
            if let Thing::Driver { holds, .. } = thing {
                self.hold(of.entity, holds);
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
    let joined = (1..=2).filter(|player| joins(*player) == tick);
    let joined: Vec<_> = joined.map(|player| Newcomer::new(PlayerId::new(player))).collect();
    let rate = Yard::rules().tick_rate;
    world.step(&mut Step::new(tick, rate, Side::Server, &inputs).with_players(&joined, &[]));
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
