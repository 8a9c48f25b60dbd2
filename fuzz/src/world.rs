//! A world with something of all that rows and inputs are made of.

use crate::hostile::Playable;
use foretell::{EffectKind, Entity, Input, Kind, PlayerId, Role, Rows, Schema, State, Step, Tick, World};
use std::collections::BTreeMap;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Keys {
    ahead: bool,
    throw: bool,
    aim: i8,
    /// Any f32, if a client says so.
    turn: f32,
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
pub enum Thing {
    Walker {
        #[state(position, by_owner)]
        place: [f32; 3],
        #[state(rotation)]
        turned: [f32; 4],
        #[state(velocity)]
        velocity: [f64; 3],
        wait: u8,
    },
    Stone {
        #[state(position)]
        place: [f64; 2],
        ticks: u16,
        is_hot: bool,
    },
    #[state(owner)]
    Purse { coins: i32 },
}

const WALKER: Kind = Kind(0);
const STONE: Kind = Kind(1);
const PURSE: Kind = Kind(2);

/// Walkers who throw stones, each with a purse that its player alone sees.
#[derive(Clone, Default)]
pub struct Yard(BTreeMap<Entity, Thing>);

impl Yard {
    fn join(&mut self, player: PlayerId, name: impl Fn(Kind) -> Entity) {
        let turned = [0.0, 0.0, 0.0, 1.0];
        let place = [f32::from(player.get()), 0.0, 0.0];
        self.0.insert(name(WALKER), Thing::Walker { place, turned, velocity: [0.0; 3], wait: 0 });
        self.0.insert(name(PURSE), Thing::Purse { coins: 3 });
    }
}

impl Playable for Yard {
    fn schema() -> Schema {
        Thing::schema().with_speed_max(WALKER, 5.0)
    }

    fn with_player(player: PlayerId) -> Yard {
        let mut yard = Yard::default();
        yard.join(player, |kind| Entity::new(kind, player, Tick::ZERO, 0));
        yard
    }
}

/// What becomes of a thing in a step; `None` when it is gone. And whether a stone is thrown.
fn moved(thing: Thing, keys: Keys) -> (Option<Thing>, bool) {
    match thing {
        Thing::Walker { mut place, turned, wait, .. } => {
            let speed = if keys.ahead { 3.0 } else { 0.0 };
            place[0] = (place[0] + speed / 64.0).min(50.0);
            place[2] = (place[2] + f32::from(keys.aim) / 64.0).clamp(-50.0, 50.0);
            let throws = keys.throw && wait == 0;
            let wait = if throws { 20 } else { wait.saturating_sub(1) };
            (Some(Thing::Walker { place, turned, velocity: [f64::from(speed), 0.0, 0.0], wait }), throws)
        }
        Thing::Stone { place: [x, y], ticks, is_hot } if ticks > 0 => {
            (Some(Thing::Stone { place: [x + 0.1, y], ticks: ticks - 1, is_hot }), false)
        }
        Thing::Stone { .. } => (None, false),
        Thing::Purse { .. } => (Some(thing), false),
    }
}

impl World for Yard {
    type Input = Keys;
    type Saved = BTreeMap<Entity, Thing>;

    fn step(&mut self, step: &Step<'_, Keys>) {
        for player in step.joined() {
            self.join(*player, |kind| step.spawn(kind, *player));
        }
        self.0.retain(|entity, _| !step.left().contains(&entity.player()));
        for (entity, thing) in self.0.clone() {
            let Some(input) = step.input(entity.player()).filter(|_| step.role(entity) != Role::Proxy) else {
                continue;
            };
            let (now, throws) = moved(thing, input.input);
            match now {
                Some(now) => drop(self.0.insert(entity, now)),
                None => drop(self.0.remove(&entity)),
            }
            if throws {
                let stone = step.spawn(STONE, entity.player());
                self.0.insert(stone, Thing::Stone { place: [0.0, 1.0], ticks: 30, is_hot: input.input.aim > 0 });
                step.effect_at(EffectKind(1), stone, [0.0, 1.0, 0.0]);
            }
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
