//! The second world: players walk in a plane and shoot at each other.
//!
//! Bolts and sparks belong to who fired them, and so each client predicts its own, hits on others included: those it
//! sees where they were, and so it is wrong at times.

use core::cell::RefCell;
use foretell::{Effect, EffectKind, Entity, Input, Kind, PlayerId, Role, Rows, State, Step, Tick, World};
use std::collections::{BTreeMap, BTreeSet};

pub const WALKER: Kind = Kind(0);
pub const BOLT: Kind = Kind(1);
pub const SPARK: Kind = Kind(2);
pub const POUCH: Kind = Kind(3);

pub const SHOT: EffectKind = EffectKind(0);
pub const HIT: EffectKind = EffectKind(1);
pub const STEP: EffectKind = EffectKind(2);
pub const CLICK: EffectKind = EffectKind(3);
pub const NOISE: EffectKind = EffectKind(100);

/// How many ticks a bolt flies and a spark glows.
pub const BOLT_TICKS: u8 = 40;
pub const SPARK_TICKS: u8 = 2;
const COOLDOWN_TICKS: u8 = 10;
const WALK_M: f32 = 0.08;
const BOLT_M: f32 = 0.4;
const RADIUS_M: f32 = 0.6;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Keys {
    pub right: bool,
    pub left: bool,
    pub fire: bool,
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
pub enum Thing {
    /// Walks to and fro on a line of its own and looks to the right, or left when it walks so.
    Walker {
        #[state(position)]
        at: [f32; 2],
        looks_left: bool,
        cooldown: u8,
        hits: u16,
    },
    Bolt {
        #[state(position)]
        at: [f32; 2],
        #[state(velocity)]
        speed: [f32; 2],
        ticks: u8,
    },
    /// The flash of a shot: the authority's states may well never show it.
    Spark {
        #[state(position)]
        at: [f32; 2],
        ticks: u8,
    },
    /// What its owner alone sees and hears.
    #[state(owner)]
    Pouch { shots: u16 },
}

/// All walkers, bolts and sparks.
#[derive(Clone, Default, Debug)]
pub struct Range {
    pub things: BTreeMap<Entity, Thing>,
    /// What the authority's steps have said, by name. No part of the state.
    pub truth: RefCell<Vec<Effect>>,
    /// In which states an entity was there: the first and the last. No part of the state.
    pub lives: BTreeMap<Entity, (Tick, Tick)>,
    /// Which ticks a client has stepped for the first time. No part of the state.
    pub first_times: BTreeSet<Tick>,
    /// How many effects of the first walker the authority says in every tick, that no client predicts.
    pub noise: u8,
}

impl Range {
    fn say(&self, step: &Step<'_, Keys>, kind: EffectKind, entity: Entity, at: Option<[f32; 2]>) {
        let at = at.map(|[x, y]| [x, y, 0.0]);
        match at {
            Some(at) => step.effect_at(kind, entity, at),
            None => step.effect(kind, entity),
        }
        if step.is_authority() {
            self.truth.borrow_mut().push(Effect { tick: step.tick(), entity, kind, at });
        }
    }

    fn walk(&mut self, step: &Step<'_, Keys>) {
        let walkers: Vec<_> = self.things.range(of_kind(WALKER)).map(|(entity, thing)| (*entity, *thing)).collect();
        for (entity, thing) in walkers {
            let Some(input) = step.input(entity.player()).filter(|_| step.role(entity) != Role::Proxy) else {
                continue;
            };
            let Thing::Walker { mut at, mut looks_left, mut cooldown, hits } = thing else { continue };
            let keys = input.input;
            at[0] = (at[0] + WALK_M * f32::from(i8::from(keys.right) - i8::from(keys.left))).clamp(-6.0, 6.0);
            looks_left = keys.left || looks_left && !keys.right;
            cooldown = cooldown.saturating_sub(1);
            if (keys.left || keys.right) && step.tick().get().is_multiple_of(8) {
                self.say(step, STEP, entity, None);
            }
            if keys.fire && cooldown == 0 {
                cooldown = COOLDOWN_TICKS;
                let speed = [if looks_left { -BOLT_M } else { BOLT_M }, 0.0];
                let muzzle = [at[0] + speed[0], at[1]];
                // What is fired is named after who fires it.
                let bolt = step.spawn(BOLT, entity.player());
                self.things.insert(bolt, Thing::Bolt { at: muzzle, speed, ticks: BOLT_TICKS });
                let spark = step.spawn(SPARK, entity.player());
                self.things.insert(spark, Thing::Spark { at: muzzle, ticks: SPARK_TICKS });
                self.say(step, SHOT, bolt, Some(muzzle));
                self.click(step, entity.player());
            }
            self.things.insert(entity, Thing::Walker { at, looks_left, cooldown, hits });
        }
    }

    fn click(&mut self, step: &Step<'_, Keys>, player: PlayerId) {
        let pouch = self.things.range_mut(of_kind(POUCH)).find(|(entity, _)| entity.player() == player);
        let Some((entity, Thing::Pouch { shots })) = pouch else { return };
        *shots += 1;
        let entity = *entity;
        self.say(step, CLICK, entity, None);
    }

    fn fly(&mut self, step: &Step<'_, Keys>) {
        let others: Vec<_> = self.things.range(of_kind(BOLT)).chain(self.things.range(of_kind(SPARK))).collect();
        let others: Vec<_> = others.into_iter().map(|(entity, thing)| (*entity, *thing)).collect();
        for (entity, thing) in others.into_iter().filter(|(entity, _)| step.role(*entity) != Role::Proxy) {
            if step.input(entity.player()).is_none() || entity.tick() == step.tick() {
                continue;
            }
            let moved = match thing {
                Thing::Bolt { at, speed, ticks } if ticks > 1 => {
                    let at = [at[0] + speed[0], at[1] + speed[1]];
                    (!self.hits(step, entity, (at, speed))).then_some(Thing::Bolt { at, speed, ticks: ticks - 1 })
                }
                Thing::Spark { at, ticks } if ticks > 1 => Some(Thing::Spark { at, ticks: ticks - 1 }),
                _ => None,
            };
            match moved {
                Some(thing) => self.things.insert(entity, thing),
                None => self.things.remove(&entity),
            };
        }
    }

    /// Whether the bolt hits another's walker; where this is decided, the walker is thrown back.
    fn hits(&mut self, step: &Step<'_, Keys>, bolt: Entity, (at, speed): ([f32; 2], [f32; 2])) -> bool {
        let target = self.things.range(of_kind(WALKER)).find_map(|(entity, thing)| {
            let Thing::Walker { at: stands, .. } = thing else { return None };
            let near = (stands[0] - at[0]).abs() < RADIUS_M && (stands[1] - at[1]).abs() < RADIUS_M;
            (near && entity.player() != bolt.player()).then_some(*entity)
        });
        let Some(target) = target else { return false };
        self.say(step, HIT, bolt, Some(at));
        step.touch(bolt, target);
        step.touch(target, bolt);
        if step.role(target) != Role::Proxy
            && let Some(Thing::Walker { at, hits, .. }) = self.things.get_mut(&target)
        {
            at[0] = (at[0] + 5.0 * speed[0]).clamp(-6.0, 6.0);
            *hits += 1;
        }
        true
    }
}

fn of_kind(kind: Kind) -> core::ops::Range<Entity> {
    let first = |kind| Entity::new(kind, PlayerId::SERVER, Tick::ZERO, 0);
    first(kind)..first(Kind(kind.0 + 1))
}

impl World for Range {
    type Input = Keys;
    type Saved = BTreeMap<Entity, Thing>;

    fn step(&mut self, step: &Step<'_, Keys>) {
        assert!(
            step.is_authority() || !step.first_time() || self.first_times.insert(step.tick()),
            "{} is new only once",
            step.tick()
        );
        self.things.retain(|entity, _| !step.left().contains(&entity.player()));
        for player in step.joined() {
            let line = f32::from(player.get() % 3) * 0.2;
            let side = if player.get().is_multiple_of(2) { 3.0 } else { -3.0 };
            let walker = Thing::Walker { at: [side, line], looks_left: side > 0.0, cooldown: 0, hits: 0 };
            self.things.insert(step.spawn(WALKER, *player), walker);
            self.things.insert(step.spawn(POUCH, *player), Thing::Pouch { shots: 0 });
        }
        self.walk(step);
        self.fly(step);
        if step.is_authority() {
            let first = self.things.keys().next().copied();
            first.into_iter().for_each(|first| {
                (0..self.noise).for_each(|nth| self.say(step, EffectKind(NOISE.0 + nth), first, None));
            });
            let after = step.tick().next();
            for entity in self.things.keys() {
                self.lives.entry(*entity).or_insert((after, after)).1 = after;
            }
        }
    }

    fn save(&self, into: &mut Self::Saved) {
        into.clone_from(&self.things);
    }

    fn load(&mut self, from: &Self::Saved) {
        self.things.clone_from(from);
    }

    fn publish(&self, rows: &mut Rows) {
        rows.publish_all(&self.things);
    }

    fn adopt(&mut self, rows: &Rows) {
        rows.adopt_into(&mut self.things);
    }
}
