//! The second world: players walk in a plane and shoot at each other.
//!
//! Bolts and sparks belong to who fired them, and so each client predicts its own, hits on others included: those it
//! sees where they were, and so it is wrong at times.

use foretell::{Effect, EffectKind, Entity, Input, Owned, Role, Simulate, State, Step, Table, Tick, World};
use std::collections::{BTreeMap, BTreeSet};

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

/// Walks to and fro on a line of its own and looks to the right, or left when it walks so.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub struct Walker {
    #[state(position)]
    pub at: [f32; 2],
    pub looks_left: bool,
    pub cooldown: u8,
    pub hits: u16,
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
pub struct Bolt {
    #[state(position)]
    pub at: [f32; 2],
    #[state(velocity)]
    pub speed: [f32; 2],
    pub ticks: u8,
}

/// The flash of a shot: the authority's states may well never show it.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub struct Spark {
    #[state(position)]
    pub at: [f32; 2],
    pub ticks: u8,
}

/// What its owner alone sees and hears.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
#[state(audience = owner)]
pub struct Pouch {
    pub shots: u16,
}

/// Which of them an entity is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Walker,
    Bolt,
    Spark,
    Pouch,
}

/// What is known of an entity that the authority's states have shown.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    pub kind: Kind,
    /// The first state that has it, and the last.
    pub first: Tick,
    pub last: Tick,
}

/// All walkers, bolts, sparks and pouches.
#[derive(World, Clone, Default, Debug)]
pub struct Range {
    pub walkers: Table<Walker>,
    pub bolts: Table<Bolt>,
    pub sparks: Table<Spark>,
    pub pouches: Table<Pouch>,
    /// What the authority's steps have said. No part of the state.
    #[world(constant)]
    pub truth: Vec<Effect>,
    /// In which states an entity was there. No part of the state.
    #[world(constant)]
    pub lives: BTreeMap<Entity, Life>,
    /// Which ticks a client has stepped for the first time. No part of the state.
    #[world(constant)]
    pub first_times: BTreeSet<Tick>,
    /// How many effects of the first walker the authority says in every tick, that no client predicts.
    #[world(constant)]
    pub noise: u8,
}

/// Says an effect; what the authority says is the truth.
fn say(truth: &mut Vec<Effect>, step: &mut Step<'_, Keys>, kind: EffectKind, entity: Entity, at: Option<[f32; 2]>) {
    let at = at.map(|[x, y]| [x, y, 0.0]);
    match at {
        Some(at) => step.effect_at(kind, entity, at),
        None => step.effect(kind, entity),
    }
    if step.is_authority() {
        truth.push(Effect { tick: step.tick(), entity, kind, at });
    }
}

impl Range {
    /// Everything that is there, by name.
    pub fn entities(&self) -> BTreeMap<Entity, Kind> {
        let walkers = self.walkers.iter().map(|one| (one.entity(), Kind::Walker));
        let bolts = self.bolts.iter().map(|one| (one.entity(), Kind::Bolt));
        let sparks = self.sparks.iter().map(|one| (one.entity(), Kind::Spark));
        let pouches = self.pouches.iter().map(|one| (one.entity(), Kind::Pouch));
        walkers.chain(bolts).chain(sparks).chain(pouches).collect()
    }

    /// What an entity was that the authority's states have shown.
    pub fn kind(&self, entity: Entity) -> Option<Kind> {
        self.lives.get(&entity).map(|life| life.kind)
    }

    fn walk(&mut self, step: &mut Step<'_, Keys>) {
        let Range { walkers, bolts, sparks, pouches, truth, .. } = self;
        for mut walker in walkers.simulated(step) {
            let (entity, player) = (walker.entity(), walker.owner());
            let Some(keys) = step.input(player).map(|input| input.input) else { continue };
            let walk = WALK_M * f32::from(i8::from(keys.right) - i8::from(keys.left));
            walker.at[0] = (walker.at[0] + walk).clamp(-6.0, 6.0);
            walker.looks_left = keys.left || walker.looks_left && !keys.right;
            walker.cooldown = walker.cooldown.saturating_sub(1);
            if (keys.left || keys.right) && step.tick().get().is_multiple_of(8) {
                say(truth, step, STEP, entity, None);
            }
            if keys.fire && walker.cooldown == 0 {
                walker.cooldown = COOLDOWN_TICKS;
                let speed = [if walker.looks_left { -BOLT_M } else { BOLT_M }, 0.0];
                let at = [walker.at[0] + speed[0], walker.at[1]];
                // What is fired is named after who fires it.
                let bolt = bolts.spawn(step, player, Bolt { at, speed, ticks: BOLT_TICKS });
                sparks.spawn(step, player, Spark { at, ticks: SPARK_TICKS });
                say(truth, step, SHOT, bolt, Some(at));
                if let Some(mut pouch) = pouches.iter_mut().find(|pouch| pouch.owner() == player) {
                    pouch.shots += 1;
                    say(truth, step, CLICK, pouch.entity(), None);
                }
            }
        }
    }

    fn fly(&mut self, step: &mut Step<'_, Keys>) {
        let Range { walkers, bolts, sparks, truth, .. } = self;
        let mut spent = Vec::new();
        for mut bolt in bolts.simulated(step) {
            if step.input(bolt.owner()).is_none() || bolt.entity().tick() == step.tick() {
                continue;
            }
            let Bolt { at, speed, ticks } = *bolt;
            let at = [at[0] + speed[0], at[1] + speed[1]];
            let flight = Flight { of: bolt.owned(), at, speed };
            if ticks <= 1 || hits(walkers, truth, step, flight) {
                spent.push(bolt.entity());
            } else {
                *bolt = Bolt { at, speed, ticks: ticks - 1 };
            }
        }
        for mut spark in sparks.simulated(step) {
            if step.input(spark.owner()).is_none() || spark.entity().tick() == step.tick() {
                continue;
            }
            if spark.ticks > 1 {
                spark.ticks -= 1;
            } else {
                spent.push(spark.entity());
            }
        }
        for entity in spent {
            bolts.remove(entity);
            sparks.remove(entity);
        }
    }
}

/// Where a bolt has come to, and whose it is.
struct Flight {
    of: Owned,
    at: [f32; 2],
    speed: [f32; 2],
}

/// Whether the bolt hits another's walker; where this is decided, the walker is thrown back.
fn hits(walkers: &mut Table<Walker>, truth: &mut Vec<Effect>, step: &mut Step<'_, Keys>, flight: Flight) -> bool {
    let Flight { of: bolt, at, speed } = flight;
    let target = walkers.iter_mut().find(|walker| {
        let near = (walker.at[0] - at[0]).abs() < RADIUS_M && (walker.at[1] - at[1]).abs() < RADIUS_M;
        near && walker.owner() != bolt.owner
    });
    let Some(mut target) = target else { return false };
    say(truth, step, HIT, bolt.entity, Some(at));
    step.touch(bolt, target.owned());
    if step.role(target.owned()) != Role::Proxy {
        target.at[0] = (target.at[0] + 5.0 * speed[0]).clamp(-6.0, 6.0);
        target.hits += 1;
    }
    true
}

impl Simulate for Range {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        assert!(
            step.is_authority() || !step.first_time() || self.first_times.insert(step.tick()),
            "{} is new only once",
            step.tick()
        );
        self.walkers.remove_left(step);
        self.bolts.remove_left(step);
        self.sparks.remove_left(step);
        self.pouches.remove_left(step);
        for joined in step.joined() {
            let line = f32::from(joined.player.get() % 3) * 0.2;
            let side = if joined.player.get().is_multiple_of(2) { 3.0 } else { -3.0 };
            let walker = Walker { at: [side, line], looks_left: side > 0.0, cooldown: 0, hits: 0 };
            self.walkers.spawn(step, joined.player, walker);
            self.pouches.spawn(step, joined.player, Pouch::default());
        }
        self.walk(step);
        self.fly(step);
        if step.is_authority() {
            if let Some(first) = self.walkers.iter().next() {
                let noise = (0..self.noise).map(|nth| EffectKind(NOISE.0 + nth));
                noise.for_each(|kind| say(&mut self.truth, step, kind, first.entity(), None));
            }
            let after = step.tick().next();
            for (entity, kind) in self.entities() {
                self.lives.entry(entity).or_insert(Life { kind, first: after, last: after }).last = after;
            }
        }
    }
}
