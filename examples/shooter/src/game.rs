//! The rules of the game: one step, which runs on the server, in every client, and whenever something is simulated again.

use crate::ground::{DOORS, Ground, OpenDoors, SIZE_M};
use crate::state::{Badge, Bolt, Door, Keys, Pickup, Soldier, Take, Wanderer, Weapon, badge_of};
use foretell::hits::{Cast, Shape};
use foretell::{EffectKind, InterestRules, Newcomer, Owned, PlayerId, Reason, Ref, Seat, Simulate, Step, Table, World};
use foretell_sim::netsim::SplitMix64;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Somebody has shot; somebody was hit, by a bullet or a bolt.
pub const SHOT: EffectKind = EffectKind(0);
pub const HITS: [EffectKind; 2] = [EffectKind(1), EffectKind(2)];

const BODY: Shape = Shape::Sphere { radius: 0.5 };
const WANDERERS: u16 = 200;
const PICKUPS: u16 = 300;
const WALK_MPS: f32 = 5.0;
const WANDER_MPS: f32 = 1.5;
const FLEE_MPS: f32 = 4.0;
/// How fast bolts fly.
pub const BOLT_MPS: f32 = 25.0;
const HEALTH: u8 = 100;
const DAMAGE: u8 = 8;
const AMMUNITION_MAX: u8 = 60;
const IN_A_PICKUP: u8 = 15;
const GRAB_M: f32 = 1.0;
const DOOR_M: f32 = 3.0;
/// Farther than anybody goes from when they are seen to when they are shot at.
const STRAYS_M: f32 = 4.0;

/// In ticks, of which 30 are a second.
const WANDER_TICKS: u32 = 64;
const BACK_TICKS: u32 = 600;
const DOOR_WAITS: u32 = 20;
const DOOR_STAYS: u32 = 150;

#[derive(World)]
pub struct Game {
    pub soldiers: Table<Soldier>,
    pub badges: Table<Badge>,
    pub wanderers: Table<Wanderer>,
    pub bolts: Table<Bolt>,
    pub pickups: Table<Pickup>,
    pub doors: Table<Door>,
    /// The server's own.
    #[world(saved)]
    pub hits: BTreeMap<PlayerId, u32>,
    /// A client knows it when it has its map; before that it does not move.
    #[world(constant)]
    ground: Arc<OnceLock<Ground>>,
}

/// Where a step takes place.
struct Scene<'a> {
    ground: &'a Ground,
    open: OpenDoors,
    tick: u32,
    seconds: f32,
}

impl Scene<'_> {
    /// Chance, of which there is another for each tick and number: nothing has to be kept of it.
    fn chance(&self, number: u16) -> SplitMix64 {
        SplitMix64::new(u64::from(self.tick) << 16 | u64::from(number))
    }

    fn somewhere(&self, number: u16) -> [f32; 2] {
        let mut chance = self.chance(number);
        loop {
            let at = [(); 2].map(|()| chance.next_f64() as f32 * SIZE_M);
            if self.ground.has_room(at, 0) {
                return at;
            }
        }
    }
}

/// Somebody who shoots.
struct Shot {
    by: Owned,
    from: [f32; 2],
    towards: [f32; 2],
    weapon: Weapon,
}

impl Weapon {
    fn range_m(self) -> f32 {
        if self == Weapon::Rifle { 40.0 } else { 50.0 }
    }

    fn pause_ticks(self) -> u32 {
        if self == Weapon::Rifle { 10 } else { 20 }
    }
}

pub fn direction(aim: u16) -> [f32; 2] {
    let angle = f32::from(aim) * (core::f32::consts::TAU / 65_536.0);
    [foretell::math::f32::cos(angle), foretell::math::f32::sin(angle)]
}

pub fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}

impl Simulate for Game {
    type Input = Keys;

    fn admit(&self, newcomer: &Newcomer) -> Result<(), Reason> {
        let is_welcome = newcomer.seat == Seat::Spectator || badge_of(newcomer).is_some();
        if is_welcome { Ok(()) } else { Err("say your team and your name".into()) }
    }

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        let ground = self.ground.clone();
        let Some(ground) = ground.get() else { return };
        let tick = step.tick().get();
        let open = self.doors.iter().filter(|door| (door.opens..door.closes).contains(&tick));
        let open = open.fold(0, |open, door| open | 1 << door.number);
        let scene = Scene { ground, open, tick, seconds: step.seconds() as f32 };
        self.come_and_go(step, &scene);
        self.wander(step, &scene);
        self.fly(step, &scene);
        for shot in self.walk(step, &scene) {
            self.shoot(step, &scene, &shot);
        }
        self.pick_up(step, &scene);
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        Some(self)
    }
}

impl Game {
    /// A world on this ground; of a client one that does not know it yet.
    pub fn new(ground: Arc<OnceLock<Ground>>) -> Game {
        let (soldiers, badges, wanderers) = (Table::new(), Table::new(), Table::new());
        let (bolts, pickups, doors, hits) = (Table::new(), Table::new(), Table::new(), BTreeMap::new());
        Game { soldiers, badges, wanderers, bolts, pickups, doors, hits, ground }
    }

    fn come_and_go(&mut self, step: &mut Step<'_, Keys>, scene: &Scene<'_>) {
        self.soldiers.remove_left(step);
        self.badges.remove_left(step);
        self.bolts.remove_left(step);
        if step.is_authority() && self.doors.is_empty() {
            self.furnish(step, scene);
        }
        for joined in step.joined() {
            if let Some(badge) = badge_of(joined).filter(|_| joined.seat == Seat::Player) {
                let at = scene.somewhere(joined.player.get());
                let soldier = Soldier { at, health: HEALTH, ammunition: 30, ..Soldier::default() };
                let entity = self.soldiers.spawn(step, joined.player, soldier);
                self.badges.insert(Owned { entity, owner: joined.player }, badge);
            }
        }
    }

    /// What there is from the start.
    fn furnish(&mut self, step: &mut Step<'_, Keys>, scene: &Scene<'_>) {
        for number in 0..DOORS {
            if let Some(at) = scene.ground.door(number) {
                self.doors.spawn(step, PlayerId::SERVER, Door { at, number, opens: 0, closes: 0 });
            }
        }
        for nth in 0..PICKUPS {
            let at = scene.somewhere(nth);
            self.pickups.spawn(step, PlayerId::SERVER, Pickup { at, back: 0 });
        }
        for nth in 0..WANDERERS {
            let at = scene.somewhere(PICKUPS + nth);
            self.wanderers.spawn(step, PlayerId::SERVER, Wanderer { at, velocity: [0.0; 2] });
        }
    }

    /// Those who wander take another way now and then, and where they can't go on.
    fn wander(&mut self, step: &Step<'_, Keys>, scene: &Scene<'_>) {
        for (nth, mut one) in self.wanderers.simulated(step).enumerate() {
            let way = one.velocity.map(|along| along * scene.seconds);
            let to = scene.ground.walk(one.at, way, 0);
            let is_held_up = to != [one.at[0] + way[0], one.at[1] + way[1]];
            if is_held_up || (scene.tick + nth as u32).is_multiple_of(WANDER_TICKS) {
                one.velocity = direction(scene.chance(nth as u16).next_u64() as u16).map(|along| along * WANDER_MPS);
            }
            if to != one.at {
                one.at = to;
            }
        }
    }

    /// Everybody does what they press; who shoots.
    fn walk(&mut self, step: &mut Step<'_, Keys>, scene: &Scene<'_>) -> Vec<Shot> {
        let mut shots = Vec::new();
        for mut soldier in self.soldiers.simulated(step) {
            let by = soldier.owned();
            let Some(Keys { right, up, aim, fires, opens }) = step.input(by.owner).map(|player| player.input) else {
                continue;
            };
            for Take(weapon) in step.messages_of(by.owner) {
                soldier.weapon = *weapon;
            }
            let pace = if right != 0 && up != 0 { 0.707 * WALK_MPS } else { WALK_MPS };
            let way = [right, up].map(|along| f32::from(along.signum()) * pace * scene.seconds);
            let to = scene.ground.walk(soldier.at, way, scene.open);
            soldier.velocity = [0, 1].map(|axis| (to[axis] - soldier.at[axis]) / scene.seconds);
            (soldier.at, soldier.aim) = (to, (aim >> 8) as u8);
            if fires && soldier.ammunition > 0 && soldier.ready <= scene.tick {
                soldier.ammunition -= 1;
                soldier.ready = scene.tick + soldier.weapon.pause_ticks();
                shots.push(Shot { by, from: to, towards: direction(aim), weapon: soldier.weapon });
            }
            if opens {
                let near = |door: &Ref<'_, Door>| distance(door.at, to) < DOOR_M && door.closes <= scene.tick;
                let door = self.doors.iter().find(near).map(|door| door.entity());
                if let Some(mut door) = door.and_then(|door| self.doors.change(step, by, door)) {
                    door.opens = scene.tick + DOOR_WAITS;
                    door.closes = door.opens + DOOR_STAYS;
                }
            }
        }
        shots
    }

    /// A bullet is there at once; a bolt flies.
    fn shoot(&mut self, step: &mut Step<'_, Keys>, scene: &Scene<'_>, shot: &Shot) {
        step.effect(SHOT, shot.by.entity);
        if shot.weapon == Weapon::Crossbow {
            let velocity = shot.towards.map(|along| along * BOLT_MPS);
            let falls = scene.tick + (shot.weapon.range_m() / BOLT_MPS / scene.seconds) as u32;
            self.bolts.spawn(step, shot.by.owner, Bolt { at: shot.from, velocity, falls });
        } else if let (Some(victim), _) = self.meet(step, scene, shot, shot.weapon.range_m()) {
            self.hit(step, scene, shot, victim);
        }
    }

    /// A bolt meets what its shooter sees in its way.
    fn fly(&mut self, step: &mut Step<'_, Keys>, scene: &Scene<'_>) {
        let (mut spent, mut flights) = (Vec::new(), Vec::new());
        for mut bolt in self.bolts.simulated(step) {
            let towards = bolt.velocity.map(|along| along / BOLT_MPS);
            flights.push((bolt.falls, Shot { by: bolt.owned(), from: bolt.at, towards, weapon: Weapon::Crossbow }));
            bolt.at = [0, 1].map(|axis| bolt.at[axis] + bolt.velocity[axis] * scene.seconds);
        }
        for (falls, shot) in flights {
            let way = BOLT_MPS * scene.seconds;
            let (victim, far) = self.meet(step, scene, &shot, way);
            if let Some(victim) = victim {
                self.hit(step, scene, &shot, victim);
            }
            if victim.is_some() || far < way || falls <= scene.tick {
                spent.push(shot.by.entity);
            }
        }
        for bolt in spent {
            self.bolts.remove(bolt);
        }
    }

    /// Whom a shot meets first, where its player sees them; and how far it can go. Who is far off now was not near then.
    fn meet(&self, step: &Step<'_, Keys>, scene: &Scene<'_>, shot: &Shot, most_m: f32) -> (Option<Owned>, f32) {
        let far = scene.ground.sight(shot.from, shot.towards, most_m, scene.open);
        let middle = [0, 1].map(|axis| shot.from[axis] + shot.towards[axis] * far / 2.0);
        let is_near = |at: [f32; 2]| distance(at, middle) < far / 2.0 + STRAYS_M;
        let team = self.team_of(shot.by.owner);
        let is_foe = |of: Owned| self.badges.get(of.entity).is_none_or(|badge| Some(badge.team) != team);
        let soldiers = self.soldiers.iter().filter(|one| is_near(one.at)).map(|one| one.owned());
        let wanderers = self.wanderers.iter().filter(|one| is_near(one.at)).map(|one| one.owned());
        let past = step.rewound(shot.by.owner);
        let targets = soldiers.filter(|of| is_foe(*of)).chain(wanderers);
        let targets = targets.filter_map(|of| Some((of, BODY, past.pose(of.entity)?)));
        let spot = |[x, y]: [f32; 2]| [f64::from(x), f64::from(y), 0.0];
        let cast = Cast::ray(spot(shot.from), spot(shot.towards), f64::from(far));
        (cast.first(targets).map(|hit| hit.of), far)
    }

    /// What is the server's to decide comes of it there: the shooter's client only tells it.
    fn hit(&mut self, step: &mut Step<'_, Keys>, scene: &Scene<'_>, shot: &Shot, victim: Owned) {
        step.effect(HITS[shot.weapon as usize], victim.entity);
        step.hit(shot.by.owner, victim);
        step.touch(shot.by, victim);
        if !step.is_authority() {
            return;
        }
        *self.hits.entry(shot.by.owner).or_default() += 1;
        if let Some(mut wanderer) = self.wanderers.get_mut(victim.entity) {
            wanderer.velocity = shot.towards.map(|along| along * FLEE_MPS);
        }
        let at = scene.somewhere(victim.owner.get());
        if let Some(mut soldier) = self.soldiers.get_mut(victim.entity) {
            soldier.health = soldier.health.saturating_sub(DAMAGE);
            if soldier.health == 0 {
                (soldier.health, soldier.at, soldier.velocity) = (HEALTH, at, [0.0; 2]);
                soldier.respawns = soldier.respawns.wrapping_add(1);
            }
        }
    }

    /// Who comes to a pickup has it at once, and if somebody else was there first it is taken back.
    fn pick_up(&mut self, step: &mut Step<'_, Keys>, scene: &Scene<'_>) {
        for mut soldier in self.soldiers.simulated(step) {
            let lies = |one: &Ref<'_, Pickup>| one.back <= scene.tick && distance(one.at, soldier.at) < GRAB_M;
            let has_room = soldier.ammunition < AMMUNITION_MAX;
            let pickup = self.pickups.iter().find(|one| has_room && lies(one)).map(|one| one.entity());
            let taken = pickup.and_then(|pickup| self.pickups.change(step, soldier.owned(), pickup));
            let Some(mut pickup) = taken else { continue };
            pickup.back = scene.tick + BACK_TICKS;
            soldier.ammunition = soldier.ammunition.saturating_add(IN_A_PICKUP).min(AMMUNITION_MAX);
        }
    }
}
