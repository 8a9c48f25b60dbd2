//! One tick as the systems of a game see it.

use crate::NetEntity;
use crate::directory::{Directory, revive};
use crate::entity::Networked;
use crate::tree::named_below;
use bevy_ecs::bundle::Bundle;
use bevy_ecs::entity::Entities;
use bevy_ecs::prelude::{Commands, Entity, Mut, Query, Res, ResMut, Resource, World};
use bevy_ecs::query::QueryFilter;
use bevy_ecs::system::SystemParam;
use foretell::motion::Pose;
use foretell::world::{KeptRoles, Side};
use foretell::{EffectKind, Leaver, Newcomer, Owned, PlayerId, PlayerInput, Step, Tick, TickRate};

/// The step that runs, without what it borrows, and what systems have said in it.
#[derive(Resource, Default)]
pub(crate) struct CurrentStep {
    /// Whether it runs.
    runs: bool,
    tick: Tick,
    rate: TickRate,
    canonical: bool,
    first_time: bool,
    joined: Vec<Newcomer>,
    left: Vec<Leaver>,
    roles: KeptRoles,
    /// Others as these players saw them.
    seen: Vec<(PlayerId, Vec<(Owned, Pose)>)>,
    said: Said,
}

/// What systems have said.
#[derive(Default)]
struct Said {
    /// How many for whom.
    spawned: Vec<(PlayerId, u32)>,
    effects: Vec<(EffectKind, NetEntity, Option<[f32; 3]>)>,
    touched: Vec<(Owned, Owned)>,
    /// By which entities which were changed.
    changed: Vec<(Owned, Owned)>,
    hits: Vec<(PlayerId, Owned)>,
}

/// The inputs of a step, ascending by player: what [`Driven`](crate::Driven) has entity by entity.
#[derive(Resource, Default)]
pub struct StepInputs<I: Send + Sync + 'static>(pub(crate) Vec<PlayerInput<I>>);

impl<I: Send + Sync + 'static> StepInputs<I> {
    /// All of them, ascending by player.
    pub fn iter(&self) -> impl Iterator<Item = &PlayerInput<I>> {
        self.0.iter()
    }

    /// That of one player; `None` when they are not stepped in this tick.
    pub fn of(&self, player: PlayerId) -> Option<&PlayerInput<I>> {
        self.0.iter().find(|input| input.player == player)
    }
}

impl CurrentStep {
    /// Begins a step.
    pub fn begin<I>(&mut self, step: &Step<'_, I>) {
        self.runs = true;
        (self.tick, self.rate) = (step.tick(), step.rate());
        (self.canonical, self.first_time) = (step.canonical(), step.first_time());
        self.roles.keep(step.roles());
        self.joined.clear();
        self.joined.extend_from_slice(step.joined());
        self.left.clear();
        self.left.extend_from_slice(step.left());
    }

    /// Looks up others as the players of these inputs saw them.
    pub fn look_back<I>(&mut self, step: &Step<'_, I>, rewound_for: Option<fn(&I) -> bool>) {
        self.seen.clear();
        let shooting = step.inputs().iter().filter(|input| rewound_for.is_some_and(|shoots| shoots(&input.input)));
        self.seen.extend(shooting.map(|input| (input.player, step.rewound(input.player).poses().collect())));
    }

    /// Tells the step what systems have said.
    pub fn end<I>(&mut self, step: &mut Step<'_, I>) {
        self.runs = false;
        let Said { spawned, effects, touched, changed, hits } = &mut self.said;
        for (player, count) in spawned.drain(..) {
            // Both count alike.
            (0..count).for_each(|_| _ = step.spawn(player));
        }
        for (kind, entity, at) in effects.drain(..) {
            match at {
                Some(at) => step.effect_at(kind, entity, at),
                None => step.effect(kind, entity),
            }
        }
        touched.drain(..).for_each(|(one, other)| step.touch(one, other));
        // The roles are those of this step, so that it says yes again.
        changed.drain(..).for_each(|(by, of)| _ = step.change(by, of));
        hits.drain(..).for_each(|(shooter, victim)| step.hit(shooter, victim));
    }

    /// The step runs again.
    pub fn repeat(&mut self) {
        self.first_time = false;
    }

    /// Ends a step of which it counts for nothing what systems have said.
    pub fn discard(&mut self) {
        self.runs = false;
        self.said = Said::default();
    }

    fn name_for(&mut self, player: PlayerId) -> Owned {
        let spawned = &mut self.said.spawned;
        let at = spawned.iter().position(|(of, _)| *of == player).unwrap_or_else(|| {
            spawned.push((player, 0));
            spawned.len() - 1
        });
        let count = &mut spawned[at].1;
        let counter = u16::try_from(*count).expect("at most 65,536 entities are spawned for a player in a tick");
        *count += 1;
        Owned { entity: NetEntity::new(player, self.tick, counter), owner: player }
    }
}

/// One tick: who joins and has left, and what a system says of it. For systems in [`Simulation`](crate::Simulation) alone. What says
/// something elsewhere panics, as that would be of no tick; [`find`](StepCommands::find) is good everywhere.
///
/// What it spawns and despawns is there with the next [`ApplyDeferred`](bevy_ecs::prelude::ApplyDeferred), as with [`Commands`];
/// systems that are chained have one between them.
#[derive(SystemParam)]
pub struct StepCommands<'w, 's> {
    step: ResMut<'w, CurrentStep>,
    directory: Res<'w, Directory>,
    entities: &'w Entities,
    commands: Commands<'w, 's>,
}

impl StepCommands<'_, '_> {
    /// The step, of which something is to be said.
    fn running(&mut self) -> &mut CurrentStep {
        assert!(
            self.step.runs,
            "StepCommands is for systems in Simulation; what is heard elsewhere a #[message(in_step)] or a resource brings there"
        );
        &mut self.step
    }

    /// The tick that is simulated.
    pub fn tick(&self) -> Tick {
        self.step.tick
    }

    /// The length of a tick in seconds.
    #[expect(clippy::cast_possible_truncation, reason = "a tick is as long in either")]
    pub fn seconds(&self) -> f32 {
        self.step.rate.seconds() as f32
    }

    /// Who joins with this tick, ascending by player. Empty on a client: what a join creates it is told.
    pub fn joined(&self) -> Vec<Newcomer> {
        self.step.joined.clone()
    }

    /// Whether a player has left before this tick. Never on a client.
    pub fn has_left(&self, player: PlayerId) -> bool {
        self.left().iter().any(|leaver| leaver.player == player)
    }

    /// Who has left before this tick, and why, ascending by player. Nobody on a client.
    pub fn left(&self) -> &[Leaver] {
        &self.step.left
    }

    /// Whether this is the server: for what no client is to do. What is to be predicted asks [`simulates`](StepCommands::simulates).
    pub fn is_authority(&self) -> bool {
        self.step.roles.get().is_authority()
    }

    /// Whether what `player` spawns in this step is simulated here; [`PlayerId::SERVER`] stands for what belongs to the server. A
    /// client that does not simulate it is told of it, and must not spawn it.
    pub fn simulates(&self, player: PlayerId) -> bool {
        self.step.roles.get().simulates(player)
    }

    /// Whether the tick is simulated for the first time here; `false` in re-simulations.
    pub fn first_time(&self) -> bool {
        self.step.first_time
    }

    /// The step as what is not Bevy's knows it, without inputs and whatever else is said in it.
    pub fn as_step(&self) -> Step<'_, ()> {
        let CurrentStep { tick, rate, canonical, ref roles, .. } = *self.step;
        Step::new(tick, rate, Side::Server, &[]).in_roles(roles.get()).on_canonical(canonical)
    }

    /// Spawns an entity of `player`'s with a name that is the same on both ends. Where this tick was simulated before, it is the
    /// entity of then, with the same id.
    ///
    /// # Panics
    /// When more than 65,536 entities are spawned for one player in one tick, and outside of a step, as all that says something.
    pub fn spawn(&mut self, player: PlayerId, bundle: impl Bundle) -> Entity {
        let of = self.running().name_for(player);
        let known = self.directory.find(of.entity).filter(|id| self.entities.contains(*id));
        let id = known.unwrap_or_else(|| self.commands.spawn_empty().id());
        self.commands.queue(move |world: &mut World| spawn_named(world, id, of, bundle));
        id
    }

    /// Takes an entity, and what is below it, out of the world: no query finds it any more. Its id stays until no state that may
    /// come back has it ([`Gone`](crate::Gone)); then it is despawned. `Commands::despawn` would give it another id when it comes back. What has
    /// no name is despawned at once.
    pub fn despawn(&mut self, entity: Entity) {
        self.running();
        self.commands.queue(move |world: &mut World| despawn(world, entity));
    }

    /// [Despawns](StepCommands::despawn) what belongs to players who have left before this tick.
    pub fn despawn_left<F: QueryFilter>(&mut self, all: &Query<(Entity, &Networked), F>) {
        if !self.step.left.is_empty() {
            let left = |(id, of): (Entity, &Networked)| self.has_left(of.owner()).then_some(id);
            all.iter().filter_map(left).collect::<Vec<_>>().into_iter().for_each(|id| self.despawn(id));
        }
    }

    /// Gives an entity to another player, whose inputs drive it from the next tick on, and on whose client it is predicted. Nothing
    /// happens where it has no name.
    pub fn set_owner(&mut self, entity: Entity, owner: PlayerId) {
        self.running();
        self.commands.queue(move |world: &mut World| {
            if let Some(mut of) = world.get_mut::<Networked>(entity) {
                of.owner = owner;
            }
        });
    }

    /// The entity of a name; `None` where there never was one here. It may be [`Gone`](crate::Gone).
    pub fn find(&self, name: NetEntity) -> Option<Entity> {
        self.directory.find(name)
    }

    /// Something happens to an entity that leaves nothing behind in the state: a shot, a hit. Each end is told it once
    /// ([`EffectHappened`](crate::EffectHappened)), however often the tick is simulated. One of each kind for each entity and tick.
    pub fn effect(&mut self, kind: EffectKind, of: &Networked, at: Option<[f32; 3]>) {
        self.running().said.effects.push((kind, of.name(), at));
    }

    /// Others as a player saw them when it made its input of this tick, each with whose it was and where, in no order that both ends
    /// share: what a shot is judged by. Empty where [`ForetellPlugin::rewound_for`](crate::ForetellPlugin::rewound_for) does not say so of
    /// that input. See `docs/SHOTS.md`.
    pub fn rewound(&self, player: PlayerId) -> impl Iterator<Item = (Owned, Pose)> {
        let seen = self.step.seen.iter().filter(move |(of, _)| *of == player);
        seen.flat_map(|(_, poses)| poses.iter().copied())
    }

    /// Says that a player has hit an entity, judged by [`rewound`](StepCommands::rewound). It changes nothing; the server tells
    /// [`HitJudged`](crate::HitJudged).
    pub fn hit(&mut self, shooter: PlayerId, victim: Owned) {
        self.running().said.hits.push((shooter, victim));
    }

    /// Whether `by`, which this step moves, may change `of` now, which it only finds: a pickup that is taken, a door that is opened.
    /// Where it says yes, the change is to be made in this step: components are written, or the entity is despawned. A client shows it
    /// at once; where the server's step did not make it in the same tick, it is taken back, and refused until the entity is shown as
    /// the server has it ([`ChangeRefused`](crate::ChangeRefused)). See `docs/PICKUPS.md`.
    pub fn change(&mut self, by: &Networked, of: &Networked) -> bool {
        let step = self.running();
        let may = step.roles.get().may_change(by.owned(), of.owned());
        if may {
            step.said.changed.push((by.owned(), of.owned()));
        }
        may
    }

    /// Says that two entities have influenced each other in this tick; it explains corrections, and changes nothing else.
    pub fn touch(&mut self, one: &Networked, other: &Networked) {
        self.touch_owned(one.owned(), other.owned());
    }

    pub(crate) fn touch_owned(&mut self, one: Owned, other: Owned) {
        self.running().said.touched.push((one, other));
    }
}

/// A new entity under a name; or the one that had it in a state that was gone back from, as if it were new.
fn spawn_named<B: Bundle>(world: &mut World, id: Entity, of: Owned, bundle: B) {
    let given = world.register_bundle::<B>().explicit_components().to_vec();
    world.resource_scope(|world, mut directory: Mut<Directory>| {
        if world.get::<Networked>(id).is_some() {
            directory.forget(world, id, &given);
        }
        revive(world, id);
        directory.name(world, id, of);
    });
    world.entity_mut(id).insert(bundle);
}

/// Takes an entity out of the world, and what is below it; what is taken so that was changed ahead of the server, with all of that.
fn despawn(world: &mut World, id: Entity) {
    let Some(of) = world.get::<Networked>(id).map(Networked::owned) else {
        _ = world.try_despawn(id);
        return;
    };
    let below = named_below(world, id).into_iter();
    let below: Vec<_> = below.filter_map(|id| world.get::<Networked>(id).map(Networked::owned)).collect();
    let changed = &mut world.resource_mut::<CurrentStep>().said.changed;
    if let Some(by) = changed.iter().find(|(_, changed)| *changed == of).map(|(by, _)| *by) {
        changed.extend(below.into_iter().map(|child| (by, child)));
    }
    world.resource_scope(|world, directory: Mut<Directory>| directory.remove_all(world, id));
}
