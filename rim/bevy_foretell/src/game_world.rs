//! Bevy's world as Foretell's: a step runs a schedule, and what is saved are columns.

use crate::checked::{self, Checker};
use crate::column::{Column, Difference, Saved};
use crate::directory::{self, Directory};
use crate::entity::{Driven, Gone, Networked, Simulated, set};
use crate::hierarchy::Hierarchy;
use crate::registry::Registry;
use crate::schedules::Simulation;
use crate::settings::{Settings, config_of, horizon_ticks};
use crate::step::{CurrentStep, StepInputs};
use crate::step_messages;
use bevy_app::App;
use bevy_ecs::change_detection::Tick as ChangeTick;
use bevy_ecs::hierarchy::ChildOf;
use bevy_ecs::prelude::{Entity, Has, Mut, With, World};
use bevy_ecs::query::QueryState;
use foretell::{Input, InterestRules, Newcomer, Owned, Reason, Role, Rows, Rules, Schema, Simulate, Step};

/// A game of Bevy's as a [`foretell::World`]: what is registered is saved, published and adopted, and a step runs
/// [`Simulation`]. The plugin has one in each app; by itself it is for tests of a game
/// ([`GameWorld::of`]), with all that `foretell_sim::harness` has.
///
/// While a session runs in an app it has Bevy's world. At other times Bevy has that, and this one an empty one in its place.
pub struct GameWorld<I: Send + Sync + 'static> {
    ecs: World,
    columns: Vec<Box<dyn Column>>,
    /// Every entity with a name that is there, ascending.
    there: Vec<(Owned, Entity)>,
    /// What has changed after this was not taken in yet.
    pulled: ChangeTick,
    /// For how many ticks what is gone may come back; 0 on a server.
    horizon_ticks: u32,
    checker: Option<Checker>,
    /// Where it is told who is whose child.
    hierarchy: Option<Hierarchy>,
    queries: Queries<I>,
}

/// Which entities a step moves, and by which input.
type Roles<I> = (Entity, &'static Networked, Has<Simulated>, Option<&'static mut Driven<I>>);

/// What is looked through in each step.
struct Queries<I: Send + Sync + 'static> {
    named: QueryState<(Entity, &'static Networked)>,
    roles: QueryState<Roles<I>>,
    gone: QueryState<(Entity, &'static Gone), With<Networked>>,
}

impl<I: Send + Sync + 'static> Queries<I> {
    fn new(world: &mut World) -> Queries<I> {
        Queries { named: world.query(), roles: world.query(), gone: world.query_filtered() }
    }
}

/// What is saved of a [`GameWorld`].
#[derive(Default)]
pub struct SavedWorld {
    there: Vec<(Owned, Entity)>,
    /// As many as there are columns, or none.
    columns: Vec<Saved>,
}

impl<I: Input + Send + Sync> GameWorld<I> {
    /// For a session that begins: what was there of another one is despawned.
    pub(crate) fn new(world: &mut World, horizon_ticks: u32) -> GameWorld<I> {
        directory::despawn_all(world);
        let columns = Registry::columns(world);
        let checker = world.resource::<Settings<I>>().checked.then(|| Checker::new(world, &columns));
        let hierarchy = world.resource::<Registry>().has_children.then(|| Hierarchy::new(world));
        let mut saved: Vec<_> = columns.iter().map(|column| column.component(world)).collect();
        saved.extend([world.register_component::<Simulated>(), world.register_component::<Driven<I>>()]);
        saved.extend(hierarchy.is_some().then(|| world.register_component::<ChildOf>()));
        world.insert_resource(Directory::new(saved, hierarchy.is_some()));
        GameWorld {
            ecs: World::new(),
            columns,
            there: Vec::new(),
            pulled: ChangeTick::new(0),
            horizon_ticks,
            checker,
            hierarchy,
            queries: Queries::new(world),
        }
    }

    /// A world of a game by itself. `game` adds the plugin, and what there is to it, as it does in a program.
    ///
    /// # Panics
    /// When it adds no [`ForetellPlugin`](crate::ForetellPlugin).
    pub fn of(game: fn(&mut App)) -> GameWorld<I> {
        let mut app = App::new();
        game(&mut app);
        app.finish();
        app.cleanup();
        let config = config_of::<I>(app.world());
        let horizon_ticks = horizon_ticks(&config);
        let mut world = GameWorld::new(app.world_mut(), horizon_ticks);
        core::mem::swap(&mut world.ecs, app.world_mut());
        world
    }

    /// What both ends of a session of this game agree on.
    ///
    /// # Panics
    /// As [`GameWorld::of`].
    pub fn rules(game: fn(&mut App)) -> Rules {
        let mut app = App::new();
        game(&mut app);
        config_of::<I>(app.world()).rules
    }

    /// Calls with Bevy's world in it, which has an empty one meanwhile.
    pub(crate) fn lent<T>(&mut self, world: &mut World, run: impl FnOnce(&mut GameWorld<I>) -> T) -> T {
        core::mem::swap(world, &mut self.ecs);
        let done = run(self);
        core::mem::swap(world, &mut self.ecs);
        done
    }

    /// Bevy's world.
    pub fn world(&mut self) -> &mut World {
        &mut self.ecs
    }

    /// Takes in what systems have changed.
    fn pull(&mut self) {
        let GameWorld { ecs, columns, there, pulled, queries, hierarchy, .. } = self;
        if let Some(hierarchy) = hierarchy {
            ecs.resource_scope(|ecs, directory: Mut<Directory>| hierarchy.take_in(ecs, &directory, *pulled));
        }
        there.clear();
        there.extend(queries.named.iter(ecs).map(|(id, of)| (of.owned(), id)));
        if !there.is_sorted_by_key(|(of, _)| of.entity) {
            there.sort_unstable_by_key(|(of, _)| of.entity);
        }
        columns.iter_mut().for_each(|column| column.pull(ecs, *pulled));
        *pulled = ecs.increment_change_tick();
    }

    /// Calls with the directory taken out of the world, in which the columns are to write a state.
    fn write(&mut self, write: impl FnOnce(&mut [Box<dyn Column>], &mut World, &mut Directory)) {
        let mut directory = core::mem::take(&mut *self.ecs.resource_mut::<Directory>());
        write(&mut self.columns, &mut self.ecs, &mut directory);
        if let Some(hierarchy) = &mut self.hierarchy {
            hierarchy.put(&mut self.ecs, &directory);
        }
        *self.ecs.resource_mut::<Directory>() = directory;
    }

    /// Those are there that were, and no others.
    fn load_entities(world: &mut World, directory: &mut Directory, there: &[(Owned, Entity)]) {
        let mut now = world.query::<(Entity, &Networked)>();
        let is_extra = |(id, of): (Entity, &Networked)| {
            let found = there.binary_search_by_key(&of.name(), |(of, _)| of.entity);
            found.is_err().then_some(id)
        };
        for id in now.iter(world).filter_map(is_extra).collect::<Vec<_>>() {
            directory.remove(world, id);
        }
        for (of, id) in there {
            match world.get::<Networked>(*id) {
                Some(known) if known.owned() == *of => directory::revive(world, *id),
                _ => _ = directory.ensure(world, *of),
            }
        }
        // Columns have all that they are to have.
        directory.take_back();
    }

    /// Says of each entity whether this step moves it, and by which input.
    fn assign_roles(&mut self, step: &Step<'_, I>) {
        let (mut roles, mut driven) = (Vec::new(), Vec::new());
        for (id, of, was_simulated, input) in self.queries.roles.iter_mut(&mut self.ecs) {
            let is_simulated = step.role(of.owned()) != Role::Proxy;
            if is_simulated != was_simulated {
                roles.push((id, is_simulated.then_some(Simulated)));
            }
            let now = step.input(of.owner()).filter(|_| is_simulated).map(Driven::new);
            match (input, now) {
                (Some(mut known), Some(now)) if *known != now => *known = now,
                (Some(_), Some(_)) | (None, None) => {}
                (_, now) => driven.push((id, now)),
            }
        }
        roles.into_iter().for_each(|(id, role)| set(&mut self.ecs, id, role));
        driven.into_iter().for_each(|(id, input)| set(&mut self.ecs, id, input));
    }

    /// Puts where systems find it what they are to know of the step.
    fn begin(&mut self, step: &Step<'_, I>) {
        let mut inputs = self.ecs.resource_mut::<StepInputs<I>>();
        inputs.0.clear();
        inputs.0.extend_from_slice(step.inputs());
        step_messages::begin_step(step, &mut self.ecs);
        let rewound_for = self.ecs.resource::<Settings<I>>().rewound_for;
        let mut current = self.ecs.resource_mut::<CurrentStep>();
        current.begin(step);
        current.look_back(step, rewound_for);
        self.assign_roles(step);
        let mut directory = self.ecs.resource_mut::<Directory>();
        // No rollback goes back so far: it is a session that begins anew.
        let is_anew = step.tick().get().saturating_add(self.horizon_ticks) < directory.newest.get();
        directory.newest = if is_anew { step.tick() } else { directory.newest.max(step.tick()) };
    }

    /// Runs the step twice, the second time as one that runs again, with entities in another order, and goes back to where it was.
    ///
    /// # Panics
    /// When both do not come to the same.
    fn rehearse(&mut self, step: &Step<'_, I>) {
        let (mut before, mut after) = (SavedWorld::default(), SavedWorld::default());
        self.pull();
        foretell::World::save(self, &mut before);
        self.rehearse_once(step, false);
        foretell::World::save(self, &mut after);
        foretell::World::load(self, &before);
        checked::turn_order(&mut self.ecs);
        self.rehearse_once(step, true);
        self.compare(step.tick(), &after);
        foretell::World::load(self, &before);
        // What was changed outside of steps, and was not published yet, is among what is published next: everything is.
        self.pulled = ChangeTick::new(self.ecs.change_tick().get().wrapping_sub(1 << 30));
    }

    fn rehearse_once(&mut self, step: &Step<'_, I>, again: bool) {
        self.begin(step);
        if again {
            self.ecs.resource_mut::<CurrentStep>().repeat();
        }
        self.ecs.run_schedule(Simulation);
        self.ecs.resource_mut::<CurrentStep>().discard();
        self.pull();
    }

    fn compare(&mut self, tick: foretell::Tick, first: &SavedWorld) {
        let (world, directory) = (&self.ecs, self.ecs.resource::<Directory>());
        let mut columns = self.columns.iter().zip(&first.columns);
        let found = columns.find_map(|(column, first)| Some((column.difference(first, world, directory)?, column)));
        let Some((Difference { what, on }, column)) = found else { return };
        let component = column.component(&mut self.ecs);
        let who = on
            .and_then(|on| checked::last_writer(&mut self.ecs, component, on))
            .or_else(|| self.checker.as_ref().map(|checker| checker.writers_of(component)));
        panic!("{tick:?} simulated twice comes to two results: {what} differs, {}", who.unwrap_or_default());
    }

    /// Despawns what can't come back any more.
    fn purge(&mut self) {
        let newest = self.ecs.resource::<Directory>().newest.get();
        let before = newest.saturating_add(1).saturating_sub(self.horizon_ticks);
        let queries = &mut self.queries;
        // What went in a session before this one does not come back either.
        let may_come_back = before..=newest;
        let gone = queries.gone.iter(&self.ecs).filter(|(_, gone)| !may_come_back.contains(&gone.since.get()));
        let gone: Vec<_> = gone.map(|(id, _)| id).collect();
        // Others the game has despawned itself, and their names are left.
        let names = self.ecs.resource::<Directory>().len();
        if !gone.is_empty() || names > 2 * (self.there.len() + queries.gone.iter(&self.ecs).count()) + 64 {
            self.ecs.resource_scope(|world, mut directory: Mut<Directory>| directory.despawn(world, &gone));
        }
    }
}

impl<I: Input + Send + Sync> Simulate for GameWorld<I> {
    type Input = I;

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        self.ecs.resource::<Settings<I>>().interest.and_then(|rules| rules(&self.ecs))
    }

    fn admit(&self, newcomer: &Newcomer) -> Result<(), Reason> {
        self.ecs.resource::<Settings<I>>().admit.map_or(Ok(()), |admit| admit(&self.ecs, newcomer))
    }

    fn step(&mut self, step: &mut Step<'_, I>) {
        if self.checker.is_some() {
            self.rehearse(step);
        }
        self.begin(step);
        self.ecs.run_schedule(Simulation);
        self.ecs.resource_mut::<CurrentStep>().end(step);
        self.purge();
    }
}

impl<I: Input + Send + Sync> foretell::World for GameWorld<I> {
    type Saved = SavedWorld;

    /// Of a world that is not there yet nothing is known: a session takes the schema from its rules.
    fn schema() -> Schema {
        Schema::default()
    }

    fn save(&self, into: &mut SavedWorld) {
        into.there.clone_from(&self.there);
        if into.columns.len() != self.columns.len() {
            into.columns = self.columns.iter().map(|column| column.room()).collect();
        }
        self.columns.iter().zip(&mut into.columns).for_each(|(column, into)| column.save(&self.ecs, into));
    }

    fn load(&mut self, from: &SavedWorld) {
        self.there.clone_from(&from.there);
        self.write(|columns, world, directory| {
            Self::load_entities(world, directory, &from.there);
            for (column, from) in columns.iter_mut().zip(&from.columns) {
                column.load(from, world, directory);
            }
        });
        // The columns have what was written, and what was changed before is gone.
        self.pulled = self.ecs.increment_change_tick();
    }

    fn publish(&mut self, rows: &mut Rows) {
        self.pull();
        self.columns.iter_mut().for_each(|column| column.publish(rows));
    }

    fn adopt(&mut self, rows: &Rows) {
        self.write(|columns, world, directory| {
            columns.iter_mut().for_each(|column| column.adopt(rows, world, directory));
            for removed in rows.removed() {
                let name = removed.key.entity;
                if let Some(id) = directory.find(name).filter(|_| !columns.iter().any(|column| column.tells(name))) {
                    directory.remove(world, id);
                }
            }
            columns.iter().for_each(|column| column.take_removed(rows, world, directory));
            for (name, id) in directory.take_back() {
                let told = columns.iter().filter(|column| column.tells(name));
                let told: Vec<_> = told.map(|column| column.component(world)).collect();
                directory.forget(world, id, &told);
            }
        });
    }
}
