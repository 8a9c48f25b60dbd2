//! [`Scene`]: a whole world of bodies and of the game's own columns, of which the game writes the step alone.

use crate::{Blueprint, Physics};
use core::ops::{Deref, DerefMut};
use foretell::world::SavedTable;
use foretell::{
    Entity, Input, InterestRules, Newcomer, Owned, PlayerId, Reason, Ref, Role, Rows, Rules, Schema, Simulate, Step,
    Table, World, WorldPart,
};
use rapier3d::geometry::ColliderBuilder;
use rapier3d::math::Vector;

/// A game over [`Scene`]: what players press, what there is, and what happens in a step.
pub trait Gameplay: Sized {
    /// One player's command for one tick.
    type Input: Input;
    /// The state of an entity.
    type State: Blueprint;

    /// What happens before Rapier's step: entities come and go, bodies are pushed, columns change. Entities of players who
    /// have left are gone already.
    fn step(scene: &mut Scene<Self>, step: &mut Step<'_, Self::Input>);

    /// What follows from Rapier's step, in the same tick: from what touches what, from where bodies are. By default nothing.
    fn react(scene: &mut Scene<Self>, step: &mut Step<'_, Self::Input>) {
        let _ = (scene, step);
    }

    /// Whether somebody may join, as [`Simulate::admit`]. By default everybody may.
    ///
    /// # Errors
    /// The reason, for whoever wants to join.
    fn admit(scene: &Scene<Self>, newcomer: &Newcomer) -> Result<(), Reason> {
        let _ = (scene, newcomer);
        Ok(())
    }

    /// The game's own rules of what each player sees, as [`Simulate::interest_rules`]. By default none.
    fn interest_rules(scene: &Scene<Self>) -> Option<&dyn InterestRules> {
        let _ = scene;
        None
    }
}

/// The world of a game of rigid bodies: their physics, and a table of every entity's state with the game's own columns.
///
/// It is a [`World`] already. [`Physics`] can be used of it directly, but for what spawns, despawns and gives to other players, which
/// is its own. A change of a state's columns is all that it takes to publish it, and to make its body by another
/// [design](Blueprint::design).
pub struct Scene<G: Gameplay> {
    physics: Physics,
    /// Each state with its body as of the last step.
    states: Table<G::State>,
    /// Of whom the game has changed columns since their bodies were looked at.
    touched: Vec<Entity>,
}

impl<G: Gameplay> Clone for Scene<G> {
    fn clone(&self) -> Scene<G> {
        Scene { physics: self.physics.clone(), states: self.states.clone(), touched: self.touched.clone() }
    }
}

impl<G: Gameplay> Default for Scene<G> {
    fn default() -> Scene<G> {
        Scene { physics: Physics::default(), states: Table::new(), touched: Vec::new() }
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
        Rules { exact: true, fingerprints: self.fingerprints(), ..Rules::new(Self::schema()) }
    }

    /// Brings a new entity of `owner` into the world; its name.
    ///
    /// # Panics
    /// As [`Step::spawn`] does.
    pub fn spawn(&mut self, step: &mut Step<'_, G::Input>, owner: PlayerId, state: G::State) -> Entity {
        let entity = step.spawn(owner);
        if state.body().is_some() {
            self.physics.insert(Owned { entity, owner }, &state);
        }
        self.states.insert(Owned { entity, owner }, state);
        entity
    }

    /// Removes an entity; `false` where it is not there.
    pub fn despawn(&mut self, entity: Entity) -> bool {
        self.physics.despawn(entity);
        self.states.remove(entity).is_some()
    }

    /// Gives an entity to another player, whose inputs drive it from then on, and on whose client it is predicted. `false`
    /// where it is not there.
    pub fn set_owner(&mut self, entity: Entity, owner: PlayerId) -> bool {
        self.physics.set_owner(entity, owner);
        self.states.set_owner(entity, owner)
    }

    /// Every entity with its state, ascending by entity. Bodies are as after the last step: [`Physics::state`] has what was done to
    /// one since.
    pub fn states(&self) -> impl DoubleEndedIterator<Item = Ref<'_, G::State>> + ExactSizeIterator {
        self.states.iter()
    }

    /// The entities of which the state is such, ascending: of an enum those of a variant.
    pub fn all(&self, is_such: impl Fn(&G::State) -> bool) -> Vec<Entity> {
        self.states.iter().filter(|one| is_such(one)).map(|one| one.entity()).collect()
    }

    /// Those of them that this step is to move by the inputs of their players, ascending, each with that input. Not what only is
    /// shown here, nor what belongs to a player who is not stepped in this tick.
    pub fn driven(&self, step: &Step<'_, G::Input>, is_such: impl Fn(&G::State) -> bool) -> Vec<(Entity, G::Input)> {
        let is_moved = |one: &Ref<'_, G::State>| step.role(one.owned()) != Role::Proxy && is_such(one);
        let moved = self.states.iter().filter(is_moved);
        moved.filter_map(|one| Some((one.entity(), step.input(one.owner())?.input))).collect()
    }

    /// An entity's state. Its body is as after the last step: [`Physics::state`] has what was done to it since.
    pub fn get(&self, entity: Entity) -> Option<&G::State> {
        self.states.get(entity).map(Ref::into_inner)
    }

    /// The same, to change the game's own columns, or to make it another variant. What is written into the body there does
    /// nothing, where there is one already: see [`Physics::body_mut`]. A body that a change asks for is made, or made anew, when
    /// [`Gameplay::step`] or [`Gameplay::react`] is over.
    pub fn get_mut(&mut self, entity: Entity) -> Option<&mut G::State> {
        let state = self.states.get_mut(entity)?;
        self.touched.push(entity);
        Some(state.into_inner())
    }

    /// Makes the bodies anew of which columns say so, and states tell their bodies as they are, whatever was written there.
    fn redesign_touched(&mut self) {
        let mut touched = core::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        for entity in touched.drain(..) {
            let Some(mut state) = self.states.get_mut(entity) else { continue };
            match (self.physics.contains(entity), state.body().is_some()) {
                (true, true) => {
                    self.physics.redesign(entity, &*state);
                    if let (Some(body), Some(now)) = (state.body_mut(), self.physics.state(entity)) {
                        *body = now;
                    }
                }
                (true, false) => _ = self.physics.despawn(entity),
                (false, true) => self.physics.insert(state.owned(), &*state),
                (false, false) => {}
            }
        }
        self.touched = touched;
    }

    /// Takes the bodies into the states, as far as they may have changed.
    fn take_bodies(&mut self) {
        for (entity, now) in self.physics.changed() {
            let state = self.states.get_mut(entity);
            if let Some(body) = state.and_then(|state| state.into_inner().body_mut()) {
                *body = now;
            }
        }
    }
}

impl<G: Gameplay> Simulate for Scene<G> {
    type Input = G::Input;

    fn step(&mut self, step: &mut Step<'_, G::Input>) {
        // What was changed outside of steps.
        self.redesign_touched();
        self.physics.prepare(step);
        self.physics.remove_left(step);
        self.states.remove_left(step);
        G::step(self, step);
        self.redesign_touched();
        self.physics.advance(step);
        self.physics.tell_touches(step);
        self.take_bodies();
        G::react(self, step);
        self.redesign_touched();
        self.take_bodies();
    }

    fn admit(&self, newcomer: &Newcomer) -> Result<(), Reason> {
        G::admit(self, newcomer)
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        G::interest_rules(self)
    }
}

/// What is saved of a [`Scene`], whose states are of type `S`: a state is saved when it has been published, and nothing is touched then.
#[derive(Clone)]
pub struct SavedScene<S> {
    physics: Physics,
    states: SavedTable<S>,
}

impl<S> Default for SavedScene<S> {
    fn default() -> SavedScene<S> {
        SavedScene { physics: Physics::default(), states: SavedTable::default() }
    }
}

impl<G: Gameplay> World for Scene<G> {
    type Saved = SavedScene<G::State>;

    fn schema() -> Schema {
        Schema::of::<G::State>()
    }

    fn save(&self, into: &mut SavedScene<G::State>) {
        into.physics.clone_from(&self.physics);
        self.states.save(&mut into.states);
    }

    fn load(&mut self, from: &SavedScene<G::State>) {
        self.physics.clone_from(&from.physics);
        self.states.load(&from.states);
        self.touched.clear();
    }

    fn take(&mut self, from: &mut SavedScene<G::State>) {
        core::mem::swap(&mut self.physics, &mut from.physics);
        self.states.take(&mut from.states);
        self.touched.clear();
    }

    fn publish(&mut self, rows: &mut Rows) {
        // What was done to them outside of steps.
        self.redesign_touched();
        self.take_bodies();
        self.states.publish(rows);
    }

    fn adopt(&mut self, rows: &Rows) {
        self.states.adopt(rows);
        self.physics.adopt::<G::State>(rows);
    }
}
