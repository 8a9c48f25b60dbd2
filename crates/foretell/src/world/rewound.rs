//! Others as a player saw them when it made the input of a step: what its shots are judged by.

use super::rewind_source::{AnyRow, RewindSource};
use super::{ComponentId, Entity, Owned, ROW_WORDS_MAX, RewindMoment, RowKey, Schema, State};
use crate::motion::Pose;

/// The entities of others as a player saw them when it made its input: on the server its past, on that player's client what it shows,
/// so that the same step judges the same on both. What the player owned there is not in it.
///
/// It has what others are told of the states with a position or rotation: fields for their owners alone are as
/// [`State::read`] leaves them without. In no order that both ends share: of several that are hit take the nearest.
#[derive(Clone, Copy)]
pub struct Rewound<'a> {
    past: Option<&'a dyn RewindSource>,
    rewind: RewindMoment,
}

impl<'a> Rewound<'a> {
    pub(crate) fn new(past: Option<&'a dyn RewindSource>, rewind: RewindMoment) -> Rewound<'a> {
        Rewound { past, rewind }
    }

    /// Which moment that is.
    pub fn rewind(&self) -> RewindMoment {
        self.rewind
    }

    /// Every entity that had a state of this type, with whose it was and its state.
    ///
    /// # Panics
    /// When the schema does not have this type of state.
    pub fn states<S: State>(&self) -> impl Iterator<Item = (Owned, S)> + use<'a, S> {
        let of = *self;
        of.past.into_iter().flat_map(move |past| {
            let first = first_of::<S>(past.schema());
            let last = if S::IS_CHOICE { first + S::COMPONENTS } else { first + 1 };
            (first..last).filter(move |at| is_found(past, *at)).flat_map(move |at| {
                let component = ComponentId::nth(at);
                (0..past.count(component)).filter_map(move |nth| {
                    let mut row: AnyRow = [0; ROW_WORDS_MAX];
                    let owned = of.draw(past, component, nth, &mut row)?;
                    let words = &row[..past.schema().component(component).words()];
                    let mut state = S::read(at - first, words)?;
                    of.adopt_rest(past, first, owned.entity, &mut state);
                    Some((owned, state))
                })
            })
        })
    }

    /// The state of an entity; `None` where it was not there, was the player's own, or had none of this type.
    ///
    /// # Panics
    /// When the schema does not have this type of state.
    pub fn get<S: State>(&self, entity: Entity) -> Option<S> {
        let past = self.past?;
        let first = first_of::<S>(past.schema());
        let last = if S::IS_CHOICE { first + S::COMPONENTS } else { first + 1 };
        (first..last).filter(|at| is_found(past, *at)).find_map(|at| {
            let (mut row, component): (AnyRow, _) = ([0; ROW_WORDS_MAX], ComponentId::nth(at));
            self.draw(past, component, past.find(RowKey { component, entity })?, &mut row)?;
            let mut state = S::read(at - first, &row[..past.schema().component(component).words()])?;
            self.adopt_rest(past, first, entity, &mut state);
            Some(state)
        })
    }

    /// Where an entity was, by the first of its components with a position or rotation; `None` where it was not there, or was the
    /// player's own.
    pub fn pose(&self, entity: Entity) -> Option<Pose> {
        let past = self.past?;
        placing(past.schema()).find_map(|component| {
            let mut row: AnyRow = [0; ROW_WORDS_MAX];
            self.draw(past, component, past.find(RowKey { component, entity })?, &mut row)?;
            Some(past.schema().component(component).pose(&row))
        })
    }

    /// Where each entity was that has a position or rotation, with whose it was; each once.
    pub fn poses(&self) -> impl Iterator<Item = (Owned, Pose)> + use<'a> {
        let of = *self;
        of.past.into_iter().flat_map(move |past| {
            placing(past.schema()).flat_map(move |component| {
                (0..past.count(component)).filter_map(move |nth| {
                    let mut row: AnyRow = [0; ROW_WORDS_MAX];
                    let owned = of.draw(past, component, nth, &mut row)?;
                    let is_placed = of.is_placed_before(past, component, owned.entity);
                    (!is_placed).then(|| (owned, past.schema().component(component).pose(&row)))
                })
            })
        })
    }

    /// How far from there the player may have been shown an entity, in metres; see
    /// [`HitReceipt::error_m`](crate::session::HitReceipt::error_m). Zero on a client, and for what was not there.
    pub fn error_m(&self, entity: Entity) -> f64 {
        let Some(past) = self.past else { return 0.0 };
        let of = |component| past.error_m(RowKey { component, entity }, &self.rewind);
        placing(past.schema()).map(of).fold(0.0, f64::max)
    }

    /// A row of another than the player.
    fn draw(&self, past: &dyn RewindSource, component: ComponentId, nth: usize, into: &mut AnyRow) -> Option<Owned> {
        let owned = past.draw(component, nth, &self.rewind, into)?;
        (owned.owner != self.rewind.player).then_some(owned)
    }

    /// Adds the components of a struct besides its first one.
    fn adopt_rest<S: State>(&self, past: &dyn RewindSource, first: usize, entity: Entity, state: &mut S) {
        let rest = if S::IS_CHOICE { 1..1 } else { 1..S::COMPONENTS };
        for nth in rest.filter(|nth| is_found(past, first + nth)) {
            let (mut row, component): (AnyRow, _) = ([0; ROW_WORDS_MAX], ComponentId::nth(first + nth));
            let found = past.find(RowKey { component, entity });
            if found.is_some_and(|at| self.draw(past, component, at, &mut row).is_some()) {
                state.adopt(nth, &row[..past.schema().component(component).words()]);
            }
        }
    }

    /// Whether a component before this one places the entity.
    fn is_placed_before(&self, past: &dyn RewindSource, component: ComponentId, entity: Entity) -> bool {
        let mut row: AnyRow = [0; ROW_WORDS_MAX];
        placing(past.schema()).take_while(|before| *before < component).any(|component| {
            let found = past.find(RowKey { component, entity });
            found.is_some_and(|at| self.draw(past, component, at, &mut row).is_some())
        })
    }
}

fn first_of<S: State>(schema: &Schema) -> usize {
    let name = core::any::type_name::<S>;
    schema.first_of::<S>().unwrap_or_else(|| panic!("{} is not in the session's schema", name()))
}

/// Whether the component at this place of the schema is found in a past, whatever else of it a source has.
fn is_found(past: &dyn RewindSource, at: usize) -> bool {
    past.schema().is_in_past(ComponentId::nth(at))
}

/// The components by which entities are placed.
fn placing(schema: &Schema) -> impl Iterator<Item = ComponentId> + '_ {
    schema.ids().filter(|component| schema.component(*component).has_pose() && schema.is_in_past(*component))
}
