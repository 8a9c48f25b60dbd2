//! What a game in development is told: which of its systems do something that a client can't repeat.
//!
//! At the start it is seen by what systems ask for, in each tick by running it twice. What nobody can see: what systems have in a
//! `Local` or outside of the world shows when it makes a difference, and what `Commands` put on entities is not looked at, nor what an
//! exclusive system does, nor what run conditions ask for.

use crate::column::Column;
use crate::entity::{Gone, Networked, set};
use crate::registry::Registry;
use crate::schedules::Simulation;
use bevy_ecs::component::ComponentId;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::{Component, Entity, Schedule, System, World};
use bevy_ecs::query::{Allow, FilteredAccess, With};
use bevy_ecs::resource::IsResource;
use bevy_ecs::system::SystemAccess;

/// A system of the simulation, and what it may write.
struct Writer {
    name: String,
    writes: Vec<ComponentId>,
}

/// Runs steps twice, and knows who writes what. In the order in which they run.
pub(crate) struct Checker(Vec<Writer>);

impl Checker {
    /// Looks at what systems ask for.
    ///
    /// # Panics
    /// When it is something that a session does not know.
    pub fn new(world: &mut World, columns: &[Box<dyn Column>]) -> Checker {
        let mut known: Vec<_> = columns.iter().map(|column| column.component(world)).collect();
        known.extend(Registry::constants(world));
        // Those of Bevy's own queries.
        known.extend([world.register_component::<IsResource>(), world.register_component::<Disabled>()]);
        let (mut writers, mut refused) = (Vec::new(), Vec::new());
        world.schedule_scope(Simulation, |world, schedule| {
            if let Err(error) = schedule.initialize(world) {
                panic!("{}", error.to_string(schedule.graph(), world));
            }
            look(world, schedule, &known, &mut writers, &mut refused);
        });
        assert!(refused.is_empty(), "no client can repeat these steps:\n{}", refused.join("\n"));
        Checker(writers)
    }

    /// Who may have written a component, in words.
    pub fn writers_of(&self, component: ComponentId) -> String {
        let writers = self.0.iter().filter(|writer| writer.writes.contains(&component));
        let names: Vec<_> = writers.map(|writer| writer.name.as_str()).collect();
        if names.is_empty() {
            "only `Commands` write it".to_owned()
        } else {
            format!("written by {}", names.join(", "))
        }
    }
}

fn look(
    world: &World,
    schedule: &Schedule,
    known: &[ComponentId],
    writers: &mut Vec<Writer>,
    refused: &mut Vec<String>,
) {
    for (_, system) in schedule.systems_with_access().into_iter().flatten() {
        let name = system.name().to_string();
        let SystemAccess::Shared(access) = system.access() else { continue };
        let writes = access.combined_access().writes().as_finite_set().into_iter().flat_map(|ids| ids.iter()).collect();
        let asked = access.filtered_accesses().iter().flat_map(asked_for);
        let mut unknown: Vec<_> = asked.filter(|component| !known.contains(component)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        for component in unknown {
            let component = world.components().get_name(component).map(|name| name.to_string()).unwrap_or_default();
            let how = match component.rsplit("::").next() {
                Some("ChildOf" | "Children") => "`networked_children`",
                _ => "`networked`, `rolled_back` or, if it never changes, `constant`",
            };
            refused.push(format!("- {name} asks for {component}, which is not registered: {how}"));
        }
        writers.push(Writer { name, writes });
    }
}

/// Which components part of a system asks for: their values, or whether they are there.
fn asked_for(access: &FilteredAccess) -> Vec<ComponentId> {
    let values = access.access().reads().as_finite_set().into_iter().flat_map(|ids| ids.iter());
    let filters = access.with_filters().chain(access.without_filters());
    values.chain(access.access().archetypal()).chain(filters).collect()
}

/// Which system of the run before has written a component last, in words; `None` where no system has, but commands of it.
pub(crate) fn last_writer(world: &mut World, component: ComponentId, on: Entity) -> Option<String> {
    let changed = world.get_entity(on).ok()?.get_change_ticks_by_id(component)?.changed;
    world.schedule_scope(Simulation, |_, schedule| {
        let mut systems = schedule.systems_with_access().into_iter().flatten();
        let found = systems.find(|(_, system)| system.system().get_last_run() == changed);
        found.map(|(_, system)| format!("last written by {}", system.name()))
    })
}

/// Only to turn around the order of entities.
#[derive(Component)]
struct Turned;

/// Turns around the order in which queries go through entities, as far as it is the order in which they came: on another end it is another
/// one as well.
pub(crate) fn turn_order(world: &mut World) {
    let mut named = world.query_filtered::<(&Networked, Entity), (With<Networked>, Allow<Gone>)>();
    let mut all: Vec<_> = named.iter(world).map(|(of, id)| (*of, id)).collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    let is_turned = all.first().is_some_and(|(_, id)| world.get::<Turned>(*id).is_some());
    for (_, id) in all {
        set(world, id, (!is_turned).then_some(Turned));
    }
}
