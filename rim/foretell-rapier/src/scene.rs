//! [`Scene`]: a whole world of bodies and of the game's own columns, of which the game writes the step alone.

use crate::physics::Changed;
use crate::{Blueprint, Physics};
use core::ops::{Deref, DerefMut};
use foretell::rollback::ROW_WORDS_MAX;
use foretell::{Entity, Input, Kind, PlayerId, Rows, Rules, State, Step, World};
use rapier3d::geometry::ColliderBuilder;
use rapier3d::math::Vector;
use std::collections::BTreeMap;

/// A game over [`Scene`]: what players press, what there is, and what happens in a step.
pub trait Gameplay: Sized {
    /// One player's command for one tick.
    type Input: Input;
    /// What there is one row of.
    type State: Blueprint;

    /// What happens before Rapier's step: entities come and go, bodies are pushed, columns change. Entities of players who
    /// have left are gone already.
    fn step(scene: &mut Scene<Self>, step: &Step<'_, Self::Input>);

    /// What follows from Rapier's step, in the same tick: from what touches what, from where bodies are. By default nothing.
    fn react(scene: &mut Scene<Self>, step: &Step<'_, Self::Input>) {
        let _ = (scene, step);
    }
}

/// The world of a game of rigid bodies: their physics, and a state of every entity with the game's own columns.
///
/// It is a [`World`] already. [`Physics`] can be used of it directly, but for spawning and despawning, which are its own. A change
/// of a state's columns is all that it takes to publish it, and to make its body by another [design](Blueprint::design).
pub struct Scene<G: Gameplay> {
    physics: Physics,
    entries: BTreeMap<Entity, Entry<G::State>>,
    /// Entities without a body that are gone, and when.
    gone: Vec<(Entity, Changed)>,
}

/// One entity: its state, with the body as of the last step.
#[derive(Clone)]
struct Entry<S> {
    state: S,
    changed: Changed,
}

impl<S: State> Entry<S> {
    /// Whether the state has these bits.
    fn has(&self, words: &[u32]) -> bool {
        let mut own = [0; ROW_WORDS_MAX];
        self.state.write(&mut own[..words.len()]);
        own[..words.len()] == *words
    }
}

impl<G: Gameplay> Clone for Scene<G> {
    fn clone(&self) -> Scene<G> {
        Scene { physics: self.physics.clone(), entries: self.entries.clone(), gone: self.gone.clone() }
    }
}

impl<G: Gameplay> Default for Scene<G> {
    fn default() -> Scene<G> {
        Scene { physics: Physics::default(), entries: BTreeMap::new(), gone: Vec::new() }
    }
}

impl<G: Gameplay> Deref for Scene<G> {
    type Target = Physics;

    fn deref(&self) -> &Physics {
        &self.physics
    }
}

impl<G: Gameplay> DerefMut for Scene<G> {
    fn deref_mut(&mut self) -> &mut Physics {
        &mut self.physics
    }
}

impl<G: Gameplay> Scene<G> {
    /// A world with this gravity in m/s2 and this scenery: [`Physics::new`].
    ///
    /// # Panics
    /// As that does.
    pub fn new(gravity: impl Into<Vector>, scenery: impl IntoIterator<Item = ColliderBuilder>) -> Scene<G> {
        Scene { physics: Physics::new(gravity, scenery), ..Scene::default() }
    }

    /// The rules of an exact session of such a world before its first tick, with its
    /// [`fingerprints`](Physics::fingerprints). For a partial one set [`Rules::exact`] to `false`.
    pub fn rules(&self) -> Rules {
        Rules { exact: true, fingerprints: self.fingerprints(), ..Rules::new(G::State::schema()) }
    }

    /// Brings a new entity of `player` into the world, of the kind that the state is of; its name.
    ///
    /// # Panics
    /// When one player spawns more than 256 entities of one kind in one tick.
    pub fn spawn(&mut self, step: &Step<'_, G::Input>, player: PlayerId, state: G::State) -> Entity {
        let entity = step.spawn(state.kind(), player);
        if state.body().is_some() {
            self.physics.spawn(entity, &state);
        }
        self.entries.insert(entity, Entry { state, changed: Changed::Outside });
        entity
    }

    /// Removes an entity; `false` where it is not there.
    pub fn despawn(&mut self, entity: Entity) -> bool {
        let is_there = self.entries.remove(&entity).is_some();
        if is_there && !self.physics.despawn(entity) {
            self.gone.push((entity, Changed::Outside));
        }
        is_there
    }

    /// All entities of a kind, ascending.
    pub fn all(&self, kind: Kind) -> Vec<Entity> {
        self.entries.keys().filter(|entity| entity.kind() == kind).copied().collect()
    }

    /// The entities of a kind whose players are stepped in this tick, ascending, each with its player's input.
    pub fn driven(&self, step: &Step<'_, G::Input>, kind: Kind) -> Vec<(Entity, G::Input)> {
        let all = self.entries.keys().filter(|entity| entity.kind() == kind);
        all.filter_map(|entity| Some((*entity, step.input(entity.player())?.input))).collect()
    }

    /// An entity's state. Its body is as after the last step; [`Physics::state`] has what was done to it since.
    pub fn get(&self, entity: Entity) -> Option<&G::State> {
        self.entries.get(&entity).map(|entry| &entry.state)
    }

    /// The same, to change the game's own columns. What is written into the body there does nothing: see
    /// [`Physics::body_mut`].
    pub fn get_mut(&mut self, entity: Entity) -> Option<&mut G::State> {
        let entry = self.entries.get_mut(&entity)?;
        entry.changed = Changed::Outside;
        Some(&mut entry.state)
    }

    /// What the game has done to columns until now was done in the last step.
    fn age(&mut self) {
        let aged = |changed| if changed == Changed::Outside { Changed::InStep } else { Changed::No };
        self.entries.values_mut().for_each(|entry| entry.changed = aged(entry.changed));
        self.gone.iter_mut().for_each(|(_, changed)| *changed = aged(*changed));
        self.gone.retain(|(_, changed)| *changed != Changed::No);
    }

    /// Makes the bodies anew of which columns say so.
    fn redesign_changed(&mut self) {
        for (entity, entry) in self.entries.iter().filter(|(_, entry)| entry.changed == Changed::Outside) {
            self.physics.redesign(*entity, &entry.state);
        }
    }

    /// Takes the bodies into the states.
    fn take_bodies(&mut self) {
        for (entity, entry) in &mut self.entries {
            if let (Some(body), Some(now)) = (entry.state.body_mut(), self.physics.state(*entity)) {
                *body = now;
            }
        }
    }
}

impl<G: Gameplay> World for Scene<G> {
    type Input = G::Input;
    type Saved = Scene<G>;

    fn step(&mut self, step: &Step<'_, G::Input>) {
        // What was changed outside of steps.
        self.redesign_changed();
        self.physics.prepare(step);
        self.age();
        let left: Vec<_> =
            self.entries.keys().filter(|entity| step.left().contains(&entity.player())).copied().collect();
        left.into_iter().for_each(|entity| {
            self.despawn(entity);
        });
        G::step(self, step);
        self.redesign_changed();
        self.physics.advance(step);
        self.physics.tell_touches(step);
        self.take_bodies();
        G::react(self, step);
        self.redesign_changed();
    }

    fn save(&self, into: &mut Scene<G>) {
        into.clone_from(self);
    }

    fn load(&mut self, from: &Scene<G>) {
        self.clone_from(from);
    }

    fn take(&mut self, from: &mut Scene<G>) {
        core::mem::swap(self, from);
    }

    fn publish(&self, rows: &mut Rows) {
        let is_gone = |entity: &Entity| !self.entries.contains_key(entity);
        self.gone.iter().filter(|(entity, _)| is_gone(entity)).for_each(|(entity, _)| rows.remove(*entity));
        let all = rows.is_empty();
        let named = |entry: &Entry<G::State>| all || entry.changed != Changed::No;
        for (entity, entry) in self.entries.iter().filter(|(_, entry)| named(entry)) {
            let mut state = entry.state.clone();
            if let (Some(body), Some(now)) = (state.body_mut(), self.physics.state(*entity)) {
                *body = now;
            }
            rows.set(*entity, &state);
        }
        self.physics.publish(rows, |entity, body| {
            let mut state = self.entries[&entity].state.clone();
            state.body_mut().into_iter().for_each(|known| *known = body);
            state
        });
    }

    fn adopt(&mut self, rows: &Rows) {
        for entity in rows.removed().iter().filter(|entity| rows.words(**entity).is_none()) {
            self.entries.remove(entity);
        }
        for (entity, words) in rows.iter() {
            if !self.entries.get(&entity).is_some_and(|entry| entry.has(words)) {
                let state = G::State::read(entity.kind(), words);
                self.entries.insert(entity, Entry { state, changed: Changed::Outside });
            }
        }
        self.physics.adopt::<G::State>(rows);
    }
}
