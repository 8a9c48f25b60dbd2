//! A world with something of all that rows and inputs are made of.

use crate::hostile::Playable;
use foretell::{
    EffectKind, Entity, Field, Input, Owned, PlayerId, Schema, Simulate, State, Step, Table, Text, Tick, World,
};

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Keys {
    ahead: bool,
    throw: bool,
    aim: i8,
    /// Any f32, if a client says so.
    turn: f32,
}

/// What anybody throws, or puts down: one or the other.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub enum Thing {
    Stone {
        #[state(position)]
        place: [f64; 2],
        ticks: u16,
        is_hot: bool,
    },
    Heap {
        #[state(position)]
        place: [f64; 2],
        of: Option<Entity>,
    },
}

/// Who walks. What is in the bag its player alone sees.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Walker {
    #[state(position, writer = owner)]
    place: [f32; 3],
    #[state(rotation)]
    turned: [f32; 4],
    #[state(velocity)]
    velocity: [f64; 3],
    wait: u8,
    mood: Mood,
    name: Text<6>,
    #[state(audience = owner)]
    bag: Option<u16>,
}

#[derive(Field, Clone, Copy, PartialEq, Default, Debug)]
pub enum Mood {
    #[default]
    Calm,
    Cross,
    Glad,
}

/// What only its owner sees at all.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
#[state(audience = owner)]
pub struct Purse {
    coins: i32,
    of: PlayerId,
}

/// Walkers who throw stones, each with a purse that its player alone sees.
#[derive(World, Default)]
pub struct Yard {
    walkers: Table<Walker>,
    things: Table<Thing>,
    purses: Table<Purse>,
}

impl Yard {
    fn join(&mut self, of: Owned) {
        let turned = [0.0, 0.0, 0.0, 1.0];
        let place = [f32::from(of.owner.get()), 0.0, 0.0];
        self.walkers.insert(of, Walker { place, turned, name: Text::new("Ada"), bag: Some(7), ..Walker::default() });
        self.purses.insert(of, Purse { coins: 3, of: of.owner });
    }

    fn walk(&mut self, step: &mut Step<'_, Keys>) {
        for mut walker in self.walkers.simulated(step) {
            let player = walker.owner();
            let Some(keys) = step.input(player).map(|input| input.input) else { continue };
            let speed = if keys.ahead { 3.0 } else { 0.0 };
            walker.place[0] = (walker.place[0] + speed / 64.0).min(50.0);
            walker.place[2] = (walker.place[2] + f32::from(keys.aim) / 64.0).clamp(-50.0, 50.0);
            walker.velocity[0] = f64::from(speed);
            walker.mood = if keys.throw { Mood::Cross } else { walker.mood };
            if !keys.throw || walker.wait > 0 {
                walker.wait = walker.wait.saturating_sub(1);
                continue;
            }
            (walker.wait, walker.mood) = (20, Mood::Glad);
            walker.bag = walker.bag.and_then(|left| left.checked_sub(1));
            let stone = Thing::Stone { place: [0.0, 1.0], ticks: 30, is_hot: keys.aim > 0 };
            let stone = self.things.spawn(step, player, stone);
            step.effect_at(EffectKind(1), stone, [0.0, 1.0, 0.0]);
        }
    }

    /// A stone flies, becomes a heap, and is gone.
    fn fly(&mut self, step: &mut Step<'_, Keys>) {
        let mut spent = Vec::new();
        for mut thing in self.things.simulated(step) {
            if step.input(thing.owner()).is_none() {
                continue;
            }
            let name = thing.entity();
            match &mut *thing {
                Thing::Stone { place, ticks: 0, .. } => {
                    let place = *place;
                    *thing = Thing::Heap { place, of: Some(name) };
                }
                Thing::Stone { place, ticks, .. } => (place[0], *ticks) = (place[0] + 0.1, *ticks - 1),
                Thing::Heap { .. } if step.tick().get() % 64 == 0 => spent.push(name),
                Thing::Heap { .. } => {}
            }
        }
        for thing in spent {
            self.things.remove(thing);
        }
    }
}

impl Playable for Yard {
    fn bounded() -> Schema {
        Yard::schema().with_speed_max::<Walker>(5.0)
    }

    fn with_player(player: PlayerId) -> Yard {
        let mut yard = Yard::default();
        yard.join(Owned { entity: Entity::new(player, Tick::ZERO, 0), owner: player });
        yard
    }
}

impl Simulate for Yard {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.walkers.remove_left(step);
        self.things.remove_left(step);
        self.purses.remove_left(step);
        for joined in step.joined() {
            let entity = step.spawn(joined.player);
            self.join(Owned { entity, owner: joined.player });
        }
        self.fly(step);
        self.walk(step);
    }
}
